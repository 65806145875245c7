"""Which cells to branch on where bounds tell nothing: those that contradictions were made of.

Where all cells cost the same, most branches leave the bound where it is until one of them holds nothing. What
made that so are the decisions whose reduced costs are on the wrong side: without them the bound would be
lower. Cells that were among these often, and lately, lead to the next contradiction soonest (weighted degrees
of constraints: Boussemart, Hemery, Lecoutre and Sais 2004, Boosting systematic search by weighting
constraints; for conflicts of whole programs: Achterberg and Berthold 2009, Hybrid branching).
"""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import FloatArray, LongArray

_GROWTH = 1.02
"""By how much more each contradiction counts than the one before."""

_MOST = 1e100
_WRONG = 1e-6
"""From where on a reduced cost is on the wrong side."""


class Contradictions:
    """How often each cell was among what made a branch empty.

    `cells`: how many there are in all. `weight` (cells,).
    """

    def __init__(self, cells: int) -> None:
        self.weight, self._step = np.zeros(cells), 1.0

    def found(self, ones: LongArray, zeros: LongArray, reduced: FloatArray) -> None:
        """Note a branch that holds nothing better.

        Parameters
        ----------
        ones, zeros : ndarray of int64
            Cells that it suppresses, and publishes.
        reduced : ndarray of float64, shape (cells,)
            Of the relaxation there; 0 of cells that are decided for good.
        """
        guilty = np.concatenate([ones[reduced[ones] > _WRONG], zeros[reduced[zeros] < -_WRONG]])
        self.weight[guilty] += self._step
        self._step *= _GROWTH
        if self._step > _MOST:
            self.weight /= _MOST
            self._step = 1.0
