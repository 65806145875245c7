"""Rows of the relaxation put together and rounded: whole points keep them, the relaxation's optimum does not.

For any multipliers u >= 0 the rows give ``u A x >= u b``, and with v = u A, and f0 the part of u b after the
point, every whole x >= 0 keeps ``sum (floor(v_j) + min(1, frac(v_j) / f0)) x_j >= ceil(u b)`` (mixed integer
rounding, Nemhauser and Wolsey 1990). The multipliers are those by which a basis makes its rows, less their
whole parts, and multiples of them: with a determinant of 2 these are the zero-half cuts of Caprara and
Fischetti (1996).

Taken as they are, some are below 0. What such a row has beyond its right-hand side is a continuous s >= 0,
with which ``u A x + |u| s >= u b``; it counts with ``|u| / f0`` in the rounded row (Gomory 1960), and is
written as ``A x - b`` there.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.solver.tables.suppression.relaxation import Relaxation

_MULTIPLES = (1.0, -1.0, 2.0, -2.0, 3.0)
_MOST_ROWS = 80
"""Fractional cells whose rows are looked at."""

_MOST = 30
_NOTHING = 1e-7
_SAFE = 1e-9
"""More than what sums in floating point are off by here."""

_UP = 1.0 + 1e-12
_TINY = 1e-7
"""Coefficients below this share of the largest are left out."""

_LEAST_PART, _MOST_PART = 0.05, 0.999
_VIOLATED = 0.02
"""By how much, in Euclidean distance, a row must cut."""

_PARALLEL = 0.9


def rounding_cuts(relaxation: Relaxation, point: FloatArray) -> tuple[sparse.csr_array, FloatArray]:
    """Rows over the open cells that the optimum of the relaxation violates, with their right-hand sides.

    `relaxation`: just solved. `point` (k,): its optimum.
    """
    basic = relaxation.program.basic_columns()
    part = np.where(basic >= 0, np.minimum(point, 1.0 - point)[np.maximum(basic, 0)], 0.0)
    places = np.argsort(-part, kind="stable")[: min(_MOST_ROWS, int((part > 1e-3).sum()))]
    if not places.size:
        return sparse.csr_array((0, point.size)), np.zeros(0)
    inverse = relaxation.program.inverse_rows(places)
    multipliers = np.concatenate([multiple * inverse for multiple in _MULTIPLES])
    multipliers -= np.floor(multipliers + _NOTHING)
    multipliers[multipliers < _NOTHING] = 0.0
    rows, right = _mixed(relaxation, np.concatenate([multipliers, inverse, -inverse]), point)
    kept = _chosen(rows, right, point)
    return sparse.csr_array(rows[kept]), right[kept]


def _mixed(
    relaxation: Relaxation, multipliers: FloatArray, point: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Rounded rows by multipliers of either sign, shape (c, r)."""
    rows, right, rest = rounded(multipliers @ relaxation.matrix, multipliers @ relaxation.right, point)
    below = np.maximum(-multipliers, 0.0)
    mixed = np.flatnonzero((below > _NOTHING).any(axis=1) & (rest > 0.0))
    share = (_UP / rest[mixed])[:, None] * below[mixed]
    more, most = share @ relaxation.matrix, share @ relaxation.right
    rows[mixed] += more
    right[mixed] += most - _SAFE * (1.0 + np.abs(more).sum(axis=1) + share @ np.abs(relaxation.right))
    tiny = np.abs(rows) < _TINY * np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    right -= np.where(tiny, np.maximum(rows, 0.0), 0.0).sum(axis=1)
    rows[tiny] = 0.0
    return rows, right


def rounded(
    sums: FloatArray, right: FloatArray, point: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows ``sums x >= right`` rounded such that all points of zeros and ones keep them.

    Cells that are near 1 are counted from there: for ``1 - x`` the same holds as for x.

    `sums` (c, k). `right` (c,). `point` (k,): what should violate them. Returns: a row of zeros where
    rounding gives nothing. Returns (c,): f0; 0 where rounding gives nothing.
    """
    turned = point > 1.0 - 1e-6
    right = right - sums[:, turned].sum(axis=1)
    sums = np.where(turned, -sums, sums)
    whole = np.floor(sums + _NOTHING)
    part = np.maximum(sums - whole, 0.0)
    little = part < _NOTHING
    right = right - np.where(little, part, 0.0).sum(axis=1) - _SAFE * (1.0 + np.abs(sums).sum(axis=1))
    part[little] = 0.0
    below = np.floor(right)
    rest = right - below
    useful = (rest > _LEAST_PART) & (rest < _MOST_PART)
    rows = whole + np.minimum(1.0, part * _UP / np.maximum(rest, _LEAST_PART)[:, None])
    rows = np.where(useful[:, None], np.where(turned, -rows, rows), 0.0)
    return rows, np.where(useful, below + 1.0 + rows[:, turned].sum(axis=1), 0.0), np.where(useful, rest, 0.0)


def _chosen(rows: FloatArray, right: FloatArray, point: FloatArray) -> list[int]:
    """The deepest rows, none of which is nearly parallel to another."""
    there = point > 1e-6  # other cells are in no violation, however many there are
    shown = rows[:, there]
    length = np.sqrt((shown * shown).sum(axis=1))
    length[length == 0.0] = 1.0
    depth = (right - shown @ point[there]) / length
    order = np.argsort(-depth, kind="stable")
    order = order[depth[order] > _VIOLATED][: 5 * _MOST]
    normal = shown[order] / length[order, None]
    alike = normal @ normal.T
    kept: list[int] = []
    for at in range(order.size):
        if not kept or alike[at, kept].max() < _PARALLEL:
            kept.append(at)
            if len(kept) == _MOST:
                break
    return [int(order[at]) for at in kept]
