"""Global recoding: rare categories become one, or all become coarser by a hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.end_coding import check_categories
from linkrisk.datasets.masking.paper_parameters import collapsed_categories
from linkrisk.datasets.masking.parameters import GlobalRecodingParameters
from linkrisk.datasets.masking.recoding import CategoricalMethod, Grouping
from linkrisk.datasets.microdata.categories import Categories
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.numeric import suggestion
from linkrisk.datasets.microdata.schema import Role, Schema
from linkrisk.errors import called


def grouping(hierarchy: Hierarchy, names: Sequence[str], level: int) -> Grouping:
    """What the categories `names` become at a level of a hierarchy.

    Raises
    ------
    DataError
        If there is no such level, or the hierarchy lacks a category.
    """
    if level >= len(hierarchy.levels):
        raise DataError(
            f"the hierarchy of {hierarchy.attribute!r} has no level {level}; "
            f"its last is {len(hierarchy.levels) - 1}"
        )
    becomes = dict(zip(hierarchy.levels[0], hierarchy.levels[level], strict=True))
    for name in names:
        if name not in becomes:
            raise DataError(
                f"the hierarchy of {hierarchy.attribute!r} has no category {name!r}"
                f"{suggestion(name, hierarchy.levels[0])}{_header_of(hierarchy)}"
            )
    after = tuple(dict.fromkeys(hierarchy.levels[level]))
    position = {name: at for at, name in enumerate(after)}
    target = np.array([position[becomes[name]] for name in names], dtype=np.intp)
    return Grouping(tuple(names), after, target)


def _header_of(hierarchy: Hierarchy) -> str:
    if not hierarchy.header:
        return ""
    return f"; the first line of its file was taken for a header: {hierarchy.header}"


@dataclass(frozen=True, kw_only=True)
class GlobalRecoding(GlobalRecodingParameters, CategoricalMethod):
    """Group the rarest categories into one, or recode by a hierarchy (Willenborg and de Waal 2001).

    Attributes
    ----------
    categories : int, optional
        How many of the rarest categories that occur become one, at least 1; all, where there are fewer. Of
        equally rare ones the last come first.
    label : str, optional
        What to call them; the most frequent of them lends its name when absent.
    hierarchy : tuple of Hierarchy
        Instead of `categories`: one for each attribute to mask. Where neither is given, those of the schema,
        of the attributes named or of all key variables.
    level : int, optional
        With `hierarchy`: the level to recode to, 1 when absent.

    Raises
    ------
    DataError
        Unless exactly one of `categories` and `hierarchy` is given; if an attribute has two hierarchies, the
        level is negative, or an option is of no use.
    """

    name: ClassVar[str] = "global-recoding"

    def __post_init__(self) -> None:
        if self.categories is None and not self.hierarchy and self.schema is not None:
            object.__setattr__(self, "hierarchy", self._declared(self.schema))
        if (self.categories is None) == (not self.hierarchy):
            raise DataError(
                f"give either {called('categories')} or {called('hierarchy')}: which categories to merge",
                option="categories",
            )
        check_categories(self.categories)
        if self.hierarchy and self.label is not None:
            raise DataError(
                f"{called('label')} has no effect with {called('hierarchy')}, which names its groups; leave "
                "it out",
                option="label",
            )
        if self.level is not None and not self.hierarchy:
            raise DataError(
                f"{called('level')} has no effect without {called('hierarchy')}; leave it out", option="level"
            )
        if isinstance(self.level, str):
            raise DataError(
                f"level is {self.level}, which is one of dates: recode these with the method recode"
            )
        if self.level is not None and self.level < 0:
            raise DataError(
                f"level is {self.level}; it must be at least 0, which is the categories themselves"
            )
        if self.hierarchy and self.attributes is None:
            # A hierarchy names its attribute, which need not be said again.
            object.__setattr__(self, "attributes", tuple(item.attribute for item in self.hierarchy))
        if len(self._hierarchies) < len(self.hierarchy):
            raise DataError("an attribute has two hierarchies; give one for each")

    @classmethod
    def paper_parameter(cls, p: int, attributes: tuple[str, ...] | None = None) -> Self:
        """The p-th of the nine parameters of Domingo-Ferrer and Torra 2002: p + 1 categories become one."""
        return cls(categories=collapsed_categories(p), attributes=attributes)

    @property
    def action(self) -> str:
        """What is done, with the parameters."""
        if self.hierarchy:
            return f"global recoding to level {self._level}"
        return f"global recoding of the {self.categories} rarest categories"

    def recoding(self, attribute: str, categories: Categories) -> Grouping:
        """See `CategoricalMethod.recoding`."""
        if not self.hierarchy:
            return self._rarest(categories)
        if attribute not in self._hierarchies:
            raise DataError(
                f"{attribute!r} has no hierarchy; give one with {called('hierarchy')} or leave it out",
                option="hierarchy",
            )
        return grouping(self._hierarchies[attribute], categories.names, self._level)

    def _declared(self, schema: Schema) -> tuple[Hierarchy, ...]:
        """The hierarchies of the schema; DataError where there is none to be used."""
        without_role = tuple(each.name for each in schema.attributes if each.role is None)
        names = self.attributes or schema.select(role=Role.KEY) or without_role
        found = tuple(item for item in schema.hierarchies if item.attribute in names)
        if not found:
            raise DataError(
                f"the schema has no hierarchy of an attribute to mask; give {called('hierarchy')} or "
                f"{called('categories')}",
                option="hierarchy",
            )
        return found

    @property
    def _level(self) -> int:
        return self.level if isinstance(self.level, int) else 1

    @property
    def _hierarchies(self) -> Mapping[str, Hierarchy]:
        return {item.attribute: item for item in self.hierarchy}

    def _rarest(self, categories: Categories) -> Grouping:
        names, frequency = categories.names, categories.frequency
        target = np.arange(len(names))
        order = np.lexsort((-target, frequency))
        group = order[frequency[order] > 0][: self.categories]
        if group.size == 0:
            return Grouping(names, names, target)
        if self.label is None:
            target[group] = group[-1]
            return Grouping(names, names, target)
        others = dict(zip(names, frequency.tolist(), strict=True))
        for at in group:
            del others[names[at]]
        # A category that is only listed may lend its name.
        if others.pop(self.label, 0) > 0:
            raise DataError(f"the label {self.label!r} is a category that is not grouped; choose another one")
        rest = tuple(others)
        after = (*rest, self.label)
        position = {name: at for at, name in enumerate(after)}
        target = np.array([position.get(name, len(rest)) for name in names], dtype=np.intp)
        return Grouping(names, after, target)
