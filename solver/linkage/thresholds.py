"""Between which thresholds scores lie: buckets of equal width say where to look."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray, LongArray
from linkrisk.formulations.compiled import kernel

_BUCKETS = 1 << 16


class Thresholds(NamedTuple):
    """Ascending thresholds, with a table of where to look for them.

    Attributes
    ----------
    values : ndarray of float64, shape (thresholds,)
        Distinct and finite.
    scale : float
        Buckets for a unit of score.
    start : ndarray of int, shape (buckets + 1,)
        How many thresholds are in earlier buckets.
    """

    values: FloatArray
    scale: float
    start: IndexArray

    @classmethod
    def of(cls, values: FloatArray) -> Thresholds:
        """Put thresholds into buckets of equal width, as the compiled code puts scores."""
        if not values.size:
            return cls(values, 0.0, np.zeros(2, dtype=np.intp))
        with np.errstate(over="ignore"):
            extent = values[-1] - values[0]
            scale = float(_BUCKETS / extent) if 0.0 < extent < np.inf else 0.0
        if not np.isfinite(scale):
            scale = 0.0
        bucket = ((values - values[0]) * scale).astype(np.intp) if scale else np.zeros(values.size, np.intp)
        return cls(values, scale, np.searchsorted(bucket, np.arange(bucket[-1] + 2)))

    def counts(self) -> LongArray:
        """Of scores that reach so many thresholds, from none to all: none yet."""
        return np.zeros(self.values.size + 1, dtype=np.int64)


@kernel
def count_between(
    scores: FloatArray, rows: LongArray, columns: LongArray, thresholds: Thresholds, counts: LongArray
) -> None:
    """Add to `counts` how many scores reach so many of the thresholds, from none to all of them.

    Parameters
    ----------
    scores : ndarray of float64, shape (rows, columns)
    rows, columns : ndarray of int64
        How many records each stands for.
    thresholds : Thresholds
        At least one.
    counts : ndarray of int64, shape (thresholds + 1,)
    """
    values, start = thresholds.values, thresholds.start
    least, most = values[0], values[-1]
    for row in range(scores.shape[0]):
        for column in range(scores.shape[1]):
            score = scores[row, column]
            if score < least:
                place = 0
            elif score >= most:
                place = values.size
            else:
                # Rounding is monotone: thresholds of other buckets are on the side of their bucket.
                bucket = int((score - least) * thresholds.scale) if thresholds.scale > 0.0 else 0
                place, last = start[bucket], start[bucket + 1]
                while place < last:
                    middle = (place + last) >> 1
                    if values[middle] <= score:
                        place = middle + 1
                    else:
                        last = middle
            counts[place] += rows[row] * columns[column]
