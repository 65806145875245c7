"""Deviations that move a cell by a given amount and others as little as can be: witnesses of few cells."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.solver.backends.linear.base import LinearOptions
from linkrisk.solver.backends.linear.registry import linear_program
from linkrisk.solver.tables.attackers.furthest import unit_of
from linkrisk.solver.tables.attackers.pieces import Piece


class Nearest:
    """The program of a piece: ways up and down, ``d = u - v``, at the least sum of both."""

    def __init__(self, piece: Piece) -> None:
        self._count, self._unit = piece.cells.size, unit_of(piece)
        rows = piece.relations.shape[0]
        self._upper = np.concatenate([piece.above, piece.below]) / self._unit
        self._program = linear_program(
            LinearModel(
                objective=np.ones(2 * self._count),
                matrix=sparse.csr_array(sparse.hstack([piece.relations, -piece.relations], format="csr")),
                row_lower=np.zeros(rows),
                row_upper=np.zeros(rows),
                column_lower=np.zeros(2 * self._count),
                column_upper=self._upper,
            ),
            LinearOptions(feasibility=1e-9, optimality=1e-9),
        )

    def move(self, place: int, by: float) -> FloatArray | None:
        """Move a cell, by its place in the piece; deviations, shape (k,); None where it cannot go so far."""
        ways = np.array([place, place + self._count])
        if by < 0:
            ways = ways[::-1]
        there = np.array([abs(by) / self._unit, 0.0])
        self._program.change_column_bounds(ways, there, there)
        solution = self._program.solve()
        self._program.change_column_bounds(ways, np.zeros(2), self._upper[ways])
        if not solution.optimal:
            return None
        point = solution.point * self._unit
        return np.asarray(point[: self._count] - point[self._count :])
