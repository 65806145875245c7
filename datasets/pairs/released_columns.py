"""Columns of a masked file that are not compared: values of the original in them, and whom they identify."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import BoolArray, LongArray
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.microdata.role_recognition import household, recognition
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.pairs.cells import are_numeric, cell_codes
from linkrisk.datasets.pairs.column_relations import (
    MOST_RECORDS,
    PARTS_OF,
    Codings,
    alone,
    by_words,
    codings,
    digests_like,
    goes_with,
    has_parts,
    parts,
    recognised_by,
    telling_part,
)
from linkrisk.datasets.pairs.kept_order import KeptOrder, kept_order
from linkrisk.errors import called

NEARLY = 0.95
"""A column is released as it was where at least this share of its values are those of the original."""

BY_CHANCE = 10.0
"""An identifier is left in where so many times more records have their own than by chance, or all have."""

FEW = 200
"""Records by which most columns are told not to be another one under a new name."""

FEWEST_TEXTS = 10
"""Records that are told by the words of a text, where it goes with the original."""

_DATE = r"\s*\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[T ].*)?"

_UNKNOWN_OUTSIDE = (Role.CONFIDENTIAL, Role.WEIGHT)
"""Roles of columns of which a schema says that no intruder knows them."""

_NUMBERS = (Role.RECORD_ID, Role.HOUSEHOLD)
"""Roles of columns that number records or households."""

SAYS_NOTHING = (*_NUMBERS, *_UNKNOWN_OUTSIDE, Role.IDENTIFIER)
"""Roles of columns that say nothing of a person where they have other values than in the original."""


@dataclass(frozen=True)
class ColumnLeftIn:
    """A column that was released, under its own name or another one, and is not compared."""

    column: str
    # whom it tells: of an identifier, records that have their own value; of a column that was released as it
    # was, records that are alone with their value in the masked file; of one that was masked, those that
    # `recognised_by` counts
    records: int
    original: str = ""  # what the original calls it, where that is another name
    part: str = ""  # what part of its values is meant, where it is not all of them

    @property
    def shown(self) -> str:
        """Its name for a reader, with that in the original."""
        name = f"{self.part} of {shown_name(self.column)}" if self.part else shown_name(self.column)
        return f"{name} ({shown_name(self.original)} in the original)" if self.original else name


@dataclass(frozen=True)
class LeftIn:
    """What a masked file has of the original besides the attributes that are compared."""

    records: int = 0  # original records with a partner
    identifiers: tuple[ColumnLeftIn, ...] = ()  # direct identifiers: by the schema, or by name and values
    numbers: tuple[str, ...] = ()  # record ids and household numbers with the values of the original
    # all other columns with the values of the original, but for those that a schema calls confidential or
    # weights
    unchanged: tuple[ColumnLeftIn, ...] = ()
    # records that are alone in the masked file with their values of all unchanged columns together
    unique: int = 0
    # columns with other values that go with those of the original all the same
    masked: tuple[ColumnLeftIn, ...] = ()
    order: KeptOrder | None = None  # what the places of the released records tell

    def to_dict(self) -> dict[str, Any]:
        """The part of the JSON."""
        return {
            "identifiers": [vars(one) for one in self.identifiers],
            "numbers": list(self.numbers),
            "unchanged": [vars(one) for one in self.unchanged],
            "unique": self.unique,
            "masked": [vars(one) for one in self.masked],
            "order": None if self.order is None else self.order.to_dict(),
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know, in sentences."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        if self.identifiers:
            names, columns = listed(self.identifiers), [one.column for one in self.identifiers]
            many = max(one.records for one in self.identifiers)
            yield (
                f"the masked file names {many:,} of {self.records:,} records: it has the direct identifiers "
                f"of the original ({names}); `mask` leaves them out with {called('drop', columns)}"
            )
        if self.unchanged:
            yield (
                "columns that were released as they are, and are not compared: "
                f"{listed(self.unchanged)}; {self.unique:,} of {self.records:,} records are alone with their "
                "values of them"
            )
        if self.masked:
            yield (f"columns that are not compared, and go with those of the original: {listed(self.masked)}")
        if self.order is not None:
            yield self.order.sentence


def listed(columns: Iterable[ColumnLeftIn]) -> str:
    """The names of columns for a reader, with those in the original where they have others there."""
    return ", ".join(one.shown for one in columns)


def left_in(
    tables: tuple[Table, Table],
    partner: npt.NDArray[np.intp],
    compared: Collection[str],
    schema: Schema | None,
    id_column: str | None,
    *,
    side_by_side: bool,
) -> LeftIn:
    """Find out what a masked file has of the original besides the attributes that are compared.

    `partner` (n,): the masked row of each original record, -1 where it has none.
    """
    search = _Search(tables, partner, frozenset(compared), schema, id_column)
    original, masked = tables
    both = [name for name in original.columns if name in masked.columns and name not in compared]
    for name in both:
        search.look_at(name, name)
    for name in masked.columns:
        if name not in original.columns and (source := search.source_of(name)) is not None:
            search.look_at(name, source)
    search.look_into_parts()
    order = kept_order(
        original.frame,
        masked.frame,
        partner,
        seen=not side_by_side,
        says=(
            lambda name: name in compared or search.role(name, masked) not in _NUMBERS,
            lambda name: name in compared or search.role(name) not in (*_NUMBERS, *_UNKNOWN_OUTSIDE),
        ),
    )
    return replace(search.found(), order=order)


class _Search:
    """What has been found so far."""

    def __init__(
        self,
        tables: tuple[Table, Table],
        partner: npt.NDArray[np.intp],
        compared: frozenset[str],
        schema: Schema | None,
        id_column: str | None,
    ) -> None:
        self.original, self.masked = tables
        self.compared, self.schema, self.id = compared, schema, id_column
        self.rows = np.flatnonzero(partner >= 0)
        self.partner = partner[self.rows]
        self.some = slice(None, None, self.rows.size // MOST_RECORDS + 1)
        self.coded: dict[str, Codings] = {}
        self.roles: dict[tuple[bool, str], Role | None] = {}
        self.identifiers: list[ColumnLeftIn] = []
        self.numbers: list[str] = []
        self.unchanged: list[ColumnLeftIn] = []
        self.changed: list[ColumnLeftIn] = []
        self.together: LongArray = np.zeros(len(self.masked.frame), dtype=np.int64)
        self.kept: BoolArray = np.ones(self.rows.size, dtype=np.bool_)

    def role(self, name: str, table: Table | None = None) -> Role | None:
        """What a column is, of the original where no other table is given."""
        table = self.original if table is None else table
        if (key := (table is self.masked, name)) not in self.roles:
            same = self.id if table is self.original else None
            self.roles[key] = role_of(name, table, self.schema, same)
        return self.roles[key]

    def look_at(self, name: str, source: str) -> None:
        """A column of the masked file that may have the values of one of the original."""
        before = self.original.frame[source].iloc[self.rows]
        before = digests_like(before, self.masked.frame[name].iloc[self.partner])
        codes = cell_codes(before, self.masked.frame[name], loosely=True)
        mine, theirs = codes.first, codes.second[self.partner]
        same = (mine == theirs) & (mine >= 0)
        role = self.role(source)
        renamed = "" if name == source else source
        if role is Role.IDENTIFIER:
            if same.sum() >= min((mine >= 0).sum(), BY_CHANCE * _by_chance(mine, theirs)) and same.any():
                self.identifiers.append(ColumnLeftIn(name, int(same.sum()), renamed))
            else:
                self._text(name, source)
        elif role in _UNKNOWN_OUTSIDE:
            return
        elif not _as_it_was(same, mine):
            self._masked(name, source, role)
        elif role in _NUMBERS:
            self.numbers.append(name)
        else:
            told = int((alone(codes.second)[self.partner] & same).sum())
            self.unchanged.append(ColumnLeftIn(name, told, renamed))
            self.together = _joined(self.together, codes.second)
            self.kept &= same

    def _masked(self, name: str, source: str, role: Role | None) -> None:
        """A column with other values: whether it goes with the original one all the same."""
        after = self.masked.frame[name]
        if role in _NUMBERS or self.role(name, self.masked) in SAYS_NOTHING:
            return
        before = self.original.frame[source].iloc[self.rows]
        if goes_with(self._codings(source), codings(after.iloc[self.partner[self.some]])):
            told = int(recognised_by(before, after, self.partner).sum())
            self.changed.append(ColumnLeftIn(name, told, "" if name == source else source))
        else:
            self._text(name, source)

    def _text(self, name: str, source: str) -> None:
        """A column of other texts: whether their words tell whose they are."""
        before, after = self.original.frame[source].iloc[self.rows], self.masked.frame[name]
        if are_numeric(before, after):
            return
        told = int(by_words(before, after, self.partner).sum())
        if told >= FEWEST_TEXTS:
            self.changed.append(ColumnLeftIn(name, told, "" if name == source else source))

    def look_into_parts(self) -> None:
        """Ids and other texts of the masked file of which a part goes with a column of the original."""
        frame = self.masked.frame
        told = {one.column for one in (*self.identifiers, *self.unchanged)}
        told |= {one.column for one in self.changed if not one.original or are_numeric(frame[one.column])}
        names = [
            name
            for name in self.masked.columns
            if name not in self.compared
            and name not in told
            and has_parts(frame[name])
            and self.role(name, self.masked) not in _UNKNOWN_OUTSIDE
        ]
        if not names:
            return
        step = self.rows.size // PARTS_OF + 1
        mine = self.original.frame.iloc[self.rows[::step]].reset_index(drop=True)
        theirs = self.masked.frame.iloc[self.partner[::step]].reset_index(drop=True)
        kept = [name for name in mine if name in theirs and _alike(mine[name], theirs[name])]
        known = mine.drop(columns=kept)
        for name in names:
            others = theirs.drop(columns=name)
            found = telling_part(theirs[name], known, others, lambda one: self.role(one) not in SAYS_NOTHING)
            if found is not None:
                part, source = found
                self.changed = [one for one in self.changed if (one.column, one.original) != (name, source)]
                before = self.original.frame[source].iloc[self.rows]
                many = int(recognised_by(before, parts(frame[name])[part], self.partner).sum())
                self.changed.append(ColumnLeftIn(name, many, source, part))

    def source_of(self, name: str) -> str | None:
        """The column of the original that one of another name has the values of, or goes with best."""
        after = self.masked.frame[name].iloc[self.partner[self.some]]
        coded, clear = codings(after), dict.fromkeys(self.original.columns, 0.0)
        for source in clear:
            before = digests_like(self.original.frame[source].iloc[self.rows[self.some]], after)
            if _alike(before[:FEW], after[:FEW]) and _alike(before, after):
                return None if self._is_copy(source, after) else source
            clear[source] = goes_with(self._codings(source), coded)
        best = max(clear, key=lambda source: clear[source])
        return best if clear[best] > 0.0 else None

    def _codings(self, source: str) -> Codings:
        """A column of the original, of some records that have partners."""
        if source not in self.coded:
            self.coded[source] = codings(self.original.frame[source].iloc[self.rows[self.some]])
        return self.coded[source]

    def _is_copy(self, source: str, after: pd.Series) -> bool:
        """Whether values are those of a column that is compared and was released as it was."""
        if source not in self.compared:
            return False
        return _alike(self.masked.frame[source].iloc[self.partner[self.some]], after)

    def found(self) -> LeftIn:
        """All of it."""
        unique = int((alone(self.together)[self.partner] & self.kept).sum()) if self.unchanged else 0
        return LeftIn(
            self.rows.size,
            tuple(self.identifiers),
            tuple(self.numbers),
            tuple(self.unchanged),
            unique,
            tuple(self.changed),
        )


def role_of(name: str, table: Table, schema: Schema | None, id_column: str | None = None) -> Role | None:
    """What a column is by the schema; where that says nothing, or to ignore it, by name and values."""
    declared = None if schema is None else schema.get(name).role
    if declared not in (None, Role.IGNORED):
        return declared
    found = recognition(name, table.frame[name], table.columns) or household(name, table.frame[name])
    if found is not None and not (found.role is Role.IDENTIFIER and _are_dates(table.frame[name])):
        return found.role
    return Role.RECORD_ID if name == id_column else declared


def _are_dates(column: pd.Series) -> bool:
    """Whether a column holds dates as text: they may be different for all records, and are no names."""
    known = column.dropna().astype("str")
    return bool(known.str.fullmatch(_DATE).all())


def _alike(before: pd.Series, after: pd.Series) -> bool:
    """Whether nearly all values of two columns, side by side, are the same."""
    codes = cell_codes(before, after, loosely=True)
    return _as_it_was((codes.first == codes.second) & (codes.first >= 0), codes.first)


def _as_it_was(same: BoolArray, mine: npt.NDArray[np.intp]) -> bool:
    """Whether nearly all values are there, and they are not all the same."""
    known = mine >= 0
    return bool(same.sum() >= NEARLY * known.sum()) and np.unique(mine[known]).size > 1


def _by_chance(mine: npt.NDArray[np.intp], theirs: npt.NDArray[np.intp]) -> float:
    """How many records would have their own value if those of the masked file were shuffled."""
    size = int(max(mine.max(initial=-1), theirs.max(initial=-1))) + 1
    before, after = (np.bincount(side[side >= 0], minlength=size) for side in (mine, theirs))
    return float(before @ after) / max(len(mine), 1)


def _joined(together: LongArray, codes: npt.NDArray[np.intp]) -> LongArray:
    """Codes of the combinations of two columns."""
    pairs = together * (int(codes.max(initial=0)) + 2) + codes + 1
    place: LongArray = np.unique(pairs, return_inverse=True)[1]
    return place
