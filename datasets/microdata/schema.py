"""Schema of a table: roles, scales, codes, labels, missing codes and hierarchies of its columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypeVar

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.dates import DATE_FORMS, only_form
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.missing import Missing, MissingRange, overlapping
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.microdata.numeric import check_no_duplicates, suggestion
from linkrisk.datasets.microdata.role_recognition import recognised_role
from linkrisk.datasets.microdata.roles import CATEGORICAL, NAMES_RECORDS, ROLE_WORDS
from linkrisk.datasets.microdata.roles import Role as Role
from linkrisk.datasets.microdata.roles import Scale as Scale

_Kind = TypeVar("_Kind", bound=StrEnum)


def attribute_row(fields: Mapping[str, Any]) -> dict[str, Any]:
    """An attribute as a dictionary of text, lists and dictionaries; what is not declared is left out."""
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
    """The fields of every attribute of a schema."""
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


def _member(kind: type[_Kind], value: object, what: str) -> _Kind:
    try:
        return kind(str(value))
    except ValueError:
        known = ", ".join(member.value for member in kind)
        raise DataError(f"{what}: unknown {kind.__name__.lower()} {value!r}; use one of {known}") from None


def _text(what_it_is: str, value: object, what: str) -> str:
    if not isinstance(value, str):
        raise DataError(f"{what}: {what_it_is}, not {value!r}")
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
        "role": partial(_member, Role),
        "scale": partial(_member, Scale),
        "form": partial(_text, 'form must be text such as "DD.MM.YYYY"'),
        "label": partial(_text, "label must be text"),
        "categories": _categories,
        "labels": _labels,
        "missing": _missing,
    }
)

ATTRIBUTE_KEYS = (*_READERS, "hierarchy")
"""What an attribute can have besides its name."""


@dataclass(frozen=True)
class Attribute:
    """One column: its name, and what is declared of it.

    Attributes
    ----------
    name : str
        The column name.
    role : Role, optional
        What it is in disclosure control; None where nothing is declared.
    scale : Scale, optional
        How its values can be compared; None where the values decide.
    categories : tuple of str, optional
        All codes it can take; of an ordinal attribute in ascending order, and required there.
    label : str
        What the column is about, in words.
    labels : mapping of str to str
        What codes mean, in words.
    missing : tuple of str or MissingRange
        Codes that stand for a missing value.
    hierarchy : Hierarchy, optional
        Ever coarser groups of its codes.
    form : str, optional
        How its dates are written (`dates.DATE_FORMS`), where they do not tell themselves.

    Raises
    ------
    DataError
        If the name is empty, or parts do not go together.

    Examples
    --------
    >>> from linkrisk.data import Attribute, Role
    >>> Attribute("town", Role.KEY).role
    <Role.KEY: 'key'>
    """

    name: str
    role: Role | None = None
    scale: Scale | None = None
    categories: tuple[str, ...] | None = None
    label: str = ""
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    missing: Missing = ()
    hierarchy: Hierarchy | None = None
    form: str | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise DataError("an attribute of the schema has no name; give it the name of its column")
        what = f"attribute {self.name!r}"
        if self.form is not None and self.scale is not Scale.DATE:
            raise DataError(f'{what} has the form of dates and another scale; say scale = "date"')
        if self.form is not None and self.form not in DATE_FORMS:
            raise DataError(
                f"{what}: unknown form of dates {self.form!r}; use one of {', '.join(DATE_FORMS)}"
            )
        if self.scale is Scale.ORDINAL and not self.categories:
            raise DataError(f"{what} is ordinal; list its categories in ascending order")
        if self.categories is not None:
            self._check_categories(what, self.categories)
        if self.hierarchy is not None and self.hierarchy.attribute != self.name:
            raise DataError(f"{what} has the hierarchy of {self.hierarchy.attribute!r}; give it its own")

    def _check_categories(self, what: str, categories: tuple[str, ...]) -> None:
        if self.scale is None:
            raise DataError(f"{what} has categories and no scale; say nominal or ordinal")
        if self.scale not in CATEGORICAL:
            raise DataError(f"{what} is {self.scale} and cannot have categories; leave them out")
        if len(set(categories)) != len(categories):
            raise DataError(f"{what} lists a category twice; list each once")
        for code in overlapping(categories, self.missing):
            raise DataError(f"{what} lists {code!r} as a category and as missing; choose one")
        unlisted = [code for code in self.labels if code not in categories]
        for code in unlisted:
            if not overlapping([code], self.missing):
                raise DataError(
                    f"{what} has a label for {code!r}, which is not a category; list it or remove it"
                )
        finest = self.hierarchy.levels[0] if self.hierarchy is not None else categories
        for code in categories:
            if code not in finest:
                raise DataError(f"{what}: its hierarchy has no category {code!r}; add it there")


@dataclass(frozen=True)
class Schema:
    """The attributes of a table, in the order of its columns.

    Raises
    ------
    DataError
        If two attributes have the same name.

    Examples
    --------
    >>> from linkrisk.data import Attribute, Role, Scale, Schema
    >>> schema = Schema((Attribute("town", Role.KEY, Scale.NOMINAL), Attribute("income")))
    >>> [attribute.name for attribute in schema.attributes]
    ['town', 'income']
    >>> schema.to_dict()["attributes"][0]
    {'name': 'town', 'role': 'key', 'scale': 'nominal'}
    """

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        check_no_duplicates([attribute.name for attribute in self.attributes], "the schema")

    def __getitem__(self, name: str) -> Attribute:
        """Return the attribute of this name; a DataError suggests a close one when there is none."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise DataError(f"the schema has no attribute {name!r}{suggestion(name, self.names, shown_name)}")

    def get(self, name: str) -> Attribute:
        """Return the attribute of this name; one of which nothing is declared when there is none."""
        return next((each for each in self.attributes if each.name == name), Attribute(name))

    def scale(self, name: str) -> Scale:
        """The scale of an attribute of this name; numeric where none is declared."""
        return self[name].scale or Scale.NUMERIC

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all attributes."""
        return tuple(attribute.name for attribute in self.attributes)

    def select(self, *, role: Role | None = None, scale: Scale | None = None) -> tuple[str, ...]:
        """Name the attributes of this role and this scale; None stands for any."""
        return tuple(
            attribute.name
            for attribute in self.attributes
            if role in (None, attribute.role) and scale in (None, attribute.scale)
        )

    def only(self, role: Role) -> str | None:
        """Name the attribute of a role that only one can have; a DataError when there are two."""
        found = self.select(role=role)
        if len(found) > 1:
            raise DataError(
                f"the schema calls both {found[0]!r} and {found[1]!r} {ROLE_WORDS[role]}; set the role of "
                f"one of them to {Role.IGNORED}"
            )
        return found[0] if found else None

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """The hierarchies of all attributes that have one."""
        return tuple(each.hierarchy for each in self.attributes if each.hierarchy is not None)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        identifiers: Iterable[str] = (),
        confidential: Iterable[str] = (),
        weights: Iterable[str] = (),
    ) -> Self:
        """Infer a schema from a table.

        Numbers are numeric, dates dates, ordered categoricals ordinal, the rest nominal with the values that
        occur as categories. Ids, household numbers and sampling weights are recognised where name and
        values agree (`recognised_role`); every other column is a key variable unless named in the arguments.

        Parameters
        ----------
        frame : DataFrame
            The table.
        identifiers, confidential, weights : iterable of str
            Columns whose role is known.

        Raises
        ------
        DataError
            If a column named in the arguments does not exist.
        """
        roles = dict.fromkeys(weights, Role.WEIGHT) | dict.fromkeys(confidential, Role.CONFIDENTIAL)
        roles |= dict.fromkeys(identifiers, Role.IDENTIFIER)
        columns = [str(column) for column in frame.columns]
        for name in roles:
            if name not in columns:
                raise DataError(f"the table has no column {name!r}{suggestion(name, columns, shown_name)}")
        return cls(
            tuple(
                _infer(name, column, roles.get(name) or recognised_role(name, column, columns))
                for name, (_, column) in zip(columns, frame.items(), strict=True)
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, dictionaries and text, ready for JSON or TOML (docs/how-to/schema.md)."""
        return {"attributes": [attribute_row(vars(attribute)) for attribute in self.attributes]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote. No file is opened: a hierarchy must be inside.

        Raises
        ------
        DataError
            If a part is missing, unknown or not of the expected kind.
        """
        return cls(tuple(Attribute(**row) for row in read_rows(data)))


def _infer(name: str, column: pd.Series, role: Role) -> Attribute:
    if pd.api.types.is_numeric_dtype(column.dtype):
        return Attribute(name, role, Scale.NUMERIC)
    if isinstance(column.dtype, pd.CategoricalDtype):
        scale = Scale.ORDINAL if column.dtype.ordered else Scale.NOMINAL
        return Attribute(name, role, scale, tuple(str(value) for value in column.dtype.categories))
    if only_form(column) is not None:
        return Attribute(name, role, Scale.DATE)
    values = sorted({str(value) for value in column.dropna().to_list()})
    return Attribute(name, role, Scale.NOMINAL, None if role in NAMES_RECORDS else tuple(values))
