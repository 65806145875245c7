"""Lists of column names as one text, read and written like one row of a CSV file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from linkrisk.datasets.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from linkrisk.datasets.microdata.formats.base import ColumnNotes

_QUOTED = r'"(?P<quoted>(?:[^"]|"")*)"'
_NAME = re.compile(rf'\s*+(?:{_QUOTED}\s*(?P<more>=[^,"]*)?|(?P<plain>[^,"][^,]*)?)(?P<end>,|$)')
"""A name in double quotes, inside which a double quote is written twice, or one without; and what ends it."""
_BREAKS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]")
"""Signs that break a line, move in it, or turn its direction."""
_LETTERS = {"n": "\n", "t": "\t", "r": "\r"}
_ESCAPED = re.compile(r"\\(?:u([0-9a-f]{4})|(.))")
_PAIR = re.compile(rf"\s*(?:{_QUOTED}|(?P<plain>[^=\"][^=]*?))\s*=(?P<rest>.*)", re.DOTALL)
"""A name, in double quotes where it has an equals sign itself, and what stands behind the equals sign."""


def parse_names(text: str) -> tuple[str, ...]:
    """Read column names separated by commas; one that has a comma itself stands in double quotes."""
    names, at = [], 0
    while True:
        found = _NAME.match(text, at)
        if found is None:
            raise DataError(
                f"{text!r} is not a list of names; write names separated by commas, one with a comma in "
                "double quotes"
            )
        name = _name(found) + (found.group("more") or "").rstrip()
        if not name:
            raise DataError(f"{text!r} has an empty attribute name; write names separated by single commas")
        names.append(name)
        if not found.group("end"):
            return tuple(names)
        at = found.end()


def parse_pair(text: str) -> tuple[str, str]:
    """Read ``NAME=REST``, such as ``region=tree.csv``: the name and the rest, both empty where it is none.

    A name that has an equals sign itself stands in double quotes: ``"A=B"=tree.csv``.
    """
    found = _PAIR.fullmatch(text)
    if found is None or not _name(found) or not found.group("rest").strip():
        return "", ""
    return _name(found), found.group("rest").strip()


def _name(found: re.Match[str]) -> str:
    quoted, plain = found.group("quoted"), (found.group("plain") or "").strip()
    if quoted is not None:
        return quoted.replace('""', '"')
    if len(plain) > 3 and plain.startswith("$'") and plain.endswith("'"):
        return _ESCAPED.sub(_meant, plain[2:-1])
    return plain


def _meant(found: re.Match[str]) -> str:
    """The letter that is written with a backslash."""
    code, letter = found.groups()
    return chr(int(code, 16)) if code else _LETTERS.get(letter, letter)


def _escaped(letter: str) -> str:
    """A letter as it is written between ``$'`` and ``'``."""
    short = next((f"\\{one}" for one, meant in _LETTERS.items() if meant == letter), "")
    if short or letter in "\\'":
        return short or f"\\{letter}"
    return f"\\u{ord(letter):04x}" if letter in ",=" or _BREAKS.match(letter) else letter


def shown_name(name: str) -> str:
    r"""Write a column name as `parse_names` reads it: in double quotes where it needs them.

    One with line breaks or other signs that no line holds is written as a shell reads it: ``$'a\nb'``.
    """
    if _BREAKS.search(name):
        return "$'" + "".join(map(_escaped, name)) + "'"
    if "," in name or name.startswith(('"', "$'")) or name != name.strip() or not name:
        return '"' + name.replace('"', '""') + '"'
    return name


def shell_name(name: str) -> str:
    """A text, such as a column name, as one word of a command line, which is read as it is."""
    if name == "'":
        return '"\'"'
    return shown_name(name) if _BREAKS.search(name) else shlex.quote(name)


def shell_names(names: Sequence[str]) -> str:
    """Column names, or pairs of them with something, as one word of a command line, read by `parse_names`."""
    plain, shown = ",".join(names), shown_names(names, ",")
    try:
        read_as_they_are = parse_names(plain) == tuple(names) and plain != "none"  # a word of its own
    except DataError:
        read_as_they_are = False
    if plain == "none":
        shown = '"none"'
    return shell_name(plain if read_as_they_are else shown)


def shown_pair(name: str, rest: str) -> str:
    """Write a column name and what belongs to it as `parse_pair` reads them."""
    quoted = '"' + name.replace('"', '""') + '"'
    return f"{quoted if '=' in name and not _BREAKS.search(name) else shown_name(name)}={rest}"


def shown_names(names: Iterable[str], separator: str = ", ", most: int | None = None) -> str:
    """Column names as `parse_names` reads them; of more than `most` the first ones and how many there are."""
    listed = [shown_name(name) for name in names]
    if most is None or len(listed) <= most:
        return separator.join(listed)
    return f"{separator.join(listed[:most])}{separator}... ({len(listed)} in all)"


def with_columns(frame: pd.DataFrame, columns: Mapping[Any, Any]) -> pd.DataFrame:
    """Copy a frame with columns added or replaced, whatever they are called.

    `DataFrame.assign` takes names as keywords, of which ``self`` is its own.
    """
    made = frame.copy()
    for name in columns:
        made[name] = columns[name]
    return made


Labels = Mapping[str, Mapping[str, Any]]
"""By column that has any: ``label``, what it holds, and ``codes``, what each of its codes means."""


class _Schema(Protocol):
    """A schema, which is made with the names of this file."""

    def get(self, name: str) -> Any:
        """What it says of a column: its label, and labels of codes."""


def labels_of(
    names: Iterable[str], files: Iterable[Mapping[str, ColumnNotes]], declared: _Schema | None = None
) -> dict[str, dict[str, Any]]:
    """What columns and their codes mean in words, of those that have any (`Labels`).

    What a schema says comes before what a file says, and the first file before the others.
    """
    found = {}
    for name in names:
        said = None if declared is None else declared.get(name)
        notes = [each[name] for each in files if name in each]
        label = next((each.label for each in (said, *notes) if each is not None and each.label), "")
        codes: dict[str, str] = {}
        for one in reversed(notes):
            codes |= one.value_labels
        codes |= {} if said is None else said.labels
        if label or codes:
            found[name] = {"label": label, "codes": codes}
    return found


def shown_labels(labels: Labels, shown: Mapping[str, Iterable[str]]) -> dict[str, dict[str, Any]]:
    """``labels`` of columns and of those of their codes that are shown, as the JSON has them; else empty."""
    found = {
        name: {
            **labels[name],
            "codes": {code: labels[name]["codes"][code] for code in codes if code in labels[name]["codes"]},
        }
        for name, codes in shown.items()
        if name in labels
    }
    return {"labels": found} if found else {}


def level_in_words(level: int, names: Sequence[str]) -> str:
    """A level of recoding, from 1, by its name where it has one: ``month``, else ``level 2``."""
    return names[level - 1] if 0 < level <= len(names) else f"level {level}"


def name_in_words(name: str, labels: Labels) -> str:
    """What a column holds, else its name."""
    return str(labels.get(name, {}).get("label") or name)


def code_in_words(name: str, code: str, labels: Labels) -> str:
    """What a code of a column means, with the code beside it; the code where it has no label."""
    label = labels.get(name, {}).get("codes", {}).get(code)
    return code if label in (None, code) else f"{label} ({code})"


def names_in_words(names: Sequence[str], labels: Labels) -> list[str]:
    """What columns hold; their names where two of them would be called alike."""
    words = [name_in_words(name, labels) for name in names]
    return words if len(set(words)) == len(words) else list(names)


def group_in_words(group: Mapping[str, Any]) -> tuple[str, str]:
    """Column and category of a group of records, in words where it has any (``title`` and ``said``)."""
    return str(group.get("title") or group["column"]), str(group.get("said") or group["category"])
