"""Optimal cell suppression: a pattern that protects, a better one, and a bound at every moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.formulations.tables.cell_table import BoolArray, CellTable, FloatArray
from linkrisk.formulations.tables.suppression_model import suppression_model
from linkrisk.solver.backends.base import Backend, SolveOptions
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.tables.attackers.audit import audit
from linkrisk.solver.tables.suppression.branch_and_cut import BranchAndCut
from linkrisk.solver.tables.suppression.capacity import CapacityCuts
from linkrisk.solver.tables.suppression.heuristic import Witnesses

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
    table: CellTable,
    backend: Backend | None,
    clock: Clock,
    report: Reporter | None = None,
    seed: int = 0,
) -> Pattern:
    """Find the cells of least cost that protect all sensitive ones.

    Parameters
    ----------
    table : CellTable
    backend : Backend or None
        None for our own branch and cut.
    clock : Clock
    report : callable, optional
    seed : int
        Of the backend.

    Raises
    ------
    UsageError
        If suppressing all cells does not protect one; the message names it.
    """
    separator, left = CapacityCuts(table), clock.seconds_left
    witnesses = Witnesses(table)
    start = witnesses.pattern(separator.open, clock.part(None if left is None else _START_SHARE * left))
    if start is None:
        raise UsageError(_unreachable(table))
    search = _Search(table, separator, witnesses, start, clock, report)
    better, bound = search.own() if backend is None else search.by(backend, seed)
    found = Pattern(start, _cost(table, start), 0.0)
    if better is not None and _cost(table, better) < found.cost and audit(table, better).passed:
        found = Pattern(better, _cost(table, better), 0.0)
    return Pattern(found.suppressed, found.cost, min(_rounded_up(max(bound, 0.0), _unit(table)), found.cost))


@dataclass(eq=False)
class _Search:
    """What the ways of searching share."""

    table: CellTable
    separator: CapacityCuts
    witnesses: Witnesses
    start: BoolArray
    clock: Clock
    report: Reporter | None

    def own(self) -> tuple[BoolArray | None, float]:
        """Our own branch and cut."""
        search = BranchAndCut(self.table, self.separator, self.start, _unit(self.table))

        def improve(point: FloatArray) -> BoolArray | None:
            return self.witnesses.pattern(self.separator.open, self.clock, likely=np.clip(point, 0.0, 1.0))

        search.run(self.clock, improve, lambda: self._tell(search.cost, search.bound))
        proven = search.bound >= search.cost - (_unit(self.table) or 1e-6 * search.cost) + 1e-6 * search.cost
        return search.best, search.cost if proven else search.bound

    def by(self, backend: Backend, seed: int) -> tuple[BoolArray | None, float]:
        """Any backend."""
        unit, cost = _unit(self.table), _cost(self.table, self.start)
        found = backend.solve(
            suppression_model(self.table, self.separator),
            SolveOptions(
                time_limit=self.clock.seconds_left, seed=seed, absolute_gap=0.999 * unit if unit else 1e-6
            ),
            starts=[self.start.astype(np.float64)],
            watch=lambda progress: self._tell(cost, progress.bound),
        )
        return None if found.values is None else found.values > 0.5, found.bound

    def _tell(self, cost: float, bound: float) -> bool:
        """Say how far it is, and whether to stop."""
        if self.report is not None:
            bound = _rounded_up(max(bound, 0.0), _unit(self.table))
            self.report(Progress.uncounted(PHASE, f"cost {cost:,.6g}, at least {bound:,.6g}"))
        return self.clock.expired


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
