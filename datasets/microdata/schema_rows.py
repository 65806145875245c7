"""The attributes of a schema as plain dictionaries: written, and read strictly."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.missing import Missing, MissingRange
from linkrisk.datasets.microdata.numeric import suggestion
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.scales import Scale

_Kind = TypeVar("_Kind", bound=StrEnum)


def attribute_row(fields: Mapping[str, Any]) -> dict[str, Any]:
    """An attribute as a dictionary of text, lists and dictionaries; what is not declared is left out.

    Parameters
    ----------
    fields : mapping
        The fields of `schema.Attribute` by name.
    """
    hierarchy = fields["hierarchy"]
    row = {
        "name": fields["name"],
        "role": None if fields["role"] is None else fields["role"].value,
        "scale": None if fields["scale"] is None else fields["scale"].value,
        "form": fields["form"],
        "label": fields["label"] or None,
        "categories": None if fields["categories"] is None else list(fields["categories"]),
        "labels": dict(fields["labels"]) or None,
        "missing": [_range_row(each) for each in fields["missing"]] or None,
        "hierarchy": None if hierarchy is None else {code: list(up) for code, up in hierarchy.rows().items()},
    }
    return {key: value for key, value in row.items() if value is not None}


def _range_row(missing: str | MissingRange) -> str | dict[str, float]:
    if isinstance(missing, str):
        return missing
    ends = {"from": missing.low, "to": missing.high}
    return {key: value for key, value in ends.items() if math.isfinite(value)}


def read_rows(data: Mapping[str, Any], folder: Path | None = None) -> list[dict[str, Any]]:
    """The fields of every attribute of a schema.

    Parameters
    ----------
    data : mapping
        With a list under ``attributes``.
    folder : Path, optional
        Where files of hierarchies are; without it none is opened.

    Raises
    ------
    DataError
        If a part is missing, unknown or not of the expected kind; the message names attribute and key.
    """
    for key in data:
        if key != "attributes":
            raise DataError(f'the schema has an unknown key {key!r}; it has a list under "attributes" only')
    rows = data.get("attributes")
    if not isinstance(rows, list):
        raise DataError('a schema needs a list under "attributes"')
    return [_fields(row, position, folder) for position, row in enumerate(rows, start=1)]


def _fields(row: object, position: int, folder: Path | None) -> dict[str, Any]:
    if not isinstance(row, Mapping) or not isinstance(row.get("name"), str):
        raise DataError(f'attribute {position} of the schema needs a "name"')
    name = row["name"]
    what = f"attribute {name!r} of the schema"
    fields: dict[str, Any] = {"name": name}
    for key, value in row.items():
        if key == "name":
            continue
        if key == "hierarchy":
            fields[key] = _hierarchy(value, name, what, folder)
        elif key in _READERS:
            fields[key] = _READERS[key](value, what)
        else:
            raise DataError(f"{what} has an unknown key {key!r}{suggestion(key, ('name', *ATTRIBUTE_KEYS))}")
    return fields


def _role(value: object, what: str) -> Role:
    return _member(Role, value, what)


def _scale(value: object, what: str) -> Scale:
    return _member(Scale, value, what)


def _member(kind: type[_Kind], value: object, what: str) -> _Kind:
    try:
        return kind(str(value))
    except ValueError:
        known = ", ".join(member.value for member in kind)
        raise DataError(f"{what}: unknown {kind.__name__.lower()} {value!r}; use one of {known}") from None


def _form(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise DataError(f'{what}: form must be text such as "DD.MM.YYYY", not {value!r}')
    return value


def _label(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise DataError(f"{what}: label must be text, not {value!r}")
    return value


def _categories(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise DataError(f"{what}: categories must be a list of codes")
    return tuple(_code(each, f"{what}: categories") for each in value)


def _labels(value: object, what: str) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for text in value.values()):
        raise DataError(f"{what}: labels must give each code a text")
    return dict(value)


def _missing(value: object, what: str) -> Missing:
    if not isinstance(value, list):
        raise DataError(f'{what}: missing must be a list of codes, or of ranges such as {{"from": 97}}')
    return tuple(
        _range(each, what) if isinstance(each, Mapping) else _code(each, f"{what}: missing") for each in value
    )


def _range(value: Mapping[str, Any], what: str) -> MissingRange:
    for key, end in value.items():
        if key not in ("from", "to"):
            raise DataError(f"{what}: a range of missing codes has from and to, not {key!r}")
        if isinstance(end, bool) or not isinstance(end, int | float):
            raise DataError(f"{what}: missing, {key} must be a number, not {end!r}")
    try:
        return MissingRange(float(value.get("from", -math.inf)), float(value.get("to", math.inf)))
    except (DataError, OverflowError) as error:
        raise DataError(f"{what}: missing: {error}") from None


def _code(value: object, what: str) -> str:
    """A code as it is spelled in a file: text, or a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise DataError(f"{what} must be codes as text, such as {str(value)!r}, not {value!r}")
    return value


def _hierarchy(value: object, name: str, what: str, folder: Path | None) -> Hierarchy:
    """From each category with its levels, or from a CSV file in the folder of the schema."""
    if isinstance(value, str):
        if folder is None:
            raise DataError(f"{what}: hierarchy names the file {value!r}; only a schema file can do that")
        return Hierarchy.read(name, folder / value)
    if not isinstance(value, Mapping):
        raise DataError(f"{what}: hierarchy must be a file name, or give each category a list of levels")
    rows = {}
    for code, levels in value.items():
        if not isinstance(levels, list):
            raise DataError(f"{what}: hierarchy, category {code!r} needs a list of levels")
        rows[code] = tuple(_code(level, f"{what}: hierarchy, levels of {code!r}") for level in levels)
    return Hierarchy.from_rows(name, rows)


_READERS: Mapping[str, Callable[[object, str], Any]] = MappingProxyType(
    {
        "role": _role,
        "scale": _scale,
        "form": _form,
        "label": _label,
        "categories": _categories,
        "labels": _labels,
        "missing": _missing,
    }
)

ATTRIBUTE_KEYS = (*_READERS, "hierarchy")
"""What an attribute can have besides its name."""
