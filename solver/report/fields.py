"""Checked reading of a result's JSON: what is missing or of another kind is one line that names the key."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn, TypeGuard

from linkrisk.solver.run.errors import UsageError


def is_number(value: object) -> TypeGuard[int | float]:
    """Say whether a JSON value is a finite number; true and false are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


class Fields:
    """A JSON object whose values are read by kind.

    Parameters
    ----------
    data
        The object, as `json.load` gives it.
    path
        Where it lies in the whole result, such as ``"parameters."``; part of the messages.

    Raises
    ------
    UsageError
        By every reading method, when the key is missing or its value is of another kind.
    """

    def __init__(self, data: Mapping[str, object], path: str = "") -> None:
        self._data = data
        self._path = path

    def __contains__(self, key: object) -> bool:
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def value(self, key: str) -> object:
        """Return the value of any kind."""
        if key not in self._data:
            raise UsageError(f"the result has no '{self._path}{key}': give the JSON that `fit --json` wrote")
        return self._data[key]

    def text(self, key: str) -> str:
        """Return a string."""
        value = self.value(key)
        return value if isinstance(value, str) else self._refuse(key, "a text")

    def number(self, key: str) -> float:
        """Return a finite number."""
        value = self.value(key)
        return value if is_number(value) else self._refuse(key, "a number")

    def optional_number(self, key: str) -> float | None:
        """Return a finite number, or nothing for null."""
        return None if self.value(key) is None else self.number(key)

    def nested(self, key: str) -> Fields:
        """Return a nested object."""
        value = self.value(key)
        if not isinstance(value, Mapping):
            self._refuse(key, "an object")
        return Fields(value, f"{self._path}{key}.")

    def optional_nested(self, key: str) -> Fields | None:
        """Return a nested object, or nothing for null."""
        return None if self.value(key) is None else self.nested(key)

    def numbers(self, key: str) -> dict[str, float]:
        """Return an object whose values are all numbers."""
        inner = self.nested(key)
        return {name: inner.number(name) for name in inner}

    def optional_numbers(self, key: str) -> dict[str, float | None]:
        """Return an object whose values are all numbers, or nothing for null."""
        inner = self.nested(key)
        return {name: inner.optional_number(name) for name in inner}

    def texts(self, key: str) -> list[str]:
        """Return a list of strings."""
        return [v if isinstance(v, str) else self._refuse(key, "a list of texts") for v in self.sequence(key)]

    def sequence(self, key: str) -> Sequence[object]:
        """Return a list of anything."""
        value = self.value(key)
        return value if _is_list(value) else self._refuse(key, "a list")

    def rows(self, key: str, width: int) -> list[Sequence[object]]:
        """Return a list of lists of `width` items each."""
        return [
            row
            if _is_list(row) and len(row) == width
            else self._refuse(f"{key}[{i}]", f"a list of {width} values")
            for i, row in enumerate(self.sequence(key))
        ]

    def matrix(self, key: str, size: int) -> list[list[float]]:
        """Return a square matrix of numbers."""
        rows = self.rows(key, size)
        if len(rows) != size:
            self._refuse(key, f"a list of {size} rows")
        return [
            [v if is_number(v) else self._refuse(key, "a matrix of numbers") for v in row] for row in rows
        ]

    def _refuse(self, key: str, wanted: str) -> NoReturn:
        raise UsageError(
            f"the result's '{self._path}{key}' is not {wanted}: give the JSON that `fit --json` wrote"
        )


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str)
