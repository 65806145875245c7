"""Public data by name, and published maskings of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.r import R
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.numeric import suggestion
from linkrisk.datasets.microdata.values import plain
from linkrisk.datasets.public.embedded import embedded_file, load_iris, load_wdbc
from linkrisk.datasets.public.sources import SOURCES, Layout, Source, cached_file, download, is_cached
from linkrisk.errors import needs_extra


def read_raw(path: Path, source: Source) -> pd.DataFrame:
    """Read a raw file in the layout of its source.

    Whole numbers become int64, other numbers float64, categories text; "?" is a missing value.
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
    needs_extra(f"the data set {source.name}", *R.requires)
    try:
        table = R().read(path).frame
    except DataError as error:
        raise DataError(f"{source.name}: {error}; delete it and fetch it again") from error
    check_columns(table, source, path)
    return pd.DataFrame({name: plain(table[name]) for name in source.columns})


@dataclass(frozen=True)
class Embedded:
    """A data set that is installed with linkrisk."""

    title: str  # what it is
    origin: str  # who published it
    licence: str  # under which terms
    rows: int  # how many records it has
    load: Callable[[], pd.DataFrame]  # reads it


EMBEDDED: Mapping[str, Embedded] = MappingProxyType(
    {
        "wdbc": Embedded(
            "Breast Cancer Wisconsin (Diagnostic): the diagnosis and 30 features of cell nuclei",
            "UCI Machine Learning Repository: Wolberg, Mangasarian, Street and Street 1995",
            "CC BY 4.0 as stated by UCI",
            569,
            load_wdbc,
        ),
        "iris": Embedded(
            "Iris: lengths and widths of sepals and petals, values as in Fisher (1936)",
            "Fisher 1936; UCI Machine Learning Repository, two values corrected",
            "CC BY 4.0 as stated by UCI",
            150,
            load_iris,
        ),
    }
)


@dataclass(frozen=True)
class Description:
    """What a named data set is."""

    name: str  # what to call it
    title: str  # what it is
    rows: int  # how many records it has
    columns: tuple[str, ...]  # its column names
    origin: str  # who published it
    licence: str  # under which terms
    address: str | None  # the public address of its raw file, None for embedded data
    local_file: str | None  # what its CSV file is called in the folder LINKRISK_DATA, None for embedded data
    comes_from: str  # where it would be read from now


def names() -> tuple[str, ...]:
    """Name all data sets, the embedded ones first."""
    return (*EMBEDDED, *SOURCES)


def load(name: str) -> pd.DataFrame:
    """Load a data set: embedded, else from the folder in LINKRISK_DATA, else downloaded.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    DataFrame
        The same table wherever it came from; missing values are NaN.

    Raises
    ------
    DataError
        If there is no such data set, its local file does not have a column, or it cannot be downloaded.

    Examples
    --------
    >>> from linkrisk.data import load
    >>> load("wdbc").shape
    (569, 31)
    """
    _check_name(name)
    if name in EMBEDDED:
        return EMBEDDED[name].load()
    source = SOURCES[name]
    local = _local_file(source)
    if local is None:
        return read_raw(download(source), source)
    frame = read_table(local)
    check_columns(frame, source, local)
    return frame[list(source.columns)]


def fetch(name: str) -> Path:
    """Make sure that the file of a data set is on this machine, and say where."""
    _check_name(name)
    if name in EMBEDDED:
        return embedded_file(name)
    source = SOURCES[name]
    return _local_file(source) or download(source)


def describe(name: str) -> Description:
    """Describe a data set without downloading it."""
    _check_name(name)
    if name in EMBEDDED:
        data = EMBEDDED[name]
        columns = tuple(str(column) for column in data.load().columns)
        return Description(
            name, data.title, data.rows, columns, data.origin, data.licence, None, None, "linkrisk"
        )
    source = SOURCES[name]
    return Description(
        name,
        source.title,
        source.rows,
        source.columns,
        source.origin,
        source.licence,
        source.address,
        source.local_file,
        _comes_from(source),
    )


def _comes_from(source: Source) -> str:
    local = _local_file(source)
    if local is not None:
        return f"local file {local}"
    return f"cache {cached_file(source)}" if is_cached(source) else "download"


def _check_name(name: str) -> None:
    if name not in names():
        raise DataError(f"there is no data set named {name!r}{suggestion(name, names())}")


def _local_file(source: Source) -> Path | None:
    folder = os.environ.get("LINKRISK_DATA")
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise DataError(f"LINKRISK_DATA names {folder}, which is not a folder; correct it or unset it")
    path = Path(folder) / source.local_file
    return path if path.is_file() else None
