"""SPSS: .sav, .zsav."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import (
    ColumnNotes,
    Dialect,
    Format,
    Holds,
    StoredFile,
    ends_blank,
    has_empty_text,
    losses,
    sentence,
)
from linkrisk.datasets.microdata.formats.file_content import check_content
from linkrisk.datasets.microdata.formats.readstat import (
    MEASURE_NAMES,
    check_names,
    cut,
    dumped,
    is_text,
    labels_to_write,
    load,
    notes_of,
    storable,
    typed,
    with_missing_text,
    with_whole_numbers,
)
from linkrisk.datasets.microdata.missing import MissingRange
from linkrisk.datasets.microdata.values import Kind, kind_of

_MOMENT = slice(92, 109)
_NEVER = b"01 Jan 8000:00:00"
"""Date and time of writing in the header, nine and eight letters (PSPP developer's guide), and what replaces
them, so that the same table is the same file."""

_LABEL_BYTES, _VALUE_LABEL_BYTES, _MISSING_BYTES = 256, 120, 8
_RULES = (
    "in SPSS names have at most 64 bytes, begin with a letter and differ in more than upper and lower case; "
    "rename the column or write .csv"
)
_WHOLE_FORMAT = re.compile(r"[FN]\d+(\.0)?")
_NUMBER_FORMAT = re.compile(r"(?:F|N|E|COMMA|DOT|DOLLAR|PCT)\d+(?:\.(\d+))?")
_HOLDS = (
    Holds.LABELS | Holds.VALUE_LABELS | Holds.MISSING_CODES | Holds.MEASURE | Holds.DATES | Holds.MOMENTS
    | Holds.EMPTY_TEXT
)  # fmt: skip


@dataclass(frozen=True)
class SpssDialect(Dialect):
    """What an SPSS file says of itself."""

    label: str = ""  # its title
    notes: tuple[str, ...] = ()  # documents in it

    def without_documents(self) -> SpssDialect:
        """See `Dialect.without_documents`."""
        return SpssDialect()


class Spss(Format):
    """Doubles and text, with labels, missing codes and levels of measurement."""

    name = "SPSS"
    suffixes = (".sav", ".zsav")
    requires = ("pyreadstat",)

    def read(self, path: Path, *, text_columns: Sequence[str] = ()) -> StoredFile:  # noqa: ARG002
        """Read a file (see `Format.read`). Codes declared missing stay in the table."""
        import pyreadstat

        content = path.read_bytes()
        check_content(content, path, self.name, self.suffixes)
        remarks: tuple[str, ...] = ()
        try:
            frame, meta = load(pyreadstat.read_sav, content, path, self.name, user_missing=True)
        except DataError as error:
            if "byte sequence" not in str(error):
                raise
            # Old files do not say how letters are written; nearly all are from Windows.
            frame, meta = load(
                pyreadstat.read_sav, content, path, self.name, user_missing=True, encoding="WINDOWS-1252"
            )
            remarks = ("read with Windows-1252",)
        notes = notes_of(meta, "spss")
        frame = with_missing_text(frame, [name for name in frame.columns if "" in notes[name].missing])
        whole = [name for name in frame.columns if _is_whole(notes[name])]
        return StoredFile(
            with_whole_numbers(frame, whole),
            columns={name: _without_blank(notes[name]) for name in frame.columns},
            dialect=SpssDialect(meta.file_label or "", tuple(meta.notes)),
            remarks=remarks,
        )

    def write(self, stored: StoredFile, path: Path) -> dict[Path, bytes]:
        """With labels, missing codes, measures, display widths and formats."""
        import pyreadstat

        check_names(pyreadstat.write_sav, list(stored.frame.columns), path, _RULES)
        _check_case(stored, path)
        frame = pd.DataFrame({name: storable(stored.frame[name]) for name in stored.frame.columns})
        dialect = stored.dialect if isinstance(stored.dialect, SpssDialect) else SpssDialect()
        labels = {
            name: {code: cut(label, _VALUE_LABEL_BYTES) for code, label in found.items()}
            for name, found in labels_to_write(stored, frame).items()
        }
        notes = {name: stored.notes(name) for name in frame.columns}
        missing = {name: _missing_to_write(stored, frame, name) for name in frame.columns}
        packed = path.suffix.lower() == ".zsav"
        content = dumped(
            pyreadstat.write_sav,
            frame,
            path,
            file_label=dialect.label,
            note=list(dialect.notes) or None,
            column_labels={name: cut(item.label, _LABEL_BYTES) for name, item in notes.items() if item.label},
            variable_value_labels=labels,
            missing_ranges={name: items for name, items in missing.items() if items},
            variable_measure={n: MEASURE_NAMES[item.measure] for n, item in notes.items() if item.measure},
            variable_display_width={
                n: int(item.settings["spss.width"])
                for n, item in notes.items()
                if "spss.width" in item.settings
            },
            variable_format=_formats(stored, frame),
            compress=packed,
            row_compress=not packed,
        )
        return {path: content[: _MOMENT.start] + _NEVER + content[_MOMENT.stop :]}

    def loses(self, stored: StoredFile) -> tuple[str, ...]:
        """Types that SPSS does not have, what is too long, more missing codes than it takes."""
        frame, said = stored.frame, losses(stored, _HOLDS, own="spss")
        both = [name for name in frame.columns if has_empty_text(frame[name]) and frame[name].isna().any()]
        said += sentence(both, "missing text becomes empty text")
        blanks = [name for name in frame.columns if ends_blank(frame[name])]
        said += sentence(blanks, "blanks at the end of text are lost")
        moments = [name for name in frame.columns if _has_fractions(frame[name])]
        said += sentence(moments, "fractions of seconds may change in the last digit")
        long = [name for name in frame.columns if _has_long_labels(stored.notes(name))]
        said += sentence(long, f"labels are cut at {_VALUE_LABEL_BYTES} (values) or {_LABEL_BYTES} bytes")
        lost = [name for name in frame.columns if _loses_missing(stored, name)]
        said += sentence(lost, "some declared missing codes are lost; SPSS takes three, or a range and one")
        unlike = [name for name in frame.columns if _has_unlike_labels(stored, name)]
        said += sentence(unlike, "labels of codes that are not numbers are lost")
        return tuple(said)


def _is_whole(notes: ColumnNotes) -> bool:
    return _WHOLE_FORMAT.fullmatch(notes.settings.get("spss.format", "")) is not None


def _without_blank(notes: ColumnNotes) -> ColumnNotes:
    """Notes without the empty code, whose cells are missing values now."""
    return replace(notes, missing=tuple(item for item in notes.missing if item != ""))


def _check_case(stored: StoredFile, path: Path) -> None:
    seen: dict[str, str] = {}
    for name in stored.frame.columns:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise DataError(f"{path} cannot be written: columns {other!r} and {name!r}; {_RULES}")


def _missing_to_write(stored: StoredFile, frame: pd.DataFrame, name: str) -> list[Any]:
    """Missing codes as pyreadstat takes them, as many as SPSS holds; empty text where it stands for one."""
    text = is_text(frame[name])
    codes = [typed(item, text=text) for item in stored.notes(name).missing if isinstance(item, str)]
    codes = [code for code in codes if code is not None and len(str(code).encode()) <= (8 if text else 64)]
    if text:
        column = stored.frame[name]
        blank = [""] if column.isna().any() and not has_empty_text(column) else []
        return [*blank, *codes][:3]
    ranges = [
        {"lo": item.low, "hi": item.high}
        for item in stored.notes(name).missing
        if isinstance(item, MissingRange)
    ]
    return [ranges[0], *codes[:1]] if ranges else codes[:3]


def _loses_missing(stored: StoredFile, name: str) -> bool:
    declared = stored.notes(name).missing
    if not declared:
        return False
    frame = pd.DataFrame({name: storable(stored.frame[name])})
    return len([item for item in _missing_to_write(stored, frame, name) if item != ""]) < len(declared)


def _formats(stored: StoredFile, frame: pd.DataFrame) -> dict[str, str]:
    """Display formats: those of the file where they suit the values, and no decimals for whole numbers."""
    found: dict[str, str] = {}
    for name in frame.columns:
        column, own = frame[name], stored.notes(name).settings.get("spss.format")
        number = column.dtype.kind in "if"
        if (
            own
            and (_NUMBER_FORMAT.fullmatch(own) is not None) == number
            and not (own[0] == "A" or is_text(column))
        ):
            found[name] = own
        if (
            number
            and not _is_whole_column(column)
            and _is_whole(ColumnNotes(settings={"spss.format": own or ""}))
        ):
            found[name] = "F12.4"
        if column.dtype.kind == "i" and name not in found:
            found[name] = f"F{max(8, len(str(column.abs().max())) + 1)}.0"
        if column.dtype.kind == "f" and name not in found and kind_of(stored.frame[name]) is Kind.WHOLE:
            found[name] = "F12.0"
    return found


def _is_whole_column(column: pd.Series) -> bool:
    return bool((column.dropna() % 1 == 0).all())


def _has_fractions(column: pd.Series) -> bool:
    if kind_of(column) is not Kind.MOMENT or isinstance(column.dtype, pd.CategoricalDtype):
        return False
    moments = pd.to_datetime(column.dropna())
    return bool((moments.dt.microsecond != 0).any())


def _has_long_labels(notes: ColumnNotes) -> bool:
    longest = max((len(label.encode()) for label in notes.value_labels.values()), default=0)
    return longest > _VALUE_LABEL_BYTES or len(notes.label.encode()) > _LABEL_BYTES


def _has_unlike_labels(stored: StoredFile, name: str) -> bool:
    codes: Mapping[str, str] = stored.notes(name).value_labels
    if not codes:
        return False
    text = is_text(storable(stored.frame[name]))
    return any(typed(code, text=text) is None for code in codes)
