"""What a fit assumes of masking: which values can have become which ones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.certificates.checking.fields import Fields, listed, text
from linkrisk.solver.run.errors import UsageError

_NO_METHOD = "none"
"""Among the methods: that nothing else is known of masking."""


@dataclass(frozen=True)
class Recodings:
    """What masking is claimed to have made of the values of an attribute: an assumption, never checked.

    Attributes
    ----------
    attribute : str
    masking : str
        What the method is called; free text.
    possible : tuple of str
        Of a categorical attribute: for each category of the schema, a 1 for each category that it can have
        become and a 0 for others.
    steps : tuple of (float, float or None)
        Of numbers, or of places of categories: from which one on they are compared as which, ascending; None
        where as they are. Values below the first step belong to it.
    """

    attribute: str
    masking: str
    possible: tuple[str, ...] = ()
    steps: tuple[tuple[float, float | None], ...] = ()


def read_recodings(fields: Fields, sizes: Mapping[str, int]) -> tuple[Recodings, ...]:
    """Read the tables of possible recodings; none where the fit names none.

    Parameters
    ----------
    fields : Fields
        The JSON of a fit or of a certificate.
    sizes : mapping of str to int
        How many categories each attribute has, 0 where it is numeric.

    Raises
    ------
    UsageError
        If they are malformed.
    """
    found: list[Recodings] = []
    for item in _optional(fields, "recodings"):
        row = Fields(item, f"{fields.where}, recodings")
        name = row.text("attribute")
        if name not in sizes or any(known.attribute == name for known in found):
            raise UsageError(f"{row.where}: {name} must be an attribute of the fit, once")
        found.append(_entry(row, name, sizes[name]))
    methods = [text(item, f"{fields.where}, masking") for item in _optional(fields, "masking")]
    if set(methods) - {_NO_METHOD} != {entry.masking for entry in found}:
        raise UsageError(f"{fields.where}, masking must name the methods of recodings")
    return tuple(found)


def recoded(values: FloatArray, steps: tuple[tuple[float, float | None], ...]) -> FloatArray:
    """Original values of an attribute as they are compared; NaN, a missing one, stays."""
    begins = [begin for begin, _ in steps]
    compared = values.copy()
    for row in np.flatnonzero(~np.isnan(values)).tolist():
        becomes = steps[max(0, bisect_right(begins, values[row]) - 1)][1]
        if becomes is not None:
            compared[row] = becomes
    return compared


def _entry(row: Fields, name: str, size: int) -> Recodings:
    masking = row.text("masking")
    if not size or row.get("steps") is not None:
        return Recodings(name, masking, steps=_steps(row, name, size))
    if row.get("becomes") is not None:
        return Recodings(name, masking, _becomes(row, name, size))
    possible = tuple(text(line, row.where) for line in row.listed("possible"))
    if len(possible) != size or any(len(line) != size or set(line) - {"0", "1"} for line in possible):
        raise UsageError(f"{row.where}: {name} needs {size} texts of {size} digits 0 or 1")
    return Recodings(name, masking, possible)


def _becomes(row: Fields, name: str, size: int) -> tuple[str, ...]:
    """The table of a map of categories: to one place each, or to any where that is -1."""
    places = row.listed("becomes")
    if len(places) != size or any(type(place) is not int or not -1 <= place < size for place in places):
        raise UsageError(f"{row.where}: {name} needs {size} places of categories, or -1")
    lines = {place: "0" * place + "1" + "0" * (size - 1 - place) for place in set(places) if place >= 0}
    return tuple(lines.get(place, "1" * size) for place in places)


def _steps(row: Fields, name: str, size: int) -> tuple[tuple[float, float | None], ...]:
    found: list[tuple[float, float | None]] = []
    for step in row.listed("steps"):
        if not isinstance(step, list) or len(step) != 2 or not _is_number(step[0]):
            raise UsageError(f"{row.where}: each step of {name} must be a number and what it becomes")
        begin, becomes = step
        if not (becomes is None or _is_number(becomes)) or (found and float(begin) <= found[-1][0]):
            raise UsageError(f"{row.where}: the steps of {name} must be numbers, ascending")
        found.append((float(begin), None if becomes is None else float(becomes)))
    if not found:
        raise UsageError(f"{row.where}: {name} needs at least one step")
    if size and any(to is not None and to not in range(size) for _, to in found):
        raise UsageError(f"{row.where}: the steps of {name} must lead to places of categories")
    return tuple(found)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _optional(fields: Fields, key: str) -> list[Any]:
    return listed(fields.value(key), f"{fields.where}, {key}") if fields.get(key) is not None else []
