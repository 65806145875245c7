"""Whether a released column still goes with a column of the original, and whom it tells by itself."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.cells import are_numeric, cell_codes
from linkrisk.datasets.microdata.dates import looks_dated, read_dates
from linkrisk.datasets.pairs.inferred import ValueMap

MOST_RECORDS = 5_000
"""Partners that are looked at to find out whether two columns go together."""

MOST_TEXTS = 300
"""Records whose texts are compared word by word."""

_SURE = 6.0
"""Standard deviations above chance."""

_PAIRS = 10.0
"""Pairs of records above chance that agree in both columns."""

_BINS = 8
"""Groups of equal size that values in their order are cut into."""


Codings = tuple[IndexArray, ...]
"""A column as codes in several ways, -1 where it has no value."""


def codings(column: pd.Series) -> Codings:
    """A column as codes: of its values, and of eight groups of them in their order."""
    values = in_order(column)
    known = ~np.isnan(values)
    found = np.full((2, len(values)), -1, dtype=np.intp)
    different, found[0, known], count = np.unique(values[known], return_inverse=True, return_counts=True)
    before = (np.cumsum(count) - count) * _BINS // max(1, int(known.sum()))
    found[1, known] = before[found[0, known]]
    return (found[0],) if different.size <= _BINS else (found[0], found[1])


def goes_with(before: Codings, after: Codings) -> float:
    """How clearly two columns, side by side, depend on each other: standard deviations above chance, or 0.

    What is counted are pairs of records that agree in both columns. By chance their number is that of a
    Poisson variable, or varies less.
    """
    return max(_above_chance(one, other) for one in before for other in after)


def _above_chance(one: IndexArray, other: IndexArray) -> float:
    known = (one >= 0) & (other >= 0)
    one, other = one[known], other[known]
    together = one * (int(other.max(initial=0)) + 1) + other
    both, first, second = (_pairs(codes) for codes in (together, one, other))
    everything = len(one) * (len(one) - 1) / 2.0
    if min(first, second) == 0.0 or max(first, second) >= everything:
        return 0.0
    chance = first * second / everything
    above = both - chance
    return float(above / np.sqrt(chance)) if above >= max(_PAIRS, _SURE * np.sqrt(chance)) else 0.0


def _pairs(codes: IndexArray) -> float:
    few = len(codes) > 0 and codes.max() < 4 * len(codes)
    count = (np.bincount(codes) if few else np.unique(codes, return_counts=True)[1]).astype(np.float64)
    return float((count * (count - 1.0)).sum() / 2.0)


def in_order(column: pd.Series) -> FloatArray:
    """Values as numbers in their order: days of dates, text as it is sorted; missing ones are NaN."""
    if are_numeric(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if looks_dated(column):
        try:
            return read_dates([(column, "")])[0].days
        except DataError:
            pass  # of several forms, one cannot tell which
    text = column.astype(object).map(str, na_action="ignore")
    numbers = pd.to_numeric(text, errors="coerce")
    if not (numbers.isna() & text.notna()).any():
        return numbers.to_numpy(dtype=np.float64)
    codes = pd.factorize(text, sort=True)[0].astype(np.float64)
    return np.where(codes < 0, np.nan, codes)


def told_by(before: pd.Series, after: pd.Series, partner: IndexArray) -> BoolArray:
    """Which records one released column tells by itself to somebody who knows it, shape (before,).

    Where its values are recoded, each to one other, they are alone with what their value has become. Numbers
    have their partner strictly nearest, by their values or by their ranks.

    Parameters
    ----------
    before : Series
        The column of the records that have a partner.
    after : Series
        That of all released records.
    partner : intp array (before,)
        Their rows.
    """
    codes = cell_codes(before, after, loosely=True).second
    becomes = np.where(codes < 0, np.nan, codes.astype(np.float64))[partner]
    shown = ValueMap.of(in_order(before), becomes)
    told = (
        alone(codes)[partner]
        if shown is not None and shown.by_evidence
        else np.zeros(len(before), dtype=np.bool_)
    )
    if are_numeric(before, after):
        first, second = in_order(before), in_order(after)
        by_value = _nearest(first, second, partner)
        return max((told, by_value, _nearest(_ranks(first), _ranks(second), partner)), key=np.count_nonzero)
    return told


def by_words(before: pd.Series, after: pd.Series, partner: IndexArray) -> BoolArray:
    """Which of the first records a text tells: their partner's has more of their words than any other."""
    told = np.zeros(len(before), dtype=np.bool_)
    some = np.flatnonzero((before.notna().to_numpy()) & (after.notna().to_numpy()[partner]))[:MOST_TEXTS]
    texts = [side.iloc[rows].astype(str) for side, rows in ((before, some), (after, partner[some]))]
    if not some.size or any(side.str.strip().str.count(" ").mean() < 1.0 for side in texts):
        return told
    words = [side.str.lower().str.split().map(frozenset) for side in texts]
    code = {word: at for at, word in enumerate({word for side in words for text in side for word in text})}
    has = np.zeros((2, some.size, len(code)), dtype=np.float32)
    for side, one in zip(has, words, strict=True):
        for row, text in zip(side, one, strict=True):
            row[[code[word] for word in text]] = 1.0
    many = has.sum(axis=2)
    both = has[0] @ has[1].T
    alike = both / np.maximum(many[0][:, None] + many[1] - both, 1.0)
    own = alike.diagonal().copy()
    np.fill_diagonal(alike, -1.0)
    told[some] = own > alike.max(axis=1)
    return told


def _ranks(values: FloatArray) -> FloatArray:
    return np.asarray(pd.Series(values).rank(pct=True), dtype=np.float64)


def _nearest(own: FloatArray, others: FloatArray, partner: IndexArray) -> BoolArray:
    """Of which numbers the partner is strictly the nearest."""
    values, count = np.unique(others[~np.isnan(others)], return_counts=True)
    mine = others[partner]
    known = ~(np.isnan(own) | np.isnan(mine))
    if not values.size:
        return known
    bounds = np.r_[-np.inf, values, np.inf]
    at = np.searchsorted(values, mine)
    at[~known] = 0
    distance = np.abs(own - mine)
    apart = np.minimum(np.abs(own - bounds[at]), np.abs(own - bounds[at + 2]))
    return np.asarray(known & (count[at] == 1) & (distance < apart))


def alone(codes: npt.NDArray[np.intp] | npt.NDArray[np.int64]) -> BoolArray:
    """Which records have a code that no other one has; one without a value (-1) is not known by it."""
    _, place, count = np.unique(codes, return_inverse=True, return_counts=True)
    return np.asarray((count[place] == 1) & (codes >= 0))
