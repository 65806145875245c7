"""What respondents contribute to the cells of a table, as the rules for sensitive cells look at it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray, LongArray

_CLOSE = 1e-9
"""What sums of decimals may be off, relatively."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """What respondents contribute to each cell.

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
        What is published, where rules look at something else (a shadow variable).
    """

    total: FloatArray
    largest: FloatArray
    respondents: FloatArray | LongArray
    first: FloatArray | None = None
    asked: LongArray | None = None
    value: FloatArray | None = None

    @property
    def leading(self) -> FloatArray:
        """What the largest respondent contributed, shape (n,)."""
        return self.largest[:, 0] if self.first is None else self.first

    @property
    def published(self) -> FloatArray:
        """The values that are published, shape (n,)."""
        return self.total if self.value is None else self.value

    @property
    def rounding(self) -> FloatArray:
        """What sums of decimals may be off, shape (n,)."""
        return np.asarray(_CLOSE * np.maximum(np.abs(self.published), np.abs(self.total) * self.scale))

    @property
    def scale(self) -> FloatArray:
        """What is published for each unit of what rules look at, shape (n,)."""
        if self.value is None:
            return np.ones(self.total.size)
        return np.divide(np.abs(self.value), self.total, out=np.zeros(self.total.size), where=self.total > 0)
