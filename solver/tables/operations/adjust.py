"""`adjust_table`: the least change of a table such that sensitive cells are far enough from their values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.datasets.masking.record import version
from linkrisk.datasets.options.option import recorded_of
from linkrisk.datasets.tables.beside import refuse_beside
from linkrisk.datasets.tables.cells_and_relations import StoredTable
from linkrisk.formulations.tables.tabular_adjustment import TabularAdjustment
from linkrisk.formulations.tables.units import Grid
from linkrisk.solver.backends.base import Backend
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.inputs.limits import check_limit
from linkrisk.solver.options.operations.tables.adjust import AdjustOptions
from linkrisk.solver.options.tables import OWN
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.tables.operations.adjusted_counts import guessed, with_ways_of_counts
from linkrisk.solver.tables.operations.changed import ChangedTable, ended
from linkrisk.solver.tables.operations.figures import adjustment_figures, ruled
from linkrisk.solver.tables.operations.source import asked_table, cell_table
from linkrisk.solver.tables.perturbation.adjustment import adjust_cells
from linkrisk.solver.tables.perturbation.changes_in_decimals import in_digits


@dataclass(frozen=True, eq=False)
class AdjustedTable(ChangedTable):
    """An adjusted table, whose relations, bounds and distances were counted again.

    Attributes
    ----------
    cells : DataFrame
        All columns of the input, with `adjusted`.
    cost : float
        The weighted sum of all changes, or of their squares.
    bound : float
        No adjustment costs less.
    status : Status
        ``optimal`` where no other one costs less.
    limit : Limit or None
        What ended the search.
    details : dict
        Everything else of the JSON.
    """

    kind: ClassVar[str] = "adjusted-table"
    changed_column: ClassVar[str] = "adjusted"

    def content(self) -> dict[str, Any]:
        """The JSON of `tables adjust --json` as a dictionary."""
        value = np.abs(self.cells["value"].to_numpy(dtype=np.float64))
        change = np.abs(self.cells["adjusted"].to_numpy(dtype=np.float64) - self.cells["value"].to_numpy())
        shares = change[value > 0] / value[value > 0]
        measures = {
            "mean_change": float(change.mean()),
            "mean_relative_change": float(shares.mean()) if shares.size else 0.0,
            "median_relative_change": float(np.median(shares)) if shares.size else 0.0,
        }
        return {**super().content(), **measures}

    def __repr__(self) -> str:
        return f"AdjustedTable({len(self.cells)} cells, {self.changed} changed, {self.status.value})"


@taking(AdjustOptions)
def adjust_table(asked: AdjustOptions) -> AdjustedTable:
    """Move every sensitive cell by its level at least, the others as little as possible; relations hold.

    Controlled tabular adjustment (Dandekar and Cox 2002; Castro 2006). A sensitive cell goes up by its
    `upper_protection` or more, or down by its `lower_protection`; where one of them is 0, only the other way.
    Cells with the status ``z`` keep their value. Adjusted values are on the grid that all values are on
    (whole numbers, cents, thousands), as others would show that they were changed; levels are rounded up to
    it. Sensitive counts do not become the least count, of which readers would know that it is none of theirs.

    Parameters
    ----------
    {options}

    Returns
    -------
    AdjustedTable

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the table cannot be read, does not add up, or has no adjustment.

    Examples
    --------
    >>> from linkrisk import adjust_table
    >>> adjust_table("cells.csv", "relations.csv").write("adjusted.csv")  # doctest: +SKIP
    """
    check_limit(asked.time_limit, "time limit")
    solver = _solver(asked.backend, asked.squares)
    stored = asked_table(asked)
    refuse_beside(stored, "adjustment")
    grid = Grid(1, 0) if stored.counting else Grid.of(stored.numbers["value"])
    seen = with_ways_of_counts(stored) if stored.counting else stored
    seen = seen if grid is None else _levels_up(seen, grid)
    table = cell_table(replace(seen, counts=False), "unit")  # readers see other values, and no counts
    problem = TabularAdjustment(
        table=table, weight=_weights(stored, asked.cost), quadratic=asked.squares, up=asked.up
    )
    if grid is not None:
        problem = _in_steps(problem, grid)
    clock = Clock(asked.time_limit, cancel=asked.cancel)
    with interruptible(clock):
        found = adjust_cells(problem, solver, clock, asked.on_progress, asked.seed)
    change, primary = found.change, table.primary
    adjusted = np.where(change == 0, table.value, in_digits(table.value + change))
    if grid is not None:
        adjusted = grid.values(problem.table.value + change)
    details: dict[str, Any] = {
        "protection": "adjustment",
        "linkrisk": version(),
        "name": stored.name,
        "relations": int(table.relations.shape[0]),
        "sensitive": int(primary.sum()),
        "up": int((change[primary] > 0).sum()),
        "weight": asked.cost,
        "squares": asked.squares,
        "up_only": asked.up,
        "step": None if grid is None else grid.step,
        **ruled(stored),
        **({"guessed": guessed(table.value, adjusted, primary)} if stored.counting else {}),
        "backend": OWN if solver is None else solver.name,
        "seed": asked.seed,
        "seconds": round(clock.seconds, 3),
        "time_limit": asked.time_limit,
        **recorded_of(asked),
    }
    details["table"] = adjustment_figures(stored, table, adjusted)
    if bool((adjusted == np.round(adjusted)).all()):
        adjusted = adjusted.astype(np.int64)
    frame = stored.cells.assign(adjusted=adjusted)
    return AdjustedTable(frame, found.cost, found.bound, *ended(found.proven, clock), details, stored)


def _levels_up(stored: StoredTable, grid: Grid) -> StoredTable:
    """The table with levels rounded up to the grid, where a bound that is given leaves room for it."""
    numbers = dict(stored.numbers)
    value, nothing = numbers["value"], np.full(len(stored), np.nan)
    rooms = {
        "lower_protection": value - numbers.get("lower_bound", nothing),
        "upper_protection": numbers.get("upper_bound", nothing) - value,
    }
    for name, room in rooms.items():
        if name in numbers:
            made = grid.above(numbers[name])
            numbers[name] = np.where(made > room, numbers[name], made)
    return replace(stored, numbers=numbers)


def _in_steps(problem: TabularAdjustment, grid: Grid) -> TabularAdjustment:
    """The same in whole steps of the grid, with the same cost."""
    each = grid.step**2 if problem.quadratic else grid.step
    return replace(problem, table=grid.table(problem.table), weight=problem.weight * each, whole=True)


def _solver(backend: str | None, own: bool) -> Backend | None:
    if backend is None:
        return None if own else get_backend("highs")
    if backend != OWN:
        return get_backend(backend)
    if not own:
        raise UsageError("the backend 'exact' adjusts with squares; ask for these, or choose another one")
    return None


def _weights(stored: StoredTable, cost: str) -> FloatArray:
    value = np.maximum(np.abs(stored.numbers["value"]), 1.0)
    if cost == "given":
        if "cost" not in stored.numbers:
            raise UsageError(f"the cost 'given' needs a column 'cost' in {stored.name}")
        given = stored.numbers["cost"]
        return np.where(np.isnan(given), 1.0, given)
    return {"value": 1.0 / value, "unit": np.ones(value.size), "root": 1.0 / np.sqrt(value)}[cost]
