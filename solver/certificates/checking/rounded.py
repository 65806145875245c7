"""Computes distances of the core's families in double precision, for comparisons that are clear."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.certificates.checking.box_kernels import FORM, MEASURE, ORDERED, PAIRS, SUM
from linkrisk.solver.certificates.core import families
from linkrisk.solver.certificates.core.families import Family
from linkrisk.solver.certificates.core.records import TOLERANCES


@dataclass(frozen=True, eq=False)
class Shape:
    """A distance whose value for differences between two ends is easily enclosed.

    `kind` is one of `box_kernels`; all but `FORM` do not fall when a difference grows. `weights` are one row,
    of `MEASURE` the measure by bit mask, of `FORM` the matrix whose image it is. `scale` is about how much
    each attribute counts, for speed only; `beyond` by how much more than any distance of the family it may be
    off, in units of the largest attribute distance.
    """

    kind: int
    weights: FloatArray
    scale: FloatArray
    beyond: float = 0.0


class Rounded(ABC):
    """Distances of a family in doubles, from attribute distances `c` (rows, attributes)."""

    def __init__(self, family: Any) -> None:
        self.family, self.n = family, family.n

    @abstractmethod
    def distance(self, theta: FloatArray, c: FloatArray) -> FloatArray:
        """Return distances, shape (rows,)."""

    @abstractmethod
    def shape(self, theta: Sequence[Fraction]) -> Shape:
        """Return the distance by which candidates are enumerated."""

    def size(self, c: FloatArray) -> FloatArray:
        """Return the scale of rounding errors of distances, shape (rows,)."""
        return np.asarray(np.abs(c).max(axis=1))

    @property
    def roundings(self) -> int:
        """Number of roundings in a distance, in `counting.ERROR` of `size` and the parameters."""
        return int(max(self.family.dimension, self.n)) + 16

    def slack(self, theta: FloatArray, own: FloatArray, tied: FloatArray, rivals: FloatArray) -> FloatArray:
        """Return by how much each rival may exceed its partner and still tie, shape (rivals,).

        `own`, `tied` (rivals, attributes): distances of each rival's partner, and up to which it ties.
        """
        del rivals
        return self.distance(theta, tied) - self.distance(theta, own)

    def excess(self, own: FloatArray, tied: FloatArray, rivals: FloatArray) -> FloatArray:
        """Estimate by how much some parameters can put each rival of one partner beyond a tie.

        It only orders the search for a rival that excludes a block.
        """
        del own
        return np.asarray((rivals - tied).max(axis=1))


class RoundedWeights(Rounded):
    """Families whose distance is the sum of weight times feature."""

    def features(self, c: FloatArray) -> FloatArray:
        """Return features without their common factor, none above the largest attribute distance."""
        return c

    def distance(self, theta: FloatArray, c: FloatArray) -> FloatArray:
        """Return the sum."""
        return np.asarray(self.features(c) @ theta)

    def excess(self, own: FloatArray, tied: FloatArray, rivals: FloatArray) -> FloatArray:
        """Return the excess at the best vertex."""
        del own
        return np.asarray((self.features(rivals) - self.features(tied[None, :])).max(axis=1))

    def shape(self, theta: Sequence[Fraction]) -> Shape:
        """Return the weighted sum."""
        weights = _doubles(theta)
        return Shape(SUM, weights, weights[0])


class RoundedRanks(RoundedWeights):
    """Ordered weighted average."""

    def features(self, c: FloatArray) -> FloatArray:
        """Return the attribute distances in descending order."""
        return np.sort(c, axis=1)[:, ::-1]

    def shape(self, theta: Sequence[Fraction]) -> Shape:
        """Return the weighted sum of descending values."""
        return Shape(ORDERED, _doubles(theta), np.ones(self.n))


class RoundedPairs(RoundedWeights):
    """2-additive integral by weights: a measure of many attributes would have too many values."""

    def features(self, c: FloatArray) -> FloatArray:
        """Return attribute distances, minima of pairs, and maxima of pairs."""
        first, second = np.triu_indices(self.n, 1)
        low, high = np.minimum(c[:, first], c[:, second]), np.maximum(c[:, first], c[:, second])
        return np.hstack([c, low, high])

    def shape(self, theta: Sequence[Fraction]) -> Shape:
        """Return the sum itself; half of each minimum and maximum counts for either attribute."""
        weights, pairs = _doubles(theta), comb(self.n, 2)
        scale = weights[0, : self.n].copy()
        both = (weights[0, self.n : self.n + pairs] + weights[0, self.n + pairs :]) / 2.0
        for ends in np.triu_indices(self.n, 1):
            np.add.at(scale, ends, both)
        return Shape(PAIRS, weights, scale)


class RoundedMeasure(Rounded):
    """Choquet integrals by the values of a measure."""

    def shape(self, theta: Sequence[Fraction]) -> Shape:
        """The integral by its measure: an attribute counts by its value and by what it adds."""
        measure = _doubles(self.family.values(theta))
        alone = np.array([measure[0, 1 << k] for k in range(self.n)])
        added = np.array([measure[0, -1] - measure[0, -1 - (1 << k)] for k in range(self.n)])
        return Shape(MEASURE, measure, (alone + added) / 2.0)

    def distance(self, theta: FloatArray, c: FloatArray) -> FloatArray:
        """Return the integral, step by step."""
        order = np.argsort(c, axis=1)
        steps = np.diff(np.take_along_axis(c, order, axis=1), axis=1, prepend=0.0)
        subsets = np.cumsum((1 << order)[:, ::-1], axis=1)[:, ::-1]
        return np.asarray((steps * theta[subsets - 1]).sum(axis=1))


class RoundedMoebius(RoundedMeasure):
    """Choquet integrals by Moebius coefficients of at most k attributes."""

    def distance(self, theta: FloatArray, c: FloatArray) -> FloatArray:
        """Return the sum of coefficient times smallest attribute distance."""
        smallest = [c[:, list(subset)].min(axis=1) for subset in self.family.subsets]
        return np.asarray(np.stack(smallest, axis=1) @ theta)


class RoundedForm(Rounded):
    """Quadratic form ``c' M c``."""

    @property
    def _cancelled(self) -> float:
        """Return the share of a rival's squares, times the diagonal, by which cancelling terms widen ties."""
        return float(self.family.cancelled * TOLERANCES["cancellation"])

    def distance(self, theta: FloatArray, c: FloatArray) -> FloatArray:
        """Return the form."""
        products = [c[:, k] * c[:, m] * (1.0 if k == m else 2.0) for k, m in self.family.cells]
        return np.asarray(np.stack(products, axis=1) @ theta)

    def size(self, c: FloatArray) -> FloatArray:
        """Return the largest square."""
        return np.asarray(np.abs(c).max(axis=1) ** 2)

    def slack(self, theta: FloatArray, own: FloatArray, tied: FloatArray, rivals: FloatArray) -> FloatArray:
        """Return the diagonal part, and the possible effect of cancelling terms."""
        diagonal = theta[[at for at, (k, m) in enumerate(self.family.cells) if k == m]]
        return np.asarray((tied - own**2) @ diagonal + self._cancelled * (rivals**2 @ diagonal))

    def excess(self, own: FloatArray, tied: FloatArray, rivals: FloatArray) -> FloatArray:
        """Return the largest eigenvalue of the matrix of the constraint."""
        partner = own[:, None] * own[None, :]
        np.fill_diagonal(partner, tied)
        matrices = rivals[:, :, None] * rivals[:, None, :] - partner
        return np.asarray(np.linalg.eigvalsh(matrices)[:, -1])

    def shape(self, theta: Sequence[Fraction]) -> Shape:
        """The squared length of an image ``U c``.

        ``M - U'U``, computed with an error of at most n + 2 roundings of the sum of absolute products, has
        entries of at most e, which move the form by at most ``e n**2`` of the largest square. Each component
        of ``U c`` is off by n + 1 roundings of ``sum |u| |c|``, so its square by at most twice that times
        ``sum |u| |c|``.
        """
        n, matrix = self.n, np.zeros((self.n, self.n))
        for (k, m), value in zip(self.family.cells, theta, strict=True):
            matrix[k, m] = matrix[m, k] = float(value)
        values, vectors = np.linalg.eigh(matrix)
        images = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        products = np.abs(images).T @ np.abs(images)
        missed = np.abs(matrix - images.T @ images) + (n + 2) * 2.0**-52 * (products + np.abs(matrix))
        diagonal = np.abs(np.diag(matrix))
        rounded = 4 * (n + 2) * 2.0**-52 * float((np.abs(images).sum(axis=1) ** 2).sum())
        beyond = 2.0 * (float(missed.max()) * n**2 + rounded + self._cancelled * float(diagonal.sum()))
        return Shape(FORM, np.ascontiguousarray(images), np.sqrt(diagonal), beyond)


ROUNDED: dict[type[Family], type[Rounded]] = {
    families.WeightedMean: RoundedWeights,
    families.OrderedWeightedAverage: RoundedRanks,
    families.TwoAdditive: RoundedPairs,
    families.Choquet: RoundedMeasure,
    families.KAdditive: RoundedMoebius,
    families.QuadraticForm: RoundedForm,
}
"""Rounded families by those of the core."""


def _doubles(values: Sequence[Fraction]) -> FloatArray:
    """Return one row of doubles."""
    return np.array([[float(value) for value in values]])
