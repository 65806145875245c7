"""Score parameters on the rows of the blocks, and search lines through the parameters exactly.

On a line every block is linked on one interval, so one sort finds the point that most intervals cover.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.run.work import ENTRY, Spend, ignore

STRICT = 1e-9
"""A row of unit length holds if its activity exceeds this tolerance, which covers rounding."""

_CELLS = 4_000_000
_ALL_ROWS = 60_000
_ROWS_PER_BLOCK = 12


class Scorer:
    """Evaluates margins and linked weights of parameter vectors by matrix products.

    For a large system only a working set of rows is evaluated: those that were among the tightest of their
    block at some probe. Values on the working set can only be too high; `exact_margins` evaluates every row,
    and adds those that were missing to the working set.

    `system`: the rows of all open blocks; there must be at least one. `probes` (any, dimension): points whose
    tightest rows make the first working set. `spend`: called with the cost of every pass over the rows.
    `weight` (open,): weight of each open block.
    """

    def __init__(self, system: BlockSystem, probes: FloatArray | None = None, spend: Spend = ignore) -> None:
        self.system, self.spend = system, spend
        self._all = system.values
        self._cells = system.values.size  # entries, or non-zeros of a sparse matrix
        self._first_of_all = np.searchsorted(system.row_open, np.arange(system.open_blocks.size))
        self.weight = system.open_weight
        self._blocks: dict[int, FloatArray | sparse.csr_array] = {}
        if system.rows <= _ALL_ROWS or probes is None:
            self._use(np.arange(system.rows))
        else:
            tight = [self._tight(point) for point in probes]
            self._use(np.unique(np.concatenate(tight)))

    def _use(self, rows: IndexArray) -> None:
        self._rows = rows
        self._working = np.zeros(self.system.rows, dtype=bool)
        self._working[rows] = True
        whole = rows.size == self.system.rows
        self._active: FloatArray | sparse.csr_array = self._all if whole else self._all[rows]
        owner = self.system.row_open[rows]
        self._first = np.searchsorted(owner, np.arange(self.system.open_blocks.size))

    def _tight(self, theta: FloatArray) -> IndexArray:
        """Find the few tightest rows of each block at `theta`."""
        self.spend(ENTRY * self._cells)
        return nearest_rows(self._all @ theta, np.append(self._first_of_all, self.system.rows))

    @property
    def working(self) -> tuple[FloatArray | sparse.csr_array, IndexArray]:
        """Return the rows of the working set, and where each open block begins among them."""
        return self._active, self._first

    @property
    def points_at_once(self) -> int:
        """Choose how many points or directions fit into one matrix product, by memory."""
        return max(1, _CELLS // max(1, self._rows.size))

    def look(self, points: int) -> None:
        """Account for one pass over the working set at so many points."""
        self.spend(ENTRY * self._active.size * points)

    def activities(self, points: FloatArray) -> FloatArray:
        """``row @ point`` for the rows of the working set: shape (rows, points)."""
        self.look(len(points))
        return np.asarray(self._active @ points.T)

    def block_minimum(self, values: FloatArray) -> FloatArray:
        """Smallest value among each open block's rows: shape (rows, any) to (open, any)."""
        return np.minimum.reduceat(values, self._first, axis=0)

    def weights(self, points: FloatArray) -> FloatArray:
        """Evaluate the linked weight of the open blocks at each point, shape (points,); an upper bound."""
        size = self.points_at_once
        parts = [
            self.weight @ (self.block_minimum(self.activities(points[at : at + size])) > STRICT)
            for at in range(0, len(points), size)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def linked(self, points: FloatArray) -> NDArray[np.bool_]:
        """Decide which open blocks each point links, by all rows: shape (open, points)."""
        self.spend(ENTRY * self._cells * len(points))
        size = max(1, _CELLS // max(1, self.system.rows))
        parts = [
            np.minimum.reduceat(np.asarray(self._all @ points[at : at + size].T), self._first_of_all, axis=0)
            for at in range(0, len(points), size)
        ]
        return np.hstack(parts) > STRICT

    def exact_margins(self, theta: FloatArray) -> FloatArray:
        """Compute the smallest activity of each open block over all its rows, shape (open,)."""
        return self.tightest_rows(theta)[1]

    def exact_weight(self, theta: FloatArray) -> float:
        """Compute the linked weight of the open blocks at `theta` over all rows."""
        return float(self.weight @ (self.exact_margins(theta) > STRICT))

    def tightest_of(self, blocks: IndexArray, theta: FloatArray) -> tuple[IndexArray, FloatArray]:
        """Find the row of smallest activity of each of a few open blocks, and that activity."""
        rows = np.empty(blocks.size, dtype=np.intp)
        smallest = np.empty(blocks.size)
        for at, block in enumerate(blocks.tolist()):
            of_block = self._rows_of(block)
            self.spend(ENTRY * of_block.size)
            activity = of_block @ theta
            tightest = int(np.argmin(activity))
            rows[at], smallest[at] = self._first_of_all[block] + tightest, activity[tightest]
        return rows, smallest

    def _rows_of(self, block: int) -> FloatArray | sparse.csr_array:
        if block not in self._blocks:
            ends = np.append(self._first_of_all, self.system.rows)
            self._blocks[block] = self._all[ends[block] : ends[block + 1]]
        return self._blocks[block]

    def tightest_rows(self, theta: FloatArray, *, everywhere: bool = True) -> tuple[IndexArray, FloatArray]:
        """Find the row of smallest activity of each open block, and that activity.

        `theta` (dimension,). `everywhere`: evaluate all rows, and add those that were missing to the working
        set; otherwise evaluate the working set alone.
        """
        self.spend(ENTRY * (self._cells if everywhere else self._active.size))
        if not everywhere:
            return _tightest(self._active @ theta, self._first, self._rows)
        rows, smallest = _tightest(self._all @ theta, self._first_of_all, None)
        if self._rows.size < self.system.rows:
            short = rows[smallest <= STRICT]
            missed = short[~self._working[short]]
            if missed.size:
                self._use(np.sort(np.concatenate([self._rows, missed])))
        return rows, smallest


@kernel
def _smallest(values: FloatArray, first: IndexArray, count: int) -> IndexArray:
    """Find the positions of the `count` smallest values of each block, (blocks, count); -1 beyond its rows.

    Block b is ``first[b]`` to ``first[b + 1]``; equal values rank by their place.
    """
    blocks = first.size - 1
    few = np.full((blocks, count), -1, dtype=np.intp)
    for block in range(blocks):
        kept = few[block]
        size = 0
        for at in range(first[block], first[block + 1]):
            if size == count and values[at] >= values[kept[count - 1]]:
                continue
            place = size if size < count else count - 1
            while place > 0 and values[at] < values[kept[place - 1]]:
                kept[place] = kept[place - 1]
                place -= 1
            kept[place] = at
            size = min(size + 1, count)
    return few


def nearest_rows(activity: FloatArray, first: IndexArray) -> IndexArray:
    """Find the rows of smallest activity of each block; block b has rows ``first[b]`` to ``first[b + 1]``."""
    few = _smallest(activity, first, _ROWS_PER_BLOCK)
    return np.asarray(few[few >= 0])


def _tightest(
    activity: FloatArray, first: IndexArray, names: IndexArray | None
) -> tuple[IndexArray, FloatArray]:
    """Find the position (or name) and value of each block's smallest activity; blocks begin at `first`."""
    smallest = np.minimum.reduceat(activity, first)
    sizes = np.diff(np.append(first, activity.size))
    hit = np.flatnonzero(activity == np.repeat(smallest, sizes))
    places = hit[np.searchsorted(hit, first)]
    return (places if names is None else names[places]), smallest


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
    # Intervals are open, so intervals that only touch do not overlap: ends sort before starts.
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
    """Compute the interval on which each open block is linked on each line: two arrays (open, lines)."""
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
    """Remove from an interval the part where ``here + t * slope`` is not positive."""
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
    """Intersect the intervals of each block, `first[b]` to `first[b + 1]`, without storing all slopes."""
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
    """Intersect the intervals of each block, given the slope of each row on each line."""
    for block in range(first.size - 1):
        for row in range(first[block], first[block + 1]):
            for line in range(slopes.shape[1]):
                _cut(here[row], slopes[row, line], low[block], high[block], line)
