"""Which attributes of a table a method masks, and their values out of it and into it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.numeric import check_known, check_no_twins, numeric_matrix
from linkrisk.datasets.microdata.schema import Role, Scale, Schema

TABLE = "the table"
"""What a table without a name is called in messages."""


def choose_attributes(
    frame: pd.DataFrame, attributes: Sequence[str] | None, source: str = TABLE
) -> tuple[str, ...]:
    """Check the attributes to mask, or take all numeric quasi-identifiers of the table: no ids, no weights.

    Raises
    ------
    DataError
        If one does not exist or is given twice, there is none, or the columns have no distinct names.
    """
    if attributes is None:
        return chosen_by_default(frame, source, numeric=True)
    check_columns(frame, source)
    chosen = tuple(attributes)
    check_no_twins(chosen)
    check_known(chosen, list(frame.columns), source)
    if not chosen:
        raise DataError("no attribute to mask is named; name at least one with --attributes")
    return chosen


def chosen_by_default(
    frame: pd.DataFrame, source: str, schema: Schema | None = None, *, numeric: bool
) -> tuple[str, ...]:
    """All quasi-identifiers of a table that are numeric, or all that are not.

    What a schema says of an attribute counts more than what its column tells.

    Raises
    ------
    DataError
        If there is none, or the columns have no distinct names.
    """
    check_columns(frame, source)
    found = Schema.from_frame(frame)
    kinds = [schema[name] if schema and name in schema.names else found[name] for name in found.names]
    kinds = [kind for kind in kinds if (kind.scale is Scale.NUMERIC) == numeric]
    chosen = tuple(kind.name for kind in kinds if kind.role is Role.QUASI_IDENTIFIER)
    if not chosen:
        what = "numeric attribute" if numeric else "attribute with categories"
        others = ", ".join(f"{kind.name!r} ({kind.role})" for kind in kinds)
        beside = f" beside {others}" if others else ""
        raise DataError(f"{source} has no {what} to mask{beside}; name at least one with --attributes")
    return chosen


def check_columns(frame: pd.DataFrame, source: str) -> None:
    """Raise a DataError unless every column has a name of its own."""
    columns = list(frame.columns)
    for position, column in enumerate(columns):
        if not isinstance(column, str) or column in columns[:position]:
            raise DataError(
                f"column {position + 1} of {source} needs a name of its own instead of {column!r}"
            )


def values_of(frame: pd.DataFrame, attributes: Sequence[str], source: str = TABLE) -> npt.NDArray[np.float64]:
    """Take attributes as a float64 array (n, a); a DataError names the first cell that is no number."""
    check_records(frame, source)
    return numeric_matrix(frame, attributes, source)


def check_records(frame: pd.DataFrame, source: str) -> None:
    """Raise a DataError when a table has no rows."""
    if frame.empty:
        raise DataError(f"{source} has no records; there is nothing to mask")


def with_values(
    frame: pd.DataFrame, attributes: Sequence[str], values: npt.NDArray[np.float64]
) -> pd.DataFrame:
    """Copy a table with the columns of `attributes` replaced by the columns of `values` (n, a)."""
    replaced = frame.copy()
    for position, attribute in enumerate(attributes):
        replaced[attribute] = values[:, position]
    return replaced
