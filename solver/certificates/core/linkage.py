"""What some parameters link, and what comparing one attribute after another links, exactly and slowly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .claims import demand
from .families import Family, Vector
from .records import Partner, Records
from .simplex_tree import Tree, rounded_up

MOST_KEPT = 1 << 22
"""Numbers of constraints that are remembered."""


Enough = Callable[[Fraction], bool]
"""Whether a weight that an order and all longer ones cannot exceed is worth to be searched."""


@dataclass(frozen=True)
class Compared:
    """What an order of attributes leaves of the blocks: how many are linked, and their weight.

    `state` is what the next comparison starts from; `ties` says whether some blocks are neither linked nor
    excluded, as some rivals tie with their partners.
    """

    state: Any
    ties: bool
    count: int
    weight: Fraction


class Linkage:
    """Records compared by a family of distances.

    `linked`, `uncompared`, `compare` and `check_tree` take long on large files: `verify` has a subclass with
    faster ones, which is held against this one by tests.
    """

    def __init__(self, records: Records, family: Family) -> None:
        self.records, self.family = records, family
        self._partners: dict[int, Partner] = {}
        self._known: dict[tuple[int, int], Vector] = {}

    def partner(self, block: int) -> Partner:
        """The partner of a block, with its ties."""
        if block not in self._partners:
            self._partners[block] = self.records.partner_of(block, self.family.squares)
        return self._partners[block]

    def constraint(self, block: int, rival: int) -> Vector:
        """What must be positive for the rival not to keep the block from being linked."""
        known = self._known.get((block, rival))
        if known is None:
            known = self.family.constraint(self.partner(block), self.records.distances(block, rival))
            if len(self._known) * len(known) < MOST_KEPT:
                self._known[block, rival] = known
        return known

    def never(self, block: int, rival: int) -> bool:
        """Whether the rival keeps the block from being linked by all parameters."""
        return self.family.never(self.partner(block), self.records.distances(block, rival))

    def combined(self, entries: Iterable[tuple[int, int, int]]) -> Vector:
        """The sum of multiplier times constraint over (block, rival, multiplier)."""
        total = [0] * self.family.dimension
        for block, rival, multiplier in entries:
            vector = self.constraint(block, rival)
            total = [a + multiplier * b for a, b in zip(total, vector, strict=True)]
        return total

    def check_rival(self, block: int, rival: int, where: str) -> None:
        """Reject numbers that are no block whose partner is possible, and one of its rivals."""
        demand(0 <= block < self.records.blocks, f"{where}: there is no block {block}")
        reachable = self.records.reachable(block)
        demand(reachable, f"{where}: the partner of block {block} is impossible, so it has no rivals")
        rivals = self.records.is_rival(block, rival)
        demand(rivals, f"{where}: candidate {rival} is not a rival of block {block}")

    # ---- slow steps

    def linked(self, theta: Sequence[Fraction]) -> list[bool]:
        """Whether exact parameters link each block: every rival is farther than the partner and its ties."""
        numbers, records = whole_numbers(theta), self.records
        return [
            records.reachable(block)
            and all(self.is_farther(block, rival, numbers) for rival in records.rivals(block))
            for block in range(records.blocks)
        ]

    def is_farther(self, block: int, rival: int, theta: Sequence[int]) -> bool:
        """Whether a rival does not keep a block from being linked by whole parameters."""
        vector = self.family.constraint(self.partner(block), self.records.distances(block, rival))
        return sum(a * b for a, b in zip(vector, theta, strict=True)) > 0

    def uncompared(self) -> Compared:
        """All blocks, each with all its rivals."""
        records = self.records
        blocks = (block for block in range(records.blocks) if records.reachable(block))
        state = {block: list(records.rivals(block)) for block in blocks}
        return Compared(state, any(state.values()), 0, Fraction(0))

    def compare(
        self, ranked: bool, sequence: Sequence[int], before: Compared, enough: Enough
    ) -> Compared | None:
        """What is left when the last attribute (or rank) of a sequence is compared, too.

        None where the weight of all blocks that this order or a longer one may link is not enough.
        """
        records, k = self.records, sequence[-1]

        def size_of(values: list[float]) -> float:
            return sorted(values, reverse=True)[k] if ranked else values[k]

        after: dict[int, list[int]] = {}
        for block, rivals in before.state.items():
            own = size_of(records.sizes(block, records.partner[block]))
            tied = size_of(records.tied_sizes(block))
            near = [rival for rival in rivals if size_of(records.sizes(block, rival)) <= tied]
            if all(size_of(records.sizes(block, rival)) == own for rival in near):
                after[block] = near
        if not enough(records.weight(after)):
            return None
        linked = [block for block, rivals in after.items() if not rivals]
        return Compared(after, len(linked) < len(after), len(linked), records.weight(linked))

    def check_tree(
        self, rivals: Mapping[int, Sequence[int]], weight: Mapping[int, int], most: int, tree: Tree
    ) -> int:
        """Check that a simplex tree proves a bound, by these rivals of blocks; the number of its leaves."""
        vertices = {
            block: [rounded_up(self.constraint(block, rival)) for rival in own]
            for block, own in rivals.items()
        }
        return tree.check(vertices, weight, most)


def whole_numbers(theta: Sequence[Fraction]) -> list[int]:
    """Parameters times a common factor; denominators of doubles are powers of two."""
    unit = max(value.denominator for value in theta)
    return [int(value * unit) for value in theta]


@dataclass(frozen=True)
class Order:
    """An order of attributes (or ranks of attribute distances, `ranked`) and the blocks that it links.

    Each is compared only where those before it tie: limits of weighted distances whose weights are farther
    and farther apart. A bound on distances that differ by more than ties does not cover them.
    """

    sequence: tuple[int, ...]
    ranked: bool
    count: int
    weight: Fraction

    def described(self, attributes: Sequence[str]) -> str:
        """What is compared, in words; `attributes` are what to call them."""
        ranks = [f"the attribute distance of rank {k + 1}" for k in range(len(attributes))]
        names = ranks if self.ranked else attributes
        compared = f"comparing {' and then '.join(names[k] for k in self.sequence)}"
        alone = len(self.sequence) == 1
        return f"{compared} alone" if alone else f"{compared}, each only where those before it tie,"


def best_order(linkage: Linkage, above: Fraction = Fraction(-1)) -> Order | None:
    """The order that links most, of those that grow from each attribute (or rank) by what adds most.

    None where none of them links more than the weight `above`. Attacks are searched in the same way, so that
    no order is demanded that `fit` does not come to.
    """
    everything = linkage.uncompared()
    found = [
        order
        for ranked in linkage.family.orders
        for first in range(linkage.family.n)
        for order in _grown(linkage, ranked, first, everything, above)
        if order.weight > above
    ]
    return max(found, key=lambda order: (order.weight, -len(order.sequence)), default=None)


def _grown(linkage: Linkage, ranked: bool, first: int, state: Compared, above: Fraction) -> Iterator[Order]:
    """The order of one attribute, and all that come of adding one more to the best, as long as that helps."""
    front: tuple[int, ...] = ()
    left, weight = [first], Fraction(-1)
    while left and state.ties:
        tried = {k: linkage.compare(ranked, (*front, k), state, lambda all_: all_ > above) for k in left}
        known = {k: one for k, one in tried.items() if one}
        if not known:
            return
        yield from (Order((*front, k), ranked, one.count, one.weight) for k, one in known.items())
        # Where the best is one that was given up, what comes of it links too little.
        most = max(one.weight for one in known.values())
        for k in left:
            again = known.get(k) or linkage.compare(
                ranked,
                (*front, k),
                state,
                lambda all_, least=most: all_ >= least,  # type: ignore[misc]
            )
            if again:
                known[k] = again
        best = max(sorted(known), key=lambda k: known[k].weight)
        if known[best].weight <= weight:
            return
        front, state, weight = (*front, best), known[best], known[best].weight
        left = [k for k in range(linkage.family.n) if k not in front]
