"""Which attributes of a table a method masks, and their values out of it and into it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.column_descriptions import guessed_schema
from linkrisk.datasets.microdata.dates import Dates, read_dates
from linkrisk.datasets.microdata.missing import with_codes, without_codes
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.numeric import check_known, check_no_duplicates, numeric_matrix
from linkrisk.datasets.microdata.roles import CATEGORICAL, MEASURED
from linkrisk.datasets.microdata.scale_inference import date_columns
from linkrisk.datasets.microdata.schema import Role, Scale, Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.errors import called

TABLE = "the table"
"""What a table without a name is called in messages."""

_OF_SCALE: Mapping[bool | None, tuple[frozenset[Scale], str]] = {
    True: (MEASURED, "numeric attribute"),
    False: (CATEGORICAL, "attribute with categories"),
    None: (CATEGORICAL | MEASURED, "key variable"),
}
"""Scales that a method masks, and what attributes of these scales are called."""


def choose_attributes(
    frame: pd.DataFrame, attributes: Sequence[str] | None, source: str = TABLE, schema: Schema | None = None
) -> tuple[str, ...]:
    """Check the attributes to mask, or take all numeric key variables of the table: no ids, no weights.

    Raises
    ------
    DataError
        If one does not exist or is given twice, there is none, or the columns have no distinct names.
    """
    if attributes is None:
        return chosen_by_default(frame, source, schema, numeric=True)
    check_columns(frame, source)
    chosen = tuple(attributes)
    check_no_duplicates(chosen)
    check_known(chosen, list(frame.columns), source)
    if not chosen:
        raise DataError(
            f"no attribute to mask is named; name at least one with {called('attributes')}",
            option="attributes",
        )
    return chosen


def chosen_by_default(
    frame: pd.DataFrame, source: str, schema: Schema | None = None, *, numeric: bool | None = None
) -> tuple[str, ...]:
    """All key variables of a table that are numeric, or all that have categories, or all of any scale.

    Raises
    ------
    DataError
        If there is none, or the columns have no distinct names.
    """
    check_columns(frame, source)
    scales, what = _OF_SCALE[numeric]
    kinds = {name: role for name, (role, scale) in known_columns(frame, schema).items() if scale in scales}
    chosen = tuple(name for name, role in kinds.items() if role is Role.KEY)
    if not chosen:
        others = ", ".join(f"{name!r} ({role})" for name, role in kinds.items())
        besides = f" besides {others}" if others else ""
        raise DataError(
            f"{source} has no {what} to mask{besides}; name at least one with {called('attributes')}",
            option="attributes",
        )
    return chosen


def known_columns(frame: pd.DataFrame, schema: Schema | None) -> dict[str, tuple[Role, Scale]]:
    """Role and scale of every column of a table: what the schema says, else the guess of `describe`."""
    found = guessed_schema(frame, schema=schema)
    return {each.name: (each.role or Role.KEY, each.scale or Scale.NUMERIC) for each in found.attributes}


def check_columns(frame: pd.DataFrame, source: str) -> None:
    """Raise a DataError unless every column has a name of its own."""
    columns = list(frame.columns)
    for position, column in enumerate(columns):
        if not isinstance(column, str) or column in columns[:position]:
            raise DataError(f"column {position + 1} of {source} needs a unique name instead of {column!r}")


def values_of(
    frame: pd.DataFrame, attributes: Sequence[str], source: str = TABLE, schema: Schema | None = None
) -> npt.NDArray[np.float64]:
    """Take attributes as a float64 array (n, a), NaN where a value is missing or has a declared missing code.

    Of dates, days since 1970.

    Raises
    ------
    DataError
        For the first cell that is not a number.
    """
    check_records(frame, source)
    known = known_values(frame, attributes, schema)
    days = {name: dates.days for name, dates in dates_of(known, attributes, schema, source).items()}
    return numeric_matrix(with_columns(known, days), attributes, source, allow_missing=True)


def dates_of(
    frame: pd.DataFrame, names: Iterable[str], schema: Schema | None, source: str = TABLE
) -> dict[str, Dates]:
    """Read those of some columns that are dates, as the schema says or as they show.

    Raises
    ------
    DataError
        If a cell is no date, or their form is not clear.
    """
    forms = date_columns(names, [Table(frame, source)], schema)
    return {name: read_dates([(frame[name], source)], form)[0] for name, form in forms.items()}


def known_values(frame: pd.DataFrame, names: Iterable[str], schema: Schema | None) -> pd.DataFrame:
    """The table with missing values in the place of declared missing codes of these columns."""
    if schema is None:
        return frame
    declared = {name: schema.get(name).missing for name in names}
    found = {name: without_codes(frame[name], missing) for name, missing in declared.items() if missing}
    return with_columns(frame, found)


def check_records(frame: pd.DataFrame, source: str) -> None:
    """Raise a DataError when a table has no rows."""
    if frame.empty:
        raise DataError(f"{source} has no records; there is nothing to mask")


def with_values(
    frame: pd.DataFrame,
    attributes: Sequence[str],
    before: npt.NDArray[np.float64],
    after: npt.NDArray[np.float64],
    schema: Schema | None = None,
) -> pd.DataFrame:
    """Copy a table with masked values of `attributes`; declared missing codes stay what they are.

    Dates are written as they were, to the day where they have no times.

    Parameters
    ----------
    frame : DataFrame
        The table, n rows.
    attributes : sequence of str
        a of its columns.
    before, after : float64 arrays (n, a)
        Their values, see `values_of`, and what they become.
    schema : Schema, optional
        The one of `values_of`.
    """
    replaced = frame.copy()
    dates = dates_of(known_values(frame, attributes, schema), attributes, schema)
    for position, attribute in enumerate(attributes):
        masked, original = pd.Series(after[:, position], index=frame.index), frame[attribute]
        if attribute in dates:
            masked = dates[attribute].written(after[:, position])
        declared = np.isnan(before[:, position]) & original.notna().to_numpy(dtype=bool)
        replaced[attribute] = with_codes(masked, original, declared)
    return replaced
