"""Multipliers of a hitting set's leaf, mended in whole numbers.

A linear program in doubles prices blocks up to a tolerance, relative to the heaviest. Where weights differ by
orders of magnitude, light blocks are lost in it, and no bound on their weight comes out of its multipliers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from linkrisk.solver.certificates.checking.hitting import Inequality

Packing = dict[int, int]


def mended(
    packing: Mapping[int, int],
    inequalities: Sequence[Inequality],
    fixed: Mapping[int, bool],
    weight: Mapping[int, int],
    unit: int,
) -> Packing:
    """Other multipliers, which ask no free block for more than its weight and leave nothing to be gained.

    Parameters
    ----------
    packing : mapping of int to int
        Multiplier of each inequality that is used, by its place, ``unit`` times as large as it is.
    inequalities : sequence of Inequality
    fixed : mapping of int to bool
        Blocks that are given up (True) or kept.
    weight : mapping of int to int
    unit : int

    Returns
    -------
    dict
        As `packing`. What they prove may be more or less; each is as large as all others allow.
    """
    left = {block: unit * own for block, own in weight.items() if block not in fixed}
    load = Counter[int]()
    for index, y in packing.items():
        for block, coefficient in inequalities[index].coefficients.items():
            load[block] += y * coefficient
    rest = {block: own - load[block] for block, own in left.items()}
    found = _lowered(packing, inequalities, rest)
    _raised(found, inequalities, fixed, rest)
    return {index: y for index, y in found.items() if y > 0}


def _lowered(packing: Mapping[int, int], inequalities: Sequence[Inequality], rest: dict[int, int]) -> Packing:
    """Multipliers that overload no block; `rest` is changed to what these leave of each free block."""
    found = dict(packing)
    for index, y in packing.items():
        coefficients = inequalities[index].coefficients
        over = max((-(rest[block] // c) for block, c in coefficients.items() if block in rest), default=0)
        cut = min(y, max(0, over))
        if cut > 0:
            found[index] = y - cut
            _take(rest, coefficients, -cut)
    return found


def _raised(
    found: Packing, inequalities: Sequence[Inequality], fixed: Mapping[int, bool], rest: dict[int, int]
) -> None:
    """Raise each multiplier as far as the blocks allow, those in use first, where that proves more."""
    for index in [*found, *(at for at in range(len(inequalities)) if at not in found)]:
        coefficients = inequalities[index].coefficients
        free = [rest[block] // c for block, c in coefficients.items() if block in rest]
        room = min(free, default=0)
        if room <= 0:
            continue
        gained = inequalities[index].least - sum(c for block, c in coefficients.items() if fixed.get(block))
        if gained > 0:
            found[index] = found.get(index, 0) + room
            _take(rest, coefficients, room)


def _take(rest: dict[int, int], coefficients: Mapping[int, int], y: int) -> None:
    for block, coefficient in coefficients.items():
        if block in rest:
            rest[block] -= y * coefficient
