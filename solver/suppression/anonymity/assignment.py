"""Where every record goes: an answer to the recount problem, and how it is completed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import IntArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.suppression.nodes import Nodes


@dataclass(eq=False)
class Assignment:
    """Records by entry.

    Attributes
    ----------
    nodes : Nodes
    records : ndarray of int64, shape (E,)
        How many take each entry.
    """

    nodes: Nodes
    records: LongArray

    def __post_init__(self) -> None:
        self.inside: LongArray = self.nodes.sums(self.records).astype(np.int64)
        self.cost = int(self.records @ self.nodes.cost)

    @property
    def allowed(self) -> bool:
        """Whether every record has a place, and every node k records or none."""
        nodes = self.nodes
        placed = np.bincount(nodes.row_type, self.records, len(nodes.count))
        whole = bool((placed == nodes.count).all() and (self.records >= 0).all())
        return whole and _filled(self.inside, nodes.k)

    def move(self, entries: LongArray, by: LongArray) -> bool:
        """Change the records of some entries, if every node then holds k or none; whether that was done.

        An entry may stand there several times; every row type keeps its number of records.
        """
        nodes = self.nodes
        balance = np.bincount(nodes.row_type[entries], by)
        places, at = np.unique(nodes.of_entry[entries], return_inverse=True)
        inside = self.inside[places] + np.bincount(at, by, len(places)).astype(np.int64)
        if balance.any() or not _filled(inside, nodes.k):
            return False
        np.add.at(self.records, entries, by)
        self.inside[places] = inside
        self.cost += int(by @ nodes.cost[entries])
        return True

    def taken(self, of: LongArray) -> LongArray:
        """What is taken from each record, as bits; `of` has their row types, shape (n,)."""
        used = np.flatnonzero(self.records)
        order = used[np.argsort(self.nodes.row_type[used], kind="stable")]
        masks = np.repeat(self.nodes.pattern[order].astype(np.int64), self.records[order])
        found = np.empty(len(of), dtype=np.int64)
        found[np.argsort(of, kind="stable")] = masks
        return found


def _filled(inside: LongArray, k: int) -> bool:
    return not ((inside != 0) & (inside < k)).any()


def greedy(nodes: Nodes) -> Assignment:
    """Fill nodes in the order of their costs, each with all that is left for it, where that is k or more."""
    least = np.minimum.reduceat(nodes.cost, nodes.start[:-1])
    order = np.lexsort((-nodes.sums(nodes.count[nodes.row_type]), least))
    left, records = nodes.count.copy(), np.zeros(nodes.entries, dtype=np.int64)
    _fill(nodes.start, nodes.row_type, order, nodes.k, left, records)
    return completed(nodes, records, left)


def completed(nodes: Nodes, records: LongArray, left: LongArray) -> Assignment:
    """Place the rest: in nodes that are used, or else in the one that keeps least, which is filled up."""
    inside = nodes.sums(records).astype(np.int64)
    coarsest = _coarsest(nodes)
    for owner in np.flatnonzero(left):
        entries = nodes.of_types(np.array([owner]))
        open_ones = entries[inside[nodes.of_entry[entries]] >= nodes.k]
        chosen = open_ones[np.argmin(nodes.cost[open_ones])] if open_ones.size else coarsest[owner]
        records[chosen] += left[owner]
        inside[nodes.of_entry[chosen]] += left[owner]
    for node in np.flatnonzero((inside > 0) & (inside < nodes.k)):
        _fill_up(nodes, records, int(node), inside, coarsest)
    answer = Assignment(nodes, records)
    if not answer.allowed:
        raise AssertionError("a completed assignment leaves records without a place, or nodes of too few")
    return answer


def _coarsest(nodes: Nodes) -> LongArray:
    """The entry of each row type into the node that most records could be in, shape (T,)."""
    start, order = nodes.by_type
    potential = nodes.sums(nodes.count[nodes.row_type])[nodes.of_entry[order]]
    most = np.repeat(np.maximum.reduceat(potential, start[:-1]), np.diff(start))
    best = np.flatnonzero(potential == most)
    return np.asarray(order[best[np.searchsorted(best, start[1:]) - 1]])  # the last one of each type


def _fill_up(nodes: Nodes, records: LongArray, node: int, inside: LongArray, coarsest: LongArray) -> None:
    """Move records into a coarsest node until it holds k, the cheapest first; whole nodes if need be."""
    while inside[node] < nodes.k:
        used = np.flatnonzero(records)
        target = coarsest[nodes.row_type[used]]
        fits = (nodes.of_entry[target] == node) & (nodes.of_entry[used] != node)
        used, target = used[fits], target[fits]
        places = nodes.of_entry[used]
        spare = inside[places] > nodes.k
        more = (nodes.cost[target] - nodes.cost[used]) * np.where(spare, 1, records[used])
        at = np.lexsort((more, ~spare))[0]
        moved = np.array([at]) if spare[at] else np.flatnonzero(places == places[at])
        for one in moved:
            many = 1 if spare[at] else int(records[used[one]])
            records[used[one]] -= many
            records[target[one]] += many
            inside[places[one]] -= many
            inside[node] += many


@kernel
def _fill(
    start: LongArray,
    row_type: IntArray,
    order: NDArray[np.int64],
    k: int,
    left: LongArray,
    records: LongArray,
) -> None:
    for node in order:
        room = 0
        for at in range(start[node], start[node + 1]):
            room += left[row_type[at]]
        if room >= k:
            for at in range(start[node], start[node + 1]):
                records[at] += left[row_type[at]]
                left[row_type[at]] = 0
