"""Levels of recoding of every key variable, and what is lost by them and by suppression, in one measure.

A value that stands for l of the L leaves of its hierarchy has lost (l - 1) / (L - 1) of what it said (Iyengar
2002): nothing as it was, all when it is anything, as when it is taken out. A vector of levels, one for each
variable, is a point of a lattice; the coarser, the more records are alike and the more is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import LongArray
from linkrisk.formulations.suppression.key_table import MISSING, Codes, RowTypes, numbered_rows
from linkrisk.formulations.suppression.nodes import Nodes, node_numbers, nodes_of, subsets

Levels = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Recodings:
    """What the values of each key variable become, and lose, level by level.

    Attributes
    ----------
    groups : tuple of ndarray of int32, shape (levels, values)
        Of each variable: the group of each value; level 0 holds the values themselves.
    losses : tuple of ndarray of int64, shape (levels, values)
        What a value loses, in units of cost; not less at a coarser level.
    whole : ndarray of int64, shape (q,)
        What a value loses that is taken out; nothing loses more.
    """

    groups: tuple[NDArray[np.int32], ...]
    losses: tuple[LongArray, ...]
    whole: LongArray

    @property
    def top(self) -> Levels:
        """The coarsest point."""
        return tuple(len(group) - 1 for group in self.groups)

    def recoded(self, codes: Codes, levels: Levels) -> Codes:
        """Codes at a point; what is missing stays so. The shape is that of `codes`, (m, q)."""
        found = np.full(codes.shape, MISSING, dtype=np.int32)
        for at, (group, level) in enumerate(zip(self.groups, levels, strict=True)):
            there = codes[:, at] != MISSING
            found[there, at] = group[level][codes[there, at]]
        return found

    def lost(self, codes: Codes, levels: Levels) -> LongArray:
        """What each value has lost at a point, shape (m, q); one that was missing has nothing to lose."""
        found = np.zeros(codes.shape, dtype=np.int64)
        for at, (loss, level) in enumerate(zip(self.losses, levels, strict=True)):
            there = codes[:, at] != MISSING
            found[there, at] = loss[level][codes[there, at]]
        return found


@dataclass(frozen=True, eq=False)
class Box:
    """Points between two: at least as coarse as `low`, at most as `high`."""

    low: Levels
    high: Levels

    @property
    def is_point(self) -> bool:
        """Whether there is only one."""
        return self.low == self.high

    def halves(self, recodings: Recodings) -> Iterator[Box]:
        """Two boxes that hold all its points, cut where the ends of a variable differ most in loss."""
        spread = [
            int(loss[high].sum() - loss[low].sum()) / max(loss.shape[1], 1) if high > low else -1.0
            for loss, low, high in zip(recodings.losses, self.low, self.high, strict=True)
        ]
        at = int(np.argmax(spread))
        middle = (self.low[at] + self.high[at]) // 2
        yield replace(self, high=_with(self.high, at, middle))
        yield replace(self, low=_with(self.low, at, middle + 1))


def _with(levels: Levels, at: int, level: int) -> Levels:
    return (*levels[:at], level, *levels[at + 1 :])


@dataclass(frozen=True, eq=False)
class BoxProblem:
    """A bound problem of a box: rows are alike as at its coarsest point and lose as at its finest.

    At a point it is the problem itself.

    Attributes
    ----------
    types : RowTypes
        Different rows of the finest point, with the codes of the coarsest.
    kept : ndarray of int64, shape (T,)
        What a record of each type loses when nothing is taken out.
    more : ndarray of int64, shape (T, q)
        What it loses more by each value that is.
    """

    types: RowTypes
    kept: LongArray
    more: LongArray

    @classmethod
    def of(cls, recodings: Recodings, types: RowTypes, box: Box) -> BoxProblem:
        """Make it of the row types of a file."""
        fine = recodings.recoded(types.codes, box.low)
        groups, firsts = numbered_rows(fine)
        codes = types.codes[firsts]
        count = np.bincount(groups, types.count, len(firsts)).astype(np.int64)
        lost = recodings.lost(codes, box.low)
        merged = RowTypes(
            recodings.recoded(codes, box.high), count, count.astype(np.float64), groups[types.of]
        )
        more = np.where(codes == MISSING, 0, recodings.whole - lost)
        return cls(merged, lost.sum(axis=1), more.astype(np.int64))

    @property
    def base(self) -> int:
        """What is lost when nothing is taken out."""
        return int(self.kept @ self.types.count)

    def nodes(self, allowed: int, k: int) -> Nodes:
        """The nodes of at least k records; their costs come on top of `base`."""
        return nodes_of(self.types, self.more, allowed, k)

    def least(self, allowed: int, k: int) -> int | None:
        """What is lost at least: each record by itself, in nodes that k records could share.

        None where some record has no such node.
        """
        patterns = subsets(allowed)
        best = np.full(len(self.types), np.iinfo(np.int64).max)
        for pattern, number in zip(patterns, node_numbers(self.types, patterns), strict=True):
            records = np.bincount(number, self.types.count)
            gone = np.array([pattern >> at & 1 for at in range(self.more.shape[1])], dtype=np.int64)
            best = np.where(records[number] >= k, np.minimum(best, self.more @ gone), best)
        if (best == np.iinfo(np.int64).max).any():
            return None
        return self.base + int(best @ self.types.count)
