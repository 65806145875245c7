"""Attributes that a method masks: their choice, and their values taken out of a table and put back."""

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
"""Name of a table without a name, in messages."""

_OF_SCALE: Mapping[bool | None, tuple[frozenset[Scale], str]] = {
    True: (MEASURED, "numeric attribute"),
    False: (CATEGORICAL, "attribute with categories"),
    None: (CATEGORICAL | MEASURED, "key variable"),
}
"""Scales that a method masks, and the word for attributes of these scales."""


def checked_attributes(
    frame: pd.DataFrame, attributes: Sequence[str], source: str = TABLE
) -> tuple[str, ...]:
    """Check the names of attributes to mask: known, each once, and at least one."""
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


def default_attributes(
    frame: pd.DataFrame, source: str, schema: Schema | None = None, *, numeric: bool | None = None
) -> tuple[str, ...]:
    """List the key variables that are numeric, or categorical, or of any scale (None)."""
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
    """Role and scale of every column: as the schema declares, else as `describe` guesses."""
    found = guessed_schema(frame, schema=schema)
    return {each.name: (each.role or Role.KEY, each.scale or Scale.NUMERIC) for each in found.attributes}


def check_columns(frame: pd.DataFrame, source: str) -> None:
    """Raise a DataError unless the names of all columns are distinct texts."""
    columns = list(frame.columns)
    for position, column in enumerate(columns):
        if not isinstance(column, str) or column in columns[:position]:
            raise DataError(f"column {position + 1} of {source} needs a unique name instead of {column!r}")


def values_of(
    frame: pd.DataFrame, attributes: Sequence[str], source: str = TABLE, schema: Schema | None = None
) -> npt.NDArray[np.float64]:
    """Values of attributes (n, a), dates as days since 1970, NaN for missing ones and declared codes."""
    check_records(frame, source)
    known = known_values(frame, attributes, schema)
    days = {name: dates.days for name, dates in dates_of(known, attributes, schema, source).items()}
    return numeric_matrix(with_columns(known, days), attributes, source, allow_missing=True)


def dates_of(
    frame: pd.DataFrame, names: Iterable[str], schema: Schema | None, source: str = TABLE
) -> dict[str, Dates]:
    """Read the columns of dates, declared or recognised, among some."""
    forms = date_columns(names, [Table(frame, source)], schema)
    return {name: read_dates([(frame[name], source)], form)[0] for name, form in forms.items()}


def known_values(frame: pd.DataFrame, names: Iterable[str], schema: Schema | None) -> pd.DataFrame:
    """Copy a table, with missing values in the place of declared missing codes of some columns."""
    if schema is None:
        return frame
    declared = {name: schema.get(name).missing for name in names}
    found = {name: without_codes(frame[name], missing) for name, missing in declared.items() if missing}
    return with_columns(frame, found)


def check_records(frame: pd.DataFrame, source: str) -> None:
    """Raise a DataError if a table has no rows."""
    if frame.empty:
        raise DataError(f"{source} has no records; there is nothing to mask")


def with_values(
    frame: pd.DataFrame,
    attributes: Sequence[str],
    before: npt.NDArray[np.float64],
    after: npt.NDArray[np.float64],
    schema: Schema | None = None,
) -> pd.DataFrame:
    """Copy a table with masked values of `attributes` (n, a); declared missing codes stay what they are.

    Dates are written in their form, to the day if they have no times.
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
