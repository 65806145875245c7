"""Refuses an alignment by row where columns identify the records in another order."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.role_recognition import recognised_role
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.pairs.cells import CellCodes, are_numeric, cell_codes, id_text
from linkrisk.errors import called

_VOTERS = 5000
"""At most so many records vote; these decide any case."""


class RowVotes:
    """What the columns of two tables say about partners."""

    def __init__(
        self,
        original: pd.DataFrame,
        masked: pd.DataFrame,
        shared: Sequence[str],
        codes: Mapping[str, CellCodes],
    ) -> None:
        self._frames = (original, masked)
        self._shared = shared
        self._codes = codes
        self._places: dict[str, _Places | None] = {}

    def support(self, partner: IndexArray, without: Collection[str]) -> float:
        """How much speaks for these partners against those that stand in the same row.

        Each record for which they differ has one vote: that of most columns, by whether its own value is
        nearer to that of the one or of the other.

        `partner` (n,): the row of the masked table, -1 for none.
        """
        rows = displaced(partner)
        rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), _VOTERS)).astype(np.intp)]
        nearer = np.zeros(len(rows))
        for name in self._shared:
            places = None if name in without else self._column(name)
            if places is not None:
                gain = places.gaps(rows, rows) - places.gaps(rows, partner[rows])
                nearer += np.nan_to_num(np.sign(gain))
        yes, no = int((nearer > 0).sum()), int((nearer < 0).sum())
        return (yes - no) / math.sqrt(max(yes + no, 1))

    def _column(self, name: str) -> _Places | None:
        if name not in self._places:
            first, second = (frame[name] for frame in self._frames)
            self._places[name] = _places(first, second, self._codes.get(name))
        return self._places[name]


def displaced(partner: IndexArray) -> IndexArray:
    """The records whose partner stands in another row."""
    return np.flatnonzero((partner >= 0) & (partner != np.arange(len(partner))))


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


def _places(first: pd.Series, second: pd.Series, codes: CellCodes | None) -> _Places | None:
    """Where the cells of a column stand; None when it says nothing about the order of rows.

    Files that are both sorted by a column, or both renumbered, agree in it whatever their rows are.
    """
    if are_numeric(first, second):
        numbers = [
            pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan)) for column in (first, second)
        ]
        if all(column.is_monotonic_increasing for column in numbers):
            return None
        first_ranks, second_ranks = (
            np.asarray(column.rank(pct=True), dtype=np.float64) for column in numbers
        )
        return _Places(first_ranks, second_ranks, ranked=True)
    codes = codes or cell_codes(first, second)
    if _in_blocks(codes.first) and _in_blocks(codes.second):
        return None
    sides = [np.where(side >= 0, side, np.nan) for side in (codes.first, codes.second)]
    return _Places(sides[0], sides[1], ranked=False)


def _in_blocks(codes: IndexArray) -> bool:
    """Whether equal codes stand together, as where a table is sorted by them."""
    distinct = len(np.unique(codes))
    return bool(distinct < len(codes) and int((np.diff(codes) != 0).sum()) + 1 == distinct)


_OLD_LABELS = ("index", "level_0", "Unnamed: 0")
"""What pandas calls an index without a name where it makes a column of it."""


def check_old_labels(original: Table, masked: Table) -> None:
    """Refuse two tables one of which has the row labels of the other as a column, in another order.

    This happens when a frame was shuffled or sorted and then renumbered with `reset_index`. The same column
    is left behind where the rows stand in place, and the other table was made afterwards: there the columns
    that both have say so.
    """
    for holder, other in ((masked, original), (original, masked)):
        for name in _OLD_LABELS:
            rows = _labelled_rows(holder, other, name)
            if rows is None:
                continue
            partner = rows if holder is original else np.argsort(rows)
            shared = [column for column in original.columns if column in masked.columns]
            if RowVotes(original.frame, masked.frame, shared, {}).support(partner, ()) > -IN_PLACE:
                raise DataError(_label_refusal(holder, other, name))


def _labelled_rows(holder: Table, other: Table, name: str) -> npt.NDArray[np.intp] | None:
    """The rows of the other table that a column has the labels of; None unless it has all, out of order."""
    labels = pd.RangeIndex(len(other.frame)) if other.labels is None else other.labels
    if name not in holder.columns or name in other.columns or labels.nlevels > 1 or not labels.is_unique:
        return None
    rows = labels.get_indexer(pd.Index(holder.frame[name]))
    in_order = np.arange(len(labels))
    if not np.array_equal(np.sort(rows), in_order) or np.array_equal(rows, in_order):
        return None
    return rows.astype(np.intp)


def _label_refusal(holder: Table, other: Table, name: str) -> str:
    what = "row numbers, from 0," if other.labels is None else "row labels"
    return (
        f"column {name!r} of {holder.source} has the {what} of {other.source} in another order, as after "
        f"reset_index; give {other.source} a column {name!r} with them too, and align the records with "
        f"{called('id', name)} ({called('row_by_row', True)} takes the rows as they are)"
    )


APART, IN_PLACE = 3.0, 2.0
"""The majorities (`RowVotes.support`) that decide: for partners that a column names, and against them."""

NEARLY_ALL = 0.9
"""Share of the records that a column must identify to be refused without further evidence."""

HALF = 0.5
"""Share of the records that a column must identify to be considered at all."""

_SWAPPED = 0.5
"""Least rank correlation of a column with the values swapped in: with less, it was not masked by swapping."""

_ENOUGH = 10
"""Least number of different rows of several columns; fewer may be equal in both tables by chance."""


@dataclass(frozen=True, eq=False)
class _Key:
    """Columns that identify the records, in another order than the rows."""

    columns: tuple[tuple[str, str], ...]  # their names in the original and in the masked table
    # (n,) The row of the masked table with the same values; -1 for a record without exactly one
    partner: IndexArray
    certain: bool  # whether they name nearly all records


def check_row_order(original: Table, masked: Table) -> tuple[str, ...]:
    """Refuse two tables whose rows are not in the same order."""
    shared = [name for name in original.columns if name in masked.columns]
    codes = _moved(original.frame, masked.frame, shared)
    keys = [key for name in codes if (key := _key(((name, name),), codes[name])) is not None]
    keys += _renamed_keys(original, masked, shared) or ([] if keys else _joint_keys(codes))
    if not keys:
        return ()
    votes = RowVotes(original.frame, masked.frame, shared, codes)
    in_place = [name for name in shared if name not in codes]
    refused = []
    for key in keys:
        support = votes.support(key.partner, [name for name, _ in key.columns])
        doubtful = key.certain and (support > -IN_PLACE or _is_never_swapped(original.frame, key))
        if support >= APART or (doubtful and (support > 0 or not _vouched(original.frame, in_place, key))):
            takes = _takes_id(original, masked, key)
            refused.append((support >= APART, takes, takes and _is_record_id(original, key), support, key))
    if refused:
        raise DataError(_refusal(original, masked, max(refused, key=lambda case: case[:4])[4]))
    taken = [
        key.columns[0][0]
        for key in keys
        if key.certain and len(key.columns) == 1 and not _vouched(original.frame, in_place, key)
    ]
    return (_exchanged(taken),) if taken else ()


def _is_never_swapped(frame: pd.DataFrame, key: _Key) -> bool:
    """Whether a key is a column that masking does not exchange the values of, as far as one can tell.

    That is text, and whole numbers without a gap, or with gaps where those in the same row of the other table
    have little to do with them: values are swapped for such as are near.
    """
    column = frame[key.columns[0][0]]
    if len(key.columns) > 1:
        return False
    if not pd.api.types.is_numeric_dtype(column):
        return True
    named = np.flatnonzero(key.partner >= 0)
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)[named]
    if not np.array_equal(values, np.rint(values)):
        return False
    if np.array_equal(np.diff(np.sort(values)), np.ones(len(values) - 1)):
        return True
    here, there = np.full((2, len(column)), np.nan)
    here[named] = there[key.partner[named]] = np.argsort(np.argsort(values))
    both = np.isfinite(here) & np.isfinite(there)
    return bool(both.sum() > 2 and np.corrcoef(here[both], there[both])[0, 1] < _SWAPPED)


def _exchanged(names: Sequence[str]) -> str:
    what = "column {} has" if len(names) == 1 else "columns {} have"
    return (
        f"{what.format(shown_names(names, most=4))} the same values in both files in different orders, which "
        "is taken for masking such as rank swapping, as the other columns say that the rows are in the same "
        f"order; if such a column identifies the records, align them with {called('id')}"
    )


def _moved(first: pd.DataFrame, second: pd.DataFrame, names: Sequence[str]) -> dict[str, CellCodes]:
    """Codes of the columns that do not hold the same values in the same order."""
    found = {}
    for name in names:
        if not first[name].equals(second[name]):
            codes = cell_codes(first[name], second[name], loosely=True)
            if not codes.in_place:
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
        _key(((first, second),), cell_codes(original.frame[first], masked.frame[second], loosely=True))
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
    if not _same_values(joint):
        return [_joint_key((name,), each, certain=False) for name, each in same.items()]
    # Values that were exchanged in each column by itself hardly make the same rows again.
    certain = joint.count >= max(_ENOUGH, 1 + max(each.count for each in same.values()))
    return [_joint_key(tuple(same), joint, certain=certain)]


def _joint_key(names: tuple[str, ...], codes: CellCodes, *, certain: bool) -> _Key:
    columns = tuple((name, name) for name in names)
    key = _key(columns, codes) or _Key(columns, _in_turn(codes), certain=False)
    return replace(key, certain=certain or key.certain)


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


def _vouched(frame: pd.DataFrame, in_place: Sequence[str], key: _Key) -> bool:
    """Whether a column that is the same in both tables names nearly all records, others than the key."""
    rows = displaced(key.partner)
    for name in in_place:
        if frame[name].nunique() >= NEARLY_ALL * len(frame):
            cells = frame[name].to_numpy()
            if bool((cells[rows] != cells[key.partner[rows]]).any()):
                return True
    return False


def _is_record_id(original: Table, key: _Key) -> bool:
    """Whether `describe` calls the column of a key the record id."""
    name = key.columns[0][0]
    return recognised_role(name, original.frame[name], original.columns) is Role.RECORD_ID


def _takes_id(original: Table, masked: Table, key: _Key) -> bool:
    """Whether `--id` would take the column of a key."""
    first, second = key.columns[0]
    columns = (original.frame[first], masked.frame[second])
    alone = len(key.columns) == 1 and all(column.is_unique for column in columns)
    return bool(alone and not any(column.isna().any() for column in columns))


def _written_differently(first: pd.Series, second: pd.Series, key: _Key) -> tuple[str, str] | None:
    """A cell of either table that name one record and are not the same text, where these are many."""
    rows = np.flatnonzero(key.partner >= 0)
    texts = [[id_text(value) for value in column.to_list()] for column in (first, second)]
    apart = [(texts[0][row], texts[1][key.partner[row]]) for row in rows.tolist()]
    apart = [cells for cells in apart if cells[0] != cells[1]]
    return apart[0] if len(apart) > (1.0 - NEARLY_ALL) * len(rows) else None


def _refusal(original: Table, masked: Table, key: _Key) -> str:
    files = f"{original.source} and {masked.source}"
    anyway = f"{called('row_by_row', True)} takes the rows as they are"
    first, second = key.columns[0]
    if first != second:
        return (
            f"column {first!r} of {original.source} and column {second!r} of {masked.source} have the same "
            f"values in different orders; give both the same name and align the records with "
            f"{called('id')} ({anyway})"
        )
    if _takes_id(original, masked, key):
        values = f"{files} have the same values in column {first!r} in different orders"
        cells = _written_differently(original.frame[first], masked.frame[first], key)
        if cells is not None:
            values += f", written differently ({cells[0]!r} and {cells[1]!r}); write them alike and"
        else:
            values += ";"
        return f"{values} align the records with {called('id', first)} ({anyway})"
    which = "column" if len(key.columns) == 1 else "columns"
    names = shown_names((name for name, _ in key.columns), most=4)
    return (
        f"{files} have the same values in {which} {names} in different orders; sort both files alike, or add "
        f"a column that identifies the records and name it with {called('id')} ({anyway})"
    )
