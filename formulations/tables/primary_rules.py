"""Primary rules: mark the cells from which a contribution could be estimated too closely.

Contributions x_1 >= x_2 >= ... of the respondents of a cell sum to its total X (Hundepool et al. 2012,
Statistical Disclosure Control, section 4.2; Handbook on SDC, second edition 2024, section 4.2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.contributions import Contributions

_CLOSE = 1e-9
_USUAL_RANGE = 20.0


class PrimaryRule(ABC):
    """Rule that marks sensitive cells and sets their protection levels.

    Examples
    --------
    >>> from linkrisk.tables import FrequencyRule, PrimaryRule
    >>> isinstance(FrequencyRule(3), PrimaryRule)
    True
    """

    both: ClassVar[bool] = True
    """Whether the level holds below as above, "out of symmetry" (Handbook, section 4.2.2)."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of largest contributions that the rule needs."""

    @abstractmethod
    def lacking(self, cells: Contributions) -> FloatArray:
        """Return by how much each cell is too close, shape (n,): positive where it is sensitive.

        That is the upper protection level: if the rest of the cell were larger by so much, it would not be
        sensitive (Handbook on SDC, section 4.2.2, table of upper protection levels).
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

    Examples
    --------
    >>> from linkrisk.tables import PPercentRule
    >>> PPercentRule(10.0)
    PPercentRule(percent=10.0, prior=100.0, intruders=1)
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
        """The largest, and those of the intruders."""
        return 1 + self.intruders

    def lacking(self, cells: Contributions) -> FloatArray:
        """See `PrimaryRule.lacking`."""
        rest = cells.total - cells.largest[:, : self.width].sum(axis=1)
        return np.asarray((self.percent / self.prior * cells.leading - rest) * cells.scale, dtype=np.float64)


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

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> rule = linkrisk.tables.DominanceRule(number=1, percent=80.0)
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=[rule])
    >>> int((table.cells["status"] == "u").sum())
    1
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
        lacking = dominant / (self.percent / 100.0) - cells.total
        return np.asarray(lacking * cells.scale, dtype=np.float64)


@dataclass(frozen=True)
class FrequencyRule(PrimaryRule):
    """Minimum frequency rule: cells of fewer than n respondents are sensitive.

    A value of 0 discloses that each of them has nothing. Its level is the share of what so many respondents
    have on average (`share_of`).

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

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> rule = linkrisk.tables.FrequencyRule(3)
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=[rule])
    >>> int((table.cells["status"] == "u").sum())
    4
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
        """The rule only counts."""
        return 1

    def lacking(self, cells: Contributions) -> FloatArray:
        """See `PrimaryRule.lacking`."""
        few = (cells.respondents > 0) & (cells.respondents < self.least - _CLOSE)
        return np.where(few, share_of(cells, self.range_percent), 0.0)


@dataclass(frozen=True)
class ZeroRule(PrimaryRule):
    """Zero rule of τ-ARGUS: cells with respondents that are 0 disclose that each contributes nothing.

    There is room upwards only.

    Attributes
    ----------
    range : float
        The upper protection level, in units of the value.

    Raises
    ------
    FormulationError
        If it is not above 0.

    Examples
    --------
    >>> from linkrisk.tables import ZeroRule
    >>> ZeroRule(5.0)
    ZeroRule(range=5.0)
    """

    both: ClassVar[bool] = False
    range: float

    def __post_init__(self) -> None:
        if not self.range > 0:
            raise FormulationError(f"a range of {self.range:g} around zero is none; give one above 0")

    @property
    def width(self) -> int:
        """The rule uses the value only."""
        return 1

    def lacking(self, cells: Contributions) -> FloatArray:
        """See `PrimaryRule.lacking`."""
        zero = (cells.respondents > 0) & (cells.published == 0)
        return np.where(zero, self.range, 0.0)


@dataclass(frozen=True)
class RequestRule(PrimaryRule):
    """Request rule: cells whose largest respondent asked for protection, and is large enough or among few.

    The rule of foreign trade statistics (Regulation (EC) 638/2004, Handbook on SDC, section 4.2.1) as
    τ-ARGUS has it: sensitive where ``x_1 > P/100 X``, with a P for each of two kinds of requests, or where
    there are fewer than n respondents.

    Attributes
    ----------
    percent : tuple of float
        P of who asked for the first and the second kind of protection, each above 0 and at most 100.
    least : int
        n; 0 where only shares count.
    range_percent : float, optional
        The level in % of the value. Where absent, that of the (1, P) rule, ``100/P x_1 - X``, and 20 % where
        only the number of respondents makes the cell sensitive.

    Raises
    ------
    FormulationError
        If one is not in its range.

    Examples
    --------
    >>> from linkrisk.tables import RequestRule
    >>> RequestRule((70.0, 50.0), least=3, range_percent=20.0).percent
    (70.0, 50.0)
    """

    percent: tuple[float, float]
    least: int = 0
    range_percent: float | None = None

    def __post_init__(self) -> None:
        if not all(0 < one <= 100 for one in self.percent) or self.least < 0:
            raise FormulationError(
                f"requests above {self.percent[0]:g} % or {self.percent[1]:g} %, with fewer than "
                f"{self.least} respondents, are no rule: it needs 0 < P <= 100 and n >= 0"
            )
        if self.range_percent is not None and not 0 < self.range_percent <= 100:
            raise FormulationError(f"a range of {self.range_percent:g} % is none; it is above 0, at most 100")

    @property
    def width(self) -> int:
        """The largest."""
        return 1

    def lacking(self, cells: Contributions) -> FloatArray:
        """See `PrimaryRule.lacking`."""
        asked = np.zeros(cells.total.size, dtype=np.int64) if cells.asked is None else cells.asked
        percent = np.where(asked == 2, self.percent[1], self.percent[0])
        lacking = (100.0 / percent * cells.leading - cells.total) * cells.scale
        large = (asked > 0) & (lacking > cells.rounding)
        few = (asked > 0) & (cells.respondents > 0) & (cells.respondents < self.least)
        share = _USUAL_RANGE if self.range_percent is None else self.range_percent
        level = share_of(cells, share)
        if self.range_percent is None:
            return np.maximum(np.where(large, lacking, 0.0), np.where(few, level, 0.0))
        return np.where(large | few, level, 0.0)


def share_of(cells: Contributions, percent: float) -> FloatArray:
    """Return a percentage of each value; for 0, of the average contributions of its respondents, shape (n,).

    The average is that of the cell with most respondents, the total of the table; 1 if that is 0, too.
    """
    most = int(np.argmax(cells.respondents))
    average = abs(float(cells.published[most])) / max(float(cells.respondents[most]), 1.0) or 1.0
    size = np.abs(cells.published)
    return np.asarray(percent / 100.0 * np.where(size == 0, average * cells.respondents, size))


@dataclass(frozen=True, eq=False)
class Sensitive:
    """Result of the primary rules.

    Attributes
    ----------
    unsafe : ndarray of bool, shape (n,)
    lower, upper : ndarray of float64, shape (n,)
        Protection levels; 0 elsewhere.
    """

    unsafe: BoolArray
    lower: FloatArray
    upper: FloatArray


def sensitive(rules: tuple[PrimaryRule, ...], cells: Contributions) -> Sensitive:
    """Mark the cells that some rule finds sensitive, with their largest level; values stay nonnegative."""
    upper, lower = np.zeros(cells.total.size), np.zeros(cells.total.size)
    slack = cells.rounding
    for rule in rules:
        lacking = np.where(cells.respondents > 0, rule.lacking(cells), 0.0)
        lacking = np.where(lacking > slack, lacking, 0.0)
        upper = np.maximum(upper, lacking)
        lower = np.maximum(lower, lacking) if rule.both else lower
    return Sensitive(upper > 0, np.where(cells.published == 0, 0.0, lower), upper)


def least_of(rules: Sequence[PrimaryRule]) -> int:
    """Return the fewest respondents of a cell that is safe by its number; 0 if no rule counts them."""
    return max((rule.least for rule in rules if isinstance(rule, FrequencyRule)), default=0)
