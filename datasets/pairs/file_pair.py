"""Two files and the truth: an original table, its masked version, and which record became which."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError, NoNumberError
from linkrisk.datasets.microdata.id_columns import text_id
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.numeric import (
    CONSTANT,
    NEARLY,
    check_known,
    check_no_twins,
    check_ranges,
    constant_attributes,
    numeric_matrix,
)
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.spelling import spelled_alike
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.pairs.categorical import (
    CategoricalAttribute,
    Masking,
    categorical_attributes,
    known_recodings,
    listed_categories,
    scales_of,
)
from linkrisk.datasets.pairs.remarks import remarks
from linkrisk.datasets.pairs.table_pair import BY_ROW, align, check_alignment, load_tables

_WITHOUT_RANGE = {
    CONSTANT: ("constant attributes", ""),
    NEARLY: (
        "attributes that are constant but for the last digits",
        "subtract what all values have in common, or ",
    ),
}
"""What to call attributes that are the same for all records, and how to mend them."""


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
        The attributes to compare, a of them, present in both tables; numeric ones are constant in neither.
    original_labels, masked_labels : tuple of str, lengths n and m
        What to call the records: their ids, the labels of their index, or their row numbers from 1.
    name : str
        What to call the pair.
    categorical : mapping of str to CategoricalAttribute
        Those of the attributes that are not numeric.
    masking : tuple of str
        How categorical attributes were masked, where that is known (`datasets.masking.spelled`).
    alignment : str
        How it was found out who is who: ``row by row``, ``id`` with the name of the column, ``index labels``.
    notes : tuple of str
        What a user should know about the two files, in sentences.
    """

    original: pd.DataFrame
    masked: pd.DataFrame
    partner: npt.NDArray[np.intp]
    attributes: tuple[str, ...]
    original_labels: tuple[str, ...]
    masked_labels: tuple[str, ...]
    name: str
    categorical: Mapping[str, CategoricalAttribute] = field(default_factory=dict)
    masking: tuple[str, ...] = ()
    alignment: str = BY_ROW
    notes: tuple[str, ...] = ()

    @cached_property
    def original_values(self) -> npt.NDArray[np.float64]:
        """The attributes of the original records, float64 (n, a); categories as their positions."""
        return attribute_values(Table(self.original, "original"), self.attributes, self.categorical)

    @cached_property
    def masked_values(self) -> npt.NDArray[np.float64]:
        """The attributes of the masked records, float64 (m, a); categories as their positions."""
        return attribute_values(Table(self.masked, "masked"), self.attributes, self.categorical)

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
    row_by_row: bool = False,
    drop_constant: bool = False,
    nominal: Sequence[str] = (),
    ordinal: Sequence[str] = (),
    schema: Schema | None = None,
    masking: Masking = (),
    original_name: str = "original",
    masked_name: str = "masked",
) -> FilePair:
    """Check two tables and put them together as a file pair.

    Parameters
    ----------
    original, masked : str, Path or frame
        Files of any format, or pandas frames, or frames of another library with a `to_pandas` method.
    attributes : sequence of str, optional
        The attributes to compare; by default all columns but the id, which both tables must have.
    id_column : str, optional
        The column that says who is who; the tables may then have different records. Without it the tables
        must be equally long. They are aligned by the labels of their indexes where these are the same in
        another order, else row by row.
    row_by_row : bool
        Take the rows as they stand, whatever labels or columns say.
    drop_constant : bool
        Leave out numeric attributes that are constant in either table instead of raising an error.
    nominal, ordinal : sequence of str
        Those of the attributes that are not numeric, by their scale.
    schema : Schema, optional
        Scale and categories of attributes; the two lists come before it. Its roles are not used.
    masking : sequence of str or KnownRecoding
        How categorical attributes were masked (`datasets.masking.spelled`), where that is known: it makes
        some recodings impossible.
    original_name, masked_name : str
        What to call the tables in messages when they are not files.

    Returns
    -------
    FilePair
        Checked: finite numbers, known categories, at least two records on either side, at least one pair
        of partners.

    Raises
    ------
    DataError
        On any input that cannot be used, with one line that says what, where and how to mend it.
    """
    check_alignment(id_column, row_by_row)
    listed = listed_categories(nominal, ordinal, schema)
    first, second = load_tables(original, masked, id_column, tuple(listed), (original_name, masked_name))
    names = _choose_attributes(first, second, attributes, id_column)
    scales = scales_of(names, nominal, ordinal, schema)
    first, second = spelled_alike((first, second), {name: listed[name] for name in scales})
    recodings = known_recodings(masking, first, scales)
    categorical = categorical_attributes((first, second), scales, recodings)
    for table in (first, second):
        attribute_values(table, tuple(categorical), categorical)
    numeric = tuple(name for name in names if name not in categorical)
    # Where all columns are attributes, so are ids.
    with_ids = () if attributes is not None or id_column is not None or row_by_row else numeric
    values = _numbers((first, second), numeric, with_ids)
    left = _without_constants(numeric, values, (first.source, second.source), drop_constant)
    names = tuple(name for name in names if name in left or name in categorical)
    if not names:
        raise DataError("every attribute is constant in one of the files; nothing is left to compare")
    # The truth last: what is wrong with the attributes is easier to mend.
    tables = align(first, second, id_column=id_column, row_by_row=row_by_row)
    return FilePair(
        original=first.frame,
        masked=second.frame,
        partner=tables.partner,
        attributes=names,
        original_labels=tables.original_labels,
        masked_labels=tables.masked_labels,
        name=tables.name,
        categorical=categorical,
        masking=tuple(dict.fromkeys(item if isinstance(item, str) else item.masking for item in masking)),
        alignment=tables.alignment,
        notes=remarks(tables, names, categorical),
    )


def attribute_values(
    table: Table, attributes: tuple[str, ...], categorical: Mapping[str, CategoricalAttribute]
) -> npt.NDArray[np.float64]:
    """Attributes as numbers: categories by their positions, all others by their values.

    Parameters
    ----------
    table : Table
        n records.
    attributes : tuple of str
        The columns to take, a of them.
    categorical : mapping of str to CategoricalAttribute
        Those that are not numeric.

    Returns
    -------
    float64 array (n, a)

    Raises
    ------
    DataError
        If a cell is missing, no number or no category; the message names column and row.
    """
    numeric = [name for name in attributes if name not in categorical]
    if len(numeric) == len(attributes):
        return numeric_matrix(table.frame, attributes, table.source)
    values = np.empty((len(table.frame), len(attributes)))
    values[:, [attributes.index(name) for name in numeric]] = numeric_matrix(
        table.frame, numeric, table.source
    )
    for at, name in enumerate(attributes):
        if name in categorical:
            values[:, at] = categorical[name].codes(table)
    return values


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
                f"{here.source} lacks columns that {there.source} has: {shown_names(lacking)}; "
                "choose common columns with --attributes"
            )


def _numbers(
    tables: tuple[Table, Table], names: tuple[str, ...], with_ids: tuple[str, ...]
) -> list[npt.NDArray[np.float64]]:
    """Numeric attributes of both tables; where one is none, perhaps because it is an id, that is said."""
    try:
        return [numeric_matrix(table.frame, names, table.source, table.written) for table in tables]
    except NoNumberError as error:
        found = text_id(*tables, with_ids)
        if found is None:
            raise
        raise DataError(
            f"{error}; both files have the same values in column {found!r}: align the records with --id "
            f"{shlex.quote(found)}"
        ) from None


def _without_constants(
    names: tuple[str, ...],
    values: list[npt.NDArray[np.float64]],
    sources: tuple[str, str],
    drop_constant: bool,
) -> tuple[str, ...]:
    if not names:
        return names
    found = {
        source: constant_attributes(matrix, names) for source, matrix in zip(sources, values, strict=True)
    }
    for source, constant in found.items():
        for kind, (what, mend) in _WITHOUT_RANGE.items():
            alike = [name for name in constant if constant[name] == kind]
            if alike and not drop_constant:
                raise DataError(
                    f"{source}: {what} cannot be compared: {shown_names(alike)}; {mend}"
                    "leave them out with --drop-constant or --attributes"
                )
    left = [at for at, name in enumerate(names) if not any(name in constant for constant in found.values())]
    for source, matrix in zip(sources, values, strict=True):
        check_ranges(matrix[:, left], [names[at] for at in left], source)
    return tuple(names[at] for at in left)
