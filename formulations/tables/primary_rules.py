"""Which cells are sensitive: who could compute what a respondent contributed, and how closely.

Contributions x_1 >= x_2 >= ... of the respondents of a cell sum to its total X (Hundepool et al. 2012,
Statistical Disclosure Control, section 4.2; Handbook on SDC, chapter 4).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkrisk.formulations.errors import FormulationError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Contributions:
    """What respondents contribute to each cell.

    Attributes
    ----------
    total : ndarray of float64, shape (n,)
    largest : ndarray of float64, shape (n, w)
        The w largest contributions, the largest first; 0 where there are fewer.
    respondents : ndarray of int64, shape (n,)
    """

    total: FloatArray
    largest: FloatArray
    respondents: IntArray


class PrimaryRule(ABC):
    """Says which cells are sensitive, and how far an attacker must be kept from their values."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many of the largest contributions it looks at."""

    @abstractmethod
    def lacking(self, cells: Contributions) -> FloatArray:
        """By how much each cell is too close, shape (n,): above 0 where it is sensitive.

        That is the protection level: were the rest of the cell larger by so much, it would not be sensitive
        (Handbook on SDC, section 4.2.2).
        """


@dataclass(frozen=True)
class PPercentRule(PrimaryRule):
    """The p % rule: the second largest respondents must not know the largest one to p %.

    A cell is sensitive when ``X - x_1 - ... - x_(m+1) < p/q x_1``: m intruders together know their own
    contributions, and all others beforehand to q %.

    Attributes
    ----------
    percent : float
        p, above 0.
    prior : float
        q, above p and at most 100.
    intruders : int
        m, from 1.

    Raises
    ------
    FormulationError
        If one is not in its range.
    """

    percent: float
    prior: float = 100.0
    intruders: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.percent < self.prior <= 100:
            raise FormulationError(
                f"the rule p = {self.percent:g} %, q = {self.prior:g} % is none: it needs 0 < p < q <= 100"
            )
        if self.intruders < 1:
            raise FormulationError(f"a coalition of {self.intruders} intruders is none; give at least 1")

    @property
    def width(self) -> int:
        """The largest, and the intruders."""
        return 1 + self.intruders

    def lacking(self, cells: Contributions) -> FloatArray:
        """See `PrimaryRule.lacking`."""
        rest = cells.total - cells.largest[:, : self.width].sum(axis=1)
        return np.asarray(self.percent / self.prior * cells.largest[:, 0] - rest, dtype=np.float64)


@dataclass(frozen=True)
class DominanceRule(PrimaryRule):
    """The (n, k) rule: the n largest respondents must not have more than k % of a cell.

    Attributes
    ----------
    number : int
        n, from 1.
    percent : float
        k, between 0 and 100.

    Raises
    ------
    FormulationError
        If one is not in its range.
    """

    number: int
    percent: float

    def __post_init__(self) -> None:
        if self.number < 1 or not 0 < self.percent < 100:
            raise FormulationError(
                f"the rule ({self.number}, {self.percent:g}) is none: it needs n >= 1 and 0 < k < 100"
            )

    @property
    def width(self) -> int:
        """The n largest."""
        return self.number

    def lacking(self, cells: Contributions) -> FloatArray:
        """See `PrimaryRule.lacking`."""
        dominant = cells.largest[:, : self.number].sum(axis=1)
        return np.asarray(dominant / (self.percent / 100.0) - cells.total, dtype=np.float64)


@dataclass(frozen=True)
class FrequencyRule(PrimaryRule):
    """Fewer than n respondents are sensitive; the level is a share of the value.

    Attributes
    ----------
    least : int
        n, from 1.
    range_percent : float
        The protection level in % of the value.

    Raises
    ------
    FormulationError
        If one is not in its range.
    """

    least: int
    range_percent: float = 20.0

    def __post_init__(self) -> None:
        if self.least < 1 or not 0 < self.range_percent <= 100:
            raise FormulationError(
                f"at least {self.least} respondents with a range of {self.range_percent:g} % is no rule: it "
                "needs n >= 1 and 0 < range <= 100"
            )

    @property
    def width(self) -> int:
        """It only counts."""
        return 1

    def lacking(self, cells: Contributions) -> FloatArray:
        """See `PrimaryRule.lacking`."""
        few = (cells.respondents > 0) & (cells.respondents < self.least)
        return np.where(few, self.range_percent / 100.0 * np.abs(cells.total), 0.0)


def sensitive(rules: tuple[PrimaryRule, ...], cells: Contributions) -> tuple[BoolArray, FloatArray]:
    """Which cells are sensitive by some rule, and the largest of their levels, both of shape (n,)."""
    found = np.zeros(cells.total.size)
    for rule in rules:
        found = np.maximum(found, np.where(cells.respondents > 0, rule.lacking(cells), 0.0))
    slack = 1e-9 * np.maximum(1.0, np.abs(cells.total))  # sums of decimals
    unsafe = found > slack
    return unsafe, np.where(unsafe, found, 0.0)
