"""The hitting-set bound: every core loses a block, so the lightest set that hits all cores is lost.

That lightest set is bounded from below by a tree over blocks, each given up or kept, with a dual solution of
the linear program at each leaf. Inequalities on x, where x_b is 1 when block b is given up:

- a core: the x of its blocks sum to at least 1;
- a clique: of a set of blocks, each two of which are a core, all but one are given up;
- a half: the sum of earlier inequalities, halved, with both sides rounded up (x is whole; Gomory 1958). An
  odd cycle of cores of two blocks gives ``(length + 1) / 2``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from linkrisk.solver.certificates.checking.cores import Core
from linkrisk.solver.certificates.checking.fields import listed, text, whole, wholes
from linkrisk.solver.certificates.core.claims import demand
from linkrisk.solver.run.errors import UsageError

MOST_COEFFICIENTS = 1 << 22
"""Coefficients of all derived inequalities, and of those that they are made of, together."""

LARGEST_COEFFICIENT = 1 << 64
"""Sums of sums may double with every line of a certificate; honest ones stay small."""


@dataclass(frozen=True)
class Inequality:
    """``sum of coefficient[b] * x_b >= least`` for every x that hits all cores."""

    coefficients: Mapping[int, int]
    least: int


def core_inequality(core: Core) -> Inequality:
    """At least one block of a core is given up."""
    return Inequality(dict.fromkeys(core, 1), 1)


def clique_inequality(blocks: Sequence[int]) -> Inequality:
    """All but one of the blocks are given up."""
    return Inequality(dict.fromkeys(blocks, 1), len(blocks) - 1)


def half_inequality(parts: Sequence[Inequality]) -> Inequality:
    """The sum, halved, both sides rounded up: coefficients may grow, and the left side is whole."""
    total: Counter[int] = Counter()
    for part in parts:
        total.update(part.coefficients)
    halved = {block: -(-value // 2) for block, value in total.items()}
    return Inequality(halved, -(-sum(part.least for part in parts) // 2))


def check_inequalities(cores: Sequence[Core], content: list[Any], where: str) -> list[Inequality]:
    """The inequalities of the cores, and those derived from them in the order of the certificate."""
    pairs = {core for core in cores if len(core) == 2}
    found = [core_inequality(core) for core in cores]
    size = 0
    for at, item in enumerate(content):
        place = f"{where}[{at}]"
        entry = listed(item, place)
        if len(entry) != 2:
            raise UsageError(f"{place} must hold a kind and a list")
        kind, members = text(entry[0], place), wholes(entry[1], place)
        demand(bool(members), f"{place}: it has no parts")
        if kind == "clique":
            demand(len(set(members)) == len(members) > 1, f"{place}: blocks must differ")
            for two in combinations(members, 2):
                demand(frozenset(two) in pairs, f"{place}: blocks {two[0]} and {two[1]} are not a core")
            found.append(clique_inequality(members))
        elif kind == "half":
            for index in members:
                demand(0 <= index < len(found), f"{place}: there is no earlier inequality {index}")
                size += len(found[index].coefficients)
            demand(size <= MOST_COEFFICIENTS, f"{place}: these inequalities are too long together")
            found.append(half_inequality([found[index] for index in members]))
        else:
            raise UsageError(f"{place}: the kind must be clique or half, not {kind}")
        size += len(found[-1].coefficients)
        demand(size <= MOST_COEFFICIENTS, f"{place}: these inequalities are too long together")
        largest = max(found[-1].least, *found[-1].coefficients.values())
        demand(largest <= LARGEST_COEFFICIENT, f"{place}: its numbers are too large")
    return found


class Tree:
    """The check of a branching tree.

    Parameters
    ----------
    inequalities : sequence of Inequality
    cores : sequence of frozenset of int
    weight : mapping of int to int
        Weight of each block that can be given up, in a unit of the whole problem.
    """

    def __init__(
        self, inequalities: Sequence[Inequality], cores: Sequence[Core], weight: Mapping[int, int]
    ) -> None:
        self._inequalities, self._cores, self._weight = inequalities, cores, weight

    def least(self, content: list[Any], where: str) -> tuple[int | None, int]:
        """Least weight that is given up anywhere, None when nothing can be kept, and the number of leaves.

        The tree is listed in preorder: ``["split", block]`` is followed by the tree in which the block is
        given up and by that in which it is kept; ``["leaf", unit, [[inequality, y], ...]]`` bounds by
        multipliers ``y / unit``, ``["core", index]`` is closed by a core with no block but kept ones.
        """
        # The way to the next node: blocks that are given up (True) or kept, in the order of splits.
        fixed: dict[int, bool] = {}
        complete = False
        least: int | None = None
        leaves = 0
        for at, item in enumerate(content):
            place = f"{where}[{at}]"
            demand(not complete, f"{place}: the tree is complete before the list ends")
            entry = listed(item, place)
            kind = text(entry[0] if entry else None, place)
            if kind == "split" and len(entry) == 2:
                block = whole(entry[1], place)
                demand(block in self._weight, f"{place}: block {block} cannot be given up")
                demand(block not in fixed, f"{place}: block {block} is decided already")
                fixed[block] = True
                continue
            leaves += 1
            if kind == "core" and len(entry) == 2:
                self._check_closed(whole(entry[1], place), fixed, place)
            elif kind == "leaf" and len(entry) == 3:
                value = self._leaf(whole(entry[1], place), listed(entry[2], place), fixed, place)
                least = value if least is None else min(least, value)
            else:
                raise UsageError(f"{place} must be a split, a leaf or a core")
            complete = not _turn(fixed)
        demand(complete, f"{where}: the list ends before the tree is complete")
        return least, leaves

    def _check_closed(self, index: int, fixed: Mapping[int, bool], place: str) -> None:
        demand(0 <= index < len(self._cores), f"{place}: there is no core {index}")
        demand(
            all(fixed.get(block) is False for block in self._cores[index]),
            f"{place}: core {index} has blocks that are not kept",
        )

    def _leaf(self, unit: int, content: list[Any], fixed: Mapping[int, bool], place: str) -> int:
        """Weak duality: what is not hit by the multipliers' sum costs at least nothing."""
        demand(unit > 0, f"{place}: the unit must be above zero")
        total, load = 0, Counter[int]()
        for item in content:
            index, y = wholes(item, place, 2)
            demand(0 <= index < len(self._inequalities), f"{place}: there is no inequality {index}")
            demand(y > 0, f"{place}: multiplier {y} must be above zero")
            inequality = self._inequalities[index]
            total += y * inequality.least
            for block, coefficient in inequality.coefficients.items():
                load[block] += y * coefficient
        return dual_value(unit, total, load, fixed, self._weight)


def _turn(fixed: dict[int, bool]) -> bool:
    """Go on to the other side of the last split of which only one was seen; False when there is none."""
    while fixed:
        block, given_up = fixed.popitem()
        if given_up:
            fixed[block] = False
            return True
    return False


def dual_value(
    unit: int, total: int, load: Mapping[int, int], fixed: Mapping[int, bool], weight: Mapping[int, int]
) -> int:
    """The least whole weight given up, by the linear programming dual with loads ``load / unit``.

    ``sum w_b x_b >= total + sum (w_b - load_b) x_b`` for multipliers that are not negative, and each term of
    the last sum is at least its smallest value with x_b where it is fixed, else in [0, 1].
    """
    value = total
    for block, loaded in load.items():
        rest = unit * weight[block] - loaded
        given_up = fixed.get(block)
        if given_up is True or (given_up is None and rest < 0):
            value += rest
    value += sum(unit * weight[block] for block, given_up in fixed.items() if given_up and block not in load)
    return -(-value // unit)
