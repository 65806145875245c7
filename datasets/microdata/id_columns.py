"""Columns that identify the records although none was named."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.pairs.row_order import IN_PLACE
from linkrisk.datasets.pairs.row_votes import RowVotes
from linkrisk.errors import called

_OLD_LABELS = ("index", "level_0", "Unnamed: 0")
"""What pandas calls an index without a name where it makes a column of it."""


def check_old_labels(original: Table, masked: Table) -> None:
    """Refuse two tables one of which has the row labels of the other as a column, in another order.

    This happens when a frame was shuffled or sorted and then renumbered with `reset_index`. The same column
    is left behind where the rows stand in place, and the other table was made afterwards: there the columns
    that both have say so.

    Parameters
    ----------
    original, masked : Table
        As many records each.

    Raises
    ------
    DataError
        If there is such a column, and the other columns do not say clearly that the rows stand in place.
    """
    for holder, other in ((masked, original), (original, masked)):
        for name in _OLD_LABELS:
            rows = _labelled_rows(holder, other, name)
            if rows is None:
                continue
            partner = rows if holder is original else np.argsort(rows)
            shared = [column for column in original.columns if column in masked.columns]
            if RowVotes(original.frame, masked.frame, shared, {}).support(partner, ()) > -IN_PLACE:
                raise DataError(_refusal(holder, other, name))


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


def _refusal(holder: Table, other: Table, name: str) -> str:
    what = "row numbers, from 0," if other.labels is None else "row labels"
    return (
        f"column {name!r} of {holder.source} has the {what} of {other.source} in another order, as after "
        f"reset_index; give {other.source} a column {name!r} with them too, and align the records with "
        f"{called('id', name)} ({called('row_by_row', True)} takes the rows as they are)"
    )
