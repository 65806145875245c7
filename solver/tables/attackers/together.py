"""Many demands at once: one program that meets as many of them as it can.

Each cell of a demand counts up to its level and no further: ``d = t + s``, where t is worth 1 / level each
up to the level, and s, which goes on from there, nothing. The sum of all is concave, so that a linear program
maximises it, and no demand is served beyond what it asks for at the cost of others.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.solver.backends.linear.base import LinearOptions
from linkrisk.solver.backends.linear.registry import linear_program
from linkrisk.solver.backends.linear.sliced import solved_by
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.attackers.furthest import unit_of
from linkrisk.solver.tables.attackers.pieces import Piece


class Together:
    """The program of a piece that serves many demands.

    `at` (j,): places of the cells that there are demands of.
    """

    def __init__(self, piece: Piece, at: LongArray) -> None:
        self._piece, self._at = piece, at
        self._unit = unit_of(piece)
        none = np.zeros(piece.relations.shape[0])
        self._program = linear_program(
            LinearModel(
                objective=np.zeros(piece.cells.size + at.size),
                matrix=sparse.csr_array(
                    sparse.hstack([piece.relations, piece.relations[:, at]], format="csr")
                ),
                row_lower=none,
                row_upper=none,
                column_lower=np.concatenate([-piece.below / self._unit, np.zeros(at.size)]),
                column_upper=np.concatenate([piece.above / self._unit, np.zeros(at.size)]),
            ),
            LinearOptions(feasibility=1e-9, optimality=1e-9),
        )
        self._columns = np.concatenate([at, piece.cells.size + np.arange(at.size)])

    def move(self, level: FloatArray, clock: Clock) -> FloatArray | None:
        """Deviations that serve as many of the demands as a program finds.

        `level` (j,): how far each cell is to go: up where it is above 0, down where it is below. Returns
        (k,): None where the program failed, or the clock was out.
        """
        at, piece = self._at, self._piece
        below, above = piece.below[at], piece.above[at]
        up, down = level > 0, level < 0
        lower = [np.where(down, level, -below), np.where(down, -(below + level), 0.0)]
        upper = [np.where(up, level, above), np.where(up, above - level, 0.0)]
        worth = np.where(level == 0, 0.0, self._unit / np.where(level == 0, 1.0, level))
        self._program.change_objective(self._columns, np.concatenate([-worth, np.zeros(at.size)]))
        self._program.change_column_bounds(
            self._columns, np.concatenate(lower) / self._unit, np.concatenate(upper) / self._unit
        )
        self._program.forget_basis()
        solution = solved_by(self._program, clock)
        if not solution.optimal:
            return None
        point = solution.point * self._unit
        moved: FloatArray = point[: piece.cells.size].copy()
        moved[at] += point[piece.cells.size :]
        return moved
