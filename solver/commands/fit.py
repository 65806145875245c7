"""`python -m solver fit`: the worst case of a file pair."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from linkrisk.datasets.options.option import keywords
from linkrisk.errors import called
from linkrisk.solver.options.worst_case import FitCommand, FitOptions
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.worst_case.result import FitResult

ASKED = FitCommand
DESCRIPTION = "Find the distance that re-identifies the most records, with an upper bound for all others."
EXAMPLE = "example: fit --original o.csv --masked m.csv --report risk.html"

_KEEP = "keep it with --json FIT.json (for evaluate) or --report FIT.html (every record)\n"

_CHARTS, _EACH_RECORD = 2.0, 1.5e-5
"""Seconds on a quiet machine of the charts of a report, and of a record of each family in JSON or report."""


def run(asked: FitCommand) -> int:
    """Solve, print the answer, write the files that were asked for; then the certificate."""
    from linkrisk.solver.commands.progress import limit_of, progress_line, reporter
    from linkrisk.solver.commands.targets import hand_over
    from linkrisk.solver.worst_case.operations.fit import fit

    if asked.certificate_time_limit is not None and asked.certificate_file is None:
        raise UsageError(
            "--certificate-time-limit is for --certificate: give that too, or leave it out",
            option="certificate_time_limit",
        )
    if asked.write_model is not None:
        return _write_model(asked)
    shown: list[FitResult] = []
    with ExitStack() as lines:
        line = lines.enter_context(progress_line("reading and comparing records", limit_of(asked)))

        def on_found(found: FitResult) -> None:
            lines.close()
            shown.append(found)
            hand_over(asked, found, "" if _kept(asked) else _KEEP, table=found.table.to_frame)
            if asked.certificate_file is not None:
                lines.enter_context(progress_line("making the certificate (Ctrl-C: continue without it)"))

        more = {
            "certificate": asked.certificate_file is not None,
            "reserve": _reserve(asked),
            "on_progress": reporter(line),
            "on_found": on_found,
        }
        result = fit(**keywords(FitOptions, asked, **more))
    if asked.certificate_file is not None and result.alone:
        _hand_over_certificate(asked, asked.certificate_file, result, len(shown[0].details["notes"]))
    return 0


def _kept(asked: FitCommand) -> bool:
    return any(path is not None for path in (asked.json, asked.report, asked.table))


def _reserve(asked: FitCommand) -> tuple[float, float]:
    """Seconds that are left to what is written: at all, and for each record of each family."""
    written = asked.report is not None or asked.json is not None
    return (0.0 if asked.report is None else _CHARTS, _EACH_RECORD if written else 0.0)


def _hand_over_certificate(asked: FitCommand, path: str, result: FitResult, noted: int) -> None:
    """Write the certificate of a fit that is written already, and note in its files what came of it.

    So many of its notes have been shown.
    """
    import json

    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.commands.targets import write_content

    if result.certificate is None:
        reason = result.details["certificate"]["reason"]
        print(f"note: there is no certificate: {reason}; the fit above is kept", file=sys.stderr)
    else:
        write_whole(path, json.dumps(result.certificate) + "\n")
        if result.proven:
            print("proven: the certificate shows that no other parameters re-identify more")
        for note in result.details["notes"][noted:]:
            print(f"note: {note}", file=sys.stderr)
    write_content(asked, result.to_dict())


def _write_model(asked: FitCommand) -> int:
    from linkrisk.solver.worst_case.operations.fit import save_model

    for name in ("json", "report", "table", "certificate_file"):
        if getattr(asked, name) is not None:
            flag = called(name.removesuffix("_file"))
            raise UsageError(f"--write-model stops before there is a result: leave {flag} out, or run twice")
    path = asked.write_model
    model = save_model(asked, str(path))
    rows, columns = model.shape
    print(f"wrote {path}: {rows} rows, {columns} columns, {model.nonzeros} non-zeros")
    return 0
