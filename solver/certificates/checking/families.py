"""The families of distances in whole numbers: features, rows, and when a row is nowhere positive.

With attribute distances c of the partner, c+ up to which a rival ties with it (`ties.py`) and d of a rival,
the block is linked by theta when ``(features(d) - features(c+)) . theta > 0`` for every rival. Ties of a
quadratic form are on its diagonal alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import combinations
from typing import ClassVar

from linkrisk.solver.certificates.checking.semidefinite import is_negative_semidefinite
from linkrisk.solver.certificates.checking.ties import CANCELLATION_SHIFT, TIE_SHIFT, Partner

Multipliers = Sequence[tuple[int, int, int]]
"""(subset A, attribute k, y): y times the inequality ``mu(A + k) >= mu(A)``; subsets are bit masks."""

Row = list[int]


class Family(ABC):
    """A family of distances on n attributes.

    Parameters
    ----------
    attributes : int
        Their number n.

    Attributes
    ----------
    simplex : bool
        Whether the domain is all non-negative parameters that sum to one.
    measures : bool
        Whether cores may combine the inequalities of a monotone measure.
    squares : bool
        Whether ties are squares, whatever the attribute distances are.
    shift : int
        Rows are in units of ``2**-shift`` features.
    """

    simplex: ClassVar[bool] = False
    measures: ClassVar[bool] = False
    squares: ClassVar[bool] = False
    shift: ClassVar[int] = TIE_SHIFT

    def __init__(self, attributes: int) -> None:
        self.attributes = attributes

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Number of parameters."""

    @property
    def orders(self) -> tuple[bool, ...]:
        """Limits of this family: False where it has the weighted means, True where it has those of ranks."""
        return (False,)

    @abstractmethod
    def features(self, c: Sequence[int]) -> Row:
        """Features of attribute distances."""

    def row(self, partner: Partner, rival: Sequence[int]) -> Row:
        """What must be positive for the rival not to keep the block from being linked.

        In units of ``2**-shift`` features.
        """
        tied, other = self.features(partner.tied), self.features(rival)
        return [(b << self.shift) - a for a, b in zip(tied, other, strict=True)]

    def never(self, partner: Partner, rival: Sequence[int]) -> bool:
        """Whether the rival keeps the block from being linked for all parameters.

        A rival that is beyond the ties of no attribute does: the distances of a monotone family do not grow
        unless an attribute distance does.
        """
        return all(b << self.shift <= a for a, b in zip(partner.tied, rival, strict=True))

    @abstractmethod
    def nowhere_positive(self, row: Row, multipliers: Multipliers, total: int) -> bool:
        """Whether ``row . theta <= 0`` on the whole domain, by weak duality with these multipliers.

        `total` is the multiplier of the equation that the Moebius coefficients sum to one.
        """


class WeightedMean(Family):
    """``sum_k p_k c_k``, weights on the simplex."""

    simplex = True

    @property
    def dimension(self) -> int:
        """One weight per attribute."""
        return self.attributes

    def features(self, c: Sequence[int]) -> Row:
        """The attribute distances."""
        return list(c)

    def nowhere_positive(self, row: Row, multipliers: Multipliers, total: int) -> bool:
        """No entry is positive: the corners of the simplex decide."""
        return not multipliers and total == 0 and max(row) <= 0


class OrderedWeightedAverage(WeightedMean):
    """``sum_r w_r c_(r)``, the largest first."""

    @property
    def orders(self) -> tuple[bool, ...]:
        """Itself is of ranks."""
        return (True,)

    def features(self, c: Sequence[int]) -> Row:
        """The attribute distances in descending order."""
        return sorted(c, reverse=True)

    def never(self, partner: Partner, rival: Sequence[int]) -> bool:
        """Rank is compared with rank."""
        ranked = Partner(partner.distances, self.features(partner.tied))
        return super().never(ranked, self.features(rival))


class TwoAdditive(WeightedMean):
    """The 2-additive Choquet integral: a mean of ``c_k``, ``min(c_k, c_l)`` and ``max(c_k, c_l)``.

    The extreme points of the 2-additive measures look at one attribute, or at the smaller or larger of two
    (Miranda, Grabisch and Gil 2006).
    """

    @property
    def dimension(self) -> int:
        """Attributes, and twice the number of their pairs."""
        return self.attributes**2

    @property
    def orders(self) -> tuple[bool, ...]:
        """Both where there are two attributes: any measure on them is 2-additive."""
        return (False, True) if self.attributes <= 2 else (False,)

    def features(self, c: Sequence[int]) -> Row:
        """Attribute distances, minima of pairs, maxima of pairs."""
        pairs = list(combinations(c, 2))
        return [*c, *(min(pair) for pair in pairs), *(max(pair) for pair in pairs)]


class Choquet(Family):
    """The Choquet integral over monotone measures; parameter A - 1 is mu(A) for the bit mask A."""

    measures = True

    @property
    def dimension(self) -> int:
        """One value per non-empty subset."""
        return int(2**self.attributes) - 1

    @property
    def orders(self) -> tuple[bool, ...]:
        """Both: their measures are the additive and the symmetric ones."""
        return (False, True)

    def features(self, c: Sequence[int]) -> Row:
        """``c_s(i) - c_s(i-1)`` at the set of attributes that are at least ``c_s(i)``."""
        row, before, subset = [0] * self.dimension, 0, self.dimension
        for k in sorted(range(self.attributes), key=lambda k: c[k]):
            row[subset - 1] += c[k] - before
            before = c[k]
            subset ^= 1 << k
        return row

    def nowhere_positive(self, row: Row, multipliers: Multipliers, total: int) -> bool:
        """``mu(V) = 1``, all other values within [0, 1]."""
        if total != 0:
            return False
        rest = [0, *row]
        for subset, attribute, y in multipliers:
            if y < 0 or not 0 < subset <= self.dimension or not _outside(subset, attribute, self.attributes):
                return False
            rest[subset | (1 << attribute)] += y
            rest[subset] -= y
        return rest[-1] + sum(value for value in rest[1:-1] if value > 0) <= 0


class KAdditive(Family):
    """The k-additive Choquet integral for k of 3 or more: Moebius coefficients of at most k attributes."""

    measures = True

    def __init__(self, attributes: int, k: int) -> None:
        super().__init__(attributes)
        sizes = range(1, min(k, attributes) + 1)
        self.subsets = [subset for size in sizes for subset in combinations(range(attributes), size)]
        self.masks = [sum(1 << k for k in subset) for subset in self.subsets]

    @property
    def dimension(self) -> int:
        """Subsets of one to k attributes."""
        return len(self.subsets)

    @property
    def orders(self) -> tuple[bool, ...]:
        """Both where k is no restriction."""
        return (False, True) if len(self.subsets[-1]) == self.attributes else (False,)

    def features(self, c: Sequence[int]) -> Row:
        """The smallest attribute distance of each subset."""
        return [min(c[k] for k in subset) for subset in self.subsets]

    def limits(self, mask: int) -> tuple[int, int]:
        """Least and largest Moebius coefficient of a monotone measure with ``mu(V) = 1``."""
        most = 1 << (mask.bit_count() - 1)
        return (0 if most == 1 else -most), most

    def nowhere_positive(self, row: Row, multipliers: Multipliers, total: int) -> bool:
        """The coefficients sum to one and are bounded by `limits`."""
        rest = [value - total for value in row]
        for subset, attribute, y in multipliers:
            if y < 0 or subset < 0 or not _outside(subset, attribute, self.attributes):
                return False
            whole, own = subset | (1 << attribute), 1 << attribute
            for at, mask in enumerate(self.masks):
                if mask & own and not mask & ~whole:
                    rest[at] += y
        bounds = zip(rest, map(self.limits, self.masks), strict=True)
        return total + sum(max(value * low, value * high) for value, (low, high) in bounds) <= 0


class QuadraticForm(Family):
    """``c' M c`` with M positive semidefinite of trace one; parameters are the upper triangle of M.

    Rows hold the entries of a symmetric matrix G, off the diagonal those of one triangle: ``<G, M> > 0``.
    Ties are on the diagonal: there stand ``c+_k`` for ``c_k**2``, and for ``d_k**2`` of the rival a little
    less, as its terms may cancel.
    """

    squares = True
    shift = CANCELLATION_SHIFT

    @property
    def cells(self) -> list[tuple[int, int]]:
        """The upper triangle, row by row."""
        return [(k, m) for k in range(self.attributes) for m in range(k, self.attributes)]

    @property
    def dimension(self) -> int:
        """Entries of the upper triangle."""
        return self.attributes * (self.attributes + 1) // 2

    @property
    def trace(self) -> Row:
        """Coefficients of the trace: also the parameters of the identity."""
        return [int(k == m) for k, m in self.cells]

    def features(self, c: Sequence[int]) -> Row:
        """Products of attribute distances."""
        return [c[k] * c[m] for k, m in self.cells]

    def row(self, partner: Partner, rival: Sequence[int]) -> Row:
        """The matrix G."""
        rows = [
            (b - a) << self.shift
            for a, b in zip(self.features(partner.distances), self.features(rival), strict=True)
        ]
        for at, (k, m) in enumerate(self.cells):
            if k == m:
                lost = self.cancelled * rival[k] ** 2
                rows[at] = (rival[k] ** 2 << self.shift) - lost - (partner.tied[k] << self.shift - TIE_SHIFT)
        return rows

    @property
    def cancelled(self) -> int:
        """Share of a rival's squares that cancelling terms may move its distance by, times ``2**shift``."""
        return self.attributes * (self.attributes + 2)

    def never(self, partner: Partner, rival: Sequence[int]) -> bool:
        """The row itself is nowhere positive."""
        return self.nowhere_positive(self.row(partner, rival), (), 0)

    def nowhere_positive(self, row: Row, multipliers: Multipliers, total: int) -> bool:
        """The matrix is negative semidefinite."""
        if multipliers or total != 0:
            return False
        matrix = [[0] * self.attributes for _ in range(self.attributes)]
        for (k, m), value in zip(self.cells, row, strict=True):
            matrix[k][m] = matrix[m][k] = value
        return is_negative_semidefinite(matrix)


def _outside(subset: int, attribute: int, attributes: int) -> bool:
    """Whether the attribute is one, and not in the subset."""
    return 0 <= attribute < attributes and subset < 2**attributes and not subset >> attribute & 1


def family_of(aggregator: str, attributes: int, k_additive: int | None) -> Family:
    """The family of one of the names in `setting.py`; any measure on two attributes is 2-additive."""
    if aggregator == "weighted-mean":
        return WeightedMean(attributes)
    if aggregator == "owa":
        return OrderedWeightedAverage(attributes)
    if aggregator == "mahalanobis":
        return QuadraticForm(attributes)
    if aggregator != "choquet":
        raise ValueError(f"no family is called {aggregator}")
    if k_additive is None:
        return Choquet(attributes)
    return TwoAdditive(attributes) if min(k_additive, attributes) <= 2 else KAdditive(attributes, k_additive)
