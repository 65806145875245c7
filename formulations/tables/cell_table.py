"""States a table: cells, their values, and publicly known linear relations between them.

Hierarchies, margins and linked tables are all relations: ``sum of coefficient * value = 0``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.errors import FormulationError

_CLOSE = 1e-9
"""Residual of a relation allowed for rounded decimals, relative to the sizes of all its terms."""


_DIGITS = 4.0 * float(np.finfo(np.float64).eps)
"""Rounding error of a difference between bound and value, relative to the bound: 0.3 - 0.1 is less than 0.2.
"""


@dataclass(frozen=True, eq=False)
class Insider:
    """Attacker with additional knowledge of some cells: a contributor or a coalition.

    Attributes
    ----------
    name : str
    cells : ndarray of int64, shape (k,)
    lower, upper : ndarray of float64, shape (k,)
        Their bounds on these cells; equal for cells known exactly.
    lowered : mapping of (int, bool, bool) to float
        Levels of cells, up, down or sliding, that are lowered for them: no pattern could do more.
    """

    name: str
    cells: LongArray
    lower: FloatArray
    upper: FloatArray
    lowered: Mapping[tuple[int, bool, bool], float] = field(default_factory=dict)


def _by_number(cell: int) -> str:
    return f"cell {cell}"


@dataclass(frozen=True, eq=False, kw_only=True)
class CellTable:
    """Cells with values and relations, and their protection requirements.

    Attributes
    ----------
    value : ndarray of float64, shape (n,)
    relations : scipy.sparse.csr_array, shape (m, n)
        Coefficients M: ``M value = 0``.
    lower, upper : ndarray of float64, shape (n,)
        Public bounds of every cell: ``lower <= value <= upper``.
    primary : ndarray of bool, shape (n,)
        Sensitive cells, which are never published.
    fixed : ndarray of bool, shape (n,)
        Cells that are always published.
    cost : ndarray of float64, shape (n,)
        Loss of information if a cell is suppressed.
    lower_level, upper_level : ndarray of float64, shape (n,)
        Of a primary cell: an attacker must not be able to exclude the values from ``value - lower_level`` to
        ``value + upper_level``. 0 elsewhere.
    sliding_level : ndarray of float64, shape (n,)
        Of a primary cell: how wide the interval that an attacker finds must be at least.
    insiders : tuple of Insider
        Attackers besides the outsider, who has public knowledge only.
    counts : bool
        Whether the values are counts, so that attackers reason in whole numbers.
    rule_level : ndarray of float64, shape (n,), optional
        Of counts: the part of `upper_level` that has to be reached; the rest, up to the threshold of a rule,
        as far as it can be.
    title : callable
        Name of a cell in messages, by its number.

    Raises
    ------
    FormulationError
        If relations do not add up, a value is outside its bounds, a level is negative or cannot be reached,
        or a cell is both primary and fixed; the message names the first one.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from linkrisk.tables import CellTable
    >>> value, none = np.array([9.0, 4.0, 5.0]), np.zeros(3)
    >>> table = CellTable(
    ...     value=value,
    ...     relations=sparse.csr_array([[-1.0, 1.0, 1.0]]),
    ...     lower=none,
    ...     upper=2 * value,
    ...     primary=none > 0,
    ...     fixed=none > 0,
    ...     cost=value,
    ...     lower_level=none,
    ...     upper_level=none,
    ...     sliding_level=none,
    ... )
    >>> float((table.relations @ table.value).item())
    0.0
    """

    value: FloatArray
    relations: sparse.csr_array
    lower: FloatArray
    upper: FloatArray
    primary: BoolArray
    fixed: BoolArray
    cost: FloatArray
    lower_level: FloatArray
    upper_level: FloatArray
    sliding_level: FloatArray
    insiders: tuple[Insider, ...] = ()
    counts: bool = False
    rule_level: FloatArray | None = None
    title: Callable[[int], str] = _by_number

    def __post_init__(self) -> None:
        check_sums(self.relations, self.value)
        within = (self.lower <= self.value) & (self.value <= self.upper)
        self._refuse(~within, "its value is outside its bounds; correct it, or them")
        self._refuse(self.primary & self.fixed, "it is both sensitive and always published; choose one")
        self._refuse(~(self.cost >= 0), "its cost is below 0; give it 0 or more")
        levels = (self.lower_level, self.upper_level, self.sliding_level)
        for level in levels:
            self._refuse(~(level >= 0), "a protection level is below 0; give it 0 or more")
            self._refuse(
                (level > 0) & ~self.primary, "it has a protection level, but is not sensitive; choose one"
            )
        size = np.abs(self.value)
        below = self.value - self.lower + _DIGITS * np.maximum(size, np.abs(self.lower))
        above = self.upper - self.value + _DIGITS * np.maximum(size, np.abs(self.upper))
        beyond = "is beyond what everybody knows of it; lower it, or widen the bounds"
        self._refuse(self.lower_level > below, f"its lower protection level {beyond}")
        self._refuse(self.upper_level > above, f"its upper protection level {beyond}")
        self._refuse(self.sliding_level > below + above, f"its sliding level {beyond}")

    def _refuse(self, wrong: BoolArray, why: str) -> None:
        if wrong.any():
            raise FormulationError(f"{self.title(int(np.argmax(wrong)))}: {why}")

    def __len__(self) -> int:
        return int(self.value.size)

    def seen_by(self, insider: Insider) -> Self:
        """Return the table as an insider sees it: with narrower bounds, and no protection of cells they know.

        Programs, constraints and audit of an insider are those of an outsider on this view. Levels beyond the
        insider's own uncertainty are cut to it, since no pattern can do more.
        """
        at = insider.cells
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[at], upper[at] = np.maximum(lower[at], insider.lower), np.minimum(upper[at], insider.upper)
        unknown = lower < upper
        below, above = self.value - lower, upper - self.value
        levels = {
            (False, True): np.where(unknown, np.minimum(self.lower_level, below), 0.0),
            (True, False): np.where(unknown, np.minimum(self.upper_level, above), 0.0),
            (True, True): np.where(unknown, np.minimum(self.sliding_level, below + above), 0.0),
        }
        for (cell, up, down), most in insider.lowered.items():
            levels[up, down][cell] = min(levels[up, down][cell], most)
        return replace(
            self,
            lower=lower,
            upper=upper,
            lower_level=levels[False, True],
            upper_level=levels[True, False],
            sliding_level=levels[True, True],
            insiders=(),
        )

    @property
    def below(self) -> FloatArray:
        """How far each value can go down, shape (n,); at least its level, which the bounds must allow."""
        return np.maximum(self.value - self.lower, self.lower_level)

    @property
    def above(self) -> FloatArray:
        """How far each value can go up, shape (n,); at least its level, which the bounds must allow."""
        return np.maximum(self.upper - self.value, self.upper_level)

    @property
    def free(self) -> BoolArray:
        """Cells that may be suppressed, but need not be."""
        return ~(self.primary | self.fixed)

    def cost_of(self, suppressed: BoolArray) -> float:
        """Return the cost of the secondary suppressions."""
        return float(self.cost[suppressed & self.free].sum())

    @cached_property
    def demands(self) -> tuple[Demand, ...]:
        """Protection requirements, cell by cell."""
        found = []
        for cell in np.flatnonzero(self.primary):
            for level, up, down in (
                (self.upper_level[cell], 1.0, 0.0),
                (self.lower_level[cell], 0.0, 1.0),
                (self.sliding_level[cell], 1.0, 1.0),
            ):
                if level > 0:
                    found.append(Demand(int(cell), float(level), bool(up), bool(down)))
        return tuple(found)


@dataclass(frozen=True)
class Demand:
    """Protection requirement: how far an attacker must consider a cell possible from its value.

    Attributes
    ----------
    cell : int
    level : float
        Above 0.
    up, down : bool
        Whether the way up counts, the way down, or the sum of both.
    """

    cell: int
    level: float
    up: bool
    down: bool


def check_sums(relations: sparse.csr_array, value: FloatArray) -> None:
    """Refuse relations that do not add up.

    Raises
    ------
    FormulationError
        It names the first one, and by how much.
    """
    wrong = unbalanced(relations, value)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise FormulationError(
            f"relation {at} does not add up: its terms sum to {(relations @ value)[at]:g}; correct its "
            "cells, or leave it out"
        )


def unbalanced(relations: sparse.csr_array, value: FloatArray) -> BoolArray:
    """Tell which relations have a sum other than 0, beyond rounded decimals; shape (m,)."""
    largest = abs(relations) @ np.abs(value)
    return np.asarray(np.abs(relations @ value) > _CLOSE * largest, dtype=np.bool_)
