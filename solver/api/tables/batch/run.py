"""`run_batch`: a batch of tau-ARGUS, command by command, written when all of it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linkrisk.datasets.masking.record import version
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.datasets.tables.argus.batch_commands import Apriori, Batch, CellKeys, Recode, Suppress, Write
from linkrisk.datasets.tables.argus.batch_file import read_batch
from linkrisk.datasets.tables.argus.batch_lines import PUBLISHED
from linkrisk.datasets.tables.cells_and_relations import SENSITIVE
from linkrisk.solver.api.keywords import checked_keywords
from linkrisk.solver.api.limits import check_limit
from linkrisk.solver.api.tables.batch.outputs import may_be_published, written
from linkrisk.solver.api.tables.batch.steps import BatchTable, Search, protect, with_cell_keys, with_known
from linkrisk.solver.api.tables.batch.tables import tables_of
from linkrisk.solver.api.tables.source import check_adds_up
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.run.results import dump_json


@dataclass(frozen=True, eq=False)
class BatchResult:
    """What a batch has done.

    Attributes
    ----------
    tables : tuple of BatchTable
    files : tuple of Path
        That were written.
    withheld : tuple of Path
        That were not, since their table is not protected.
    said : tuple of str
        What was left out, or done in another way than the batch asks for.
    """

    path: Path
    tables: tuple[BatchTable, ...]
    files: tuple[Path, ...]
    withheld: tuple[Path, ...]
    said: tuple[str, ...] = field(repr=False)

    @property
    def protected(self) -> bool:
        """Whether no table failed its audit."""
        return not self.withheld and all(
            table.result is None or table.result.protected for table in self.tables
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `tables run --json` as a dictionary."""
        return {
            "linkrisk": version(),
            "batch": str(self.path),
            "protected": self.protected,
            "tables": [_told(table) for table in self.tables],
            "files": [str(path) for path in self.files],
            "withheld": [str(path) for path in self.withheld],
            "said": list(self.said),
        }

    def to_json(self) -> str:
        """The JSON of `tables run --json`."""
        return dump_json(self.to_dict())


@checked_keywords
def run_batch(
    batch: str | Path,
    *,
    time_limit: float | None = None,
    cancel: Cancel | None = None,
    on_progress: Reporter | None = None,
) -> BatchResult:
    """Run a batch of tau-ARGUS.

    Nothing is written before all of it is done, and then all files or none; tables that fail their audit are
    not published.

    Parameters
    ----------
    batch : path
        An ``.arb`` file; the files that it names lie beside it.
    time_limit : float, optional
        Seconds for each method; by default what the batch says.
    cancel : Cancel, optional
        A token that ends each search like the time limit.
    on_progress : callable, optional
        Called with every progress report.

    Returns
    -------
    BatchResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If a command is not known or cannot be done; the message names the line.

    Examples
    --------
    >>> from linkrisk import run_batch
    >>> run_batch("survey.arb").protected  # doctest: +SKIP
    True
    """
    if time_limit is not None:
        check_limit(time_limit, "time limit")
    read = read_batch(batch)
    _check_files(read)
    tables = [
        BatchTable(spec, one.stored, source=one.source)
        for spec, one in zip(read.tables, tables_of(read), strict=True)
    ]
    for table in tables:
        check_adds_up(table.stored)
    search = Search(time_limit, cancel, on_progress)
    files: dict[Path, bytes] = {}
    withheld: list[Path] = []
    said: list[str] = []
    for step in read.steps:
        where = f"{read.path}, line {step.line}"
        if isinstance(step, Suppress):
            protect(tables, step, search, where)
        elif isinstance(step, CellKeys):
            with_cell_keys(tables[step.table - 1], step, search, where)
        elif isinstance(step, Apriori):
            with_known(tables[step.table - 1], step)
        elif isinstance(step, Write):
            table = tables[step.table - 1]
            if step.format in PUBLISHED and not may_be_published(table):
                withheld.append(step.file)
                continue
            made, words = written(table, step, where)
            files |= made
            said += words
    _check_written(files, read)
    if files:
        write_all(files)
    told = (*(f"{read.path}, {one}" for one in read.ignored), *search.said, *said)
    return BatchResult(read.path, tuple(tables), tuple(files), tuple(withheld), told)


def _inputs(batch: Batch) -> set[Path]:
    found = {batch.path.resolve()}
    for table in batch.tables:
        found |= {table.opened.data.resolve(), table.opened.metadata.resolve()}
    found |= {step.file.resolve() for step in batch.steps if isinstance(step, Apriori)}
    keys = (step for step in batch.steps if isinstance(step, CellKeys))
    found |= {file.resolve() for step in keys for file in (step.noise, step.small) if file is not None}
    return found | {step.file.resolve() for step in batch.steps if isinstance(step, Recode) and step.file}


def _check_files(batch: Batch) -> None:
    """Refuse outputs that would overwrite an input, or go nowhere."""
    inputs = _inputs(batch)
    for step in (one for one in batch.steps if isinstance(one, Write)):
        where = f"{batch.path}, line {step.line}"
        if step.file.resolve() in inputs:
            raise UsageError(
                f"{where}: {step.file.name} is read by the batch; give what is written another name"
            )
        if not step.file.parent.is_dir():
            raise UsageError(f"{where}: the folder {step.file.parent} does not exist; create it first")


def _check_written(files: Sequence[Path] | dict[Path, bytes], batch: Batch) -> None:
    """Refuse metadata that would overwrite that of the input."""
    clash = next((path for path in files if path.resolve() in _inputs(batch)), None)
    if clash is not None:
        raise UsageError(
            f"{batch.path}: {clash.name} would be written beside a table, but the batch reads it; give the "
            "table another name"
        )


def _told(table: BatchTable) -> dict[str, Any]:
    spec = table.spec
    found = table.result.to_dict() if table.result is not None else None
    return {
        "by": list(table.stored.by),
        "response": spec.response,
        "cells": len(table.stored),
        "sensitive": int((table.stored.status == SENSITIVE).sum()),
        "method": table.method or None,
        "suppressed": int(table.suppressed.sum()),
        "cost": None if found is None else found["cost"],
        "bound": None if found is None else found["bound"],
        "protected": None if found is None else found["protected"],
        "changed": _changed(table),
    }


def _changed(table: BatchTable) -> int | None:
    """How many cells have another value than before, where they may."""
    if table.noisy is not None:
        return table.noisy.changed
    return None if table.changed is None else table.changed.changed
