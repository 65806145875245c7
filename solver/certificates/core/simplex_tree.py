"""Simplex trees: the simplex of parameters is halved until few blocks can be linked anywhere."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product, starmap

from .claims import MalformedError, demand, require

MOST_NODES = 1 << 26
BITS = 60
"""Constraints are rounded up to ``2**BITS`` times their largest entry."""

Vertices = tuple[int, ...]
"""Values of a constraint at the vertices of a simplex; rounding up can only make blocks look linkable."""

Open = Mapping[int, Sequence[Vertices]]
"""Blocks that may be linked on a simplex, with their constraints that are not positive everywhere."""


def rounded_up(constraint: Sequence[int]) -> Vertices:
    """A constraint at the corners of the simplex."""
    largest = max(max(map(abs, constraint)), 1)
    return tuple(-((-value << BITS) // largest) for value in constraint)


@dataclass(frozen=True)
class Tree:
    """A tree in preorder, a byte a node: 0 for a leaf, else the edge that is halved, counted from 1."""

    nodes: bytes
    where: str

    @classmethod
    def read(cls, content: str, where: str) -> Tree:
        """The tree of a compressed text in base 64."""
        try:
            stream = zlib.decompressobj()
            nodes = stream.decompress(base64.b64decode(content, validate=True), MOST_NODES)
        except (binascii.Error, ValueError, zlib.error):
            raise MalformedError(f"{where} is not a compressed tree in base 64") from None
        require(stream.eof and not stream.unused_data, f"{where} is damaged or too long")
        return cls(nodes, where)

    def written(self) -> str:
        """The text that `read` takes."""
        return base64.b64encode(zlib.compress(self.nodes, 9)).decode("ascii")

    def check(self, constraints: Open, weight: Mapping[int, int], most: int) -> int:
        """Check that blocks that may be linked weigh at most `most` at every leaf; the number of leaves.

        Blocks without constraints are linked everywhere.
        """
        corners = len(next(iter(constraints.values()))[0]) if constraints else 0
        edges, leaves = list(combinations(range(corners), 2)), 0
        waiting = [(constraints, sum(own for block, own in weight.items() if block not in constraints))]
        for at, node in enumerate(self.nodes):
            demand(bool(waiting), f"{self.where}: at node {at}, the tree goes on after its end")
            undecided, linked = _sorted(*waiting.pop(), weight)
            if node == 0:
                excess = linked + sum(weight[block] for block in undecided) - most
                proved = excess <= 0 or _saved(undecided, weight) >= excess
                demand(proved, f"{self.where}: at node {at}, a leaf may link more than the bound")
                leaves += 1
                continue
            demand(node <= len(edges), f"{self.where}: at node {at}, there is no such edge")
            one, two = edges[node - 1]
            waiting.append((_halved(undecided, two, one), linked))
            waiting.append((_halved(undecided, one, two), linked))
        demand(not waiting, f"{self.where}: the tree is incomplete")
        return leaves


def _sorted(constraints: Open, linked: int, weight: Mapping[int, int]) -> tuple[Open, int]:
    """Leave out blocks with a constraint that is nowhere positive, and those positive everywhere."""
    undecided = {}
    for block, own in constraints.items():
        if any(max(vertices) <= 0 for vertices in own):
            continue
        open_ = [vertices for vertices in own if min(vertices) <= 0]
        if open_:
            undecided[block] = open_
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
    low, high = Fraction(0), None
    for a, b in zip(first, second, strict=True):
        if b < 0:
            low = max(low, Fraction(a, -b))
        elif b > 0:
            high = Fraction(-a, b) if high is None else min(high, Fraction(-a, b))
        elif a > 0:
            return False
    return high is None or (high > 0 and low <= high)
