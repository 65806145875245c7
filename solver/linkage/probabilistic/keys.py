"""Keys of passes: columns, their truncations and phonetic codes, and the values that records have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import jellyfish
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.solver.linkage.linker import LinkageTask
from linkrisk.solver.linkage.probabilistic.coding import as_text
from linkrisk.solver.run.errors import UsageError

_KEY = re.compile(
    r"\s*(?:(?P<function>[A-Za-z_]\w*)\(\s*)?"
    r'(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[^\s,"()\[\]](?:[^,"()\[\]]*[^\s,"()\[\]])?))'
    r"(?(function)\s*\))\s*"
    r"(?:\[\s*(?P<start>-?\d+)?\s*:\s*(?P<stop>-?\d+)?\s*\]\s*)?(?P<end>,|$)"
)
"""A key with its function, truncation and separator; columns may be in double quotes."""

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
"""Functions of a value before it is compared. An empty text is a missing value."""


@dataclass(frozen=True)
class Key:
    """A column, or something made of it."""

    column: str
    function: str | None = None  # one of `FUNCTIONS`
    start: int | None = None  # the characters that count, as in a Python slice; after the function
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
    """Keys that all have to agree for a pair of records to be compared."""

    keys: tuple[Key, ...]  # at least one

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are needed, each once."""
        return tuple(dict.fromkeys(key.column for key in self.keys))

    def __str__(self) -> str:
        return ",".join(str(key) for key in self.keys)


def parse_pass(text: str) -> Pass:
    """Read the keys of a pass, separated by commas."""
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


def joint_codes(first: pd.Series, second: pd.Series) -> tuple[LongArray, LongArray, NDArray[np.object_]]:
    """The distinct known values of two columns, and which of them each row has, -1 where missing.

    Numbers are compared as numbers where both columns hold them, else both as text.
    """
    if all(pd.api.types.is_numeric_dtype(column) for column in (first, second)):
        values = np.concatenate([column.to_numpy(np.float64, na_value=np.nan) for column in (first, second)])
    else:
        values = np.concatenate([_text(column) for column in (first, second)])
    code, distinct = pd.factorize(values)
    return code[: len(first)], code[len(first) :], np.asarray(distinct, dtype=object)


def _text(column: pd.Series) -> NDArray[np.object_]:
    """Values as text, None where missing; each distinct one is turned into text once."""
    code, distinct = pd.factorize(column)
    text = as_text(pd.Series(distinct)).to_numpy(dtype=object)
    found: NDArray[np.object_] = np.concatenate([text, [None]])[code]
    return found


def pass_codes(task: LinkageTask, one: Pass) -> tuple[LongArray, LongArray]:
    """A number for each query and candidate, equal where all keys of the pass agree; -1 without a value."""
    queries = len(task.queries)
    together = np.zeros(queries + len(task.candidates), dtype=np.int64)
    known = np.ones(together.size, dtype=np.bool_)
    for key in one.keys:
        code = _checked_codes(task, key, one)
        known &= code >= 0
        # Numbered anew after each key, so that the product of two never overflows.
        together, _ = pd.factorize(together * (int(code.max()) + 1) + code)
    together[~known] = -1
    return together[:queries], together[queries:]


def key_codes(task: LinkageTask, key: Key) -> tuple[LongArray, LongArray]:
    """A number for each query and each candidate, equal where the key agrees; -1 where it has no value."""
    columns = [frame[key.column] for frame in (task.queries, task.candidates)]
    if key.plain:
        return joint_codes(columns[0], columns[1])[:2]
    code, distinct = pd.factorize(np.concatenate([_text(column) for column in columns]))
    code = np.append(_numbered([key.of(text) for text in distinct]), -1)[code]
    return code[: len(columns[0])], code[len(columns[0]) :]


def _checked_codes(task: LinkageTask, key: Key, one: Pass) -> LongArray:
    """The numbers of both files one after the other; UsageError where a key cannot be used."""
    for frame, source in zip((task.queries, task.candidates), task.sources, strict=True):
        if key.column not in frame.columns:
            raise UsageError(f"pass '{one}': {key.column!r} is not a column of {source}; both files need it")
    codes = key_codes(task, key)
    for code, source in zip(codes, task.sources, strict=True):
        if not (code >= 0).any():
            hint = "dates are read when written like 1975-12-31 or 19751231"
            fix = hint if key.function in ("year", "month", "day") else "use another key"
            raise UsageError(f"pass '{one}': no record of {source} has a value of {str(key)!r}; {fix}")
    return np.concatenate(codes)


def _numbered(texts: Sequence[str]) -> LongArray:
    """The same number for the same text, -1 for none."""
    code, _ = pd.factorize(np.array([text or None for text in texts], dtype=object))
    return code.astype(np.int64)
