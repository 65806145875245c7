"""Commands on a pair of files: worst case, linkage, measures of disclosure risk, verification, sweep."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.options.option import keywords
from linkrisk.errors import called
from linkrisk.solver.commands.progress import limit_of, progress_line, reporter
from linkrisk.solver.commands.targets import answered, given_settings, hand_over, say_written, write_content
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.number_format import several

if TYPE_CHECKING:
    import pandas as pd

    from linkrisk.solver.linkage.result import LinkedPasses
    from linkrisk.solver.options.linking import FindCommand, LinkCommand
    from linkrisk.solver.options.measuring import ReportCommand, RiskCommand, SweepCommand
    from linkrisk.solver.options.verifying import VerifyCommand
    from linkrisk.solver.options.worst_case import (
        CompareCommand,
        EvaluateCommand,
        FitCommand,
    )
    from linkrisk.solver.report.operations.report import ReportResult
    from linkrisk.solver.run.result import Result
    from linkrisk.solver.worst_case.result import FitResult

_KEEP = "keep it with --json FIT.json (for evaluate) or --report FIT.html (every record)\n"

_CHARTS, _EACH_RECORD = 2.0, 1.5e-5
"""Seconds on a quiet machine of the charts of a report, and of a record of each family in JSON or report."""

_NOT_IN_PLANS = ("plan", "method", "run", "command", "command_line")


def fit(asked: FitCommand) -> int:
    """Solve, print the answer, write the files that were asked for; then the certificate."""
    from linkrisk.solver.worst_case.operations.fit import fit

    if asked.certificate_time_limit is not None and asked.certificate_file is None:
        raise UsageError(
            "--certificate-time-limit is for --certificate: give that too, or leave it out",
            option="certificate_time_limit",
        )
    if asked.write_model is not None:
        return _write_model(asked, asked.write_model)
    shown: list[FitResult] = []
    with ExitStack() as lines:
        line = lines.enter_context(progress_line("reading and comparing records", limit_of(asked)))

        def on_found(found: FitResult) -> None:
            lines.close()
            shown.append(found)
            kept = any(path is not None for path in (asked.json, asked.report, asked.table))
            hand_over(asked, found, "" if kept else _KEEP, table=found.table.to_frame)
            if asked.certificate_file is not None:
                lines.enter_context(progress_line("making the certificate (Ctrl-C: continue without it)"))

        more = {
            "certificate": asked.certificate_file is not None,
            "reserve": _reserve(asked),
            "on_progress": reporter(line),
            "on_found": on_found,
        }
        result = fit(**keywords(type(asked), asked, **more))
    if asked.certificate_file is not None and result.alone:
        _hand_over_certificate(asked, asked.certificate_file, result, len(shown[0].details["notes"]))
    return 0


def _reserve(asked: FitCommand) -> tuple[float, float]:
    """Seconds of the limit that are left to writing: at all, and for each record of each family."""
    written = asked.report is not None or asked.json is not None
    return (0.0 if asked.report is None else _CHARTS, _EACH_RECORD if written else 0.0)


def _hand_over_certificate(asked: FitCommand, path: str, result: FitResult, noted: int) -> None:
    """Write the certificate of a fit that is written already, and its notes beyond the first `noted`."""
    from linkrisk.datasets.microdata.writing import write_whole

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


def _write_model(asked: FitCommand, path: str) -> int:
    """Write the model instead of solving it."""
    from linkrisk.solver.worst_case.operations.fitting import save_model

    for name in ("json", "report", "table", "certificate_file"):
        if getattr(asked, name) is not None:
            flag = called(name.removesuffix("_file"))
            raise UsageError(f"--write-model stops before there is a result: leave {flag} out, or run twice")
    model = save_model(asked, path)
    rows, columns = model.shape
    print(f"wrote {path}: {rows} rows, {columns} columns, {model.nonzeros} non-zeros")
    return 0


def compare(asked: CompareCommand) -> int:
    """Compare, print the table, write the files that were asked for; 1 when something went wrong."""
    from linkrisk.solver.worst_case.operations.compare import compare

    result = answered(asked, compare, "reading and comparing records")
    hand_over(asked, result, table=result.to_frame)
    return compared(result)


def compared(result: Result) -> int:
    """Return 1 where claims of a comparison contradict each other, and print them as errors."""
    from linkrisk.solver.documents.wording import conflicts

    lines = conflicts(result.to_dict())
    for line in lines:
        print(line, file=sys.stderr)
    return 1 if lines else 0


def evaluate(asked: EvaluateCommand) -> int:
    """Count, print, write the files that were asked for."""
    from linkrisk.solver.linkage.operations.evaluate import evaluate

    result = answered(asked, evaluate, "comparing records", limit_of(asked))
    hand_over(asked, result, table=result.table.to_frame)
    return 0


def verify(asked: VerifyCommand) -> int:
    """Check and print what is proved; 1 when a check fails, or a table is not protected."""
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.certificates.operations.verification import quoted
    from linkrisk.solver.certificates.operations.verify import verify
    from linkrisk.solver.options.verifying import VerifyOptions

    with progress_line("checking") as line:
        found = verify(**keywords(VerifyOptions, asked, on_progress=reporter(line)))
    if asked.json is not None:
        write_whole(asked.json, found.to_json())
    if found.table is not None:
        files: Any = asked.tables or asked.cells
        cells, relations = several(found.cells, "cell"), several(found.relations, "relation")
        print(f"table       {' + '.join(files)}: {cells}, {relations}")
    if found.parts or found.verdict is not None or found.table is not None:
        print(found, end="")
    for family, one in found.parts.items() or [("", found)]:
        if not one.verified:
            about = f"{quoted(family)}: " if family else ""
            print(f"rejected: {about}{one.rejected}", file=sys.stderr)
    return 0 if found else 1


def link(asked: LinkCommand) -> int:
    """Link, print, write the files that were asked for."""
    from linkrisk.solver.linkage.operations.link import link

    result = answered(asked, link, "comparing records", parameters=_linker_parameters(asked))
    hand_over(asked, result, table=result.table.to_frame, **_pairs_of(result.passes))
    return 0


def find_links(asked: FindCommand) -> int:
    """Link, print, write the files that were asked for."""
    from linkrisk.solver.linkage.operations.link import find_links

    result = answered(asked, find_links, "comparing records", parameters=_linker_parameters(asked))
    hand_over(asked, result, **_pairs_of(result.passes))
    return 0


def _pairs_of(passes: LinkedPasses | None) -> dict[str, Callable[[], pd.DataFrame]]:
    """Make the tables of the pairs of passes, by the options that write them."""
    return {} if passes is None else {"links": lambda: passes.links, "clerical": lambda: passes.clerical}


def _linker_parameters(asked: LinkCommand | FindCommand) -> dict[str, Any]:
    """Read the parameters of the linker as it reads them; only passes list pairs."""
    from linkrisk.solver.linkage.parameters import all_settings, own_settings

    found = given_settings(asked, all_settings(), own_settings(str(asked.method)))
    for option in ("links", "clerical"):
        if getattr(asked, option) is not None and "passes" not in found:
            flags = called(option), called("passes")
            raise UsageError(f"{flags[0]} lists pairs of passes: give {flags[1]} too, or leave it out")
    return found


def risk(asked: RiskCommand) -> int:
    """Measure, print, write the files that were asked for."""
    from linkrisk.solver.measures.risk import risk

    result = answered(asked, risk, "comparing records", limit_of(asked))
    hand_over(asked, result, table=result.to_frame)
    return 0


def report(asked: ReportCommand) -> int:
    """Measure, or read; write the page and what else was asked for."""
    if asked.output is None and asked.json is None:
        raise UsageError("where to? give --output FILE.html, or --json FILE")
    make = _measured if asked.saved is None else _saved
    if asked.output is None:
        return _write_report(make(asked), asked)
    from linkrisk.solver.documents.page.scripts import bundling

    with bundling():
        return _write_report(make(asked), asked)


def _write_report(result: ReportResult, asked: ReportCommand) -> int:
    """Write what was asked for, and print the headline."""
    from linkrisk.datasets.microdata.writing import together, write_whole

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


def _measured(asked: ReportCommand) -> ReportResult:
    """Take every measure."""
    from linkrisk.solver.report.operations.report import report

    certificates = True if asked.certificate_file is not None else None
    return answered(asked, report, "comparing records", limit_of(asked), certificates=certificates)


def _saved(asked: ReportCommand) -> ReportResult:
    """Read the measures from JSON."""
    from linkrisk.solver.report.operations.report import saved_report

    for name in ("original", "masked", "certificate_file", "certificate_time_limit"):
        if getattr(asked, name) is not None:
            flag = called(name.removesuffix("_file"))
            raise UsageError(f"--saved measures nothing: leave {flag} out, or --saved")
    return saved_report(asked.saved or (), asked.audience)


def complete_sweep(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read the maskings of a plan; its options become arguments that the command line does not give."""
    from linkrisk.solver.risk_utility.maskings import read_plan

    maskings: tuple[Any, ...] = ()
    if arguments.plan is not None:
        names = {name.replace("_", "-"): name for name in vars(arguments) if name not in _NOT_IN_PLANS}
        plan = read_plan(arguments.plan, tuple(names), arguments.schema)
        for option, value in plan.options.items():
            name = names[option]
            if isinstance(value, bool) != (option == "drop-constant"):
                needs = "true or false" if option == "drop-constant" else "a text or a number"
                raise UsageError(f"{arguments.plan}: {option} must be {needs}")
            if getattr(arguments, name) in (None, False):
                setattr(arguments, name, value)
        maskings = plan.maskings
    if arguments.original is None:
        raise UsageError("which file? give --original FILE", option="original")
    return {"planned": maskings}


def sweep(asked: SweepCommand) -> int:
    """Sweep, print the map, write the files that were asked for; 1 where a run failed by a fault."""
    from linkrisk.datasets.microdata.schema_files import schema_of
    from linkrisk.solver.risk_utility.maskings import maskings_of
    from linkrisk.solver.risk_utility.runs import Status
    from linkrisk.solver.risk_utility.sweep import sweep

    written = maskings_of(asked.methods, schema=schema_of(asked.schema)) if asked.methods else []
    methods = [*asked.planned, *written]
    result = answered(asked, sweep, "reading", methods=methods, folder=_folder(asked))
    hand_over(asked, result, table=result.to_frame)
    return 1 if any(run.status is Status.FAILED for run in result.runs) else 0


def _folder(asked: SweepCommand) -> Path | None:
    """Name the folder of finished runs: none where neither it nor an output is given."""
    if asked.folder is not None:
        return Path(asked.folder)
    beside = asked.table or asked.json
    if beside is None or (Path(beside).exists() and not Path(beside).is_file()):  # such as /dev/null
        return None
    return Path(beside).with_suffix(".runs")
