"""Read the input table of `mask`, with the metadata of its file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from linkrisk.datasets.masking.attributes import TABLE
from linkrisk.datasets.masking.base import MaskingMethod
from linkrisk.datasets.masking.release import check_new, sha256
from linkrisk.datasets.microdata.column_descriptions import guessed_schema
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.formats.delimited import DelimitedDialect, written_columns
from linkrisk.datasets.microdata.formats.registry import DELIMITED, format_of, read_file, writable_format
from linkrisk.datasets.microdata.missing import with_codes, without_codes
from linkrisk.datasets.microdata.names import labels_of, with_columns
from linkrisk.datasets.microdata.released_files import occurring_only
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import load_table
from linkrisk.datasets.microdata.values import Kind, kind_of, spelled, without_blanks
from linkrisk.datasets.pairs.categorical import listed_categories
from linkrisk.datasets.public.registry import load
from linkrisk.errors import called
from linkrisk.solver.options.types import TableLike
from linkrisk.solver.run.errors import UsageError

_DOCUMENTS = "title and documents of the file are not carried over: they speak of the original"

_NOT_TEXT = (Kind.LOGICAL, Kind.WHOLE, Kind.NUMBER)


@dataclass(frozen=True, eq=False)
class Source:
    """A table to be masked."""

    stored: StoredFile  # the table; a pandas frame has its own index
    name: str  # name of its file, or of a public data set

    @property
    def content(self) -> bytes | None:
        """Read the contents of its file, if it has one."""
        return Path(self.name).read_bytes() if is_file(self.name) else None

    @property
    def sha256(self) -> str | None:
        """Compute the digest of its file, if it has one."""
        content = self.content
        return None if content is None else sha256(content)

    @cached_property
    def plain(self) -> pd.DataFrame:
        """Strip text; text of blanks alone becomes a missing value."""
        return without_blanks(self.stored.frame)

    def schema(self, declared: Schema | None = None) -> Schema:
        """Merge the schema of all columns: declared, from the file, and guessed as in `describe`."""
        return guessed_schema(self.plain, self.stored.columns, declared)

    def labels(self, names: Sequence[str], declared: Schema | None = None) -> dict[str, dict[str, Any]]:
        """Collect labels of columns and of their codes (`labels_of`)."""
        return labels_of(names, [self.stored.columns], declared)

    @cached_property
    def known(self) -> pd.DataFrame:
        """Replace codes that the file declares missing by missing values."""
        frame = self.plain
        coded = {name: notes.missing for name, notes in self.stored.columns.items() if notes.missing}
        return with_columns(frame, {name: without_codes(frame[name], codes) for name, codes in coded.items()})

    def with_codes(self, table: pd.DataFrame, masked: Collection[str]) -> pd.DataFrame:
        """Restore the missing codes of the file in a masked table; other columns are the file's.

        Columns with lists of categories keep only those that occur.
        """
        frame, columns = self.plain, {}
        for name in frame.columns:
            coded = (self.known[name].isna() & frame[name].notna()).to_numpy(dtype=bool)
            columns[name] = (
                with_codes(table[name], frame[name], coded) if name in masked else self.stored.frame[name]
            )
        return occurring_only(with_columns(table, columns), masked)

    def losses(self, output: str | Path) -> tuple[str, ...]:
        """List what the output format cannot hold of this table; DataError if it cannot hold it at all."""
        made = writable_format(output)
        made.write(replace(self.stored, frame=self.stored.frame.head(1)), Path(output))
        # Text files keep columns that are not masked verbatim.
        if made is DELIMITED and isinstance(self.stored.dialect, DelimitedDialect):
            return ()
        dialect = self.stored.dialect
        said = () if dialect == dialect.without_documents() else (_DOCUMENTS,)
        return (*said, *made.loses(self.stored))

    def as_written(self, masked: StoredFile, others: Sequence[str], output: str | Path) -> StoredFile:
        """From text to text, copy columns that are not masked verbatim: codes such as 007 stay 007.

        Where all values of a masked column are among those that it had, they are spelled as in the file, too:
        3 stays 3 in a column of integers of which one is missing, and TRUE stays TRUE.
        """
        both_text = all(Path(name).suffix.lower() in DELIMITED.suffixes for name in (self.name, output))
        if not both_text:
            return masked
        same = [name for name in masked.frame.columns if name not in others and self._kept(name, masked)]
        if not (others or same):
            return masked
        written = written_columns(Path(self.name), [*others, *same])
        alike = {
            name: _spelled_as(written[name], self.stored.frame[name], masked.frame[name]) for name in same
        }
        return replace(masked, frame=with_columns(masked.frame, {**written[list(others)], **alike}))

    def _kept(self, name: str, masked: StoredFile) -> bool:
        """Whether a masked column has only values of its original column, numbers or true and false."""
        before = self.stored.frame[name]
        return kind_of(before) in _NOT_TEXT and _names(masked.frame[name]) <= _names(before)


def _names(column: pd.Series) -> set[str]:
    return {spelled(value) for value in column.dropna().unique()}


def _spelled_as(written: pd.Series, before: pd.Series, after: pd.Series) -> pd.Series:
    """Spell the values of a masked column as the file does; of several spellings, the first.

    A masked column must not disclose which records had 3.0, and which 3.
    """
    first = ~before.duplicated() & before.notna()
    spelling = dict(zip(before[first].map(spelled), written[first], strict=True))
    return after.map(spelled, na_action="ignore").map(spelling)


def read_source(
    data: TableLike, methods: Sequence[MaskingMethod], id_column: str | None, text_columns: Sequence[str] = ()
) -> Source:
    """Read the input table of `mask`; DataError if that fails.

    Ids, categories of a schema, and `text_columns` keep the spelling of a text file.
    """
    if isinstance(data, Path) or (isinstance(data, str) and is_file(data)):
        return Source(
            read_file(data, text_columns=[*_text_columns(methods, id_column), *text_columns]), str(data)
        )
    if isinstance(data, str):
        return Source(StoredFile(load(data)), data)
    # A pandas frame keeps its index, as columns that are not masked do.
    frame = data if isinstance(data, pd.DataFrame) else load_table(data, TABLE).frame
    return Source(StoredFile(frame), TABLE)


def _text_columns(methods: Sequence[MaskingMethod], id_column: str | None) -> list[str]:
    schemas = [method.schema for method in methods if method.schema is not None]
    declared = [name for schema in schemas for name in listed_categories((), (), schema)]
    return declared if id_column is None else [id_column, *declared]


def check_targets(source: str, output: str | Path, record: str | Path | None) -> None:
    """Refuse an output that cannot be written, or would overwrite another file."""
    writable_format(output)
    if is_input(source, output):
        raise UsageError(
            f"{called('output', output)} is the input file; give the masked file another name",
            option="output",
        )
    shared = _parts(source) & _parts(output) if is_file(source) else set()
    if shared:
        first = min(path.name for path in shared)
        raise UsageError(
            f"{called('output', output)} would overwrite {first} of the input; give it another name",
            option="output",
        )
    if record is not None:
        if _same_file(record, output):
            raise UsageError(
                f"{called('record', record)} is the masked file; give the record another name",
                option="record",
            )
        check_new(record)


def is_file(text: str | Path) -> bool:
    """Tell a file from the name of a data set, which has neither suffix nor folder."""
    return Path(text).suffix != "" or Path(text).name != str(text)


def is_input(source: str, path: str | Path) -> bool:
    """Whether a path is the file that a table was read from."""
    return is_file(source) and _same_file(source, path)


def _same_file(first: str | Path, second: str | Path) -> bool:
    return Path(first).resolve() == Path(second).resolve()


def _parts(path: str | Path) -> set[Path]:
    """List all files of a table."""
    return {part.resolve() for part in format_of(path).files(Path(path))}
