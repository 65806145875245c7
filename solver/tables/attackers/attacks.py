"""The attacker's programs, one after the other from the last basis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.formulations.programs.linear import LinearModel
from linkrisk.formulations.tables.attacker import reach
from linkrisk.formulations.tables.cell_table import CellTable, Demand, FloatArray, IntArray
from linkrisk.formulations.tables.primal_simplex import OPTIMAL, begin, furthest
from linkrisk.solver.backends.linear.base import LinearOptions
from linkrisk.solver.backends.linear.registry import linear_program

_OPTIONS = LinearOptions(
    feasibility=1e-9,
    optimality=1e-9,
    # What changes from one attack to the next is the objective, and all coefficients are near 1.
    own={"simplex_strategy": 4, "simplex_scale_strategy": 0, "presolve": "off"},
)

_SMALL = 1000
"""Relations up to which our own simplex method is faster, as it holds the inverse of the basis."""

_RESIDUAL = 1e-9
"""What a relation may be off by, of the largest deviation."""


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
        self._transposed = self._by_cell.T
        self._above, self._below = table.above, table.below

    def knows(self, suppressed: FloatArray) -> None:
        """Take a pattern, shape (n,)."""
        self._cells = cells = np.flatnonzero(suppressed)
        counts = np.diff(self._by_cell.indptr)[cells]
        starts = np.concatenate([[0], np.cumsum(counts)])
        entries = np.repeat(self._by_cell.indptr[cells] - starts[:-1], counts) + np.arange(starts[-1])
        inside = self._by_cell.indices[entries]
        there = np.zeros(self._by_cell.shape[0], dtype=np.bool_)
        there[inside] = True
        self._rows = np.flatnonzero(there)
        place = np.cumsum(there) - 1
        share = suppressed[cells]
        program = _Small if self._rows.size <= _SMALL else _Large
        self._program = program(
            _Part(
                starts.astype(np.int64),
                place[inside],
                self._by_cell.data[entries].astype(np.float64),
                -self._below[cells] * share,
                self._above[cells] * share,
                self._rows.size,
            )
        )

    def attack(self, cell: int, sign: float, enough: float = np.inf) -> Attack:
        """Move a suppressed cell up (1) or down (-1) as far as it goes, or as far as is enough.

        Raises
        ------
        RuntimeError
            If the optimiser fails.
        """
        at = int(np.searchsorted(self._cells, cell))
        point, found = self._program.furthest(at, sign, enough)
        multipliers = np.zeros(self._by_cell.shape[0])
        multipliers[self._rows] = found
        goal = np.zeros(len(self._table))
        goal[cell] = sign
        most = reach(goal - self._transposed @ multipliers, self._above, self._below)
        return Attack(float(sign * point[at]), self._cells, point, most)


@dataclass(frozen=True, eq=False)
class _Part:
    """The suppressed cells and their relations, cell by cell."""

    starts: IntArray
    rows: IntArray
    values: FloatArray
    lower: FloatArray
    upper: FloatArray
    relations: int


class _Small:
    """A program for our own simplex method, with an optimiser where that does not come to an end."""

    def __init__(self, part: _Part) -> None:
        self._part = part
        self._inverse = np.empty((part.relations, part.relations))
        self._basis = np.empty(part.relations, dtype=np.int64)
        self._other: _Large | None = None
        self._restart()

    def furthest(self, at: int, sign: float, enough: float) -> tuple[FloatArray, FloatArray]:
        """Deviations of a cell as far as it goes or is enough, and the multipliers of the relations."""
        part = self._part
        steps = 20 * (part.relations + part.lower.size)
        args = (part.starts, part.rows, part.values, part.lower, part.upper, self._inverse, self._basis)
        ended = furthest(*args, self._point, at, sign, enough, steps)
        sums = np.bincount(part.rows, part.values * np.repeat(self._point, np.diff(part.starts)))
        close = np.abs(sums).max(initial=0.0) <= _RESIDUAL * max(1.0, np.abs(self._point).max(initial=0.0))
        if ended != OPTIMAL or not close:
            self._restart()
            self._other = self._other or _Large(part)
            return self._other.furthest(at, sign, enough)
        place = np.flatnonzero(self._basis == at)
        found = self._inverse[place[0]] * sign if place.size else np.zeros(part.relations)
        return self._point.copy(), found

    def _restart(self) -> None:
        part = self._part
        room = np.minimum(part.upper, -part.lower)
        begin(part.starts, part.rows, part.values, np.argsort(-room), self._inverse, self._basis)
        self._point = np.zeros(part.lower.size)


class _Large:
    """A program in the hands of an optimiser."""

    def __init__(self, part: _Part) -> None:
        cells = part.lower.size
        by_cell = sparse.csc_array((part.values, part.rows, part.starts), shape=(part.relations, cells))
        none = np.zeros(part.relations)
        self._program = linear_program(
            LinearModel(
                objective=np.zeros(cells),
                matrix=sparse.csr_array(by_cell),
                row_lower=none,
                row_upper=none,
                column_lower=part.lower,
                column_upper=part.upper,
            ),
            _OPTIONS,
        )
        self._goal = np.zeros(0, dtype=np.int64)
        self._point, self._none = np.zeros(cells), none

    def furthest(self, at: int, sign: float, enough: float) -> tuple[FloatArray, FloatArray]:
        """Deviations of a cell as far as it goes or is enough, and the multipliers of the relations."""
        if sign * self._point[at] >= enough:
            return self._point, self._none
        self._program.change_objective(self._goal, np.zeros(self._goal.size))
        self._goal = np.array([at])
        self._program.change_objective(self._goal, np.array([-sign]))
        solution = self._program.solve()
        if not solution.optimal:
            raise RuntimeError(f"the attacker's program ended {solution.status}")
        self._point = solution.point
        return self._point, -solution.duals


def signs_of(demand: Demand) -> list[float]:
    """Which ways a demand asks for: up, down, or both, whose sum counts."""
    return [sign for wanted, sign in ((demand.up, 1.0), (demand.down, -1.0)) if wanted]
