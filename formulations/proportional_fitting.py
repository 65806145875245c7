"""Fit margins by iterative proportional fitting: cells of a table are scaled until they have them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel

MOST_SWEEPS = 1_000


def proportional_fit(
    mean: FloatArray,
    count: FloatArray,
    groups: Sequence[IndexArray],
    expired: Callable[[], bool],
    tolerance: float,
) -> float:
    """Scale `mean` (cells,) in place until it has the margins of `count` (Deming and Stephan 1940).

    `groups` gives for each margin the category of each cell. Ends when no margin misses by more than
    `tolerance`, or `expired` says so after the first sweep; returns the largest deviation of a margin.
    """
    wanted = [np.bincount(group, weights=count) for group in groups]
    fitted = np.bincount(groups[0], weights=mean).astype(np.float64)
    gap = math.inf
    for sweep in range(MOST_SWEEPS):
        gap = 0.0
        for at, (group, target) in enumerate(zip(groups, wanted, strict=True)):
            gap = max(gap, float(np.abs(fitted - target).max()))
            # Categories of a margin that no cell has keep the factor 1.
            factor = np.divide(target, fitted, out=np.ones_like(fitted), where=fitted > 0.0)
            following = (at + 1) % len(groups)
            fitted = np.zeros(wanted[following].size)
            scale_and_sum(mean, group, factor, groups[following], fitted)
        if gap <= tolerance or (sweep and expired()):
            break
    return gap


@kernel
def scale_and_sum(
    mean: FloatArray, group: IndexArray, factor: FloatArray, following: IndexArray, sums: FloatArray
) -> None:
    """Scale `mean` by the factors of its categories, and add it up by those of the next margin."""
    for cell in range(mean.size):
        mean[cell] *= factor[group[cell]]
        sums[following[cell]] += mean[cell]
