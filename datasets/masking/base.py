"""Base classes of masking methods: for numbers and for categories."""

from __future__ import annotations

import math
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self, cast, runtime_checkable

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.attributes import (
    TABLE,
    check_records,
    checked_attributes,
    default_attributes,
    values_of,
    with_values,
)
from linkrisk.datasets.masking.parameters import CategoricalParameters, NumericParameters
from linkrisk.datasets.microdata.categories import Categories, categories_of, with_names
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.schema import Schema


@runtime_checkable
class MaskingMethod(Protocol):
    """A masking method: a frozen dataclass, each field of which is a parameter (see `parameters`).

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> method = linkrisk.masking.Rounding(base=0.5)
    >>> isinstance(method, linkrisk.masking.MaskingMethod)
    True
    """

    @property
    def name(self) -> str:
        """Name of the method, also on the command line."""
        ...

    @property
    def chance(self) -> bool:
        """Whether another seed gives another table."""
        ...

    def apply(self, frame: pd.DataFrame, seed: int | None = None, *, source: str = TABLE) -> pd.DataFrame:
        """Mask a table.

        Parameters
        ----------
        frame : DataFrame
            The original table, n rows.
        seed : int, optional
            Not negative. The same seed gives the same table on every machine; methods without chance
            ignore it. None draws a secret new one: with the seed, the masking can be undone.
        source : str
            What to call the table in messages, such as the name of its file.

        Returns
        -------
        DataFrame
            A new table with the same rows, index and columns; columns that are not masked stay as they are.

        Raises
        ------
        DataError
            If an attribute is unknown or not fit for the method, or a parameter does not fit the table.
        """
        ...

    @property
    def schema(self) -> Schema | None:
        """Declared roles, scales and missing codes of the columns."""
        ...

    @property
    def named(self) -> tuple[str, ...] | None:
        """The attributes that its parameters name; None if it chooses them."""
        ...

    def candidates(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """List the attributes of this table that it masks if none are named."""
        ...

    def masked_attributes(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """List the attributes of this table that `apply` would mask."""
        ...

    def restricted(self, attributes: tuple[str, ...]) -> MaskingMethod:
        """Copy the method, with these attributes to mask."""
        ...

    def describe(self, frame: pd.DataFrame) -> str:
        """Describe in one line what `apply` does to this table."""
        ...


class AttributeMethod(ABC):
    """Base of methods whose parameter `attributes` names what they mask; by default all key variables."""

    attributes: tuple[str, ...] | None
    schema: Schema | None

    numeric: ClassVar[bool | None] = None
    """Scales of the key variables masked by default: numeric, categorical, or all (None)."""

    @property
    def named(self) -> tuple[str, ...] | None:
        """See `MaskingMethod.named`."""
        return self.attributes

    def candidates(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """See `MaskingMethod.candidates`: key variables of the scales that are masked by default."""
        return default_attributes(frame, source, self.schema, numeric=self.numeric)

    def masked_attributes(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """See `MaskingMethod.masked_attributes`: those named, or else all candidates."""
        if self.attributes is None:
            return self.candidates(frame, source=source)
        return checked_attributes(frame, self.attributes, source)

    def restricted(self, attributes: tuple[str, ...]) -> Self:
        """See `MaskingMethod.restricted`."""
        return cast("Self", replace(cast("Any", self), attributes=attributes))


class _ActionMethod(AttributeMethod):
    """A method described by its action and its attributes."""

    @property
    @abstractmethod
    def action(self) -> str:
        """What is done, with the parameters, as the beginning of "... of <attributes>"."""

    def describe(self, frame: pd.DataFrame) -> str:
        """See `MaskingMethod.describe`."""
        return f"{self.action} of {shown_names(self.masked_attributes(frame))}"


@contextmanager
def about(source: str) -> Iterator[None]:
    """Name the table in the message of a DataError."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{source}: {error}", option=error.option) from error


def new_seed() -> int:
    """Draw a secret seed of 128 bits from the operating system."""
    return secrets.randbits(128)


def random_generator(seed: int | None) -> np.random.Generator:
    """Create the generator of all methods: PCG64, the same stream on every machine; a new seed for None."""
    if seed is not None and seed < 0:
        raise DataError(f"the seed {seed} is negative; give a whole number of at least 0")
    return np.random.Generator(np.random.PCG64(new_seed() if seed is None else seed))


def check_percent(percent: float, *, most: float | None = None) -> None:
    """Raise a DataError unless 0 < percent <= most."""
    if not (math.isfinite(percent) and percent > 0 and (most is None or percent <= most)):
        upper = "" if most is None else f" and at most {most:g}"
        raise DataError(f"percent is {percent:g}; it must be above 0{upper}")


def standardised(values: FloatArray) -> FloatArray:
    """Standardise each column of an array (n, a) by its known values; constants become 0, NaN stays."""
    centred, deviation = centred_and_deviation(values, lost=0)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1.0))


def centred_and_deviation(values: FloatArray, *, lost: int) -> tuple[FloatArray, FloatArray]:
    """Differences from the means of the known values (n, a), and standard deviations (a,).

    `lost` are the degrees of freedom that the divisor lacks: 0 for n, 1 for n - 1.
    """
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    centred = values - np.where(known, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    squares = np.where(known, centred * centred, 0.0).sum(axis=0)
    return centred, np.sqrt(squares / np.maximum(count - lost, 1))


class OfColumnError(DataError):
    """A DataError about the column of an array at `position`."""

    def __init__(self, position: int, message: str, option: str | None) -> None:
        super().__init__(message, option=option)
        self.position = position


def of_known(values: FloatArray, mask: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Mask the known values of each column of an array (n, a) by itself; NaN stays."""
    masked = values.copy()
    for position, column in enumerate(values.T):
        known = ~np.isnan(column)
        if not known.any():
            continue
        try:
            masked[known, position] = mask(column[known])
        except DataError as error:
            raise OfColumnError(position, str(error), error.option) from error
    return masked


@dataclass(frozen=True, kw_only=True)
class NumericMethod(NumericParameters, _ActionMethod):
    """Base of methods for numbers; subclasses define `mask_values` and `action`.

    Attributes
    ----------
    attributes : tuple of str, optional
        The attributes to mask; by default every numeric key variable.
    schema : Schema, optional
        Roles, scales and missing codes of the columns.
    """

    chance: ClassVar[bool] = True
    """Whether another seed gives another table; False in methods without random choices."""

    numeric: ClassVar[bool | None] = True

    @abstractmethod
    def mask_values(self, values: FloatArray, generator: np.random.Generator) -> FloatArray:
        """Mask an array (n, a) of finite numbers, NaN where one is missing; return a new one of that shape.

        Missing values stay missing. `of_known` masks column by column without them.

        Raises
        ------
        DataError
            If a parameter does not fit the number of records.
        """

    def apply(self, frame: pd.DataFrame, seed: int | None = None, *, source: str = TABLE) -> pd.DataFrame:
        """See `MaskingMethod.apply`."""
        attributes = self.masked_attributes(frame, source=source)
        values, generator = values_of(frame, attributes, source, self.schema), random_generator(seed)
        try:
            masked = self.mask_values(values, generator)
        except OfColumnError as error:
            raise DataError(f"{source}, column {attributes[error.position]!r}: {error}") from error
        except DataError as error:
            raise DataError(f"{source}: {error}", option=error.option) from error
        return with_values(frame, attributes, values, masked, self.schema)


@dataclass(frozen=True, eq=False)
class Recoding(ABC):
    """Recoding of the categories of one attribute."""

    before: tuple[str, ...]  # the n categories of the original attribute
    after: tuple[str, ...]  # the m categories that the masked attribute can have

    @property
    @abstractmethod
    def possible(self) -> BoolArray:
        """Whether each category can become each other one, shape (n, m)."""

    @abstractmethod
    def apply(self, codes: IndexArray, generator: np.random.Generator) -> IndexArray:
        """Map codes of `before` to codes of `after`; none is missing."""


@dataclass(frozen=True, eq=False)
class Grouping(Recoding):
    """A deterministic recoding: every category becomes one other."""

    target: IndexArray  # (n,): what each becomes, as a position in `after`

    @property
    def possible(self) -> BoolArray:
        """See `Recoding.possible`."""
        table = np.zeros((len(self.before), len(self.after)), dtype=np.bool_)
        table[np.arange(len(self.before)), self.target] = True
        return table

    def apply(self, codes: IndexArray, generator: np.random.Generator) -> IndexArray:
        """See `Recoding.apply`."""
        del generator
        return self.target[codes]


@dataclass(frozen=True, eq=False)
class Transition(Recoding):
    """A random recoding: transition probabilities between categories."""

    probability: FloatArray  # (n, m): of each category becoming each other one; rows sum to one

    @property
    def possible(self) -> BoolArray:
        """See `Recoding.possible`: where the probability is not zero."""
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
class CategoricalMethod(CategoricalParameters, _ActionMethod):
    """Base of methods for categories, each attribute by itself; subclasses define `recoding` and `action`.

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
    """Whether another seed gives another table; True in methods with random choices."""

    numeric: ClassVar[bool | None] = False

    @abstractmethod
    def recoding(self, attribute: str, categories: Categories) -> Recoding:
        """The recoding of the categories of an attribute.

        Raises
        ------
        DataError
            If a parameter does not fit them.
        """

    def new_labels(self, attribute: str) -> dict[str, str]:  # noqa: ARG002
        """Labels of the new codes of an attribute, as far as the method defines them."""
        return {}

    def recodings(self, frame: pd.DataFrame, *, source: str = TABLE) -> dict[str, Recoding]:
        """The recoding of every masked attribute of this original table."""
        return {
            name: self.recoding(name, categories_of(frame, name, self.schema, source))
            for name in self.masked_attributes(frame, source=source)
        }

    def apply(self, frame: pd.DataFrame, seed: int | None = None, *, source: str = TABLE) -> pd.DataFrame:
        """See `MaskingMethod.apply`; missing values stay what they are, declared codes too."""
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
    """The recodings of several methods that mask different attributes of one original table."""
    found: dict[str, Recoding] = {}
    for method in methods:
        for name, recoding in method.recodings(frame).items():
            if name in found:
                raise DataError(f"two masking methods are given for {name!r}; give one")
            found[name] = recoding
    return found


_PAPER_PARAMETERS = 9


def paper_parameter(p: int) -> int:
    """Check p = 1, ..., 9, the parameter of methods for categories in Domingo-Ferrer and Torra 2002.

    The paper only says that a larger p distorts more. Its meaning here is decided by its tables: at p = 8 the
    attributes with 6 to 9 categories hold next to nothing, and those with 12 to 25 still much. So p counts
    categories that vanish, whatever the size of the range; see docs/how-to/masking.md.
    """
    if not 1 <= p <= _PAPER_PARAMETERS:
        raise DataError(f"p is {p}; it must be a whole number from 1 to {_PAPER_PARAMETERS}")
    return p
