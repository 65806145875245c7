"""Whether rows that stand at the same place belong together, judged by what the two tables share.

A column whose values are the same in both tables, each of them once, says who is who. Where it stands in
another order, either the rows do, or the column was masked by exchanging its values (rank swapping). The
other columns tell which: masked values are nearer to those of their own record than to those of another one.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from datasets.cells import CellCodes, are_numeric, cell_codes
from datasets.errors import DataError
from datasets.names import shown_names
from datasets.tables import Table

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]

CLEAR = 3.0
"""Standard deviations by which more records must be nearer to one partner than to the other."""

NEARLY_ALL = 0.9
"""Of the records, so many must be named by a column that is refused though nothing else speaks for it."""

HALF = 0.5
"""Of the records, so many must be named by a column that is looked at at all."""

_VOTERS = 5000
"""More records than these are not asked; these decide any case."""


@dataclass(frozen=True, eq=False)
class _Key:
    """Columns that say who is who, in another order than the rows.

    Attributes
    ----------
    columns : tuple of (str, str)
        Their names in the original and in the masked table.
    partner : intp array (n,)
        The row of the masked table with the same values; -1 for a record without exactly one.
    certain : bool
        Whether they name nearly all records.
    """

    columns: tuple[tuple[str, str], ...]
    partner: IndexArray
    certain: bool


def check_row_order(original: Table, masked: Table) -> None:
    """Refuse two tables whose rows do not belong together as they stand.

    Parameters
    ----------
    original, masked : Table
        As many records each.

    Raises
    ------
    DataError
        If columns that say who is who stand in another order, unless the other columns say clearly that these
        values were exchanged and the rows were not. In doubt a further column that says who is who decides
        for the rows as they stand.
    """
    shared = [name for name in original.columns if name in masked.columns]
    codes = _moved(original.frame, masked.frame, shared)
    keys = [key for name in codes if (key := _key(((name, name),), codes[name])) is not None]
    keys += _renamed_keys(original, masked, shared) or ([] if keys else _joint_keys(codes))
    if not keys:
        return
    votes = _Votes(original.frame, masked.frame, shared)
    support = [votes.for_key(key) for key in keys]
    strongest = int(np.argmax(support))
    if support[strongest] >= CLEAR:
        raise DataError(_refusal(original, masked, keys[strongest]))
    doubtful = [key for key, for_it in zip(keys, support, strict=True) if key.certain and for_it > -CLEAR]
    if doubtful and not _named_in_order(original.frame, [name for name in shared if name not in codes]):
        raise DataError(_refusal(original, masked, doubtful[0]))


def _moved(first: pd.DataFrame, second: pd.DataFrame, names: Sequence[str]) -> dict[str, CellCodes]:
    """Codes of the columns that do not hold the same values in the same order."""
    found = {}
    for name in names:
        if not first[name].equals(second[name]):
            codes = cell_codes(first[name], second[name])
            if not np.array_equal(codes.first, codes.second):
                found[name] = codes
    return found


def _key(columns: tuple[tuple[str, str], ...], codes: CellCodes) -> _Key | None:
    """The partners by values that either table has once; None where these are few, or name the same rows."""
    records = len(codes.first)
    once = np.ones(codes.count, dtype=bool)
    row_of = np.full(codes.count + 1, -1, dtype=np.intp)
    for side in (codes.first, codes.second):
        once &= np.bincount(side[side >= 0], minlength=codes.count) == 1
    row_of[codes.second] = np.arange(records)
    row_of[:-1][~once] = -1
    row_of[-1] = -1
    partner = row_of[codes.first]
    named = partner >= 0
    if named.sum() < HALF * records or np.array_equal(partner[named], np.flatnonzero(named)):
        return None
    return _Key(columns, partner, bool(named.sum() >= NEARLY_ALL * records))


def _renamed_keys(original: Table, masked: Table, shared: Sequence[str]) -> list[_Key]:
    """Keys that have another name in each of the tables."""
    own = [
        [name for name in table.columns if name not in shared and _names_most(table.frame[name])]
        for table in (original, masked)
    ]
    found = (
        _key(((first, second),), cell_codes(original.frame[first], masked.frame[second]))
        for first, second in product(*own)
    )
    return [key for key in found if key is not None]


def _names_most(column: pd.Series) -> bool:
    return bool(column.nunique() >= HALF * len(column))


def _joint_keys(codes: dict[str, CellCodes]) -> list[_Key]:
    """Columns that hold the same values in another order, all of them together where their rows do so too.

    Rows that are equal on them are partners in the order in which they stand.
    """
    same = {name: each for name, each in codes.items() if each.count > 1 and _same_values(each)}
    if not same:
        return []
    joint = _joined(list(same.values()))
    groups = {tuple(same): joint} if _same_values(joint) else {(name,): each for name, each in same.items()}
    keys = []
    for names, each in groups.items():
        columns = tuple((name, name) for name in names)
        key = _key(columns, each) or _Key(columns, _in_turn(each), certain=False)
        keys.append(key)
    return keys


def _same_values(codes: CellCodes) -> bool:
    return bool(np.array_equal(np.sort(codes.first), np.sort(codes.second)))


def _joined(columns: Sequence[CellCodes]) -> CellCodes:
    """Codes of the rows of several columns."""
    rows, records = np.zeros(2 * len(columns[0].first), dtype=np.intp), len(columns[0].first)
    for codes in columns:
        both = np.concatenate([codes.first, codes.second])
        rows = pd.factorize(rows * (codes.count + 1) + both + 1)[0].astype(np.intp)
    return CellCodes(rows[:records], rows[records:], int(rows.max()) + 1)


def _in_turn(codes: CellCodes) -> IndexArray:
    """Partners of equal values in the order of their rows; a row that holds the same in both is its own."""
    partner = np.arange(len(codes.first), dtype=np.intp)
    apart = codes.first != codes.second
    rows = np.flatnonzero(apart)
    first, second = (rows[np.argsort(side[apart], kind="stable")] for side in (codes.first, codes.second))
    partner[first] = second
    return partner


class _Votes:
    """Whether records are nearer to the partner that a key gives them than to the one in their row."""

    def __init__(self, original: pd.DataFrame, masked: pd.DataFrame, shared: Sequence[str]) -> None:
        self._frames = (original, masked)
        self._shared = shared
        self._places: dict[str, _Places | None] = {}

    def for_key(self, key: _Key) -> float:
        """By how many standard deviations more records are nearer by the key; below 0 row by row."""
        rows = np.flatnonzero((key.partner >= 0) & (key.partner != np.arange(len(key.partner))))
        rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), _VOTERS)).astype(np.intp)]
        nearer = np.zeros(len(rows))
        for name in self._shared:
            if (name, name) in key.columns:
                continue
            if name not in self._places:
                self._places[name] = _places(*(frame[name] for frame in self._frames))
            places = self._places[name]
            if places is not None:
                gain = places.gaps(rows, rows) - places.gaps(rows, key.partner[rows])
                nearer += np.nan_to_num(np.sign(gain))
        by_key, by_row = int((nearer > 0).sum()), int((nearer < 0).sum())
        return (by_key - by_row) / math.sqrt(max(by_key + by_row, 1))


@dataclass(frozen=True, eq=False)
class _Places:
    """The cells of a column in either table: how many are below them, or their codes; NaN if missing."""

    first: FloatArray
    second: FloatArray
    ranked: bool

    def gaps(self, rows: IndexArray, partners: IndexArray) -> FloatArray:
        """How far apart the cells of records and partners are."""
        gaps = np.abs(self.first[rows] - self.second[partners])
        return gaps if self.ranked else np.minimum(gaps, 1.0)


def _places(first: pd.Series, second: pd.Series) -> _Places | None:
    """Where the cells of a column stand; None when it says nothing about the order of rows.

    Files that are both sorted by a column, or both numbered anew, agree in it whatever their rows are.
    """
    if are_numeric(first, second):
        numbers = [
            pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan)) for column in (first, second)
        ]
        if all(column.is_monotonic_increasing for column in numbers):
            return None
        ranks = [column.rank(pct=True).to_numpy(dtype=np.float64) for column in numbers]
        return _Places(ranks[0], ranks[1], ranked=True)
    codes = cell_codes(first, second)
    if _in_blocks(codes.first) and _in_blocks(codes.second):
        return None
    sides = [np.where(side >= 0, side, np.nan) for side in (codes.first, codes.second)]
    return _Places(sides[0], sides[1], ranked=False)


def _in_blocks(codes: IndexArray) -> bool:
    """Whether equal codes stand together, as where a table is sorted by them."""
    distinct = len(np.unique(codes))
    return bool(distinct < len(codes) and int((np.diff(codes) != 0).sum()) + 1 == distinct)


def _named_in_order(frame: pd.DataFrame, names: Sequence[str]) -> bool:
    """Whether one of these columns, which are the same in both tables, names nearly all records."""
    return any(frame[name].nunique() >= NEARLY_ALL * len(frame) for name in names)


def _refusal(original: Table, masked: Table, key: _Key) -> str:
    files = f"{original.source} and {masked.source}"
    anyway = "--row-by-row takes the rows as they stand"
    first, second = key.columns[0]
    if first != second:
        return (
            f"column {first!r} of {original.source} and column {second!r} of {masked.source} have the same "
            f"values in different orders; give both the same name and align the records with --id ({anyway})"
        )
    if len(key.columns) == 1 and key.certain:
        return (
            f"{files} have the same values in column {first!r} in different orders; align the records with "
            f"--id {shlex.quote(first)} ({anyway})"
        )
    which = "column" if len(key.columns) == 1 else "columns"
    names = shown_names((name for name, _ in key.columns), most=4)
    return (
        f"{files} have the same values in {which} {names} in different orders; sort both files alike, or "
        f"add a column that says who is who and name it with --id ({anyway})"
    )
