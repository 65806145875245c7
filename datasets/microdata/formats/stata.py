"""Stata: .dta."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import Dialect, Format, Holds, StoredFile, losses, sentence
from linkrisk.datasets.microdata.formats.file_content import check_content
from linkrisk.datasets.microdata.formats.readstat import (
    check_names,
    cut,
    dumped,
    is_text,
    load,
    notes_of,
    storable,
    typed,
    with_letters,
    with_missing_text,
)
from linkrisk.datasets.microdata.values import Kind, kind_of

_LABEL_LETTERS, _VALUE_LABEL_BYTES = 80, 32000
_RULES = (
    "in Stata names have at most 32 letters, digits or underscores, do not begin with a digit and are not "
    "reserved words; rename the column or write .csv"
)
_LARGEST = float.fromhex("0x1.fffffffffffffp+1022")
"""What Stata calls maxdouble, about 8.99e307: larger ones are its missing values."""

_MOMENT = re.compile(rb"(?s)(?<=<timestamp>\x11).{17}(?=</timestamp>)")
_OLD_MOMENT = slice(91, 108)
"""Where releases before 117 have theirs, behind ten bytes of sizes and a label of 81."""

_NEVER = b"01 Jan 1960 00:00"
"""In the place of the moment of writing, so that the same table is the same file."""

_LETTER = re.compile(r"\.[a-z]")
_RELEASE = re.compile(rb"<release>(\d+)</release>")
_VERSIONS = {113: 8, 114: 10, 115: 12, 117: 13, 118: 14, 119: 15}
_END = b"</stata_dta>"
_HOLDS = (
    Holds.LABELS | Holds.VALUE_LABELS | Holds.MISSING_CODES | Holds.DATES | Holds.MOMENTS | Holds.MIXED
)  # fmt: skip


@dataclass(frozen=True)
class StataDialect(Dialect):
    """What a Stata file says of itself."""

    version: int = 14  # the oldest Stata that writes such files
    label: str = ""  # its title

    def without_documents(self) -> StataDialect:
        """See `Dialect.without_documents`."""
        return StataDialect(self.version)


class Stata(Format):
    """Numbers of several sizes and text, with labels; ``.a`` to ``.z`` are missing numbers."""

    name = "Stata"
    suffixes = (".dta",)
    requires = ("pyreadstat",)

    def read(self, path: Path, *, text_columns: Sequence[str] = ()) -> StoredFile:  # noqa: ARG002
        """Read a file (see `Format.read`). Empty text is missing, as it is in Stata."""
        import pyreadstat

        content = path.read_bytes()
        check_content(content, path, self.name, self.suffixes)
        if content.startswith(b"<stata_dta>") and not content.rstrip().endswith(_END):
            raise DataError(f"{path} is cut off: it does not end like a Stata file")
        frame, meta = load(pyreadstat.read_dta, content, path, self.name, user_missing=True)
        notes = notes_of(meta, "stata")
        frame = with_missing_text(with_letters(frame, notes), list(frame.columns))
        dialect = StataDialect(_version(content), meta.file_label or "")
        return StoredFile(frame, columns=notes, dialect=dialect, remarks=_undefined_labels(meta))

    def write(self, stored: StoredFile, path: Path) -> dict[Path, bytes]:
        """With labels, missing letters and display formats."""
        import pyreadstat

        check_names(pyreadstat.write_dta, list(stored.frame.columns), path, _RULES)
        letters = {name: _letters(stored, name) for name in stored.frame.columns}
        frame = pd.DataFrame(
            {name: storable(stored.frame[name], letters=letters[name]) for name in stored.frame.columns}
        )
        _check_range(frame, path)
        dialect = stored.dialect if isinstance(stored.dialect, StataDialect) else StataDialect()
        content = dumped(
            pyreadstat.write_dta,
            frame,
            path,
            version=_version_for(frame, dialect.version),
            file_label=dialect.label[:_LABEL_LETTERS],
            column_labels=_column_labels(stored),
            variable_value_labels=_value_labels(stored, frame, letters),
            missing_user_values={
                name: [code[1:] for code in found] for name, found in letters.items() if found
            },
            variable_format=_formats(stored, frame),
        )
        return {path: _without_moment(content)}

    def loses(self, stored: StoredFile) -> tuple[str, ...]:
        """Types that Stata does not have, missing codes other than letters, labels of text."""
        frame, said = stored.frame, losses(stored, _HOLDS, own="stata")
        letters = {name: _letters(stored, name) for name in frame.columns}
        mixed = [name for name in frame.columns if kind_of(frame[name]) is Kind.MIXED and not letters[name]]
        said += sentence(mixed, "values of several types become text")
        other = [name for name in frame.columns if len(letters[name]) < len(stored.notes(name).missing)]
        said += sentence(other, "declared missing codes are lost; in Stata they are .a to .z")
        texts = [name for name in frame.columns if _loses_labels(stored, name)]
        said += sentence(texts, "value labels of text, or of numbers that are not whole, are lost")
        long = [name for name in frame.columns if len(stored.notes(name).label) > _LABEL_LETTERS]
        said += sentence(long, f"variable labels are cut at {_LABEL_LETTERS} characters")
        return tuple(said)


def _undefined_labels(meta: Any) -> tuple[str, ...]:
    """What to say of value labels that columns name and the file does not have.

    Files before Stata 13 have them at the end, where nothing shows that they were cut off.
    """
    names = [name for name, label in meta.variable_to_label.items() if label not in meta.value_labels]
    return tuple(sentence(names, "value labels are named but not in the file; it may be cut off"))


def _version(content: bytes) -> int:
    found = _RELEASE.search(content[:200])
    release = int(found.group(1)) if found is not None else content[0]
    return _VERSIONS.get(release, StataDialect().version)


def _version_for(frame: pd.DataFrame, version: int) -> int:
    """An older version has no letters beyond ASCII, and no long text."""
    texts = [str(name) for name in frame.columns]
    for name in frame.columns:
        texts += frame[name].unique().tolist() if is_text(frame[name]) else []
    old = version < 14 and any(
        isinstance(text, str) and (not text.isascii() or len(text) > 244) for text in texts
    )
    return StataDialect().version if old else version


def _letters(stored: StoredFile, name: str) -> list[str]:
    """The declared missing codes that Stata has; none where text besides them stands in the column."""
    column = stored.frame[name]
    declared = [c for c in stored.notes(name).missing if isinstance(c, str) and _LETTER.fullmatch(c)]
    if declared and kind_of(column) in (Kind.TEXT, Kind.MIXED):
        texts = {cell for cell in column.unique() if isinstance(cell, str)}
        return declared if texts <= set(declared) else []
    return declared


def _without_moment(content: bytes) -> bytes:
    if content.startswith(b"<stata_dta>"):
        return _MOMENT.sub(_NEVER, content, count=1)
    return content[: _OLD_MOMENT.start] + _NEVER + content[_OLD_MOMENT.stop :]


def _check_range(frame: pd.DataFrame, path: Path) -> None:
    for name in frame.columns:
        if frame[name].dtype.kind == "f" and (frame[name].abs() > _LARGEST).any():
            raise DataError(
                f"{path} cannot be written: column {name!r} has numbers beyond {_LARGEST:g}, which Stata "
                "does not have; write .parquet"
            )


def _column_labels(stored: StoredFile) -> dict[str, str]:
    notes = {name: stored.notes(name).label for name in stored.frame.columns}
    return {name: label[:_LABEL_LETTERS] for name, label in notes.items() if label}


def _value_labels(
    stored: StoredFile, frame: pd.DataFrame, letters: dict[str, list[str]]
) -> dict[str, dict[int | str, str]]:
    """Labels of whole numbers and of the letters for missing ones."""
    found: dict[str, dict[int | str, str]] = {}
    for name in frame.columns:
        if is_text(frame[name]) and not letters[name]:
            continue
        labels: dict[int | str, str] = {}
        for code, label in stored.notes(name).value_labels.items():
            number = typed(code, text=False)
            key = code[1:] if code in letters[name] else number if isinstance(number, int) else None
            if key is not None:
                labels[key] = cut(label, _VALUE_LABEL_BYTES)
        if labels:
            found[name] = labels
    return found


def _loses_labels(stored: StoredFile, name: str) -> bool:
    labels = stored.notes(name).value_labels
    if not labels:
        return False
    letters = {name: _letters(stored, name)}
    frame = pd.DataFrame({name: storable(stored.frame[name], letters=letters[name])})
    return len(_value_labels(stored, frame, letters).get(name, {})) < len(labels)


def _formats(stored: StoredFile, frame: pd.DataFrame) -> dict[str, str]:
    """Display formats of the file where they suit the values."""
    found = {}
    for name in frame.columns:
        own = stored.notes(name).settings.get("stata.format", "")
        kind = "s" if own.endswith("s") else "t" if own.startswith(("%t", "%d")) else "n"
        column = frame[name]
        lettered = is_text(column) and bool(_letters(stored, name))
        held = "n" if column.dtype.kind in "if" or lettered else "s" if is_text(column) else "t"
        if own and kind == held:
            found[name] = own
    return found
