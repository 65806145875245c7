"""Rounds floating-point multipliers of cores to integers that still prove them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.certificates.checking.linkage import FastLinkage
from linkrisk.solver.certificates.checking.rounded import ROUNDED
from linkrisk.solver.certificates.core.families import Measure
from linkrisk.solver.certificates.core.linkage import Linkage
from linkrisk.solver.certificates.core.proofs import Core

Step = tuple[int, int, int]

_MOST_COLUMNS = 400
_FARTHEST = 1e3
"""Units below zero at which values are cut: lower ones cannot matter."""


def finer_steps(family: Measure, rest: Sequence[int], inequalities: Sequence[tuple[int, int]]) -> list[Step]:
    """Return multipliers of ``mu(A + k) >= mu(A)`` to add, so that a row becomes less positive."""
    if family.dimension > _MOST_COLUMNS:
        return []
    limits = family.limits
    matters = [value > 0 or low != 0 for value, (low, _) in zip(rest, limits, strict=True)]
    unit = max((abs(value) for value, counts in zip(rest, matters, strict=True) if counts), default=0)
    if unit == 0:
        return []
    share = np.clip(np.array([value / unit for value in rest]), -_FARTHEST, _FARTHEST)
    changed = np.array([_changed(family, subset, k) for subset, k in inequalities], dtype=float).T
    multipliers = _least(share, changed, np.array(limits, dtype=float), family.summed)
    return [
        (subset, k, int(y * unit))
        for (subset, k), y in zip(inequalities, multipliers.tolist(), strict=True)
        if y * unit >= 1.0
    ]


def remaining(family: Measure, row: Sequence[int], steps: Sequence[Step]) -> list[int]:
    """Subtract multiples of the inequalities from a row."""
    rest = list(row)
    for subset, attribute, y in steps:
        family.add(rest, subset, attribute, y)
    return rest


def _changed(family: Measure, subset: int, attribute: int) -> list[int]:
    """Return ``mu(A + k) - mu(A)`` as coefficients of the parameters."""
    row = [0] * family.dimension
    family.add(row, subset, attribute, 1)
    return row


def _least(share: FloatArray, changed: FloatArray, limits: FloatArray, summed: bool) -> FloatArray:
    """Multipliers y of the least ``t + sum_S max(v_S low_S, v_S high_S)``, v = share + changed y - t.

    Only of parameters that sum to one, such as Moebius coefficients, t may be other than zero.
    """
    columns, steps = changed.shape
    cost = np.concatenate([np.zeros(steps), [1.0], np.ones(columns)])
    rows = [
        np.hstack([changed * end[:, None], -end[:, None], -np.eye(columns)])
        for end in (limits[:, 0], limits[:, 1])
    ]
    right = [-share * end for end in (limits[:, 0], limits[:, 1])]
    total = (None, None) if summed else (0.0, 0.0)
    bounds = [(0.0, None)] * steps + [total] + [(None, None)] * columns
    from scipy.optimize import linprog  # takes a quarter of a second, for certificates only

    found = linprog(cost, A_ub=np.vstack(rows), b_ub=np.concatenate(right), bounds=bounds, method="highs")
    return np.zeros(steps) if found.x is None else np.asarray(found.x[:steps])


_BITS = (16, 32, 64, 128)
"""Bits of the largest multiplier, in the order tried: small integers make small certificates."""

_REFINEMENTS = 3

Entry = tuple[int, int, float]
Monotone = tuple[int, int, float]


def exact_core(
    linkage: Linkage, entries: Sequence[Entry], monotone: Sequence[Monotone] = ()
) -> tuple[dict[str, Any], Core] | None:
    """Round multipliers of a core so that it is proven exactly; None when no rounding does.

    `entries` are (block, rival, multiplier) in standardised units, `monotone` (subset, attribute, multiplier)
    of ``mu(A + k) >= mu(A)``.
    """
    largest = max((multiplier for _, _, multiplier in entries), default=0.0)
    if not 0.0 < largest < np.inf:
        return None
    unit = row_unit(linkage)
    for bits in _BITS:
        whole = [(block, rival, _scaled(y / largest, bits)) for block, rival, y in entries]
        whole = [entry for entry in whole if entry[2] > 0]
        steps = [(subset, k, _scaled(y / largest, bits) * unit) for subset, k, y in monotone]
        steps = [step for step in steps if step[2] > 0]
        row = linkage.combined(whole)
        steps, total = _with_total(linkage, row, steps, finest=bits == _BITS[-1])
        if linkage.family.nowhere_positive(row, steps, total):
            content: dict[str, Any] = {"rows": [list(entry) for entry in whole]}
            if steps:
                content["monotone"] = [list(step) for step in steps]
            if total:
                content["total"] = total
            return content, frozenset(block for block, _, _ in whole)
    return None


def _with_total(
    linkage: Linkage, row: list[int], steps: list[Step], *, finest: bool
) -> tuple[list[Step], int]:
    """Return the multipliers of inequalities, refined where that helps, and that of the sum."""
    family, total = linkage.family, best_total(linkage, row, steps)
    if not finest or not isinstance(family, Measure):
        return steps, total
    for _ in range(_REFINEMENTS):
        if family.nowhere_positive(row, steps, total):
            break
        finer = finer_steps(family, remaining(family, row, steps), inequalities(family))
        steps = _added(steps, finer)
        total = best_total(linkage, row, steps)
    return steps, total


def _added(first: Sequence[Step], second: Sequence[Step]) -> list[Step]:
    """Add multipliers of the same inequalities."""
    sums: dict[tuple[int, int], int] = {}
    for subset, k, y in (*first, *second):
        sums[subset, k] = sums.get((subset, k), 0) + y
    return [(subset, k, y) for (subset, k), y in sums.items()]


def row_unit(linkage: Linkage) -> int:
    """Return how many units of an exact row make one in standardised units."""
    degree = 2 if linkage.records.problem.differences == "squared" or linkage.family.squares else 1
    return linkage.family.factor << (degree * linkage.records.shift + linkage.family.shift)


def inequalities(family: Measure) -> list[tuple[int, int]]:
    """(subset A, attribute k) of each inequality ``mu(A + k) >= mu(A)``, as the aggregators order them.

    That is attribute by attribute, and by the bit mask of the larger set. Those of the empty subset are
    limits of columns for the unrestricted measure, and rows for the Moebius form.
    """
    n = family.n
    return [(subset, k) for k in range(n) for subset in range(family.smallest, 2**n) if not subset >> k & 1]


def _scaled(share: float, bits: int) -> int:
    """Round a number up to one, times ``2**bits``, to the nearest integer."""
    numerator, denominator = share.as_integer_ratio()
    return ((numerator << bits) + denominator // 2) // denominator


def best_total(linkage: Linkage, row: Sequence[int], steps: Sequence[Step]) -> int:
    """Return the best multiplier of the equation that Moebius coefficients sum to one.

    Only the Moebius form needs one. The bound is convex and piecewise linear in it, so the best is one of
    the entries of the row after the other multipliers.
    """
    family = linkage.family
    if not isinstance(family, Measure) or not family.summed:
        return 0
    rest, limits = remaining(family, row, steps), family.limits

    def bound(total: int) -> int:
        return total + sum(
            max((value - total) * low, (value - total) * high)
            for value, (low, high) in zip(rest, limits, strict=True)
        )

    return min({0, *rest}, key=bound)


def lost_pairs(linkage: FastLinkage, blocks: Iterable[int], until: float = math.inf) -> list[list[int]]:
    """Return for each block a rival that alone prevents its link, where there is one.

    The partner itself stands there where it is impossible. Blocks that there is no time for before `until`,
    by `time.perf_counter`, are left out: fewer lost blocks prove less.
    """
    found = []
    for block in blocks:
        if time.perf_counter() >= until:
            break
        if not linkage.records.reachable(block):
            found.append([int(block), linkage.records.partner[block]])
            continue
        rivals = linkage.arrays.rivals(block)
        excess = _excess(linkage, block, rivals)
        for at in np.argsort(excess, kind="stable")[:8]:
            if linkage.never(block, int(rivals[at])):
                found.append([int(block), int(rivals[at])])
                break
    return found


def _excess(linkage: FastLinkage, block: int, rivals: IndexArray) -> FloatArray:
    """Estimate by how much some parameters can put each rival beyond a tie, shape (rivals,)."""
    arrays, family = linkage.arrays, linkage.family
    own = arrays.distances(block, arrays.partners[[block]])[0]
    tied = arrays.ties(np.array([block]), family.squares)[0]
    return ROUNDED[type(family)](family).excess(own, tied, arrays.distances(block, rivals))
