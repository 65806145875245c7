"""Files of ARGUS: data of fixed width or separated, read and written with their metadata."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
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
from linkrisk.datasets.microdata.formats.number_text import CODE, reads_as_numbers
from linkrisk.datasets.microdata.values import Kind, as_doubles, as_text, cells_of, is_wide, kind_of, spelled

Cells = Any
"""The cells of a column as they stand in a file: a pyarrow array of text."""

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_WHOLE = r"[+-]?[0-9]{1,18}"


@dataclass(frozen=True)
class Written:
    """A column as text."""

    cells: list[str]  # blank where a value is missing
    number: bool  # whether they are numbers
    decimals: int = 0  # the most decimals that they have


def typed_cells(raw: Cells, *, numeric: bool, text: bool, where: str) -> pd.Series:
    """Cells as a column; blanks around them do not count, and a blank cell is a missing value."""
    from pyarrow import compute

    cells = compute.utf8_trim_whitespace(raw)
    blank = _flags(compute.equal(cells, ""))
    numbers = _all_are(cells, _NUMBER, blank)
    if numeric and not (text or numbers):
        _refuse_text(cells, blank, where)
    objects = cells.to_numpy(zero_copy_only=False)
    if text or blank.all() or not numbers or not (numeric or not _flags(_matches(cells, CODE)).any()):
        objects[blank] = None
        return pd.Series(objects, dtype=object if blank.all() else "str")
    if not blank.any() and _all_are(cells, _WHOLE, blank):
        return pd.Series(objects.astype(np.int64))
    objects[blank] = "nan"
    return pd.Series(objects.astype(np.float64))


def _flags(found: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _matches(cells: Cells, pattern: str) -> Any:
    """Which cells are as the pattern says from beginning to end."""
    from pyarrow import compute

    return compute.match_substring_regex(cells, f"^(?:{pattern})$")


def _all_are(cells: Cells, pattern: str, blank: npt.NDArray[np.bool_]) -> bool:
    return bool((_flags(_matches(cells, pattern)) | blank).all())


def _refuse_text(cells: Cells, blank: npt.NDArray[np.bool_], where: str) -> NoReturn:
    row = int(np.argmin(_flags(_matches(cells, _NUMBER)) | blank))
    raise DataError(
        f"{where}, row {row + 1}: {cells[row].as_py()!r} is not a number, though the column is <NUMERIC>"
    )


def code_in(column: pd.Series, code: str) -> str:
    """A code of the metadata as a column spells it: ``099`` among numbers is 99."""
    if column.dtype.kind in "if" and re.fullmatch(_NUMBER, code):
        return spelled(float(code))
    return code


def written(column: pd.Series, decimals: int | None, path: Path) -> Written:
    """A column as text that reads back the same."""
    kind = kind_of(column)
    values = cells_of(column)
    if kind is Kind.LOGICAL:
        return Written(["" if value is None else str(int(value)) for value in values], number=False)
    if kind is Kind.WHOLE and not is_wide(column):
        return Written(["" if value is None else str(int(value)) for value in values], number=True)
    if kind is Kind.NUMBER:
        return _written_numbers(as_doubles(column).to_numpy(), decimals)
    texts = ["" if value is None else value for value in cells_of(as_text(column))]
    unprintable = {text for text in set(texts) if not text.isprintable()}
    if unprintable:
        row = next(row for row, text in enumerate(texts, start=1) if text in unprintable)
        raise DataError(
            f"{path} cannot be written: column {column.name!r}, row {row}: a line end or a character "
            "that cannot be printed; write .csv"
        )
    return Written([text.strip() for text in texts], number=False)


def _written_numbers(doubles: npt.NDArray[np.float64], decimals: int | None) -> Written:
    """Numbers as text, blank where there is NaN."""
    known = ~np.isnan(doubles)
    present = doubles[known]
    values = [value if is_known else None for value, is_known in zip(doubles.tolist(), known, strict=True)]
    if not np.isfinite(present).all():
        return Written(["" if value is None else str(value) for value in values], number=False)
    whole = bool((present == np.trunc(present)).all())
    if whole and not decimals and (decimals is not None or not known.all()):
        return Written(["" if value is None else f"{value:.0f}" for value in values], number=True)
    cells = [None if value is None else _in_full(value).partition(".") for value in values]
    places = max(decimals or 0, *(len(cell[2]) for cell in cells if cell is not None), 1)
    padded = ["" if cell is None else f"{cell[0]}.{cell[2].ljust(places, '0')}" for cell in cells]
    return Written(padded, number=True, decimals=places)


def _in_full(value: float) -> str:
    """A number as it reads back, without an exponent."""
    text = repr(value)
    return format(Decimal(text), "f") if "e" in text else text


def is_left_aligned(raw: Cells) -> bool:
    """Whether cells stand at the left of their place: blanks only after them."""
    from pyarrow import compute

    padded = compute.not_equal(raw, compute.utf8_trim_whitespace(raw))
    blank = compute.equal(compute.utf8_trim_whitespace(raw), "")
    shorter = raw.filter(compute.and_not(padded, blank))
    return len(shorter) > 0 and bool(
        compute.all(compute.equal(shorter, compute.utf8_ltrim_whitespace(shorter))).as_py()
    )


def cut(text: str, metadata: Metadata, path: Path) -> dict[str, Cells]:
    """The cells of a fixed-width file, with the blanks around them."""
    import pyarrow
    from pyarrow import compute

    lines = _lines(text, path)
    needed = max(variable.start + variable.length - 1 for variable in metadata.variables)
    for number, line in enumerate(lines, start=1):
        if len(line) < needed:
            raise DataError(
                f"{path}, line {number}: {len(line)} characters where the variables need {needed}; the file "
                "is cut off, or its .rda describes another one"
            )
    whole = pyarrow.array(lines, pyarrow.string())
    return {
        item.name: compute.utf8_slice_codeunits(whole, item.start - 1, item.start - 1 + item.length)
        for item in metadata.variables
    }


def left_out(text: str, metadata: Metadata, path: Path) -> list[str]:
    """What to say where a fixed-width file has text in positions that belong to no variable."""
    places = sorted((item.start - 1, item.start - 1 + item.length) for item in metadata.variables)
    starts, ends = [start for start, _ in places], [0, *(end for _, end in places)]
    lines = _lines(text, path)
    for begin, end in zip(ends, [*starts, None], strict=True):
        if begin != end and any(piece.strip() for piece in {line[begin:end] for line in lines}):
            where = f"from position {begin + 1} " + ("on" if end is None else f"to {end}")
            return [f"{path}: the text {where} is ignored: its .rda has no variable there"]
    return []


def separated(text: str, metadata: Metadata, path: Path) -> dict[str, Cells]:
    """The cells of a separated file."""
    import pyarrow

    names = [variable.name for variable in metadata.variables]
    separator = metadata.separator or ";"
    rows: list[list[str]] = []
    reader = csv.reader(
        io.StringIO("\n".join(_lines(text, path)), newline=""), delimiter=separator, strict=True
    )
    try:
        for row in reader:
            if len(row) != len(names):
                raise DataError(
                    f"{path}, line {reader.line_num}: {len(row)} cells where its .rda has "
                    f"{len(names)} variables"
                )
            rows.append(row)
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: {error}; fix its quotes") from error
    records = rows[1:] if metadata.names_in_front else rows
    return {
        name: pyarrow.array([row[at] for row in records], pyarrow.string()) for at, name in enumerate(names)
    }


def _lines(text: str, path: Path) -> list[str]:
    lines = text.rstrip("\r\n\x1a").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not any(line.strip() for line in lines):
        raise DataError(f"{path} is empty; it needs records")
    return lines


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
    requires = ("pyarrow",)

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
