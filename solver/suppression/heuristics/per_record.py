"""Simple choices for the cover problem: of each record by itself, without solving anything.

`each_by_itself` breaks one minimal unsafe combination after the other at its cheapest variable; `greedily`
takes the value that is cheapest for the combinations that it breaks, again and again (Chvatal 1979).
"""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import BoolArray, LongArray
from linkrisk.formulations.suppression.key_table import RowTypes
from linkrisk.formulations.suppression.minimal_unsafe import MinimalUnsafe


def each_by_itself(types: RowTypes, minimal: MinimalUnsafe, cost: LongArray) -> BoolArray:
    """Take the cheapest value of every combination that is still whole, those of fewest variables first.

    Parameters
    ----------
    types : RowTypes
        T of them, of n records with q key variables.
    minimal : MinimalUnsafe
    cost : ndarray of int64, shape (q,)

    Returns
    -------
    ndarray of bool, shape (n, q)
    """
    masks = np.zeros(len(types), dtype=np.int64)
    cheapest = np.argsort(cost, kind="stable")
    for row_type in np.flatnonzero(minimal.unsafe):
        for combination in minimal.of(int(row_type)):
            if not masks[row_type] & combination:
                masks[row_type] |= _first(cheapest, int(combination))
    return _cells(masks, types, len(cost))


def greedily(types: RowTypes, minimal: MinimalUnsafe, cost: LongArray) -> BoolArray:
    """Take the value that costs least for each combination that it breaks, until none is whole.

    Parameters and what is returned are those of `each_by_itself`.
    """
    keys = len(cost)
    masks = np.zeros(len(types), dtype=np.int64)
    for row_type in np.flatnonzero(minimal.unsafe):
        whole = minimal.of(int(row_type))
        while whole.size:
            many = (whole[:, None] >> np.arange(keys) & 1).sum(axis=0)
            taken = 1 << int(np.argmin(np.where(many > 0, cost / np.maximum(many, 1), np.inf)))
            masks[row_type] |= taken
            whole = whole[whole & taken == 0]
    return _cells(masks, types, keys)


def _first(order: LongArray, combination: int) -> int:
    return next(1 << int(at) for at in order if combination >> int(at) & 1)


def _cells(masks: LongArray, types: RowTypes, keys: int) -> BoolArray:
    """What is taken of each record that has a value there, shape (n, q)."""
    taken = (masks[:, None] >> np.arange(keys) & 1).astype(np.bool_) & (types.codes >= 0)
    return np.asarray(taken[types.of])
