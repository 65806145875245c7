"""Controlled tabular adjustment: the least change of a table such that sensitive cells are far enough off.

The adjusted values are ``value + p - q``, with

    minimise    sum of weight_i (p_i + q_i)                     (linear)
             or sum of weight_i (p_i^2 + q_i^2)                 (quadratic)
    subject to  M (p - q) = 0,   0 <= p <= above,   0 <= q <= below
                upper_level_i b_i <= p_i <= above_i b_i                    for sensitive cells
                lower_level_i (1 - b_i) <= q_i <= below_i (1 - b_i)        for sensitive cells,  b in {0, 1}

(Dandekar and Cox 2002, Synthetic tabular data: an alternative to complementary cell suppression; Castro 2006,
Minimum-distance controlled perturbation methods for large-scale tabular data protection, EJOR 171, 39-52;
Hundepool et al. 2012, Statistical Disclosure Control, section 4.4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.programs import MilpModel
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.sums_of_squares import with_squares

FAR = 1e-6
"""Share of its level by which a sensitive cell may be nearer and still count as far enough."""

_CLOSE = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class TabularAdjustment:
    """Table to be adjusted.

    Attributes
    ----------
    table : CellTable
        Its sensitive cells go up by `upper_level` at least, or down by `lower_level`; where one of the two is
        0, only the other way. Cells that are always published keep their value.
    weight : ndarray of float64, shape (n,)
        Of a cell's change; above 0.
    quadratic : bool
        Whether squares of changes are summed.
    up : bool
        Whether sensitive cells may go up only.
    whole : bool
        Whether the adjusted values are whole numbers.

    Raises
    ------
    FormulationError
        If a weight is none, a sensitive cell has nowhere to go, or values that are to be whole are not.
    """

    table: CellTable
    weight: FloatArray
    quadratic: bool = False
    up: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        table = self.table
        refuse = partial(_refuse, table.title)
        refuse(~(self.weight > 0), "its weight is not above 0; give it one that is")
        none = (self.least_up == 0) & (self.up | (self.least_down == 0))
        why = "it has no upper protection level, so that it cannot go up only"
        if not self.up:
            why = (
                "it has neither a lower nor an upper protection level, so that nothing says how far it goes; "
                "give it one"
            )
        refuse(table.primary & none, why)
        refuse(self.least_up > self.above, "no whole number is as far up as its level asks for")
        refuse(self.least_down > self.below, "no whole number is as far down as its level asks for")
        if self.whole:
            parts = table.value != np.round(table.value)
            refuse(parts, "its value is not whole, so that others cannot be; do not ask for whole numbers")

    def __len__(self) -> int:
        return len(self.table)

    @property
    def below(self) -> FloatArray:
        """Return how far each cell may go down, shape (n,)."""
        far = np.where(self.table.fixed, 0.0, self.table.below)
        return np.floor(far) if self.whole else far

    @property
    def above(self) -> FloatArray:
        """Return how far each cell may go up, shape (n,)."""
        far = np.where(self.table.fixed, 0.0, self.table.above)
        return np.floor(far) if self.whole else far

    @property
    def least_up(self) -> FloatArray:
        """Least movement up of a sensitive cell that goes up; 0 for other cells."""
        return self._level(self.table.upper_level)

    @property
    def least_down(self) -> FloatArray:
        """Least movement down of a sensitive cell that goes down."""
        return self._level(np.zeros(len(self)) if self.up else self.table.lower_level)

    def _level(self, level: FloatArray) -> FloatArray:
        needed = np.where(self.table.primary, level, 0.0)
        return np.ceil(needed - _CLOSE * needed) if self.whole else needed

    @property
    def choices(self) -> LongArray:
        """Sensitive cells with both directions."""
        return np.flatnonzero((self.least_up > 0) & (self.least_down > 0))

    @property
    def relaxed(self) -> TabularAdjustment:
        """Return the continuous relaxation with integral levels and bounds, whose cost is a dual bound."""
        table = replace(
            self.table,
            lower=self.table.value - self.below,
            upper=self.table.value + self.above,
            lower_level=self.least_down,
            upper_level=self.least_up,
            sliding_level=np.zeros(len(self)),
        )
        return replace(self, table=table, whole=False)

    def bounds(self, goes_up: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of all changes for given directions of the sensitive cells.

        Parameters
        ----------
        goes_up : ndarray of bool, shape (k,)
            For each of `choices`.
        """
        up, down = self.least_up > 0, self.least_down > 0
        up[self.choices], down[self.choices] = goes_up, ~goes_up
        lower = np.where(up, self.least_up, -self.below)
        return lower, np.where(down, -self.least_down, self.above)

    def model(self, most: float = np.inf) -> MilpModel:
        """Return the program; its columns are p, q, b of `choices`, and for squares those of p and q.

        Parameters
        ----------
        most : float
            A cost that is known to be reached: no cell of a better solution can change by more than that
            allows. Small bounds matter: optimisers accept nearly integral values.
        """
        at, none = self.choices, np.zeros(self.choices.size)
        up, down = self.furthest(most)
        low = [self.least_up.copy(), self.least_down.copy()]
        low[0][at] = low[1][at] = 0.0
        sums = np.zeros(self.table.relations.shape[0])
        linear = MilpModel(
            objective=np.concatenate([self.weight, self.weight, none]),
            matrix=self._rows(up[at], down[at]),
            row_lower=np.concatenate([sums, none - np.inf, none, none - np.inf, self.least_down[at]]),
            row_upper=np.concatenate([sums, none, none + np.inf, down[at], none + np.inf]),
            column_lower=np.concatenate([*low, none]),
            column_upper=np.concatenate([up, down, none + 1.0]),
            integer=np.concatenate([np.full(2 * len(self), self.whole), none == 0.0]),
        )
        return with_squares(linear, np.tile(self.weight, 2), at) if self.quadratic else linear

    def furthest(self, most: float) -> tuple[FloatArray, FloatArray]:
        """Return how far each cell can go up and down in an adjustment of limited cost."""
        far = np.sqrt(most / self.weight) if self.quadratic else most / self.weight
        return self._furthest(far * (1.0 + _CLOSE))

    def _furthest(self, far: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the largest p and q of each cell, within a limit on each."""
        far = np.floor(far + FAR) if self.whole else far
        up, down = np.minimum(self.above, far), np.minimum(self.below, far)
        up[(self.least_down > 0) & (self.least_up == 0)] = 0.0
        down[(self.least_up > 0) & (self.least_down == 0)] = 0.0
        return np.maximum(up, self.least_up), np.maximum(down, self.least_down)

    def _rows(self, up: FloatArray, down: FloatArray) -> sparse.csr_array:
        """Return the relations, then four rows for each of `choices`: far enough one way, and 0 the other."""
        cells, count = len(self), self.choices.size
        one = sparse.csr_array((np.ones(count), (np.arange(count), self.choices)), shape=(count, cells))
        levels = self.least_up[self.choices], self.least_down[self.choices]
        relations = sparse.csr_array(self.table.relations)
        blocks: list[list[Any]] = [
            [relations, -relations, None],
            [one, None, sparse.diags_array(-up)],
            [one, None, sparse.diags_array(-levels[0])],
            [None, one, sparse.diags_array(down)],
            [None, one, sparse.diags_array(levels[1])],
        ]
        if not count:
            blocks = [[relations, -relations]]
        return sparse.csr_array(sparse.block_array(blocks, format="csr"))

    def changes(self, columns: FloatArray) -> FloatArray:
        """Return the changes of all cells at a point of the model, shape (n,)."""
        return np.asarray(columns[: len(self)] - columns[len(self) : 2 * len(self)])

    def ways(self, columns: FloatArray) -> BoolArray:
        """Tell which of `choices` go up at a point of the model."""
        start = 2 * len(self)
        return np.asarray(columns[start : start + self.choices.size] > 0.5)

    def columns(self, change: FloatArray) -> FloatArray:
        """Return the point of the model for changes that are far enough."""
        parts = [np.maximum(change, 0.0), np.maximum(-change, 0.0)]
        both = np.concatenate(parts)
        ways = (change[self.choices] > 0).astype(np.float64)
        return np.concatenate([both, ways, *([np.tile(self.weight, 2) * both**2] if self.quadratic else [])])

    def cost(self, change: FloatArray) -> float:
        """Return the weighted sum of changes, or of their squares."""
        return float(self.weight @ (change**2 if self.quadratic else np.abs(change)))

    def least(self, multipliers: FloatArray, allowed: tuple[BoolArray, BoolArray] | None = None) -> float:
        """Compute the Lagrangian dual bound of any multipliers u of the relations.

        It is the sum of ``min weight_i f(d) - (u M)_i d`` over the possible d of each cell alone, where a
        sensitive cell is far up or far down. It does not depend on an optimiser.

        Parameters
        ----------
        multipliers : ndarray of float64, shape (m,)
        allowed : tuple of two ndarray of bool, shape (k,), optional
            Which of `choices` may go up, and which down; all where absent.
        """
        slope = np.asarray(multipliers @ self.table.relations)
        far = self._furthest(np.full(len(self), np.inf))
        each = []
        for side, (level, sign) in enumerate(((self.least_up, 1.0), (self.least_down, -1.0))):
            may = ~self.table.primary | (level > 0)
            if allowed is not None:
                may[self.choices] = allowed[side]
            each.append(np.where(may, self._cheapest(level, far[side], sign * slope), np.inf))
        return float(np.minimum(*each).sum())

    def _cheapest(self, low: FloatArray, high: FloatArray, slope: FloatArray) -> FloatArray:
        """Minimise ``weight f(d) - slope d`` over ``low <= d <= high``, for nonnegative d."""
        if self.quadratic:
            at = np.clip(slope / (2.0 * self.weight), low, high)
            return np.asarray(self.weight * at**2 - slope * at)
        steep = self.weight - slope
        return np.asarray(steep * np.where(steep >= 0.0, low, high))

    def wrong(self, change: FloatArray) -> str | None:
        """Explain why the changed table is no adjustment, from its values; None if it is."""
        table = self.table
        if self.whole and (change != np.round(change)).any():
            return f"cell {int(np.argmax(change != np.round(change)))} changes by no whole number"
        adjusted = table.value + change
        sums, terms = table.relations @ adjusted, abs(table.relations) @ np.abs(adjusted)
        off = np.abs(sums) > (0.5 if self.whole else 1e-7) * np.maximum(1.0, 0.0 if self.whole else terms)
        if off.any():
            return f"relation {int(np.argmax(off))} does not add up"
        room = 1e-9 * np.maximum(1.0, np.abs(table.value))
        outside = (adjusted < table.lower - room) | (adjusted > table.upper + room)
        if outside.any():
            return f"cell {int(np.argmax(outside))} is outside its bounds"
        if (table.fixed & (change != 0)).any():
            return f"cell {int(np.argmax(table.fixed & (change != 0)))} is always published, and was changed"
        up = (self.least_up > 0) & (change >= self.least_up * (1.0 - FAR))
        down = (self.least_down > 0) & (-change >= self.least_down * (1.0 - FAR))
        near = table.primary & ~(up | down)
        return f"cell {int(np.argmax(near))} is nearer than its level" if near.any() else None


def _refuse(title: Callable[[int], str], wrong: BoolArray, why: str) -> None:
    if wrong.any():
        raise FormulationError(f"{title(int(np.argmax(wrong)))}: {why}")
