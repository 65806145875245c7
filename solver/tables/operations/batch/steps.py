"""What a batch of tau-ARGUS does with its tables: methods of protection, by those that there are here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from linkrisk.arrays import BoolArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.tables.argus.apriori import with_apriori
from linkrisk.datasets.tables.argus.batch_commands import Apriori, CellKeys, Specified, Suppress
from linkrisk.datasets.tables.argus.batch_lines import KEYS
from linkrisk.datasets.tables.argus.ready_tables import RESPONDENTS
from linkrisk.datasets.tables.beside import refuse_beside
from linkrisk.datasets.tables.cells_and_relations import SECONDARY, SENSITIVE, StoredTable
from linkrisk.datasets.tables.linking import link
from linkrisk.errors import LinkriskError
from linkrisk.solver.options.operations.tables.suppress import OPTIMAL
from linkrisk.solver.options.tables import TABLE_SECONDS
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.tables.operations.adjust import adjust_table
from linkrisk.solver.tables.operations.batch.cell_keys import noisy_table
from linkrisk.solver.tables.operations.batch.sources import BatchSource
from linkrisk.solver.tables.operations.batch.tables import manual_share
from linkrisk.solver.tables.operations.changed import ChangedTable
from linkrisk.solver.tables.operations.insiders import NOBODY, SINGLETONS
from linkrisk.solver.tables.operations.noisy import NoisyTable
from linkrisk.solver.tables.operations.result import TableResult
from linkrisk.solver.tables.operations.round import round_table
from linkrisk.solver.tables.operations.suppress import suppress_table
from linkrisk.solver.tables.suppression.large_tables import HEURISTIC, MODULAR

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
    noisy : NoisyTable, optional
        With noise by cell keys.
    source : BatchSource, optional
        The records that it was made of.
    known : bool
        Whether a file has said something of its cells.
    """

    spec: Specified
    stored: StoredTable
    method: str = ""
    result: TableResult | None = None
    changed: ChangedTable | None = None
    noisy: NoisyTable | None = None
    source: BatchSource | None = None
    known: bool = False

    @property
    def suppressed(self) -> BoolArray:
        """Cells that are not published, shape (n,)."""
        if self.changed is not None or self.noisy is not None:
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
        return TABLE_SECONDS if not minutes else minutes * _MINUTE


def with_known(table: BatchTable, step: Apriori) -> None:
    """Change the statuses, costs and levels that a file says."""
    table.stored = with_apriori(
        table.stored,
        step.file,
        separator=step.separator,
        skip_unknown=step.skip_unknown,
        expand=step.expand,
        manual=manual_share(table.spec),
    )
    table.known = True


def with_cell_keys(table: BatchTable, step: CellKeys, search: Search, where: str) -> None:
    """Add noise by cell keys.

    Raises
    ------
    UsageError, DataError, FormulationError
        If the metadata does not say what the noise is like, or there are no record keys.
    """
    refuse_beside(table.stored, "noise")
    table.noisy = noisy_table(table.source, table.spec, step, where)
    table.method = KEYS
    if table.known:
        search.said.append(f"{where}, {KEYS}: what <APRIORI> says of cells is left out")
    if table.spec.response is not None and table.noisy.details["digits"] is None:
        why = "<DECIMALS> of the record keys is not said, so that bits are mixed and no digits turned round"
        search.said.append(f"{where}, {KEYS}: {why}")


def protect(tables: Sequence[BatchTable], step: Suppress, search: Search, where: str) -> None:
    """Protect a table, or all of them at once where they are linked.

    Raises
    ------
    UsageError, DataError, FormulationError
        If it cannot be protected in this way; the message names the line.
    """
    chosen = [tables[number - 1] for number in step.tables]
    try:
        _BY_METHOD[step.method](chosen, step, search, where)
    except LinkriskError as error:
        raise type(error)(f"{where}, {step.method}: {error}", option=error.option) from error
    for table in chosen:
        table.method = step.method


def _suppress(tables: Sequence[BatchTable], step: Suppress, search: Search, where: str) -> None:
    method, instead = _SUPPRESSION[step.method]
    if instead:
        search.said.append(f"{where}, {step.method}: {instead}")
    minutes = step.numbers[0] if step.numbers and step.method in ("OPT", "MOD") else None
    counted = all(RESPONDENTS in table.stored.cells for table in tables)
    singletons = _against_singletons(step, counted, search, where)
    totals = {tree.variable: tree.codes[0] for table in tables for tree in table.stored.trees}
    linked = len(tables) > 1
    whole = link([table.stored for table in tables], totals) if linked else tables[0].stored
    result = suppress_table(
        whole,
        method=method,
        cost="given",
        insiders=SINGLETONS if singletons else NOBODY,
        as_far_as_possible=singletons,
        time_limit=search.seconds(minutes),
        cancel=search.cancel,
        on_progress=search.on_progress,
    )
    for table in tables:
        table.result = result
        table.stored = _of_linked(table.stored, result.table, totals) if linked else result.table


def _against_singletons(step: Suppress, counted: bool, search: Search, where: str) -> bool:
    """Whether the only respondents of cells attack, too; what else the numbers say is left out."""
    at, checks, left = _NUMBERS[step.method]
    asked = any(step.numbers[at : at + checks])
    if asked and not counted:
        why = "no variable is <FREQUENCY>, so that nobody is seen to be alone in a cell"
        search.said.append(f"{where}, {step.method}: {why}")
    elif asked and step.method == "MOD" and any(step.numbers[3:4]):
        search.said.append(f"{where}, MOD: groups of few respondents are left out, only single ones count")
    if any(step.numbers[at + checks :]):
        search.said.append(f"{where}, {step.method}: {left}")
    return asked and counted


def _of_linked(table: StoredTable, whole: StoredTable, totals: Mapping[str, str]) -> StoredTable:
    """A table with the statuses and intervals that its cells have in linked ones."""
    number = {key: at for at, key in enumerate(whole.codes.itertuples(index=False, name=None))}
    columns = [
        table.codes[name].tolist() if name in table.by else [totals[name]] * len(table) for name in whole.by
    ]
    place = [number[key] for key in zip(*columns, strict=True)]
    taken = {name: whole.cells[name].to_numpy()[place] for name in ("status", "low", "high")}
    return replace(table, status=whole.status[place], cells=with_columns(table.cells, taken))


def _round(tables: Sequence[BatchTable], step: Suppress, search: Search, where: str) -> None:
    numbers = step.numbers
    if not numbers or numbers[0] != int(numbers[0]):
        raise DataError("it needs a base in whole numbers: RND(TABLE, BASE)")
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


_SUPPRESSION = {
    "OPT": (OPTIMAL, ""),
    "MOD": (MODULAR, ""),
    "GH": (HEURISTIC, "a heuristic of our own instead of hypercubes, repaired over all relations"),
    "NET": (OPTIMAL, "the optimum is searched for instead of network flows"),
}
"""The method of `suppress_table`, and what is said where it is another one."""

_NUMBERS = {
    "OPT": (1, 0, "numbers behind the minutes are left out"),
    "MOD": (1, 3, "the scaling of costs and bounds of margins are left out"),
    "GH": (2, 1, "numbers behind that of singletons are left out"),
    "NET": (0, 0, "its numbers are left out"),
}
"""Where numbers about singletons begin, how many there are, and what is said of those behind them."""

_BY_METHOD: dict[str, Callable[[Sequence[BatchTable], Suppress, Search, str], None]] = {
    "OPT": _suppress,
    "MOD": _suppress,
    "GH": _suppress,
    "NET": _suppress,
    "RND": _round,
    "CTA": _adjust,
}
