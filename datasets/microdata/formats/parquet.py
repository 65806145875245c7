"""Parquet and Feather: Arrow tables with notes on their columns."""

from __future__ import annotations

import io
import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import (
    ROWS_AT_ONCE,
    ColumnNotes,
    Format,
    Holds,
    Measure,
    StoredFile,
    losses,
    sentence,
)
from linkrisk.datasets.microdata.formats.delimited_rows import check_header
from linkrisk.datasets.microdata.formats.file_content import check_content, first_line
from linkrisk.datasets.microdata.missing import MissingRange
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.values import Kind, as_text, kind_of, plain

_KEY = b"linkrisk"
"""Where the notes stand among the metadata of a file; other programs leave them alone."""

_HOLDS = ~(Holds.MIXED)


class ArrowFormat(Format):
    """A file that holds an Arrow table."""

    @abstractmethod
    def load(self, source: io.BytesIO) -> Any:
        """The Arrow table of a file."""

    @abstractmethod
    def dump(self, table: Any, target: io.BytesIO) -> None:
        """Write an Arrow table."""

    def read(self, path: Path, *, text_columns: Sequence[str] = ()) -> StoredFile:  # noqa: ARG002
        """Read a table (see `Format.read`); an index with a name is a column."""
        content = path.read_bytes()
        check_content(content, path, self.name, self.suffixes)
        try:
            table = self.load(io.BytesIO(content))
            table.validate(full=True)
            frame = table.to_pandas()
            notes = _notes_from(table.schema.metadata or {})
        except Exception as error:  # Arrow's errors are of many classes, and so are those of bad notes
            raise DataError(
                f"{path} is not a readable {self.name} file (cut off or damaged?): {first_line(error)}"
            ) from error
        frame, labels = split_labels(frame)
        frame.columns = pd.Index([str(column) for column in frame.columns])
        check_header(list(frame.columns), path)
        nested = [name for name in frame.columns if _is_nested(table, name)]
        frame = _exact(with_columns(frame, {name: _spelled_out(frame[name]) for name in nested}), table)
        remarks = sentence(nested, "lists and the like are read as text")
        return StoredFile(
            frame,
            labels,
            {name: notes[name] for name in frame.columns if name in notes},
            remarks=tuple(remarks),
        )

    def write(self, stored: StoredFile, path: Path) -> dict[Path, bytes]:
        """Types and notes as they are, rows without labels."""
        table = arrow_table(stored, path)
        target = io.BytesIO()
        self.dump(table, target)
        return {path: target.getvalue()}

    def loses(self, stored: StoredFile) -> tuple[str, ...]:
        """Nothing but types within a column."""
        return tuple(losses(stored, _HOLDS))


def arrow_table(stored: StoredFile, path: Path) -> Any:
    """The Arrow table of a file to be written at `path`, with its notes; numbers are not copied."""
    import pyarrow

    mixed = [name for name in stored.frame.columns if kind_of(stored.frame[name]) is Kind.MIXED]
    frame = with_columns(stored.frame, {name: as_text(stored.frame[name]) for name in mixed})
    try:
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    except (pyarrow.ArrowException, ValueError, TypeError) as error:
        raise DataError(f"{path} cannot be written: {str(error).splitlines()[0]}") from error
    notes = _notes_as_json(stored)
    if notes:
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), _KEY: notes.encode()})
    return table


def _is_nested(table: Any, name: str) -> bool:
    """Whether a column has lists, records or the like."""
    import pyarrow

    return name in table.column_names and bool(pyarrow.types.is_nested(table.schema.field(name).type))


def _spelled_out(column: pd.Series) -> pd.Series:
    """Lists and the like as text; they cannot be compared, nor found among others."""
    import pyarrow

    cells = pyarrow.array(column, from_pandas=True).to_pylist()
    texts = [None if cell is None else json.dumps(cell, ensure_ascii=False, default=str) for cell in cells]
    return pd.Series(texts, column.index, dtype="str")


def _exact(frame: pd.DataFrame, table: Any) -> pd.DataFrame:
    """A frame with pandas' own types, and whole numbers where it has made doubles that cannot hold them."""
    import pyarrow

    kept = [name for name in frame.columns if isinstance(frame[name].dtype, pd.ArrowDtype)]
    frame = with_columns(frame, {name: plain(frame[name]) for name in kept})
    wide = {}
    for name in table.column_names:
        column = table.column(name)
        if not pyarrow.types.is_integer(column.type) or not column.null_count or name not in frame.columns:
            continue
        if frame[name].dtype.kind == "f" and (frame[name].abs() >= 2.0**53).any():
            unsigned = pyarrow.types.is_unsigned_integer(column.type)
            wide[name] = pd.array(column.to_pylist(), dtype="UInt64" if unsigned else "Int64")
    return with_columns(frame, {name: pd.Series(values, frame.index) for name, values in wide.items()})


def split_labels(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.Index | None]:
    """A frame with rows numbered from 0 whose index, where it has a name, is a column; and its labels.

    Labels are None where rows were numbered from 0 before, or their labels are a column now.
    """
    if any(name is not None for name in frame.index.names):
        left = frame.reset_index(level=_levels_that_are_columns(frame), drop=True)
        named = any(name is not None for name in left.index.names)
        return left.reset_index(drop=not named, allow_duplicates=True), None
    return frame.reset_index(drop=True), own_labels(frame)


def _levels_that_are_columns(frame: pd.DataFrame) -> list[Any]:
    """Names in the index whose values stand in a column of this name, too."""
    names: list[Any] = [name for name in frame.index.names if name is not None and name in frame.columns]
    return [name for name in names if frame.index.get_level_values(name).equals(pd.Index(frame[name]))]


def own_labels(frame: pd.DataFrame) -> pd.Index | None:
    """What the rows of a frame are called; None where that is their number from 0."""
    index = frame.index
    return None if isinstance(index, pd.RangeIndex) and (index.start, index.step) == (0, 1) else index


def _notes_as_json(stored: StoredFile) -> str:
    told = {name: stored.notes(name) for name in stored.frame.columns}
    said = {name: _as_json(notes) for name, notes in told.items() if notes != ColumnNotes()}
    return json.dumps({"columns": said}, ensure_ascii=False) if said else ""


def _as_json(notes: ColumnNotes) -> dict[str, Any]:
    missing = [[item.low, item.high] if isinstance(item, MissingRange) else item for item in notes.missing]
    return {
        "label": notes.label,
        "value_labels": dict(notes.value_labels),
        "missing": missing,
        "measure": notes.measure,
        "settings": dict(notes.settings),
    }


def _notes_from(metadata: Mapping[bytes, bytes]) -> dict[str, ColumnNotes]:
    if _KEY not in metadata:
        return {}
    return {name: _one_from(said) for name, said in json.loads(metadata[_KEY])["columns"].items()}


def _one_from(said: Mapping[str, Any]) -> ColumnNotes:
    missing = (MissingRange(*item) if isinstance(item, list) else str(item) for item in said["missing"])
    measure = said["measure"] if said["measure"] in get_args(Measure) else None
    return ColumnNotes(
        str(said["label"]), dict(said["value_labels"]), tuple(missing), measure, dict(said["settings"])
    )


class Feather(ArrowFormat):
    """Arrow tables as they are in memory, compressed."""

    name = "Feather"
    suffixes = (".feather", ".arrow")
    requires = ("pyarrow",)

    def load(self, source: io.BytesIO) -> Any:
        """The table of a file."""
        from pyarrow import feather

        return feather.read_table(source)

    def dump(self, table: Any, target: io.BytesIO) -> None:
        """Write a table."""
        from pyarrow import feather

        feather.write_feather(table, target)


_ROWS = 1 << 16
_BYTES = 1 << 16
"""Of each column, read from the file at a time."""
_PLAIN_INDEX = {"kind": "range", "name": None, "start": 0, "step": 1}


def read_numbers(path: Path) -> pd.DataFrame | None:
    """The table of a file of numbers; None where it is none, has notes on its columns, or is damaged."""
    import pyarrow
    from pyarrow import parquet

    try:
        with path.open("rb") as source, parquet.ParquetFile(source, buffer_size=_BYTES) as file:
            kinds = _kinds(file.schema_arrow)
            if kinds is None or not file.metadata.num_rows:
                return None
            names, columns = file.schema_arrow.names, []
            for name, kind in zip(
                names, kinds, strict=True
            ):  # one after another: Arrow keeps what it has begun
                columns.append(np.empty(file.metadata.num_rows, kind))
                if not _filled(columns[-1], file.iter_batches(batch_size=_ROWS, columns=[name])):
                    return None
    except (pyarrow.ArrowException, OSError, ValueError):  # what is wrong is said where it is read as a whole
        return None
    return pd.DataFrame(dict(zip(names, columns, strict=True)), copy=False)


def _kinds(schema: Any) -> list[np.dtype[Any]] | None:
    """The types of columns of numbers, as numpy has them; None where that is not all there is to them."""
    from pyarrow import types

    names = schema.names
    if len(set(names)) != len(names) or not all(name.strip() and "." not in name for name in names):
        return None  # to Arrow, a point leads into a column
    kinds = []
    for field in schema:
        if not (types.is_integer(field.type) or types.is_float32(field.type) or types.is_float64(field.type)):
            return None
        kinds.append(np.dtype(field.type.to_pandas_dtype()))
    metadata = dict(schema.metadata or {})
    pandas = metadata.pop(b"pandas", None)
    plain = b"linkrisk" not in metadata and (pandas is None or _is_plain(json.loads(pandas), kinds))
    return kinds if plain else None


def _is_plain(told: dict[str, Any], kinds: list[np.dtype[Any]]) -> bool:
    """Whether pandas has noted rows that are numbered from 0, and columns of these types."""
    for index in told["index_columns"]:
        if not isinstance(index, dict) or {**index, **_PLAIN_INDEX} != index:
            return False
    for names in told["column_indexes"]:
        if names["name"] is not None or names["pandas_type"] != "unicode":
            return False
    return [column["numpy_type"] for column in told["columns"]] == [str(kind) for kind in kinds]


def _filled(column: NDArray[Any], batches: Any) -> bool:
    """Whether all batches have found their place: whole numbers with gaps have none."""
    done = 0
    for batch in batches:
        batch.validate(full=True)
        cells = batch.column(0)
        if cells.null_count and column.dtype.kind != "f":
            return False
        column[done : done + len(cells)] = cells.to_numpy(zero_copy_only=False)
        done += len(cells)
    return done == column.size


class Parquet(ArrowFormat):
    """Arrow tables in columns, compressed."""

    name = "Parquet"
    suffixes = (".parquet", ".pq")
    requires = ("pyarrow",)

    def read(self, path: Path, *, text_columns: Sequence[str] = ()) -> StoredFile:
        """Read a table (see `Format.read`), in batches where it has numbers alone."""
        frame = read_numbers(path)
        return super().read(path, text_columns=text_columns) if frame is None else StoredFile(frame)

    def load(self, source: io.BytesIO) -> Any:
        """The table of a file."""
        from pyarrow import parquet

        return parquet.ParquetFile(source).read()  # read_table stumbles over two columns of one name

    def dump(self, table: Any, target: io.BytesIO) -> None:
        """Write a table."""
        from pyarrow import parquet

        parquet.write_table(table, target)

    def pieces(self, stored: StoredFile, path: Path) -> Iterator[bytes]:
        """The same table in groups of `ROWS_AT_ONCE` rows, each compressed when it is asked for."""
        from pyarrow import parquet

        table, taken = arrow_table(stored, path), _Taken()
        with parquet.ParquetWriter(taken, table.schema) as writer:
            for start in range(0, table.num_rows, ROWS_AT_ONCE):
                writer.write_table(table.slice(start, ROWS_AT_ONCE))
                yield taken.take()
        yield taken.take()


class _Taken(io.RawIOBase):
    """What is written, kept until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[bytes] = []
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        kept = bytes(content)
        self._kept.append(kept)
        self._written += len(kept)
        return len(kept)

    def tell(self) -> int:
        return self._written

    def take(self) -> bytes:
        """All that was written since the last time."""
        kept, self._kept = b"".join(self._kept), []
        return kept
