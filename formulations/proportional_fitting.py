"""Iterative proportional fitting: a table's cells are scaled until they have given margins."""

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
    """Scale means in place until they have the observed margins (Deming and Stephan 1940).

    Parameters
    ----------
    mean : ndarray of float64, shape (cells,)
        Where to begin; written to.
    count : ndarray of float64, shape (cells,)
        What is observed.
    groups : sequence of ndarray of int, shape (cells,)
        For each margin, to which of its categories a cell belongs.
    expired : callable
        Asked after each sweep but the first whether to stop.
    tolerance : float
        By how much a fitted margin may miss the observed one.

    Returns
    -------
    float
        The largest deviation of a margin that is left.
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
    """Scale means by the factors of their categories, and add them up by those of the next margin, in one go.

    Parameters
    ----------
    mean : ndarray of float64, shape (cells,)
        Written to.
    group, following : ndarray of int, shape (cells,)
    factor : ndarray of float64, shape (categories,)
    sums : ndarray of float64, shape (categories of the next margin,)
        Zeros; written to.
    """
    for cell in range(mean.size):
        mean[cell] *= factor[group[cell]]
        sums[following[cell]] += mean[cell]
