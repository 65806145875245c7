"""Audits a suppression: recounts its input and output independently of the search.

It uses pandas and numpy on the tables alone; only the formula of individual risk is shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.datasets.microdata.values import spelled
from linkrisk.formulations.suppression.posterior_risk import RiskThreshold
from linkrisk.solver.suppression import steering


def all_parts(
    tables: Iterable[tuple[Sequence[str], float]], by_dimension: Mapping[int, float]
) -> dict[tuple[str, ...], float]:
    """List every table and every part of one, with its threshold.

    A part has the threshold of its number of variables, or else the largest of its tables.
    """
    given = {tuple(names): threshold for names, threshold in tables}
    found: dict[tuple[str, ...], float] = {}
    for names, threshold in given.items():
        for size in range(1, len(names) + 1):
            for part in combinations(names, size):
                limit = by_dimension.get(size, threshold)
                found[part] = max(limit, found.get(part, limit))
    return {**found, **given}


def records_left_unsafe(
    known: pd.DataFrame,
    taken: pd.DataFrame,
    parts: Mapping[tuple[str, ...], float],
    *,
    alpha: float,
    safe: bool,
    weight: FloatArray | None = None,
) -> int | None:
    """Count the records with an unsafe combination of the input that lost no value.

    `parts` has thresholds of tables and their parts, `taken` marks the suppressed values of each key
    variable, `alpha` and `safe` are those of `MissingMeaning`. None if too many rows are to be compared
    loosely.
    """
    unbroken = np.zeros(len(known), dtype=np.bool_)
    ones = np.ones(len(known))
    for part, threshold in parts.items():
        columns = known[list(part)].reset_index(drop=True)
        lacking = columns.isna().to_numpy()
        frequency = _frequency(columns, ones if weight is None else weight, alpha)
        if frequency is None:
            return None
        if isinstance(threshold, RiskThreshold):  # the formula is shared, the counts are not
            alike = _frequency(columns, ones, 0.0)
            assert alike is not None
            rare = threshold.unsafe(alike, frequency)
        else:
            rare = frequency <= threshold
        unsafe = rare & ~(lacking.any(axis=1) if safe else lacking.all(axis=1))
        unbroken |= unsafe & ~taken[list(part)].to_numpy().any(axis=1)
    return int(unbroken.sum())


def too_few_alike(
    output: pd.DataFrame,
    names: Sequence[str],
    k: int,
    *,
    matches_anything: bool,
    dimension: int | None = None,
) -> int | None:
    """Count the records with fewer than k like them, on sets of at most `dimension` key variables or on all.

    None if too many rows are to be compared loosely.
    """
    sets = [tuple(names)]
    if dimension is not None:
        sets = [some for size in range(1, dimension + 1) for some in combinations(names, size)]
    rare = np.zeros(len(output), dtype=np.bool_)
    for some in sets:
        columns = output[list(some)].reset_index(drop=True)
        frequency = _frequency(columns, np.ones(len(columns)), float(matches_anything))
        if frequency is None:
            return None
        rare |= frequency < k
    return int(rare.sum())


def _frequency(columns: pd.DataFrame, weight: FloatArray, alpha: float) -> FloatArray | None:
    """Weight (n,) of the records that agree with each, loosely by `alpha`; None if there are too many."""
    counts = pd.Series(weight, index=columns.index)
    keys = [columns[name] for name in columns]
    exact = counts.groupby(keys, dropna=False, sort=False).transform("sum").to_numpy(dtype=np.float64)
    if alpha == 0.0 or not columns.isna().to_numpy().any():
        return exact
    more = _loose(columns, counts)
    return None if more is None else exact + alpha * more


def information_lost(
    before: pd.DataFrame,
    output: pd.DataFrame,
    leaves: Mapping[str, Sequence[str] | None],
    cost: Mapping[str, float],
) -> float:
    """Loss of a table by recoding and suppression; a suppressed value loses the cost of its variable.

    `leaves` has what the leaves of the hierarchy of each recoded key variable have become, one by one.
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


def _loose(columns: pd.DataFrame, counts: pd.Series) -> FloatArray | None:
    """Weight (n,) of different records that agree with each wherever both have a value."""
    number = columns.groupby(list(columns.columns), dropna=False, sort=False).ngroup().to_numpy()
    rows = columns[~pd.Series(number).duplicated().to_numpy()]
    if len(rows) > steering.DIFFERENT_ROWS:
        return None
    sums = counts.groupby(number).sum().to_numpy()
    codes = np.column_stack([pd.factorize(rows[name])[0] for name in rows.columns])
    found = np.empty(len(rows))
    step = max(1, steering.PAIRS_AT_ONCE // len(rows))
    for begin in range(0, len(rows), step):
        some = slice(begin, begin + step)
        agree = np.ones((len(codes[some]), len(rows)), dtype=np.bool_)
        for column in codes.T:
            mine = column[some, None]
            agree &= (mine == column) | (mine < 0) | (column < 0)
        found[some] = agree @ sums
    return np.asarray((found - sums)[number], dtype=np.float64)


MOST_CATEGORIES = 20
"""Categories listed per variable; the others share one line."""


@dataclass(frozen=True, eq=False)
class BeforeAndAfter:
    """Key variables in checked tables (n, q), before and after suppression."""

    before: pd.DataFrame
    after: pd.DataFrame
    taken: BoolArray  # (n, q): suppressed values
    cost: Mapping[str, float]  # of one value of each key variable
    untouched: Set[str] = frozenset()  # key variables that keep all values
    levels: Mapping[str, int] = field(default_factory=dict)  # of recoding; empty if there are none
    weights: FloatArray | None = None  # (n,)
    household: LongArray | None = None  # (n,): number of each record's household, from 0

    @property
    def names(self) -> tuple[str, ...]:
        """The key variables."""
        return tuple(self.before.columns)

    def variables(self) -> list[dict[str, Any]]:
        """JSON of each key variable; `frequencies` are lines of a category with its records before and after.

        Of a recoded variable these are lines of the categories before, then lines of those after.
        """
        return [self._variable(at) for at in range(len(self.names))]

    def _variable(self, at: int) -> dict[str, Any]:
        name, lost = self.names[at], self.taken[:, at]
        records, level = len(self.before), self.levels.get(self.names[at], 0)
        codes, values = pd.factorize(self.before[name])
        before = np.bincount(codes[codes >= 0], minlength=len(values))
        if level:
            codes_after, values_after = pd.factorize(self.after[name])
            after = np.bincount(codes_after[codes_after >= 0], minlength=len(values_after))
            lines = [*_lines(values, before, None), *_lines(values_after, None, after)]
        else:
            after = np.bincount(codes[(codes >= 0) & ~lost], minlength=len(values))
            lines = _lines(values, before, after)
        missing = int((codes < 0).sum())
        return {
            "name": name,
            "categories": len(values),
            "categories_after": int((after > 0).sum()),
            "level": level,
            "missing_before": missing,
            "suppressed": int(lost.sum()),
            "share": float(lost.sum() / max(records - missing, 1)),
            "cost": self.cost[name],
            "untouched": name in self.untouched,
            "frequencies": lines,
            "missing": {"before": missing, "after": records - int(after.sum())},
        }


def _lines(values: Any, before: LongArray | None, after: LongArray | None) -> list[dict[str, Any]]:
    """Lines of categories in order; of many only the most frequent, and a line of all others."""
    labels = [spelled(value) for value in values]
    counted = before if before is not None else after
    assert counted is not None

    def line(category: str | None, others: int, some: list[int]) -> dict[str, Any]:
        found = [None if one is None else int(one[some].sum()) for one in (before, after)]
        return {"category": category, "others": others, "before": found[0], "after": found[1]}

    order = _natural(labels)
    if len(order) <= MOST_CATEGORIES:
        return [line(labels[at], 0, [at]) for at in order]
    order.sort(key=lambda at: -counted[at])  # of equal ones the first by name, as sorting is stable
    first, rest = order[: MOST_CATEGORIES - 1], order[MOST_CATEGORIES - 1 :]
    return [*(line(labels[at], 0, [at]) for at in first), line(None, len(rest), rest)]


def _natural(labels: list[str]) -> list[int]:
    """Places of labels in order: numbers by size, everything else by letters."""
    places = list(range(len(labels)))
    try:
        return sorted(places, key=lambda at: float(labels[at]))
    except ValueError:
        return sorted(places, key=lambda at: labels[at])
