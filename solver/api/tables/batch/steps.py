"""What a batch of tau-ARGUS does with its tables: methods of protection, by those that there are here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.argus.apriori import with_apriori
from linkrisk.datasets.tables.argus.batch_commands import Apriori, Specified, Suppress
from linkrisk.datasets.tables.cells_and_relations import SECONDARY, SENSITIVE, StoredTable
from linkrisk.datasets.tables.linking import link
from linkrisk.solver.api.tables.adjust import adjust_table
from linkrisk.solver.api.tables.batch.tables import manual_share
from linkrisk.solver.api.tables.changed import ChangedTable
from linkrisk.solver.api.tables.protect import DEFAULT_TIME_LIMIT, OPTIMAL, protect_table
from linkrisk.solver.api.tables.result import TableResult
from linkrisk.solver.api.tables.round import round_table
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.tables.suppression.large_tables import HEURISTIC, MODULAR

BoolArray = npt.NDArray[np.bool_]

_MINUTE = 60.0
_ROUNDING_MINUTES = 10.0


@dataclass(eq=False)
class BatchTable:
    """A table of a batch, as far as the batch has come.

    Attributes
    ----------
    spec : Specified
    stored : StoredTable
        With the statuses that it has by now.
    method : str
        What was done with it, in the words of the batch; empty where nothing was.
    result : TableResult, optional
        Of suppression; of linked tables, that of all of them.
    changed : ChangedTable, optional
        Of rounding or adjustment.
    """

    spec: Specified
    stored: StoredTable
    method: str = ""
    result: TableResult | None = None
    changed: ChangedTable | None = None

    @property
    def suppressed(self) -> BoolArray:
        """Cells that are not published, shape (n,)."""
        if self.changed is not None:
            return np.zeros(len(self.stored), dtype=np.bool_)
        return np.asarray(np.isin(self.stored.status, (SENSITIVE, SECONDARY)), dtype=np.bool_)


@dataclass
class Search:
    """How the methods search, and what is said of them.

    Attributes
    ----------
    time_limit : float, optional
        Seconds for each, instead of what the batch says.
    said : list of str
        What is done in another way than the batch asks for.
    """

    time_limit: float | None = None
    cancel: Cancel | None = None
    on_progress: Reporter | None = None
    said: list[str] = field(default_factory=list)

    def seconds(self, minutes: float | None) -> float:
        """The time for a method that the batch gives some minutes."""
        if self.time_limit is not None:
            return self.time_limit
        return DEFAULT_TIME_LIMIT if not minutes else minutes * _MINUTE


def with_known(table: BatchTable, step: Apriori) -> None:
    """Change the statuses, costs and levels that a file says."""
    if table.method:
        raise UsageError(f"{step.file}: what is known of cells comes before they are protected")
    table.stored = with_apriori(
        table.stored,
        step.file,
        separator=step.separator,
        skip_unknown=step.skip_unknown,
        expand=step.expand,
        manual=manual_share(table.spec),
    )


def protect(tables: Sequence[BatchTable], step: Suppress, search: Search, where: str) -> None:
    """Protect a table, or all of them at once where they are linked.

    Raises
    ------
    UsageError, DataError, FormulationError
        If the method is not here, or cannot protect the table.
    """
    chosen = list(tables) if step.table == 0 else [tables[step.table - 1]]
    for table in chosen:
        if table.method:
            raise UsageError(f"{where}: the table is protected by {table.method} already")
    _BY_METHOD[step.method](chosen, step, search, where)
    for table in chosen:
        table.method = step.method


def _suppress(tables: Sequence[BatchTable], step: Suppress, search: Search, where: str) -> None:
    method, instead = _SUPPRESSION[step.method]
    if instead:
        search.said.append(f"{where}, {step.method}: {instead}")
    minutes = None if step.method in ("GH", "NET") else step.numbers[0] if step.numbers else None
    totals = {tree.variable: tree.codes[0] for table in tables for tree in table.stored.trees}
    linked = len(tables) > 1
    whole = link([table.stored for table in tables], totals) if linked else tables[0].stored
    result = protect_table(
        whole,
        method=method,
        cost="given",
        time_limit=search.seconds(minutes),
        cancel=search.cancel,
        on_progress=search.on_progress,
    )
    for table in tables:
        table.result = result
        table.stored = _of_linked(table.stored, result.table, totals) if linked else result.table


def _of_linked(table: StoredTable, whole: StoredTable, totals: Mapping[str, str]) -> StoredTable:
    """A table with the statuses that its cells have in linked ones."""
    status = dict(zip(whole.codes.itertuples(index=False, name=None), whole.status, strict=True))
    columns = [
        table.codes[name].tolist() if name in table.by else [totals[name]] * len(table) for name in whole.by
    ]
    words = np.array([status[key] for key in zip(*columns, strict=True)])
    return replace(table, status=words, cells=table.cells.assign(status=words))


def _round(tables: Sequence[BatchTable], step: Suppress, search: Search, where: str) -> None:
    numbers = step.numbers
    if not numbers or numbers[0] != int(numbers[0]):
        raise DataError(f"{where}: RND needs a base in whole numbers: RND(TABLE, BASE)")
    if len(numbers) > 3:
        search.said.append(f"{where}, RND: partitions, the stopping rule and costs are left out")
    minutes = numbers[2] if len(numbers) > 2 else _ROUNDING_MINUTES
    tables[0].changed = round_table(
        tables[0].stored,
        base=int(numbers[0]),
        relaxed=len(numbers) > 1 and numbers[1] > 0,
        time_limit=search.seconds(minutes),
        cancel=search.cancel,
        on_progress=search.on_progress,
    )


def _adjust(tables: Sequence[BatchTable], step: Suppress, search: Search, where: str) -> None:
    if step.numbers:
        search.said.append(f"{where}, CTA: its numbers are left out")
    tables[0].changed = adjust_table(
        tables[0].stored,
        time_limit=search.seconds(None),
        cancel=search.cancel,
        on_progress=search.on_progress,
    )


def _refuse_keys(tables: Sequence[BatchTable], step: Suppress, search: Search, where: str) -> None:  # noqa: ARG001
    raise UsageError(f"{where}: CKM is not run by batches here; tables cellkey does it")


_SUPPRESSION = {
    "OPT": (OPTIMAL, ""),
    "MOD": (MODULAR, ""),
    "GH": (HEURISTIC, "a heuristic of our own instead of hypercubes, repaired over all relations"),
    "NET": (OPTIMAL, "the optimum is searched for instead of network flows"),
}
"""The method of `protect_table`, and what is said where it is another one."""

_BY_METHOD: dict[str, Callable[[Sequence[BatchTable], Suppress, Search, str], None]] = {
    "OPT": _suppress,
    "MOD": _suppress,
    "GH": _suppress,
    "NET": _suppress,
    "RND": _round,
    "CTA": _adjust,
    "CKM": _refuse_keys,
}
