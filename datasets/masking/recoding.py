"""Recoding of categories: top and bottom coding, global recoding; by files, breaks, digits or dates."""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
import pandas as pd

from linkrisk.arrays import IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.attributes import TABLE, default_attributes, known_columns
from linkrisk.datasets.masking.base import CategoricalMethod, Grouping, check_percent, paper_parameter
from linkrisk.datasets.masking.parameters import (
    EndCodingParameters,
    GlobalRecodingParameters,
    RecodeParameters,
)
from linkrisk.datasets.microdata.categories import Categories
from linkrisk.datasets.microdata.dates import LEVELS, at_level, days_of_names
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.numeric import suggestion
from linkrisk.datasets.microdata.recoding_files import RecodingFile
from linkrisk.datasets.microdata.schema import Role, Scale, Schema
from linkrisk.datasets.microdata.values import in_order, spelled
from linkrisk.errors import called


@dataclass(frozen=True, kw_only=True)
class EndCoding(EndCodingParameters, CategoricalMethod):
    """Merge categories at one end of the order into the innermost of them.

    Attributes
    ----------
    categories : int, optional
        How many become one, at least 1 (which changes nothing); all, where there are fewer.
    percent : float, optional
        The same in percent of the categories of each attribute, rounded down; above 0, at most 100.

    Raises
    ------
    DataError
        Unless exactly one of the two is given, and in its range.
    """

    def __post_init__(self) -> None:
        if (self.categories is None) == (self.percent is None):
            raise DataError(
                f"give either {called('categories')} or {called('percent')}: how many categories to merge",
                option="categories",
            )
        if self.percent is not None:
            check_percent(self.percent, most=100)
        check_categories(self.categories)

    @classmethod
    def paper_parameter(cls, p: int) -> Self:
        """Parameter p of Domingo-Ferrer and Torra 2002: p + 1 categories are merged."""
        return cls(categories=paper_parameter(p) + 1)

    @property
    def action(self) -> str:
        """See `NumericMethod`."""
        size = f"{self.categories} " if self.categories is not None else f"{self.percent:g} % of the "
        return f"{self._end} coding of {size}categories"

    def recoding(self, attribute: str, categories: Categories) -> Grouping:
        """See `CategoricalMethod.recoding`; the range stays."""
        del attribute
        names = categories.names
        target = np.arange(len(names))
        if names:
            target = self._collapsed(target, min(self._count(len(names)), len(names)))
        return Grouping(names, names, target)

    def _count(self, size: int) -> int:
        if self.categories is not None:
            return self.categories
        # Allow for products such as 0.07 * 100 that fall just short of an integer.
        return max(1, math.floor((self.percent or 0.0) * size / 100 + 1e-9))

    @property
    @abstractmethod
    def _end(self) -> str:
        """The word for the end."""

    @abstractmethod
    def _collapsed(self, order: IndexArray, count: int) -> IndexArray:
        """Merge `count` of the categories 0, 1, ... at the end."""


@dataclass(frozen=True, kw_only=True)
class TopCoding(EndCoding):
    """Merge the highest categories into the lowest of them (Willenborg and de Waal 2001).

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> pupils = pd.DataFrame({"grade": [1, 2, 3, 4, 5]})
    >>> ordinal = linkrisk.data.Scale.ORDINAL
    >>> grades = linkrisk.data.Attribute("grade", scale=ordinal, categories=tuple("12345"))
    >>> schema = linkrisk.Schema((grades,))
    >>> method = linkrisk.masking.TopCoding(categories=2, attributes=("grade",), schema=schema)
    >>> linkrisk.mask(pupils, method).table["grade"].tolist()
    [1, 2, 3, 4, 4]
    """

    name: ClassVar[str] = "top-coding"

    @property
    def _end(self) -> str:
        return "top"

    def _collapsed(self, order: IndexArray, count: int) -> IndexArray:
        return np.minimum(order, order.size - count)


@dataclass(frozen=True, kw_only=True)
class BottomCoding(EndCoding):
    """Merge the lowest categories into the highest of them (Willenborg and de Waal 2001).

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> pupils = pd.DataFrame({"grade": [1, 2, 3, 4, 5]})
    >>> ordinal = linkrisk.data.Scale.ORDINAL
    >>> grades = linkrisk.data.Attribute("grade", scale=ordinal, categories=tuple("12345"))
    >>> schema = linkrisk.Schema((grades,))
    >>> method = linkrisk.masking.BottomCoding(categories=2, attributes=("grade",), schema=schema)
    >>> linkrisk.mask(pupils, method).table["grade"].tolist()
    [2, 2, 3, 4, 5]
    """

    name: ClassVar[str] = "bottom-coding"

    @property
    def _end(self) -> str:
        return "bottom"

    def _collapsed(self, order: IndexArray, count: int) -> IndexArray:
        return np.maximum(order, count - 1)


def check_categories(count: int | None) -> None:
    """Raise a DataError if fewer than one category would be merged."""
    if count is not None and count < 1:
        raise DataError(f"categories is {count}; it must be at least 1")


def grouping(hierarchy: Hierarchy, names: Sequence[str], level: int) -> Grouping:
    """The groups of categories `names` at a level of a hierarchy."""
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

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> people = pd.DataFrame({"town": list("AAABBBCC"), "trade": list("xxyxyyxz")})
    >>> method = linkrisk.masking.GlobalRecoding(categories=2, attributes=("town",))
    >>> linkrisk.mask(people, method).table["town"].tolist()
    ['A', 'A', 'A', 'B', 'B', 'B', 'B', 'B']
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
            # A hierarchy names its attribute, which need not be given again.
            object.__setattr__(self, "attributes", tuple(item.attribute for item in self.hierarchy))
        if len(self._hierarchies) < len(self.hierarchy):
            raise DataError("an attribute has two hierarchies; give one for each")

    @classmethod
    def paper_parameter(cls, p: int) -> Self:
        """Parameter p of Domingo-Ferrer and Torra 2002: p + 1 categories are merged."""
        return cls(categories=paper_parameter(p) + 1)

    @property
    def action(self) -> str:
        """See `NumericMethod`."""
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
        """Hierarchies of the schema; a DataError if none is of an attribute to mask."""
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


@dataclass(frozen=True, kw_only=True)
class Recode(RecodeParameters, CategoricalMethod):
    """Make one code of several: by files, breaks, first digits, dates (Hundepool and Willenborg 1997).

    Attributes
    ----------
    file : tuple of RecodingFile
        One for each attribute to mask.
    digits : int, optional
        Instead: how many characters are cut off at the end of every code, at least 1.
    breaks : tuple of float
        Instead, for numbers: ascending lower ends of groups, half-open intervals; a number becomes the
        largest of them that is not above it.
    labels : tuple of str
        What the groups of `breaks` are called, in their order; by default "10 to under 20".
    level : str, optional
        Instead: ``year``, ``quarter`` or ``month`` of dates.

    Raises
    ------
    DataError
        Unless exactly one of the four is given; if an attribute has two files, or none; if breaks do not
        ascend, or labels are not as many.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> method = linkrisk.masking.Recode(breaks=(4.0, 6.0), attributes=("sepal_length",))
    >>> linkrisk.mask(iris, method).table["sepal_length"].head(3).tolist()
    [4, 4, 4]
    """

    name: ClassVar[str] = "recode"

    def __post_init__(self) -> None:
        given = [self.digits is not None, bool(self.file), bool(self.breaks), self.level is not None]
        if given.count(True) != 1:
            raise DataError(
                f"give one of {called('file')}, {called('digits')}, {called('breaks')} and "
                f"{called('level')}: how to recode"
            )
        if self.level is not None and self.level not in LEVELS:
            raise DataError(f"level is {self.level}; dates have the levels {', '.join(LEVELS)}")
        if any(low >= high for low, high in pairwise(self.breaks)):
            raise DataError("breaks must ascend, as in 0,10,20")
        if self.labels and len(self.labels) != len(self.breaks):
            raise DataError(
                f"there are {len(self.labels)} labels for {len(self.breaks)} breaks; each break begins a "
                "group: give one label for each"
            )
        if self.digits is not None and self.digits < 1:
            raise DataError(f"digits is {self.digits}; it must be at least 1")
        if len(self._files) < len(self.file):
            raise DataError("an attribute has two recoding files; give one for each")
        if self.file and self.attributes is None:
            # A file names its attribute, which need not be given again.
            object.__setattr__(self, "attributes", tuple(self._files))

    @property
    def action(self) -> str:
        """See `NumericMethod`."""
        if self.breaks:
            return f"recoding to groups from {', '.join(map(spelled, self.breaks))}"
        if self.level is not None:
            return f"recoding to the {self.level}"
        if self.digits is None:
            return "recoding by files"
        return f"cutting {self.digits} {'character' if self.digits == 1 else 'characters'} off codes"

    def candidates(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """See `MaskingMethod.candidates`: numeric ones for breaks, dates for a level."""
        if self.level is None:
            return default_attributes(frame, source, self.schema, numeric=bool(self.breaks))
        kinds = known_columns(frame, self.schema)
        found = tuple(name for name, kind in kinds.items() if kind == (Role.KEY, Scale.DATE))
        if not found:
            raise DataError(
                f"{source} has no key variable of dates; name at least one with {called('attributes')}",
                option="attributes",
            )
        return found

    def recoding(self, attribute: str, categories: Categories) -> Grouping:
        """See `CategoricalMethod.recoding`."""
        if self.breaks:
            found = [self._group(attribute, code) for code in categories.names]
        elif self.level is not None:
            form = None if self.schema is None else self.schema.get(attribute).form
            days = days_of_names(categories.names, f"column {attribute!r}", form)
            found = [at_level(day, str(self.level)) for day in days.tolist()]
        elif self.digits is not None:
            found = [self._cut(attribute, code) for code in categories.names]
        elif attribute in self._files:
            found = self._files[attribute].becomes(categories.names)
        else:
            raise DataError(
                f"{attribute!r} has no recoding file; give one with {called('file')} or leave it out",
                option="file",
            )
        after = in_order(set(found)) if self.breaks else tuple(dict.fromkeys(found))
        position = {code: at for at, code in enumerate(after)}
        return Grouping(categories.names, after, np.array([position[code] for code in found], dtype=np.intp))

    def new_labels(self, attribute: str) -> dict[str, str]:
        """See `CategoricalMethod.new_labels`: breaks, or a list of codes, define them."""
        if self.breaks:
            ends = [*(f"{spelled(low)} to under {spelled(high)}" for low, high in pairwise(self.breaks))]
            named = self.labels or (*ends, f"{spelled(self.breaks[-1])} and more")
            return dict(zip(map(spelled, self.breaks), named, strict=True))
        return self._files[attribute].new_labels() if attribute in self._files else {}

    def _group(self, attribute: str, code: str) -> str:
        """Find the break that begins the group of a number."""
        try:
            number = float(code)
        except ValueError:
            number = math.nan
        if math.isnan(number):
            raise DataError(f"{attribute!r} has {code!r}, which is no number: breaks are for numbers")
        at = bisect_right(self.breaks, number)
        if at == 0:
            raise DataError(
                f"{attribute!r} has {code}, which is below the first break, {spelled(self.breaks[0])}: put a "
                "lower one in front"
            )
        return spelled(self.breaks[at - 1])

    def _cut(self, attribute: str, code: str) -> str:
        assert self.digits is not None
        if len(code) <= self.digits:
            raise DataError(
                f"the code {code!r} of {attribute!r} has {len(code)} characters, of which {self.digits} are "
                "to be cut off; give codes of equal length, such as 007"
            )
        return code[: -self.digits]

    @property
    def _files(self) -> Mapping[str, RecodingFile]:
        return {item.attribute: item for item in self.file}
