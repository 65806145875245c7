"""Why no parameters link more: the bound of a certificate, step by step.

- *lost*: one rival alone keeps a block from being linked, whatever the parameters;
- *core*: constraints of some blocks, with multipliers above zero, add up to one that is nowhere positive, so
  these blocks are not linked together;
- *hitting set*: of every core a block is given up, so the lightest set that hits all cores is;
- *simplex tree*: the domain is halved until few enough blocks can be linked anywhere;
- *parts*: bounds of parts add up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from .claims import Claim, MalformedError, demand, items, require, text, whole, wholes
from .linkage import Linkage
from .simplex_tree import Tree

MOST_COEFFICIENTS = 1 << 22
"""Of all derived inequalities, and of those that they are made of, together."""

LARGEST_COEFFICIENT = 1 << 64
"""Sums of sums may double with every line of a certificate."""

MOST_BITS = 1 << 14
"""Of the denominator of a sum of bounds."""

Core = frozenset[int]


@dataclass(frozen=True)
class Bound:
    """No parameters link blocks of more than `weight`, and none of the `unlinkable` ones.

    Not `proved` where all blocks count, as there is no proof.
    """

    weight: Fraction
    unlinkable: frozenset[int]
    cores: int = 0
    leaves: int = 0
    proved: bool = True


def check_bound(linkage: Linkage, proof: Claim, blocks: Sequence[int], told: Claim) -> Bound:
    """Check the proof of a bound on the weight of the linked ones among some blocks."""
    method = proof.text("method")
    unlinkable = _check_lost(linkage, proof, blocks)
    if method == "parts":
        return _check_parts(linkage, proof, set(blocks) - unlinkable, told, unlinkable)
    unit, most = _unit(told), told.whole("linked_weight")
    weight = {block: linkage.records.in_units(block, unit) for block in blocks if block not in unlinkable}
    total, cores, leaves = sum(weight.values()), 0, 0
    demand(0 <= most <= total, f"{told.where}: {most} is claimed, all that are not lost weigh {total}")
    if method == "lost":
        demand(total <= most, f"{told.where}: all but the lost blocks weigh {total}, not {most}")
    elif method == "hitting-set":
        cores, leaves, given_up = _check_hitting_set(linkage, proof, weight)
        proved = total - given_up
        demand(proved <= most, f"{told.where}: {most} is claimed, the tree proves {proved}")
    elif method == "simplex-tree":
        leaves = check_simplex_tree(linkage, proof, weight, most)
    else:
        raise MalformedError(f"{proof.where}, method must be lost, simplex-tree or hitting-set, not {method}")
    return Bound(most / unit, unlinkable, cores, leaves)


def _unit(told: Claim) -> Fraction:
    """How many units of the claim make a weight of one."""
    units, of = told.whole("unit"), told.whole("of") if told.get("of") is not None else 1
    demand(units > 0 and of > 0, f"{told.where}, unit: {units} units of a weight of {of} are none")
    return Fraction(units, of)


def _check_parts(linkage: Linkage, proof: Claim, left: set[int], told: Claim, unlinkable: Core) -> Bound:
    """Add the bounds of parts up; blocks that are in none and not lost count in full."""
    records, parts = linkage.records, []
    most, weight, bounds = records.weight(left), Fraction(0), []
    for at, item in enumerate(proof.items("parts")):
        part = Claim(item, f"{proof.where}, parts[{at}]")
        own = wholes(part.get("blocks"), f"{part.where}, blocks")
        for block in own:
            where = f"{part.where}, blocks:"
            demand(0 <= block < records.blocks, f"{where} there is no block {block}")
            demand(block not in unlinkable, f"{where} block {block} is lost, so it is in no part")
            demand(block in left, f"{where} block {block} is in a part already")
            left.remove(block)
        parts.append((part, own))
    for part, own in parts:
        nested = part.inner("proof").text("method") == "parts"
        require(
            not nested, f"{part.where}, proof, method must be lost, simplex-tree or hitting-set, not parts"
        )
        bounds.append(check_bound(linkage, part.inner("proof"), own, part.inner("bound")))
        weight += bounds[-1].weight
        small = weight.denominator.bit_length() <= MOST_BITS
        demand(small, f"{part.where}, bound: its unit is too fine")
    weight += records.weight(left)
    most = max(most, weight)
    claimed = told.whole("linked_weight") / _unit(told)
    shown = "more" if claimed > most else f"{float(claimed):.10g}" if claimed >= 0 else "less than nothing"
    demand(
        weight <= claimed <= most,
        f"{told.where}: {shown} is claimed, the parts add up to {float(weight):.10g} and all that are not "
        f"lost weigh {float(most):.10g}",
    )
    cores, leaves = (sum(getattr(bound, name) for bound in bounds) for name in ("cores", "leaves"))
    return Bound(claimed, unlinkable.union(*(bound.unlinkable for bound in bounds)), cores, leaves)


def _check_lost(linkage: Linkage, proof: Claim, blocks: Sequence[int]) -> Core:
    """Check pairs (block, rival); an impossible partner stands for its own rival."""
    records, lost = linkage.records, set()
    for at, item in enumerate(proof.items("lost")):
        where = f"{proof.where}, lost[{at}]"
        block, rival = wholes(item, where, 2)
        demand(block not in lost, f"{where}: block {block} is listed twice")
        known = 0 <= block < records.blocks
        if not (known and rival == records.partner[block] and not records.reachable(block)):
            linkage.check_rival(block, rival, where)
            demand(linkage.never(block, rival), f"{where}: some parameters may link block {block}")
        lost.add(block)
    demand(lost <= set(blocks), f"{proof.where}, lost: it names blocks that this is not about")
    return frozenset(lost)


def check_simplex_tree(linkage: Linkage, proof: Claim, weight: Mapping[int, int], most: int) -> int:
    """The number of leaves of a tree that proves the bound."""
    simplex, rivals = linkage.family.simplex, {}
    demand(simplex, f"{proof.where}: the parameters of this family are not a simplex")
    for at, item in enumerate(proof.items("rivals")):
        where = f"{proof.where}, rivals[{at}]"
        first, others = items(item, where, 2)
        block, own = whole(first, where), wholes(others, where)
        demand(block not in rivals, f"{where}: block {block} is listed twice")
        demand(bool(own), f"{where}: block {block} has no rivals here")
        for rival in own:
            linkage.check_rival(block, rival, where)
        demand(block in weight, f"{where}: block {block} is lost already")
        rivals[block] = own
    tree = Tree.read(proof.text("tree"), f"{proof.where}, tree")
    return linkage.check_tree(rivals, capped(weight, most), most, tree)


def capped(weight: Mapping[int, int], most: int) -> dict[int, int]:
    """Weights, those above a bound taken for just above it: such a block is linked nowhere within it."""
    return {block: min(own, most + 1) for block, own in weight.items()}


# ---- hitting sets


@dataclass(frozen=True)
class Inequality:
    """``sum of coefficients[b] x_b >= least``, where x_b is 1 when block b is given up, else 0."""

    coefficients: Mapping[int, int]
    least: int


def core_inequality(core: Core) -> Inequality:
    """At least one block of a core is given up."""
    return Inequality(dict.fromkeys(core, 1), 1)


def clique_inequality(blocks: Sequence[int]) -> Inequality:
    """All but one of blocks are given up, each two of which are a core."""
    return Inequality(dict.fromkeys(blocks, 1), len(blocks) - 1)


def half_inequality(parts: Sequence[Inequality]) -> Inequality:
    """The sum, halved, both sides rounded up, as x is whole (Gomory 1958)."""
    total: Counter[int] = Counter()
    for part in parts:
        total.update(part.coefficients)
    halved = {block: -(-value // 2) for block, value in total.items()}
    return Inequality(halved, -(-sum(part.least for part in parts) // 2))


def _check_hitting_set(linkage: Linkage, proof: Claim, weight: Mapping[int, int]) -> tuple[int, int, int]:
    """Numbers of cores and leaves, and the weight that must be given up."""
    cores = [
        _check_core(linkage, Claim(item, f"{proof.where}, cores[{at}]"), weight)
        for at, item in enumerate(proof.items("cores"))
    ]
    derived = proof.items("inequalities")
    inequalities = check_inequalities(cores, derived, f"{proof.where}, inequalities")
    where = f"{proof.where}, tree"
    least, leaves = least_given_up(proof.items("tree"), inequalities, cores, weight, where)
    demand(least is not None, f"{where}: it has no leaf with multipliers")
    return len(cores), leaves, least or 0


def _check_core(linkage: Linkage, core: Claim, weight: Mapping[int, int]) -> Core:
    """The blocks of a core: the sum of its constraints is shown to be nowhere positive on the domain."""
    entries = []
    for item in core.items("rows"):
        block, rival, multiplier = wholes(item, f"{core.where}, rows", 3)
        linkage.check_rival(block, rival, core.where)
        demand(multiplier > 0, f"{core.where}: multiplier {multiplier} of a row must be above zero")
        demand(block in weight, f"{core.where}: block {block} is lost already")
        entries.append((block, rival, multiplier))
    demand(bool(entries), f"{core.where}: no rows")
    where = f"{core.where}, monotone"
    monotone = [wholes(item, where, 3) for item in items(core.get("monotone") or [], where)]
    total = 0 if core.get("total") is None else core.whole("total")
    demand(
        linkage.family.nowhere_positive(linkage.combined(entries), monotone, total),
        f"{core.where}: some parameters may link all its blocks: the combined row is not proved to be "
        "nowhere positive",
    )
    return frozenset(block for block, _, _ in entries)


def check_inequalities(cores: Sequence[Core], derived: Sequence[Any], where: str) -> list[Inequality]:
    """Those of the cores, and those derived from them: a ``clique`` of blocks, a ``half`` of earlier ones."""
    found = [core_inequality(core) for core in cores]
    pairs, size = set(cores), 0
    for at, item in enumerate(derived):
        place = f"{where}[{at}]"
        kind, content = items(item, place, 2)
        members = wholes(content, place)
        demand(bool(members), f"{place}: it has no parts")
        if kind == "clique":
            demand(len(set(members)) == len(members) > 1, f"{place}: blocks must differ")
            for one, two in combinations(members, 2):
                demand(frozenset((one, two)) in pairs, f"{place}: blocks {one} and {two} are not a core")
            found.append(clique_inequality(members))
        elif kind == "half":
            for one in members:
                demand(0 <= one < len(found), f"{place}: there is no earlier inequality {one}")
                size += len(found[one].coefficients)
            demand(size <= MOST_COEFFICIENTS, f"{place}: these inequalities are too long together")
            found.append(half_inequality([found[one] for one in members]))
        else:
            raise MalformedError(f"{place}: the kind must be clique or half")
        size += len(found[-1].coefficients)
        demand(size <= MOST_COEFFICIENTS, f"{place}: these inequalities are too long together")
        largest = max(found[-1].least, *found[-1].coefficients.values())
        demand(largest <= LARGEST_COEFFICIENT, f"{place}: its numbers are too large")
    return found


def least_given_up(
    nodes: Sequence[Any],
    inequalities: Sequence[Inequality],
    cores: Sequence[Core],
    weight: Mapping[int, int],
    where: str,
) -> tuple[int | None, int]:
    """Check a tree over blocks, and find the least weight that is given up anywhere.

    It is in preorder: ``["split", block]`` gives a block up first and keeps it then, ``["leaf", unit,
    [[inequality, y], ...]]`` bounds the weight by multipliers, ``["core", index]`` is closed by a core all of
    whose blocks are kept. None where every leaf is closed; and the number of leaves.
    """
    fixed: dict[int, bool] = {}  # the way to the next node: given up (True) or kept
    complete, leaves, values = False, 0, []
    for at, node in enumerate(nodes):
        place = f"{where}[{at}]"
        demand(not complete, f"{place}: the tree is complete before the list ends")
        entry = items(node, place)
        kind, rest = text(entry[0] if entry else None, place), entry[1:]
        if kind == "split" and len(rest) == 1:
            block = whole(rest[0], place)
            demand(block in weight, f"{place}: block {block} cannot be given up")
            demand(block not in fixed, f"{place}: block {block} is decided already")
            fixed[block] = True
            continue
        leaves += 1
        if kind == "core" and len(rest) == 1:
            index = whole(rest[0], place)
            demand(0 <= index < len(cores), f"{place}: there is no core {index}")
            kept = all(fixed.get(block) is False for block in cores[index])
            demand(kept, f"{place}: core {index} has blocks that are not kept")
        elif kind == "leaf" and len(rest) == 2:
            multipliers = _multipliers(rest[1], len(inequalities), place)
            unit = whole(rest[0], place)
            demand(unit > 0, f"{place}: the unit must be above zero")
            values.append(dual_value(unit, multipliers, inequalities, fixed, weight))
        else:
            raise MalformedError(f"{place} must be a split, a leaf or a core")
        while fixed and not fixed[next(reversed(fixed))]:
            fixed.popitem()
        complete = not fixed
        if fixed:
            fixed[next(reversed(fixed))] = False
    demand(complete, f"{where}: the list ends before the tree is complete")
    return min(values, default=None), leaves


def _multipliers(content: Any, inequalities: int, where: str) -> list[tuple[int, int]]:
    found = []
    for item in items(content, where):
        index, y = wholes(item, where, 2)
        demand(0 <= index < inequalities, f"{where}: there is no inequality {index}")
        demand(y > 0, f"{where}: multiplier {y} must be above zero")
        found.append((index, y))
    return found


def dual_value(
    unit: int,
    multipliers: Iterable[tuple[int, int]],
    inequalities: Sequence[Inequality],
    fixed: Mapping[int, bool],
    weight: Mapping[int, int],
) -> int:
    """The least weight given up by weak duality, with multipliers ``y / unit`` of inequalities.

    ``sum w x >= sum y least + sum (w - load) x``, each term of the last sum at its smallest.
    """
    value, load = 0, Counter[int]()
    for index, y in multipliers:
        value += y * inequalities[index].least
        for block, coefficient in inequalities[index].coefficients.items():
            load[block] += y * coefficient
    for block in load.keys() | fixed.keys():
        rest = unit * weight[block] - load[block]
        given_up = fixed.get(block)
        if given_up or (given_up is None and rest < 0):
            value += rest
    return -(-value // unit)
