"""Representatives as categories: classes of equal frequency over both files together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray

ObjectArray = NDArray[np.object_]


def in_classes(queries: FloatArray, candidates: FloatArray, classes: int) -> tuple[ObjectArray, ObjectArray]:
    """Put numbers in classes, column by column.

    The bounds are quantiles of the values of both files together, so that the same number falls into the same
    class wherever it stands. Equal numbers stay together, so that classes may differ in size or be empty.

    Parameters
    ----------
    queries, candidates : ndarray of float64, shapes (n, k) and (m, k)
        NaN where missing.
    classes : int
        How many, at least 2.

    Returns
    -------
    pair of object arrays, shapes (n, k) and (m, k)
        Text from "1" (the smallest values) up; None where missing.
    """
    first = np.empty(queries.shape, dtype=object)
    second = np.empty(candidates.shape, dtype=object)
    shares = np.arange(1, classes) / classes
    for column in range(queries.shape[1]):
        pooled = np.concatenate([queries[:, column], candidates[:, column]])
        known = pooled[~np.isnan(pooled)]
        bounds = np.quantile(known, shares) if known.size else shares
        for values, codes in ((queries, first), (candidates, second)):
            at = np.searchsorted(bounds, values[:, column]) + 1
            missing = np.isnan(values[:, column])
            codes[:, column] = [None if gone else str(code) for code, gone in zip(at, missing, strict=True)]
    return first, second
