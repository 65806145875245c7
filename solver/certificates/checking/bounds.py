"""The bounds of a certificate: of some blocks by a proof, and of all by parts of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from linkrisk.solver.certificates.checking.cores import Rows, check_core, check_lost
from linkrisk.solver.certificates.checking.fields import Fields, whole
from linkrisk.solver.certificates.checking.hitting import Tree, check_inequalities
from linkrisk.solver.certificates.checking.simplex_tree import check_simplex_tree
from linkrisk.solver.certificates.checking.units import total_weight, whole_weights
from linkrisk.solver.certificates.core.claims import demand
from linkrisk.solver.run.errors import UsageError

_MOST_BITS = 1 << 14
"""Of the denominator of a sum of bounds: more than any weights need, and added up in a moment."""


@dataclass(frozen=True)
class ProvenPart:
    """What is proved of some blocks.

    Attributes
    ----------
    weight : Fraction
        No parameters link more of them.
    lost : frozenset of int
    cores, leaves : int
        How much was checked for it.
    proved : bool
        False where the blocks count in full because there is no proof.
    """

    weight: Fraction
    lost: frozenset[int]
    cores: int
    leaves: int
    proved: bool = True


def check_sum(rows: Rows, proof: Fields, blocks: Sequence[int], told: Fields) -> ProvenPart:
    """Check a bound that is the sum of those of parts; who is in none of them and not lost counts in full."""
    records = rows.records
    lost = check_lost(rows, proof.listed("lost"), f"{proof.where}, lost")
    demand(lost <= set(blocks), f"{proof.where}, lost: it names blocks that this is not about")
    left, weight = set(blocks) - lost, Fraction(0)
    told_parts: list[tuple[Fields, list[int]]] = []
    for at, item in enumerate(proof.listed("parts")):
        part = Fields(item, f"{proof.where}, parts[{at}]")
        own = [whole(block, f"{part.where}, blocks") for block in part.listed("blocks")]
        for block in own:
            demand(0 <= block < records.blocks, f"{part.where}, blocks: there is no block {block}")
            demand(block not in lost, f"{part.where}, blocks: block {block} is lost, so it is in no part")
            demand(block in left, f"{part.where}, blocks: block {block} is in a part already")
            left.remove(block)
        told_parts.append((part, own))
    parts: list[ProvenPart] = []
    for part, own in told_parts:
        parts.append(check_bound(rows, part.inner("proof"), own, part.inner("bound")))
        weight += parts[-1].weight
        demand(weight.denominator.bit_length() <= _MOST_BITS, f"{part.where}, bound: its unit is too fine")
    weight += total_weight(records, left)
    claimed = _claimed(told)
    most = max(weight, total_weight(records, set(blocks) - lost))
    demand(
        weight <= claimed <= most,
        f"{told.where}: {_shown(claimed, most)} is claimed, the parts add up to {float(weight):.10g} and all "
        f"that are not lost weigh {float(most):.10g}",
    )
    return ProvenPart(
        claimed,
        lost.union(*(part.lost for part in parts)),
        sum(part.cores for part in parts),
        sum(part.leaves for part in parts),
    )


def _shown(claimed: Fraction, most: Fraction) -> str:
    """A number that may be beyond all that a double can be."""
    return "more" if claimed > most else f"{float(claimed):.10g}" if claimed >= 0 else "less than nothing"


def _claimed(told: Fields) -> Fraction:
    """The weight that a bound is written as."""
    unit = _unit(told)
    return told.whole("linked_weight") / unit


def _unit(told: Fields) -> Fraction:
    units, of = told.whole("unit"), told.get("of")
    of = 1 if of is None else told.whole("of")
    demand(units > 0 and of > 0, f"{told.where}, unit: {units} units of a weight of {of} are none")
    return Fraction(units, of)


def check_bound(rows: Rows, proof: Fields, blocks: Sequence[int], told: Fields) -> ProvenPart:
    """Check the proof of a bound on the linked weight of some blocks."""
    method = proof.text("method")
    unit, most = _unit(told), told.whole("linked_weight")
    lost = check_lost(rows, proof.listed("lost"), f"{proof.where}, lost")
    demand(lost <= set(blocks), f"{proof.where}, lost: it names blocks that this is not about")
    weight = whole_weights(rows.records, unit, [block for block in blocks if block not in lost])
    total, cores, leaves = sum(weight.values()), 0, 0
    demand(0 <= most <= total, f"{told.where}: {most} is claimed, all that are not lost weigh {total}")
    if method == "lost":
        demand(total <= most, f"{told.where}: all but the lost blocks weigh {total}, not {most}")
    elif method == "simplex-tree":
        leaves = check_simplex_tree(rows, proof, weight, most)
    elif method == "hitting-set":
        cores, leaves, given_up = _check_hitting_set(rows, proof, weight)
        demand(
            total - given_up <= most,
            f"{told.where}: {most} is claimed, the tree proves {total - given_up}",
        )
    else:
        raise UsageError(f"{proof.where}, method must be lost, simplex-tree or hitting-set, not {method}")
    return ProvenPart(most / unit, lost, cores, leaves)


def _check_hitting_set(rows: Rows, proof: Fields, weight: Mapping[int, int]) -> tuple[int, int, int]:
    """Numbers of cores and leaves, and the weight that must be given up."""
    where = f"{proof.where}, cores"
    cores = []
    for at, item in enumerate(proof.listed("cores")):
        cores.append(check_core(rows, item, f"{where}[{at}]"))
        for block in cores[-1]:
            demand(block in weight, f"{where}[{at}]: block {block} is lost already")
    inequalities = check_inequalities(cores, proof.listed("inequalities"), f"{proof.where}, inequalities")
    tree = Tree(inequalities, cores, weight)
    least, leaves = tree.least(proof.listed("tree"), f"{proof.where}, tree")
    # Without a leaf that holds, nothing could be kept, though everything can be given up.
    demand(least is not None, f"{proof.where}, tree: it has no leaf with multipliers")
    return len(cores), leaves, whole(least, proof.where)
