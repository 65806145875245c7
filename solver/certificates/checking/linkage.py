"""Accelerates the slow steps of the core by trees of boxes and compiled code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from operator import le
from typing import Any

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray, LongArray
from linkrisk.solver.certificates.checking.box_kernels import settle_order
from linkrisk.solver.certificates.checking.counting import Count, Settled
from linkrisk.solver.certificates.checking.record_arrays import (
    CHUNK,
    Boxes,
    RecordArrays,
    boxes,
    compared,
    in_chunks,
    spatial_order,
)
from linkrisk.solver.certificates.checking.simplex_kernels import LARGEST_TOTAL, MOST_VALUES, replay
from linkrisk.solver.certificates.core.claims import Claim
from linkrisk.solver.certificates.core.families import Family, Vector
from linkrisk.solver.certificates.core.linkage import Linkage, Order, rounded_up
from linkrisk.solver.certificates.core.records import TIE, Partner, Records

Enough = Callable[[Fraction], bool]
"""Tells whether an order bounded by this weight is worth extending."""


@dataclass(frozen=True)
class Compared:
    """State of the blocks after comparing an order of attributes: number and weight of the linked ones.

    `state` is 0 for a tie, 1 for a linked block, -1 for one that is not; `ties` tells whether there are any.
    """

    state: LongArray
    ties: bool
    count: int
    weight: Fraction


_BEFORE_ALL, _BEFORE_OTHERS, _APART = 1e300, 1e200, 4


class Orders:
    """Compares lexicographic orders of attributes, or ranks, of some records."""

    def __init__(self, arrays: RecordArrays) -> None:
        self._arrays = arrays
        self._compared: Any
        self._compared, self._shadows = compared(arrays)
        distinct = np.array([np.unique(column).size for column in arrays.candidates.T])
        self._shared: BoolArray = distinct**2 <= len(arrays.candidates)
        self._first: tuple[bool, int] | None = None
        self._boxed: Boxes
        self._nearby: IndexArray

    def uncompared(self) -> Compared:
        """Return the initial state: 0 for a tie, 1 for linked, -1 for never linked."""
        state = np.where(self._arrays.reached, 0, -1).astype(np.int64)
        return Compared(state, bool((state == 0).any()), 0, Fraction(0))

    def compare_some(
        self, ranked: bool, sequences: Mapping[int, Sequence[int]], before: Compared, enough: Enough
    ) -> dict[int, Compared]:
        """Extend each sequence by its last attribute; omit orders that cannot link enough."""
        found = {k: self.compare(ranked, sequence, before, enough) for k, sequence in sequences.items()}
        return {k: one for k, one in found.items() if one}

    def compare(
        self, ranked: bool, sequence: Sequence[int], before: Compared, enough: Enough
    ) -> Compared | None:
        """Extend a sequence by its last attribute; None if it cannot link enough."""
        self._begin(ranked, sequence[0])
        state, order = before.state.copy(), np.array(sequence, dtype=np.int64)
        still = self._nearby[state[self._nearby] == 0]
        anew = not ranked and len(sequence) > 1 and self._shared[sequence[-1]]
        boxed = self._boxes_for(ranked, sequence) if anew else self._boxed
        in_boxes: Any = boxed.boxed
        twins = self._arrays.twins[self._arrays.partners]

        def settle(blocks: IndexArray) -> None:
            own = np.empty(blocks.size, dtype=np.int64)
            partners: Any = self._partners(blocks, ranked)
            settle_order(blocks, twins[blocks], partners, ranked, order, self._compared, in_boxes, own)
            state[blocks] = own

        part = CHUNK
        while still.size:
            in_chunks(still[:part], settle)
            still, part = still[part:], 2 * part
            if not enough(self._arrays.weight(state >= 0)):
                return None
        linked = state > 0
        weight = self._arrays.weight(linked)
        return Compared(state, bool((state == 0).any()), int(linked.sum()), weight)

    def _begin(self, ranked: bool, first: int) -> None:
        """Return boxes for all orders that begin with one attribute or rank."""
        if self._first != (ranked, first):
            self._first = ranked, first
            self._boxed = self._boxes_for(ranked, (first,))
            self._nearby = np.argsort(self._boxed.places[self._arrays.partners])

    def _boxes_for(self, ranked: bool, sequence: Sequence[int]) -> Boxes:
        """Return boxes that keep candidates with ties together: shared values are split first."""
        scale = np.where(self._shared, _BEFORE_OTHERS, 1.0)
        if not ranked:
            scale[list(sequence)] = _BEFORE_ALL * 2.0 ** -(_APART * np.arange(len(sequence)))
        return boxes(self._arrays, self._shadows, spatial_order(self._arrays, scale))

    def _partners(self, blocks: IndexArray, ranked: bool) -> tuple[FloatArray, FloatArray]:
        """Return the distances of partners by attribute or rank, and the limits of ties."""
        mine = np.abs(self._arrays.differences(blocks, self._arrays.partners[blocks]))
        tied = (mine + self._arrays.widths[blocks]) * (1.0 + 2.0**-TIE)
        return (-np.sort(-mine), -np.sort(-tied)) if ranked else (mine, tied)


MOST_KEPT = 1 << 22
"""Numbers of cached constraints: memory against recomputation."""

_PROBLEMS = (
    "",
    "a leaf may link more than the bound",
    "there is no such edge",
    "the tree is too deep",
    "the tree is incomplete, or goes on after its end",
    "too many rows are left to keep in memory",
)

MOST_ENTRIES = MOST_VALUES // 4
"""Values of all constraints at the corners of the simplex."""


class FastLinkage(Linkage):
    """Compares records by compiled code, and exactly where doubles are too close.

    If ranks and distances are needed, too (`settled`), the first count of links is taken from them.
    """

    def __init__(self, records: Records, family: Family, *, settles: bool = False) -> None:
        super().__init__(records, family)
        self._settles = settles
        self._partners: dict[int, Partner] = {}
        self._known: dict[tuple[int, int], Vector] = {}
        self._settled: tuple[Sequence[Fraction], Settled] | None = None

    @cached_property
    def arrays(self) -> RecordArrays:
        """Records as arrays."""
        return RecordArrays(self.records)

    @cached_property
    def _orders(self) -> Orders:
        return Orders(self.arrays)

    def partner(self, block: int) -> Partner:
        """Return the cached partner of a block, with its ties."""
        if block not in self._partners:
            self._partners[block] = super().partner(block)
        return self._partners[block]

    def constraint(self, block: int, rival: int) -> Vector:
        """Return the cached constraint that parameters must satisfy for the rival not to prevent the link."""
        known = self._known.get((block, rival))
        if known is None:
            known = super().constraint(block, rival)
            if len(self._known) * len(known) < MOST_KEPT:
                self._known[block, rival] = known
        return known

    def linked(self, theta: Sequence[Fraction]) -> list[bool]:
        """Tell whether exact parameters link each block."""
        first = self._settles and self._settled is None
        linked: list[bool] = (
            self.settled(theta).linked if first else Count(self, self.arrays, theta).linked()
        ).tolist()
        return linked

    def settled(self, theta: Sequence[Fraction]) -> Settled:
        """Compare all blocks by exact parameters."""
        if self._settled is None or self._settled[0] != theta:
            self._settled = theta, Count(self, self.arrays, theta).settled()
        return self._settled[1]

    def orders(self, ranked: bool, first: int, above: Fraction) -> Iterator[Order]:
        """Yield orders that link more than a weight by the core's greedy search, with pruning."""
        front: tuple[int, ...] = ()
        state, left, weight = self._orders.uncompared(), [first], Fraction(-1)
        while left and state.ties:
            longer = {k: (*front, k) for k in left}
            known = self._orders.compare_some(ranked, longer, state, lambda most: most > above)
            if not known:
                return
            yield from (Order((*front, k), ranked, one.count, one.weight) for k, one in known.items())
            # If the best order was pruned, its extensions link too little.
            least = max(one.weight for one in known.values())
            longer = {k: order for k, order in longer.items() if k not in known}
            known |= self._orders.compare_some(ranked, longer, state, partial(le, least))
            best = max(sorted(known), key=lambda k: known[k].weight)
            if known[best].weight <= weight:
                return
            front, state, weight = (*front, best), known[best], known[best].weight
            left = [k for k in range(self.family.n) if k not in front]

    def check_tree(
        self, rivals: Mapping[int, Sequence[int]], weight: Mapping[int, int], most: int, nodes: Claim
    ) -> int:
        """Check a simplex tree in 64-bit integers."""
        many = sum(map(len, rivals.values())) * self.family.dimension
        nodes.demand(many <= MOST_ENTRIES, ": its blocks have too many rivals")
        total = sum(weight.values())
        fits = total <= LARGEST_TOTAL
        nodes.demand(fits, ": the weights of the blocks are too large for a simplex tree")
        nodes.demand(0 <= most <= LARGEST_TOTAL, f": a bound of {most} units is out of range")
        own = np.array([weight[block] for block in rivals], dtype=np.int64)
        left = most - (total - int(own.sum()))  # blocks without rivals count as linked everywhere
        codes = np.frombuffer(nodes.content, dtype=np.uint8)
        problem, at, leaves = replay(*tree_rows(self, rivals), own, left, codes)
        nodes.demand(problem == 0, f"[{at}]: {_PROBLEMS[problem]}")
        return int(leaves)


def tree_rows(linkage: Linkage, rivals: Mapping[int, Sequence[int]]) -> tuple[LongArray, LongArray]:
    """Constraints at the corners of the simplex, and the place of the block of each in `rivals`."""
    many = sum(map(len, rivals.values()))
    values, owner = np.empty((many, linkage.family.dimension), dtype=np.int64), np.empty(many, dtype=np.int64)
    at = 0
    for place, (block, own) in enumerate(rivals.items()):
        for rival in own:
            values[at], owner[at] = rounded_up(linkage.constraint(block, rival)), place
            at += 1
    return values, owner
