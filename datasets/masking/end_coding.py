"""Top and bottom coding: the highest, or the lowest, categories become one."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from linkrisk.arrays import IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import check_percent
from linkrisk.datasets.masking.paper_parameters import collapsed_categories
from linkrisk.datasets.masking.parameters import EndCodingParameters
from linkrisk.datasets.masking.recoding import CategoricalMethod, Grouping
from linkrisk.datasets.microdata.categories import Categories
from linkrisk.errors import called


@dataclass(frozen=True, kw_only=True)
class EndCoding(EndCodingParameters, CategoricalMethod):
    """Categories at one end of the order become the innermost of them.

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
    def paper_parameter(cls, p: int, attributes: tuple[str, ...] | None = None) -> Self:
        """The p-th of the nine parameters of Domingo-Ferrer and Torra 2002: p + 1 categories become one."""
        return cls(categories=collapsed_categories(p), attributes=attributes)

    @property
    def action(self) -> str:
        """What is done, with the parameters."""
        size = f"{self.categories} " if self.categories is not None else f"{self.percent:g} % of the "
        return f"{self._end} coding of {size}categories"

    def recoding(self, attribute: str, categories: Categories) -> Grouping:
        """See `CategoricalMethod.recoding`; after masking, the range is what it was."""
        del attribute
        names = categories.names
        target = np.arange(len(names))
        if names:
            target = self._collapsed(target, min(self._count(len(names)), len(names)))
        return Grouping(names, names, target)

    def _count(self, size: int) -> int:
        if self.categories is not None:
            return self.categories
        # Allow for products such as 0.07 * 100 that fall just short of a whole number.
        return max(1, math.floor((self.percent or 0.0) * size / 100 + 1e-9))

    @property
    @abstractmethod
    def _end(self) -> str:
        """The word for the end."""

    @abstractmethod
    def _collapsed(self, order: IndexArray, count: int) -> IndexArray:
        """What the categories 0, 1, ... become when `count` at the end become one."""


@dataclass(frozen=True, kw_only=True)
class TopCoding(EndCoding):
    """The highest categories become the lowest of them (Willenborg and de Waal 2001)."""

    name: ClassVar[str] = "top-coding"

    @property
    def _end(self) -> str:
        return "top"

    def _collapsed(self, order: IndexArray, count: int) -> IndexArray:
        return np.minimum(order, order.size - count)


@dataclass(frozen=True, kw_only=True)
class BottomCoding(EndCoding):
    """The lowest categories become the highest of them (Willenborg and de Waal 2001)."""

    name: ClassVar[str] = "bottom-coding"

    @property
    def _end(self) -> str:
        return "bottom"

    def _collapsed(self, order: IndexArray, count: int) -> IndexArray:
        return np.maximum(order, count - 1)


def check_categories(count: int | None) -> None:
    """Raise a DataError when fewer than one category would become one."""
    if count is not None and count < 1:
        raise DataError(f"categories is {count}; it must be at least 1")
