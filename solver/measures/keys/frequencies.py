"""How many records share a combination of values, with missing values as a value or as one that fits any."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray

Codes = NDArray[np.int64]
Groups = NDArray[np.intp]

MISSING = -1
"""The code of a missing value."""

MOST_WORK = 50_000_000
"""Patterns of missing values times different combinations of values beyond which no wildcards are counted."""


def column_codes(column: pd.Series) -> Codes:
    """Values as 0, 1, 2, ... in the order in which they come up; a missing one as `MISSING`."""
    codes: Codes = pd.factorize(column, use_na_sentinel=True)[0].astype(np.int64)
    return codes


def fold(groups: Groups, codes: Codes) -> Groups:
    """Groups split by one more column, with a missing value as a value; numbered from 0 without a gap."""
    if not codes.size or int(groups.max()) + 1 == groups.size:  # each a group alone
        return groups
    # Below n^2, so that int64 holds it for any file that memory holds.
    joint = groups.astype(np.int64) * (int(codes.max()) + 2) + (codes + 1)
    return np.asarray(pd.factorize(joint)[0], dtype=np.intp)


def groups_of(codes: Codes) -> Groups:
    """Number the combinations of values.

    `codes` (n, a): `MISSING` is a value as any other. Without columns all records are one group. Returns
    shape (n,): from 0 without a gap, in the order in which they come up.
    """
    groups = np.zeros(len(codes), dtype=np.intp)
    for column in codes.T:
        groups = fold(groups, column)
    return groups


def sums(groups: Groups, weight: FloatArray | None = None) -> FloatArray:
    """Sum of the weights of each record's group, for every record; their number without weights."""
    total: FloatArray = np.bincount(groups, weight).astype(np.float64)[groups]
    return total


def wildcard_sums(codes: Codes, weights: tuple[FloatArray | None, ...]) -> tuple[FloatArray, ...] | None:
    """The same where a missing value fits any value, on either side (sdcMicro's `freqCalc`).

    Two records agree when they have the same value in every column in which both have one. That is not
    transitive: there are no groups, and a record with missing values is counted with several.

    `codes` (n, a). `weights` (n,): what to sum over the records that agree, each by itself; their number for
    None. Returns shape (n,): none where that would take more than `MOST_WORK`. Combinations with the same
    columns missing are compared together, pattern by pattern, so that time grows with the number of patterns.
    """
    groups = groups_of(codes)
    rows = _first_rows(groups)
    different, lacking = codes[rows], codes[rows] == MISSING
    pattern = groups_of(lacking.astype(np.int64))
    patterns = int(pattern.max()) + 1 if pattern.size else 0
    if patterns * len(different) > MOST_WORK:
        return None
    held = [np.bincount(groups, weight).astype(np.float64) for weight in weights]
    found = [np.zeros(len(different)) for _ in weights]
    members = [np.flatnonzero(pattern == at) for at in range(patterns)]
    for these in members:
        for others in members:
            shared = ~(lacking[these[0]] | lacking[others[0]])
            joint = groups_of(different[np.concatenate([these, others])][:, shared])
            ours, theirs = joint[: these.size], joint[these.size :]
            for total, each in zip(found, held, strict=True):
                total[these] += np.bincount(theirs, each[others], minlength=int(joint.max()) + 1)[ours]
    return tuple(total[groups] for total in found)


def _first_rows(groups: Groups) -> Groups:
    """The first record of every group."""
    rows = np.zeros(int(groups.max()) + 1 if groups.size else 0, dtype=np.intp)
    rows[groups[::-1]] = np.arange(groups.size - 1, -1, -1)
    return rows
