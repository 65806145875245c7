"""Cores for the certificate: multipliers in floating point become whole numbers that still prove them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.certificates.checking.cores import Core, Rows
from linkrisk.solver.certificates.checking.families.measures import MeasureFamily
from linkrisk.solver.certificates.writing.refinement import finer_steps, remaining

_BITS = (16, 32, 64, 128)
"""Sizes of the largest multiplier to try: small numbers make small certificates."""

_REFINEMENTS = 3

Entry = tuple[int, int, float]
Step = tuple[int, int, int]
Monotone = tuple[int, int, float]


def exact_core(
    rows: Rows, entries: Sequence[Entry], monotone: Sequence[Monotone] = ()
) -> tuple[dict[str, Any], Core] | None:
    """Round the multipliers of a core such that it is proven exactly; None when no rounding does.

    Parameters
    ----------
    rows : Rows
    entries : sequence of (block, rival, multiplier)
        Multipliers of the rows in standardised units.
    monotone : sequence of (subset, attribute, multiplier)
        Multipliers of ``mu(A + k) >= mu(A)``.

    Returns
    -------
    content : dict
        The core as the certificate writes it.
    blocks : frozenset of int
    """
    largest = max((multiplier for _, _, multiplier in entries), default=0.0)
    if not 0.0 < largest < np.inf:
        return None
    unit = row_unit(rows)
    for bits in _BITS:
        whole = [(block, rival, _scaled(y / largest, bits)) for block, rival, y in entries]
        whole = [entry for entry in whole if entry[2] > 0]
        steps = [(subset, k, _scaled(y / largest, bits) * unit) for subset, k, y in monotone]
        steps = [step for step in steps if step[2] > 0]
        row = rows.combined(whole)
        steps, total = _with_total(rows, row, steps, finest=bits == _BITS[-1])
        if rows.family.nowhere_positive(row, steps, total):
            content: dict[str, Any] = {"rows": [list(entry) for entry in whole]}
            if steps:
                content["monotone"] = [list(step) for step in steps]
            if total:
                content["total"] = total
            return content, frozenset(block for block, _, _ in whole)
    return None


def _with_total(rows: Rows, row: list[int], steps: list[Step], *, finest: bool) -> tuple[list[Step], int]:
    """The multipliers of inequalities, where that helps with finer ones besides, and that of the sum."""
    family, total = rows.family, best_total(rows, row, steps)
    if not finest or not isinstance(family, MeasureFamily):
        return steps, total
    for _ in range(_REFINEMENTS):
        if family.nowhere_positive(row, steps, total):
            break
        finer = finer_steps(family, remaining(family, row, steps), family.inequalities)
        steps = _added(steps, finer)
        total = best_total(rows, row, steps)
    return steps, total


def _added(first: Sequence[Step], second: Sequence[Step]) -> list[Step]:
    """Multipliers of the same inequalities, added up."""
    sums: dict[tuple[int, int], int] = {}
    for subset, k, y in (*first, *second):
        sums[subset, k] = sums.get((subset, k), 0) + y
    return [(subset, k, y) for (subset, k), y in sums.items()]


def row_unit(rows: Rows) -> int:
    """How many units of an exact row make one in standardised units."""
    degree = 2 if rows.records.differences == "squared" or rows.family.squares else 1
    return rows.family.factor << (degree * rows.records.shift + rows.family.shift)


def _scaled(share: float, bits: int) -> int:
    """A number up to one times ``2**bits``, to the nearest whole number."""
    numerator, denominator = share.as_integer_ratio()
    return ((numerator << bits) + denominator // 2) // denominator


def best_total(rows: Rows, row: Sequence[int], steps: Sequence[Step]) -> int:
    """The multiplier of the equation that Moebius coefficients sum to one, such that the bound is smallest.

    Only the Moebius form needs one. The bound is convex and piecewise linear in it, so the best is one of
    the entries of the row after the other multipliers.
    """
    family = rows.family
    if not isinstance(family, MeasureFamily) or not family.summed:
        return 0
    rest, limits = remaining(family, row, steps), family.limits

    def bound(total: int) -> int:
        return total + sum(
            max((value - total) * low, (value - total) * high)
            for value, (low, high) in zip(rest, limits, strict=True)
        )

    return min({0, *rest}, key=bound)


def lost_pairs(rows: Rows, blocks: Iterable[int], until: float = math.inf) -> list[list[int]]:
    """For each of the blocks, a rival that alone keeps it from being linked, where there is one.

    The partner itself stands there where it is impossible. Blocks that there is no time for before `until`,
    by `time.perf_counter`, are left out: fewer lost blocks prove less.
    """
    found = []
    for block in blocks:
        if time.perf_counter() >= until:
            break
        if not rows.records.reachable(block):
            found.append([int(block), rows.records.partner[block]])
            continue
        rivals = rows.records.rivals(block)
        excess = _excess(rows, block, rivals)
        for at in np.argsort(excess, kind="stable")[:8]:
            if rows.never(block, int(rivals[at])):
                found.append([int(block), int(rivals[at])])
                break
    return found


def _excess(rows: Rows, block: int, rivals: IndexArray) -> FloatArray:
    """About how much farther than a tie some parameters can make each rival, shape (rivals,)."""
    records, family = rows.records, rows.family
    own = records.rounded_distances(block, np.array([records.partner[block]]))[0]
    tied = records.rounded_ties(np.array([block]), squares=family.squares)[0]
    return family.excess(own, tied, records.rounded_distances(block, rivals))
