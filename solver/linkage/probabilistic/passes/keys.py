"""What a pass is: columns, their truncations and their phonetic codes, all of which have to agree."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import jellyfish

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import shown_name

_KEY = re.compile(
    r"\s*(?:(?P<function>[A-Za-z_]\w*)\(\s*)?"
    r'(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[^\s,"()\[\]](?:[^,"()\[\]]*[^\s,"()\[\]])?))'
    r"(?(function)\s*\))\s*"
    r"(?:\[\s*(?P<start>-?\d+)?\s*:\s*(?P<stop>-?\d+)?\s*\]\s*)?(?P<end>,|$)"
)
"""A key with its function and its truncation, and what ends it; columns may stand in double quotes."""

_DATE = re.compile(r"\s*(?P<year>\d{4})(?:-(?P<month>\d\d?)-(?P<day>\d\d?)\b.*|(?P<m>\d\d)(?P<d>\d\d)\s*$)")
_EXAMPLE = "surname, soundex(surname), surname[:3] or year(birth_date)"


def _phonetic(code: Callable[[str], str]) -> Callable[[str], str]:
    """The code of the letters of a text, nothing where it has none."""

    def of_letters(text: str) -> str:
        letters = "".join(letter for letter in text if letter.isalpha())
        return code(letters) if letters else ""

    return of_letters


def _of_date(part: str, short: str) -> Callable[[str], str]:
    """A part of a date written as 1975-12-31 or 19751231, nothing where it is written otherwise."""

    def of_text(text: str) -> str:
        found = _DATE.match(text)
        if found is None:
            return ""
        return str(int(found[part] or found[short]))

    return of_text


FUNCTIONS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "soundex": _phonetic(jellyfish.soundex),
        "metaphone": _phonetic(jellyfish.metaphone),
        "nysiis": _phonetic(jellyfish.nysiis),
        "lower": str.lower,
        "year": _of_date("year", "year"),
        "month": _of_date("month", "m"),
        "day": _of_date("day", "d"),
    }
)
"""What can be made of a value before it is compared. An empty text is a missing value."""


@dataclass(frozen=True)
class Key:
    """A column, or something made of it.

    Attributes
    ----------
    column : str
    function : str, optional
        One of `FUNCTIONS`.
    start, stop : int, optional
        The characters that count, as in a Python slice; after the function.
    """

    column: str
    function: str | None = None
    start: int | None = None
    stop: int | None = None

    @property
    def plain(self) -> bool:
        """Whether values are taken as they are."""
        return self.function is None and self.start is None and self.stop is None

    def of(self, text: str) -> str:
        """The key of a value; empty where it has none."""
        made = text if self.function is None else FUNCTIONS[self.function](text)
        return made[self.start : self.stop]

    def __str__(self) -> str:
        special = any(mark in self.column for mark in '()[]"') or self.column != self.column.strip()
        name = '"' + self.column.replace('"', '""') + '"' if special else shown_name(self.column)
        made = name if self.function is None else f"{self.function}({name})"
        if self.start is None and self.stop is None:
            return made
        ends = ("" if end is None else str(end) for end in (self.start, self.stop))
        return f"{made}[{':'.join(ends)}]"


@dataclass(frozen=True)
class Pass:
    """Keys that all have to agree for a pair of records to be compared.

    Attributes
    ----------
    keys : tuple of Key
        At least one.
    """

    keys: tuple[Key, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are needed, each once."""
        return tuple(dict.fromkeys(key.column for key in self.keys))

    def __str__(self) -> str:
        return ",".join(str(key) for key in self.keys)


def parse_pass(text: str) -> Pass:
    """Read the keys of a pass, separated by commas.

    Parameters
    ----------
    text : str
        Such as ``soundex(surname),year(birth_date)`` or ``surname[:3],postcode``. A column with a comma,
        bracket or parenthesis stands in double quotes, inside which a double quote is written twice.

    Raises
    ------
    DataError
        If it is something else, names an unknown function or the same key twice.
    """
    keys: list[Key] = []
    at, ended = 0, False
    while not ended:
        found = _KEY.match(text, at)
        if found is None:
            raise DataError(
                f"{text!r} is not a list of keys: {text[at:].strip() or 'nothing'!r} is not one; write keys "
                f"like {_EXAMPLE}, separated by commas"
            )
        key = _key(found, text)
        if key in keys:
            raise DataError(f"pass {text!r} has the key {str(key)!r} twice; leave one out")
        keys.append(key)
        at, ended = found.end(), not found["end"]
    return Pass(tuple(keys))


def _key(found: re.Match[str], text: str) -> Key:
    function = found["function"]
    if function is not None and function not in FUNCTIONS:
        raise DataError(f"unknown function {function!r} in pass {text!r}; use one of {', '.join(FUNCTIONS)}")
    column = found["plain"] if found["quoted"] is None else found["quoted"].replace('""', '"')
    ends = [None if found[end] is None else int(found[end]) for end in ("start", "stop")]
    key = Key(column, function, *ends)
    if key.stop == 0 or (None not in ends and (key.start or 0) >= 0 <= (key.stop or 0) <= (key.start or 0)):
        raise DataError(
            f"the key {str(key)!r} of pass {text!r} keeps no character; write it like {column}[:3]"
        )
    return key
