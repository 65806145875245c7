"""`python -m solver report`: every measure of a release as one page."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from linkrisk.solver.commands.arguments import number
from linkrisk.solver.commands.calling import as_called
from linkrisk.solver.commands.risk import add_options, given_options
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.api.report import ReportResult

_FROM = "saved"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Take every measure of a release, certify its worst cases, check the certificates, and write "
        "all of it "
        "as one HTML page; or make the page again from JSON."
    )
    parser.epilog = (
        "example: report --original o.csv --masked m.csv --schema schema.toml --output report.html"
    )
    add_options(parser)
    group = parser.add_argument_group("report")
    group.add_argument("--output", metavar="FILE", help="write the report as one HTML page")
    group.add_argument("--json", metavar="FILE", help="write what the report says as JSON")
    group.add_argument(
        "--audience",
        metavar="WHO",
        help="internal, or external without anything that would help an intruder; default: internal",
    )
    group.add_argument(
        "--saved",
        dest=_FROM,
        metavar="FILE",
        action="append",
        help="measure nothing: make the page of what fit, risk, sweep or report wrote with --json; given "
        "again, a sweep beside a worst case",
    )
    group.add_argument(
        "--certificate",
        metavar="FILE",
        help="write what proves the bounds of all families, whatever that takes",
    )
    group.add_argument(
        "--certificate-time-limit",
        metavar="S",
        help="seconds for all certificates, after the measures; default: what these leave of --time-limit, "
        "20 at most",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, or read; write the page and what else was asked for."""
    from linkrisk.solver.commands.targets import check_targets

    if arguments.output is None and arguments.json is None:
        raise UsageError("where to? give --output FILE.html, or --json FILE")
    check_targets(arguments, "output", "json", "certificate")
    make = _made if arguments.saved is None else _read
    if arguments.output is None:
        return _write(make(arguments), arguments)
    from linkrisk.solver.report.page.scripts import bundling

    with bundling():
        return _write(make(arguments), arguments)


def _write(result: ReportResult, arguments: argparse.Namespace) -> int:
    """Write what was asked for, and say the headline."""
    from linkrisk.datasets.microdata.writing import together, write_whole
    from linkrisk.solver.commands.targets import say_written

    # All is made before anything is written.
    made = {
        arguments.output: result.to_html() if arguments.output is not None else "",
        arguments.json: result.to_json() if arguments.json is not None else "",
        arguments.certificate: "" if arguments.certificate is None else result.bundle(),
    }
    with together():
        for path, text in made.items():
            if path is not None:
                write_whole(path, text)
    head = result.document.headline
    print(head.verdict if head.verdict == head.worst else f"{head.verdict}\n{head.worst}")
    say_written(*made)
    sys.stdout.flush()
    return 0


def _made(arguments: argparse.Namespace) -> ReportResult:
    """Measure everything."""
    from linkrisk.solver.api.report import report
    from linkrisk.solver.commands.progress import limit_shown, progress_line, reporter
    from linkrisk.solver.options.run import SECONDS

    seconds = arguments.certificate_time_limit
    with progress_line("comparing records", limit_shown(arguments, SECONDS)) as line:
        return report(
            arguments.original,
            arguments.masked,
            audience=arguments.audience or "internal",
            certificates=True if arguments.certificate is not None else None,
            certificate_time_limit=None if seconds is None else number(seconds, "--certificate-time-limit"),
            on_progress=reporter(line),
            command=as_called(arguments.command_line),
            **given_options(arguments),
        )


def _read(arguments: argparse.Namespace) -> ReportResult:
    """Make it from JSON."""
    from linkrisk.solver.api.report import report_of

    for name in ("original", "masked", "certificate", "certificate_time_limit"):
        if getattr(arguments, name) is not None:
            option = "--" + name.replace("_", "-")
            raise UsageError(f"--saved measures nothing: leave {option} out, or --saved")
    return report_of(*arguments.saved, audience=arguments.audience)
