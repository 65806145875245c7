"""Exact line search: along a line through the parameters every block is linked on one interval.

So the best point of a whole line is the point of largest overlap of intervals, found by one sort.
"""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.solver.engines.attacks.scoring import STRICT, Scorer


def best_on_lines(
    scorer: Scorer, theta: FloatArray, directions: FloatArray, chords: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Find the best point of each line ``theta + t * direction`` within its chord.

    `scorer`: the rows of the open blocks. `theta` (dimension,). `directions` (lines, dimension). `chords`
    (lines, 2): range of t that stays in the domain. Returns (lines,): weight of the open blocks linked at the
    best point of each line. Returns (lines,): the middle of the stretch where that weight is reached.
    """
    low, high = _intervals(scorer, theta, directions)
    low = np.maximum(low, chords[:, 0])
    high = np.minimum(high, chords[:, 1])
    weight = np.broadcast_to(scorer.weight[:, None], low.shape)
    weight = np.where(low < high, weight, 0.0)
    # Intervals are open: where one ends and another begins they do not overlap, so ends sort first.
    places = np.vstack([high, low, chords[:, 1][None, :]])
    changes = np.vstack([-weight, weight, np.zeros((1, low.shape[1]))])
    order = np.argsort(places, axis=0, kind="stable")
    places = np.take_along_axis(places, order, axis=0)
    height = np.cumsum(np.take_along_axis(changes, order, axis=0), axis=0)
    best = np.argmax(np.where(places < chords[:, 1], height, -np.inf), axis=0)
    line = np.arange(low.shape[1])
    following = np.minimum(best + 1, len(places) - 1)
    steps = (places[best, line] + places[following, line]) / 2
    return height[best, line], steps


def _intervals(scorer: Scorer, theta: FloatArray, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where each open block is linked on each line: lower and upper ends, shape (open, lines)."""
    rows, first = scorer.working
    here = scorer.activities(theta[None, :])[:, 0] - STRICT
    low = np.full((first.size, len(directions)), -np.inf)
    high = np.full((first.size, len(directions)), np.inf)
    after = np.append(first, here.size)
    if isinstance(rows, np.ndarray):
        scorer.look(len(directions))
        _cut_dense(rows, after, here, np.ascontiguousarray(directions), low, high)
    else:
        _cut_slopes(scorer.activities(directions), after, here, low, high)
    return low, high


@kernel
def _cut(here: float, slope: float, low: FloatArray, high: FloatArray, line: int) -> None:
    """Cut from an interval where ``here + t * slope`` is not positive."""
    if slope > 0.0:
        low[line] = max(low[line], -here / slope)
    elif slope < 0.0:
        high[line] = min(high[line], -here / slope)
    elif here <= 0.0:
        low[line], high[line] = np.inf, -np.inf


@kernel
def _cut_dense(
    rows: FloatArray,
    first: IndexArray,
    here: FloatArray,
    directions: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> None:
    """Cut the intervals of each block, `first[b]` to `first[b + 1]`, without an array of all slopes."""
    for block in range(first.size - 1):
        for row in range(first[block], first[block + 1]):
            for line in range(directions.shape[0]):
                slope = 0.0
                for k in range(directions.shape[1]):
                    slope += rows[row, k] * directions[line, k]
                _cut(here[row], slope, low[block], high[block], line)


@kernel
def _cut_slopes(
    slopes: FloatArray, first: IndexArray, here: FloatArray, low: FloatArray, high: FloatArray
) -> None:
    """Cut the intervals of each block, given the slope of each row on each line."""
    for block in range(first.size - 1):
        for row in range(first[block], first[block + 1]):
            for line in range(slopes.shape[1]):
                _cut(here[row], slopes[row, line], low[block], high[block], line)
