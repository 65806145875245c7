"""What becomes of a masked table when it is released: columns go, records change places, ids are new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.released_files import renumbered, shuffled
from linkrisk.errors import called

_LARGEST = 1e16
"""Ids of more digits are met by no numbers of records."""


@dataclass(frozen=True, eq=False)
class Release:
    """What is done to a masked table.

    Attributes
    ----------
    dropped : tuple of str
        Columns that go.
    renumbered : mapping of str to int
        Columns whose values become new numbers in the order of the release, equal ones staying equal, and
        after which number these begin: no new id is an old one, or records would be aligned by it.
    order : intp array (n,), optional
        The row of the original of each released record; None where they stand in place.
    """

    dropped: tuple[str, ...] = ()
    renumbered: Mapping[str, int] = field(default_factory=dict)
    order: npt.NDArray[np.intp] | None = None

    def of(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The table as it is released; records that have changed places are numbered anew."""
        found = frame.drop(columns=list(self.dropped)) if self.dropped else frame
        if self.order is not None:
            found = found.iloc[self.order].reset_index(drop=True)
        return renumbered(found, list(self.renumbered), self.renumbered) if self.renumbered else found

    def stored(self, stored: StoredFile) -> StoredFile:
        """The same with what a file says of its columns."""
        gone = {*self.dropped, *self.renumbered}
        columns = {name: notes for name, notes in stored.columns.items() if name not in gone}
        named = {name: ColumnNotes(stored.notes(name).label) for name in self.renumbered}
        return replace(stored, frame=self.of(stored.frame), columns={**columns, **named})

    def to_dict(self) -> dict[str, Any]:
        """What a record keeps: with ``order``, rows from 1, it can be told who is who."""
        found: dict[str, Any] = {"dropped": list(self.dropped), "renumbered": list(self.renumbered)}
        found = {name: names for name, names in found.items() if names}
        return found if self.order is None else {**found, "order": (self.order + 1).tolist()}


def release_of(
    frame: pd.DataFrame,
    masked: Mapping[str, str],
    *,
    identifiers: Sequence[str],
    household: str | None,
    drop: Sequence[str] | None,
    renumber: Sequence[str],
    shuffle: np.random.Generator | None,
    source: str,
) -> Release:
    """Decide what becomes of a masked table.

    Parameters
    ----------
    frame : DataFrame
        The original table, n rows.
    masked : mapping of str to str
        Columns that methods mask, and by which.
    identifiers : sequence of str
        Columns that are left out where nothing else is said, and no method masks them.
    household : str, optional
        Column of household numbers, whose records stay together.
    drop : sequence of str, optional
        Columns to leave out.
    renumber : sequence of str
        Columns with ids to be numbered.
    shuffle : Generator, optional
        Draws the order.
    source : str
        What to call the table in messages.

    Raises
    ------
    DataError
        If a column does not exist, or is named for two things.
    """
    names = list(frame.columns)
    if drop is None:
        drop = [name for name in identifiers if name in names and name not in (*masked, *renumber)]
    for what, columns in (("drop", drop), ("renumber", renumber)):
        check_known(columns, names, source, option=what)
        for name in columns:
            if name in masked:
                raise DataError(
                    f"{shown_name(name)} is masked by {masked[name]}: leave it out of {called(what)}",
                    option=what,
                )
    for name in renumber:
        if name in drop:
            raise DataError(
                f"{shown_name(name)} is dropped: leave it out of {called('renumber')}", option="renumber"
            )
    if len(set(drop)) == len(names):
        raise DataError(f"every column of {source} is dropped: nothing would be left")
    order = None
    if shuffle is not None:
        rows = pd.DataFrame({"row": np.arange(len(frame))})
        if household is not None:
            rows["household"] = frame[household].to_numpy()
        mixed = shuffled(rows, shuffle, None if household is None else "household")
        order = mixed["row"].to_numpy(dtype=np.intp)
    return Release(tuple(dict.fromkeys(drop)), {name: _beyond(frame[name]) for name in renumber}, order)


def _beyond(ids: pd.Series) -> int:
    """A power of ten that no id comes up to, which tells less of the largest one than that itself."""
    numbers = pd.to_numeric(ids.astype("object"), errors="coerce").to_numpy(dtype=np.float64)
    largest = np.nanmax(np.abs(numbers), initial=0.0, where=np.isfinite(numbers))
    return 0 if largest < 1 or largest >= _LARGEST else 10 ** len(str(int(largest)))
