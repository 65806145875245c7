"""Controlled rounding: every cell becomes a multiple of a base, and all relations still hold exactly.

With ``f`` the value in whole steps of the base and ``r`` what is left of it, the rounded value is
``base * (f + z + p - q)``:

    minimise    sum of weight_i (r_i + (base - 2 r_i) z_i + base p_i + base q_i)
    subject to  M (z + p - q) = -M f,   z in {0, 1},   p, q >= 0 and whole

which is the weighted sum of the changes.

Zero-restricted, p and q are 0: each cell goes to a neighbouring multiple, and multiples of the base stay
(Cox 1987, A constructive procedure for unbiased controlled rounding, JASA 82, 520-524; Salazar 2005,
Controlled rounding and cell perturbation, Mathematical Programming 105, 583-603).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.programs import MilpModel

_WHOLE = 1e-9
"""Relative distance from a multiple up to which a value is one, for rounded decimals."""

_MOST_OFF = 1e-3
"""Largest such distance, so that other integers never count as multiples."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ControlledRounding:
    """Table to be rounded.

    Attributes
    ----------
    value : ndarray of float64, shape (n,)
    relations : scipy.sparse.csr_array, shape (m, n)
        Coefficients M: ``M value = 0``.
    weight : ndarray of float64, shape (n,)
        Of a cell's change; not negative.
    base : int
        From 2.
    zero_restricted : bool
        Whether each cell has to go to a neighbouring multiple of the base.

    Raises
    ------
    FormulationError
        If the base is none.
    """

    value: FloatArray
    relations: sparse.csr_array
    weight: FloatArray
    base: int
    zero_restricted: bool

    def __post_init__(self) -> None:
        if self.base < 2:
            raise FormulationError(f"the base {self.base} is none: give a whole number from 2")

    @property
    def steps(self) -> LongArray:
        """The multiples f below each value (where it is one, the value itself), in steps of the base."""
        nearest = np.round(self.value / self.base)
        exact = np.abs(nearest * self.base - self.value) <= self._rounding
        return np.where(exact, nearest, np.floor(self.value / self.base)).astype(np.int64)

    @property
    def left(self) -> FloatArray:
        """Remainder r above that multiple, from 0 to less than the base."""
        return np.maximum(self.value - self.base * self.steps, 0.0) * (self._between > 0)

    @property
    def _between(self) -> FloatArray:
        """Return 1 where a value is between two multiples."""
        rest = self.value - self.base * self.steps
        return (rest > self._rounding).astype(np.float64)

    @property
    def _rounding(self) -> FloatArray:
        """Bound the rounding error of each value, shape (n,)."""
        return np.minimum(_WHOLE * np.maximum(1.0, np.abs(self.value)), _MOST_OFF)

    @property
    def least(self) -> float:
        """Dual bound without any solve: the cost of all cells at their nearest multiples."""
        return float(self.weight @ np.minimum(self.left, self.base - self.left))

    def model(self) -> MilpModel:
        """Return the program, with columns z, and p and q unless it is zero-restricted."""
        steps, left, cells = self.steps, self.left, self.value.size
        relations = sparse.csr_array(self.relations)
        objective, upper = self.weight * (self.base - 2.0 * left), self._between
        matrix = relations
        if not self.zero_restricted:
            far = self.weight * self.base
            down = np.where(self.value >= 0, steps, np.inf)  # nonnegative values stay so
            matrix = sparse.csr_array(sparse.hstack([relations, relations, -relations], format="csr"))
            objective = np.concatenate([objective, far, far])
            upper = np.concatenate([upper, np.full(cells, np.inf), down])
        sums = -(relations @ steps.astype(np.float64))
        return MilpModel(
            objective=objective,
            matrix=matrix,
            row_lower=sums,
            row_upper=sums,
            column_lower=np.zeros(objective.size),
            column_upper=upper,
            integer=np.ones(objective.size, dtype=np.bool_),
            constant=float(self.weight @ left),
        )

    def rounded(self, columns: FloatArray) -> LongArray:
        """Return the rounded values of a point of the model as integers, shape (n,)."""
        cells = self.value.size
        moves = np.round(columns).astype(np.int64)
        more = moves[:cells] if self.zero_restricted else moves.reshape(3, cells).T @ np.array([1, 1, -1])
        return np.asarray(self.base * (self.steps + more), dtype=np.int64)

    def cost(self, rounded: LongArray) -> float:
        """Return the weighted sum of changes."""
        return float(self.weight @ np.abs(rounded - self.value))

    def wrong(self, rounded: LongArray) -> str | None:
        """Explain why these values are no controlled rounding, by integer arithmetic; None if they are."""
        if (rounded % self.base).any():
            return f"cell {int(np.argmax(rounded % self.base != 0))} is no multiple of {self.base}"
        relations = sparse.csr_array(self.relations)
        whole = relations.data == np.round(relations.data)
        exact = relations.astype(np.int64) if whole.all() else relations
        sums = exact @ rounded
        if (np.abs(sums) > (0 if whole.all() else _WHOLE * abs(relations).sum())).any():
            return f"relation {int(np.argmax(np.abs(sums)))} does not add up"
        far = np.abs(rounded - self.value) >= self.base * (1 - _WHOLE)
        if self.zero_restricted and far.any():
            return f"cell {int(np.argmax(far))} is moved by a whole base"
        below = (rounded < 0) & (self.value >= 0)
        if below.any():
            return f"cell {int(np.argmax(below))} is below 0, which its value is not"
        return None
