"""`python -m solver fit`: the worst case of a file pair."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from dataclasses import replace
from typing import Any

from linkrisk.datasets.microdata.writing import write_whole
from linkrisk.formulations.linkage.block_indicator import IndicatorOptions, indicator_model
from linkrisk.solver.api.fit import DEFAULT_TIME_LIMIT, check_limit, check_limits, find, fit_request
from linkrisk.solver.backends.registry import backend_names
from linkrisk.solver.commands.arguments import (
    add_categories,
    add_files,
    add_problem,
    add_run,
    engine_options,
    memory_limit,
    number,
    problem_options,
    time_limit,
)
from linkrisk.solver.commands.fit_summary import families_summary, summary
from linkrisk.solver.commands.progress import progress_line, reporter
from linkrisk.solver.commands.targets import check_targets
from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.engines.registry import ENGINES, OWN
from linkrisk.solver.inputs.problem import ProblemOptions, make_problem
from linkrisk.solver.report.page import render_report
from linkrisk.solver.run.clock import AUTOMATIC, Limits
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.results import FitResult
from linkrisk.solver.worst_case.families import several
from linkrisk.solver.worst_case.family_results import FitResults
from linkrisk.solver.worst_case.search import problem_system
from linkrisk.solver.worst_case.single_fit import Fitted


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
    add_problem(parser, several=True)
    add_run(parser, DEFAULT_TIME_LIMIT, work=True)
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
        "--certificate-time-limit",
        metavar="S",
        help="seconds for that, after the search; default: 60, or --time-limit where that is longer",
    )
    group.add_argument(
        "--write-model", metavar="FILE", help="write the model (.lp or .mps) instead of solving it"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Solve, print the answer, write the files that were asked for; then the certificate."""
    check_targets(arguments, "json", "report", "certificate", "write_model")
    options, settings = problem_options(arguments), engine_options(arguments)
    certificate_limit = _certificate_limit(arguments)
    request = fit_request(
        _engine(arguments),
        settings,
        limits=_limits(arguments),
        certificate=arguments.certificate is not None and arguments.write_model is None,
        command="python -m solver " + shlex.join(arguments.command_line),
    )
    if arguments.write_model is not None:
        return _write_model(arguments, options, settings)
    with progress_line("reading and comparing records") as line:
        found = find(
            arguments.original,
            arguments.masked,
            replace(request, report=reporter(line)),
            vars(options),
        )
    if isinstance(found, FitResults):
        _hand_over(arguments, found, families_summary(found))
        return 0
    _hand_over(arguments, found.result, summary(found.result))
    if arguments.certificate is not None:
        _certify(arguments, found, certificate_limit)
    return 0


def _hand_over(arguments: argparse.Namespace, result: FitResult | FitResults, text: str) -> None:
    """Print the answer, and write the files that were asked for: of many records that takes seconds."""
    try:
        print(text, end="")
        if arguments.json is None and arguments.report is None:
            print("keep it with --json FIT.json (for evaluate) or --report FIT.html (every record)")
        sys.stdout.flush()  # now, whatever files and certificate take
    finally:  # a reader that has gone away must not cost the files of a long run
        _write(arguments, result)


def _write(arguments: argparse.Namespace, result: FitResult | FitResults) -> None:
    if arguments.json is not None:
        write_whole(arguments.json, result.to_json())
    if arguments.report is not None:
        write_whole(arguments.report, render_report(result.to_dict()))


def _certify(arguments: argparse.Namespace, fitted: Fitted, seconds: float | None) -> None:
    """Try the certificate of a fit that is written already, and note in its files what came of it."""
    with progress_line("making the certificate (Ctrl-C: do without)"):
        result = fitted.certified(seconds)
    if result.certificate is None:
        reason = result.details["certificate"]["reason"]
        print(f"note: there is no certificate: {reason}; the fit above is kept", file=sys.stderr)
    else:
        write_whole(arguments.certificate, json.dumps(result.certificate) + "\n")
        for note in result.details["notes"][len(fitted.result.details["notes"]) :]:
            print(f"note: {note}", file=sys.stderr)
    _write(arguments, result)


def _certificate_limit(arguments: argparse.Namespace) -> float | None:
    """Seconds for the certificate; UsageError when none is asked for, or no time is left."""
    if arguments.certificate_time_limit is None:
        return None
    if arguments.certificate is None:
        raise UsageError("--certificate-time-limit is for --certificate: give that too, or leave it out")
    seconds = number(arguments.certificate_time_limit, "--certificate-time-limit")
    check_limit(seconds, "time limit of the certificate")
    return seconds


def _limits(arguments: argparse.Namespace) -> Limits:
    """The limits of the run; a work limit stands alone where no time limit is given."""
    seconds = AUTOMATIC if arguments.time_limit is None else time_limit(arguments.time_limit)
    units = None if arguments.work_limit is None else number(arguments.work_limit, "--work-limit")
    return check_limits(seconds, units, memory_limit(arguments.memory_limit), None)


def _engine(arguments: argparse.Namespace) -> str:
    """The engine asked for, or the first that takes the options given."""
    given = [name for name in OWN if getattr(arguments, name) is not None]
    if arguments.engine is None:
        modelling = arguments.write_model is not None
        return next(
            name
            for name, kind in ENGINES.items()
            if set(given) <= set(kind.takes) and kind.models >= modelling
        )
    kind = ENGINES.get(arguments.engine)
    ignored = [name for name in given if kind is not None and name not in kind.takes]
    if ignored:
        option = "--" + ignored[0].replace("_", "-")
        raise UsageError(
            f"{option} is not for the engine {arguments.engine}: leave it out, or leave --engine out"
        )
    return str(arguments.engine)


def _write_model(arguments: argparse.Namespace, options: ProblemOptions, settings: EngineOptions) -> int:
    from linkrisk.solver.backends.model_file import write_model

    for name in ("json", "report", "certificate"):
        if getattr(arguments, name) is not None:
            raise UsageError(
                f"--write-model stops before there is a result: leave --{name} out, or run twice"
            )
    if several(options.aggregator) is not None:
        raise UsageError("--write-model writes the model of one family: name one --aggregator")
    problem = make_problem(arguments.original, arguments.masked, options)
    tight = settings.big_c is None
    system = problem_system(problem, reduce=tight)
    choices = IndicatorOptions(margin=settings.margin, big_c=settings.big_c, scale=tight)
    model = indicator_model(system, choices).milp
    write_model(model, arguments.write_model)
    rows, columns = model.shape
    print(f"wrote {arguments.write_model}: {rows} rows, {columns} columns, {model.nonzeros} non-zeros")
    return 0
