"""Fixed-width and separated files with metadata of ARGUS: .rda with .asc or .dat beside it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_metadata import (
    DATA,
    METADATA,
    Metadata,
    Variable,
    find_file,
    metadata_text,
    pair_of,
    parse_metadata,
    read_code_list,
    read_text,
)
from linkrisk.datasets.microdata.formats.argus_records import (
    Cells,
    Written,
    code_in,
    cut,
    is_left_aligned,
    left_out,
    separated,
    typed_cells,
    written,
)
from linkrisk.datasets.microdata.formats.base import (
    ColumnNotes,
    Dialect,
    Format,
    Holds,
    Measure,
    StoredFile,
    losses,
    sentence,
)
from linkrisk.datasets.microdata.formats.file_content import NAMES, UTF8, WINDOWS, cannot_encode, encode
from linkrisk.datasets.microdata.formats.number_text import reads_as_numbers
from linkrisk.datasets.microdata.values import Kind, kind_of

_MOST_MISSING = 2
_UNFIT = re.compile(r"[^\w.-]+")
_PLAIN = re.compile(r'[^\s"<][^\s"]*')
_HOLDS = Holds.VALUE_LABELS | Holds.MISSING_CODES | Holds.MEASURE | Holds.ZONES


@dataclass(frozen=True)
class ArgusDialect(Dialect):
    """How the data is written."""

    separator: str | None = None  # what stands between variables; None where these have fixed places
    names_in_front: bool = False  # whether the first line of a separated file has the names
    encoding: str = WINDOWS  # as Python calls it
    suffix: str = DATA[0]  # how the name of the data ends


class Argus(Format):
    """A text file whose columns are described in a file beside it, with code lists."""

    name = "ARGUS"
    suffixes = (METADATA, *DATA)

    def read(self, path: Path, *, text_columns: Sequence[str] = ()) -> StoredFile:
        """Read the data with its metadata and code lists (see `Format.read`).

        Blanks around values do not count, blank values are missing. A column is text where a value is not a
        number or has leading zeros, unless it is declared to be numeric.
        """
        return self.read_pair(*pair_of(path), text_columns=text_columns)

    def read_pair(
        self, metadata_path: Path, data_path: Path, *, text_columns: Sequence[str] = ()
    ) -> StoredFile:
        """Read data with metadata of any names, as batches of ARGUS give them (see `read`)."""
        text, encoding = read_text(data_path)
        metadata = parse_metadata(read_text(metadata_path)[0], metadata_path)
        raw = separated(text, metadata, data_path) if metadata.separator else cut(text, metadata, data_path)
        frame = pd.DataFrame(
            {
                variable.name: typed_cells(
                    raw[variable.name],
                    numeric="numeric" in variable.words,
                    text=variable.name in text_columns,
                    where=f"{data_path}, column {variable.name!r}",
                )
                for variable in metadata.variables
            }
        )
        remarks = [f"read with {NAMES[encoding]}"] if encoding != UTF8 else []
        remarks += [] if metadata.separator else left_out(text, metadata, data_path)
        if metadata.unknown:
            remarks.append(f"{metadata_path}: unknown keywords ignored: {', '.join(metadata.unknown)}")
        notes = {}
        for variable in metadata.variables:
            labels, said = _labels(variable, metadata_path)
            remarks += said
            notes[variable.name] = _notes(variable, frame[variable.name], labels, raw[variable.name])
        dialect = ArgusDialect(metadata.separator, metadata.names_in_front, encoding, data_path.suffix)
        return StoredFile(frame, columns=notes, dialect=dialect, remarks=tuple(remarks))

    def write(self, stored: StoredFile, path: Path) -> dict[Path, bytes]:
        """The data, its metadata, and a code list for each column with value labels."""
        _check_names(stored, path)
        dialect = stored.dialect if isinstance(stored.dialect, ArgusDialect) else ArgusDialect()
        metadata_path, data_path = self.files(path, dialect)
        columns, variables, lists = {}, [], {}
        start = 1
        for name in stored.frame.columns:
            notes = stored.notes(name)
            decimals = notes.settings.get("argus.decimals", "0" if "argus.length" in notes.settings else None)
            column = written(stored.frame[name], None if decimals is None else int(decimals), path)
            list_name = f"{path.stem}_{_UNFIT.sub('_', name)}.cdl" if notes.value_labels else None
            variable = _variable(name, notes, column, 0 if dialect.separator else start, list_name)
            start += variable.length
            columns[name] = column.cells
            variables.append(variable)
            if list_name is not None:
                lists[metadata_path.with_name(list_name)] = _code_list(notes.value_labels)
        metadata = Metadata(tuple(variables), dialect.separator, dialect.names_in_front)
        texts = {
            data_path: _data_text(columns, metadata, stored),
            metadata_path: metadata_text(metadata),
            **lists,
        }
        encoding = _encoding(texts.values(), dialect)
        return {
            file: encode(texts[file], encoding) for file in (path, *(file for file in texts if file != path))
        }

    def loses(self, stored: StoredFile) -> tuple[str, ...]:
        """Variable labels, more than two missing codes, text that looks like numbers."""
        frame, said = stored.frame, losses(stored, _HOLDS, own="argus")
        ordinal = [name for name in frame.columns if stored.notes(name).measure == "ordinal"]
        said += sentence(ordinal, "that a column is ordinal is lost")
        many = [name for name in frame.columns if _missing(stored.notes(name)) != stored.notes(name).missing]
        said += sentence(many, "some declared missing codes are lost; ARGUS takes two, and no ranges")
        texts = [name for name in frame.columns if kind_of(frame[name]) in (Kind.TEXT, Kind.MIXED)]
        numbers = [name for name in texts if reads_as_numbers(frame[name])]
        said += sentence(numbers, "text that looks like numbers comes back as such")
        blanks = [
            name
            for name in texts
            if any(cell != cell.strip() for cell in map(str, frame[name].dropna().unique()))
        ]
        said += sentence(blanks, "blanks around text are lost")
        return tuple(said)

    def files(self, path: Path, dialect: Dialect | None = None) -> tuple[Path, ...]:
        """The metadata and the data of which one is given (see `Format.files`)."""
        if path.suffix.lower() != METADATA:
            return path.with_suffix(METADATA), path
        suffix = dialect.suffix if isinstance(dialect, ArgusDialect) else DATA[0]
        return path, path.with_suffix(suffix)


def _labels(variable: Variable, metadata_path: Path) -> tuple[dict[str, str], list[str]]:
    """The labels of a variable's codes, and what to say where its code list is not there."""
    name = variable.words.get("codelist")
    if name is None:
        return {}, []
    # Paths of other machines: only the name of the file counts here.
    found = find_file(metadata_path.parent, re.split(r"[\\/]", name)[-1])
    if found is None:
        return {}, [
            f"{metadata_path}: the code list {name} of {variable.name} is not in the same folder; its value "
            "labels are missing"
        ]
    return read_code_list(found), []


def _notes(variable: Variable, column: pd.Series, labels: Mapping[str, str], raw: Cells) -> ColumnNotes:
    words = {"length": str(variable.length), **variable.words}
    if labels:
        del words["codelist"]  # the labels say it; their file gets a name of its own when it is written
    if is_left_aligned(raw):
        words["align"] = "left"
    measure: Measure | None = "numeric" if "numeric" in words else "nominal" if "recodable" in words else None
    return ColumnNotes(
        value_labels={code_in(column, code): label for code, label in labels.items()},
        missing=tuple(dict.fromkeys(code_in(column, code) for code in variable.missing)),
        measure=measure,
        settings={f"argus.{word}": value for word, value in words.items()},
    )


def _missing(notes: ColumnNotes) -> tuple[str, ...]:
    return tuple(code for code in notes.missing if isinstance(code, str) and code)[:_MOST_MISSING]


def _variable(name: str, notes: ColumnNotes, column: Written, start: int, list_name: str | None) -> Variable:
    words = {
        word: value for word, value in notes.of_format("argus").items() if word not in ("length", "align")
    }
    if list_name is not None:
        words["codelist"] = list_name
    if not {"numeric", "recodable"} & set(words) and "argus.length" not in notes.settings:
        nominal = notes.measure in ("nominal", "ordinal") or not column.number
        words["recodable" if nominal else "numeric"] = ""
    if not column.number:
        words.pop("numeric", None)
        words.pop("decimals", None)
    elif column.decimals:
        words["decimals"] = str(column.decimals)
    missing = _missing(notes)
    declared = int(notes.settings.get("argus.length", "1"))
    length = max(declared, *(len(code) for code in missing), *map(len, column.cells), 1)
    return Variable(name, start, length, missing, words)


def _data_text(columns: Mapping[str, Sequence[str]], metadata: Metadata, stored: StoredFile) -> str:
    if metadata.separator:
        target = io.StringIO()
        writer = csv.writer(target, delimiter=metadata.separator, lineterminator="\n")
        if metadata.names_in_front:
            writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return target.getvalue()
    import pyarrow
    from pyarrow import compute

    padded = []
    for variable in metadata.variables:
        left = "argus.align" in stored.notes(variable.name).settings
        pad = compute.utf8_rpad if left else compute.utf8_lpad
        cells = pyarrow.array(columns[variable.name], pyarrow.string())
        padded.append(pad(cells, variable.length, " "))
    lines = compute.binary_join_element_wise(*padded, "").to_pylist()
    return "".join(f"{line}\n" for line in lines)


def _code_list(labels: Mapping[str, str]) -> str:
    return "".join(f"{code},{' '.join(label.split())}\n" for code, label in labels.items())


def _encoding(texts: Iterable[str], dialect: ArgusDialect) -> str:
    """One encoding for all files: that of the dialect where it has all letters."""
    return UTF8 if cannot_encode(dialect.encoding, "".join(texts)) else dialect.encoding


def _check_names(stored: StoredFile, path: Path) -> None:
    for name in stored.frame.columns:
        if _PLAIN.fullmatch(name) is None:
            raise DataError(
                f"{path} cannot be written: the column name {name!r} is not allowed; in ARGUS names have no "
                "blanks or quotes and do not begin with '<'; rename the column or write .csv"
            )
