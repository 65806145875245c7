"""What the columns of a table are: their role in disclosure control and their scale of measurement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self, TypeVar

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.microdata.numeric import check_no_twins, suggestion
from linkrisk.datasets.microdata.roles import Role as Role
from linkrisk.datasets.microdata.roles import recognised_role

_Kind = TypeVar("_Kind", bound=StrEnum)


class Scale(StrEnum):
    """How values can be compared: by difference, by order, or only for equality."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"


@dataclass(frozen=True)
class Attribute:
    """One column: its name, role, scale and, when it is not numeric, its categories.

    Attributes
    ----------
    name : str
        The column name.
    role : Role
        By default a quasi-identifier.
    scale : Scale
        By default numeric.
    categories : tuple of str, optional
        The values it can take; for an ordinal attribute in ascending order, and required there.

    Raises
    ------
    DataError
        If the name is empty, or the categories do not go with the scale.
    """

    name: str
    role: Role = Role.QUASI_IDENTIFIER
    scale: Scale = Scale.NUMERIC
    categories: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise DataError("an attribute of the schema has no name; give it the name of its column")
        if self.scale is Scale.NUMERIC and self.categories is not None:
            raise DataError(f"attribute {self.name!r} is numeric and cannot have categories; leave them out")
        if self.scale is Scale.ORDINAL and not self.categories:
            raise DataError(f"attribute {self.name!r} is ordinal; list its categories in ascending order")
        if self.categories is not None and len(set(self.categories)) != len(self.categories):
            raise DataError(f"attribute {self.name!r} lists a category twice; list each once")


@dataclass(frozen=True)
class Schema:
    """The attributes of a table, in the order of its columns.

    Raises
    ------
    DataError
        If two attributes have the same name.
    """

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        check_no_twins([attribute.name for attribute in self.attributes], "the schema")

    def __getitem__(self, name: str) -> Attribute:
        """Return the attribute of this name; a DataError suggests a close one when there is none."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise DataError(f"the schema has no attribute {name!r}{suggestion(name, self.names, shown_name)}")

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

        Numbers are numeric, ordered categoricals ordinal, the rest nominal with the values that occur as
        categories. Record ids and sampling weights are recognised where name and values agree
        (`roles.recognised_role`); every other column is a quasi-identifier unless named in the arguments.

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
        """Return plain lists, dictionaries and text, ready for JSON."""
        rows = []
        for attribute in self.attributes:
            row: dict[str, Any] = {
                "name": attribute.name,
                "role": attribute.role.value,
                "scale": attribute.scale.value,
            }
            if attribute.categories is not None:
                row["categories"] = list(attribute.categories)
            rows.append(row)
        return {"attributes": rows}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote.

        Raises
        ------
        DataError
            If a part is missing or not of the expected kind.
        """
        rows = data.get("attributes")
        if not isinstance(rows, list):
            raise DataError('a schema needs a list under "attributes"')
        return cls(tuple(_attribute_from_dict(row, position) for position, row in enumerate(rows, start=1)))


def _infer(name: str, column: pd.Series, role: Role) -> Attribute:
    if pd.api.types.is_numeric_dtype(column.dtype):
        return Attribute(name, role)
    if isinstance(column.dtype, pd.CategoricalDtype):
        scale = Scale.ORDINAL if column.dtype.ordered else Scale.NOMINAL
        return Attribute(name, role, scale, tuple(str(value) for value in column.dtype.categories))
    values = sorted({str(value) for value in column.dropna().to_list()})
    return Attribute(name, role, Scale.NOMINAL, None if role is Role.IDENTIFIER else tuple(values))


def _attribute_from_dict(row: object, position: int) -> Attribute:
    if not isinstance(row, Mapping) or not isinstance(row.get("name"), str):
        raise DataError(f'attribute {position} of the schema needs a "name"')
    name = row["name"]
    unknown = sorted(set(row) - {"name", "role", "scale", "categories"})
    if unknown:
        raise DataError(f"attribute {name!r} of the schema has an unknown entry {unknown[0]!r}; take it out")
    categories = row.get("categories")
    if categories is not None and not isinstance(categories, list):
        raise DataError(f"attribute {name!r} of the schema: categories must be a list of text")
    return Attribute(
        name,
        _member(Role, row.get("role", Role.QUASI_IDENTIFIER), name),
        _member(Scale, row.get("scale", Scale.NUMERIC), name),
        None if categories is None else tuple(str(category) for category in categories),
    )


def _member(kind: type[_Kind], value: object, name: str) -> _Kind:
    try:
        return kind(str(value))
    except ValueError:
        known = ", ".join(member.value for member in kind)
        raise DataError(
            f"attribute {name!r} of the schema: unknown {kind.__name__.lower()} {value!r}; use one of {known}"
        ) from None
