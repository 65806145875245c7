"""R: data frames in .rds and .RData."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import re
import tempfile
import warnings
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import Format, Holds, StoredFile, losses, sentence
from linkrisk.datasets.microdata.formats.file_content import beginning, check_content, first_line
from linkrisk.datasets.microdata.formats.readstat import check_text, with_whole_numbers
from linkrisk.datasets.microdata.values import Kind, as_doubles, as_text, is_wide, kind_of, plain

_OBJECT = "data"
"""What the data frame of a written .RData is called in R."""

_HOLDS = Holds.LOGICAL | Holds.EMPTY_TEXT | Holds.CATEGORIES


class R(Format):
    """The data frame of a file of R, which holds one object (.rds) or several by name (.RData)."""

    name = "R"
    suffixes = (".rds", ".rdata")
    requires = ("pyreadr",)

    def read(self, path: Path, *, text_columns: Sequence[str] = ()) -> StoredFile:  # noqa: ARG002
        """Read the only data frame of a file (see `Format.read`); factors are columns of categories."""
        content = path.read_bytes()
        if beginning(content):
            check_content(content, path, self.name, self.suffixes)
        frame = _data_frame(path)
        names = [str(name) for name in frame.columns]
        twin = next((name for at, name in enumerate(names) if name in names[:at]), None)
        if twin is not None:
            raise DataError(f"{path} has two columns named {twin!r}; rename one of them")
        numbered = [str(row) for row in range(1, len(frame) + 1)]
        labels = None if frame.index.astype(str).tolist() == numbered else frame.index
        frame = frame.reset_index(drop=True).set_axis(names, axis="columns")
        for name in names:
            if frame[name].dtype == object and kind_of(frame[name]) in (Kind.WHOLE, Kind.NUMBER):
                frame[name] = as_doubles(frame[name])
        return StoredFile(with_whole_numbers(frame, names), labels, remarks=_unread(content))

    def write(self, stored: StoredFile, path: Path) -> dict[Path, bytes]:
        """One data frame, compressed as R does it; text as character, categories as a factor."""
        import pyreadr

        frame = pd.DataFrame({name: _storable(stored.frame[name]) for name in stored.frame.columns})
        check_text(frame, path)
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "made"
            if path.suffix.lower() == ".rds":
                pyreadr.write_rds(made, frame)
            else:
                pyreadr.write_rdata(made, frame, df_name=_OBJECT)
            return {path: gzip.compress(made.read_bytes(), 6, mtime=0)}

    def loses(self, stored: StoredFile) -> tuple[str, ...]:
        """Labels, dates, and what is no text or number of R."""
        ordered = [name for name in stored.frame.columns if _is_ordered(stored.frame[name])]
        return (*losses(stored, _HOLDS), *sentence(ordered, "the order of categories is lost"))


def _data_frame(path: Path) -> pd.DataFrame:
    """The only data frame of a file; vectors, matrices and lists beside it are passed over."""
    import pyreadr

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # objects that are not read; what is said of them is said here
            names = [one["object_name"] for one in pyreadr.list_objects(path) if one["columns"]]
            found: dict[Any, pd.DataFrame] = {}
            if len(names) == 1:
                found = pyreadr.read_r(path, use_objects=[name for name in names if name])
    except Exception as error:  # pyreadr raises what its C code and its conversions do, of any class
        raise DataError(
            f"{path} is not a readable R file (cut off or damaged?): {first_line(error)}"
        ) from error
    if len(found) == 1:
        return next(iter(found.values()))
    what = f"{len(names)} data frames ({', '.join(map(str, names))})" if names else "no data frame"
    raise DataError(f'{path} holds {what}; save one in R: saveRDS(NAME, "NAME.rds")')


_LABEL = re.compile(rb"\0\0\0\x01\0\x04\0\x09\0\0\0(\x05label|\x06labels)")
"""Names of attributes in which packages of R (haven, labelled, Hmisc) keep labels, as it serialises them."""

_ORDERED = re.compile(rb"\0\x04\0\x09\0\0\0\x07ordered")
_PIECE, _MOST = 2**20, 2**28
"""Bytes that are unpacked at once, and in all: of longer files the rest is not looked at."""


def _unread(content: bytes) -> tuple[str, ...]:
    """What of a file is not read, as the reader passes over attributes without a word."""
    said = {
        _LABEL: "labels are not read from files of R: save it as .sav or .dta, or give a schema",
        _ORDERED: "ordered factors are read without their order: give a schema",
    }
    found = {sign for piece in _unpacked(content) for sign in said if sign.search(piece)}
    return tuple(words for sign, words in said.items() if sign in found)


def _unpacked(content: bytes) -> Iterator[bytes]:
    """A file that was read, unpacked piece by piece; pieces overlap a little."""
    source: Any = io.BytesIO(content)
    for start, opener in ((b"\x1f\x8b", gzip.open), (b"BZ", bz2.open), (b"\xfd7", lzma.open)):
        source = opener(source) if content.startswith(start) else source
    before = b""
    # What is behind a damaged place was not read either.
    with source, contextlib.suppress(OSError, EOFError, zlib.error, lzma.LZMAError):
        for _ in range(_MOST // _PIECE):
            piece = source.read(_PIECE)
            yield before + piece
            before = piece[-64:]
            if not piece:
                return


_NA = 0x7FF00000000007A2
"""The bits of a missing number in R; any other NaN is shown as NaN there."""


def _with_na(doubles: pd.Series) -> pd.Series:
    values = doubles.to_numpy(dtype=np.float64, copy=True)
    values.view(np.uint64)[np.isnan(values)] = _NA
    return pd.Series(values, doubles.index)


def _is_ordered(column: pd.Series) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype) and bool(column.dtype.ordered)


def _storable(column: pd.Series) -> pd.Series:
    """A column as pyreadr takes it: logical values, integers of 32 bits, doubles, text or categories."""
    kind = kind_of(column)
    if kind is Kind.TEXT and isinstance(column.dtype, pd.CategoricalDtype):
        return column
    column = plain(column)
    if kind is Kind.LOGICAL:
        return column.astype("boolean")
    if kind not in (Kind.WHOLE, Kind.NUMBER) or is_wide(column):
        return as_text(column)
    doubles = as_doubles(column)
    small = kind is Kind.WHOLE and doubles.notna().all() and (doubles.abs() < 2**31).all()
    return doubles.astype("int32") if small else _with_na(doubles)
