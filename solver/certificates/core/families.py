"""Defines families of distances in integers: their features, constraints, and tests of infeasibility.

With attribute distances c of the partner, c+ up to which a rival ties with it, and d of a rival, parameters
theta link the block when ``(features(d) - features(c+)) . theta > 0`` for every rival. That vector is the
*constraint* of block and rival.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement
from typing import Any, ClassVar

from .claims import Claim, MalformedError, Problem, require
from .records import CANCELLATION, TIE, Partner

Vector = list[int]

Multipliers = Sequence[Sequence[int]]  # (A, k, y): y times ``mu(A + k) >= mu(A)``; subsets are bit masks

SLACK = Fraction(1, 10**9)  # tolerance of a sum that should be one: a common factor changes no comparison

MOST_ATTRIBUTES = 12  # of a measure whose values are listed


class Family(ABC):
    """Family of distances on n attributes.

    `title`, with options the `words`, follows "no" in messages; `keys` are those of the parameters in the
    JSON, `differences` the kinds of attribute distances for which it is defined. On a `simplex` the
    parameters are nonnegative weights that sum to one. Ties are `squares` whatever the attribute distances
    are; constraints are in units of ``2**-shift`` features, which are multiplied by `factor` to be integral,
    such as the denominator of a mean. `orders` are the lexicographic orders among its limits: False for
    attributes, True for ranks.
    """

    title: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    differences: ClassVar[tuple[str, ...]] = ("squared", "absolute")
    simplex: ClassVar[bool] = False
    squares: ClassVar[bool] = False
    shift: ClassVar[int] = TIE
    orders: tuple[bool, ...] = ()

    def __init__(self, attributes: Sequence[str]) -> None:
        self.attributes, self.n, self.words = list(attributes), len(attributes), self.title

    @classmethod
    def of(cls, attributes: Sequence[str], options: Mapping[str, Any]) -> Family:
        """Return the family with the options of a fit."""
        require(not options, f"aggregator_options: a {cls.title} takes no options")
        return cls(attributes)

    @property
    def factor(self) -> int:
        """Factor that makes features integral."""
        return 1

    @cached_property
    def dimension(self) -> int:
        """Number of parameters, which is that of the features."""
        return len(self.features([0] * self.n))

    @abstractmethod
    def features(self, c: Sequence[int]) -> Vector:
        """Return the features of attribute distances, times `factor`."""

    def constraint(self, partner: Partner, rival: Sequence[int]) -> Vector:
        """Return the constraint that parameters must satisfy for the rival not to prevent the link."""
        tied, other = self.features(partner.tied), self.features(rival)
        return [(b << self.shift) - a for a, b in zip(tied, other, strict=True)]

    def never(self, partner: Partner, rival: Sequence[int]) -> bool:
        """Tell whether the rival prevents the link for all parameters."""
        return self.nowhere_positive(self.constraint(partner, rival), (), 0)

    @abstractmethod
    def nowhere_positive(self, vector: Vector, multipliers: Multipliers, total: int) -> bool:
        """Prove ``vector . theta <= 0`` on the domain by weak duality with these multipliers."""

    @abstractmethod
    def parameters(self, claim: Claim) -> list[Fraction]:
        """Return the exact parameters of a fit; reject those outside of the domain."""

    def named(self, claim: Claim, names: Sequence[str]) -> list[Fraction]:
        """Read a number for each of these names, and no other, by the first key."""
        given = claim.inner(self.keys[0])
        first = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        known = sorted(given.entries()) == sorted(names)
        given.require(known, f" must name the {len(names)} it should have: {first}")
        return [given.exact(name) for name in names]

    def named_subsets(self, claim: Claim, subsets: Sequence[Sequence[int]]) -> list[Fraction]:
        """Read the numbers of subsets, whose names are attributes joined by commas."""
        return self.named(claim, [",".join(self.attributes[k] for k in subset) for subset in subsets])


class Weights(Family):
    """Families parametrised by weights: the weighted mean, OWA, the 2-additive integral."""

    simplex = True
    keys: ClassVar[tuple[str, ...]] = ("weights",)

    def nowhere_positive(self, vector: Vector, multipliers: Multipliers, total: int) -> bool:
        """Test the vertices of the simplex: no entry may be positive."""
        return not multipliers and total == 0 and max(vector) <= 0

    @property
    def names(self) -> Sequence[str]:
        """Return the names of the weights in the JSON."""
        return self.attributes

    def weights(self, claim: Claim) -> list[Fraction]:
        """Read the weights from the JSON."""
        return self.named(claim, self.names)

    def parameters(self, claim: Claim) -> list[Fraction]:
        """Return the weights, which must sum to one."""
        weights = self.weights(claim)
        claim.demand(min(weights) >= 0, ": a weight is below zero")
        claim.demand(abs(sum(weights, Fraction(-1))) <= SLACK, ": the weights do not sum to one")
        return weights


class WeightedMean(Weights):
    """Weighted mean: ``sum_k p_k c_k``."""

    title = "weighted mean"
    orders = (False,)

    def features(self, c: Sequence[int]) -> Vector:
        """Return the attribute distances."""
        return list(c)


class OrderedWeightedAverage(Weights):
    """Ordered weighted average: ``sum_r w_r c_(r)``, the largest attribute distance first."""

    title = "ordered weighted average"
    orders = (True,)

    @property
    def names(self) -> Sequence[str]:
        """Return the names of the ranks."""
        return [str(rank + 1) for rank in range(self.n)]

    def features(self, c: Sequence[int]) -> Vector:
        """Return the attribute distances in descending order."""
        return sorted(c, reverse=True)


class TwoAdditive(Weights):
    """2-additive Choquet integral: a mean of ``c_k``, ``min(c_k, c_l)`` and ``max(c_k, c_l)``.

    The extreme points of the 2-additive measures use one attribute, or the smaller or the larger of two
    (Miranda, Grabisch and Gil 2006).
    """

    title = "Choquet integral"
    keys = ("moebius", "measure")

    def __init__(self, attributes: Sequence[str], k: int = 2) -> None:
        super().__init__(attributes)
        self.words = f"{k}-additive {self.title}"  # any measure on two attributes is 2-additive
        self.orders = (False, True) if self.n <= 2 else (False,)

    def features(self, c: Sequence[int]) -> Vector:
        """Return the attribute distances, minima of pairs, and maxima of pairs."""
        pairs = list(combinations(c, 2))
        return [*c, *map(min, pairs), *map(max, pairs)]

    def weights(self, claim: Claim) -> list[Fraction]:
        """Convert Moebius coefficients to weights: ``-min(c, d) = max(c, d) - c - d``."""
        moebius = self.named_subsets(claim, small_subsets(self.n, 2))
        single, pairs = moebius[: self.n], moebius[self.n :]
        low, high = ([max(sign * value, Fraction(0)) for value in pairs] for sign in (1, -1))
        for ends, value in zip(combinations(range(self.n), 2), high, strict=True):
            for k in ends:
                single[k] -= value
        return [*single, *low, *high]


class Measure(Family):
    """Choquet integrals over monotone measures.

    Parameters belong to `subsets`, with bit masks `masks` and bounds `limits`. They are `summed` to one if
    they are Moebius coefficients; multipliers begin at subset `smallest`.
    """

    title = "Choquet integral"
    smallest: ClassVar[int]
    summed: ClassVar[bool]

    def __init__(
        self, attributes: Sequence[str], subsets: list[tuple[int, ...]], limits: list[tuple[int, int]]
    ) -> None:
        super().__init__(attributes)
        self.subsets, self.limits = subsets, limits
        self.masks = [sum(1 << at for at in subset) for subset in subsets]
        self.orders = (False, True) if len(subsets[-1]) == self.n else (False,)

    @abstractmethod
    def add(self, row: Vector, subset: int, attribute: int, times: int) -> None:
        """Add a multiple of ``mu(A + k) - mu(A)`` to the coefficients of the parameters."""

    @abstractmethod
    def values(self, theta: Sequence[Fraction]) -> list[Fraction]:
        """Return the measure of each subset, by bit mask."""

    def never(self, partner: Partner, rival: Sequence[int]) -> bool:
        """Tell whether the rival exceeds the tie on no attribute: monotone distances then do not grow."""
        return all(b << TIE <= a for a, b in zip(partner.tied, rival, strict=True))

    def nowhere_positive(self, vector: Vector, multipliers: Multipliers, total: int) -> bool:
        """Prove it by the multipliers of monotonicity, then the bounds of each parameter."""
        rest = [value - total for value in vector]
        for subset, attribute, y in multipliers:
            outside = 0 <= attribute < self.n and subset < 2**self.n and not subset >> attribute & 1
            if y < 0 or subset < self.smallest or not outside:
                return False
            self.add(rest, subset, attribute, y)
        ends = zip(rest, self.limits, strict=True)
        most = total + sum(max(value * low, value * high) for value, (low, high) in ends)
        return most <= 0 and (total == 0 or self.summed)

    def parameters(self, claim: Claim) -> list[Fraction]:
        """Return the parameters of a monotone measure with value 1 for all attributes."""
        theta = self.named_subsets(claim, self.subsets)
        measure = self.values(theta)
        claim.demand(abs(measure[-1] - 1) <= SLACK, ": the measure of all attributes is not one")
        for mask, value in enumerate(measure):
            for more in (mask | 1 << k for k in range(self.n)):
                where = f": the measure is not monotone from subset {mask:b} to {more:b}"
                claim.demand(measure[more] >= value, where)
        return theta


class Choquet(Measure):
    """Choquet integral over all monotone measures; parameter A - 1 is mu(A) for the bit mask A."""

    keys = ("measure",)
    smallest, summed = 1, False

    def __init__(self, attributes: Sequence[str]) -> None:
        all_, masks = range(len(attributes)), range(1, 2 ** len(attributes))
        limits = [(0, 1)] * (len(masks) - 1) + [(1, 1)]  # that of all attributes is 1
        super().__init__(attributes, [tuple(k for k in all_ if mask >> k & 1) for mask in masks], limits)

    @classmethod
    def of(cls, attributes: Sequence[str], options: Mapping[str, Any]) -> Family:
        """Return the k-additive family if the option ``k_additive`` is set."""
        k, n = options.get("k_additive"), len(attributes)
        known = set(options) <= {"k_additive"} and (k is None or (type(k) is int and k > 1))
        require(known, "aggregator_options: choquet takes k_additive, of at least 2")
        if k is not None and min(k, n) <= 2:
            return TwoAdditive(attributes, k)
        require(n <= MOST_ATTRIBUTES, f"attributes: a measure on {n} has too many subsets")
        return cls(attributes) if k is None else KAdditive(attributes, k)

    def features(self, c: Sequence[int]) -> Vector:
        """Return ``c_s(i) - c_s(i-1)`` at the set of attributes that are at least ``c_s(i)``."""
        subset = 2**self.n - 1
        row, before = [0] * subset, 0
        for k in sorted(range(self.n), key=lambda k: c[k]):
            row[subset - 1] += c[k] - before
            before = c[k]
            subset ^= 1 << k
        return row

    def add(self, row: Vector, subset: int, attribute: int, times: int) -> None:
        """Change the values of two subsets."""
        row[(subset | 1 << attribute) - 1] += times
        row[subset - 1] -= times

    def values(self, theta: Sequence[Fraction]) -> list[Fraction]:
        """Return the parameters, which are the values."""
        return [Fraction(0), *theta]


class KAdditive(Measure):
    """K-additive integral for k of 3 or more: Moebius coefficients of at most k attributes."""

    keys = ("moebius", "measure")
    smallest, summed = 0, True

    def __init__(self, attributes: Sequence[str], k: int) -> None:
        subsets = small_subsets(len(attributes), k)
        # Those of a monotone measure lie within ``2**(size - 1)``.
        limits = [(0 if len(one) == 1 else -(1 << len(one) - 1), 1 << len(one) - 1) for one in subsets]
        super().__init__(attributes, subsets, limits)
        self.words = f"{k}-additive {self.title}"

    def features(self, c: Sequence[int]) -> Vector:
        """Return the smallest attribute distance of each subset."""
        return [min(c[k] for k in subset) for subset in self.subsets]

    def add(self, row: Vector, subset: int, attribute: int, times: int) -> None:
        """Add coefficients of the subsets of ``A + k`` that contain k."""
        whole, own = subset | 1 << attribute, 1 << attribute
        for at, mask in enumerate(self.masks):
            if mask & own and not mask & ~whole:
                row[at] += times

    def values(self, theta: Sequence[Fraction]) -> list[Fraction]:
        """Sum the coefficients of subsets."""
        return subset_sums(dict(zip(self.masks, theta, strict=True)), self.n)


class QuadraticForm(Family):
    """Quadratic form: ``c' M c``, M positive semidefinite of trace one; parameters are its upper triangle.

    A constraint is a symmetric matrix G, with ``<G, M> > 0`` where the rival is farther; off-diagonal
    parameters combine two entries. Ties are on the diagonal. `cells` are the upper triangle, row by row.
    `cancelled` bounds the effect of cancelling terms on a rival's distance, as a share of its squares, times
    ``2**shift``.
    """

    title = "Mahalanobis-type form"
    keys = ("matrix",)
    differences = ("signed", "absolute")
    squares = True
    shift = CANCELLATION
    orders = (False,)

    def __init__(self, attributes: Sequence[str]) -> None:
        super().__init__(attributes)
        self.cells = list(combinations_with_replacement(range(self.n), 2))
        self.cancelled = self.n * (self.n + 2)

    def features(self, c: Sequence[int]) -> Vector:
        """Return the products of attribute distances."""
        return [c[k] * c[m] * (1 if k == m else 2) for k, m in self.cells]

    def constraint(self, partner: Partner, rival: Sequence[int]) -> Vector:
        """Return the matrix G, less the possible effect of cancelling terms of the rival."""
        pairs = zip(self.features(partner.distances), self.features(rival), strict=True)
        found = [(b - a) << self.shift for a, b in pairs]
        for at, (k, m) in enumerate(self.cells):
            if k == m:
                square = rival[k] ** 2
                lost = self.cancelled * square + (partner.tied[k] << self.shift - TIE)
                found[at] = (square << self.shift) - lost
        return found

    def nowhere_positive(self, vector: Vector, multipliers: Multipliers, total: int) -> bool:
        """Test whether the matrix, twice, is negative semidefinite."""
        matrix = [[0] * self.n for _ in range(self.n)]
        for (k, m), value in zip(self.cells, vector, strict=True):
            matrix[k][m] = matrix[m][k] = 2 * value if k == m else value
        return not multipliers and total == 0 and is_negative_semidefinite(matrix)

    def parameters(self, claim: Claim) -> list[Fraction]:
        """Return the upper triangle of a positive semidefinite matrix of trace one."""
        given, n = claim.inner(self.keys[0]), self.n
        rows = [[one.exact() for one in row.each(length=n)] for row in given.each(length=n)]
        given.demand(all(rows[k][m] == rows[m][k] for k, m in self.cells), ": it is not symmetric")
        trace = sum((rows[k][k] for k in range(n)), Fraction(0))
        given.demand(abs(trace - 1) <= SLACK, ": the trace is not one")
        unit = max(value.denominator for row in rows for value in row)
        lifted = [[-int(value * unit) for value in row] for row in rows]
        given.demand(is_negative_semidefinite(lifted), ": it is not positive semidefinite")
        return [rows[k][m] for k, m in self.cells]


def is_negative_semidefinite(matrix: list[Vector]) -> bool:
    """Test ``x' G x <= 0`` for all x by fraction-free elimination of ``-G`` (Bareiss 1968)."""
    rest = [[-value for value in row] for row in matrix]
    size, before = len(rest), 1
    for k in range(size):
        pivot = rest[k][k]
        if pivot < 0 or (pivot == 0 and any(rest[k][k:])):
            return False
        if pivot == 0:
            continue
        for i in range(k + 1, size):
            for j in range(i, size):
                rest[i][j] = (rest[i][j] * pivot - rest[k][i] * rest[k][j]) // before
        before = pivot
    return True


FAMILIES: dict[str, type[Family]] = {
    "weighted-mean": WeightedMean,
    "owa": OrderedWeightedAverage,
    "choquet": Choquet,
    "mahalanobis": QuadraticForm,
}  # by the names of aggregators


def family_of(problem: Problem, where: str = "the fit") -> Family:
    """Return the family of a problem; messages name it by `where`."""
    name = problem.aggregator
    require(name in FAMILIES, f"{where}, aggregator must be one of {', '.join(FAMILIES)}")
    try:
        family = FAMILIES[name].of(problem.attributes, problem.options)
    except MalformedError as error:
        raise MalformedError(f"{where}, {error}") from None
    known = problem.differences in family.differences
    require(known, f"{where}: {name} takes no {problem.differences} differences")
    return family


def subset_sums(values: Mapping[int, Fraction], n: int, sign: int = 1) -> list[Fraction]:
    """Return the sum over the subsets of each set, by bit mask; the sign -1 inverts this."""
    table = [values.get(mask, Fraction(0)) for mask in range(2**n)]
    for k in range(n):
        for mask in range(2**n):
            if mask >> k & 1:
                table[mask] += sign * table[mask ^ 1 << k]
    return table


def small_subsets(n: int, k: int) -> list[tuple[int, ...]]:
    """List the subsets of one to k of n attributes, by size."""
    return [subset for size in range(1, min(k, n) + 1) for subset in combinations(range(n), size)]
