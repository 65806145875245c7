"""`python -m solver fit`: the worst case of a file pair."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from linkrisk.solver.commands.arguments import (
    add_categories,
    add_files,
    add_problem,
    add_run,
    add_workers,
    given_problem,
    given_run,
    given_workers,
    limit,
    number,
    whole_number,
)
from linkrisk.solver.commands.calling import as_called
from linkrisk.solver.commands.offered import offered
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.inputs.problem import ProblemOptions
    from linkrisk.solver.run.clock import Limits
    from linkrisk.solver.run.results import FitResult
    from linkrisk.solver.worst_case.family_results import FitResults
    from linkrisk.solver.worst_case.sampled.plan import SamplingChoice
    from linkrisk.solver.worst_case.single_fit import FitRequest, Fitted

_AUTOMATIC = "auto"

_CHARTS, _EACH_RECORD = 2.0, 1.5e-5
"""Seconds on a quiet machine of the charts of a report, and of a record of each family in JSON or report."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Find the distance that re-identifies the most records, with an upper bound for all others."
    )
    parser.epilog = "example: fit --original o.csv --masked m.csv --report risk.html"
    add_files(parser)
    add_categories(parser)
    add_problem(parser, several=True)
    add_run(parser, offered().seconds_of_fit, work=True)
    _add_samples(parser)
    add_workers(
        parser, "search samples and count", "; with --scheduler, for how many the samples are planned"
    )
    names = offered()
    group = parser.add_argument_group("engine")
    group.add_argument(
        "--engine",
        metavar="NAME",
        help=f"{', '.join(names.engines)}; default: exact, or milp where --backend, --margin or --big-c is "
        "given",
    )
    group.add_argument(
        "--backend", metavar="NAME", help=f"for milp: {', '.join(names.backends)}; default: highs"
    )
    group.add_argument(
        "--memory-limit",
        metavar="MB",
        default=_AUTOMATIC,
        help="megabytes that the process may hold, or 'none'; default: four fifths of what is free",
    )
    group = parser.add_argument_group("output")
    group.add_argument("--json", metavar="FILE", help="write the whole result as JSON")
    group.add_argument("--report", metavar="FILE", help="write the result as one HTML page")
    group.add_argument(
        "--table", metavar="FILE", help="write the table of records (of the worst family), as its suffix says"
    )
    group.add_argument(
        "--certificate", metavar="FILE", help="write what proves the bound, for the command verify"
    )
    group.add_argument(
        "--certificate-time-limit",
        metavar="S",
        help="seconds for that, after the search; default: what it leaves of --time-limit, at least a "
        "quarter or 60",
    )
    group.add_argument(
        "--write-model", metavar="FILE", help="write the model (.lp or .mps) instead of solving it"
    )
    parser.set_defaults(run=run)


def _add_samples(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("samples")
    group.add_argument(
        "--sample",
        metavar="M",
        help="search random samples of so many records each instead of all, or 'none'; default: all records, "
        "of more than 20,000 samples of 50",
    )
    group.add_argument(
        "--samples", metavar="K", help="how many samples, disjoint; default: what the time limit allows"
    )
    group.add_argument(
        "--confidence",
        metavar="P",
        default="0.95",
        help="of the limit that samples give for the whole file; default: 0.95",
    )
    group.add_argument("--strata", metavar="COLUMN", help="draw of each value of a column its share")


def run(arguments: argparse.Namespace) -> int:
    """Solve, print the answer, write the files that were asked for; then the certificate."""
    from dataclasses import replace

    from linkrisk.solver.api.fit import find
    from linkrisk.solver.api.limits import DEFAULT_TIME_LIMIT
    from linkrisk.solver.commands.fit_summary import families_summary, summary
    from linkrisk.solver.commands.progress import limit_shown, progress_line, reporter
    from linkrisk.solver.commands.targets import check_targets
    from linkrisk.solver.inputs.problem import ProblemOptions
    from linkrisk.solver.worst_case.family_results import FitResults

    check_targets(arguments, "json", "report", "table", "certificate", "write_model")
    options, certificate_limit = ProblemOptions(**given_problem(arguments)), _certificate_limit(arguments)
    request = _request(arguments)
    if arguments.write_model is not None:
        return _write_model(arguments, options, request)
    with progress_line("reading and comparing records", limit_shown(arguments, DEFAULT_TIME_LIMIT)) as line:
        found = find(
            arguments.original,
            arguments.masked,
            options.aggregator,
            options,
            replace(
                request,
                report=reporter(line),
                own_seconds=certificate_limit is not None,
                page=0.0 if arguments.report is None else _CHARTS,
                listed=0.0 if arguments.report is None and arguments.json is None else _EACH_RECORD,
            ),
        )
    if isinstance(found, FitResults):
        _hand_over(arguments, found, families_summary(found))
        return 0
    _hand_over(arguments, found.result, summary(found.result))
    if arguments.certificate is not None:
        _certify(arguments, found, certificate_limit)
    return 0


def _request(arguments: argparse.Namespace) -> FitRequest:
    """How to solve; UsageError when it cannot be done that way."""
    from linkrisk.solver.api.fit import fit_request
    from linkrisk.solver.run.crew import crew_choice

    return fit_request(
        arguments.engine,
        backend=arguments.backend,
        **given_run(arguments),
        limits=_limits(arguments),
        sampling=_sampling(arguments),
        workers=crew_choice(**given_workers(arguments)),
        certificate=arguments.certificate is not None and arguments.write_model is None,
        command=as_called(arguments.command_line),
        modelling=arguments.write_model is not None,
    )


def _sampling(arguments: argparse.Namespace) -> SamplingChoice:
    """What is asked for; UsageError when it is no number, or out of range."""
    from linkrisk.solver.api.sampling import sampling_choice

    sample: int | str | None = _AUTOMATIC
    if arguments.sample is not None:
        sample = None if arguments.sample == "none" else whole_number(arguments.sample, "--sample")
    samples = whole_number(arguments.samples, "--samples")
    confidence = number(arguments.confidence, "--confidence")
    return sampling_choice(sample, samples, confidence, arguments.strata)


def _hand_over(arguments: argparse.Namespace, result: FitResult | FitResults, text: str) -> None:
    """Print the answer, and write the files that were asked for: of many records that takes seconds."""
    from linkrisk.solver.commands.targets import say_written

    try:
        print(text, end="")
        if arguments.json is None and arguments.report is None and arguments.table is None:
            print("keep it with --json FIT.json (for evaluate) or --report FIT.html (every record)")
        sys.stdout.flush()  # now, whatever files and certificate take
    finally:  # a reader that has gone away must not cost the files of a long run
        _write(arguments, result)
        _write_table(arguments, result)
    say_written(arguments.json, arguments.table, arguments.report)


def _write_table(arguments: argparse.Namespace, result: FitResult | FitResults) -> None:
    from linkrisk.datasets.microdata.writing import write_table
    from linkrisk.solver.commands.count_summaries import say_left_out
    from linkrisk.solver.worst_case.family_results import FitResults

    table = (result.worst if isinstance(result, FitResults) else result).table
    if arguments.table is not None:
        write_table(table.to_frame(), arguments.table)
    elif arguments.json is not None or arguments.report is not None:
        say_left_out(arguments, table)


def _write(arguments: argparse.Namespace, result: FitResult | FitResults) -> None:
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.api.report import report_of

    if arguments.json is not None:
        write_whole(arguments.json, result.to_json())
    if arguments.report is not None:
        write_whole(arguments.report, report_of(result.to_dict()).to_html())


def _certify(arguments: argparse.Namespace, fitted: Fitted, seconds: float | None) -> None:
    """Try the certificate of a fit that is written already, and note in its files what came of it."""
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.commands.progress import progress_line

    with progress_line("making the certificate (Ctrl-C: continue without it)"):
        result = fitted.certified(seconds)
    if result.certificate is None:
        reason = result.details["certificate"]["reason"]
        print(f"note: there is no certificate: {reason}; the fit above is kept", file=sys.stderr)
    else:
        write_whole(arguments.certificate, json.dumps(result.certificate) + "\n")
        if result.proven:
            print("proven: the certificate shows that no other parameters re-identify more")
        for note in result.details["notes"][len(fitted.result.details["notes"]) :]:
            print(f"note: {note}", file=sys.stderr)
    _write(arguments, result)


def _certificate_limit(arguments: argparse.Namespace) -> float | None:
    """Seconds for the certificate; UsageError when none is asked for, or no time is left."""
    from linkrisk.solver.api.limits import check_limit

    if arguments.certificate_time_limit is None:
        return None
    if arguments.certificate is None:
        raise UsageError("--certificate-time-limit is for --certificate: give that too, or leave it out")
    seconds = number(arguments.certificate_time_limit, "--certificate-time-limit")
    check_limit(seconds, "time limit of the certificate")
    return seconds


def _limits(arguments: argparse.Namespace) -> Limits:
    """The limits of the run; a work limit stands alone where no time limit is given."""
    from linkrisk.solver.api.limits import check_limits

    seconds, megabytes = arguments.time_limit, arguments.memory_limit
    return check_limits(
        _AUTOMATIC if seconds is None else limit(seconds, "--time-limit"),
        None if arguments.work_limit is None else number(arguments.work_limit, "--work-limit"),
        megabytes if megabytes == _AUTOMATIC else limit(megabytes, "--memory-limit"),
    )


def _write_model(arguments: argparse.Namespace, options: ProblemOptions, request: FitRequest) -> int:
    from linkrisk.solver.api.model import save_model

    if request.sampling.asked:
        raise UsageError(
            "a model is of all records: leave --sample, --samples and --strata out, or run twice"
        )
    for name in ("json", "report", "table", "certificate"):
        if getattr(arguments, name) is not None:
            raise UsageError(
                f"--write-model stops before there is a result: leave --{name} out, or run twice"
            )
    path = arguments.write_model
    model = save_model(arguments.original, arguments.masked, path, options, request.options)
    rows, columns = model.shape
    print(f"wrote {path}: {rows} rows, {columns} columns, {model.nonzeros} non-zeros")
    return 0
