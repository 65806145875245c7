"""Primal heuristics of suppression: greedy assignment to nodes, diving, and methods in use today.

For the cover problem, `each_by_itself` breaks one minimal unsafe combination after the other at its cheapest
variable, and `greedily` takes the value that is cheapest for the combinations that it breaks, again and again
(Chvatal 1979). `sdcmicro_suppression` is `localSuppression` of sdcMicro.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, IntArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.kernel_parts import ascending
from linkrisk.formulations.suppression.key_table import (
    MISSING,
    Codes,
    MissingMeaning,
    RowTypes,
    frequencies,
    row_types,
)
from linkrisk.formulations.suppression.node_prices import Volume
from linkrisk.formulations.suppression.nodes import Nodes
from linkrisk.formulations.suppression.unsafe_combinations import MinimalUnsafe
from linkrisk.solver.suppression import steering


@dataclass(eq=False)
class Assignment:
    """Numbers of records by entry: a feasible or partial answer to the recount problem."""

    nodes: Nodes
    records: LongArray  # (E,): how many take each entry

    def __post_init__(self) -> None:
        self.inside: LongArray = self.nodes.sums(self.records).astype(np.int64)
        self.cost = int(self.records @ self.nodes.cost)

    @property
    def allowed(self) -> bool:
        """Tell whether every record has a place, and every node k records or none."""
        nodes = self.nodes
        placed = np.bincount(nodes.row_type, self.records, len(nodes.count))
        complete = bool((placed == nodes.count).all() and (self.records >= 0).all())
        return complete and _filled(self.inside, nodes.k)

    def move(self, entries: LongArray, by: LongArray) -> bool:
        """Move records between entries if every node then has k or none; tell whether it was done.

        An entry may occur several times; every row type keeps its number of records.
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
        """Return the suppressed variables (n,) of each record, as bits; `of` (n,) has the row types."""
        used = np.flatnonzero(self.records)
        order = used[np.argsort(self.nodes.row_type[used], kind="stable")]
        masks = np.repeat(self.nodes.pattern[order].astype(np.int64), self.records[order])
        found = np.empty(len(of), dtype=np.int64)
        found[np.argsort(of, kind="stable")] = masks
        return found


def _filled(inside: LongArray, k: int) -> bool:
    return not ((inside != 0) & (inside < k)).any()


def greedy(nodes: Nodes) -> Assignment:
    """Fill nodes in the order of their costs with all records left for them, if these are k or more."""
    least = np.minimum.reduceat(nodes.cost, nodes.start[:-1])
    order = np.lexsort((-nodes.sums(nodes.count[nodes.row_type]), least))
    left, records = nodes.count.copy(), np.zeros(nodes.entries, dtype=np.int64)
    _fill(nodes.start, nodes.row_type, order, nodes.k, left, records)
    return completed(nodes, records, left)


def completed(nodes: Nodes, records: LongArray, left: LongArray) -> Assignment:
    """Place the remaining records in used nodes, or in the coarsest node, which is filled up."""
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
    """The entry (T,) of each row type into the node that most records could be in."""
    start, order = nodes.by_type
    potential = nodes.sums(nodes.count[nodes.row_type])[nodes.of_entry[order]]
    most = np.repeat(np.maximum.reduceat(potential, start[:-1]), np.diff(start))
    best = np.flatnonzero(potential == most)
    return np.asarray(order[best[np.searchsorted(best, start[1:]) - 1]])  # the last one of each type


def _fill_up(nodes: Nodes, records: LongArray, node: int, inside: LongArray, coarsest: LongArray) -> None:
    """Move records into a coarsest node until it holds k, the cheapest first; all of a node if need be."""
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


def dive(nodes: Nodes, volume: Volume, most: int, stop: Callable[[], bool]) -> Assignment:
    """Dive on the relaxation: open nodes, place records, relax the rest again, until `stop` is true.

    `volume` is near its largest bound; `most` is the largest price.
    """
    part = Volume(nodes, most)
    part.prices = volume.prices.copy()
    average = volume.average
    records = np.zeros(nodes.entries, dtype=np.int64)
    while part.left.any() and not stop():
        if not _round(nodes, part, average, records):
            break
        part.restart()
        for _ in range(steering.DIVE_STEPS):
            part.advance()
        average = part.average
    return completed(nodes, records, part.left)


def _round(nodes: Nodes, part: Volume, average: NDArray[np.float32], records: LongArray) -> bool:
    """Open some nodes and place their records; whether any record was placed."""
    left = part.left[nodes.row_type]
    share = np.where(left > 0, average / np.maximum(left, 1), 0.0).astype(np.float32)
    largest = np.maximum.reduceat(share, nodes.start[:-1])
    likely = np.flatnonzero((largest > steering.HARDLY_OPEN) & ~part.opened)
    order = likely[np.argsort(-largest[likely], kind="stable")]
    if order.size:
        order = order[largest[order] >= min(steering.NEARLY_OPEN, float(largest[order[0]]))]
        order = order[: max(steering.OPENED_AT_ONCE, likely.size // steering.SHARE_OPENED_AT_ONCE)]
    chosen = np.concatenate([order, np.flatnonzero(part.opened)])
    before = int(part.left.sum())
    _place((nodes.start, nodes.row_type, nodes.k), chosen, share, largest, part.opened, part.left, records)
    return int(part.left.sum()) < before


@kernel
def _place(
    nodes: tuple[LongArray, IntArray, int],
    chosen: LongArray,
    share: NDArray[np.float32],
    largest: NDArray[np.float32],
    opened: BoolArray,
    left: LongArray,
    records: LongArray,
) -> None:
    """Place records in nodes one after the other: those with half a share, and k at least in a new node."""
    start, row_type, k = nodes
    for node in chosen:
        begin, end = start[node], start[node + 1]
        least = np.float32(0.5) if opened[node] else np.float32(0.5) * largest[node]
        room, sure = 0, 0
        for at in range(begin, end):
            room += left[row_type[at]]
            if share[at] >= least:
                sure += left[row_type[at]]
        if not opened[node] and room < k:
            continue
        if opened[node] or sure >= k:
            for at in range(begin, end):
                if share[at] >= least:
                    records[at] += left[row_type[at]]
                    left[row_type[at]] = 0
        else:
            wanted = k
            for place in ascending(-share[begin:end]):
                at = begin + place
                many = min(wanted, left[row_type[at]])
                records[at] += many
                left[row_type[at]] -= many
                wanted -= many
                if wanted == 0:
                    break
        opened[node] = True


def each_by_itself(types: RowTypes, minimal: MinimalUnsafe, cost: LongArray) -> BoolArray:
    """Suppress (n, q) the cheapest value of every combination that has lost none, by dimension."""
    masks = np.zeros(len(types), dtype=np.int64)
    cheapest = np.argsort(cost, kind="stable")
    for row_type in np.flatnonzero(minimal.unsafe):
        for combination in minimal.of(int(row_type)):
            if not masks[row_type] & combination:
                masks[row_type] |= _first(cheapest, int(combination))
    return _cells(masks, types, len(cost))


def greedily(types: RowTypes, minimal: MinimalUnsafe, cost: LongArray) -> BoolArray:
    """Suppress (n, q) the value that is cheapest for the combinations that it breaks, again and again."""
    keys = len(cost)
    masks = np.zeros(len(types), dtype=np.int64)
    for row_type in np.flatnonzero(minimal.unsafe):
        unbroken = minimal.of(int(row_type))
        while unbroken.size:
            many = (unbroken[:, None] >> np.arange(keys) & 1).sum(axis=0)
            taken = 1 << int(np.argmin(np.where(many > 0, cost / np.maximum(many, 1), np.inf)))
            masks[row_type] |= taken
            unbroken = unbroken[unbroken & taken == 0]
    return _cells(masks, types, keys)


def _first(order: LongArray, combination: int) -> int:
    return next(1 << int(at) for at in order if combination >> int(at) & 1)


def _cells(masks: LongArray, types: RowTypes, keys: int) -> BoolArray:
    """Suppressed cells (n, q) that have a value."""
    taken = (masks[:, None] >> np.arange(keys) & 1).astype(np.bool_) & (types.codes >= 0)
    return np.asarray(taken[types.of])


_ANYTHING = MissingMeaning(1.0)


def sdcmicro_suppression(codes: Codes, k: int, importance: LongArray | None = None) -> BoolArray:
    """Choose values (n, q) to suppress as `localSuppression` of the R package sdcMicro does.

    Records agree that are equal wherever both have a value. Of each group of equal records, at most k are
    considered. In a round every record below k, those of least frequency first, loses a value: of the
    nearest records, which disagree with it in fewest variables, some disagree in it, and no such variable
    is less important. What earlier records of the round have lost counts for the distances, but frequencies
    are counted after the round, so that a record loses a value that others have made needless. `importance`
    (q,) is 1 for the most important variable; by default those with most values are least important.

    M. Templ, A. Kowarik and B. Meindl (2015). Statistical disclosure control for micro-data using the R
    package sdcMicro. Journal of Statistical Software 67(4). `localSuppression` and `kAnon` of its version 5
    (with alpha = 1 and without combs).
    """
    considered = _some_of_each_group(codes, k)
    part = np.ascontiguousarray(codes[considered])
    if importance is None:
        many = np.array([np.unique(column[column != MISSING]).size for column in codes.T])
        importance = np.empty(codes.shape[1], dtype=np.int64)
        importance[np.argsort(many, kind="stable")] = np.arange(1, codes.shape[1] + 1)
    order = np.argsort(-importance, kind="stable").astype(np.int64)
    while True:
        types = row_types(part)
        count = frequencies(types.codes, types.count.astype(np.float64), _ANYTHING)[types.of]
        below = np.flatnonzero(count < k)
        if not below.size:
            break
        _suppression_round(part, below[np.argsort(count[below], kind="stable")], order)
    found = np.zeros(codes.shape, dtype=np.bool_)
    found[considered] = part != codes[considered]
    return found


def _some_of_each_group(codes: Codes, k: int) -> LongArray:
    """The first k records of each group of equal ones; a missing value equals the first that occurs."""
    filled = codes.copy()
    for column in filled.T:
        there = column[column != MISSING]
        column[column == MISSING] = there[0] if there.size else 0
    group = row_types(filled).of
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    rank = np.arange(len(group)) - np.repeat(starts, np.diff(np.append(starts, len(group))))
    return np.sort(order[rank < k]).astype(np.int64)


@kernel
def _suppression_round(codes: Codes, below: LongArray, order: LongArray) -> None:
    """Suppress a value of every record below k; `order` has the least important variables first."""
    keys = codes.shape[1]
    disagree, here = np.zeros(keys, dtype=np.bool_), np.zeros(keys, dtype=np.bool_)
    for record in below:
        nearest = keys + 1
        for other in range(len(codes)):
            distance = 0
            for at in range(keys):
                mine, theirs = codes[record, at], codes[other, at]
                here[at] = mine != theirs and mine != MISSING and theirs != MISSING
                distance += here[at]
            if distance == 0 or distance > nearest:
                continue
            if distance < nearest:
                nearest = distance
                disagree[:] = False
            for at in range(keys):
                disagree[at] |= here[at]
        if nearest > keys:  # it agrees with all
            continue
        for at in order:
            if disagree[at]:
                codes[record, at] = MISSING
                break
