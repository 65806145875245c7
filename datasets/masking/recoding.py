"""What masking methods for categories have in common: which category becomes which, by rule or by chance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import random_generator
from linkrisk.datasets.masking.choosing import TABLE, check_records, choose_attributes, chosen_by_default
from linkrisk.datasets.masking.parameters import CategoricalParameters
from linkrisk.datasets.microdata.categories import Categories, categories_of, with_names
from linkrisk.datasets.microdata.names import shown_names


@dataclass(frozen=True, eq=False)
class Recoding(ABC):
    """What a method makes of the categories of one attribute.

    Attributes
    ----------
    before : tuple of str
        The n categories of the original attribute.
    after : tuple of str
        The m categories that the masked attribute can have.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    @abstractmethod
    def possible(self) -> BoolArray:
        """Whether each category can become each other one, shape (n, m)."""

    @abstractmethod
    def apply(self, codes: IndexArray, generator: np.random.Generator) -> IndexArray:
        """Codes of `before` to codes of `after`, shape (any,); none is missing."""


@dataclass(frozen=True, eq=False)
class Grouping(Recoding):
    """Every category becomes one other, always the same.

    Attributes
    ----------
    target : intp array (n,)
        What each becomes, as a position in `after`.
    """

    target: IndexArray

    @property
    def possible(self) -> BoolArray:
        """One recoding for each category."""
        table = np.zeros((len(self.before), len(self.after)), dtype=np.bool_)
        table[np.arange(len(self.before)), self.target] = True
        return table

    def apply(self, codes: IndexArray, generator: np.random.Generator) -> IndexArray:
        """Look up; nothing is left to chance."""
        del generator
        return self.target[codes]


@dataclass(frozen=True, eq=False)
class Transition(Recoding):
    """Every category becomes another one by chance.

    Attributes
    ----------
    probability : float64 array (n, m)
        Of each category becoming each other one; rows sum to one.
    """

    probability: FloatArray

    @property
    def possible(self) -> BoolArray:
        """Where the probability is not zero."""
        return np.asarray(self.probability > 0.0)

    def apply(self, codes: IndexArray, generator: np.random.Generator) -> IndexArray:
        """Draw one category for every record, in the order of records."""
        heights = np.cumsum(self.probability, axis=1)
        possible, drawn = self.possible, generator.random(codes.size)
        found = np.empty(codes.size, dtype=np.intp)
        for code in np.unique(codes):
            at = codes == code
            # A sum that rounding leaves below one must not let a draw fall off the end, onto what cannot be.
            last = np.flatnonzero(possible[code])[-1]
            found[at] = np.minimum(np.searchsorted(heights[code], drawn[at], side="right"), last)
        return found


@dataclass(frozen=True, kw_only=True)
class CategoricalMethod(CategoricalParameters, ABC):
    """A method that turns categories into others, each attribute by itself; subclasses fill in `recoding`.

    The values of a numeric attribute are its categories, in their order.

    Attributes
    ----------
    attributes : tuple of str, optional
        The attributes to mask; by default every key variable that has categories.
    schema : Schema, optional
        Roles and scales of the columns, missing codes, and what categories there are, in what order. By
        default those of a categorical column, else the values that occur: numbers ascending, text by its
        letters.
    """

    chance: ClassVar[bool] = False
    """Whether another seed gives another table; True in methods that leave something to chance."""

    @abstractmethod
    def recoding(self, attribute: str, categories: Categories) -> Recoding:
        """What becomes of the categories of an attribute.

        Raises
        ------
        DataError
            If a parameter does not fit them.
        """

    @property
    @abstractmethod
    def action(self) -> str:
        """What is done, with the parameters, as the beginning of "... of <attributes>"."""

    @property
    def named(self) -> tuple[str, ...] | None:
        """See `MaskingMethod.named`."""
        return self.attributes

    def candidates(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """Name every key variable that has categories."""
        return chosen_by_default(frame, source, self.schema, numeric=False)

    def masked_attributes(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """Name the attributes of this table that `apply` would mask."""
        if self.attributes is None:
            return self.candidates(frame, source=source)
        return choose_attributes(frame, self.attributes, source, self.schema)

    def restricted(self, attributes: tuple[str, ...]) -> Self:
        """The same method with these attributes to mask."""
        return replace(self, attributes=attributes)

    def new_labels(self, attribute: str) -> dict[str, str]:  # noqa: ARG002
        """What the new codes of an attribute mean, as far as the method itself says it."""
        return {}

    def describe(self, frame: pd.DataFrame) -> str:
        """Say in one line what `apply` does to this table."""
        return f"{self.action} of {shown_names(self.masked_attributes(frame))}"

    def recodings(self, frame: pd.DataFrame, *, source: str = TABLE) -> dict[str, Recoding]:
        """What becomes of the categories of every masked attribute of this original table."""
        return {
            name: self.recoding(name, categories_of(frame, name, self.schema, source))
            for name in self.masked_attributes(frame, source=source)
        }

    def apply(self, frame: pd.DataFrame, seed: int | None = None, *, source: str = TABLE) -> pd.DataFrame:
        """Mask a table (see `MaskingMethod.apply`); what is missing stays what it is, declared codes too."""
        generator = random_generator(seed)
        check_records(frame, source)
        masked = frame.copy()
        for name, recoding in self.recodings(frame, source=source).items():
            codes = categories_of(frame, name, self.schema, source).codes.copy()
            known = codes >= 0
            codes[known] = recoding.apply(codes[known], generator)
            column = with_names(frame[name], recoding.after, codes)
            masked[name] = column if known.all() else column.where(known, frame[name])
        return masked


def recodings_of(methods: Sequence[CategoricalMethod], frame: pd.DataFrame) -> dict[str, Recoding]:
    """The recodings of several methods that mask different attributes of one original table.

    Raises
    ------
    DataError
        If two of them mask the same attribute.
    """
    found: dict[str, Recoding] = {}
    for method in methods:
        for name, recoding in method.recodings(frame).items():
            if name in found:
                raise DataError(f"two masking methods are given for {name!r}; give one")
            found[name] = recoding
    return found
