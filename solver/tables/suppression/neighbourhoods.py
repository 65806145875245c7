"""Where better patterns may be: most cells decided as in patterns that are known, the few others searched.

What the relaxation's point and the best pattern agree on is decided (relaxation induced neighbourhoods,
Danna, Rothberg and Le Pape 2005), or a random part of what the best pattern suppresses (Rothberg 2007). Cells
that are dear by their reduced costs are published. What is random follows a fixed seed, and effort is counted
in solves of relaxations, not in seconds: the same search goes the same way everywhere.
"""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray

_WHOLE = 1e-5
_MOST_NODES = 40
_MOST_OPEN = (120, 200)
"""Cells left open that the best pattern publishes: for what is agreed on, and for random parts."""

_SHARE = 0.4
"""Solves for neighbourhoods, as a share of all of the search."""

_BEFORE, _FIRST = 60, 100
"""Nodes before the first one (easy tables are done by then), and solves that they have at once then."""

_LEAST_PART, _MOST_PART = 0.2, 0.9


class Neighbourhoods:
    """Chooses what is decided in each of them, and how much effort each is worth."""

    def __init__(self) -> None:
        self._generator = np.random.default_rng(0)
        self._part = 0.5
        self._turn, self._spent = 0, 0
        self.nodes = _MOST_NODES

    def affordable(self, nodes: int, solves: int) -> bool:
        """Whether another one may be searched after so many nodes and solves of the search itself."""
        return nodes >= _BEFORE and self._spent < _FIRST + _SHARE * solves

    def choose(self, best: BoolArray, point: FloatArray, reduced: FloatArray) -> tuple[BoolArray, BoolArray]:
        """Cells that are published, and cells that are suppressed, shape (n,) each.

        `best` (n,). `point`, `reduced` (n,): of the relaxation: 0 where cells are decided.
        """
        induced = self._turn % 3 == 0
        self._turn += 1
        other = np.flatnonzero(~best)
        dear = np.where(point[other] > _WHOLE, -1.0, reduced[other])
        zeros = np.zeros(best.size, dtype=np.bool_)
        zeros[other[np.argsort(dear, kind="stable")[_MOST_OPEN[0 if induced else 1] :]]] = True
        if induced:
            return zeros, best & (point > 1.0 - _WHOLE)
        return zeros, best & (self._generator.random(best.size) < self._part)

    def searched(self, solves: int, *, better: bool, whole: bool) -> None:
        """How many solves one took, whether it held a better pattern, and whether it was searched wholly."""
        self._spent += max(solves, 1)
        if better:
            return
        if whole:  # too small to hold one
            self._part = max(_LEAST_PART, self._part - 0.05)
        else:
            self._part = min(_MOST_PART, self._part + 0.05)
