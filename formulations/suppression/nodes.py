"""Row types under all patterns of suppression, and the generalised rows that they then share.

A *pattern* is a set of key variables that are taken out of a record. What remains, with a star for what is
missing, is a *node*; records of several types and patterns meet in one. Where a missing value is a category
of its own, a file is k-anonymous when every node that holds a record holds k.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, IntArray, LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.key_table import MISSING, RowTypes

MOST_ENTRIES = 60_000_000
"""Row types times patterns that are listed: some gigabytes."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes that at least k records can be in, each with the ways into it.

    Attributes
    ----------
    start : ndarray of int64, shape (G + 1,)
        The entries of node g are ``start[g]`` up to ``start[g + 1]``.
    row_type : ndarray of int32, shape (E,)
        The row type of each entry.
    pattern : ndarray of int32, shape (E,)
        What is taken from its records, as bits; of values that are there.
    cost : ndarray of int64, shape (E,)
        Of that, for one record.
    count : ndarray of int64, shape (T,)
        Records of each row type.
    k : int
        How many records a node holds, or none.
    """

    start: LongArray
    row_type: IntArray
    pattern: IntArray
    cost: LongArray
    count: LongArray
    k: int

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def entries(self) -> int:
        """How many ways there are into all nodes, E."""
        return len(self.row_type)

    @cached_property
    def of_entry(self) -> IntArray:
        """The node of each entry, shape (E,)."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.start))

    @cached_property
    def by_type(self) -> tuple[LongArray, LongArray]:
        """Starts, shape (T + 1,), and entries in the order of their row types, shape (E,)."""
        order = np.argsort(self.row_type, kind="stable").astype(np.int64)
        sizes = np.bincount(self.row_type, minlength=len(self.count))
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), order

    def of_types(self, wanted: LongArray) -> LongArray:
        """The entries of some row types, one type after the other."""
        start, order = self.by_type
        return order[_ranges(start[wanted], start[wanted + 1])]

    def of_nodes(self, wanted: LongArray) -> LongArray:
        """The entries of some nodes, one node after the other."""
        return _ranges(self.start[wanted], self.start[wanted + 1])

    def sums(self, values: NDArray[np.generic]) -> NDArray[np.float64]:
        """Sums over the entries of each node, shape (G,)."""
        return np.bincount(self.of_entry, values, len(self)).astype(np.float64)

    def only(self, entries: BoolArray) -> tuple[Nodes, LongArray]:
        """What is left when only some entries are allowed, and which these are.

        Nodes that fewer than k records could then be in go too.
        """
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
    """List the nodes of at least k records, but those that others serve as well.

    Where the same records can be in a node and in one that keeps more of their values, no optimum needs the
    former: the latter costs no more.

    Parameters
    ----------
    types : RowTypes
        T of them, with q key variables.
    cost : ndarray of int64, shape (q,) or (T, q)
        Of taking a value of each variable, of whatever record or of one of each type; not negative.
    allowed : int
        Variables that may be taken, as bits.
    k : int

    Raises
    ------
    FormulationError
        If there are more than `MOST_ENTRIES` types times patterns.
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
    """The entries of the nodes that are wanted, node by node."""
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
    """The node of each row type (columns) under each pattern (rows), numbered from 0."""
    rows = np.stack(list(_labels(types, patterns)))
    numbers = np.unique(rows, return_inverse=True)[1]
    return numbers.reshape(rows.shape).astype(np.int32)


def node_numbers(types: RowTypes, patterns: list[int]) -> Iterator[LongArray]:
    """The node of each row type under one pattern after the other, shape (T,), each numbered from 0."""
    for labels in _labels(types, patterns):
        yield np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _labels(types: RowTypes, patterns: list[int]) -> Iterator[LongArray]:
    """A number for what each pattern leaves of each row type; equal for equal nodes of whatever pattern."""
    bits = 1 << np.arange(types.codes.shape[1], dtype=np.int64)
    weights, digits = _radix(types)
    for pattern in patterns:
        yield digits @ np.where(pattern & bits, 0, weights)


def _served_by_finer(node: IntArray, patterns: list[int], records: LongArray) -> BoolArray:
    """Nodes that no record can be in but those of one that keeps a value more."""
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
    """The whole numbers from each start up to its end, one range after the other."""
    sizes = ends - starts
    before = np.cumsum(sizes) - sizes
    steps = np.arange(int(sizes.sum()), dtype=np.int64)
    return np.asarray(steps + np.repeat(starts - before, sizes), dtype=np.int64)


def subsets(mask: int) -> list[int]:
    """Every part of a set of bits, the empty one first."""
    found, part = [0], 0
    while part != mask:
        part = (part - mask) & mask
        found.append(part)
    return found


def _radix(types: RowTypes) -> tuple[LongArray, LongArray]:
    """A weight for each variable and digits of each row, 0 for a star, that number rows without collision."""
    digits = types.codes.astype(np.int64) + 1
    sizes = digits.max(axis=0) + 1
    weights = np.ones(digits.shape[1], dtype=np.int64)
    for at in range(1, len(weights)):
        if int(weights[at - 1]) * int(sizes[at - 1]) > 2**62 // int(sizes[at]):
            raise FormulationError("the key variables have too many values together: recode some")
        weights[at] = weights[at - 1] * sizes[at - 1]
    return weights, digits
