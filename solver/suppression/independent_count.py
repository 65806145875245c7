"""The independent count: of a table and what was taken from it, with nothing of what chose it.

This file knows pandas and numpy only, and the formula of individual risk. It counts the combinations of the
input again, table by table, and looks for unsafe ones that still stand whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray
from linkrisk.formulations.suppression.posterior_risk import RiskThreshold

MOST_DIFFERENT = 25_000
"""Different rows that are compared in pairs, where a missing value matches loosely."""

_AT_ONCE = 20_000_000


def all_parts(
    tables: Iterable[tuple[Sequence[str], float]], by_dimension: Mapping[int, float]
) -> dict[tuple[str, ...], float]:
    """Every table and every part of one, with its threshold.

    A part has that of its number of variables, or else the largest of the tables that it is in.
    """
    whole = {tuple(names): threshold for names, threshold in tables}
    found: dict[tuple[str, ...], float] = {}
    for names, threshold in whole.items():
        for size in range(1, len(names) + 1):
            for part in combinations(names, size):
                limit = by_dimension.get(size, threshold)
                found[part] = max(limit, found.get(part, limit))
    return {**found, **whole}


def whole_unsafe(
    known: pd.DataFrame,
    taken: BoolArray,
    names: Sequence[str],
    parts: Mapping[tuple[str, ...], float],
    *,
    alpha: float,
    safe: bool,
    weight: NDArray[np.float64] | None = None,
) -> int | None:
    """How many records keep an unsafe combination whole.

    Parameters
    ----------
    known : DataFrame
        The table before, n rows.
    taken : ndarray of bool, shape (n, q)
        What was taken from the key variables `names`.
    parts : mapping
        Thresholds by key variables.
    alpha : float
        By how much a missing value matches anything.
    safe : bool
        Whether a combination with a missing value is safe.
    weight : ndarray of float64, shape (n,), optional
        What each record counts.

    Returns
    -------
    int or None
        None where loose matches are too many to be compared here.
    """
    place = {name: at for at, name in enumerate(names)}
    broken = np.zeros(len(known), dtype=np.bool_)
    counts = pd.Series(np.ones(len(known)) if weight is None else weight, index=range(len(known)))
    for part, threshold in parts.items():
        columns = known[list(part)].reset_index(drop=True)
        lacking = columns.isna().to_numpy()
        keys = [columns[name] for name in part]
        frequency = counts.groupby(keys, dropna=False, sort=False).transform("sum").to_numpy()
        if alpha > 0.0 and lacking.any():
            more = _loose(columns, counts)
            if more is None:
                return None
            frequency = frequency + alpha * more
        if isinstance(threshold, RiskThreshold):  # the formula is shared, the counts are not
            rare = threshold.unsafe(_alike(keys), frequency)
        else:
            rare = frequency <= threshold
        unsafe = rare & ~(lacking.any(axis=1) if safe else lacking.all(axis=1))
        broken |= unsafe & ~taken[:, [place[name] for name in part]].any(axis=1)
    return int(broken.sum())


def _alike(keys: Sequence[pd.Series]) -> NDArray[np.float64]:
    """How many records have the same values."""
    ones = pd.Series(np.ones(len(keys[0])))
    found = ones.groupby(list(keys), dropna=False, sort=False).transform("sum")
    return found.to_numpy(dtype=np.float64)


def too_few_alike(
    output: pd.DataFrame,
    names: Sequence[str],
    k: int,
    *,
    matches_anything: bool,
    dimension: int | None = None,
) -> int | None:
    """How many records of a table have fewer than k like them, themselves included.

    Parameters
    ----------
    output : DataFrame
        The table after, n rows.
    names : sequence of str
        The key variables.
    k : int
    matches_anything : bool
        Whether a missing value agrees with anything, or only with another missing value.
    dimension : int, optional
        Count on all sets of so many key variables or fewer; on all key variables when absent.

    Returns
    -------
    int or None
        None where loose matches are too many to be compared here.
    """
    sets = [tuple(names)]
    if dimension is not None:
        sets = [some for size in range(1, dimension + 1) for some in combinations(names, size)]
    rare = np.zeros(len(output), dtype=np.bool_)
    for some in sets:
        columns = output[list(some)].reset_index(drop=True)
        counts = pd.Series(np.ones(len(columns)))
        keys = [columns[name] for name in some]
        frequency = counts.groupby(keys, dropna=False, sort=False).transform("sum").to_numpy()
        if matches_anything:
            more = _loose(columns, counts)
            if more is None:
                return None
            frequency = frequency + more
        rare |= frequency < k
    return int(rare.sum())


def information_lost(
    before: pd.DataFrame,
    output: pd.DataFrame,
    leaves: Mapping[str, Sequence[str] | None],
    cost: Mapping[str, float],
) -> float:
    """What a table has lost by recoding and suppression, a value that is taken out being its cost.

    Parameters
    ----------
    before, output : DataFrame
        The table, and what became of it, row by row.
    leaves : mapping
        For each key variable, what the leaves of its hierarchy have become, one by one; None where the
        variable is as it was.
    cost : mapping
        By key variable.
    """
    total = 0.0
    for name, becomes in leaves.items():
        gone = output[name].isna() & before[name].notna()
        share = 0.0
        if becomes is not None:
            many = pd.Series(list(becomes)).value_counts()
            there = output[name].dropna().astype(str)
            share = float((there.map(many).astype(float) - 1).sum()) / max(len(becomes) - 1, 1)
        total += cost[name] * (float(gone.sum()) + share)
    return total


def _loose(columns: pd.DataFrame, counts: pd.Series) -> NDArray[np.float64] | None:
    """What agrees with each record wherever both have a value, but is not the same."""
    number = columns.groupby(list(columns.columns), dropna=False, sort=False).ngroup().to_numpy()
    rows = columns[~pd.Series(number).duplicated().to_numpy()]
    if len(rows) > MOST_DIFFERENT:
        return None
    sums = counts.groupby(number).sum().to_numpy()
    codes = np.column_stack([pd.factorize(rows[name])[0] for name in rows.columns])
    found = np.empty(len(rows))
    step = max(1, _AT_ONCE // len(rows))
    for begin in range(0, len(rows), step):
        some = slice(begin, begin + step)
        agree = np.ones((len(codes[some]), len(rows)), dtype=np.bool_)
        for column in codes.T:
            mine = column[some, None]
            agree &= (mine == column) | (mine < 0) | (column < 0)
        found[some] = agree @ sums
    return np.asarray((found - sums)[number], dtype=np.float64)
