"""Score many parameter vectors at once on the rows of a block system."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from formulations.block_system import BlockSystem

FloatArray = NDArray[np.float64]

STRICT = 1e-9
"""A row of unit length holds when its activity is above this: smaller ones are within rounding."""

_CELLS = 4_000_000


class Scorer:
    """Margins and linked weights of parameter vectors, by matrix products.

    Parameters
    ----------
    system : BlockSystem
        The rows of all open blocks; there must be at least one.

    Attributes
    ----------
    weight : ndarray of float64, shape (open,)
        What linking each open block counts.
    points_at_once : int
        How many points or directions a matrix product should take, for the sake of memory.
    """

    def __init__(self, system: BlockSystem) -> None:
        self.system = system
        density = system.matrix.nnz / max(1, system.rows * system.aggregator.dimension)
        self._matrix = system.matrix.toarray() if density > 0.3 else system.matrix
        self._first = np.searchsorted(system.row_open, np.arange(system.open_blocks.size))
        self.weight = system.open_weight
        self.points_at_once = max(1, _CELLS // max(1, system.rows))

    def row_activity(self, theta: FloatArray) -> FloatArray:
        """``row @ theta`` for every row, shape (rows,)."""
        return np.asarray(self._matrix @ theta)

    def activities(self, points: FloatArray) -> FloatArray:
        """``row @ point`` for every row and point, shape (rows, points)."""
        return np.asarray(self._matrix @ points.T)

    def block_minimum(self, values: FloatArray) -> FloatArray:
        """Smallest value among each open block's rows: shape (rows, any) to (open, any)."""
        return np.minimum.reduceat(values, self._first, axis=0)

    def block_maximum(self, values: FloatArray) -> FloatArray:
        """Largest value among each open block's rows: shape (rows, any) to (open, any)."""
        return np.maximum.reduceat(values, self._first, axis=0)

    def margins(self, points: FloatArray) -> FloatArray:
        """Smallest activity of each open block at each point: shape (open, points)."""
        size = self.points_at_once
        parts = [
            self.block_minimum(self.activities(points[first : first + size]))
            for first in range(0, len(points), size)
        ]
        return np.hstack(parts)

    def weights(self, points: FloatArray) -> FloatArray:
        """Linked weight of the open blocks at each point, shape (points,)."""
        return np.asarray(self.weight @ (self.margins(points) > STRICT))

    def tightest_rows(self, theta: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
        """For each open block, its row of smallest activity and that activity."""
        activity = self.row_activity(theta)
        smallest = self.block_minimum(activity)
        hit = np.flatnonzero(activity == smallest[self.system.row_open])
        _, first = np.unique(self.system.row_open[hit], return_index=True)
        return hit[first], smallest
