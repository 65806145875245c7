"""`python -m solver fit`: the worst case of a file pair."""

from __future__ import annotations

import argparse
import json
import shlex
from dataclasses import asdict
from typing import Any

from datasets.files import write_whole
from formulations.block_indicator import IndicatorOptions, indicator_model
from solver.backends.registry import backend_names
from solver.commands.arguments import (
    add_categories,
    add_files,
    add_problem,
    add_run,
    engine_options,
    memory_limit,
    problem_options,
    time_limit,
)
from solver.commands.progress import progress_line
from solver.commands.targets import check_targets
from solver.commands.wording import baseline_pairs, heading, listed, share
from solver.engines.base import EngineOptions
from solver.engines.registry import ENGINES, get_engine
from solver.errors import UsageError
from solver.fitting import AUTOMATIC, DEFAULT_TIME_LIMIT, fit
from solver.problem import ProblemOptions, make_problem
from solver.results import FitResult
from solver.risk.report import render_report
from solver.searching import problem_system


def add_parser(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "fit",
        help="find the distance that re-identifies most records, with an upper bound",
        description="Find the distance that re-identifies most records, and bound how many any other could.",
        epilog="example: fit --original o.csv --masked m.csv --report risk.html",
    )
    add_files(parser)
    add_categories(parser)
    add_problem(parser)
    add_run(parser, DEFAULT_TIME_LIMIT)
    group = parser.add_argument_group("engine")
    group.add_argument(
        "--engine",
        metavar="NAME",
        help=f"{', '.join(ENGINES)}; default: exact, or milp where --backend, --margin or --big-c is given",
    )
    group.add_argument(
        "--backend", metavar="NAME", help=f"for milp: {', '.join(backend_names())}; default: highs"
    )
    group.add_argument(
        "--memory-limit",
        metavar="MB",
        default=AUTOMATIC,
        help="megabytes that the process may hold, or 'none'; default: four fifths of what is free",
    )
    group = parser.add_argument_group("output")
    group.add_argument("--json", metavar="FILE", help="write the whole result as JSON")
    group.add_argument("--report", metavar="FILE", help="write the result as one HTML page")
    group.add_argument(
        "--certificate", metavar="FILE", help="write what proves the bound, for the command verify"
    )
    group.add_argument(
        "--write-model", metavar="FILE", help="write the model (.lp or .mps) instead of solving it"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Solve, print the answer, write the files that were asked for."""
    check_targets(arguments, "json", "report", "certificate", "write_model")
    options, settings, limit = (
        problem_options(arguments),
        engine_options(arguments),
        time_limit(arguments.time_limit),
    )
    memory = memory_limit(arguments.memory_limit)
    engine = _engine(arguments)
    get_engine(engine, settings)
    if arguments.write_model is not None:
        return _write_model(arguments, options, settings)
    with progress_line("reading and comparing records") as line:
        result = fit(
            arguments.original,
            arguments.masked,
            engine=engine,
            certificate=arguments.certificate is not None,
            time_limit=limit,
            memory_limit=memory,
            options=settings,
            report=None if line is None else line.report,
            command="python -m solver " + shlex.join(arguments.command_line),
            **asdict(options),
        )
    try:
        if arguments.json is not None:
            write_whole(arguments.json, result.to_json())
        if arguments.certificate is not None:
            write_whole(arguments.certificate, json.dumps(result.certificate) + "\n")
        if arguments.report is not None:
            write_whole(arguments.report, render_report(result.to_dict()))
    finally:  # a full disk must not cost the answer of a long run
        print(summary(result), end="")
        if arguments.json is None and arguments.report is None:
            print("keep it with --json FIT.json (for evaluate) or --report FIT.html (every record)")
    return 0


def _engine(arguments: argparse.Namespace) -> str:
    """The engine asked for: milp where an option of its own says so."""
    given = [name for name in ("backend", "margin", "big_c") if getattr(arguments, name) is not None]
    if arguments.engine is None:
        return "milp" if given or arguments.write_model is not None else "exact"
    if arguments.engine == "exact" and given:
        option = "--" + given[0].replace("_", "-")
        raise UsageError(f"{option} is for the engine milp: leave it out, or leave --engine exact out")
    return str(arguments.engine)


def _write_model(arguments: argparse.Namespace, options: ProblemOptions, settings: EngineOptions) -> int:
    from solver.backends.model_file import write_model

    for name in ("json", "report", "certificate"):
        if getattr(arguments, name) is not None:
            raise UsageError(
                f"--write-model stops before there is a result: leave --{name} out, or run twice"
            )
    problem = make_problem(arguments.original, arguments.masked, options)
    tight = settings.big_c is None
    system = problem_system(problem, reduce=tight)
    choices = IndicatorOptions(margin=settings.margin, big_c=settings.big_c, scale=tight)
    model = indicator_model(system, choices).milp
    write_model(model, arguments.write_model)
    rows, columns = model.shape
    print(f"wrote {arguments.write_model}: {rows} rows, {columns} columns, {model.nonzeros} non-zeros")
    return 0


def summary(result: FitResult) -> str:
    """The answer in a few lines."""
    details, records = result.details, result.records
    lines = [
        *heading(details, records),
        "",
        *_interval(result),
        *listed(_affected(result)),
        "",
        *listed(baseline_pairs(details["baselines"], records)),
        "",
        *_parameters(result),
        "",
        *(f"note: {note}" for note in details["notes"]),
        _making(details),
    ]
    return "\n".join(lines) + "\n"


def _interval(result: FitResult) -> list[str]:
    """The interval that holds the worst case, and the state of its proof."""
    records, low, high = result.records, float(result.linked), float(result.linked_upper_bound)
    what = "re-identified"
    if result.details["ties"] == "share":
        low, high = (result.details[f"expected_links{end}"] for end in ("", "_upper_bound"))
        what = "expected links"
    if result.proven:
        pairs = [(f"{what} in the worst case", share(low, records)), ("at most", share(high, records))]
        margin = result.details["margin"]
        least = "" if margin is None else f" by a margin of {margin:g}"
        return [*listed(pairs), f"  proven: no other parameters re-identify more{least}"]
    reasons = {
        "time": "the time limit came first; a longer --time-limit or fewer attributes may narrow the "
        "interval",
        "user": "stopped before the end; a longer run narrows the interval",
        "memory": "memory ran out first; a larger --memory-limit, fewer records or attributes may narrow it",
    }
    reason = reasons.get(result.limit or "", "the engine could not narrow the interval further")
    pairs = [(f"{what}, at least", share(low, records)), (f"{what}, at most", share(high, records))]
    return [*listed(pairs), f"  not proven: {reason}"]


def _affected(result: FitResult) -> list[tuple[str, str]]:
    """Which records no parameters reach, and which the tie rule decides about."""
    records, shared = result.records, result.details["ties"] == "share"
    pairs = []
    if shared:
        pairs.append(("nearest up to identical ones", share(result.linked, records)))
    if result.details["lost"]:
        pairs.append(("out of reach for any parameters", share(result.details["lost"], records)))
    tied = int((result.table.to_frame()["ties"] > 0).sum())
    if tied and not shared:
        pairs.append(("partner tied, so not counted", share(tied, records) + "; see --ties share"))
    return pairs


def _parameters(result: FitResult) -> list[str]:
    importance = result.details["importance"]
    if importance is None:
        weights = result.parameters["weights"]
        return ["  weight by rank of the attribute distance (1 = largest)", *_columns(weights)]
    titles = {
        "weighted-mean": "weight of each attribute",
        "choquet": "importance of each attribute (Shapley value)",
        "mahalanobis": "share of each attribute in the trace of the matrix",
    }
    return [f"  {titles[result.details['aggregator']]}", *_columns(importance)]


def _columns(values: dict[str, float]) -> list[str]:
    width = max(len(name) for name in values)
    return [f"    {name:<{width}}  {value:.4f}" for name, value in values.items()]


def _making(details: dict[str, Any]) -> str:
    engine = details["engine"] + (f" on {details['backend']}" if details["backend"] else "")
    margin = f", margin {details['margin']:g}" if details["margin"] is not None else ""
    return f"{engine}{margin}, seed {details['seed']}, {details['seconds']:.1f} s"
