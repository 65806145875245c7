"""Which blocks given parameters link: by doubles where their error cannot matter, else exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from solver.verification.cores import Rows
from solver.verification.families import (
    CANCELLATION_TOLERANCE,
    TIE_TOLERANCE,
    Choquet,
    Family,
    KAdditive,
    OrderedWeightedAverage,
    QuadraticForm,
    TwoAdditive,
)

FloatArray = NDArray[np.float64]

_ERROR = 2.0**-50
"""Times (dimension + 16), the sum of absolute parameters and the largest attribute distance (squared for a
quadratic form): more than the rounding error of a distance in double precision. Attribute distances are off
by four roundings (``2**-53`` each) of their size, of which every family's distance makes at most that times
the sum of the absolute parameters, or twice that times the number of attributes; its own terms add one or
two roundings each."""

_UNDERFLOW = 1e-290


def _rounded(family: Family, theta: FloatArray, c: FloatArray) -> FloatArray:
    """Distances of attribute distances of shape (rows, attributes), shape (rows,)."""
    if isinstance(family, QuadraticForm):
        products = np.stack([c[:, k] * c[:, m] * (1.0 if k == m else 2.0) for k, m in family.cells], axis=1)
        return np.asarray(products @ theta)
    if isinstance(family, Choquet):
        order = np.argsort(c, axis=1)
        steps = np.diff(np.take_along_axis(c, order, axis=1), axis=1, prepend=0.0)
        subsets = np.cumsum((1 << order)[:, ::-1], axis=1)[:, ::-1]
        return np.asarray((steps * theta[subsets - 1]).sum(axis=1))
    if isinstance(family, KAdditive):
        return np.asarray(np.stack([c[:, list(s)].min(axis=1) for s in family.subsets], axis=1) @ theta)
    if isinstance(family, TwoAdditive):
        first, second = np.triu_indices(c.shape[1], 1)
        low, high = np.minimum(c[:, first], c[:, second]), np.maximum(c[:, first], c[:, second])
        return np.asarray(np.hstack([c, low, high]) @ theta)
    if isinstance(family, OrderedWeightedAverage):
        return np.asarray(np.sort(c, axis=1)[:, ::-1] @ theta)
    return np.asarray(c @ theta)


def linked_blocks(rows: Rows, theta: list[Fraction]) -> list[bool]:
    """Whether each block is linked by exact parameters."""
    # Doubles, and differences of few of them, have powers of two as denominators: the largest fits all.
    unit = max(value.denominator for value in theta)
    whole = [int(value * unit) for value in theta]
    rounded = np.array([float(value) for value in theta])
    return [_is_linked(rows, block, whole, rounded) for block in range(rows.records.blocks)]


def _is_linked(rows: Rows, block: int, whole: list[int], rounded: FloatArray) -> bool:
    records, family = rows.records, rows.family
    if not records.reachable(block):
        return False
    rivals = records.rivals(block)
    if rivals.size == 0:
        return True
    everyone = np.append(rivals, records.partner[block])
    quadratic = isinstance(family, QuadraticForm)
    with np.errstate(all="ignore"):  # what overflows is undecided
        c = records.rounded_distances(block, everyone)
        distance = _rounded(family, rounded, c)
        unit = float(np.array(family.unit) @ rounded)
        largest = np.abs(c).max(axis=1)
        if quadratic:
            size = (c**2).sum(axis=1)
            tie = unit * (TIE_TOLERANCE * size[-1] + CANCELLATION_TOLERANCE * size[:-1])
        else:
            tie = np.full(rivals.size, unit * TIE_TOLERANCE * largest[-1])
        scale = largest**2 if quadratic else largest
        error = _ERROR * (family.dimension + 16) * np.abs(rounded).sum() * scale + _UNDERFLOW
        excess = distance[:-1] - distance[-1] - tie
        unsure = 2.0 * (error[:-1] + error[-1])
        if bool((excess < -unsure).any()):
            return False
        doubtful = rivals[~(excess > unsure)]
    return all(
        sum(a * b for a, b in zip(_doubled(rows, block, rival), whole, strict=True)) > 0
        for rival in doubtful.tolist()
    )


def _doubled(rows: Rows, block: int, rival: int) -> list[int]:
    """The row as coefficients of the parameters: a quadratic form has two entries for one parameter."""
    row, family = rows.row(block, rival), rows.family
    if not isinstance(family, QuadraticForm):
        return row
    return [value if k == m else 2 * value for (k, m), value in zip(family.cells, row, strict=True)]
