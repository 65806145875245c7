"""Why no parameters link more: the bound of a certificate, step by step.

- *lost*: one rival alone keeps a block from being linked, whatever the parameters;
- *core*: rows of some blocks, with multipliers above zero, add up to a row that is nowhere positive, so these
  blocks are not linked together;
- *hitting set*: of every core a block is given up, so the lightest set that hits all cores is;
- *simplex tree*: the domain is halved until few enough blocks can be linked anywhere;
- *parts*: bounds of parts add up.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product, starmap
from typing import Any

from .claims import Claim, MalformedError, demand, items, text, whole, wholes
from .families import Family, Row
from .records import Partner, Records

MOST_NODES = 1 << 26
MOST_COEFFICIENTS = 1 << 22
LARGEST_COEFFICIENT = 1 << 64
LARGEST_UNIT = 1 << 1_000
BITS = 60
"""Of the numbers of a simplex tree: rows are rounded up to ``2**BITS`` times their largest entry."""


class Rows:
    """The rows of a problem, computed when they are needed."""

    def __init__(self, records: Records, family: Family) -> None:
        self.records, self.family = records, family
        self._partners: dict[int, Partner] = {}

    def partner(self, block: int) -> Partner:
        """The partner of a block, with its ties."""
        if block not in self._partners:
            self._partners[block] = self.records.partner_of(block, self.family.squares)
        return self._partners[block]

    def row(self, block: int, rival: int) -> Row:
        """What must be positive for the rival not to keep the block from being linked."""
        return self.family.row(self.partner(block), self.records.distances(block, rival))

    def check_rival(self, block: int, rival: int, where: str) -> None:
        """Reject numbers that are no block whose partner is possible, and one of its rivals."""
        demand(0 <= block < self.records.blocks, f"{where}: there is no block {block}")
        demand(self.records.reachable(block), f"{where}: block {block} has an impossible partner")
        demand(self.records.is_rival(block, rival), f"{where}: {rival} is no rival of block {block}")


@dataclass(frozen=True)
class Bound:
    """No parameters link blocks of more than `weight`; `lost` ones are never linked."""

    weight: Fraction
    lost: frozenset[int]


def check_bound(rows: Rows, proof: Claim, blocks: Sequence[int], told: Claim) -> Bound:
    """Check the proof of a bound on the weight of the linked ones among some blocks."""
    method = proof.text("method")
    if method == "parts":
        return _check_parts(rows, proof, blocks, told)
    unit, most = _unit(told), told.whole("linked_weight")
    lost = _check_lost(rows, proof, blocks)
    weight = {block: -(-rows.records.weights[block] * unit // 1) for block in blocks if block not in lost}
    total = sum(weight.values())
    demand(0 <= most <= total, f"{told.where}: {most} is claimed, all that are not lost weigh {total}")
    if method == "lost":
        demand(total <= most, f"{told.where}: all but the lost blocks weigh {total}, not {most}")
    elif method == "hitting-set":
        given_up = _check_hitting_set(rows, proof, weight)
        demand(total - given_up <= most, f"{told.where}: {most} is claimed, {total - given_up} is proved")
    elif method == "simplex-tree":
        SimplexTree(rows, proof, weight, most).check()
    else:
        raise MalformedError(f"{proof.where}, method: {method} is not known here")
    return Bound(most / unit, lost)


def _unit(told: Claim) -> Fraction:
    """How many units of the claim make a weight of one."""
    units, of = told.whole("unit"), told.whole("of") if told.get("of") is not None else 1
    demand(0 < units < LARGEST_UNIT and 0 < of < LARGEST_UNIT, f"{told.where}, unit: it is out of range")
    return Fraction(units, of)


def _check_parts(rows: Rows, proof: Claim, blocks: Sequence[int], told: Claim) -> Bound:
    """Add the bounds of parts up; blocks that are in none and not lost count in full."""
    lost = _check_lost(rows, proof, blocks)
    left, bounds = set(blocks) - lost, []
    most = rows.records.weight(left)
    for at, item in enumerate(proof.items("parts")):
        part = Claim(item, f"{proof.where}, parts[{at}]")
        own = wholes(part.get("blocks"), f"{part.where}, blocks")
        demand(set(own) <= left and len(set(own)) == len(own), f"{part.where}, blocks: one is lost or twice")
        demand(part.inner("proof").text("method") != "parts", f"{part.where}: parts have no parts")
        left -= set(own)
        bounds.append(check_bound(rows, part.inner("proof"), own, part.inner("bound")))
    weight = rows.records.weight(left) + sum(bound.weight for bound in bounds)
    claimed = told.whole("linked_weight") / _unit(told)
    demand(weight <= claimed <= max(weight, most), f"{told.where}: the parts add up to {float(weight):.10g}")
    return Bound(claimed, lost.union(*(bound.lost for bound in bounds)))


def _check_lost(rows: Rows, proof: Claim, blocks: Sequence[int]) -> frozenset[int]:
    """Check pairs (block, rival); an impossible partner stands for its own rival."""
    lost: set[int] = set()
    for at, item in enumerate(proof.items("lost")):
        where = f"{proof.where}, lost[{at}]"
        block, rival = wholes(item, where, 2)
        known = 0 <= block < rows.records.blocks
        if not (known and rival == rows.records.partner[block] and not rows.records.reachable(block)):
            rows.check_rival(block, rival, where)
            never = rows.family.never(rows.partner(block), rows.records.distances(block, rival))
            demand(never, f"{where}: some parameters may link block {block}")
        demand(block not in lost, f"{where}: block {block} is listed twice")
        lost.add(block)
    demand(lost <= set(blocks), f"{proof.where}, lost: it names blocks that this is not about")
    return frozenset(lost)


# ---- hitting sets


@dataclass(frozen=True)
class Inequality:
    """``sum of coefficients[b] x_b >= least``, where x_b is 1 when block b is given up, else 0."""

    coefficients: Mapping[int, int]
    least: int


def _check_hitting_set(rows: Rows, proof: Claim, weight: Mapping[int, int]) -> int:
    """The weight that must be given up."""
    cores = [
        _check_core(rows, Claim(item, f"{proof.where}, cores[{at}]"), weight)
        for at, item in enumerate(proof.items("cores"))
    ]
    inequalities = _check_inequalities(cores, proof)
    least = Tree(inequalities, cores, weight, f"{proof.where}, tree").least(proof.items("tree"))
    demand(least is not None, f"{proof.where}, tree: it has no leaf with multipliers")
    return least or 0


def _check_core(rows: Rows, core: Claim, weight: Mapping[int, int]) -> frozenset[int]:
    """The blocks of a core: the sum of its rows is shown to be nowhere positive on the domain."""
    blocks, total = set(), [0] * rows.family.dimension
    for item in core.items("rows"):
        block, rival, multiplier = wholes(item, core.where, 3)
        rows.check_rival(block, rival, core.where)
        demand(multiplier > 0, f"{core.where}: multiplier {multiplier} must be above zero")
        demand(block in weight, f"{core.where}: block {block} is lost already")
        total = [a + multiplier * b for a, b in zip(total, rows.row(block, rival), strict=True)]
        blocks.add(block)
    demand(bool(blocks), f"{core.where}: no rows")
    monotone = [wholes(item, core.where, 3) for item in items(core.get("monotone") or [], core.where)]
    constant = 0 if core.get("total") is None else core.whole("total")
    proved = rows.family.nowhere_positive(total, monotone, constant)
    demand(proved, f"{core.where}: some parameters may link all its blocks")
    return frozenset(blocks)


def _check_inequalities(cores: Sequence[frozenset[int]], proof: Claim) -> list[Inequality]:
    """Those of the cores, and those derived from them.

    A ``clique`` of blocks, each two of which are a core: all but one are given up. A ``half`` of earlier
    ones: their sum, halved, both sides rounded up, as x is whole (Gomory 1958).
    """
    found = [Inequality(dict.fromkeys(core, 1), 1) for core in cores]
    pairs, size = set(cores), 0
    for at, item in enumerate(proof.items("inequalities")):
        where = f"{proof.where}, inequalities[{at}]"
        kind, content = items(item, where, 2)
        members = wholes(content, where)
        demand(bool(members), f"{where}: it has no parts")
        if kind == "clique":
            distinct = len(set(members)) == len(members) > 1
            known = all(frozenset(two) in pairs for two in combinations(members, 2))
            demand(distinct and known, f"{where}: two of these blocks are no core")
            found.append(Inequality(dict.fromkeys(members, 1), len(members) - 1))
        elif kind == "half":
            demand(all(0 <= one < len(found) for one in members), f"{where}: there is no such inequality")
            total: Counter[int] = Counter()
            for one in members:
                total.update(found[one].coefficients)
                size += len(found[one].coefficients)
                demand(size <= MOST_COEFFICIENTS, f"{where}: these inequalities are too long together")
            least = -(-sum(found[one].least for one in members) // 2)
            found.append(Inequality({block: -(-value // 2) for block, value in total.items()}, least))
        else:
            raise MalformedError(f"{where}: the kind must be clique or half")
        size += len(found[-1].coefficients)
        largest = max(found[-1].least, *found[-1].coefficients.values())
        demand(largest <= LARGEST_COEFFICIENT and size <= MOST_COEFFICIENTS, f"{where}: it is too large")
    return found


class Tree:
    """A tree over blocks in preorder: ``split`` gives a block up first and keeps it then.

    A ``leaf`` bounds the weight by multipliers of inequalities; a leaf ``core`` is closed by a core all of
    whose blocks are kept.
    """

    def __init__(
        self,
        inequalities: Sequence[Inequality],
        cores: Sequence[frozenset[int]],
        weight: Mapping[int, int],
        where: str,
    ) -> None:
        self._inequalities, self._cores, self._weight = inequalities, cores, weight
        self._where = where

    def least(self, nodes: Sequence[Any]) -> int | None:
        """Least weight that is given up anywhere; None where every leaf is closed."""
        fixed: dict[int, bool] = {}  # the way to the next node: given up (True) or kept
        complete, least = False, None
        for at, node in enumerate(nodes):
            where = f"{self._where}[{at}]"
            demand(not complete, f"{where}: the tree is complete before")
            entry = items(node, where)
            kind, rest = text(entry[0] if entry else None, where), entry[1:]
            if kind == "split" and len(rest) == 1:
                block = whole(rest[0], where)
                demand(block in self._weight and block not in fixed, f"{where}: no block to decide on")
                fixed[block] = True
                continue
            if kind == "core" and len(rest) == 1:
                self._check_closed(whole(rest[0], where), fixed, where)
            elif kind == "leaf" and len(rest) == 2:
                value = self._leaf(whole(rest[0], where), items(rest[1], where), fixed, where)
                least = value if least is None else min(least, value)
            else:
                raise MalformedError(f"{where} must be a split, a leaf or a core")
            while fixed and not fixed[next(reversed(fixed))]:
                fixed.popitem()
            complete = not fixed
            if fixed:
                fixed[next(reversed(fixed))] = False
        demand(complete, f"{self._where}: it ends before the tree is complete")
        return least

    def _check_closed(self, index: int, fixed: Mapping[int, bool], where: str) -> None:
        known = 0 <= index < len(self._cores)
        kept = known and all(fixed.get(block) is False for block in self._cores[index])
        demand(kept, f"{where}: no core {index} of kept blocks")

    def _leaf(self, unit: int, multipliers: Sequence[Any], fixed: Mapping[int, bool], where: str) -> int:
        """Weak duality: ``sum w x >= sum y least + sum (w - load) x``, each last term at its smallest."""
        demand(unit > 0, f"{where}: the unit must be above zero")
        value, load = 0, Counter[int]()
        for item in multipliers:
            index, y = wholes(item, where, 2)
            demand(0 <= index < len(self._inequalities) and y > 0, f"{where}: no such multiplier")
            value += y * self._inequalities[index].least
            for block, coefficient in self._inequalities[index].coefficients.items():
                load[block] += y * coefficient
        for block in load.keys() | fixed.keys():
            rest = unit * self._weight[block] - load[block]
            given_up = fixed.get(block)
            if given_up or (given_up is None and rest < 0):
                value += rest
        return -(-value // unit)


# ---- simplex trees

Vertices = tuple[int, ...]
"""Values of a row at the vertices of a simplex, rounded up."""


class SimplexTree:
    """The simplex of parameters, halved at the middle of edges until few blocks can be linked.

    Rows are whole numbers, rounded up: that can only make blocks look linkable.
    """

    def __init__(self, rows: Rows, proof: Claim, weight: Mapping[int, int], most: int) -> None:
        demand(rows.family.simplex, f"{proof.where}: the parameters of this family are no simplex")
        self._where, self._most = f"{proof.where}, tree", most
        # A block above the bound is linked nowhere within it: one unit more is enough.
        self._weight = {block: min(own, most + 1) for block, own in weight.items()}
        self._rows: dict[int, list[Vertices]] = {}
        for at, item in enumerate(proof.items("rivals")):
            where = f"{proof.where}, rivals[{at}]"
            first, others = items(item, where, 2)
            block, rivals = whole(first, where), wholes(others, where)
            demand(block in weight and block not in self._rows and bool(rivals), f"{where}: no such block")
            for rival in rivals:
                rows.check_rival(block, rival, where)
            self._rows[block] = [_rounded_up(rows.row(block, rival)) for rival in rivals]
        corners = range(rows.family.dimension)
        self._edges = list(combinations(corners, 2))
        self._nodes = _unpacked(proof.text("tree"), self._where)

    def check(self) -> None:
        """Walk the tree in preorder."""
        waiting = [(self._rows, sum(self._weight.values()) - sum(self._weight[b] for b in self._rows))]
        for at, node in enumerate(self._nodes):
            demand(bool(waiting), f"{self._where}: it goes on after its end")
            undecided, linked = self._sorted(*waiting.pop())
            if node == 0:
                excess = linked + sum(self._weight[block] for block in undecided) - self._most
                proved = excess <= 0 or self._saved(undecided) >= excess
                demand(proved, f"{self._where}: leaf {at} may link more than the bound")
                continue
            demand(node <= len(self._edges), f"{self._where}: there is no edge {node}")
            one, two = self._edges[node - 1]
            waiting.append((_halved(undecided, two, one), linked))
            waiting.append((_halved(undecided, one, two), linked))
        demand(not waiting, f"{self._where}: it is incomplete")

    def _sorted(self, rows: dict[int, list[Vertices]], linked: int) -> tuple[dict[int, list[Vertices]], int]:
        """Leave out blocks with a row that is nowhere positive, and rows that are positive everywhere."""
        undecided = {}
        for block, own in rows.items():
            if any(max(row) <= 0 for row in own):
                continue
            open_ = [row for row in own if min(row) <= 0]
            if open_:
                undecided[block] = open_
            else:
                linked += self._weight[block]
        return undecided, linked

    def _saved(self, undecided: Mapping[int, list[Vertices]]) -> int:
        """Of blocks that exclude each other in pairs only the heaviest counts; cliques are found greedily."""
        left, saved = list(undecided), 0
        while left:
            clique = [left.pop(0)]
            for other in list(left):
                pairs = (product(undecided[member], undecided[other]) for member in clique)
                if all(any(starmap(_conflict, rows)) for rows in pairs):
                    clique.append(other)
                    left.remove(other)
            weights = [self._weight[block] for block in clique]
            saved += sum(weights) - max(weights)
        return saved


def _rounded_up(row: Row) -> Vertices:
    largest = max(max(map(abs, row)), 1)
    return tuple(-((-value << BITS) // largest) for value in row)


def _halved(rows: Mapping[int, list[Vertices]], kept: int, moved: int) -> dict[int, list[Vertices]]:
    """The half of a simplex in which one vertex goes to the middle of its edge to another."""
    return {
        block: [(*row[:moved], (row[kept] + row[moved] + 1) >> 1, *row[moved + 1 :]) for row in own]
        for block, own in rows.items()
    }


def _conflict(first: Vertices, second: Vertices) -> bool:
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


def _unpacked(content: str, where: str) -> bytes:
    """The nodes of a tree, a byte each: 0 for a leaf, else the edge that is halved, counted from 1."""
    try:
        stream = zlib.decompressobj()
        nodes = stream.decompress(base64.b64decode(content, validate=True), MOST_NODES)
    except (binascii.Error, ValueError, zlib.error):
        raise MalformedError(f"{where} is no compressed tree in base 64") from None
    if not stream.eof or stream.unused_data:
        raise MalformedError(f"{where} is damaged or too long")
    return nodes
