"""What perturbation has cost a table of counts: distances between counts before and after.

The three distances and their quantiles are those of `ck_cnt_measures` of the R package `cellKey`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray, LongArray

_QUANTILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def count_changes(before: LongArray, after: LongArray) -> dict[str, Any]:
    """Distances of counts.

    Parameters
    ----------
    before, after : ndarray of int64, shape (n,)
        Not negative.

    Returns
    -------
    dict
        Of the `absolute` and the `relative` distance, and that between the square `roots`: minimum,
        quantiles, mean and maximum; how many counts have become 0 (`false_zeros`), or are not any more
        (`false_positives`).
    """
    moved = np.abs(after - before).astype(np.float64)
    relative = moved / np.maximum(before, 1)  # a count of 0 stays
    roots = np.abs(np.sqrt(after.astype(np.float64)) - np.sqrt(before.astype(np.float64)))
    return {
        "absolute": _summary(moved),
        "relative": _summary(relative),
        "roots": _summary(roots),
        "false_zeros": int(((after == 0) & (before != 0)).sum()),
        "false_positives": int(((after != 0) & (before == 0)).sum()),
    }


def sum_changes(before: FloatArray, after: FloatArray) -> dict[str, Any]:
    """Distances of sums: `absolute`, and `relative` (without sums of 0).

    Parameters
    ----------
    before, after : ndarray of float64, shape (n,)
    """
    moved, known = np.abs(after - before), before != 0
    relative = moved[known] / np.abs(before[known]) if known.any() else np.zeros(1)
    return {"absolute": _summary(moved), "relative": _summary(relative)}


def _summary(distance: FloatArray) -> dict[str, float]:
    found = {f"q{round(100 * one)}": float(np.quantile(distance, one)) for one in _QUANTILES}
    return {
        "min": float(distance.min()),
        **found,
        "mean": float(distance.mean()),
        "max": float(distance.max()),
    }
