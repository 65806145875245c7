"""The steps of a batch in turn; when it is stopped, what is protected is written, and no more is begun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from linkrisk.datasets.tables.argus.batch_commands import (
    Apriori,
    Batch,
    CellKeys,
    Recode,
    Step,
    Suppress,
    Write,
)
from linkrisk.datasets.tables.argus.batch_lines import PUBLISHED
from linkrisk.datasets.tables.cells_and_relations import SENSITIVE
from linkrisk.solver.run.interruption import Halt, interruptible
from linkrisk.solver.tables.operations.batch.logbook import Logbook
from linkrisk.solver.tables.operations.batch.outputs import may_be_published, written
from linkrisk.solver.tables.operations.batch.steps import (
    BatchTable,
    Search,
    protect,
    with_cell_keys,
    with_known,
)


@dataclass
class Done:
    """What the steps have made.

    Attributes
    ----------
    files : dict of Path to bytes
    withheld : list of Path
        Whose table is not protected.
    said : list of str
    not_begun : list of str
        Lines of the batch that were left out when it was stopped.
    """

    files: dict[Path, bytes] = field(default_factory=dict)
    withheld: list[Path] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    not_begun: list[str] = field(default_factory=list)


def in_turn(batch: Batch, tables: Sequence[BatchTable], search: Search, logbook: Logbook) -> Done:
    """Do one step after the other.

    Raises
    ------
    UsageError, DataError, FormulationError
        If one cannot be done.
    """
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
    """Whether a step only writes a table that is protected."""
    return isinstance(step, Write) and bool(tables[step.table - 1].method)


def _do(step: Step, tables: Sequence[BatchTable], search: Search, done: Done, where: str) -> str:
    """Do a step; what came of it, in words."""
    if isinstance(step, Suppress):
        protect(tables, step, search, where)
        return ". ".join(_told(at, tables[at - 1]) for at in step.tables)
    if isinstance(step, CellKeys):
        with_cell_keys(tables[step.table - 1], step, search, where)
        return _told(step.table, tables[step.table - 1])
    if isinstance(step, Apriori):
        with_known(tables[step.table - 1], step)
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


def _told(number: int, table: BatchTable) -> str:
    """What a method has done with a table."""
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
