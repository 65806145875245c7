"""MDAV: partition of records into groups of k to 2k-1 similar ones (maximum distance to average)."""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.masking.microaggregation_kernels import (
    Outer,
    Progress,
    centroid,
    form_groups,
    no_progress,
    plant,
    start_sums,
)

_UNITS = 2**1074
"""Multiples of the smallest double above 0 in 1; every double is a multiple of it."""

INDEXED_FROM = 5000
"""From so many points on an index is worth its compiling, the first time on a machine some ten seconds."""


def mdav_partition(points: FloatArray, k: int) -> list[IndexArray]:
    """Partition points (n, a) into groups of k to 2k-1 by Maximum Distance to AVerage.

    While at least 3k points are left: r is the point most distant from the centroid of those left, s the
    point most distant from r; r with its k-1 nearest points forms a group, then s with its k-1 nearest of
    the rest. Of 2k to 3k-1 points left, the one most distant from their centroid and its k-1 nearest form a
    group. The last k to 2k-1 points form the last group. Ties go to the lowest row.

    Algorithm "MDAV-generic" of J. Domingo-Ferrer and V. Torra, Ordinal, continuous and heterogeneous
    k-anonymity through microaggregation, Data Mining and Knowledge Discovery 11(2), 2005; after J.
    Domingo-Ferrer and J. M. Mateo-Sanz, Practical data-oriented microaggregation for statistical disclosure
    control, IEEE Trans. on Knowledge and Data Engineering 14(1), 2002. Time O(n^2 a / k) at worst.
    """
    if len(points) < INDEXED_FROM:
        return plain_partition(points, k)
    return indexed_partition(points, k)


def plain_partition(points: FloatArray, k: int) -> list[IndexArray]:
    """Partition points as `mdav_partition` does, by comparing all of them each time."""
    left = np.arange(len(points), dtype=np.intp)
    groups: list[IndexArray] = []
    # One contiguous row per attribute; of every attribute only the points still left are kept.
    columns = np.ascontiguousarray(points.T)
    totals = _exact_sums(columns)
    while len(left) >= 2 * k:
        start = columns[:, _farthest_from_centroid(columns, totals)]
        distances = _squared_distances(columns, start)
        near = _nearest(distances, k)
        distances[near] = -1.0  # s is sought among the rest: they are the farther ones but for ties
        opposite = columns[:, np.argmax(distances)].copy() if len(left) >= 3 * k else None
        left, columns = _take(groups, left, columns, totals, near)
        if opposite is not None:
            near = _nearest(_squared_distances(columns, opposite), k)
            left, columns = _take(groups, left, columns, totals, near)
    groups.append(left)
    return groups


def _exact_sums(columns: FloatArray) -> list[int]:
    """Sum of each row of an array, in units of the smallest double above 0."""
    return [sum(_whole(value) for value in column) for column in columns.tolist()]


def _whole(value: float) -> int:
    numerator, denominator = value.as_integer_ratio()
    return numerator * (_UNITS // denominator)


def _farthest_from_centroid(columns: FloatArray, totals: list[int]) -> int:
    # Exactly rounded sums do not depend on the order of the points.
    centroid = np.array([total / _UNITS / columns.shape[1] for total in totals])
    return int(np.argmax(_squared_distances(columns, centroid)))


def _squared_distances(columns: FloatArray, centre: FloatArray) -> FloatArray:
    # Attribute by attribute, without matrix products: their rounding depends on the machine, and a tie
    # settled the other way would give another file.
    total = np.zeros(columns.shape[1])
    for column, value in zip(columns, centre, strict=True):
        difference = column - value
        difference *= difference
        total += difference
    return total


def _nearest(distances: FloatArray, k: int) -> IndexArray:
    """Positions of the k smallest distances, ascending; the lowest positions among equals."""
    largest = np.partition(distances, k - 1)[k - 1]
    nearer = np.flatnonzero(distances < largest)
    equal = np.flatnonzero(distances == largest)[: k - len(nearer)]
    return np.sort(np.concatenate([nearer, equal]))


def _take(
    groups: list[IndexArray], left: IndexArray, columns: FloatArray, totals: list[int], positions: IndexArray
) -> tuple[IndexArray, FloatArray]:
    groups.append(left[positions])
    for attribute, removed in enumerate(_exact_sums(columns[:, positions])):
        totals[attribute] -= removed
    return np.delete(left, positions), np.delete(columns, positions, axis=1)


LEAF = 16
"""Points of a leaf, at most."""

WORK = 20_000_000
"""Distances between two moments at which Ctrl-C is noticed: less than a second."""


def indexed_partition(points: FloatArray, k: int) -> list[IndexArray]:
    """Partition points as `mdav_partition` does, by an index that is far faster for many points."""
    points = np.ascontiguousarray(points)
    progress = no_progress(*points.shape)
    start_sums(points, progress.partials, progress.used)
    while progress.counts[0] >= 2 * k:
        tree, planted = plant(points, _left(progress), LEAF), int(progress.counts[0])
        # A tree that has lost half of its points is sparse, and planted anew.
        fewest = max(2 * k, planted // 2)
        while progress.counts[0] >= fewest:
            form_groups(points, k, tree, _listed(points, progress), progress, fewest, WORK)
    progress.group_of[progress.group_of < 0] = progress.counts[1]
    order = np.argsort(progress.group_of, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(progress.group_of[order])) + 1)


def _left(progress: Progress) -> IndexArray:
    return np.flatnonzero(progress.group_of < 0)


def _listed(points: FloatArray, progress: Progress) -> Outer:
    left = _left(progress)
    anchor = centroid(progress.partials, progress.used, len(left))
    reach = np.sqrt(((points[left] - anchor) ** 2).sum(axis=1))
    order = np.argsort(-reach)
    return Outer(left[order], reach[order], anchor)
