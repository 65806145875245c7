"""Reading the JSON that makes a claim: strictly, key by key, with messages that say where."""

from __future__ import annotations

import json
import math
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


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON object; keys that occur twice, NaN and very long numbers are refused."""
    try:
        content = Path(path).read_bytes()
        if len(content) > LARGEST_FILE:
            raise MalformedError(f"{path} is too large to be checked")
        found = json.loads(
            content.decode("utf-8"), object_pairs_hook=_once, parse_int=_whole, parse_constant=_constant
        )
    except OSError as error:
        raise MalformedError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"{path} is no JSON that can be checked: {error}") from None
    if not isinstance(found, dict):
        raise MalformedError(f"{path} holds no JSON object")
    return found


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
    """An object of the JSON.

    Parameters
    ----------
    content : dict
    where : str
        The file and the keys that lead here, for messages.
    """

    def __init__(self, content: Any, where: str) -> None:
        if not isinstance(content, dict):
            raise MalformedError(f"{where} must be a JSON object")
        self.content: dict[str, Any] = content
        self.where = where

    def get(self, key: str) -> Any:
        """The value of a key, None where it is missing."""
        return self.content.get(key)

    def _value(self, key: str) -> Any:
        if key not in self.content:
            raise MalformedError(f"{self.where} has no '{key}'")
        return self.content[key]

    def inner(self, key: str) -> Claim:
        """An object inside this one."""
        return Claim(self._value(key), f"{self.where}, {key}")

    def text(self, key: str) -> str:
        """A text."""
        return text(self._value(key), f"{self.where}, {key}")

    def whole(self, key: str) -> int:
        """A whole number."""
        return whole(self._value(key), f"{self.where}, {key}")

    def exact(self, key: str) -> Fraction:
        """A finite number, as the fraction that its double is."""
        return exact(self._value(key), f"{self.where}, {key}")

    def items(self, key: str) -> list[Any]:
        """A list."""
        return items(self._value(key), f"{self.where}, {key}")


def text(value: Any, where: str) -> str:
    """Demand a text."""
    if not isinstance(value, str):
        raise MalformedError(f"{where} must be a text")
    return value


def whole(value: Any, where: str) -> int:
    """Demand a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise MalformedError(f"{where} must be a whole number")
    return value


def exact(value: Any, where: str) -> Fraction:
    """Demand a number that a double can hold, and take it as the fraction that the double is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedError(f"{where} must be a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise MalformedError(f"{where} must be a finite number")
    return Fraction(number)


def items(value: Any, where: str, length: int | None = None) -> list[Any]:
    """Demand a list, of a length where one is given."""
    if not isinstance(value, list) or len(value) != (len(value) if length is None else length):
        raise MalformedError(f"{where} must be a list{'' if length is None else f' of {length}'}")
    return value


def wholes(value: Any, where: str, length: int | None = None) -> list[int]:
    """Demand a list of whole numbers, of a length where one is given."""
    return [whole(item, where) for item in items(value, where, length)]
