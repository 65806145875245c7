"""Checks the proof of an upper bound on the linked weight, step by step.

- *lost*: one rival alone keeps a block from being linked, whatever the parameters;
- *core*: constraints of some blocks, with multipliers above zero, add up to one that is nowhere positive, so
  these blocks are not linked together;
- *hitting set*: of every core a block is given up, so the lightest set that hits all cores is;
- *simplex tree*: the domain is halved until few enough blocks can be linked anywhere;
- *parts*: bounds of parts add up.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from .claims import Claim, MalformedError
from .linkage import Linkage

MOST_COEFFICIENTS = 1 << 22  # total number of coefficients of derived inequalities and their premises
LARGEST_COEFFICIENT = 1 << 64  # coefficients may double with every derived inequality
MOST_BITS = 1 << 14  # of the denominator of a sum of bounds
MOST_NODES = 1 << 26  # of a simplex tree
METHODS = ("lost", "simplex-tree", "hitting-set", "parts")

Core = frozenset[int]


@dataclass(frozen=True)
class Bound:
    """Upper bound: no parameters link blocks of more than `weight`, or any of the `unlinkable` ones.

    Not `proved` if it counts all blocks, which needs no proof.
    """

    weight: Fraction
    unlinkable: frozenset[int]
    cores: int = 0
    leaves: int = 0
    proved: bool = True


def added_up(bounds: Sequence[Bound], beside: Fraction) -> Bound:
    """Add the bounds of parts and the weight `beside` of other blocks."""
    return Bound(
        sum((bound.weight for bound in bounds), beside),
        frozenset().union(*(bound.unlinkable for bound in bounds)),
        sum(bound.cores for bound in bounds),
        sum(bound.leaves for bound in bounds),
    )


def check_bound(
    linkage: Linkage, claim: Claim, blocks: Sequence[int], methods: Sequence[str] = METHODS
) -> Bound:
    """Check the proof of an upper bound on the linked weight of some blocks."""
    proof, stated = claim.inner("proof"), claim.inner("bound")
    method = proof.text("method")
    proof.require(method in methods, f", method must be one of {', '.join(methods)}, not {method}")
    units, most = stated.whole("unit"), stated.whole("linked_weight")
    of = stated.whole("of") if stated.has("of") else 1
    stated.demand(units > 0 and of > 0, f", unit: {units} units of a weight of {of} are none")
    unit, lost = Fraction(units, of), _check_lost(linkage, proof, blocks)
    left = [block for block in blocks if block not in lost]
    if method == "parts":
        return _check_parts(linkage, proof, set(left), lost, stated, most / unit)
    weight = {block: linkage.records.in_units(block, unit) for block in left}
    total = proved = sum(weight.values())
    cores = leaves = 0
    stated.demand(0 <= most <= total, f": {most} is claimed, all that are not lost weigh {total}")
    if method == "hitting-set":
        cores, leaves, least = _check_hitting_set(linkage, proof, weight)
        proved = total - least
    elif method == "simplex-tree":
        leaves, proved = check_simplex_tree(linkage, proof, weight, most), most
    stated.demand(proved <= most, f": {most} is claimed, the proof gives {proved}")
    return Bound(most / unit, lost, cores, leaves)


def _check_parts(
    linkage: Linkage, proof: Claim, left: set[int], lost: Core, stated: Claim, claimed: Fraction
) -> Bound:
    """Add the bounds of parts; blocks in no part and not lost count in full."""
    records, bounds, weight = linkage.records, [], Fraction(0)
    everything = records.weight(left)
    parts = proof.each("parts")
    for part in parts:
        for block in part.wholes("blocks"):
            part.demand(0 <= block < records.blocks, f", blocks: there is no block {block}")
            part.demand(block not in lost, f", blocks: block {block} is lost, so it is in no part")
            part.demand(block in left, f", blocks: block {block} is in a part already")
            left.remove(block)
    for part in parts:
        bounds.append(check_bound(linkage, part, part.wholes("blocks"), METHODS[:-1]))
        weight += bounds[-1].weight
        part.demand(weight.denominator.bit_length() <= MOST_BITS, ", bound: its unit is too fine")
    total = added_up(bounds, records.weight(left))
    most = max(everything, total.weight)
    shown = "more" if claimed > most else f"{float(claimed):.10g}" if claimed >= 0 else "less than nothing"
    least = f"the parts add up to {float(total.weight):.10g}"
    sums = f"{least} and all that are not lost weigh {float(most):.10g}"
    stated.demand(total.weight <= claimed <= most, f": {shown} is claimed, {sums}")
    return Bound(claimed, lost | total.unlinkable, total.cores, total.leaves)


def _check_lost(linkage: Linkage, proof: Claim, blocks: Sequence[int]) -> Core:
    """Check pairs (block, rival); a block with an impossible partner is its own rival."""
    records, lost = linkage.records, set()
    for pair in proof.each("lost"):
        block, rival = pair.wholes(length=2)
        pair.demand(block not in lost, f": block {block} is listed twice")
        known = 0 <= block < records.blocks
        if not (known and rival == records.partner[block] and not records.reachable(block)):
            linkage.check_rival(block, rival, pair)
            pair.demand(linkage.never(block, rival), f": some parameters may link block {block}")
        lost.add(block)
    proof.demand(lost <= set(blocks), ", lost: it names blocks that this is not about")
    return frozenset(lost)


def check_simplex_tree(linkage: Linkage, proof: Claim, weight: Mapping[int, int], most: int) -> int:
    """Check that a tree proves the bound; return its number of leaves."""
    rivals: dict[int, list[int]] = {}
    proof.demand(linkage.family.simplex, ": the parameters of this family are not a simplex")
    for entry in proof.each("rivals"):
        first, others = entry.each(length=2)
        block, own = first.whole(), others.wholes()
        entry.demand(block not in rivals, f": block {block} is listed twice")
        entry.demand(bool(own), f": block {block} has no rivals here")
        for rival in own:
            linkage.check_rival(block, rival, entry)
        entry.demand(block in weight, f": block {block} is lost already")
        rivals[block] = own
    return linkage.check_tree(rivals, capped(weight, most), most, tree_nodes(proof.inner("tree")))


def tree_nodes(tree: Claim) -> Claim:
    """Decode the bytes of a tree, compressed and in base 64."""
    try:
        stream = zlib.decompressobj()
        nodes = stream.decompress(base64.b64decode(tree.text(), validate=True), MOST_NODES)
    except (binascii.Error, ValueError, zlib.error):
        raise MalformedError(f"{tree.where} is not a compressed tree in base 64") from None
    tree.require(stream.eof and not stream.unused_data, " is damaged or too long")
    return Claim(nodes, tree.where)


def capped(weight: Mapping[int, int], most: int) -> dict[int, int]:
    """Cap weights just above the bound: a heavier block is linked nowhere within it."""
    return {block: min(own, most + 1) for block, own in weight.items()}


# ---- hitting sets


@dataclass(frozen=True)
class Inequality:
    """Inequality ``sum of coefficients[b] x_b >= least``, where x_b is 1 if block b is given up, else 0."""

    coefficients: Mapping[int, int]
    least: int


def given_up(blocks: Iterable[int], least: int = 1) -> Inequality:
    """Require `least` blocks given up: one of a core, all but one of a clique of cores of two."""
    return Inequality(dict.fromkeys(blocks, 1), least)


def half_inequality(parts: Sequence[Inequality]) -> Inequality:
    """Halve the sum and round both sides up, as x is integral (Gomory 1958)."""
    total: Counter[int] = Counter()
    for part in parts:
        total.update(part.coefficients)
    halved = {block: -(-value // 2) for block, value in total.items()}
    return Inequality(halved, -(-sum(part.least for part in parts) // 2))


def _check_hitting_set(linkage: Linkage, proof: Claim, weight: Mapping[int, int]) -> tuple[int, int, int]:
    """Check a hitting set; return the numbers of cores and leaves, and the least weight given up."""
    cores = [_check_core(linkage, core, weight) for core in proof.each("cores")]
    inequalities = check_inequalities(cores, proof.inner("inequalities"))
    least, leaves = least_given_up(proof.inner("tree"), inequalities, cores, weight)
    proof.demand(least is not None, ", tree: it has no leaf with multipliers")
    return len(cores), leaves, least or 0


def _check_core(linkage: Linkage, core: Claim, weight: Mapping[int, int]) -> Core:
    """Check a core and return its blocks: the sum of its constraints must be nowhere positive."""
    entries = [row.wholes(length=3) for row in core.each("rows")]
    for block, rival, multiplier in entries:
        linkage.check_rival(block, rival, core)
        core.demand(multiplier > 0, f": multiplier {multiplier} of a row must be above zero")
        core.demand(block in weight, f": block {block} is lost already")
    core.demand(bool(entries), ": no rows")
    monotone = [step.wholes(length=3) for step in core.each_if_any("monotone")]
    total = core.whole("total") if core.has("total") else 0
    proved = linkage.family.nowhere_positive(linkage.combined(entries), monotone, total)
    may = "some parameters may link all its blocks"
    core.demand(proved, f": {may}: the combined row is not proved to be nowhere positive")
    return frozenset(block for block, _, _ in entries)


def check_inequalities(cores: Sequence[Core], derived: Claim) -> list[Inequality]:
    """Return the inequalities of cores, and derived ones: a ``clique`` or the ``half`` of a sum."""
    found = [given_up(core) for core in cores]
    pairs, size = set(cores), 0
    for line in derived.each():
        kind, content = line.each(length=2)
        members = content.wholes()
        line.demand(bool(members), ": it has no parts")
        if kind.content == "clique":
            line.demand(len(set(members)) == len(members) > 1, ": blocks must differ")
            for one, two in combinations(members, 2):
                line.demand(frozenset((one, two)) in pairs, f": blocks {one} and {two} are not a core")
            found.append(given_up(members, len(members) - 1))
        else:
            line.require(kind.content == "half", ": the kind must be clique or half")
            for one in members:
                line.demand(0 <= one < len(found), f": there is no earlier inequality {one}")
            parts = [found[one] for one in members]
            size += sum(len(part.coefficients) for part in parts)
            line.demand(size <= MOST_COEFFICIENTS, ": these inequalities are too long together")
            found.append(half_inequality(parts))
        size += len(found[-1].coefficients)
        line.demand(size <= MOST_COEFFICIENTS, ": these inequalities are too long together")
        largest = max(found[-1].least, *found[-1].coefficients.values())
        line.demand(largest <= LARGEST_COEFFICIENT, ": its numbers are too large")
    return found


def least_given_up(
    tree: Claim, inequalities: Sequence[Inequality], cores: Sequence[Core], weight: Mapping[int, int]
) -> tuple[int | None, int]:
    """Check a branch-and-bound tree; return the least weight given up at any leaf, and the leaves.

    It is in preorder: ``["split", block]`` first gives a block up, then keeps it; ``["leaf", unit,
    [[inequality, y], ...]]`` bounds the weight by multipliers; ``["core", index]`` closes a leaf that keeps
    all blocks of a core. The weight is None if every leaf is closed.
    """
    fixed: dict[int, bool] = {}  # the way to the next node: given up (True) or kept
    complete, leaves, values = False, 0, []
    for node in tree.each():
        node.demand(not complete, ": the tree is complete before the list ends")
        kind, *rest = node.each() or [node]
        known = (kind.content, len(rest)) in (("split", 1), ("core", 1), ("leaf", 2))
        node.require(known, " must be a split, a leaf or a core")
        number = rest[0].whole()
        if kind.content == "split":
            node.demand(number in weight, f": block {number} cannot be given up")
            node.demand(number not in fixed, f": block {number} is decided already")
            fixed[number] = True
            continue
        leaves += 1
        if kind.content == "core":
            node.demand(0 <= number < len(cores), f": there is no core {number}")
            kept = all(fixed.get(block) is False for block in cores[number])
            node.demand(kept, f": core {number} has blocks that are not kept")
        else:
            multipliers = [pair.wholes(length=2) for pair in rest[1].each()]
            for index, y in multipliers:
                node.demand(0 <= index < len(inequalities), f": there is no inequality {index}")
                node.demand(y > 0, f": multiplier {y} must be above zero")
            node.demand(number > 0, ": the unit must be above zero")
            values.append(dual_value(number, multipliers, inequalities, fixed, weight))
        while fixed and not fixed[next(reversed(fixed))]:
            fixed.popitem()
        complete = not fixed
        if fixed:
            fixed[next(reversed(fixed))] = False
    tree.demand(complete, ": the list ends before the tree is complete")
    return min(values, default=None), leaves


def dual_value(
    unit: int,
    multipliers: Iterable[Sequence[int]],
    inequalities: Sequence[Inequality],
    fixed: Mapping[int, bool],
    weight: Mapping[int, int],
) -> int:
    """Bound the weight given up by weak duality, with multipliers ``y / unit`` of inequalities.

    ``sum w x >= sum y least + sum (w - load) x``, each term of the last sum at its smallest.
    """
    value, load = 0, Counter[int]()
    for index, y in multipliers:
        value += y * inequalities[index].least
        for block, coefficient in inequalities[index].coefficients.items():
            load[block] += y * coefficient
    for block in load.keys() | fixed.keys():
        rest = unit * weight[block] - load[block]
        value += rest if fixed.get(block, rest < 0) else 0
    return -(-value // unit)
