"""Functions `round_table` and `adjust_table`: tables changed as little as possible that still add up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.datasets.masking.release import version
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.datasets.options.option import recorded_of
from linkrisk.datasets.tables.linking import refuse_beside
from linkrisk.datasets.tables.public_bounds import count_numbers
from linkrisk.datasets.tables.sdmx_csv import in_dataflow
from linkrisk.datasets.tables.stored_table import SENSITIVE, StoredTable
from linkrisk.datasets.tables.writing import published_files
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.formulations.tables.tabular_adjustment import TabularAdjustment
from linkrisk.formulations.tables.units import Grid
from linkrisk.solver.backends.base import Backend
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.compiling.parts import TABLES, compile_once
from linkrisk.solver.options.table_protection import AdjustOptions, RoundOptions
from linkrisk.solver.options.tables import OWN
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.clock import Clock, Limit, Status
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.tables.operations.figures import adjustment_figures, rounding_figures, ruled
from linkrisk.solver.tables.operations.result import ProtectedTable
from linkrisk.solver.tables.operations.source import cell_table, read_asked_table, relations_of
from linkrisk.solver.tables.perturbation.adjustment import Adjusted, adjust_cells, in_digits
from linkrisk.solver.tables.perturbation.rounding import Rounded, round_cells


@dataclass(frozen=True, eq=False, kw_only=True)
class ChangedTable(ProtectedTable):
    """Table whose values were changed at the least cost, recomputed from the result.

    Attributes
    ----------
    cells : DataFrame
        All columns of the input, with the new values in the column called `changed_column`.
    cost : float
        The weighted sum of all changes, or of their squares.
    bound : float
        No table of this kind costs less.
    status : Status
        ``optimal`` where no other one costs less.
    limit : Limit or None
        What ended the search.
    details : dict
        Everything else of the JSON.
    table : StoredTable
        With the values before.
    """

    changed_column: ClassVar[str]

    cost: float
    bound: float
    status: Status
    limit: Limit | None
    table: StoredTable = field(repr=False)

    @property
    def largest_change(self) -> float:
        """Largest change of a cell."""
        return float(np.abs(self.cells[self.changed_column] - self.cells["value"]).max())

    @property
    def changed(self) -> int:
        """Number of changed cells."""
        return int((self.cells[self.changed_column] != self.cells["value"]).sum())

    def content(self) -> dict[str, Any]:
        """The JSON of the command as a dictionary."""
        found = {
            "cells": len(self.cells),
            "changed": self.changed,
            "largest_change": self.largest_change,
            "cost": self.cost,
            "bound": self.bound,
            "status": self.status.value,
            "limit": None if self.limit is None else self.limit.value,
            self.changed_column: self.cells[self.changed_column].tolist(),
        }
        return {**found, **self.details}

    def write(self, output: str | Path, *, dataflow: str | None = None) -> None:
        """Write the publishable part: new values in place of the values, without levels and statuses."""
        new = self.cells[self.changed_column]
        numbers = {"value": new.to_numpy(dtype=np.float64)}
        made = replace(in_dataflow(self.table, dataflow), cells=self.cells.assign(value=new), numbers=numbers)
        nothing = np.zeros(len(made), dtype=np.bool_)
        write_all(published_files(made, nothing, output, status=False))


def _found(found: Rounded | Adjusted, clock: Clock) -> dict[str, Any]:
    """Return cost and bound of a search, and its status."""
    status, limit = Status.OPTIMAL, None
    if not found.proven:
        status = Status.INTERRUPTED if clock.stopped else Status.FEASIBLE
        limit = Limit.USER if clock.stopped else clock.limit
    return {"cost": found.cost, "bound": found.bound, "status": status, "limit": limit}


def _details(
    asked: RoundOptions | AdjustOptions, stored: StoredTable, clock: Clock, **own: Any
) -> dict[str, Any]:
    """Return the common part of the JSON besides cells and search, with the `own` part of each."""
    return {
        "linkrisk": version(),
        "name": stored.name,
        "relations": int(relations_of(stored).shape[0]),
        **own,
        "seed": asked.seed,
        "seconds": round(clock.seconds, 3),
        "time_limit": asked.time_limit,
        **recorded_of(asked),
    }


@dataclass(frozen=True, eq=False, kw_only=True)
class RoundedTable(ChangedTable):
    """Rounded table, whose relations were recomputed in integers.

    Attributes
    ----------
    cells : DataFrame
        All columns of the input, with `rounded`.
    cost, bound, status, limit, details, table
        See `ChangedTable`.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=["p=10"])
    >>> rounded = linkrisk.round_table(table, base=5)
    >>> rounded.cost, rounded.bound
    (0.0, 0.0)
    """

    kind: ClassVar[str] = "rounded-table"
    changed_column: ClassVar[str] = "rounded"

    def __repr__(self) -> str:
        return f"RoundedTable({len(self.cells)} cells, changed by {self.cost:g}, {self.status.value})"


@taking(RoundOptions)
def round_table(asked: RoundOptions) -> RoundedTable:
    """Round all cells to multiples of a base such that all relations hold, with the least sum of changes.

    Of the cells only values and relations count. Where no zero-restricted rounding is found in time, the
    result is a relaxed one (``relaxed`` of the details).

    Parameters
    ----------
    {options}

    Returns
    -------
    RoundedTable

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the table cannot be read, does not add up, or has no such rounding.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=["p=10"])
    >>> linkrisk.round_table(table, base=5).cells["rounded"].tolist()
    [365, 185, 180, 145, 95, 50, 220, 90, 130]
    """
    solver = get_backend(asked.backend)
    stored = read_asked_table(asked)
    refuse_beside(stored, "rounding")
    compile_once(TABLES, asked.on_progress)
    value = stored.numbers["value"]
    table = ControlledRounding(
        value=value,
        relations=relations_of(stored),
        weight=np.ones(value.size),
        base=asked.base,
        zero_restricted=not asked.relaxed,
    )
    clock = Clock(asked.time_limit, cancel=asked.cancel)
    with interruptible(clock):
        found = round_cells(table, solver, clock, asked.on_progress, asked.seed)
    details = _details(
        asked,
        stored,
        clock,
        protection="rounding",
        base=asked.base,
        relaxed=not found.zero_restricted,
        asked_relaxed=asked.relaxed,
        backend=asked.backend,
        table=rounding_figures(stored, found.values),
    )
    frame = stored.cells.assign(rounded=found.values)
    return RoundedTable(cells=frame, details=details, table=stored, **_found(found, clock))


def with_directions_of_counts(stored: StoredTable) -> StoredTable:
    """Restrict the directions of sensitive counts such that no reader can infer the original count.

    A sensitive cell of the least count (1 where empty cells are shown) goes up. A sensitive cell published
    with the least count would therefore be known not to have it: none is moved there, and 2 goes up, too.
    Cells that are not empty do not become empty.
    """
    found, value = count_numbers(stored.numbers, stored.status), stored.numbers["value"]
    sensitive = stored.status == SENSITIVE
    asked = np.ceil(np.nan_to_num(stored.numbers.get("lower_protection", np.zeros(value.size))) - 1e-9)
    lower = np.where(sensitive, np.minimum(found.lower + 1.0, value), found.lower)
    down = np.where(sensitive & (asked <= value - lower), asked, 0.0)
    up = np.where(sensitive & (down == 0), np.maximum(found.rule_level, asked), found.rule_level)
    given = stored.numbers.get("upper_bound", np.full(value.size, np.nan))
    upper = np.where(np.isnan(given), value.max() + up.sum(), given)  # all may go up, and totals with them
    numbers = {"lower_bound": lower, "upper_bound": upper, "lower_protection": down, "upper_protection": up}
    return replace(stored, numbers={**stored.numbers, **numbers})


def count_guessed(value: FloatArray, adjusted: FloatArray, sensitive: BoolArray) -> int:
    """Count the sensitive counts that equal the most frequent original of their published value.

    That is the guess of a reader who knows rule and method, and has tried both on similar tables.
    """
    pairs = pd.DataFrame({"true": value, "published": adjusted})
    most = pairs.groupby("published")["true"].agg(lambda one: one.mode().min())
    return int((pairs["published"].map(most) == pairs["true"])[sensitive].sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class AdjustedTable(ChangedTable):
    """Adjusted table, whose relations, bounds and distances were recomputed.

    Attributes
    ----------
    cells : DataFrame
        All columns of the input, with `adjusted`.
    cost, bound, status, limit, details, table
        See `ChangedTable`.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=["p=10"])
    >>> adjusted = linkrisk.adjust_table(table)
    >>> adjusted.cost, adjusted.bound
    (0.4692565124643786, 0.4692565119951221)
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
    it. Sensitive counts do not become the least count, which readers would recognise as changed.

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
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=["p=10"])
    >>> linkrisk.adjust_table(table).cells["adjusted"].tolist()
    [360, 185, 175, 140, 85, 55, 220, 100, 120]
    """
    solver = _solver(asked.backend, asked.squares)
    stored = read_asked_table(asked)
    refuse_beside(stored, "adjustment")
    grid = Grid(1, 0) if stored.counting else Grid.of(stored.numbers["value"])
    seen = with_directions_of_counts(stored) if stored.counting else stored
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
    details = _details(
        asked,
        stored,
        clock,
        protection="adjustment",
        sensitive=int(primary.sum()),
        up=int((change[primary] > 0).sum()),
        weight=asked.cost,
        squares=asked.squares,
        up_only=asked.up,
        step=None if grid is None else grid.step,
        **ruled(stored),
        **({"guessed": count_guessed(table.value, adjusted, primary)} if stored.counting else {}),
        backend=OWN if solver is None else solver.name,
        table=adjustment_figures(stored, table, adjusted),
    )
    if bool((adjusted == np.round(adjusted)).all()):
        adjusted = adjusted.astype(np.int64)
    frame = stored.cells.assign(adjusted=adjusted)
    return AdjustedTable(cells=frame, details=details, table=stored, **_found(found, clock))


def _levels_up(stored: StoredTable, grid: Grid) -> StoredTable:
    """Round levels up to the grid, if the given bounds allow it."""
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
    """Restate the problem in integral steps of the grid, with the same cost."""
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
