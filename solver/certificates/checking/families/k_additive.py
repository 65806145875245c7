"""The k-additive Choquet integrals in whole numbers: interactions of at most k attributes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.certificates.checking.box_kernels import PAIRS
from linkrisk.solver.certificates.checking.families.base import Interaction, Row
from linkrisk.solver.certificates.checking.families.measures import (
    MOST_ATTRIBUTES,
    MeasureFamily,
    check_measure,
    measure_of_moebius,
    subset_names,
)
from linkrisk.solver.certificates.checking.families.simplex import SimplexFamily
from linkrisk.solver.certificates.checking.fields import Fields
from linkrisk.solver.certificates.checking.parameters import check_weights, named_numbers
from linkrisk.solver.certificates.checking.shapes import Shape
from linkrisk.solver.certificates.core.families import small_subsets
from linkrisk.solver.run.errors import UsageError


class KAdditive(MeasureFamily):
    """The k-additive Choquet integral for k of 3 or more: Moebius coefficients of at most k attributes.

    Parameters
    ----------
    attributes : int
    k : int
    """

    title: ClassVar[str] = "k-additive Choquet integral"
    keys: ClassVar[tuple[str, ...]] = ("moebius", "measure")
    smallest: ClassVar[int] = 0
    summed: ClassVar[bool] = True

    def __init__(self, attributes: int, k: int) -> None:
        super().__init__(attributes)
        self.k = k
        self.subsets = small_subsets(attributes, k)
        self.masks = [sum(1 << k for k in subset) for subset in self.subsets]

    @property
    def words(self) -> str:
        """With its k."""
        return f"{self.k}-additive Choquet integral"

    @property
    def dimension(self) -> int:
        """Subsets of one to k attributes."""
        return len(self.subsets)

    @property
    def orders(self) -> tuple[bool, ...]:
        """Both, where k does not restrict."""
        return (False, True) if len(self.subsets[-1]) == self.attributes else (False,)

    def features(self, c: Sequence[int]) -> Row:
        """The smallest attribute distance of each subset."""
        return [min(c[k] for k in subset) for subset in self.subsets]

    @property
    def limits(self) -> list[tuple[int, int]]:
        """Those of the Moebius coefficients of a monotone measure with ``mu(V) = 1``."""
        most = [1 << (mask.bit_count() - 1) for mask in self.masks]
        return [(0 if size == 1 else -size, size) for size in most]

    def add(self, row: Row, subset: int, attribute: int, times: int) -> None:
        """Coefficients of the subsets of ``A + k`` that hold k."""
        whole, own = subset | (1 << attribute), 1 << attribute
        for at, mask in enumerate(self.masks):
            if mask & own and not mask & ~whole:
                row[at] += times

    def distance(self, theta: FloatArray, c: FloatArray) -> FloatArray:
        """The sum of coefficient times smallest attribute distance."""
        smallest = np.stack([c[:, list(subset)].min(axis=1) for subset in self.subsets], axis=1)
        return np.asarray(smallest @ theta)

    def parameters(self, fields: Fields, attributes: Sequence[str]) -> list[Fraction]:
        """The Moebius coefficients of a monotone measure."""
        moebius = named_numbers(fields, "moebius", subset_names(attributes, self.subsets))
        check_measure(self.table(moebius), fields.where)
        return moebius

    def table(self, theta: Sequence[Fraction]) -> list[Fraction]:
        """The measure that has these coefficients."""
        return measure_of_moebius(theta, self.masks, self.attributes)

    def measure(self, theta: Sequence[Fraction]) -> list[Fraction]:
        """It is shown beside the coefficients."""
        return self.table(theta)


class TwoAdditive(SimplexFamily):
    """The 2-additive Choquet integral: a mean of ``c_k``, ``min(c_k, c_l)`` and ``max(c_k, c_l)``.

    The extreme points of the 2-additive measures look at one attribute, or at the smaller or larger of two
    (Miranda, Grabisch and Gil 2006).

    Parameters
    ----------
    attributes : int
    k : int
        As it was asked for: on two attributes, every measure is 2-additive.
    """

    title: ClassVar[str] = "2-additive Choquet integral"
    keys: ClassVar[tuple[str, ...]] = ("moebius", "measure")

    def __init__(self, attributes: int, k: int = 2) -> None:
        super().__init__(attributes)
        self.k = k

    @property
    def words(self) -> str:
        """With its k."""
        return f"{self.k}-additive Choquet integral"

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

    def rounded(self, c: FloatArray) -> FloatArray:
        """The same."""
        first, second = np.triu_indices(c.shape[1], 1)
        low, high = np.minimum(c[:, first], c[:, second]), np.maximum(c[:, first], c[:, second])
        return np.hstack([c, low, high])

    def shape(self, theta: Sequence[Fraction]) -> Shape:
        """The mean itself: a measure of many attributes would have too many values."""
        weights = np.array([[float(value) for value in theta]])
        scale, pairs = weights[0, : self.attributes].copy(), combinations(range(self.attributes), 2)
        for at, pair in enumerate(pairs, start=self.attributes):
            scale[list(pair)] += (weights[0, at] + weights[0, at + comb(self.attributes, 2)]) / 2.0
        return Shape(PAIRS, weights, scale)

    def names(self, attributes: Sequence[str]) -> Sequence[str]:
        """Subsets of one and two attributes, whose Moebius coefficients are written down."""
        return subset_names(attributes, small_subsets(len(attributes), 2))

    def parameters(self, fields: Fields, attributes: Sequence[str]) -> list[Fraction]:
        """Weights of single attributes, minima and maxima: ``-min(c, d) = max(c, d) - c - d``."""
        moebius = named_numbers(fields, "moebius", self.names(attributes))
        n = self.attributes
        single = list(moebius[:n])
        low, high = [], []
        for (first, second), value in zip(combinations(range(n), 2), moebius[n:], strict=True):
            low.append(max(value, Fraction(0)))
            high.append(max(-value, Fraction(0)))
            single[first] -= high[-1]
            single[second] -= high[-1]
        theta = [*single, *low, *high]
        check_weights(theta, fields.where)
        return theta

    def importance(self, theta: Sequence[Fraction]) -> list[Fraction]:
        """Half of each minimum and maximum goes to either attribute."""
        shares = list(theta[: self.attributes])
        for k, m, low, high in self._pairs(theta):
            shares[k] += (low + high) / 2
            shares[m] += (low + high) / 2
        return shares

    def interaction(self, theta: Sequence[Fraction]) -> Interaction:
        """The coefficients of pairs."""
        return {(k, m): low - high for k, m, low, high in self._pairs(theta)}

    def measure(self, theta: Sequence[Fraction]) -> list[Fraction]:
        """It is shown beside the coefficients while its subsets can be listed."""
        n = self.attributes
        if n > MOST_ATTRIBUTES:
            raise UsageError(f"a measure on {n} attributes has too many values to be listed")
        masks, values = [1 << k for k in range(n)], list(theta[:n])
        for k, m, low, high in self._pairs(theta):
            values[k] += high
            values[m] += high
            values.append(low - high)
            masks.append(1 << k | 1 << m)
        return measure_of_moebius(values, masks, n)

    def _pairs(self, theta: Sequence[Fraction]) -> list[tuple[int, int, Fraction, Fraction]]:
        """Both attributes of each pair, and the weights of the smaller and of the larger of the two."""
        pairs = list(combinations(range(self.attributes), 2))
        low, high = theta[self.attributes :][: len(pairs)], theta[self.attributes :][len(pairs) :]
        return [(k, m, a, b) for (k, m), a, b in zip(pairs, low, high, strict=True)]
