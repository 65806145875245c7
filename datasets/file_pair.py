"""Two files and the truth: an original table, its masked version, and which record became which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from datasets.errors import DataError
from datasets.numeric import check_known, check_no_twins, constant_attributes, numeric_matrix
from datasets.table_pair import Table, make_table_pair


@dataclass(frozen=True, eq=False)
class FilePair:
    """An original table, its masked version, and the truth about who is who.

    Attributes
    ----------
    original : DataFrame
        The original table, n rows numbered from 0, all its columns.
    masked : DataFrame
        The masked table, m rows numbered from 0, all its columns.
    partner : intp array (n,)
        The masked row of each original record, -1 for an original record that has none.
    attributes : tuple of str
        The numeric attributes to compare, a of them, present and not constant in both tables.
    original_labels, masked_labels : tuple of str, lengths n and m
        What to call the records: their ids, or their row numbers from 1.
    name : str
        What to call the pair.
    """

    original: pd.DataFrame
    masked: pd.DataFrame
    partner: npt.NDArray[np.intp]
    attributes: tuple[str, ...]
    original_labels: tuple[str, ...]
    masked_labels: tuple[str, ...]
    name: str

    @cached_property
    def original_values(self) -> npt.NDArray[np.float64]:
        """The attributes of the original records, float64 (n, a)."""
        return numeric_matrix(self.original, self.attributes, "original")

    @cached_property
    def masked_values(self) -> npt.NDArray[np.float64]:
        """The attributes of the masked records, float64 (m, a)."""
        return numeric_matrix(self.masked, self.attributes, "masked")

    def __repr__(self) -> str:
        """Say what the pair holds in one line."""
        return (
            f"FilePair({self.name!r}: {len(self.original)} original and {len(self.masked)} masked records, "
            f"{int((self.partner >= 0).sum())} of them partners, attributes {', '.join(self.attributes)})"
        )


def make_file_pair(
    original: Any,
    masked: Any,
    *,
    attributes: Sequence[str] | None = None,
    id_column: str | None = None,
    drop_constant: bool = False,
    original_name: str = "original",
    masked_name: str = "masked",
) -> FilePair:
    """Check two tables and put them together as a file pair.

    Parameters
    ----------
    original, masked : str, Path or frame
        CSV or Parquet files, or pandas frames, or frames of another library with a `to_pandas` method.
    attributes : sequence of str, optional
        The numeric attributes to compare; by default all columns but the id, which both tables must have.
    id_column : str, optional
        The column that says who is who; the tables may then have different records. Without it the tables
        are aligned row by row and must be equally long.
    drop_constant : bool
        Leave out attributes that are constant in either table instead of raising an error.
    original_name, masked_name : str
        What to call the tables in messages when they are not files.

    Returns
    -------
    FilePair
        Checked: numbers only, finite, at least two records on either side, at least one pair of partners.

    Raises
    ------
    DataError
        On any input that cannot be used, with one line that says what, where and how to mend it.
    """
    tables = make_table_pair(
        original, masked, id_column=id_column, original_name=original_name, masked_name=masked_name
    )
    first, second = tables.original, tables.masked
    names = _choose_attributes(first, second, attributes, id_column)
    values = [numeric_matrix(table.frame, names, table.source) for table in (first, second)]
    names = _without_constants(names, values, (first.source, second.source), drop_constant)
    return FilePair(
        original=first.frame,
        masked=second.frame,
        partner=tables.partner,
        attributes=names,
        original_labels=tables.original_labels,
        masked_labels=tables.masked_labels,
        name=tables.name,
    )


def _choose_attributes(
    first: Table, second: Table, attributes: Sequence[str] | None, id_column: str | None
) -> tuple[str, ...]:
    if attributes is None:
        _check_same_columns(first, second)
        chosen = [column for column in first.columns if column != id_column]
    else:
        if isinstance(attributes, str):  # a sequence of letters, which are seldom meant
            raise DataError(f"the attributes are the text {attributes!r}; give a list of column names")
        chosen = [str(name) for name in attributes]
        check_no_twins(chosen)
        for table in (first, second):
            check_known(chosen, table.columns, table.source)
    if id_column in chosen:
        raise DataError(f"{id_column!r} is both the id column and an attribute; take it out of --attributes")
    if not chosen:
        raise DataError("no attribute is left to compare; name at least one with --attributes")
    return tuple(chosen)


def _check_same_columns(first: Table, second: Table) -> None:
    for here, there in ((first, second), (second, first)):
        lacking = [column for column in there.columns if column not in here.columns]
        if lacking:
            raise DataError(
                f"{here.source} lacks columns that {there.source} has: {', '.join(lacking)}; "
                "choose common columns with --attributes"
            )


def _without_constants(
    names: tuple[str, ...],
    values: list[npt.NDArray[np.float64]],
    sources: tuple[str, str],
    drop_constant: bool,
) -> tuple[str, ...]:
    found = {
        source: constant_attributes(matrix, names) for source, matrix in zip(sources, values, strict=True)
    }
    for source, constant in found.items():
        if constant and not drop_constant:
            raise DataError(
                f"{source}: constant attributes cannot be compared: {', '.join(constant)}; "
                "leave them out with --drop-constant or --attributes"
            )
    left = tuple(name for name in names if not any(name in constant for constant in found.values()))
    if not left:
        raise DataError("every attribute is constant in one of the files; nothing is left to compare")
    return left
