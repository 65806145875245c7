"""Optimal cell suppression: a pattern that protects, a better one, and a bound at every moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.formulations.tables.cell_table import BoolArray, CellTable, FloatArray
from linkrisk.formulations.tables.suppression_model import suppression_model
from linkrisk.solver.backends.base import Backend, BackendProgress, SolveOptions
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.tables.audit import audit
from linkrisk.solver.tables.capacity import CapacityCuts
from linkrisk.solver.tables.heuristic import Witnesses

PHASE = "suppressing cells"
_START_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class Pattern:
    """Cells that are suppressed.

    Attributes
    ----------
    suppressed : ndarray of bool, shape (n,)
    cost : float
        Of the secondary ones.
    bound : float
        No pattern that protects costs less.
    """

    suppressed: BoolArray
    cost: float
    bound: float

    @property
    def proven(self) -> bool:
        """Whether it is one of least cost."""
        return self.bound >= self.cost


def suppress_cells(
    table: CellTable, backend: Backend, clock: Clock, report: Reporter | None = None, seed: int = 0
) -> Pattern:
    """Find the cells of least cost that protect all sensitive ones.

    Parameters
    ----------
    table : CellTable
    backend : Backend
    clock : Clock
    report : callable, optional
    seed : int
        Of the backend.

    Raises
    ------
    UsageError
        If suppressing all cells does not protect one; the message names it.
    """
    left = clock.seconds_left
    start = Witnesses(table).pattern(clock.part(None if left is None else _START_SHARE * left))
    if start is None:
        raise UsageError(_unreachable(table))
    best = Pattern(start, _cost(table, start), 0.0)
    unit = _unit(table)

    def watch(progress: BackendProgress) -> bool:
        if report is not None:
            bound = _rounded_up(max(progress.bound, 0.0), unit)
            report(Progress.uncounted(PHASE, f"cost {best.cost:,.6g}, at least {bound:,.6g}"))
        return clock.expired

    found = backend.solve(
        suppression_model(table, CapacityCuts(table)),
        SolveOptions(time_limit=clock.seconds_left, seed=seed, absolute_gap=0.999 * unit if unit else 1e-6),
        starts=[start.astype(np.float64)],
        watch=watch,
    )
    bound = min(_rounded_up(max(found.bound, 0.0), unit), best.cost)
    if found.values is not None:
        better = np.asarray(found.values > 0.5, dtype=np.bool_)
        if _cost(table, better) < best.cost and audit(table, better).passed:
            best = Pattern(better, _cost(table, better), 0.0)
    return Pattern(best.suppressed, best.cost, min(bound, best.cost))


def _cost(table: CellTable, suppressed: BoolArray) -> float:
    return float(table.cost[suppressed & table.free].sum())


def _unit(table: CellTable) -> float:
    """What all costs are whole multiples of: 1, or 0 where they are not whole."""
    costs = table.cost[table.free]
    return 1.0 if bool((costs == np.round(costs)).all()) and costs.sum() < 2**52 else 0.0


def _rounded_up(bound: float, unit: float) -> float:
    """A bound as the costs can be, less what an optimiser may be wrong by."""
    safe = bound - 1e-6 * max(1.0, abs(bound))
    return max(0.0, float(np.ceil(safe))) if unit else max(0.0, safe)


def _unreachable(table: CellTable) -> str:
    everything: BoolArray = ~table.fixed
    found = audit(table, everything)
    at = int(np.argmax(found.short))
    level: FloatArray = found.short
    return (
        f"cell {found.cells[at]} cannot be protected: with all cells suppressed it is still short of its "
        f"level by {level[at]:g}; lower its level, or let more cells be suppressed"
    )
