"""Reading the JSON of a fit and of a certificate: what is malformed is a usage error that says where."""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from linkrisk.datasets.microdata.strict_json import AmbiguousError, parse
from linkrisk.solver.run.errors import UsageError

_Value = TypeVar("_Value")


LARGEST_FILE = 1 << 28
"""Bytes of a file that is read."""

MOST_ITEMS = 1 << 24
"""Commas and brackets in it: at sixty bytes a value, what is read stays far below two gigabytes."""


def read_object(path: str | Path, writer: str) -> dict[str, Any]:
    """Read a JSON object from a file that anybody may have written.

    Parameters
    ----------
    path : str or Path
        Compressed where its name ends with ``.gz``.
    writer : str
        The command that writes such a file, for messages: ``fit --json``.

    Raises
    ------
    UsageError
        If the file cannot be read, is too large, no JSON object, or ambiguous (`strict_json`).
    """
    hint = f"give the file that `{writer}` wrote"
    try:
        with gzip.open(path) if str(path).endswith(".gz") else Path(path).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except (EOFError, zlib.error):
        raise UsageError(f"{path} is not a whole gzip file; {hint}") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"{path} cannot be read: {reason}; {hint}") from None
    if len(content) > LARGEST_FILE or sum(map(content.count, (b",", b"[", b"{"))) > MOST_ITEMS:
        raise UsageError(f"{path} is too large to be checked; {hint}")
    try:
        found = parse(content)
    except AmbiguousError as error:
        raise UsageError(f"{path} cannot be used: {error}; {hint}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not valid JSON; {hint}") from None
    if not isinstance(found, dict):
        raise UsageError(f"{path} does not hold a JSON object; {hint}")
    return found


class Fields:
    """An object of the JSON, read key by key.

    Parameters
    ----------
    content : dict
    where : str
        The file and the keys that led here, for messages.
    """

    def __init__(self, content: Any, where: str) -> None:
        if not isinstance(content, dict):
            raise UsageError(f"{where} must be a JSON object")
        self._content = content
        self.where = where

    def value(self, key: str) -> Any:
        """What the key holds; UsageError when it is missing."""
        if key not in self._content:
            raise UsageError(f"{self.where} has no '{key}': it was not written by this version of `fit`")
        return self._content[key]

    def get(self, key: str) -> Any:
        """What the key holds, None when it is missing."""
        return self._content.get(key)

    def keys(self) -> list[str]:
        """The keys, in their order."""
        return list(self._content)

    def given(self) -> dict[str, Any]:
        """All that is not null."""
        return {key: value for key, value in self._content.items() if value is not None}

    def inner(self, key: str) -> Fields:
        """An object within this one."""
        return Fields(self.value(key), f"{self.where}, {key}")

    def _typed(self, key: str, read: Callable[[Any, str], _Value]) -> _Value:
        return read(self.value(key), f"{self.where}, {key}")

    def text(self, key: str) -> str:
        """A text."""
        return self._typed(key, text)

    def whole(self, key: str) -> int:
        """A whole number."""
        return self._typed(key, whole)

    def real(self, key: str) -> float:
        """A finite number."""
        return self._typed(key, real)

    def listed(self, key: str) -> list[Any]:
        """A list."""
        return self._typed(key, listed)


def text(value: Any, where: str) -> str:
    """`value`, if it is a text that can be written out."""
    if not isinstance(value, str):
        raise UsageError(f"{where} must be text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(f"{where} holds an unpaired surrogate") from None
    return value


def whole(value: Any, where: str) -> int:
    """`value`, if it is a whole number (of any size)."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{where} must be a whole number")
    return value


def real(value: Any, where: str) -> float:
    """`value` as a double, if it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{where} must be a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UsageError(f"{where} must be a finite number")
    return number


def listed(value: Any, where: str) -> list[Any]:
    """`value`, if it is a list."""
    if not isinstance(value, list):
        raise UsageError(f"{where} must be a list")
    return value


def wholes(value: Any, where: str, length: int | None = None) -> list[int]:
    """`value`, if it is a list of whole numbers, as many as `length` says."""
    numbers = [whole(item, where) for item in listed(value, where)]
    if length is not None and len(numbers) != length:
        raise UsageError(f"{where} must hold {length} whole numbers, not {len(numbers)}")
    return numbers


def reals(value: Any, where: str, length: int) -> list[float]:
    """`value` as doubles, if it is a list of as many finite numbers as `length` says."""
    numbers = [real(item, where) for item in listed(value, where)]
    if len(numbers) != length:
        raise UsageError(f"{where} must hold {length} numbers, not {len(numbers)}")
    return numbers
