"""The Choquet integral over all monotone measures, in whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.certificates.checking.families.base import Family, Row
from linkrisk.solver.certificates.checking.families.k_additive import KAdditive, TwoAdditive
from linkrisk.solver.certificates.checking.families.measures import (
    MOST_ATTRIBUTES,
    MeasureFamily,
    check_measure,
    subset_names,
)
from linkrisk.solver.certificates.checking.fields import Fields, whole
from linkrisk.solver.certificates.checking.parameters import named_numbers
from linkrisk.solver.run.errors import UsageError


class Choquet(MeasureFamily):
    """The Choquet integral over monotone measures; parameter A - 1 is mu(A) for the bit mask A."""

    name: ClassVar[str] = "choquet"
    title: ClassVar[str] = "Choquet integral"
    keys: ClassVar[tuple[str, ...]] = ("measure",)
    smallest: ClassVar[int] = 1
    summed: ClassVar[bool] = False

    @classmethod
    def of(cls, attributes: int, options: Mapping[str, Any], where: str) -> Family:
        """With the option ``k_additive`` the k-additive one; any measure on two attributes is 2-additive."""
        k = None
        if "k_additive" in options:
            k = whole(options["k_additive"], f"{where}, aggregator_options")
        if options.keys() - {"k_additive"} or (k is not None and k < 2):
            raise UsageError(f"{where}, aggregator_options: choquet takes k_additive, of at least 2")
        if k != 2 and attributes > MOST_ATTRIBUTES:
            raise UsageError(f"{where}, attributes: a measure on {attributes} has too many subsets")
        if k is None:
            return cls(attributes)
        return TwoAdditive(attributes, k) if min(k, attributes) <= 2 else KAdditive(attributes, k)

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

    @property
    def limits(self) -> list[tuple[int, int]]:
        """``mu(V) = 1``, all other values within [0, 1]."""
        return [(0, 1)] * (self.dimension - 1) + [(1, 1)]

    def add(self, row: Row, subset: int, attribute: int, times: int) -> None:
        """The values of two subsets."""
        row[(subset | (1 << attribute)) - 1] += times
        row[subset - 1] -= times

    def distance(self, theta: FloatArray, c: FloatArray) -> FloatArray:
        """The integral, step by step."""
        order = np.argsort(c, axis=1)
        steps = np.diff(np.take_along_axis(c, order, axis=1), axis=1, prepend=0.0)
        subsets = np.cumsum((1 << order)[:, ::-1], axis=1)[:, ::-1]
        return np.asarray((steps * theta[subsets - 1]).sum(axis=1))

    def parameters(self, fields: Fields, attributes: Sequence[str]) -> list[Fraction]:
        """A monotone measure."""
        subsets = [
            [k for k in range(len(attributes)) if mask >> k & 1] for mask in range(1, 2 ** len(attributes))
        ]
        values = named_numbers(fields, "measure", subset_names(attributes, subsets))
        check_measure(self.table(values), fields.where)
        return values

    def table(self, theta: Sequence[Fraction]) -> list[Fraction]:
        """The parameters themselves."""
        return [Fraction(0), *theta]
