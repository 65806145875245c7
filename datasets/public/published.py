"""Read the raw files of public data sets, as published, into tables."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.public.sources import Layout, Source


def read_raw(path: Path, source: Source) -> pd.DataFrame:
    """Read a raw file in the layout of its source.

    Whole numbers become int64, other numbers float64, categories text; "?" is a missing value.

    Parameters
    ----------
    path : Path
        The file.
    source : Source
        Its layout and column names.

    Returns
    -------
    DataFrame
        Columns as in `source.columns`.

    Raises
    ------
    DataError
        If the file cannot be read in this layout or has other columns.
    """
    read = _read_r_object if source.layout is Layout.R_OBJECT else _read_text
    try:
        frame = read(path, source)
    except DataError:
        raise
    except Exception as error:
        # Readers of foreign formats fail in many ways; each means that this is not the file we know.
        raise DataError(
            f"{source.name}: {path} cannot be read as {source.layout.value} ({type(error).__name__}); "
            "delete it and fetch it again"
        ) from error
    return frame


def check_columns(frame: pd.DataFrame, source: Source, path: Path) -> None:
    """Raise a DataError when a column of the source is missing from a table."""
    lacking = [column for column in source.columns if column not in frame.columns]
    if lacking:
        raise DataError(
            f"{source.name}: {path} does not have the columns {', '.join(lacking)}; replace or remove the "
            "file"
        )


def _read_text(path: Path, source: Source) -> pd.DataFrame:
    frame = pd.read_csv(
        path,
        sep=r"\s+" if source.layout is Layout.SPACES else ",",
        header=0 if source.layout is Layout.COMMA_WITH_HEADER else None,
        skipinitialspace=True,
        na_values=["?"],
    )
    if len(frame.columns) != len(source.columns):
        raise DataError(
            f"{source.name}: {path} has {len(frame.columns)} columns instead of {len(source.columns)}; "
            "delete it and fetch it again"
        )
    frame.columns = pd.Index(source.columns)
    return frame


def _read_r_object(path: Path, source: Source) -> pd.DataFrame:
    # Imported here because it takes half a second and only three data sets need it.
    import rdata

    with warnings.catch_warnings():
        # Old R files do not say how their text is encoded; it is plain ASCII here.
        warnings.simplefilter("ignore")
        objects = rdata.read_rda(path, default_encoding="utf-8")
    tables = [value for value in objects.values() if isinstance(value, pd.DataFrame)]
    if len(tables) != 1:
        raise DataError(
            f"{source.name}: {path} holds {len(tables)} data frames instead of one; fetch it again"
        )
    table = tables[0].reset_index(drop=True)
    check_columns(table, source, path)
    return pd.DataFrame({name: _plain(table[name]) for name in source.columns})


def _plain(column: pd.Series) -> pd.Series:
    """Bring a column of an R data frame to the type it would have in a CSV file."""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return column.astype("str")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    whole = bool(np.isfinite(values).all() and (values == np.round(values)).all())
    return pd.Series(values.astype(np.int64) if whole else values)
