"""Counts the blocks linked by given parameters or lexicographic orders, and checks simplex trees.

All of it is exact and slow: on large files `verify` replaces the methods of `Linkage` from `linked` on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product, starmap

from .claims import Claim
from .families import Family, Vector
from .records import Partner, Records


@dataclass(frozen=True)
class Order:
    """Lexicographic order of attributes, or of ranks if `ranked`, with the blocks that it links.

    Each attribute is compared only where those before it tie: a limit of weighted distances whose weights
    differ more and more. A bound that excludes ties does not cover it.
    """

    sequence: tuple[int, ...]
    ranked: bool
    count: int
    weight: Fraction

    def described(self, attributes: Sequence[str]) -> str:
        """Describe the order in words, with these names of the attributes."""
        ranks = [f"the attribute distance of rank {k + 1}" for k in range(len(attributes))]
        names = ranks if self.ranked else attributes
        compared = f"comparing {' and then '.join(names[k] for k in self.sequence)}"
        return compared + (", each only where those before it tie," if self.sequence[1:] else " alone")


Rivals = Mapping[int, Sequence[int]]


class Linkage:
    """Compares records by a family of distances."""

    def __init__(self, records: Records, family: Family) -> None:
        self.records, self.family = records, family

    def partner(self, block: int) -> Partner:
        """Return the partner of a block, with its ties."""
        return self.records.partner_of(block, self.family.squares)

    def constraint(self, block: int, rival: int) -> Vector:
        """Return the constraint that parameters must satisfy for the rival not to prevent the link."""
        return self.family.constraint(self.partner(block), self.records.distances(block, rival))

    def never(self, block: int, rival: int) -> bool:
        """Tell whether the rival prevents the link of the block for all parameters."""
        return self.family.never(self.partner(block), self.records.distances(block, rival))

    def combined(self, entries: Iterable[Sequence[int]]) -> Vector:
        """Sum multiplier times constraint over (block, rival, multiplier)."""
        total = [0] * self.family.dimension
        for block, rival, multiplier in entries:
            vector = self.constraint(block, rival)
            total = [a + multiplier * b for a, b in zip(total, vector, strict=True)]
        return total

    def check_rival(self, block: int, rival: int, claim: Claim) -> None:
        """Reject numbers other than a block with a possible partner and one of its rivals."""
        claim.demand(0 <= block < self.records.blocks, f": there is no block {block}")
        possible, rivals = self.records.reachable(block), self.records.is_rival(block, rival)
        claim.demand(possible, f": the partner of block {block} is impossible, so it has no rivals")
        claim.demand(rivals, f": candidate {rival} is not a rival of block {block}")

    def is_farther(self, block: int, rival: int, theta: Sequence[int]) -> bool:
        """Tell whether a rival does not prevent the link of a block for integral parameters."""
        return sum(a * b for a, b in zip(self.constraint(block, rival), theta, strict=True)) > 0

    def linked(self, theta: Sequence[Fraction]) -> list[bool]:
        """Test for each block whether every rival is farther than the partner and its ties."""
        numbers, records = whole_numbers(theta), self.records
        return [
            records.reachable(block)
            and all(self.is_farther(block, rival, numbers) for rival in records.rivals(block))
            for block in range(records.blocks)
        ]

    def compared(self, ranked: bool, k: int, before: Rivals) -> Rivals:
        """Return rivals that still tie after one more attribute (or rank), for blocks not yet excluded."""
        records, after = self.records, {}
        for block, rivals in before.items():
            own = records.sizes(block, records.partner[block], ranked)[k]
            tied = records.tied_sizes(block, ranked)[k]
            sizes = {rival: records.sizes(block, rival, ranked)[k] for rival in rivals}
            near = [rival for rival in rivals if sizes[rival] <= tied]
            if all(sizes[rival] == own for rival in near):
                after[block] = near
        return after

    def orders(self, ranked: bool, first: int, above: Fraction) -> Iterator[Order]:
        """Yield the orders of one attribute, and the best orders extended by one more, while this helps.

        Orders that do not link more than the weight `above` may be left out.
        """
        del above
        records, best = self.records, Order((), ranked, 0, Fraction(-1))
        rivals: Rivals = {at: records.rivals(at) for at in range(records.blocks) if records.reachable(at)}
        left = [first]
        while left and any(rivals.values()):
            found, before = {}, best
            for k in left:
                after = self.compared(ranked, k, rivals)
                linked = [block for block, others in after.items() if not others]
                order = Order((*before.sequence, k), ranked, len(linked), records.weight(linked))
                found[order] = after
            yield from found
            best = max(found, key=lambda order: order.weight)
            if best.weight <= before.weight:
                return
            rivals = found[best]
            left = [k for k in range(self.family.n) if k not in best.sequence]

    def best_order(self, above: Fraction = Fraction(-1)) -> Order | None:
        """Return the best order of a greedy search by attribute, or None if none exceeds `above`.

        `fit` searches attacks in the same way, so that it finds every order demanded here.
        """
        ways = product(self.family.orders, range(self.family.n))
        found = [order for ranked, first in ways for order in self.orders(ranked, first, above)]
        more = (order for order in found if order.weight > above)
        return max(more, key=lambda order: (order.weight, -len(order.sequence)), default=None)

    def check_tree(self, rivals: Rivals, weight: Mapping[int, int], most: int, nodes: Claim) -> int:
        """Check that linkable blocks weigh at most `most` at every leaf; return the number of leaves.

        The content of `nodes` are bytes in preorder: 0 for a leaf, else the number of the edge of the simplex
        that is halved, from 1. Blocks without rivals are linked everywhere.
        """
        corners = self.family.dimension
        edges, leaves = list(combinations(range(corners), 2)), 0
        open_: Open = {
            at: [rounded_up(self.constraint(at, one)) for one in own] for at, own in rivals.items()
        }
        waiting = [(open_, sum(own for block, own in weight.items() if block not in rivals))]
        for at, node in enumerate(nodes.content):
            nodes.demand(bool(waiting), f"[{at}]: the tree goes on after its end")
            undecided, linked = _sorted(*waiting.pop(), weight)
            if node == 0:
                excess = linked + sum(weight[block] for block in undecided) - most
                proved = excess <= 0 or _saved(undecided, weight) >= excess
                nodes.demand(proved, f"[{at}]: a leaf may link more than the bound")
                leaves += 1
                continue
            nodes.demand(node <= len(edges), f"[{at}]: there is no such edge")
            one, two = edges[node - 1]
            waiting += [(_halved(undecided, two, one), linked), (_halved(undecided, one, two), linked)]
        nodes.demand(not waiting, ": the tree is incomplete")
        return leaves


def whole_numbers(theta: Sequence[Fraction]) -> list[int]:
    """Multiply parameters by a common factor; denominators of doubles are powers of two."""
    unit = max(value.denominator for value in theta)
    return [int(value * unit) for value in theta]


# ---- simplices

BITS = 60  # constraints are rounded up to ``2**BITS`` times their largest entry

Vertices = tuple[int, ...]  # of a constraint at the vertices, rounded up: no linkable block is missed

Open = Mapping[int, Sequence[Vertices]]  # undecided blocks, with constraints not positive everywhere


def rounded_up(constraint: Sequence[int]) -> Vertices:
    """Round a constraint up at the vertices of the simplex."""
    largest = max(max(map(abs, constraint)), 1)
    return tuple(-((-value << BITS) // largest) for value in constraint)


def _sorted(constraints: Open, linked: int, weight: Mapping[int, int]) -> tuple[Open, int]:
    """Decide blocks with a constraint that is nowhere positive, or with all positive everywhere."""
    undecided = {}
    for block, own in constraints.items():
        if any(max(vertices) <= 0 for vertices in own):
            continue
        left = [vertices for vertices in own if min(vertices) <= 0]
        if left:
            undecided[block] = left
        else:
            linked += weight[block]
    return undecided, linked


def _saved(undecided: Open, weight: Mapping[int, int]) -> int:
    """Bound the weight lost to conflicts: of each greedy clique only the heaviest block is linked."""
    left, saved = list(undecided), 0
    while left:
        clique = [left.pop(0)]
        for other in list(left):
            pairs = (product(undecided[member], undecided[other]) for member in clique)
            if all(any(starmap(conflict, both)) for both in pairs):
                clique.append(other)
                left.remove(other)
        weights = [weight[block] for block in clique]
        saved += sum(weights) - max(weights)
    return saved


def _halved(constraints: Open, kept: int, moved: int) -> Open:
    """Halve a simplex: move one vertex to the midpoint of its edge to another."""
    return {
        block: [(*one[:moved], (one[kept] + one[moved] + 1) >> 1, *one[moved + 1 :]) for one in own]
        for block, own in constraints.items()
    }


def conflict(first: Vertices, second: Vertices) -> bool:
    """Tell whether ``first + x second`` is at most 0 at all vertices for some x > 0."""
    pairs = list(zip(first, second, strict=True))
    low = max([Fraction(0), *(Fraction(a, -b) for a, b in pairs if b < 0)])
    high = min((Fraction(-a, b) for a, b in pairs if b > 0), default=low + 1)
    return high > 0 and low <= high and all(a <= 0 for a, b in pairs if b == 0)
