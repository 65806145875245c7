"""Reading the JSON that makes a claim: strictly, key by key, with messages that say where."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

LARGEST_FILE = 1 << 28
"""Bytes of a JSON file that is read."""

LONGEST_NUMBER = 2_000
"""Digits of a number in it."""


class MalformedError(Exception):
    """A file that is not what it should be; the message says where."""


class RejectedError(Exception):
    """A claim that is false or not proven; the message says which."""


def demand(holds: bool, message: str) -> None:
    """Reject the claim unless a condition holds."""
    if not holds:
        raise RejectedError(message)


def require(holds: bool, message: str) -> None:
    """Refuse the file unless a condition holds."""
    if not holds:
        raise MalformedError(message)


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON object; keys that occur twice, NaN and very long numbers are refused."""
    try:
        content = Path(path).read_bytes()
        require(len(content) <= LARGEST_FILE, f"{path} is too large to be checked")
        found = json.loads(
            content.decode("utf-8"), object_pairs_hook=_once, parse_int=_whole, parse_constant=_constant
        )
    except OSError as error:
        raise MalformedError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"{path} is no JSON that can be checked: {error}") from None
    require(isinstance(found, dict), f"{path} holds no JSON object")
    return found  # type: ignore[no-any-return]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _whole(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise ValueError("a number is too long")
    return int(text)


def _constant(text: str) -> float:
    raise ValueError(f"{text} is no number")


class Claim:
    """An object of the JSON; `where` is the file and the keys that lead here, for messages."""

    def __init__(self, content: Any, where: str) -> None:
        require(isinstance(content, dict), f"{where} must be a JSON object")
        self.content: dict[str, Any] = content
        self.where = where

    def get(self, key: str) -> Any:
        """The value of a key, None where it is missing."""
        return self.content.get(key)

    def value(self, key: str) -> Any:
        """The value of a key that must be there."""
        require(key in self.content, f"{self.where} has no '{key}': it was not written by this version")
        return self.content[key]

    def inner(self, key: str) -> Claim:
        """An object inside this one."""
        return Claim(self.value(key), f"{self.where}, {key}")

    def text(self, key: str) -> str:
        """A text."""
        return text(self.value(key), f"{self.where}, {key}")

    def whole(self, key: str) -> int:
        """A whole number."""
        return whole(self.value(key), f"{self.where}, {key}")

    def exact(self, key: str) -> Fraction:
        """A finite number, as the fraction that its double is."""
        return exact(self.value(key), f"{self.where}, {key}")

    def items(self, key: str) -> list[Any]:
        """A list."""
        return items(self.value(key), f"{self.where}, {key}")


def text(value: Any, where: str) -> str:
    """Demand a text that can be printed."""
    require(isinstance(value, str), f"{where} must be text")
    surrogate = any("\ud800" <= sign <= "\udfff" for sign in value)
    require(not surrogate, f"{where} holds an unpaired surrogate")
    return value  # type: ignore[no-any-return]


def whole(value: Any, where: str) -> int:
    """Demand a whole number."""
    require(type(value) is int, f"{where} must be a whole number")
    return value  # type: ignore[no-any-return]


def exact(value: Any, where: str) -> Fraction:
    """Demand a number that a double can hold, and take it as the fraction that the double is."""
    require(type(value) in (int, float), f"{where} must be a number")
    try:
        return Fraction(float(value))
    except (OverflowError, ValueError):
        raise MalformedError(f"{where} must be a finite number") from None


def items(value: Any, where: str, length: int | None = None) -> list[Any]:
    """Demand a list, of a length where one is given."""
    require(isinstance(value, list), f"{where} must be a list")
    require(length in (None, len(value)), f"{where} must hold {length} items, not {len(value)}")
    return value  # type: ignore[no-any-return]


def wholes(value: Any, where: str, length: int | None = None) -> list[int]:
    """Demand a list of whole numbers, of a length where one is given."""
    return [whole(item, where) for item in items(value, where, length)]
