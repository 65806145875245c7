"""What suppression did to each key variable: categories, missing values, and frequencies before and after."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, LongArray

MOST_CATEGORIES = 20
"""Of a variable with more, the most frequent are listed, and all others are one line."""

_EXACT = 1e15
"""Whole numbers below it are written without a decimal point."""


@dataclass(frozen=True, eq=False)
class BeforeAndAfter:
    """The key variables of a table, and what became of them.

    Attributes
    ----------
    before, after : DataFrame
        The key variables of input and output that are in a checked table, n rows of q columns.
    taken : ndarray of bool, shape (n, q)
        Values that were suppressed.
    cost : mapping of str to float
        Of one value of each key variable.
    untouched : set of str
        Key variables that keep all values.
    levels : mapping of str to int
        Levels of recoding; empty where nothing could be recoded.
    weights : ndarray of float64, shape (n,), or None
    household : ndarray of int64, shape (n,), or None
        Number of each record's household, from 0.
    """

    before: pd.DataFrame
    after: pd.DataFrame
    taken: BoolArray
    cost: Mapping[str, float]
    untouched: Set[str] = frozenset()
    levels: Mapping[str, int] = field(default_factory=dict)
    weights: NDArray[np.float64] | None = None
    household: LongArray | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The key variables."""
        return tuple(self.before.columns)

    def variables(self) -> list[dict[str, Any]]:
        """A dictionary for each key variable, as the JSON of `suppress --json` has it.

        Its `frequencies` are lines of a category with its records before and after. Of a recoded variable
        these are lines of the categories before, then lines of those after; what is not there is None.
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


def label(value: Any) -> str:
    """A value as text; whole numbers without a decimal point, which their column may owe to missing ones."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return f"{value:.0f}"
    return str(value)


def _lines(values: Any, before: LongArray | None, after: LongArray | None) -> list[dict[str, Any]]:
    """Lines of categories in their order; of many the most frequent first, and a line of all others."""
    labels = [label(value) for value in values]
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
    """The places of labels in order: numbers by size, everything else by letters."""
    places = list(range(len(labels)))
    try:
        return sorted(places, key=lambda at: float(labels[at]))
    except ValueError:
        return sorted(places, key=lambda at: labels[at])
