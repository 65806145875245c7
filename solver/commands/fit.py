"""`python -m solver fit`: the worst case of a file pair."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import asdict
from typing import Any

from datasets.files import write_whole
from formulations.block_indicator import IndicatorOptions, indicator_model
from solver.backends.registry import backend_names
from solver.commands.arguments import (
    add_files,
    add_problem,
    add_run,
    check_targets,
    engine_options,
    problem_options,
    time_limit,
)
from solver.commands.progress import progress_line
from solver.engines.registry import ENGINES
from solver.fitting import DEFAULT_TIME_LIMIT, fit, problem_system
from solver.problem import make_problem
from solver.results import FitResult
from solver.risk.report import render_report

_NAMES = {
    "weighted-mean": "weighted mean",
    "owa": "ordered weighted average",
    "choquet": "Choquet integral",
    "mahalanobis": "Mahalanobis-type form",
}


def add_parser(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "fit",
        help="find the distance that re-identifies most records, with an upper bound",
        description="Find the distance that re-identifies most records, and bound how many any other could.",
    )
    add_files(parser)
    add_problem(parser)
    add_run(parser, DEFAULT_TIME_LIMIT)
    parser.add_argument(
        "--engine", default="milp", metavar="NAME", help=f"{', '.join(ENGINES)}; default: milp"
    )
    parser.add_argument(
        "--backend", default="highs", metavar="NAME", help=f"{', '.join(backend_names())}; default: highs"
    )
    parser.add_argument("--json", metavar="FILE", help="write the whole result as JSON")
    parser.add_argument("--report", metavar="FILE", help="write the result as one HTML page")
    parser.add_argument("--write-model", metavar="FILE", help="write the model (.lp or .mps) and stop")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Solve, print the answer, write the files that were asked for."""
    check_targets(arguments.json, arguments.report, arguments.write_model)
    options = problem_options(arguments)
    settings = engine_options(arguments)
    if arguments.write_model:
        return _write_model(arguments, options, settings.margin, settings.big_c)
    with progress_line() as report:
        result = fit(
            arguments.original,
            arguments.masked,
            engine=arguments.engine,
            time_limit=time_limit(arguments.time_limit),
            options=settings,
            report=report,
            command="python -m solver " + shlex.join(sys.argv[1:]),
            **asdict(options),
        )
    if arguments.json:
        write_whole(arguments.json, result.to_json())
    if arguments.report:
        write_whole(arguments.report, render_report(result.to_dict()))
    print(summary(result), end="")
    return 0


def _write_model(arguments: argparse.Namespace, options: Any, margin: float, big_c: float | None) -> int:
    from solver.backends.model_file import write_model

    problem = make_problem(arguments.original, arguments.masked, options)
    system = problem_system(problem, reduce=big_c is None)
    model = indicator_model(system, IndicatorOptions(margin=margin, big_c=big_c, scale=big_c is None))
    write_model(model.milp, arguments.write_model)
    rows, columns = model.milp.shape
    print(f"wrote {arguments.write_model}: {rows} rows, {columns} columns, {model.milp.nonzeros} non-zeros")
    return 0


def summary(result: FitResult) -> str:
    """The answer in a few lines."""
    details = result.details
    option = details["aggregator_options"].get("k_additive")
    name = _NAMES[details["aggregator"]] + (f" ({option}-additive)" if option else "")
    lines = [
        f"{details['name']}: {result.records} records, {details['direction']}, {name}",
        "",
        *_headline(result),
        "",
        *_baselines(result),
        "",
        *_parameters(result),
        "",
        *(f"note: {note}" for note in details["notes"]),
        f"{details['engine']} on {details['backend']}, seed {details['seed']}, {details['seconds']:.1f} s",
    ]
    return "\n".join(lines) + "\n"


def share(count: float, records: int) -> str:
    """A count with its percentage."""
    return f"{count:g} of {records} ({100 * count / records:.1f} %)"


def _headline(result: FitResult) -> list[str]:
    records, bound = result.records, result.linked_upper_bound
    limits = {"time": "the time limit was reached", "user": "stopped by the user", "memory": "out of memory"}
    if result.proven:
        proof = "proven: no other parameters re-identify more"
    else:
        reason = limits.get(result.limit or "", "the bound is not tight")
        proof = f"not proven ({reason}): other parameters may re-identify up to {bound}"
    lines = [
        f"  re-identified in the worst case  {share(result.linked, records)}",
        f"  at most                          {share(bound, records)}",
        f"  {proof}",
    ]
    if "expected_links" in result.details:
        low, high = result.details["expected_links"], result.details["expected_links_upper_bound"]
        lines.append(f"  expected links (ties shared)     {low:.2f}, at most {high:.2f}")
    if result.details["lost"]:
        lines.append(f"  no parameters can re-identify    {share(result.details['lost'], records)}")
    return lines


def _baselines(result: FitResult) -> list[str]:
    titles = {"euclid": "Euclidean distance", "mahalanobis": "classical Mahalanobis distance"}
    return [
        f"  {titles[name]:<31}  {share(count, result.records)}"
        for name, count in result.details["baselines"].items()
    ]


def _parameters(result: FitResult) -> list[str]:
    importance = result.details["importance"]
    if importance is None:
        weights = result.parameters["weights"]
        return ["  rank of the attribute distance (1 = largest)   weight", *_columns(weights)]
    titles = {
        "weighted-mean": "weight",
        "choquet": "importance (Shapley value)",
        "mahalanobis": "share of the trace",
    }
    return [f"  attribute: {titles[result.details['aggregator']]}", *_columns(importance)]


def _columns(values: dict[str, float]) -> list[str]:
    width = max(len(name) for name in values)
    return [f"    {name:<{width}}  {value:.4f}" for name, value in values.items()]
