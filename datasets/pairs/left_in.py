"""Columns of a masked file that are not compared, and have the values of the original: whom they tell."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.microdata.cells import cell_codes
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.roles import Role, household, recognition
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

NEARLY = 0.95
"""A column is released as it was where at least this share of its values are those of the original."""

BY_CHANCE = 10.0
"""An identifier is left in where so many times more records have their own than by chance, or all have."""

_DATE = r"\s*\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[T ].*)?"

_UNKNOWN_OUTSIDE = (Role.CONFIDENTIAL, Role.WEIGHT)
"""Roles of columns of which a schema says that no intruder knows them."""


@dataclass(frozen=True)
class ColumnLeftIn:
    """A column that was released as it was.

    Attributes
    ----------
    column : str
    records : int
        Whom it tells: of an identifier, records that have their own value; of all others, records that are
        alone with their value in the masked file.
    """

    column: str
    records: int


@dataclass(frozen=True)
class LeftIn:
    """What a masked file has of the original besides the attributes that are compared.

    Attributes
    ----------
    records : int
        Original records with a partner.
    identifiers : tuple of ColumnLeftIn
        Direct identifiers: by the schema, or by name and values.
    numbers : tuple of str
        Record ids and household numbers with the values of the original.
    unchanged : tuple of ColumnLeftIn
        All other columns with the values of the original, but for those that a schema calls confidential or
        weights.
    unique : int
        Records that are alone in the masked file with their values of all unchanged columns together.
    """

    records: int = 0
    identifiers: tuple[ColumnLeftIn, ...] = ()
    numbers: tuple[str, ...] = ()
    unchanged: tuple[ColumnLeftIn, ...] = ()
    unique: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The part of the JSON."""
        return {
            "identifiers": [vars(one) for one in self.identifiers],
            "numbers": list(self.numbers),
            "unchanged": [vars(one) for one in self.unchanged],
            "unique": self.unique,
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know, in sentences."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        if self.identifiers:
            names = shown_names(one.column for one in self.identifiers)
            many = max(one.records for one in self.identifiers)
            yield (
                f"the masked file names {many:,} of {self.records:,} records: it has the direct identifiers "
                f"of the original ({names}); `mask --drop` takes columns out"
            )
        if self.unchanged:
            names = shown_names(one.column for one in self.unchanged)
            yield (
                f"columns that were released as they are, and are not compared: {names}; "
                f"{self.unique:,} of {self.records:,} records are alone with their values of them"
            )


def left_in(
    tables: tuple[Table, Table],
    partner: npt.NDArray[np.intp],
    compared: Collection[str],
    schema: Schema | None,
    id_column: str | None,
) -> LeftIn:
    """Find out what a masked file has of the original besides the attributes that are compared.

    Parameters
    ----------
    tables : tuple of Table
        The original and the masked one, n and m records.
    partner : intp array (n,)
        The masked row of each original record, -1 where it has none.
    compared : collection of str
        The attributes.
    schema : Schema, optional
    id_column : str, optional
        The column by which records were aligned.
    """
    original, masked = tables
    known = np.flatnonzero(partner >= 0)
    identifiers: list[ColumnLeftIn] = []
    numbers: list[str] = []
    unchanged: list[ColumnLeftIn] = []
    together: IntArray = np.zeros(len(masked.frame), dtype=np.int64)
    kept: BoolArray = np.ones(known.size, dtype=np.bool_)
    for name in original.columns:
        if name in compared or name not in masked.columns:
            continue
        codes = cell_codes(original.frame[name], masked.frame[name], loosely=True)
        mine, theirs = codes.first[known], codes.second[partner[known]]
        same = (mine == theirs) & (mine >= 0)
        role = _role(name, original, schema, id_column)
        if role is Role.IDENTIFIER:
            if same.sum() >= min((mine >= 0).sum(), BY_CHANCE * _by_chance(mine, theirs)) and same.any():
                identifiers.append(ColumnLeftIn(name, int(same.sum())))
            continue
        if role in _UNKNOWN_OUTSIDE or not _as_it_was(same, mine):
            continue
        if role in (Role.RECORD_ID, Role.HOUSEHOLD):
            numbers.append(name)
            continue
        unchanged.append(ColumnLeftIn(name, int((_alone(codes.second)[partner[known]] & same).sum())))
        together = _joined(together, codes.second)
        kept &= same
    unique = int((_alone(together)[partner[known]] & kept).sum()) if unchanged else 0
    return LeftIn(known.size, tuple(identifiers), tuple(numbers), tuple(unchanged), unique)


def _role(name: str, table: Table, schema: Schema | None, id_column: str | None) -> Role | None:
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


def _as_it_was(same: BoolArray, mine: npt.NDArray[np.intp]) -> bool:
    """Whether nearly all values are there, and they are not all the same."""
    known = mine >= 0
    return bool(same.sum() >= NEARLY * known.sum()) and np.unique(mine[known]).size > 1


def _by_chance(mine: npt.NDArray[np.intp], theirs: npt.NDArray[np.intp]) -> float:
    """How many records would have their own value if those of the masked file were shuffled."""
    size = int(max(mine.max(initial=-1), theirs.max(initial=-1))) + 1
    before, after = (np.bincount(side[side >= 0], minlength=size) for side in (mine, theirs))
    return float(before @ after) / max(len(mine), 1)


def _joined(together: IntArray, codes: npt.NDArray[np.intp]) -> IntArray:
    """Codes of the combinations of two columns."""
    pairs = together * (int(codes.max(initial=0)) + 2) + codes + 1
    place: IntArray = np.unique(pairs, return_inverse=True)[1]
    return place


def _alone(codes: npt.NDArray[Any]) -> BoolArray:
    """Which records have a code that no other one has; one without a value is not known by it."""
    _, place, count = np.unique(codes, return_inverse=True, return_counts=True)
    return np.asarray((count[place] == 1) & (codes >= 0))
