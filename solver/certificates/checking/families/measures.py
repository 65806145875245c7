"""What families share whose parameters are a monotone fuzzy measure, in whole numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np

from linkrisk.solver.certificates.checking.box_kernels import MEASURE
from linkrisk.solver.certificates.checking.families.base import Family, Interaction, Multipliers, Row
from linkrisk.solver.certificates.checking.parameters import SLACK
from linkrisk.solver.certificates.checking.shapes import Shape
from linkrisk.solver.certificates.checking.ties import Partner
from linkrisk.solver.certificates.core.claims import demand

MOST_ATTRIBUTES = 12
"""Of a measure whose values are listed."""


class MeasureFamily(Family):
    """Choquet integrals over monotone measures: cores may combine the inequalities of a measure.

    Attributes
    ----------
    smallest : int
        The smallest subset A of the inequalities ``mu(A + k) >= mu(A)``, as a bit mask.
    summed : bool
        Whether the parameters sum to one, so that cores may use that.
    """

    smallest: ClassVar[int]
    summed: ClassVar[bool]

    @property
    @abstractmethod
    def limits(self) -> list[tuple[int, int]]:
        """Least and largest value of each parameter."""

    @abstractmethod
    def add(self, row: Row, subset: int, attribute: int, times: int) -> None:
        """Add a multiple of ``mu(A + k) - mu(A)`` to coefficients of the parameters, in place."""

    @abstractmethod
    def table(self, theta: Sequence[Fraction]) -> list[Fraction]:
        """The measure of each subset, by bit mask."""

    def shape(self, theta: Sequence[Fraction]) -> Shape:
        """The integral by its measure: an attribute counts by its value and by what it adds."""
        measure = np.array([[float(value) for value in self.table(theta)]])
        alone = np.array([measure[0, 1 << k] for k in range(self.attributes)])
        added = np.array([measure[0, -1] - measure[0, -1 - (1 << k)] for k in range(self.attributes)])
        return Shape(MEASURE, measure, (alone + added) / 2.0)

    @property
    def inequalities(self) -> list[tuple[int, int]]:
        """(subset A, attribute k) of each inequality ``mu(A + k) >= mu(A)``, as the aggregators order them.

        That is attribute by attribute, and by the bit mask of the larger set. Those of the empty subset are
        limits of columns for the unrestricted measure, and rows for the Moebius form.
        """
        n = self.attributes
        return [(subset, k) for k in range(n) for subset in range(self.smallest, 2**n) if not subset >> k & 1]

    def never(self, partner: Partner, rival: Sequence[int]) -> bool:
        """Whether the rival is beyond the ties of no attribute.

        The distances of a monotone family do not grow unless an attribute distance does.
        """
        return all(b << self.shift <= a for a, b in zip(partner.tied, rival, strict=True))

    def nowhere_positive(self, row: Row, multipliers: Multipliers, total: int) -> bool:
        """By the limits of each parameter, after the multipliers."""
        if total != 0 and not self.summed:
            return False
        rest = [value - total for value in row]
        for subset, attribute, y in multipliers:
            if y < 0 or subset < self.smallest or not _outside(subset, attribute, self.attributes):
                return False
            self.add(rest, subset, attribute, y)
        bounds = zip(rest, self.limits, strict=True)
        return total + sum(max(value * low, value * high) for value, (low, high) in bounds) <= 0

    def importance(self, theta: Sequence[Fraction]) -> list[Fraction]:
        """Shapley values."""
        return shapley(self.table(theta), self.attributes)

    def interaction(self, theta: Sequence[Fraction]) -> Interaction:
        """Pairwise interaction indices."""
        return interaction(self.table(theta), self.attributes)


def _outside(subset: int, attribute: int, attributes: int) -> bool:
    """Whether the attribute is one, and not in the subset."""
    return 0 <= attribute < attributes and subset < 2**attributes and not subset >> attribute & 1


def subset_names(attributes: Sequence[str], subsets: Sequence[Sequence[int]]) -> list[str]:
    """What the JSON calls each subset: its attributes joined by commas."""
    return [",".join(attributes[k] for k in subset) for subset in subsets]


def check_measure(table: Sequence[Fraction], where: str) -> None:
    """Check monotonicity and ``mu(V) = 1`` of values by bit mask."""
    demand(abs(table[-1] - 1) <= SLACK, f"{where}: the measure of all attributes is not one")
    for mask, value in enumerate(table):
        for k in range(len(table).bit_length() - 1):
            demand(
                bool(mask >> k & 1) or table[mask | 1 << k] >= value,
                f"{where}: the measure is not monotone from subset {mask:b} to {mask | 1 << k:b}",
            )


def measure_of_moebius(moebius: Sequence[Fraction], masks: Sequence[int], attributes: int) -> list[Fraction]:
    """The measure of each subset: the sum of the coefficients within it."""
    unit = max(value.denominator for value in moebius)
    table = [0] * 2**attributes
    for mask, value in zip(masks, moebius, strict=True):
        table[mask] = int(value * unit)
    for k in range(attributes):
        for mask in range(len(table)):
            if mask >> k & 1:
                table[mask] += table[mask ^ 1 << k]
    return [Fraction(value, unit) for value in table]


def _moebius(measure: Sequence[Fraction], n: int) -> tuple[list[int], int]:
    """The Moebius coefficients by bit mask, in units of one over the second number."""
    unit = max(value.denominator for value in measure)
    out = [int(value * unit) for value in measure]
    for k in range(n):
        for mask in range(len(out)):
            if mask >> k & 1:
                out[mask] -= out[mask ^ 1 << k]
    return out, unit


def shapley(measure: Sequence[Fraction], n: int) -> list[Fraction]:
    """The coefficient of each subset, shared equally among its attributes."""
    coefficients, unit = _moebius(measure, n)
    shares = []
    for k in range(n):
        by_size = [0] * (n + 1)
        for mask, value in enumerate(coefficients):
            if mask >> k & 1:
                by_size[mask.bit_count()] += value
        shares.append(
            sum((Fraction(value, size * unit) for size, value in enumerate(by_size) if value), Fraction(0))
        )
    return shares


def interaction(measure: Sequence[Fraction], n: int) -> Interaction:
    """Of each two attributes, the coefficients of subsets that hold both, divided by their size less one."""
    coefficients, unit = _moebius(measure, n)
    found = {}
    for k, m in combinations(range(n), 2):
        by_size = [0] * (n + 1)
        both = 1 << k | 1 << m
        for mask, value in enumerate(coefficients):
            if mask & both == both:
                by_size[mask.bit_count()] += value
        parts = (Fraction(value, (size - 1) * unit) for size, value in enumerate(by_size) if value)
        found[k, m] = sum(parts, Fraction(0))
    return found
