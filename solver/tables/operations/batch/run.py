"""Function `run_batch`: a batch of tau-ARGUS, written after all commands have succeeded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.release import version
from linkrisk.datasets.microdata.writing import write_all, write_whole
from linkrisk.datasets.tables.argus.batch_commands import (
    PUBLISHED,
    Apriori,
    Batch,
    CellKeys,
    Named,
    Recode,
    Step,
    Suppress,
    Write,
)
from linkrisk.datasets.tables.argus.batch_file import logbook_of, read_batch
from linkrisk.datasets.tables.stored_table import BESIDE, SENSITIVE
from linkrisk.solver.options.table_making import RunBatchOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Halt, interruptible
from linkrisk.solver.run.result import Result
from linkrisk.solver.tables.operations.batch.outputs import may_be_published, written
from linkrisk.solver.tables.operations.batch.steps import (
    Search,
    protect,
    with_apriori_file,
    with_cell_keys,
)
from linkrisk.solver.tables.operations.batch.tables import BatchTable, tables_of
from linkrisk.solver.tables.operations.source import check_adds_up

_STAMP = "%d-%b-%Y %H:%M:%S"
_LINE = re.compile(rb"\s*\d\d-\w{3}-\d{4} \d\d:\d\d:\d\d :")
"""Begin of a line, here and in logbooks of the program."""


class Logbook:
    """Lines appended to a file, all of them or none; without a file they are discarded."""

    def __init__(self, batch: str | Path) -> None:
        self.file = logbook_of(batch)
        self._lines: list[str] = []
        self._clock = Clock(None)
        self.note(f"Start of run: linkrisk {version()}, batch {batch}")

    def note(self, text: str) -> None:
        """Add a line, with the time."""
        self._lines.append(f"{datetime.now().strftime(_STAMP)} : {' '.join(text.split())}")

    def lap(self) -> str:
        """Return the seconds since the last call."""
        seconds, self._clock = self._clock.seconds, Clock(None)
        return f"{seconds:.1f} s"

    def content(self) -> bytes:
        """Return the text of the file with these lines; refuse a file that is no logbook."""
        assert self.file is not None
        try:
            before = self.file.read_bytes() if self.file.exists() else b""
        except OSError as error:
            raise DataError(f"{self.file}: cannot be read as a logbook: {error.strerror}") from error
        if before.strip() and _LINE.match(before) is None:
            raise DataError(f"{self.file} is there, and no logbook; give <LOGBOOK> another name")
        if before and not before.endswith(b"\n"):
            before += b"\n"
        return before + "".join(f"{line}\n" for line in self._lines).encode()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Write the logbook when its context ends with an error, which is its last line but one."""
        if self.file is not None:
            self.content()  # refused before anything is done
        try:
            yield
        except BaseException as error:
            if self._lines[-1].endswith(" written"):  # which failed
                self._lines.pop()
            self.note(f"Failure: {str(error) or 'interrupted'}")
            self.note("End of run: nothing is written")
            if self.file is not None:
                with suppress(DataError):  # the earlier error is the one to report
                    write_whole(self.file, self.content())
            raise


@dataclass
class Done:
    """Results of the steps; `withheld` files belong to unprotected tables."""

    files: dict[Path, bytes] = field(default_factory=dict)
    withheld: list[Path] = field(default_factory=list)  # files of unprotected tables
    said: list[str] = field(default_factory=list)
    # lines of the batch omitted after a stop
    not_begun: list[str] = field(default_factory=list)


def in_turn(batch: Batch, tables: Sequence[BatchTable], search: Search, logbook: Logbook) -> Done:
    """Run the steps in turn; after a stop, write what is protected and begin no more."""
    done, halt = Done(), Halt(search.cancel)
    search.cancel = halt
    with interruptible(halt):
        for step in (one for one in batch.steps if not isinstance(one, Recode)):  # tables are made recoded
            text = batch.lines[step.line - 1].strip()
            if halt.cancelled and not _ready(step, tables):
                done.not_begun.append(f"line {step.line}, {text}")
                logbook.note(f"not begun: {text}")
                continue
            logbook.note(text)
            came = _do(step, tables, search, done, f"{batch.path}, line {step.line}")
            logbook.note(f"{came}; {logbook.lap()}")
    return done


def _ready(step: Step, tables: Sequence[BatchTable]) -> bool:
    """Tell whether a step only writes a protected table."""
    return isinstance(step, Write) and bool(tables[step.table - 1].method)


def _do(step: Step, tables: Sequence[BatchTable], search: Search, done: Done, where: str) -> str:
    """Run a step, and describe its outcome."""
    if isinstance(step, Suppress):
        protect(tables, step, search, where)
        return ". ".join(_outcome(at, tables[at - 1]) for at in step.tables)
    if isinstance(step, CellKeys):
        with_cell_keys(tables[step.table - 1], step, search, where)
        return _outcome(step.table, tables[step.table - 1])
    if isinstance(step, Apriori):
        with_apriori_file(tables[step.table - 1], step)
        return f"{step.file.name} has been read"
    assert isinstance(step, Write)
    table = tables[step.table - 1]
    if step.format in PUBLISHED and not may_be_published(table):
        done.withheld.append(step.file)
        return f"{step.file.name} is withheld: its table is not protected"
    made, words = written(table, step, where)
    done.files |= made
    done.said += words
    return f"{step.file.name} is made"


def _outcome(number: int, table: BatchTable) -> str:
    """Describe the effect of a method on a table."""
    if table.noisy is not None:
        return f"Table {number}: {table.noisy.changed} cells changed by noise"
    if table.changed is not None:
        return f"Table {number}: {table.changed.changed} cells changed"
    sensitive = int((table.stored.status == SENSITIVE).sum())
    more = int(table.suppressed.sum()) - sensitive
    said = f"Table {number}: {more} cells suppressed with {sensitive} sensitive ones"
    if table.result is None or table.result.pattern is None:
        return said
    cost, bound = table.result.pattern.cost, table.result.pattern.bound
    audit = "protected" if table.result.protected else "NOT protected"
    return f"{said}, cost {cost:,.10g}, at least {bound:,.10g}, {audit}"


@dataclass(frozen=True, eq=False)
class BatchResult(Result):
    """Result of a batch.

    Attributes
    ----------
    tables : tuple of BatchTable
    files : tuple of Path
        That were written.
    withheld : tuple of Path
        That were not, since their table is not protected.
    said : tuple of str
        What was left out, or done in another way than the batch asks for.
    not_begun : tuple of str
        Lines of the batch that were left out when it was stopped.

    Examples
    --------
    >>> import linkrisk
    >>> sorted(linkrisk.BatchResult.__annotations__)[:3]
    ['files', 'kind', 'not_begun']
    """

    kind: ClassVar[str] = "batch"

    path: Path
    tables: tuple[BatchTable, ...]
    files: tuple[Path, ...]
    withheld: tuple[Path, ...]
    said: tuple[str, ...] = field(repr=False)
    not_begun: tuple[str, ...] = ()

    @property
    def protected(self) -> bool:
        """Whether no table failed its audit."""
        return not self.withheld and all(
            table.result is None or table.result.protected for table in self.tables
        )

    def content(self) -> dict[str, Any]:
        """The JSON of `tables run-batch --json` as a dictionary."""
        return {
            "linkrisk": version(),
            "batch": str(self.path),
            "protected": self.protected,
            "tables": [_entry(table) for table in self.tables],
            "files": [str(path) for path in self.files],
            "withheld": [str(path) for path in self.withheld],
            "said": list(self.said),
            "not_begun": list(self.not_begun),
        }


@taking(RunBatchOptions)
def run_batch(asked: RunBatchOptions) -> BatchResult:
    """Run a batch of tau-ARGUS.

    Nothing is written before all of it is done, and then all files or none; tables that fail their audit are
    not published.

    Parameters
    ----------
    {options}

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
    >>> import linkrisk
    >>> try:
    ...     linkrisk.run_batch("no such file.arb")
    ... except linkrisk.LinkriskError as error:
    ...     print(error)
    no such file.arb cannot be read: no such file or directory
    """
    logbook = Logbook(asked.batch)
    with logbook.kept():
        search = Search(asked.time_limit, asked.cancel, asked.on_progress)
        return _run(asked.batch, search, logbook, asked.beside, asked.publish_respondents)


def _run(
    batch: str | Path,
    search: Search,
    logbook: Logbook,
    beside: Sequence[str | Path],
    publish_respondents: bool,
) -> BatchResult:
    read = read_batch(batch)
    _check_files(read, beside)
    for spec in read.tables:
        logbook.note(read.lines[spec.line - 1])
    tables = tables_of(read, publish_respondents=publish_respondents)
    for table in tables:
        check_adds_up(table.stored)
    cells = sum(len(table.stored) for table in tables)
    logbook.note(f"Tables have been made: {len(tables)}, with {cells} cells; {logbook.lap()}")
    done = in_turn(read, tables, search, logbook)
    files = done.files | {one.file: f"linkrisk {version()}\n".encode() for one in read.versions}
    _check_written(files, read)
    names = [path.name for path in files]
    logbook.note(f"End of run: {', '.join(names) or 'nothing'} {'are' if len(names) > 1 else 'is'} written")
    if logbook.file is not None:
        files[logbook.file] = logbook.content()
    if files:
        write_all(files)
    told = (*(f"{read.path}, {one}" for one in read.ignored), *search.said, *done.said)
    return BatchResult(
        read.path, tuple(tables), tuple(files), tuple(done.withheld), told, tuple(done.not_begun)
    )


def _inputs(batch: Batch) -> set[Path]:
    found = {batch.path.resolve()}
    for table in batch.tables:
        found |= {table.opened.data.resolve(), table.opened.metadata.resolve()}
    found |= {step.file.resolve() for step in batch.steps if isinstance(step, Apriori)}
    keys = (step for step in batch.steps if isinstance(step, CellKeys))
    found |= {file.resolve() for step in keys for file in (step.noise, step.small) if file is not None}
    return found | {step.file.resolve() for step in batch.steps if isinstance(step, Recode) and step.file}


def _check_files(batch: Batch, beside: Sequence[str | Path]) -> None:
    """Refuse outputs that would overwrite an input or one another, or go nowhere."""
    inputs = _inputs(batch)
    written: list[Write | Named] = [one for one in batch.steps if isinstance(one, Write)]
    written += [one for one in (batch.logbook, *batch.versions) if one is not None]
    for step in written:
        where = f"{batch.path}, line {step.line}"
        if step.file.resolve() in inputs:
            raise UsageError(
                f"{where}: {step.file.name} is read by the batch; give what is written another name"
            )
        if not step.file.parent.is_dir():
            raise UsageError(f"{where}: the folder {step.file.parent} does not exist; create it first")
    taken = inputs | {step.file.resolve() for step in written}
    for path in beside:
        if Path(path).resolve() in taken:
            raise UsageError(f"{path} is read or written by {batch.path}; give it another name")


def _check_written(files: Sequence[Path] | dict[Path, bytes], batch: Batch) -> None:
    """Refuse metadata that would overwrite that of the input."""
    clash = next((path for path in files if path.resolve() in _inputs(batch)), None)
    if clash is not None:
        raise UsageError(
            f"{batch.path}: {clash.name} would be written beside a table, but the batch reads it; give the "
            "table another name"
        )


_CELLS = ("all", "loss")
"""Parts of a table's JSON with a line for each cell or code, which the JSON of a batch omits."""


def _entry(table: BatchTable) -> dict[str, Any]:
    """Return the entry of a table in the JSON; `found` is the JSON of its action without cells."""
    spec, done = table.spec, table.result or table.changed or table.noisy
    found = None if done is None else done.content()
    for one in (found, (found or {}).get("respondents")):
        if one:
            one["table"] = {name: part for name, part in one["table"].items() if name not in _CELLS}
    result = None if table.result is None else found
    return {
        "by": list(table.stored.by),
        "response": spec.response,
        "cells": len(table.stored),
        "relations": int(table.stored.relation.max(initial=-1)) + 1,
        "sensitive": int((table.stored.status == SENSITIVE).sum()),
        "method": table.method or None,
        "suppressed": int(table.suppressed.sum()),
        "cost": None if result is None else result["cost"],
        "bound": None if result is None else result["bound"],
        "protected": None if result is None else result["protected"],
        "respondents_published": BESIDE in table.stored.cells.columns,
        "changed": None if found is None else found.get("changed"),
        "found": found,
    }
