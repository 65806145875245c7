"""Lists row types under all patterns of suppression, their common generalised rows, and levels of recoding.

A *pattern* is a set of key variables that are taken out of a record. What remains, with a star for what is
missing, is a *node*; records of several types and patterns meet in one. Where a missing value is a category
of its own, a file is k-anonymous when every node that holds a record holds k.

By recoding, a value that stands for l of the L leaves of its hierarchy has lost (l - 1) / (L - 1) of its
information (Iyengar 2002): nothing as it was, all when it is anything, as when it is taken out. A vector of
levels, one for each variable, is a point of a lattice; the coarser, the more records are alike and the more
is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, IntArray, LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.key_table import MISSING, Codes, RowTypes, numbered_rows

MOST_ENTRIES = 60_000_000
"""Largest number of row types times patterns, some gigabytes of memory."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes that at least k records can be in, with their entries: the row types and patterns in each."""

    start: LongArray  # (G + 1,): the entries of node g are ``start[g]`` up to ``start[g + 1]``
    row_type: IntArray  # (E,)
    pattern: IntArray  # (E,): suppressed variables, as bits; none without a value
    cost: LongArray  # (E,): of one record
    count: LongArray  # (T,): records of each row type
    k: int  # records of a used node, at least

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def entries(self) -> int:
        """Number of entries, E."""
        return len(self.row_type)

    @cached_property
    def of_entry(self) -> IntArray:
        """Node (E,) of each entry."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.start))

    @cached_property
    def by_type(self) -> tuple[LongArray, LongArray]:
        """Starts (T + 1,) of row types, and entries (E,) in their order."""
        order = np.argsort(self.row_type, kind="stable").astype(np.int64)
        sizes = np.bincount(self.row_type, minlength=len(self.count))
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), order

    def of_types(self, wanted: LongArray) -> LongArray:
        """Entries of some row types, one type after the other."""
        start, order = self.by_type
        return order[_ranges(start[wanted], start[wanted + 1])]

    def of_nodes(self, wanted: LongArray) -> LongArray:
        """Entries of some nodes, one node after the other."""
        return _ranges(self.start[wanted], self.start[wanted + 1])

    def sums(self, values: NDArray[np.generic]) -> NDArray[np.float64]:
        """Sums (G,) over the entries of each node."""
        return np.bincount(self.of_entry, values, len(self)).astype(np.float64)

    def only(self, entries: BoolArray) -> tuple[Nodes, LongArray]:
        """Keep some entries (E,), but no nodes that fewer than k records could be in; and which these are."""
        records = np.bincount(self.of_entry[entries], self.count[self.row_type[entries]], len(self))
        large = records >= self.k
        kept = np.flatnonzero(entries & large[self.of_entry])
        sizes = np.bincount(self.of_entry[kept], minlength=len(self))[large]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        left = Nodes(start, self.row_type[kept], self.pattern[kept], self.cost[kept], self.count, self.k)
        return left, kept


def check_size(types: RowTypes, allowed: int) -> None:
    """Raise a FormulationError if there are more than `MOST_ENTRIES` row types times patterns."""
    if len(types) << allowed.bit_count() > MOST_ENTRIES:
        raise FormulationError(
            f"{len(types):,} different rows times {1 << allowed.bit_count():,} sets of key variables are too "
            "many to count again exactly: choose fewer key variables, or recode some"
        )


def nodes_of(types: RowTypes, cost: LongArray, allowed: int, k: int) -> Nodes:
    """List the nodes of at least k records, without those that others serve as well.

    Costs (q,) or (T, q) are those of a value of each variable. Where the same records can be in a node and
    in one that keeps more of their values, no optimum needs the former: the latter costs no more.
    """
    check_size(types, allowed)
    patterns = subsets(allowed)
    node = _numbered(types, patterns)
    bits = 1 << np.arange(types.codes.shape[1], dtype=np.int64)
    there = ((types.codes != MISSING) @ bits).astype(np.int64)
    usual = np.stack([(there & pattern) == pattern for pattern in patterns])  # takes what is there only
    size = int(node.max()) + 1
    records = np.zeros(size, dtype=np.int64)
    for row, takes in zip(node, usual, strict=True):
        records += np.bincount(row[takes], types.count[takes], minlength=size).astype(np.int64)
    wanted = (records >= k) & ~_served_by_finer(node, patterns, records)
    return _listed(node, usual, patterns, wanted, types.count, cost, k)


def _listed(
    node: IntArray,
    usual: BoolArray,
    patterns: list[int],
    wanted: BoolArray,
    count: LongArray,
    cost: LongArray,
    k: int,
) -> Nodes:
    """Entries of the wanted nodes, node by node."""
    shape, row_type = np.nonzero(usual & wanted[node])
    number = (np.cumsum(wanted) - 1)[node[shape, row_type]]
    order = np.argsort(number, kind="stable")
    sizes = np.bincount(number, minlength=int(wanted.sum()))
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    owner, pattern = row_type[order].astype(np.int32), np.array(patterns, dtype=np.int32)[shape[order]]
    price = np.zeros(len(order), dtype=np.int64)
    for at, of_variable in enumerate(np.broadcast_to(cost, (len(count), cost.shape[-1])).T):
        gone = pattern >> at & 1 == 1
        price[gone] += of_variable[owner[gone]]
    return Nodes(start, owner, pattern, price, count, k)


def _numbered(types: RowTypes, patterns: list[int]) -> IntArray:
    """Node, from 0, of each row type (columns) under each pattern (rows)."""
    rows = np.stack(list(_labels(types, patterns)))
    numbers = np.unique(rows, return_inverse=True)[1]
    return numbers.reshape(rows.shape).astype(np.int32)


def node_numbers(types: RowTypes, patterns: list[int]) -> Iterator[LongArray]:
    """Node (T,), from 0, of each row type under one pattern after the other."""
    for labels in _labels(types, patterns):
        yield np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _labels(types: RowTypes, patterns: list[int]) -> Iterator[LongArray]:
    """Label (T,) of what each pattern leaves of each row type; equal for equal nodes of any pattern."""
    bits = 1 << np.arange(types.codes.shape[1], dtype=np.int64)
    weights, digits = _radix(types)
    for pattern in patterns:
        yield digits @ np.where(pattern & bits, 0, weights)


def _served_by_finer(node: IntArray, patterns: list[int], records: LongArray) -> BoolArray:
    """Nodes with the same records as one that keeps a value more."""
    place = {pattern: at for at, pattern in enumerate(patterns)}
    served = np.zeros(len(records), dtype=np.bool_)
    for pattern in patterns:
        coarse = node[place[pattern]]
        for at in range(pattern.bit_length()):
            if pattern >> at & 1:
                fine = node[place[pattern & ~(1 << at)]]
                same = (records[fine] == records[coarse]) & (fine != coarse)
                served[coarse[same]] = True
    return served


def _ranges(starts: LongArray, ends: LongArray) -> LongArray:
    """Integers from each start up to its end, one range after the other."""
    sizes = ends - starts
    before = np.cumsum(sizes) - sizes
    steps = np.arange(int(sizes.sum()), dtype=np.int64)
    return np.asarray(steps + np.repeat(starts - before, sizes), dtype=np.int64)


def subsets(mask: int) -> list[int]:
    """Every subset of a set of bits, the empty one first."""
    found, part = [0], 0
    while part != mask:
        part = (part - mask) & mask
        found.append(part)
    return found


def _radix(types: RowTypes) -> tuple[LongArray, LongArray]:
    """Weight (q,) of each variable and digits (T, q), 0 for a star, that number rows without collision."""
    digits = types.codes.astype(np.int64) + 1
    sizes = digits.max(axis=0) + 1
    weights = np.ones(digits.shape[1], dtype=np.int64)
    for at in range(1, len(weights)):
        if int(weights[at - 1]) * int(sizes[at - 1]) > 2**62 // int(sizes[at]):
            raise FormulationError("the key variables have too many values together: recode some")
        weights[at] = weights[at - 1] * sizes[at - 1]
    return weights, digits


Levels = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Recodings:
    """Groups and losses of the values of each key variable, level by level."""

    groups: tuple[IntArray, ...]  # (levels, values): group of each value; at level 0 the values themselves
    losses: tuple[LongArray, ...]  # (levels, values): in units of cost; not less at a coarser level
    suppressed: LongArray  # (q,): loss of a suppressed value, the largest

    @property
    def top(self) -> Levels:
        """The coarsest point."""
        return tuple(len(group) - 1 for group in self.groups)

    def recoded(self, codes: Codes, levels: Levels) -> Codes:
        """Codes (m, q) at a point; missing values stay missing."""
        found = np.full(codes.shape, MISSING, dtype=np.int32)
        for at, (group, level) in enumerate(zip(self.groups, levels, strict=True)):
            there = codes[:, at] != MISSING
            found[there, at] = group[level][codes[there, at]]
        return found

    def lost(self, codes: Codes, levels: Levels) -> LongArray:
        """Loss (m, q) of each value at a point; 0 for missing values."""
        found = np.zeros(codes.shape, dtype=np.int64)
        for at, (loss, level) in enumerate(zip(self.losses, levels, strict=True)):
            there = codes[:, at] != MISSING
            found[there, at] = loss[level][codes[there, at]]
        return found


@dataclass(frozen=True, eq=False)
class Box:
    """Points at least as coarse as `low` and at most as coarse as `high`."""

    low: Levels
    high: Levels

    @property
    def is_point(self) -> bool:
        """Whether the box is one point."""
        return self.low == self.high

    def halves(self, recodings: Recodings) -> Iterator[Box]:
        """Split at the variable whose ends differ most in loss."""
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
    """Bound problem of a box: rows are alike as at its coarsest point and lose as at its finest.

    At a point it is the problem itself.
    """

    types: RowTypes  # different rows of the finest point, with the codes of the coarsest
    kept: LongArray  # (T,): loss of a record of each type without suppression
    more: LongArray  # (T, q): further loss by each suppressed value

    @classmethod
    def of(cls, recodings: Recodings, types: RowTypes, box: Box) -> BoxProblem:
        """The bound problem of a box for the row types of a file."""
        fine = recodings.recoded(types.codes, box.low)
        groups, firsts = numbered_rows(fine)
        codes = types.codes[firsts]
        count = np.bincount(groups, types.count, len(firsts)).astype(np.int64)
        lost = recodings.lost(codes, box.low)
        merged = RowTypes(
            recodings.recoded(codes, box.high), count, count.astype(np.float64), groups[types.of]
        )
        more = np.where(codes == MISSING, 0, recodings.suppressed - lost)
        return cls(merged, lost.sum(axis=1), more.astype(np.int64))

    @property
    def base(self) -> int:
        """Loss without suppression."""
        return int(self.kept @ self.types.count)

    def nodes(self, allowed: int, k: int) -> Nodes:
        """Nodes of at least k records, with costs on top of `base`."""
        return nodes_of(self.types, self.more, allowed, k)

    def least(self, allowed: int, k: int) -> int | None:
        """Bound of each record by itself, in nodes that k records could share; None if there is none."""
        patterns = subsets(allowed)
        best = np.full(len(self.types), np.iinfo(np.int64).max)
        for pattern, number in zip(patterns, node_numbers(self.types, patterns), strict=True):
            records = np.bincount(number, self.types.count)
            gone = np.array([pattern >> at & 1 for at in range(self.more.shape[1])], dtype=np.int64)
            best = np.where(records[number] >= k, np.minimum(best, self.more @ gone), best)
        if (best == np.iinfo(np.int64).max).any():
            return None
        return self.base + int(best @ self.types.count)
