"""What some parameters link, what comparing one attribute after another links, and trees of simplices.

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


Rivals = Mapping[int, Sequence[int]]


class Linkage:
    """Records compared by a family of distances."""

    def __init__(self, records: Records, family: Family) -> None:
        self.records, self.family = records, family

    def partner(self, block: int) -> Partner:
        """The partner of a block, with its ties."""
        return self.records.partner_of(block, self.family.squares)

    def constraint(self, block: int, rival: int) -> Vector:
        """What must be positive for the rival not to keep the block from being linked."""
        return self.family.constraint(self.partner(block), self.records.distances(block, rival))

    def never(self, block: int, rival: int) -> bool:
        """Whether the rival keeps the block from being linked by all parameters."""
        return self.family.never(self.partner(block), self.records.distances(block, rival))

    def combined(self, entries: Iterable[Sequence[int]]) -> Vector:
        """The sum of multiplier times constraint over (block, rival, multiplier)."""
        total = [0] * self.family.dimension
        for block, rival, multiplier in entries:
            vector = self.constraint(block, rival)
            total = [a + multiplier * b for a, b in zip(total, vector, strict=True)]
        return total

    def check_rival(self, block: int, rival: int, claim: Claim) -> None:
        """Reject numbers that are no block whose partner is possible, and one of its rivals."""
        claim.demand(0 <= block < self.records.blocks, f": there is no block {block}")
        reachable = self.records.reachable(block)
        claim.demand(reachable, f": the partner of block {block} is impossible, so it has no rivals")
        rivals = self.records.is_rival(block, rival)
        claim.demand(rivals, f": candidate {rival} is not a rival of block {block}")

    def is_farther(self, block: int, rival: int, theta: Sequence[int]) -> bool:
        """Whether a rival does not keep a block from being linked by whole parameters."""
        return sum(a * b for a, b in zip(self.constraint(block, rival), theta, strict=True)) > 0

    def linked(self, theta: Sequence[Fraction]) -> list[bool]:
        """Whether exact parameters link each block: every rival is farther than the partner and its ties."""
        numbers, records = whole_numbers(theta), self.records
        return [
            records.reachable(block)
            and all(self.is_farther(block, rival, numbers) for rival in records.rivals(block))
            for block in range(records.blocks)
        ]

    def compared(self, ranked: bool, k: int, before: Rivals) -> Rivals:
        """The rivals that still tie when an attribute (or rank) is compared, of blocks that none excludes."""
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
        """The order of one attribute, and all that come of adding one more to the best, as long as it helps.

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
        """The order that links most, of those that grow by what adds most; None if not more than `above`.

        Attacks are searched in the same way, so that no order is demanded that `fit` does not come to.
        """
        ways = product(self.family.orders, range(self.family.n))
        found = [order for ranked, first in ways for order in self.orders(ranked, first, above)]
        more = (order for order in found if order.weight > above)
        return max(more, key=lambda order: (order.weight, -len(order.sequence)), default=None)

    def check_tree(self, rivals: Rivals, weight: Mapping[int, int], most: int, nodes: Claim) -> int:
        """Check that blocks that may be linked weigh at most `most` at every leaf; the number of leaves.

        The content of `nodes` are bytes in preorder: 0 for a leaf, else the edge of the simplex that is
        halved, counted from 1. Blocks without rivals are linked everywhere.
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
    """Parameters times a common factor; denominators of doubles are powers of two."""
    unit = max(value.denominator for value in theta)
    return [int(value * unit) for value in theta]


# ---- simplices

BITS = 60  # constraints are rounded up to ``2**BITS`` times their largest entry

Vertices = tuple[int, ...]  # of a constraint at the vertices; rounding up can only make blocks look linkable

Open = Mapping[int, Sequence[Vertices]]  # blocks that may be linked, with constraints not positive everywhere


def rounded_up(constraint: Sequence[int]) -> Vertices:
    """A constraint at the corners of the simplex."""
    largest = max(max(map(abs, constraint)), 1)
    return tuple(-((-value << BITS) // largest) for value in constraint)


def _sorted(constraints: Open, linked: int, weight: Mapping[int, int]) -> tuple[Open, int]:
    """Leave out blocks with a constraint that is nowhere positive, and those positive everywhere."""
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
    """Of blocks that exclude each other in pairs only the heaviest counts; cliques are found greedily."""
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
    """The half of a simplex in which one vertex goes to the middle of its edge to another."""
    return {
        block: [(*one[:moved], (one[kept] + one[moved] + 1) >> 1, *one[moved + 1 :]) for one in own]
        for block, own in constraints.items()
    }


def conflict(first: Vertices, second: Vertices) -> bool:
    """Whether ``first + x second`` is at most 0 at all vertices for some x > 0."""
    pairs = list(zip(first, second, strict=True))
    low = max([Fraction(0), *(Fraction(a, -b) for a, b in pairs if b < 0)])
    high = min((Fraction(-a, b) for a, b in pairs if b > 0), default=low + 1)
    return high > 0 and low <= high and all(a <= 0 for a, b in pairs if b == 0)
