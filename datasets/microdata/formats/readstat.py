"""What the formats that pyreadstat reads and writes have in common: SPSS, Stata, SAS."""

from __future__ import annotations

import io
import math
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import ColumnNotes, Measure, StoredFile
from linkrisk.datasets.microdata.formats.file_content import first_line
from linkrisk.datasets.microdata.missing import MissingRange
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.values import (
    Kind,
    as_doubles,
    as_text,
    cells_of,
    has_zone,
    is_wide,
    kind_of,
    narrowed,
    plain,
    spelled,
)

_MEASURES: Mapping[str, Measure] = {"scale": "numeric", "ordinal": "ordinal", "nominal": "nominal"}
MEASURE_NAMES: Mapping[Measure, str] = {measure: name for name, measure in _MEASURES.items()}
"""What SPSS calls the levels of measurement."""

_LOWEST = -sys.float_info.max
"""Below it is no number: the end of a range from LOWEST to HIGHEST, which would have none."""


def load(
    reader: Callable[..., Any], content: bytes, path: Path, name: str, **options: Any
) -> tuple[Any, Any]:
    """Read the frame and the metadata of a file by a `reader` of pyreadstat; a DataError on any failure.

    It is given the content: not every library of C opens names beyond ASCII.
    """
    try:
        frame, meta = reader(io.BytesIO(content), **options)
    except Exception as error:  # pyreadstat raises what its C code and its conversions do, of any class
        raise DataError(
            f"{path} is not a readable {name} file (cut off or damaged?): {first_line(error)}"
        ) from error
    if meta.number_rows is not None and meta.number_rows != len(frame):
        raise DataError(f"{path} is cut off: it has {len(frame)} of {meta.number_rows} records")
    twins = frame.columns[frame.columns.duplicated()]
    if len(twins):
        raise DataError(f"{path} has two columns named {twins[0]!r}; rename one of them")
    return frame, meta


def notes_of(meta: Any, own: str) -> dict[str, ColumnNotes]:
    """Notes on the columns of a file; its own settings begin with `own`."""
    notes = {}
    for name in meta.column_names:
        labels = meta.variable_value_labels.get(name, {})
        letters = _letters(meta, name)
        notes[name] = ColumnNotes(
            label=meta.column_names_to_labels.get(name) or "",
            value_labels={_code(value, letters): str(label) for value, label in labels.items()},
            missing=(*_missing(meta.missing_ranges.get(name, ())), *(f".{letter}" for letter in letters)),
            measure=_MEASURES.get(meta.variable_measure.get(name, "")),
            settings=_settings(meta, name, own),
        )
    return notes


def _letters(meta: Any, name: str) -> list[str]:
    """The letters that stand for missing numbers in a column, or that have a label."""
    found = list(meta.missing_user_values.get(name, ()))
    if meta.readstat_variable_types.get(name) != "string":
        labelled = meta.variable_value_labels.get(name, {})
        found += [code for code in labelled if isinstance(code, str) and code not in found]
    return found


def _code(value: Any, letters: Sequence[str]) -> str:
    """A code as spelled; a letter that stands for a missing number has a point before it."""
    return f".{value}" if value in letters and isinstance(value, str) else spelled(value)


def _missing(ranges: Sequence[Any]) -> list[str | MissingRange]:
    found: list[str | MissingRange] = []
    for item in ranges:
        low, high = item["lo"], item["hi"]
        if low == high:
            found.append(spelled(low))
        elif low < high:  # the wrong way round no number lies between them
            everything = low == -math.inf and high == math.inf
            found.append(MissingRange(_LOWEST if everything else float(low), float(high)))
    return found


def _settings(meta: Any, name: str, own: str) -> dict[str, str]:
    settings = {}
    shown = meta.original_variable_types.get(name)
    if shown:
        settings[f"{own}.format"] = str(shown)
    width = meta.variable_display_width.get(name)
    if own == "spss" and width:
        settings["spss.width"] = str(width)
    return settings


def with_letters(frame: pd.DataFrame, notes: Mapping[str, ColumnNotes]) -> pd.DataFrame:
    """A frame in which the letters for missing numbers have a point before them: ``.a``."""
    changed = {}
    for name in frame.columns:
        codes = {code[1:] for code in notes[name].missing if isinstance(code, str) and code[:1] == "."}
        if codes:
            cells = [f".{cell}" if isinstance(cell, str) and cell in codes else cell for cell in frame[name]]
            changed[name] = pd.Series(cells, frame.index, dtype=object)
    return with_columns(frame, changed)


def with_missing_text(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """A frame in which empty text of these columns is a missing value."""
    texts = [name for name in names if kind_of(frame[name]) is Kind.TEXT]
    return with_columns(frame, {name: frame[name].where(frame[name] != "", None) for name in texts})


def with_whole_numbers(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """A frame in which doubles of these columns that are all whole are integers."""
    doubles = [name for name in names if frame[name].dtype.kind == "f"]
    return with_columns(frame, {name: narrowed(frame[name]) for name in doubles})


def storable(column: pd.Series, *, letters: Sequence[str] = ()) -> pd.Series:
    """A column as pyreadstat takes it: doubles, integers of 32 bits, dates or text."""
    column, kind = plain(column), kind_of(column)
    if letters and kind in (Kind.MIXED, Kind.TEXT):
        return _lettered(column)
    if kind in (Kind.MIXED, Kind.TEXT) or is_wide(column) or has_zone(column):
        return as_text(column).fillna("").astype(object)
    if kind in (Kind.LOGICAL, Kind.WHOLE, Kind.NUMBER):
        return _number(as_doubles(column), whole=kind is not Kind.NUMBER)
    return _dates(column, kind)


def _dates(column: pd.Series, kind: Kind) -> pd.Series:
    """Dates or times; moments with a unit that pyreadstat knows, as it takes whole seconds for billionths."""
    if kind is not Kind.MOMENT:
        return pd.Series(cells_of(column), column.index, dtype=object, name=column.name)
    moments = pd.to_datetime(column)
    seconds: pd.Series = moments.dt.as_unit("ms") if moments.dt.unit == "s" else moments
    return seconds


def _number(doubles: pd.Series, *, whole: bool) -> pd.Series:
    if whole and doubles.notna().all() and (doubles.abs() < 2**31 - 128).all():
        return doubles.astype("int32")
    return doubles


def _lettered(column: pd.Series) -> pd.Series:
    """Numbers, and letters without the points before them."""
    made = [
        cell[1:] if isinstance(cell, str) else None if cell is None else float(cell)
        for cell in cells_of(column)
    ]
    return pd.Series(made, column.index, dtype=object, name=column.name)


def is_text(column: pd.Series) -> bool:
    """Whether a column that `storable` has made holds text."""
    return kind_of(column) in (Kind.TEXT, Kind.MIXED) and column.dtype.kind == "O"


def typed(code: str, *, text: bool) -> Any:
    """A code as a column holds it; None where it is not a number and the column holds numbers."""
    if text:
        return code
    try:
        number = float(code)
    except ValueError:
        return None
    return int(number) if number.is_integer() else number


def labels_to_write(stored: StoredFile, frame: pd.DataFrame) -> dict[str, dict[Any, str]]:
    """Value labels by column, of the codes that the columns of `frame` can hold."""
    found = {}
    for name in frame.columns:
        text = is_text(frame[name])
        pairs = [(typed(code, text=text), label) for code, label in stored.notes(name).value_labels.items()]
        kept = {code: label for code, label in pairs if code is not None}
        if kept:
            found[name] = kept
    return found


def cut(text: str, most: int) -> str:
    """As many letters of a text as fit into so many bytes of UTF-8."""
    return text.encode()[:most].decode(errors="ignore")


def dumped(writer: Callable[..., None], frame: pd.DataFrame, path: Path, **options: Any) -> bytes:
    """The content of a file that pyreadstat writes."""
    check_text(frame, path)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made"
        try:
            writer(frame, str(made), **options)
        except Exception as error:  # as in `load`
            raise DataError(
                f"{path} cannot be written: {first_line(error)}; write .parquet or .csv"
            ) from error
        return made.read_bytes()


def check_text(frame: pd.DataFrame, path: Path) -> None:
    """Refuse text with a NUL character, at which libraries of C cut it."""
    for name in frame.columns:
        if is_text(frame[name]) and frame[name].str.contains("\0", regex=False).any():
            raise DataError(f"{path}, column {name!r}: text with a NUL character cannot be written")


def check_names(writer: Callable[..., None], names: Sequence[str], path: Path, rules: str) -> None:
    """Refuse names of columns that a format does not take, by asking its writer."""
    with tempfile.TemporaryDirectory() as folder:
        made = str(Path(folder) / "made")
        if _takes(writer, names, made):
            return
        name = next((name for name in names if not _takes(writer, [name], made)), None)
    if name is None:
        raise DataError(f"{path} cannot be written: two column names are too similar; {rules}")
    raise DataError(f"{path} cannot be written: the column name {name!r} is not allowed; {rules}")


def _takes(writer: Callable[..., None], names: Sequence[str], path: str) -> bool:
    try:
        writer(pd.DataFrame([[1.0] * len(names)], columns=list(names)), path)
    except Exception:  # as in `load`
        return False
    return True
