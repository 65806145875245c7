"""Exact line search: along a line through the parameters every block is linked on one interval.

So the best point of a whole line is the point of largest overlap of intervals, found by one sort.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solver.engines.scoring import STRICT, Scorer

FloatArray = NDArray[np.float64]


def best_on_lines(
    scorer: Scorer, theta: FloatArray, directions: FloatArray, chords: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Find the best point of each line ``theta + t * direction`` within its chord.

    Parameters
    ----------
    scorer : Scorer
        The rows of the open blocks.
    theta : ndarray of float64, shape (dimension,)
    directions : ndarray of float64, shape (lines, dimension)
    chords : ndarray of float64, shape (lines, 2)
        Range of t that stays in the domain.

    Returns
    -------
    weights : ndarray of float64, shape (lines,)
        Weight of the open blocks linked at the best point of each line.
    steps : ndarray of float64, shape (lines,)
        The middle of the stretch where that weight is reached.
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
    here = scorer.activities(theta[None, :]) - STRICT
    slope = scorer.activities(directions)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = -here / slope
    rising, falling = slope > 0.0, slope < 0.0
    never = ~rising & ~falling & (here <= 0.0)
    low = np.where(rising, crossing, np.where(never, np.inf, -np.inf))
    high = np.where(falling, crossing, np.where(never, -np.inf, np.inf))
    return scorer.block_maximum(low), scorer.block_minimum(high)
