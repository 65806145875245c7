"""When the last units between bound and cost are searched one by one.

Where costs are whole units, few of which are between cost and bound from the root on, the least cost that is
not excluded is a search of its own: more cells are decided there by their reduced costs, and branches that
hold nothing of that cost are left early (destructive bounds: Klein and Scholl 1999, Computing lower bounds by
destructive improvement). What excludes it are the same bounds as everywhere, counted with all roundings on
the safe side.
"""

from __future__ import annotations

_FIRST, _UNITS = 100, 2.0
"""Nodes after which it is done, and how many units may be left."""

_LAST = 10
"""As many times as many nodes come before the last unit: a pattern of that cost is better found elsewhere."""

_SHARE = 0.05
"""A unit is at least so much of what the root left open: else the search itself is soon through."""

_NODES, _LONGER = 20_000, 10
"""Nodes of such a search; after one in vain the next comes after so many times as many, and has as many."""


class Exclusion:
    """Says when, and how hard.

    `nodes`: that the next search may have.
    """

    def __init__(self) -> None:
        self._first, self.nodes = _FIRST, _NODES

    def due(self, nodes: int, root: float, bound: float, cutoff: float) -> bool:
        """Whether it is time, after so many nodes of the search itself; nothing above `cutoff` counts."""
        if (cutoff - root) * _SHARE > 1.0:
            return False
        first = self._first if bound <= cutoff - 1.0 + 1e-9 else self._first * _LAST
        return nodes >= first and cutoff - _UNITS < bound <= cutoff

    def searched(self, *, excluded: bool) -> None:
        """Whether the last one had nodes enough."""
        if not excluded:
            self._first, self.nodes = self._first * _LONGER, self.nodes * _LONGER
