"""`localSuppression` of the R package sdcMicro: in rounds, a value of every record below k.

Records agree that are equal wherever both have a value. Of each group of equal records, k at most are looked
at. In a round every record below k, those of least frequency first, loses a value: of the nearest records,
which disagree with it in fewest variables, some disagree in it, and no such variable is less important. What
earlier records of the round have lost counts for the distances, but frequencies are counted after the round,
so that a record loses a value that others have made needless. The least important variables, where nothing is
said, are those with most values.

References
----------
M. Templ, A. Kowarik and B. Meindl (2015). Statistical disclosure control for micro-data using the R package
sdcMicro. Journal of Statistical Software 67(4). The functions `localSuppression` and `kAnon` of its version 5
(with alpha = 1 and without combs).
"""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import BoolArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.suppression.counting import MissingMeaning, frequencies
from linkrisk.formulations.suppression.key_table import MISSING, Codes, row_types

_ANYTHING = MissingMeaning(1.0)


def sdcmicro_suppression(codes: Codes, k: int, importance: LongArray | None = None) -> BoolArray:
    """Choose values to take out as sdcMicro does.

    Parameters
    ----------
    codes : ndarray of int32, shape (n, q)
    k : int
        At most n.
    importance : ndarray of int64, shape (q,), optional
        1 for the most important variable, and so on; by the number of values when absent.

    Returns
    -------
    ndarray of bool, shape (n, q)
    """
    looked_at = _some_of_each_group(codes, k)
    part = np.ascontiguousarray(codes[looked_at])
    if importance is None:
        many = np.array([np.unique(column[column != MISSING]).size for column in codes.T])
        importance = np.empty(codes.shape[1], dtype=np.int64)
        importance[np.argsort(many, kind="stable")] = np.arange(1, codes.shape[1] + 1)
    order = np.argsort(-importance, kind="stable").astype(np.int64)
    while True:
        types = row_types(part)
        count = frequencies(types.codes, types.count.astype(np.float64), _ANYTHING)[types.of]
        below = np.flatnonzero(count < k)
        if not below.size:
            break
        _round(part, below[np.argsort(count[below], kind="stable")], order)
    found = np.zeros(codes.shape, dtype=np.bool_)
    found[looked_at] = part != codes[looked_at]
    return found


def _some_of_each_group(codes: Codes, k: int) -> LongArray:
    """The first k records of each group of equal ones; a missing value equals the first that occurs."""
    filled = codes.copy()
    for column in filled.T:
        there = column[column != MISSING]
        column[column == MISSING] = there[0] if there.size else 0
    group = row_types(filled).of
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    rank = np.arange(len(group)) - np.repeat(starts, np.diff(np.append(starts, len(group))))
    return np.sort(order[rank < k]).astype(np.int64)


@kernel
def _round(codes: Codes, below: LongArray, order: LongArray) -> None:
    """Take a value from every record below k; `order` has the least important variables first."""
    keys = codes.shape[1]
    disagree, here = np.zeros(keys, dtype=np.bool_), np.zeros(keys, dtype=np.bool_)
    for record in below:
        nearest = keys + 1
        for other in range(len(codes)):
            distance = 0
            for at in range(keys):
                mine, theirs = codes[record, at], codes[other, at]
                here[at] = mine != theirs and mine != MISSING and theirs != MISSING
                distance += here[at]
            if distance == 0 or distance > nearest:
                continue
            if distance < nearest:
                nearest = distance
                disagree[:] = False
            for at in range(keys):
                disagree[at] |= here[at]
        if nearest > keys:  # it agrees with all
            continue
        for at in order:
            if disagree[at]:
                codes[record, at] = MISSING
                break
