"""The actions of `tables`: make, recode, suppress, audit, round, adjust, perturb, compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.options.option import PYTHON, keywords, options_of
from linkrisk.errors import called
from linkrisk.solver.commands.pairs import compared
from linkrisk.solver.commands.progress import limit_of, progress_line, reporter
from linkrisk.solver.commands.targets import answered, files_about, hand_over, named_paths, paths_of
from linkrisk.solver.options.tables import TableOptions
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from linkrisk.datasets.tables.stored_table import StoredTable
    from linkrisk.solver.options.table_making import MakeCommand, RecodeCommand, RunBatchCommand
    from linkrisk.solver.options.table_noise import PerturbCountsCommand, PerturbSumsCommand
    from linkrisk.solver.options.table_protection import (
        AdjustCommand,
        AuditCommand,
        CompareTableCommand,
        RoundCommand,
        SuppressCommand,
    )
    from linkrisk.solver.run.result import Reported, Result
    from linkrisk.solver.tables.operations.adjust_and_round import ChangedTable
    from linkrisk.solver.tables.operations.make import MadeTable, MadeTables
    from linkrisk.solver.tables.operations.perturb import NoisyTable
    from linkrisk.solver.tables.operations.result import TableResult

_PAGES = ("report", "external_report")
"""Options that name pages about the result, where an action has them."""


def make(asked: MakeCommand) -> int:
    """Make, write, and print what was made."""
    from linkrisk.solver.tables.operations.make import make_table, make_tables

    _check_made_files(asked)
    made: MadeTable | MadeTables
    if len(asked.by) == 1:
        made = make_table(**keywords(type(asked), asked, by=asked.by[0]))
    else:
        made = make_tables(**keywords(type(asked), asked))
    _write_made(asked, made)
    _show(asked, made, "cells", "relations", "contributors", "table", "record")
    return 0


def _check_made_files(asked: MakeCommand) -> None:
    """Refuse files that do not make a table together, or are of no format that holds one."""
    from linkrisk.datasets.tables.writing import check_internal, check_lines

    cells, relations = f"{called('cells')} FILE", f"{called('relations')} FILE"
    if (asked.cells is None) != (asked.relations is None) or not (asked.cells or asked.table):
        both = f"{called('table')} FILE"
        raise UsageError(f"give what is written: {cells} and {relations}, or {both}")
    if asked.contributors and not asked.cells:
        numbered = f"{called('contributors')} names cells by their numbers"
        raise UsageError(f"{numbered}; give {called('cells')} and {called('relations')}, too")
    if asked.cells is not None:
        check_lines(asked.cells)
    if asked.table is not None:
        check_internal(asked.table)


def _write_made(asked: MakeCommand, made: MadeTable | MadeTables) -> None:
    """Write what is asked for, all or nothing."""
    from linkrisk.datasets.masking.release import version
    from linkrisk.datasets.microdata.writing import for_the_house, together, write_all, write_whole
    from linkrisk.datasets.tables.reading import made_record
    from linkrisk.datasets.tables.writing import internal_files
    from linkrisk.solver.tables.operations.figures import labelled

    with together():
        if asked.table is not None:
            with for_the_house():
                write_all(internal_files(made.stored(), asked.table))
        if asked.cells is not None and asked.relations is not None:
            made.write(asked.cells, asked.relations, asked.contributors)
        if asked.record is not None:
            of = {"input": asked.data, "by": asked.by, "response": asked.response}
            more: dict[str, Any] = {"linkrisk": version(), **of}
            more |= labelled(made.stored()) | ({"counts": True} if made.stored().counts else {})
            write_whole(asked.record, made_record([str(rule) for rule in asked.rules], len(made.cells), more))


def recode(asked: RecodeCommand) -> int:
    """Recode, write, and print the effects."""
    from linkrisk.datasets.microdata.writing import together
    from linkrisk.solver.tables.operations.recode import recode_table

    if (asked.cells is None) != (asked.relations is None):
        both = f"{called('cells')} and {called('relations')}"
        raise UsageError(f"a table is two files: give both {both}, or none")
    result = recode_table(**keywords(type(asked), asked))
    with together():
        if asked.cells is not None and asked.relations is not None:
            result.write(asked.cells, asked.relations)
        _write_about(asked, result)
    _show(asked, result, "cells", "relations")
    return 0


def suppress(asked: SuppressCommand) -> int:
    """Suppress, write, and print what was found; 1 where a sensitive cell is not protected."""
    from linkrisk.solver.tables.operations.suppress_and_audit import suppress_table

    _check_files(asked)
    table = read_table(asked)
    _check_fits(asked, table)
    result = _of_table(asked, table, suppress_table, "suppressing cells", exact=_exactly(asked))
    return _hand_over_pattern(asked, result)


def audit(asked: AuditCommand) -> int:
    """Audit, write, and print what was found; 1 where a sensitive cell is not protected."""
    from linkrisk.datasets.tables.linking import link_publications
    from linkrisk.solver.tables.operations.source import other_table
    from linkrisk.solver.tables.operations.suppress_and_audit import audit_table

    _check_files(asked)
    if asked.also and asked.certificate is not None:
        proof, others = called("certificate"), called("also")
        raise UsageError(f"{proof} is about one table: leave {others} out, or give {called('exact')} alone")
    table = read_table(asked)
    also = [other_table(asked, one) for one in asked.also]
    _check_fits(asked, link_publications([table, *also])[0] if also else table)
    result = _of_table(asked, table, audit_table, "auditing", also=also, exact=_exactly(asked))
    return _hand_over_pattern(asked, result)


def _exactly(asked: SuppressCommand | AuditCommand) -> bool:
    """Whether levels are decided in rational numbers, as a certificate needs it."""
    return asked.exact or asked.certificate is not None


def _hand_over_pattern(asked: SuppressCommand | AuditCommand, result: TableResult) -> int:
    """Write what is asked for, and print what was found; 1 where a sensitive cell is not protected."""
    from linkrisk.datasets.microdata.writing import together

    with together():
        if asked.output is not None and result.protected:
            result.write(asked.output, dataflow=asked.dataflow)
        for path in paths_of(asked, "internal"):
            result.write_internal(path, dataflow=asked.dataflow)
        if asked.certificate is not None:
            result.write_certificate(asked.certificate)
        _write_about(asked, result)
    written = ("internal", "certificate")
    if result.protected:
        _show(asked, result, "output", *written)
    else:
        withheld = f"{result.unprotected:,} not protected" if asked.output is not None else ""
        _show(asked, result, *written, withheld=withheld)
    return 0 if result.protected else 1


def round_cells(asked: RoundCommand) -> int:
    """Round, write, and print what was found."""
    from linkrisk.solver.tables.operations.adjust_and_round import round_table

    return _changed(asked, round_table, "rounding cells")


def adjust(asked: AdjustCommand) -> int:
    """Adjust, write, and print what was found."""
    from linkrisk.solver.tables.operations.adjust_and_round import adjust_table

    return _changed(asked, adjust_table, "adjusting cells")


def _changed(asked: RoundCommand | AdjustCommand, change: Callable[..., ChangedTable], doing: str) -> int:
    """Change the values of the table that is asked for, write it, and print what was found."""
    _check_files(asked, lines=True)
    _write_changed(asked, _of_table(asked, read_table(asked), change, doing))
    return 0


def perturb_counts(asked: PerturbCountsCommand) -> int:
    """Count, perturb, write, and print what was done."""
    from linkrisk.solver.tables.operations.perturb import perturb_counts

    _check_files(asked, lines=True)
    result = perturb_counts(**keywords(type(asked), asked))
    _write_changed(asked, result, write_design=result.design)
    return 0


def perturb_sums(asked: PerturbSumsCommand) -> int:
    """Sum, perturb, write, and print what was done."""
    from linkrisk.solver.tables.operations.perturb import perturb_sums

    _check_files(asked, lines=True)
    result = perturb_sums(**keywords(type(asked), asked))
    _write_changed(asked, result, write_design=result.design)
    return 0


def compare(asked: CompareTableCommand) -> int:
    """Compare, write, and print the table; 1 where claims contradict each other or the count, or none is."""
    from linkrisk.solver.tables.operations.compare import compare_table

    result = answered(asked, compare_table, "comparing backends")
    hand_over(asked, result)
    return compared(result)


def run_batch(asked: RunBatchCommand) -> int:
    """Run the batch, and print what was done; 1 where a table is not protected, or it was stopped before."""
    from linkrisk.solver.tables.operations.batch.run import run_batch

    beside = [] if asked.json is None else [asked.json]
    result = answered(asked, run_batch, "running the batch", beside=beside)
    hand_over(asked, result)
    return 0 if result.protected and (result.files or not result.not_begun) else 1


def read_table(asked: TableOptions) -> StoredTable:
    """Read the table that is asked for."""
    from linkrisk.solver.tables.operations.source import open_table

    return open_table(**keywords(TableOptions, asked))


def _of_table(asked: Any, table: StoredTable, function: Callable[..., Any], doing: str, **more: Any) -> Any:
    """Call a public function with a table that was read and what else is asked, and show its progress."""
    known = options_of(TableOptions)
    rest = {name: getattr(asked, name) for name in options_of(type(asked), PYTHON) if name not in known}
    with progress_line(doing, limit_of(asked)) as line:
        return function(**{"cells": table, **rest, "on_progress": reporter(line), **more})


def _check_files(asked: Any, *, lines: bool = False) -> None:
    """Refuse files whose format cannot be written.

    `lines` says that the internal file has a line for each cell, and can be no whole table.

    Raises UsageError, DataError with the file and how to fix it.
    """
    from linkrisk.datasets.tables.sdmx_csv import checked_dataflow
    from linkrisk.datasets.tables.writing import check_internal, check_lines, check_published

    checks = (("output", check_published), ("internal", check_lines if lines else check_internal))
    for name, check in checks:
        for path in paths_of(asked, name):
            check(path)
    if asked.dataflow is not None:
        checked_dataflow(asked.dataflow)


def _check_fits(asked: Any, table: StoredTable) -> None:
    """Refuse files whose format cannot hold a table, before anything is searched.

    Raises DataError.
    """
    from linkrisk.datasets.tables.writing import check_holds

    check_holds(table, asked.output, paths_of(asked, "internal"))


def _write_about(asked: Any, result: Reported) -> None:
    """Write JSON and pages, all or none."""
    from linkrisk.datasets.microdata.writing import write_all

    if about := files_about(asked, result):
        write_all(about)


def _write_changed(asked: Any, result: ChangedTable | NoisyTable, **more: pd.DataFrame) -> None:
    """Write a table whose values were changed, published and internal; then print what was found.

    `more` are further frames, by the option that names their file. All are written, or none.
    """
    from linkrisk.datasets.microdata.writing import for_the_house, together, write_table

    with together():
        if asked.output is not None:
            result.write(asked.output, dataflow=asked.dataflow)
        with for_the_house():
            for option, frame in {"internal": result.to_frame(), **more}.items():
                if getattr(asked, option) is not None:
                    write_table(frame, getattr(asked, option))
        _write_about(asked, result)
    _show(asked, result, "output", "internal")


def _show(asked: Any, result: Result, *names: str, withheld: str = "") -> None:
    """Print a result in short, and which files of these names, and which pages, were written.

    `withheld` says why there is no `output`.
    """
    lines = [f"{name.split('_')[0]:<11} {path}" for name, path in named_paths(asked, (*names, *_PAGES))]
    lines += [f"output      none: {withheld}"] if withheld else []
    print(result, "".join(f"{line}\n" for line in (["", *lines] if lines else [])), sep="", end="")
