"""Solves weighted hitting set: the least costly key variables that meet every minimal unsafe combination.

This is mu-ARGUS's local suppression as an optimisation: a weighted set cover for every record (Hurkens and
Tiourine 1998). Records with the same combinations share one answer. A household couples its members: a
household variable is taken from all of them or from none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.kernel_parts import put

MOST_HOUSEHOLD_KEYS = 16
"""Household variables in the unsafe combinations of one household; all their subsets are enumerated."""


@dataclass(frozen=True, eq=False)
class HittingProblems:
    """The different problems of a file."""

    start: LongArray  # problem p is to meet ``sets[start[p] : start[p + 1]]``
    sets: LongArray  # problem p is to meet ``sets[start[p] : start[p + 1]]``
    of: LongArray  # (T,): the problem of every row type

    def __len__(self) -> int:
        return len(self.start) - 1


def different_problems(start: LongArray, sets: LongArray) -> HittingProblems:
    """Join row types with the same sets."""
    seen: dict[bytes, int] = {}
    of = np.empty(len(start) - 1, dtype=np.int64)
    firsts: list[int] = []
    for at, (begin, end) in enumerate(zip(start[:-1].tolist(), start[1:].tolist(), strict=True)):
        key = sets[begin:end].tobytes()
        place = seen.setdefault(key, len(firsts))
        if place == len(firsts):
            firsts.append(at)
        of[at] = place
    sizes = np.array([start[at + 1] - start[at] for at in firsts], dtype=np.int64)
    joined = [sets[start[at] : start[at + 1]] for at in firsts]
    return HittingProblems(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([*joined, np.zeros(0, dtype=np.int64)]),
        of,
    )


@kernel
def least_hitting(sets: LongArray, cost: LongArray, allowed: int, most_steps: int) -> tuple[int, int, int]:
    """Least costly hitting set of some sets: chosen variables as bits, cost and bound.

    Branches on the variables of the set that leaves fewest of them, each time without those tried before,
    and cuts by the cost of disjoint sets. Chosen is -1 if the `allowed` variables cannot hit a set; after
    `most_steps` branches the bound is below the cost.
    """
    left = sets & allowed
    for at in range(len(left)):
        if left[at] == 0:
            return -1, 0, 0
    chosen, best = _greedy(left, cost)
    lowest = _packing(left, cost, 0, allowed)
    if lowest >= best:
        return chosen, best, best
    # A stack of (variables taken, variables still allowed), explored depth first.
    room = 64 * (len(cost) + 1)
    stack = np.empty((room, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1], top, steps = 0, allowed, 1, 0
    while top:
        top -= 1
        have, may = stack[top, 0], stack[top, 1]
        steps += 1
        if steps > most_steps:
            return chosen, best, lowest
        spent = _cost_of(have, cost)
        if spent >= best:
            continue
        at = _tightest(left, have, may)
        if at == -1:
            chosen, best = have, spent
        elif at >= 0 and spent + _packing(left, cost, have, may) < best:
            top = _branched(stack, top, have, may, left[at] & may)
    return chosen, best, best


@kernel
def _branched(stack: LongArray, top: int, have: int, may: int, branch: int) -> int:
    """Push a choice for each variable of a set on the stack, each without those before; the new top."""
    closed = 0
    for variable in range(62, -1, -1):
        if branch >> variable & 1:
            stack[top, 0], stack[top, 1] = have | (1 << variable), may & ~closed
            closed |= 1 << variable
            top += 1
    return top


@kernel
def _cost_of(chosen: int, cost: LongArray) -> int:
    total = 0
    for at in range(len(cost)):
        if chosen >> at & 1:
            total += cost[at]
    return total


@kernel
def _tightest(left: LongArray, have: int, may: int) -> int:
    """Return the set not yet hit with fewest variables; -1 if all are hit, -2 if one cannot be."""
    found, fewest = -1, 64
    for at in range(len(left)):
        if left[at] & have:
            continue
        rest, size = left[at] & may, 0
        if rest == 0:
            return -2
        while rest:
            rest &= rest - 1
            size += 1
        if size < fewest:
            found, fewest = at, size
    return found


@kernel
def _packing(left: LongArray, cost: LongArray, have: int, may: int) -> int:
    """Bound by disjoint sets that are not hit yet: the cheapest variable of each."""
    total, used = 0, 0
    for at in range(len(left)):
        rest = left[at] & may
        if left[at] & have or rest & used:
            continue
        used |= rest
        least = -1
        for variable in range(len(cost)):
            if rest >> variable & 1 and (least < 0 or cost[variable] < least):
                least = cost[variable]
        total += max(least, 0)
    return total


@kernel
def _greedy(left: LongArray, cost: LongArray) -> tuple[int, int]:
    """Take the variable that hits most sets for its cost until all are hit; then drop needless ones."""
    have = 0
    while True:
        best, rate = -1, 0.0
        for variable in range(len(cost)):
            met = _met(left, have, 1 << variable) / (cost[variable] + 1e-9)
            if met > rate:
                best, rate = variable, met
        if best < 0:
            break
        have |= 1 << best
    for variable in range(len(cost)):
        without = have & ~(1 << variable)
        if _met(left, 0, without) == len(left):
            have = without
    return have, _cost_of(have, cost)


@kernel
def _met(left: LongArray, have: int, more: int) -> int:
    """Number of sets that `have` does not hit and `more` does."""
    met = 0
    for at in range(len(left)):
        if not left[at] & have and left[at] & more:
            met += 1
    return met


@kernel
def solve_problems(
    start: LongArray, sets: LongArray, cost: LongArray, allowed: int, most_steps: int, answers: LongArray
) -> None:
    """Solve problems; fills `answers` (problems, 3) with set, cost and bound of each."""
    for at in range(len(start) - 1):
        chosen, value, bound = least_hitting(sets[start[at] : start[at + 1]], cost, allowed, most_steps)
        answers[at, 0], answers[at, 1], answers[at, 2] = chosen, value, bound


@kernel
def solve_household(
    start: LongArray,
    sets: LongArray,
    cost: LongArray,
    allowed: int,
    shared: int,
    most_steps: int,
    chosen: LongArray,
) -> tuple[int, int]:
    """Least costly suppression in one household: cost and bound; -1 for both if nothing helps.

    The unsafe combinations of member m are ``sets[start[m] : start[m + 1]]``. `shared` variables go from
    all members or none; all sets of those that occur, at most `MOST_HOUSEHOLD_KEYS`, are enumerated. Fills
    `chosen` (members,).
    """
    occurring = 0
    for at in range(len(sets)):
        occurring |= sets[at]
    together = occurring & shared & allowed
    best, lowest = -1, -1
    trial = np.empty(len(start) - 1, dtype=np.int64)
    part = together
    chosen[:] = -1
    while True:  # from all shared variables down to none
        value, bound = _with_shared(start, sets, cost, allowed & ~shared, part, most_steps, trial)
        if value >= 0 and (best < 0 or value < best):
            best = value
            put(trial, chosen)
        if value >= 0 and (lowest < 0 or bound < lowest):
            lowest = bound
        if part == 0:
            return best, lowest
        part = (part - 1) & together


@kernel
def _with_shared(
    start: LongArray, sets: LongArray, cost: LongArray, own: int, part: int, most_steps: int, trial: LongArray
) -> tuple[int, int]:
    """Cost and bound if the shared variables of `part` go from all members; -1 if nothing helps."""
    many = len(start) - 1
    value = bound = many * _cost_of(part, cost)
    left = np.empty(len(sets), dtype=np.int64)
    for member in range(many):
        size = 0
        for at in range(start[member], start[member + 1]):
            if not sets[at] & part:
                left[size] = sets[at]
                size += 1
        trial[member] = part
        if size:
            found, price, least = least_hitting(left[:size], cost, own, most_steps)
            if found < 0:
                return -1, -1
            trial[member] |= found
            value += price
            bound += least
    return value, bound
