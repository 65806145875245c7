"""The ordered weighted average in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.certificates.checking.box_kernels import ORDERED
from linkrisk.solver.certificates.checking.families.base import Row
from linkrisk.solver.certificates.checking.families.simplex import SimplexFamily
from linkrisk.solver.certificates.checking.shapes import Shape


class OrderedWeightedAverage(SimplexFamily):
    """``sum_r w_r c_(r)``, the largest first."""

    name: ClassVar[str] = "owa"
    title: ClassVar[str] = "ordered weighted average"

    @property
    def dimension(self) -> int:
        """One weight per rank."""
        return self.attributes

    @property
    def orders(self) -> tuple[bool, ...]:
        """Comparing one rank after another."""
        return (True,)

    def features(self, c: Sequence[int]) -> Row:
        """The attribute distances in descending order."""
        return sorted(c, reverse=True)

    def rounded(self, c: FloatArray) -> FloatArray:
        """The attribute distances in descending order."""
        return np.sort(c, axis=1)[:, ::-1]

    def shape(self, theta: Sequence[Fraction]) -> Shape:
        """The weighted sum of descending values."""
        return Shape(ORDERED, np.array([[float(value) for value in theta]]), np.ones(self.attributes))

    def names(self, attributes: Sequence[str]) -> Sequence[str]:
        """The ranks: ``1`` is the largest attribute distance."""
        return [str(rank + 1) for rank in range(len(attributes))]
