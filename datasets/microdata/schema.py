"""What the columns of a table are: roles, scales, codes and their labels, missing codes, hierarchies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.dates import DATE_FORMS, only_form
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.missing import Missing, overlapping
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.microdata.numeric import check_no_duplicates, suggestion
from linkrisk.datasets.microdata.roles import NAMES_RECORDS, ROLE_WORDS, recognised_role
from linkrisk.datasets.microdata.roles import Role as Role
from linkrisk.datasets.microdata.scales import CATEGORICAL
from linkrisk.datasets.microdata.scales import Scale as Scale
from linkrisk.datasets.microdata.schema_rows import attribute_row, read_rows


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
        values agree (`roles.recognised_role`); every other column is a key variable unless named in the
        arguments.

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
        """Return plain lists, dictionaries and text, ready for JSON or TOML (docs/schema.md)."""
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
