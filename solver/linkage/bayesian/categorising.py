"""Categories of attributes: equal-frequency classes of numbers, and text as it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.schema import Scale
from linkrisk.solver.run.errors import UsageError

UNKNOWN = -1
"""The code of a missing value, and of a category that no training record has: no evidence."""


class Categories(ABC):
    """How the values of one attribute become codes 0, 1, ..., `size` - 1."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of categories."""

    @abstractmethod
    def codes(self, column: pd.Series) -> IndexArray:
        """The code of each value, shape (n,); `UNKNOWN` where it says nothing."""

    @abstractmethod
    def to_dict(self) -> dict[str, list[Any]]:
        """Plain lists, ready for JSON."""


@dataclass(frozen=True)
class Intervals(Categories):
    """Classes of numbers.

    Attributes
    ----------
    cuts : tuple of float
        Ascending; class k holds the values above ``cuts[k - 1]`` and up to ``cuts[k]``.
    """

    cuts: tuple[float, ...]

    @property
    def size(self) -> int:
        """One more than there are cuts."""
        return len(self.cuts) + 1

    def codes(self, column: pd.Series) -> IndexArray:
        """The class of each number; unseen numbers belong to a class too."""
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        codes = np.searchsorted(np.array(self.cuts, dtype=np.float64), values)
        return np.where(np.isnan(values), UNKNOWN, codes).astype(np.intp)

    def to_dict(self) -> dict[str, list[Any]]:
        """``{"cuts": [...]}``."""
        return {"cuts": list(self.cuts)}


@dataclass(frozen=True)
class Labels(Categories):
    """Categories that are values themselves.

    Attributes
    ----------
    labels : tuple of str
        The values, all different.
    """

    labels: tuple[str, ...]

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.labels)

    def codes(self, column: pd.Series) -> IndexArray:
        """The place of each value among the labels."""
        labels = pd.Index(self.labels, dtype=object)
        return np.asarray(labels.get_indexer(_text(column)), dtype=np.intp)

    def to_dict(self) -> dict[str, list[Any]]:
        """``{"categories": [...]}``."""
        return {"categories": list(self.labels)}


def learn_categories(column: pd.Series, scale: Scale, classes: int) -> Categories:
    """Categories of an attribute from its values in the training records.

    Parameters
    ----------
    column : Series
        Values, none missing, at least one.
    scale : Scale
        Numbers are cut into classes (see `equal_frequency`), other values stay as they are.
    classes : int
        Most classes of a numeric attribute, at least 2.
    """
    if scale is Scale.NUMERIC:
        return Intervals(equal_frequency(column.to_numpy(dtype=np.float64), classes))
    return Labels(tuple(sorted(_text(column).unique())))


def equal_frequency(values: FloatArray, classes: int) -> tuple[float, ...]:
    """Cut numbers into classes of about as many records each (Smith 2016, section 5.2).

    Equal values stay together. With no more different values than classes, each value is a class. Otherwise
    the records above the last cut are shared out evenly among the classes that are left, and the next cut
    is made where it comes nearest to that share. A cut lies half way between two values, so that a value
    that was not seen falls into the class of the nearest one that was.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        None missing.
    classes : int

    Returns
    -------
    tuple of float
        Ascending cuts, at most `classes` - 1.
    """
    distinct, counts = np.unique(values, return_counts=True)
    below = np.cumsum(counts)[:-1]
    few = distinct.size <= classes
    chosen = np.arange(distinct.size - 1) if few else _even(below, values.size, classes)
    lower, upper = distinct[chosen], distinct[chosen + 1]
    middle = lower / 2 + upper / 2
    return tuple(np.where((lower <= middle) & (middle < upper), middle, lower).tolist())


def _even(below: IndexArray, records: int, classes: int) -> IndexArray:
    """Which gaps between values to cut at; `below` counts the records below each gap."""
    chosen: list[int] = []
    first, done = 0, 0
    for left in range(classes, 1, -1):
        if first == below.size:
            break
        target = done + (records - done) / left
        at = first + int(np.abs(below[first:] - target).argmin())
        chosen.append(at)
        first, done = at + 1, int(below[at])
    return np.array(chosen, dtype=np.intp)


def read_categories(entry: Any, name: str) -> Categories:
    """Read what `to_dict` wrote.

    Raises
    ------
    UsageError
        If it is not that.
    """
    if isinstance(entry, Mapping) and set(entry) == {"cuts"} and _list_of(entry["cuts"], int | float):
        cuts = tuple(float(cut) for cut in entry["cuts"])
        if all(lower < upper for lower, upper in pairwise(cuts)):
            return Intervals(cuts)
    if isinstance(entry, Mapping) and set(entry) == {"categories"} and _list_of(entry["categories"], str):
        labels = tuple(entry["categories"])
        if 0 < len(labels) == len(set(labels)):
            return Labels(labels)
    raise UsageError(
        f'parameters of bayes: attribute {name!r} needs ascending "cuts" or different "categories"; '
        "use parameters as they were written"
    )


def _list_of(value: object, kind: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _text(column: pd.Series) -> pd.Index:
    """The values as text; None where one is missing."""
    values = zip(column, column.isna(), strict=True)
    return pd.Index([None if missing else str(value) for value, missing in values], dtype=object)
