"""Multipliers of a measure's inequalities, made finer than a search in doubles finds them.

A core may prove its blocks by a very small amount: rows of size one cancel, and what is left is as small as a
tie. Multipliers that were found together with those of the rows then have errors as large as themselves. So
the inequalities are combined again with what is left of the rows, in a unit of its own, and once more with
what that leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.certificates.checking.families.measures import MeasureFamily

Step = tuple[int, int, int]

_MOST_COLUMNS = 400
_FARTHEST = 1e3
"""What is farther below zero than so many units is cut to this: it cannot matter."""


def finer_steps(
    family: MeasureFamily, rest: Sequence[int], inequalities: Sequence[tuple[int, int]]
) -> list[Step]:
    """Multipliers to add, such that the row is less positive; empty where there are none.

    Parameters
    ----------
    family : MeasureFamily
        The values of a measure, or its Moebius form.
    rest : sequence of int
        The row, with the multipliers of inequalities that are there already.
    inequalities : sequence of (subset, attribute)
        ``mu(A + k) >= mu(A)``.

    Returns
    -------
    list of (subset, attribute, multiplier)
    """
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


def remaining(family: MeasureFamily, row: Sequence[int], steps: Sequence[Step]) -> list[int]:
    """A row with the multipliers of inequalities."""
    rest = list(row)
    for subset, attribute, y in steps:
        family.add(rest, subset, attribute, y)
    return rest


def _changed(family: MeasureFamily, subset: int, attribute: int) -> list[int]:
    """``mu(A + k) - mu(A)`` as coefficients of the parameters."""
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
    from scipy.optimize import linprog  # a quarter of a second that only certificates need

    found = linprog(cost, A_ub=np.vstack(rows), b_ub=np.concatenate(right), bounds=bounds, method="highs")
    return np.zeros(steps) if found.x is None else np.asarray(found.x[:steps])
