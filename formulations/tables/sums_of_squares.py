"""Linearises sums of squares by perspective cuts, separated when a point violates them.

A column t stands for ``weight x^2 / z``, where z is 1, or a choice (0 or 1) without which x is 0. The cut at
the point r is ``t >= weight (2 r x - r^2 z)``. This perspective makes the relaxation much stronger than the
square: a fractional choice costs more (Frangioni and Gentile 2006, Perspective cuts for a class of convex 0-1
mixed integer programs, Mathematical Programming 106, 225-236).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.programs import Cuts, MilpModel, no_cuts

_VIOLATED = 2e-6
_ALMOST_NONE = 1e-6


@dataclass(frozen=True, eq=False)
class Tangents:
    """Separates perspective cuts; the columns are x, choices, and one t for each x.

    Attributes
    ----------
    weight : ndarray of float64, shape (n,)
    scale : float
        What t is measured in.
    choice : ndarray of int64, shape (n,)
        The column that x needs, or -1.
    needs : ndarray of float64, shape (n,)
        Whether x needs it to be 1 (1), or 0 (-1).
    columns : int
        How many columns come before t.
    """

    weight: FloatArray
    choice: LongArray
    needs: FloatArray
    columns: int

    @property
    def fractional(self) -> bool:
        """Fractional optima of the relaxation are worth separating."""
        return True

    def __call__(self, x: FloatArray) -> Cuts:
        """Return the cuts that a point violates."""
        size = self.weight.size
        chosen = self._chosen(x)
        at = np.maximum(x[:size], 0.0) / np.maximum(chosen, _ALMOST_NONE)
        short = self.weight * (2.0 * at * x[:size] - at**2 * chosen) - x[self.columns :]
        wanted = np.flatnonzero(short > _VIOLATED)
        return self.rows(wanted, at[wanted]) if wanted.size else no_cuts(x.size)

    def _chosen(self, x: FloatArray) -> FloatArray:
        z = x[np.maximum(self.choice, 0)]
        return np.where(self.choice < 0, 1.0, np.clip(np.where(self.needs > 0, z, 1.0 - z), 0.0, 1.0))

    def rows(self, wanted: LongArray, at: FloatArray) -> Cuts:
        """Return the cuts of some x, each at a point of it: ``t - 2 w r x + w r^2 z >= 0``."""
        count, weight = np.arange(wanted.size), self.weight[wanted]
        has = np.flatnonzero(self.choice[wanted] >= 0)
        square = weight * at**2
        sign = self.needs[wanted]
        rows = np.concatenate([count, count, has])
        places = np.concatenate([self.columns + wanted, wanted, self.choice[wanted][has]])
        data = np.concatenate([np.ones(wanted.size), -2.0 * weight * at, (sign * square)[has]])
        shape = (wanted.size, self.columns + self.weight.size)
        # z is the choice, or 1 less the choice, or 1: its constant part goes to the right.
        least = np.where((self.choice[wanted] >= 0) & (sign > 0), 0.0, -square)
        return Cuts(
            sparse.csr_array((data, (rows, places)), shape=shape), least, np.full(wanted.size, np.inf)
        )


def with_squares(linear: MilpModel, weight: FloatArray, choices: LongArray) -> MilpModel:
    """Return the model with the sum of weighted squares as its objective.

    Parameters
    ----------
    linear : MilpModel
        Its columns are p of all cells, q of all cells, not negative, and a choice for each of `choices`:
        1 where p of that cell may be above 0, 0 where q may.
    weight : ndarray of float64, shape (2 n,)
        Of each p and q.
    choices : ndarray of int64, shape (k,)
    """
    cells, columns = weight.size // 2, linear.objective.size
    choice, needs = np.full(weight.size, -1), np.ones(weight.size)
    place = 2 * cells + np.arange(choices.size)
    choice[choices] = choice[cells + choices] = place
    needs[cells + choices] = -1.0
    tangents = Tangents(weight, choice, needs, columns)
    none = np.zeros(weight.size)
    model = replace(
        linear,
        objective=np.concatenate([np.zeros(columns), np.ones(weight.size)]),
        matrix=sparse.csr_array(
            sparse.hstack([linear.matrix, sparse.csr_array((linear.shape[0], weight.size))], format="csr")
        ),
        column_lower=np.concatenate([linear.column_lower, none]),
        column_upper=np.concatenate([linear.column_upper, none + np.inf]),
        integer=np.concatenate([linear.integer, none > 0]),
        separator=tangents,
    )
    moved = np.flatnonzero(linear.column_lower[: weight.size] > 0)
    return model.with_rows(tangents.rows(moved, linear.column_lower[: weight.size][moved]))
