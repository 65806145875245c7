"""A pattern that protects, demand by demand, and what can be left out of it again.

For every demand the cheapest way to move its cell by its level is a linear program whose costs are those of
the cells that it moves (Kelly, Golden and Assad 1992; Fischetti and Salazar 2000, section 5): they are
suppressed, and cost nothing from then on. The way is kept as a witness: while all its cells are suppressed,
the demand is met.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from linkrisk.formulations.programs.linear import LinearModel
from linkrisk.formulations.tables.cell_table import BoolArray, CellTable, Demand, FloatArray
from linkrisk.solver.backends.linear.base import LinearOptions, LinearProgram
from linkrisk.solver.backends.linear.registry import linear_program
from linkrisk.solver.run.clock import Clock

_CHEAP = 0.01
"""What a cell costs that is taken to be chosen, as a share of its cost."""

_MOVED = 1e-9
"""What is moved by less of its demand's level is not moved."""


@dataclass
class Witnesses:
    """A pattern, and for every half of a demand deviations that prove it.

    Attributes
    ----------
    table : CellTable
    """

    table: CellTable
    _program: LinearProgram = field(init=False, repr=False)

    def __post_init__(self) -> None:
        table = self.table
        relations = sparse.csr_array(table.relations)
        rows = relations.shape[0]
        both = LinearModel(
            objective=np.zeros(2 * len(table)),
            matrix=sparse.csr_array(sparse.hstack([relations, -relations], format="csr")),
            row_lower=np.zeros(rows),
            row_upper=np.zeros(rows),
            column_lower=np.zeros(2 * len(table)),
            column_upper=np.concatenate([table.above, table.below]),
        )
        self._program = linear_program(both, LinearOptions(feasibility=1e-9, optimality=1e-9))
        self._columns = np.arange(2 * len(table))

    def pattern(
        self, demands: Sequence[Demand], clock: Clock, likely: FloatArray | None = None
    ) -> BoolArray | None:
        """Cells that protect all demands when they are suppressed, shape (n,).

        Parameters
        ----------
        demands : sequence of Demand
            Those that the sensitive cells do not meet among themselves.
        clock : Clock
            When to leave out no more cells.
        likely : ndarray of float64, shape (n,), optional
            How likely each cell is a good choice, from 0 to 1: so much cheaper it is taken to be.

        Returns
        -------
        ndarray of bool, shape (n,), or None
            None where a demand cannot be met, whatever is suppressed.
        """
        table = self.table
        suppressed, witnesses = table.primary.copy(), []
        cost = table.cost if likely is None else table.cost * (1.0 - (1.0 - _CHEAP) * likely)
        for demand in sorted(_halves(table, demands), key=lambda one: -one.level):
            moved = self._cheapest(demand, cost, suppressed, ~table.fixed)
            if moved is None:
                return None
            witnesses.append((demand, moved))
            suppressed |= moved
        return self._thinned(suppressed, witnesses, clock)

    def _thinned(
        self, suppressed: BoolArray, witnesses: list[tuple[Demand, BoolArray]], clock: Clock
    ) -> BoolArray:
        """Leave out cells, the dearest first, while all demands can be met without them."""
        table = self.table
        chosen = np.flatnonzero(suppressed & table.free)
        for cell in chosen[np.argsort(-table.cost[chosen], kind="stable")]:
            if clock.expired:
                break
            without = suppressed.copy()
            without[cell] = False
            found: dict[int, BoolArray] = {}
            for at, (demand, moved) in enumerate(witnesses):
                if moved[cell]:
                    other = self._cheapest(demand, table.cost, without, without)
                    if other is None:
                        break
                    found[at] = other
            else:
                suppressed = without
                witnesses = [(demand, found.get(at, moved)) for at, (demand, moved) in enumerate(witnesses)]
        return suppressed

    def _cheapest(
        self, demand: Demand, cost: FloatArray, suppressed: BoolArray, allowed: BoolArray
    ) -> BoolArray | None:
        """Cells that move when the cell of a demand does by its level; None where it cannot."""
        table, cells = self.table, len(self.table)
        cost = np.where(suppressed, 0.0, cost)
        up, down = np.where(allowed, table.above, 0.0), np.where(allowed, table.below, 0.0)
        lower = np.zeros(2 * cells)
        at = demand.cell if demand.up else demand.cell + cells
        other = demand.cell + cells if demand.up else demand.cell
        upper = np.concatenate([up, down])
        lower[at] = upper[at] = demand.level
        upper[other] = 0.0
        self._program.change_objective(self._columns, np.concatenate([cost, cost]))
        self._program.change_column_bounds(self._columns, lower, upper)
        solution = self._program.solve()
        if not solution.optimal:
            return None
        moves = solution.point[:cells] - solution.point[cells:]
        return np.asarray(np.abs(moves) > _MOVED * demand.level, dtype=np.bool_)


def _halves(table: CellTable, demands: Sequence[Demand]) -> list[Demand]:
    """Demands up and demands down; a sliding one is met by these two together, as far up as there is room."""
    found = []
    for demand in demands:
        if not (demand.up and demand.down):
            found.append(demand)
            continue
        up = min(demand.level, float(table.above[demand.cell]))
        found.append(Demand(demand.cell, up, up=True, down=False))
        if demand.level > up:
            found.append(Demand(demand.cell, demand.level - up, up=False, down=True))
    return found
