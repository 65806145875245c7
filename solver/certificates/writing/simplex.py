"""The proof of a bound by a simplex tree: search the tree again in whole numbers, with the bound known."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.solver.certificates.checking.linkage import MOST_ENTRIES, tree_rows
from linkrisk.solver.certificates.checking.simplex_kernels import LARGEST_TOTAL, replay
from linkrisk.solver.certificates.core.linkage import Linkage
from linkrisk.solver.certificates.core.proofs import capped
from linkrisk.solver.certificates.core.simplex_tree import Tree
from linkrisk.solver.certificates.writing.simplex_search import TreeSearch

MOST_NODES = 40_000_000
"""Longest tree: its certificate has some ten megabytes, and is checked in minutes."""

_NODES_AT_ONCE = 1 << 12
_SHARE = 0.7


class Aim(NamedTuple):
    """The bound to prove, in units, and what is known to be linked: nobody can prove less than that."""

    most: int
    least: int


def simplex_proof(
    linkage: Linkage, rivals: Mapping[int, Sequence[int]], weight: Mapping[int, int], aim: Aim, seconds: float
) -> tuple[dict[str, Any], int] | None:
    """A tree that proves the smallest bound that the time allows, and that bound.

    `rivals` are those that matter of each block; blocks without rivals count as linked.
    """
    until = time.perf_counter() + seconds
    used = {block: list(own) for block, own in sorted(rivals.items()) if block in weight and own}
    if sum(map(len, used.values())) * linkage.family.dimension > MOST_ENTRIES:
        return None
    values, owner = tree_rows(linkage, used)
    slack, step = 0, max(1, max(capped(weight, aim.most).values(), default=1))
    total = sum(weight.values())
    while aim.most + slack < total:
        bound = aim.most + slack
        if sum(capped(weight, bound).values()) > LARGEST_TOTAL:
            return None
        # Most of what is left for this bound, so that a weaker one gets its turn.
        share = time.perf_counter() + _SHARE * (until - time.perf_counter())
        codes = _search(TreeSearch(values, owner, *_of_rows(used, weight, bound)), share)
        if codes is not None:
            # A sum of doubles is aimed at with room for their rounding, which the tree may not need.
            if aim.least < bound:
                closed, _, _ = replay(values, owner, *_of_rows(used, weight, aim.least), codes)
                bound = aim.least if closed == 0 else bound
            listed = [[block, of_block] for block, of_block in used.items()]
            return {
                "method": "simplex-tree",
                "rivals": listed,
                "tree": Tree(codes.tobytes(), "the tree").written(),
            }, bound
        if time.perf_counter() > until:
            return None
        slack = step if slack == 0 else 2 * slack
    return None


def _of_rows(
    used: Mapping[int, Sequence[int]], weight: Mapping[int, int], bound: int
) -> tuple[NDArray[np.int64], int]:
    """Weights of the blocks that have rows, and what the bound leaves to them: all others are linked."""
    light = capped(weight, bound)
    own = np.array([light[block] for block in used], dtype=np.int64)
    return own, bound - (sum(light.values()) - int(own.sum()))


def _search(search: TreeSearch, until: float) -> NDArray[np.uint8] | None:
    """The whole tree, if it is found by then."""
    parts: list[NDArray[np.uint8]] = []
    while not search.complete:
        if search.stuck or len(parts) * _NODES_AT_ONCE >= MOST_NODES:
            return None
        if parts and time.perf_counter() > until:
            return None
        parts.append(search.run(_NODES_AT_ONCE))
    return np.concatenate(parts)


def weight_unit(weights: Sequence[Fraction], bound: Fraction) -> Fraction:
    """How many units make a weight of one.

    The unit is the largest of which all weights are whole multiples, so that nothing is rounded. Where these
    would be too many for a simplex tree, which takes all that is above the bound for just above it, the unit
    is a power of two for which they are a quarter to a half of what there is room for: rounding wants some.
    """
    fine = lcm(*(weight.denominator for weight in weights))
    counts = [weight.numerator * (fine // weight.denominator) for weight in weights]
    common = max(1, gcd(*counts))
    most = int(bound * fine)
    total = sum(min(count, most) for count in counts)
    if total <= LARGEST_TOTAL // 2 * common:
        return Fraction(fine, common)
    room = Fraction(LARGEST_TOTAL * fine, 2 * total)
    exponent = room.numerator.bit_length() - room.denominator.bit_length() - 1
    return Fraction(2) ** exponent
