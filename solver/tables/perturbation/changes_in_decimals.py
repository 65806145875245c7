"""Changes of a table in few decimals, with which every relation adds up as the decimals are written."""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.tables.exact import Exact, ExactRelations, exact, exact_witness
from linkrisk.formulations.tables.tabular_adjustment import FAR, TabularAdjustment

_DECIMALS = (6, 9, 12)
_DEARER = 1e-7
"""Relative to the cost: what fewer decimals may cost more."""

_NOTHING = 1e-9
"""A cell that changes by so little does not change."""

_MOST_SOLVED = 5000
"""Changed cells up to which relations are solved in fractions."""

_EPS = float(np.finfo(np.float64).eps)


def in_decimals(problem: TabularAdjustment, change: FloatArray) -> FloatArray:
    """Changes without what is mere noise of floating point, where there are such.

    Cells rounded one by one need not add up: each third of 1 is 0.333333. Where they do not, the relations
    are solved in fractions for some of the cells, and the others are rounded.

    Parameters
    ----------
    problem : TabularAdjustment
    change : ndarray of float64, shape (n,)
        That make an adjustment.

    Returns
    -------
    ndarray of float64, shape (n,)
        They make an adjustment of the same cost; the given ones where no others do.
    """
    most = problem.cost(change) * (1.0 + _DEARER)
    moved = np.where(np.abs(change) > _NOTHING, change, 0.0)
    for decimals in _DECIMALS:
        rounded = np.asarray(np.round(moved, decimals), dtype=np.float64)
        for made in (rounded, _solved(problem, moved, decimals)):
            if made is not None and problem.cost(made) <= most and _adds_up(problem, made):
                return made
    return change


def _solved(problem: TabularAdjustment, change: FloatArray, decimals: int) -> FloatArray | None:
    """Rounded changes of most cells, and those of the others that follow from them."""
    cells = np.flatnonzero(change)
    if cells.size > _MOST_SOLVED:
        return None
    given = ExactRelations(problem.table)
    found = exact_witness(given, cells, change[cells], decimals, _at_levels(problem, change))
    if found is None:
        return None
    made = np.zeros(change.size)
    for cell, by in found.items():
        made[cell] = float(by)
    return made


def _at_levels(problem: TabularAdjustment, change: FloatArray) -> Exact:
    """Of the sensitive cells that go as far as they have to: just that far."""
    found: Exact = {}
    for level, sign in ((problem.least_up, 1), (problem.least_down, -1)):
        near = (level > 0) & (np.abs(sign * change - level) <= FAR * level)
        found |= {cell: sign * exact(level[cell]) for cell in np.flatnonzero(near).tolist()}
    return found


def _adds_up(problem: TabularAdjustment, change: FloatArray) -> bool:
    """Whether it is an adjustment whose relations hold but for the last digit of a float."""
    relations = problem.table.relations
    terms = abs(relations) @ np.abs(change)
    count = float(np.diff(relations.indptr).max(initial=1))
    exactly = (np.abs(relations @ change) <= _EPS * count * terms).all()
    return bool(exactly) and problem.wrong(change) is None


def in_digits(values: FloatArray) -> FloatArray:
    """Values as the decimals that they mean: 12.1 + 0.2 is 12.3, not 12.299999999999999."""
    near = np.round(values, _DECIMALS[-1])
    return np.where(np.abs(near - values) <= 4.0 * _EPS * np.abs(values), near, values)
