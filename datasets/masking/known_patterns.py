"""Groups of similar records where some values are missing, so that every mean has k values behind it."""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.mdav import mdav_partition


def partition_by_pattern(points: FloatArray, k: int) -> list[IndexArray]:
    """Partition records by MDAV, those with the same attributes known among themselves.

    A pattern is the set of attributes that a record has a value of. Records of a pattern that k records or
    more have form groups by `mdav_partition`. Every other record joins the group that is nearest to it: of
    the groups whose pattern has most attributes in common with its own, the one with the least sum of squared
    differences to the mean of the group in these attributes; the first of several. Records without any
    value are in no group.

    Parameters
    ----------
    points : float64 array (n, a)
        The records, attributes in comparable units, NaN where a value is missing.
    k : int
        The least group size, 1 <= k <= n.

    Returns
    -------
    list of intp arrays
        The groups, each row in at most one, rows ascending within each.

    Raises
    ------
    DataError
        If no pattern is that of k records.
    """
    known = ~np.isnan(points)
    if known.all():
        return mdav_partition(points, k)
    patterns, found, counts = np.unique(known, axis=0, return_inverse=True, return_counts=True)
    some = patterns.any(axis=1)
    common = np.flatnonzero(some & (counts >= k))
    groups: list[IndexArray] = []
    pattern_of_group: list[int] = []
    for pattern in common.tolist():
        rows = np.flatnonzero(found == pattern)
        made = mdav_partition(np.ascontiguousarray(points[np.ix_(rows, patterns[pattern])]), k)
        groups += [rows[group] for group in made]
        pattern_of_group += [pattern] * len(made)
    rare = np.flatnonzero(some & (counts < k))
    if rare.size == 0:
        return groups
    if not groups:
        raise DataError(
            f"no {k} records have a value of the same attributes; choose a smaller k, or mask fewer "
            "attributes together"
        )
    means = np.array([points[group].mean(axis=0) for group in groups])
    joined: list[list[int]] = [[] for _ in groups]
    for pattern in rare.tolist():
        rows = np.flatnonzero(found == pattern)
        _join(joined, points, rows, means, patterns[pattern_of_group] & patterns[pattern])
    return [
        np.sort(np.append(group, more).astype(np.intp)) for group, more in zip(groups, joined, strict=True)
    ]


def _join(
    joined: list[list[int]], points: FloatArray, rows: IndexArray, means: FloatArray, shared: BoolArray
) -> None:
    """Let records of one pattern join the nearest of the groups that share most attributes with it."""
    overlap = shared.sum(axis=1)
    if overlap.max() == 0:
        return
    eligible = np.flatnonzero(overlap == overlap.max())
    for row in rows.tolist():
        distances = np.zeros(eligible.size)
        # Attribute by attribute, without matrix products: their rounding depends on the machine.
        for position in np.flatnonzero(shared[eligible].any(axis=0)).tolist():
            difference = means[eligible, position] - points[row, position]
            distances += np.where(shared[eligible, position], difference * difference, 0.0)
        joined[int(eligible[np.argmin(distances)])].append(row)
