"""The attacker's programs, one after the other from the last basis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.formulations.tables.attacker import attacker_model, reach
from linkrisk.formulations.tables.cell_table import CellTable, Demand, FloatArray
from linkrisk.solver.backends.linear.base import LinearOptions
from linkrisk.solver.backends.linear.registry import linear_program


@dataclass(frozen=True, eq=False)
class Attack:
    """How far an attacker must think that a goal could go.

    Attributes
    ----------
    found : float
        By the deviations that were found: a lower bound up to the tolerance of the optimiser.
    deviations : ndarray of float64, shape (n,)
    most : ndarray of float64, shape (n,)
        What each suppressed cell adds at most (`formulations.tables.attacker.reach`).
    """

    found: float
    deviations: FloatArray
    most: FloatArray


class Attacker:
    """Knows which cells are suppressed, wholly or in part, and asks how far others could go.

    Parameters
    ----------
    table : CellTable
    """

    def __init__(self, table: CellTable) -> None:
        self._table = table
        self._program = linear_program(
            attacker_model(table, np.zeros(len(table))), LinearOptions(feasibility=1e-9, optimality=1e-9)
        )
        self._all = np.arange(len(table))
        self._goal = np.zeros(len(table))

    def knows(self, suppressed: FloatArray) -> None:
        """Take a pattern, shape (n,)."""
        table = self._table
        self._program.change_column_bounds(self._all, -table.below * suppressed, table.above * suppressed)

    def attack(self, goal: FloatArray) -> Attack:
        """Maximise a goal, shape (n,).

        Raises
        ------
        RuntimeError
            If the optimiser fails.
        """
        changed = np.flatnonzero(goal != self._goal)
        self._program.change_objective(changed, -goal[changed])
        self._goal = goal
        solution = self._program.solve()
        if not solution.optimal:
            raise RuntimeError(f"the attacker's program ended {solution.status}")
        point = solution.point
        return Attack(float(goal @ point), point, reach(self._table, goal, -solution.duals))


def goals_of(demand: Demand, cells: int) -> list[FloatArray]:
    """What is to be maximised for a demand: up, down, or both, whose sum counts."""
    found = []
    for wanted, sign in ((demand.up, 1.0), (demand.down, -1.0)):
        if wanted:
            goal = np.zeros(cells)
            goal[demand.cell] = sign
            found.append(goal)
    return found
