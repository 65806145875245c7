"""Global recoding: rare categories become one, or all become coarser by a hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import option, parse_whole
from linkrisk.datasets.masking.end_coding import check_categories
from linkrisk.datasets.masking.paper_parameters import collapsed_categories
from linkrisk.datasets.masking.recoding import CategoricalMethod, Grouping
from linkrisk.datasets.microdata.categories import Categories
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.numeric import suggestion


@dataclass(frozen=True)
class Hierarchy:
    """Ever coarser categories of one attribute.

    Attributes
    ----------
    attribute : str
        Whose categories they are.
    levels : tuple of tuple of str
        Level 0 holds the categories, each once; every further level says, in the same order, what they
        become.

    Raises
    ------
    DataError
        If a category stands twice, a level has another length, or one splits what a finer one has joined.
    """

    attribute: str
    levels: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        what = f"the hierarchy of {self.attribute!r}"
        if len(self.levels) < 2:
            raise DataError(f"{what} has no level above the categories; give one column per level")
        finest = self.levels[0]
        twins = sorted(name for name in set(finest) if finest.count(name) > 1)
        if twins:
            raise DataError(f"{what} lists the category {twins[0]!r} twice; list each once")
        for number, (fine, coarse) in enumerate(zip(self.levels, self.levels[1:], strict=False), start=1):
            if len(coarse) != len(finest):
                raise DataError(
                    f"{what}: level {number} has {len(coarse)} entries for {len(finest)} categories"
                )
            joined: dict[str, str] = {}
            for below, above in zip(fine, coarse, strict=True):
                if joined.setdefault(below, above) != above:
                    raise DataError(
                        f"{what}: level {number} puts {below!r} into {joined[below]!r} and into {above!r}; "
                        "each group of a level belongs to one of the next"
                    )

    @classmethod
    def parse(cls, text: str) -> Hierarchy:
        """Read "ATTRIBUTE=FILE": a CSV file with one column per level, the categories first."""
        attribute, mark, path = text.partition("=")
        if not mark or not attribute.strip() or not path.strip():
            raise DataError(f"{text!r} is no hierarchy; write ATTRIBUTE=FILE")
        header = list(read_table(path.strip()).columns)
        table = read_table(path.strip(), text_columns=header)
        for name in header:
            missing = table[name].isna().to_numpy(dtype=bool)
            if missing.any():
                raise DataError(f"{path}, column {name!r}, row {int(np.argmax(missing)) + 1}: missing value")
        return cls(attribute.strip(), tuple(tuple(table[name].astype(str)) for name in header))

    def grouping(self, names: Sequence[str], level: int) -> Grouping:
        """What the categories `names` become at a level.

        Raises
        ------
        DataError
            If there is no such level, or the hierarchy lacks a category.
        """
        if level >= len(self.levels):
            raise DataError(
                f"the hierarchy of {self.attribute!r} has no level {level}; "
                f"its last is {len(self.levels) - 1}"
            )
        becomes = dict(zip(self.levels[0], self.levels[level], strict=True))
        for name in names:
            if name not in becomes:
                raise DataError(
                    f"the hierarchy of {self.attribute!r} lacks the category {name!r}"
                    f"{suggestion(name, self.levels[0])}"
                )
        after = tuple(dict.fromkeys(self.levels[level]))
        position = {name: at for at, name in enumerate(after)}
        target = np.array([position[becomes[name]] for name in names], dtype=np.intp)
        return Grouping(tuple(names), after, target)


@dataclass(frozen=True, kw_only=True)
class GlobalRecoding(CategoricalMethod):
    """Group the rarest categories into one, or recode by a hierarchy (Willenborg and de Waal 2001).

    Attributes
    ----------
    categories : int, optional
        How many of the rarest categories that occur become one, at least 1; all, where there are fewer. Of
        equally rare ones the last come first.
    label : str, optional
        What to call them; the most frequent of them lends its name when absent.
    hierarchy : tuple of Hierarchy
        Instead of `categories`: one for each attribute to mask.
    level : int, optional
        With `hierarchy`: the level to recode to, 1 when absent.

    Raises
    ------
    DataError
        Unless exactly one of `categories` and `hierarchy` is given; if an attribute has two hierarchies, the
        level is negative, or an option is of no use.
    """

    name: ClassVar[str] = "global-recoding"

    categories: int | None = field(
        default=None,
        metadata=option("number of the rarest categories that become one", parse_whole, metavar="N"),
    )
    label: str | None = field(
        default=None,
        metadata=option("what to call them (default: as the most frequent of them)", str, metavar="TEXT"),
    )
    hierarchy: tuple[Hierarchy, ...] = field(
        default=(),
        metadata=option(
            "file with the categories of an attribute and one column per coarser level; give it once for "
            "each attribute",
            Hierarchy.parse,
            metavar="A=FILE",
            repeated=True,
        ),
    )
    level: int | None = field(
        default=None, metadata=option("level of the hierarchy (default: 1)", parse_whole, metavar="L")
    )

    def __post_init__(self) -> None:
        if (self.categories is None) == (not self.hierarchy):
            raise DataError("give either --categories or --hierarchy: what becomes one")
        check_categories(self.categories)
        if self.hierarchy and self.label is not None:
            raise DataError("--label is of no use with --hierarchy, which names its groups; leave it out")
        if self.level is not None and not self.hierarchy:
            raise DataError("--level is of no use without --hierarchy; leave it out")
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
            raise DataError(f"{attribute!r} has no hierarchy; give one with --hierarchy or leave it out")
        return self._hierarchies[attribute].grouping(categories.names, self._level)

    @property
    def _level(self) -> int:
        return 1 if self.level is None else self.level

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
