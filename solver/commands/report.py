"""`python -m solver report`: every measure of a release as one page."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from linkrisk.datasets.options.option import keywords
from linkrisk.errors import called
from linkrisk.solver.options.measuring import ReportCommand, ReportOptions
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.report.operations.report import ReportResult

ASKED = ReportCommand
DESCRIPTION = (
    "Take every measure of a release, certify its worst cases, check the certificates, and write all of it "
    "as one HTML page; or make the page again from JSON."
)
EXAMPLE = "example: report --original o.csv --masked m.csv --schema schema.toml --output report.html"


def run(asked: ReportCommand) -> int:
    """Measure, or read; write the page and what else was asked for."""
    if asked.output is None and asked.json is None:
        raise UsageError("where to? give --output FILE.html, or --json FILE")
    make = _made if asked.saved is None else _read
    if asked.output is None:
        return _write(make(asked), asked)
    from linkrisk.solver.documents.page.scripts import bundling

    with bundling():
        return _write(make(asked), asked)


def _write(result: ReportResult, asked: ReportCommand) -> int:
    """Write what was asked for, and say the headline."""
    from linkrisk.datasets.microdata.writing import together, write_whole
    from linkrisk.solver.commands.targets import say_written

    # All is made before anything is written.
    made = {
        asked.output: result.to_html() if asked.output is not None else "",
        asked.json: result.to_json() if asked.json is not None else "",
        asked.certificate_file: "" if asked.certificate_file is None else result.bundle(),
    }
    with together():
        for path, text in made.items():
            if path is not None:
                write_whole(path, text)
    print("\n".join(result.document.headline.sentences))
    say_written(*made)
    sys.stdout.flush()
    return 0


def _made(asked: ReportCommand) -> ReportResult:
    """Measure everything."""
    from linkrisk.solver.commands.progress import limit_of, progress_line, reporter
    from linkrisk.solver.report.operations.report import report

    certificates = True if asked.certificate_file is not None else None
    with progress_line("comparing records", limit_of(asked)) as line:
        more = {"certificates": certificates, "on_progress": reporter(line)}
        return report(**keywords(ReportOptions, asked, **more))


def _read(asked: ReportCommand) -> ReportResult:
    """Make it from JSON."""
    from linkrisk.solver.report.operations.report import saved_report

    for name in ("original", "masked", "certificate_file", "certificate_time_limit"):
        if getattr(asked, name) is not None:
            flag = called(name.removesuffix("_file"))
            raise UsageError(f"--saved measures nothing: leave {flag} out, or --saved")
    return saved_report(asked.saved or (), asked.audience)
