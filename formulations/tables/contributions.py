"""States the contributions of respondents to cells, as the primary rules use them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray, LongArray

_CLOSE = 1e-9
"""Relative rounding error of sums of decimals."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """Contributions of respondents to each cell.

    Attributes
    ----------
    total : ndarray of float64, shape (n,)
        X.
    largest : ndarray of float64, shape (n, w)
        The w largest contributions, the largest first; 0 where there are fewer. With sampling weights a
        contribution may be filled up by the next (`datasets.tables.tabulating`).
    respondents : ndarray, shape (n,)
        How many there are; sums of weights where weights stand for respondents.
    first : ndarray of float64, shape (n,), optional
        What the largest respondent contributed; the first of `largest` where absent.
    asked : ndarray of int64, shape (n,), optional
        What the largest respondent asked for: 0 nothing, 1 or 2.
    value : ndarray of float64, shape (n,), optional
        Published values, if rules use another variable (a shadow variable).
    """

    total: FloatArray
    largest: FloatArray
    respondents: FloatArray | LongArray
    first: FloatArray | None = None
    asked: LongArray | None = None
    value: FloatArray | None = None

    @property
    def leading(self) -> FloatArray:
        """Largest contribution, shape (n,)."""
        return self.largest[:, 0] if self.first is None else self.first

    @property
    def published(self) -> FloatArray:
        """The values that are published, shape (n,)."""
        return self.total if self.value is None else self.value

    @property
    def rounding(self) -> FloatArray:
        """Rounding error of sums of decimals, shape (n,)."""
        return np.asarray(_CLOSE * np.maximum(np.abs(self.published), np.abs(self.total) * self.scale))

    @property
    def scale(self) -> FloatArray:
        """Published amount per unit of the amount in rules, shape (n,)."""
        if self.value is None:
            return np.ones(self.total.size)
        return np.divide(np.abs(self.value), self.total, out=np.zeros(self.total.size), where=self.total > 0)
