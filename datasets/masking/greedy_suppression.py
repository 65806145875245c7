"""Greedy local suppression: which values to take out so that every record has k records like it.

Two records agree when they have the same value in every key variable in which both have one: a missing value
fits any. The frequency of a record is the number of records that agree with it, itself included, and a file
is k-anonymous (Samarati 2001; Sweeney 2002) when no frequency is below k. Taking a value out makes no two
records disagree, so frequencies only rise, and a file of k records or more can always be made k-anonymous.

Frequencies are counted in one of two ways. In the input: what is left of a record is compared with all
records as they were. Then k records had the values that it keeps, and no record is safe only because others
lost theirs. Or in the output, with all that was taken out, as sdcMicro's `freqCalc` does. Agreement in the
input is agreement in the output, so the first way gives k-anonymity in the second sense, too. The second way
takes fewer values out, but protects little: k - 1 records without any value agree with every other.

The records below k are taken one after the other, those of least frequency first, and a value of such a
record is taken out until it has k:

- the nearest records are those that disagree with it in the fewest variables. One of these variables goes;
- of these variables, one of the least important;
- of these, the one in which most of the nearest records disagree, up to the number that is lacking, and those
  below k that gain by it counted again: if one variable is all that they disagree in, this is by how much the
  shortfall of the file, ``sum of max(0, k - frequency)``, falls;
- of these, the one with most values, and of these the last.

Then values are put back, the most important first, of these the last one taken first, wherever all records
have k all the same: no value is taken out in vain. The steps to the nearest records and the order of
importance are those of `localSuppression` in the R package sdcMicro (Templ, Kowarik and Meindl 2015); the
rest is not.

References
----------
P. Samarati (2001). Protecting respondents' identities in microdata release. IEEE TKDE 13(6), 1010-1027.
L. Sweeney (2002). k-anonymity: a model for protecting privacy. IJUFKS 10(5), 557-570.
M. Templ, A. Kowarik and B. Meindl (2015). Statistical disclosure control for micro-data using the R package
sdcMicro. Journal of Statistical Software 67(4). The manual of sdcMicro, `localSuppression` and `freqCalc`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, IntArray, LongArray
from linkrisk.formulations.compiled import kernel

MISSING = -1
"""The code of a missing value."""


def greedy_suppression(codes: IntArray, k: int, importance: LongArray, *, mutual: bool) -> BoolArray:
    """Choose values (n, a) to suppress so that every record agrees with k, itself included.

    Of `importance` (a,), the least goes first. With `mutual`, frequencies are those of the output, where a
    record also gains by what others lose. Put back any single value, and some record has fewer than k. Time
    grows with the number of records below k, times that of different records. Deterministic.
    """
    # First the variables with most values, in which two records differ soonest; of equal ones the last.
    many = np.array([np.unique(column).size for column in codes.T])
    order = np.lexsort((-np.arange(many.size), -many))
    kinds = _kinds(codes)
    counts = np.bincount(kinds)
    rare = np.flatnonzero(counts[kinds] < k)
    first = np.flatnonzero(~pd.Series(kinds).duplicated().to_numpy())
    common = first[counts[kinds[first]] >= k]
    rows = np.concatenate([rare, common])
    weight = np.concatenate([np.ones_like(rare), counts[kinds[common]]]).astype(np.int64)
    some = np.ascontiguousarray(codes[np.ix_(rows, order)])
    search = _Search(some, weight, counts[kinds[rows]].astype(np.int64), k, importance[order], mutual)
    search.run(rare.size)
    found = np.zeros(codes.shape, dtype=np.bool_)
    for row, column in search.taken:
        found[rows[row], order[column]] = True
    return found


def _kinds(codes: IntArray) -> LongArray:
    """Number the different records from 0; a missing value is a value as any other here."""
    kinds = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        kinds = pd.factorize(kinds * (int(column.max()) + 2) + (column + 1))[0].astype(np.int64)
    return kinds


@dataclass
class _Search:
    """A search and the state of its file."""

    codes: IntArray  # (m, a): the records with fewer than k of their kind, then one of every other kind
    weight: LongArray  # (m,): how many records each stands for
    frequency: LongArray  # (m,): first how many records are of its kind; then, how many agree with it
    k: int
    importance: LongArray  # (a,)
    mutual: bool  # whether records are compared with the others as they are now, which then gain, too

    def __post_init__(self) -> None:
        _add_fitting(self.codes, self.weight, self.frequency)
        self.taken: list[tuple[int, int]] = []
        self._before = self.codes.copy()
        self._others = self.codes if self.mutual else self._before
        self._reached, self._short, self._at = np.zeros((3, self.codes.shape[1]), dtype=np.int64)

    def run(self, changeable: int) -> None:
        """Suppress values of the first rows until all have k, then put back what was too much."""
        below = self.frequency[:changeable]
        for row in np.lexsort((np.arange(changeable), below)).tolist():
            while self.frequency[row] < self.k:
                column = self._choose(row)
                _agree(*self._rows(row), column, 1, self.mutual)
                self.codes[row, column] = MISSING
                self.taken.append((row, column))
        last_first = self.taken[::-1]
        # Sorting is stable: the most important values come first, the last ones taken before others.
        last_first.sort(key=lambda cell: -int(self.importance[cell[1]]))
        self.taken = [cell for cell in last_first if not self._put_back(*cell)]

    def _choose(self, row: int) -> int:
        """The column of the next value to suppress."""
        _nearest(*self._rows(row), self.k, (self._reached, self._short, self._at))
        fall = np.minimum(self._reached, self.k - self.frequency[row])
        if self.mutual:
            fall += self._short
        able = np.flatnonzero(self._reached > 0)
        best = np.lexsort((able, -fall[able], self.importance[able]))[0]
        return int(able[best])

    def _rows(self, row: int) -> tuple[IntArray, int, IntArray, LongArray, LongArray]:
        """Arguments of kernels about a row and the others."""
        return self.codes, row, self._others, self.weight, self.frequency

    def _put_back(self, row: int, column: int) -> bool:
        """Put a value back if every record has k all the same."""
        value = self._before[row, column]
        self.codes[row, column] = value
        if _needed(*self._rows(row), column, self.k, self.mutual):
            self.codes[row, column] = MISSING
            return False
        _agree(*self._rows(row), column, -1, self.mutual)
        return True


@kernel
def _differ(codes: IntArray, row: int, others: IntArray, other: int, skipped: int) -> bool:
    """Whether a row disagrees with one of `others`, apart from a column."""
    for column in range(codes.shape[1]):
        one, two = codes[row, column], others[other, column]
        if one != two and one >= 0 and two >= 0 and column != skipped:
            return True
    return False


@kernel
def _add_fitting(codes: IntArray, weight: LongArray, frequency: LongArray) -> None:
    """Add, for each row, the number of records of other kinds that agree with it."""
    rows, columns = codes.shape
    for row in range(rows):
        if codes[row].min() >= 0:
            continue
        for other in range(rows):
            if _differ(codes, row, codes, other, -1):
                continue
            same, complete = True, True
            for column in range(columns):
                same = same and codes[row, column] == codes[other, column]
                complete = complete and codes[other, column] >= 0
            if not same:
                frequency[row] += weight[other]
                if complete:  # which does not come up by itself
                    frequency[other] += weight[row]


@kernel
def _nearest(
    codes: IntArray,
    row: int,
    others: IntArray,
    weight: LongArray,
    frequency: LongArray,
    k: int,
    columns_of: tuple[LongArray, LongArray, LongArray],
) -> None:
    """Count by columns the records of `others` that disagree with a row in the fewest columns.

    Fills `reached` with how many of them disagree in each column, `short` with how many of these have fewer
    than k; `at` is room for a list of columns.
    """
    reached, short, at = columns_of
    rows, columns = codes.shape
    fewest = columns + 1
    for other in range(rows):
        many = 0
        for column in range(columns):
            one, two = codes[row, column], others[other, column]
            if one != two and one >= 0 and two >= 0:
                at[many] = column
                many += 1
                if many > fewest:
                    break
        if many == 0 or many > fewest:
            continue
        if many < fewest:
            fewest = many
            reached[:] = 0
            short[:] = 0
        for place in range(many):
            reached[at[place]] += weight[other]
            if frequency[other] < k:
                short[at[place]] += 1


@kernel
def _agree(
    codes: IntArray,
    row: int,
    others: IntArray,
    weight: LongArray,
    frequency: LongArray,
    column: int,
    sign: int,
    mutual: bool,
) -> None:
    """Add to frequencies, or subtract, the records that only one value separates from a row."""
    for other in range(codes.shape[0]):
        value = others[other, column]
        if value < 0 or value == codes[row, column] or _differ(codes, row, others, other, column):
            continue
        frequency[row] += sign * weight[other]
        if mutual:
            frequency[other] += sign * weight[row]


@kernel
def _needed(
    codes: IntArray,
    row: int,
    others: IntArray,
    weight: LongArray,
    frequency: LongArray,
    column: int,
    k: int,
    mutual: bool,
) -> bool:
    """Whether a row, or one that agrees with it only without this value, would have fewer than k with it."""
    lost = 0
    for other in range(codes.shape[0]):
        value = others[other, column]
        if value < 0 or value == codes[row, column] or _differ(codes, row, others, other, column):
            continue
        lost += weight[other]
        if frequency[row] - lost < k or (mutual and frequency[other] - weight[row] < k):
            return True
    return False
