"""Values that are no words already, as a protocol has them: what each has to be, and how it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import parse_names

Reader = Callable[[Any], Any]


class NotSoError(ValueError):
    """A value is not what it should be; the message says what that is.

    Where it is part of a longer `word`, this is the part.
    """

    def __init__(self, what: str, word: str | None = None) -> None:
        super().__init__(what)
        self.word = word


def plain(value: Any) -> Any:
    """A value as a protocol has it."""
    return list(value) if isinstance(value, tuple) else value


def text(value: Any) -> str:
    """A text."""
    if not isinstance(value, str) or not value:
        raise NotSoError("a text in quotes")
    return value


def texts(value: Any) -> list[str]:
    """A text, or a list of some."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not found or not all(isinstance(one, str) and one for one in found):
        raise NotSoError('a text in quotes, or a list of them, ["...", "..."]')
    return found


def columns(value: Any) -> list[str]:
    """Names of columns; an empty list is one, too."""
    return [] if value == [] else texts(value)


def whole(value: Any) -> int:
    """A whole number; as text, too, as few programs read one of many digits."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise NotSoError("a whole number")
    return value


def number(value: Any) -> float:
    """A number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotSoError("a number")
    return float(value)


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise NotSoError("true or false")
    return value


def limit(value: Any) -> float | None:
    """Seconds, or ``"none"``."""
    if value == "none":
        return None
    try:
        return number(value)
    except NotSoError:
        raise NotSoError('a number of seconds, or "none"') from None


def table(of: Reader) -> Reader:
    """A table whose values are read so."""

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise NotSoError("a table, { name = ... }")
        return {key: of(item) for key, item in value.items()}

    return read


def tables(value: Any) -> dict[tuple[str, ...], float | None]:
    """Tables by their key variables, ``"A,B"`` or ``"A,B=N"``."""
    found: dict[tuple[str, ...], float | None] = {}
    for one in texts(value):
        names, mark, limit_text = one.rpartition("=")
        try:
            found[parse_names(names if mark else one)] = float(limit_text) if mark else None
        except (DataError, ValueError):
            raise NotSoError('a list of tables, ["A,B", "A,C=N"], N being a threshold') from None
    return found


def threshold(value: Any) -> float | dict[int, float]:
    """A number, or numbers by dimension."""
    if not isinstance(value, dict):
        return number(value)
    return {whole(size): number(one) for size, one in value.items()}
