"""Named public data: embedded, from a local folder, or downloaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.numeric import suggestion
from linkrisk.datasets.public.download import cached_file, download, is_cached
from linkrisk.datasets.public.embedded import load_iris, load_wdbc
from linkrisk.datasets.public.published import check_columns, read_raw
from linkrisk.datasets.public.sources import SOURCES, Source


@dataclass(frozen=True)
class Embedded:
    """A data set that scikit-learn carries.

    Attributes
    ----------
    title, origin, licence : str
        What it is, who published it, and under which terms.
    rows : int
        How many records it has.
    load : callable
        Reads it.
    file : str
        Its file inside `sklearn.datasets.data`.
    """

    title: str
    origin: str
    licence: str
    rows: int
    load: Callable[[], pd.DataFrame]
    file: str


EMBEDDED: Mapping[str, Embedded] = MappingProxyType(
    {
        "wdbc": Embedded(
            "Breast Cancer Wisconsin (Diagnostic): the diagnosis and 30 features of cell nuclei",
            "UCI Machine Learning Repository, as carried by scikit-learn",
            "CC BY 4.0 as stated by UCI",
            569,
            load_wdbc,
            "breast_cancer.csv",
        ),
        "iris": Embedded(
            "Iris: lengths and widths of sepals and petals, values as in Fisher (1936)",
            "Fisher 1936, as carried by scikit-learn",
            "CC BY 4.0 as stated by UCI",
            150,
            load_iris,
            "iris.csv",
        ),
    }
)


@dataclass(frozen=True)
class Description:
    """What a named data set is.

    Attributes
    ----------
    name, title : str
        What to call it, and what it is.
    rows : int
        How many records it has.
    columns : tuple of str
        Its column names.
    origin, licence : str
        Who published it, and under which terms.
    address : str or None
        The public address of its raw file, None for embedded data.
    local_file : str or None
        What its CSV file is called in the folder LINKRISK_DATA, None for embedded data.
    comes_from : str
        Where it would be read from now.
    """

    name: str
    title: str
    rows: int
    columns: tuple[str, ...]
    origin: str
    licence: str
    address: str | None
    local_file: str | None
    comes_from: str


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
    """Make sure that the file of a data set is on this machine, and say where.

    Returns
    -------
    Path
        The file inside scikit-learn, in the folder LINKRISK_DATA, or (in its raw format) in the cache.

    Raises
    ------
    DataError
        If there is no such data set or it cannot be downloaded.
    """
    _check_name(name)
    if name in EMBEDDED:
        return Path(str(files("sklearn.datasets.data") / EMBEDDED[name].file))
    source = SOURCES[name]
    return _local_file(source) or download(source)


def describe(name: str) -> Description:
    """Describe a data set without downloading it.

    Raises
    ------
    DataError
        If there is no such data set.
    """
    _check_name(name)
    if name in EMBEDDED:
        data = EMBEDDED[name]
        columns = tuple(str(column) for column in data.load().columns)
        return Description(
            name, data.title, data.rows, columns, data.origin, data.licence, None, None, "scikit-learn"
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
