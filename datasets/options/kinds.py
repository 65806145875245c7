"""Kinds of options: how a value is read from the words of a command, and written as one again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import parse_names, parse_pair, shown_names, shown_pair
from linkrisk.datasets.options import typed
from linkrisk.datasets.options.typed import NotSoError, Reader
from linkrisk.datasets.options.typed import plain as typed_plain


@dataclass(frozen=True)
class Range:
    """Numbers that an option takes: finite ones within limits, of which `above` and `below` are left out."""

    least: float = -math.inf
    most: float = math.inf
    above: float = -math.inf
    below: float = math.inf
    whole: bool = False
    of: str = ""  # what is counted: ``seconds``

    def has(self, value: Any) -> bool:
        """Tell whether it is one of them."""
        number = isinstance(value, Integral if self.whole else Real) and not isinstance(value, bool)
        # not as doubles: whole numbers may be larger than any
        return bool(number and self.least <= value <= self.most and self.above < value < self.below)

    def __str__(self) -> str:
        """Describe them: ``a whole number of at least 1``."""
        least = "from" if math.isfinite(self.most) else "of at least"
        most = "to" if math.isfinite(self.least) else "and at most"
        ends = {"above": self.above, least: self.least, "and below": self.below, most: self.most}
        known = [f"{word} {end:.15g}" for word, end in ends.items() if math.isfinite(end)]
        return " ".join([f"a {'whole ' if self.whole else ''}number{self.of and f' of {self.of}'}", *known])


@dataclass(frozen=True)
class Kind:
    """How values are read and written."""

    # from one word of a command; raises NotSoError that says what the value must be, or a DataError with its
    # own message. None for a switch, which has no value
    parse: Callable[[str], Any] | None
    metavar: str = ""  # what to call the value in the help
    spell: Callable[[Any], str] = str  # from a value to the word that is read as it
    # from a value that is no word already, as a protocol has it; raises NotSoError
    typed: Reader = typed.text
    untyped: Callable[[Any], Any] = typed_plain  # from a value to what `typed` reads as it
    repeated: bool = False  # whether the option is given once for each of several values
    # what a form shows: ``text``, ``number``, ``choice``, ``radio`` (a choice, all of it in sight),
    # ``choices`` (several of them), ``file``, ``column``, ``columns`` or ``check``
    field: str = "text"
    shown: float = 1.0  # what a form shows for the number 1: 100 where it asks for percent
    written: bool = False  # whether the value names a file that is written
    # from all values of an option that is given once for each, to its value: a list, or a mapping
    together: Callable[[list[Any]], Any] = list
    apart: Callable[[Any], Iterable[Any]] = iter  # from that value to each again
    # from a value to all in it that must be choices, of an option that has some; None where a text may say
    # more than them
    chosen: Callable[[Any], Iterable[Any]] | None = None
    within: Range | None = None  # what a number must be

    def read(self, word: str) -> Any:
        """Read a word; DataError that says what it is not."""
        assert self.parse is not None
        try:
            return self.parse(word)
        except NotSoError as error:
            raise DataError(f"{error.word or word!r} is not {error}") from None


def whole(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError:
        raise NotSoError("a whole number", text) from None


def number(text: str) -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise NotSoError("a finite number", text)
    return value


def percent(text: str) -> float:
    """A finite number, with a percent sign at its end or without."""
    return number(text.removesuffix("%"))


def or_none(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """The same, where ``none`` stands for no value."""
    return lambda text: None if text == "none" else parse(text)


def names(text: str) -> list[str]:
    """Names separated by commas, where one that has a comma stands in double quotes."""
    return list(parse_names(text))


def words(text: str) -> list[str]:
    """A list separated by commas."""
    return [word.strip() for word in text.split(",")]


def _itself(value: Any) -> tuple[Any]:
    return (value,)


def _each(value: Sequence[Any] | str) -> Sequence[Any]:
    return words(value) if isinstance(value, str) else value


def _text_itself(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, str) else ()


def _joined(value: Sequence[str] | str) -> str:
    return value if isinstance(value, str) else ",".join(value)


def _shown_names(value: Sequence[str]) -> str:
    return shown_names(value, ",")


def _number_shown(value: Any) -> str:
    """As short as it can be read again."""
    if not isinstance(value, float):
        return "none" if value is None else str(value)
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


SWITCH = Kind(None, typed=typed.flag, field="check")
TEXT = Kind(str, "TEXT")
NAME = Kind(str, "NAME", field="choice", chosen=_itself)
OBJECT = replace(NAME, chosen=_text_itself)
"""A name, or in Python the object itself."""

OPEN = replace(TEXT, field="choice")
"""A choice, or a text that says more than these."""

NAMES = Kind(names, "A,B", _shown_names, typed.texts, field="columns")
COLUMN = Kind(str, "COLUMN", field="column")
WORDS = Kind(words, "A,B", _joined, typed.texts, field="choices", chosen=_each)
FAMILIES = Kind(str, "NAME", _joined, typed.texts, field="choice", chosen=_each)
FILE = Kind(str, "FILE", field="file")
WRITTEN = Kind(str, "FILE", field="", written=True)
WHOLE = Kind(whole, "N", typed=typed.whole, field="number", within=Range(whole=True))
NUMBER = Kind(number, "N", _number_shown, typed.number, field="number", within=Range())
SHARE = replace(NUMBER, within=Range(above=0, below=1))
COUNT = replace(WHOLE, within=Range(least=1, whole=True))
SIZE = replace(COUNT, parse=or_none(whole), spell=_number_shown)
SEED = replace(WHOLE, within=Range(0, 2**31 - 1, whole=True))
"""Seeds that optimisers take, too."""

DURATION = replace(NUMBER, within=Range(above=0, of="seconds"))
LIMIT = replace(DURATION, parse=or_none(number), typed=typed.limit)


def several(kind: Kind) -> Kind:
    """The same, given once for each value."""
    return replace(kind, repeated=True, typed=typed.texts)


def by_name(text: str, read: Callable[[str], Any] = str) -> list[tuple[str, Any]]:
    """``A=1,B=2`` as pairs."""
    found = []
    for word in parse_names(text):
        name, mark, value = word.rpartition("=")
        if not mark or not name.strip() or not value.strip():
            raise DataError(f"{word!r} is no pair; write NAME=NUMBER, separated by commas")
        found.append((name.strip(), read(value.strip())))
    return found


def pairs(form: str, read: Callable[[str], Any] = str) -> Kind:
    """A mapping, given as ``NAME=VALUE`` once for each name; `form` says how to write it: ``A=CODE``."""

    def parse(text: str) -> tuple[str, Any]:
        name, value = parse_pair(text)
        if not value:
            raise DataError(f"{text!r} is none; write {form}")
        return name, read(value)

    return Kind(
        parse,
        form,
        lambda pair: shown_pair(pair[0], str(pair[1])),
        typed.table(typed.text),
        repeated=True,
        together=dict,
        apart=dict.items,
        chosen=dict.values,
    )


def _gathered(given: list[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in given:
        found.setdefault(name, []).append(value)
    return found


def _one_by_one(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    listed = {name: each if isinstance(each, list | tuple) else [each] for name, each in value.items()}
    return [(name, one) for name, each in listed.items() for one in each]


TREES = replace(pairs("A=FILE"), together=_gathered, apart=_one_by_one)
"""Files by the column that they are about, of which there may be several."""

_ANSWERS = {"yes": True, "no": False}


def _answer(text: str) -> bool:
    if text not in _ANSWERS:
        raise NotSoError("yes or no")
    return _ANSWERS[text]


YES_NO = Kind(_answer, "yes|no", lambda value: "yes" if value else "no", typed.flag, field="choice")
"""A switch that may also be off: to say no is not to say nothing."""
