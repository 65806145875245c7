"""The attacker's programs, one after the other from the last basis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.formulations.programs.linear import LinearModel
from linkrisk.formulations.tables.attacker import attacker_model, reach
from linkrisk.formulations.tables.cell_table import CellTable, Demand, FloatArray, IntArray
from linkrisk.solver.backends.linear.base import LinearOptions
from linkrisk.solver.backends.linear.registry import linear_program


@dataclass(frozen=True, eq=False)
class Attack:
    """How far an attacker must think that a cell could go, one way.

    Attributes
    ----------
    found : float
        By the deviations that were found: a lower bound up to the tolerance of the optimiser.
    cells : ndarray of int64, shape (k,)
        The cells that are suppressed at all.
    deviations : ndarray of float64, shape (k,)
        Theirs.
    most : ndarray of float64, shape (n,)
        What each suppressed cell adds at most (`formulations.tables.attacker.reach`).
    """

    found: float
    cells: IntArray
    deviations: FloatArray
    most: FloatArray


class Attacker:
    """Knows which cells are suppressed, wholly or in part, and asks how far one could go.

    Its program holds these cells only, and the relations that they are in: what is published cannot move.

    Parameters
    ----------
    table : CellTable
    """

    def __init__(self, table: CellTable) -> None:
        self._table = table
        self._by_cell = sparse.csc_array(table.relations)

    def knows(self, suppressed: FloatArray) -> None:
        """Take a pattern, shape (n,)."""
        table = self._table
        self._cells = cells = np.flatnonzero(suppressed)
        part = sparse.csr_array(self._by_cell[:, cells])
        self._rows = np.flatnonzero(np.diff(part.indptr))
        model = attacker_model(table, suppressed)
        none = np.zeros(self._rows.size)
        self._program = linear_program(
            LinearModel(
                objective=np.zeros(cells.size),
                matrix=sparse.csr_array(part[self._rows]),
                row_lower=none,
                row_upper=none,
                column_lower=model.column_lower[cells],
                column_upper=model.column_upper[cells],
            ),
            LinearOptions(feasibility=1e-9, optimality=1e-9),
        )
        self._goal = np.zeros(0, dtype=np.int64)

    def attack(self, cell: int, sign: float) -> Attack:
        """Move a suppressed cell up (1) or down (-1) as far as it goes.

        Raises
        ------
        RuntimeError
            If the optimiser fails.
        """
        at = np.searchsorted(self._cells, [cell])
        self._program.change_objective(self._goal, np.zeros(self._goal.size))
        self._program.change_objective(at, np.array([-sign]))
        self._goal = at
        solution = self._program.solve()
        if not solution.optimal:
            raise RuntimeError(f"the attacker's program ended {solution.status}")
        multipliers = np.zeros(self._by_cell.shape[0])
        multipliers[self._rows] = -solution.duals
        point, goal = solution.point, np.zeros(len(self._table))
        goal[cell] = sign
        most = reach(self._table, goal, self._by_cell, multipliers)
        return Attack(float(sign * point[at[0]]), self._cells, point, most)


def signs_of(demand: Demand) -> list[float]:
    """Which ways a demand asks for: up, down, or both, whose sum counts."""
    return [sign for wanted, sign in ((demand.up, 1.0), (demand.down, -1.0)) if wanted]
