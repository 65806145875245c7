"""The weighted mean in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.certificates.checking.box_kernels import SUM
from linkrisk.solver.certificates.checking.families.base import Row
from linkrisk.solver.certificates.checking.families.simplex import SimplexFamily
from linkrisk.solver.certificates.checking.shapes import Shape


class WeightedMean(SimplexFamily):
    """``sum_k p_k c_k``, weights on the simplex."""

    name: ClassVar[str] = "weighted-mean"
    title: ClassVar[str] = "weighted mean"

    @property
    def dimension(self) -> int:
        """One weight per attribute."""
        return self.attributes

    @property
    def orders(self) -> tuple[bool, ...]:
        """Comparing one attribute after another."""
        return (False,)

    def features(self, c: Sequence[int]) -> Row:
        """The attribute distances."""
        return list(c)

    def rounded(self, c: FloatArray) -> FloatArray:
        """The attribute distances."""
        return c

    def shape(self, theta: Sequence[Fraction]) -> Shape:
        """The weighted sum."""
        weights = np.array([[float(value) for value in theta]])
        return Shape(SUM, weights, weights[0])

    def names(self, attributes: Sequence[str]) -> Sequence[str]:
        """The attributes."""
        return attributes

    def importance(self, theta: Sequence[Fraction]) -> list[Fraction]:
        """The weights."""
        return list(theta)
