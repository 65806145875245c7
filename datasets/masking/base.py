"""What every masking method has in common: its shape, its parameters, its randomness."""

from __future__ import annotations

import math
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self, runtime_checkable

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.choosing import (
    TABLE,
    choose_attributes,
    chosen_by_default,
    values_of,
    with_values,
)
from linkrisk.datasets.masking.parameters import NumericParameters
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.schema import Schema


@runtime_checkable
class MaskingMethod(Protocol):
    """A masking method with its parameters, a frozen dataclass.

    Each field is a parameter; its metadata, made by `option`, is what the command line needs to offer it.
    """

    @property
    def name(self) -> str:
        """What the method is called, also on the command line."""
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
            ignore it. None draws a new one, which nobody knows: whoever has the seed can undo the masking.
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
        """What is declared of the columns."""
        ...

    @property
    def named(self) -> tuple[str, ...] | None:
        """The attributes that its parameters name; None where it chooses by itself."""
        ...

    def candidates(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """Name the attributes of this table that it chooses from where none are named."""
        ...

    def masked_attributes(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """Name the attributes of this table that `apply` would mask."""
        ...

    def restricted(self, attributes: tuple[str, ...]) -> MaskingMethod:
        """The same method with these attributes to mask."""
        ...

    def describe(self, frame: pd.DataFrame) -> str:
        """Say in one line what `apply` does to this table."""
        ...


@contextmanager
def about(source: str) -> Iterator[None]:
    """Say of which table a DataError speaks that only knows numbers."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{source}: {error}", option=error.option) from error


def new_seed() -> int:
    """Draw a seed that nobody can guess, of 128 bits, from the operating system."""
    return secrets.randbits(128)


def random_generator(seed: int | None) -> np.random.Generator:
    """Make the generator all methods draw from: PCG64, the same stream on every machine.

    Parameters
    ----------
    seed : int, optional
        None takes a new one.

    Raises
    ------
    DataError
        If the seed is negative.
    """
    if seed is not None and seed < 0:
        raise DataError(f"the seed {seed} is negative; give a whole number of at least 0")
    return np.random.Generator(np.random.PCG64(new_seed() if seed is None else seed))


def check_percent(percent: float, *, most: float | None = None) -> None:
    """Raise a DataError unless 0 < percent <= most."""
    if not (math.isfinite(percent) and percent > 0 and (most is None or percent <= most)):
        upper = "" if most is None else f" and at most {most:g}"
        raise DataError(f"percent is {percent:g}; it must be above 0{upper}")


def standardised(values: FloatArray) -> FloatArray:
    """Centre each column of an array (n, a) and divide by its standard deviation (constants become 0).

    Missing values (NaN) stay missing, and mean and deviation are those of the others.
    """
    centred, deviation = centred_and_deviation(values, lost=0)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1.0))


def centred_and_deviation(values: FloatArray, *, lost: int) -> tuple[FloatArray, FloatArray]:
    """Differences from the mean of each column of an array (n, a), and its standard deviation.

    Parameters
    ----------
    values : float64 array (n, a)
        NaN where a value is missing.
    lost : int
        Degrees of freedom that the divisor lacks: 0 for n, 1 for n - 1, n being the number of known values.

    Returns
    -------
    centred : float64 array (n, a)
        NaN where a value is missing.
    deviation : float64 array (a,)
    """
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    centred = values - np.where(known, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    squares = np.where(known, centred * centred, 0.0).sum(axis=0)
    return centred, np.sqrt(squares / np.maximum(count - lost, 1))


class OfColumnError(DataError):
    """A DataError about one column of an array; `position` says which."""

    def __init__(self, position: int, message: str, option: str | None) -> None:
        super().__init__(message, option=option)
        self.position = position


def of_known(values: FloatArray, mask: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Mask each column of an array (n, a) by itself, without its missing values (NaN), which stay.

    Parameters
    ----------
    values : float64 array (n, a)
    mask : callable
        From the known values of a column, at least one, to as many new ones.

    Raises
    ------
    OfColumnError
        If a parameter does not fit the number of values.
    """
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
class NumericMethod(NumericParameters, ABC):
    """A method that turns the values of numeric attributes into others; subclasses fill in `mask_values`.

    Attributes
    ----------
    attributes : tuple of str, optional
        The attributes to mask; by default every numeric key variable.
    schema : Schema, optional
        Roles, scales and missing codes of the columns.
    """

    chance: ClassVar[bool] = True
    """Whether another seed gives another table; False in methods that leave nothing to chance."""

    @abstractmethod
    def mask_values(self, values: FloatArray, generator: np.random.Generator) -> FloatArray:
        """Mask an array (n, a) of finite numbers, NaN where one is missing; return a new one of that shape.

        Missing values stay missing. `of_known` masks column by column without them.

        Raises
        ------
        DataError
            If a parameter does not fit the number of records.
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
        """Name every numeric key variable."""
        return chosen_by_default(frame, source, self.schema, numeric=True)

    def masked_attributes(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """Name the attributes of this table that `apply` would mask."""
        return choose_attributes(frame, self.attributes, source, self.schema)

    def restricted(self, attributes: tuple[str, ...]) -> Self:
        """The same method with these attributes to mask."""
        return replace(self, attributes=attributes)

    def describe(self, frame: pd.DataFrame) -> str:
        """Say in one line what `apply` does to this table."""
        return f"{self.action} of {shown_names(self.masked_attributes(frame))}"

    def apply(self, frame: pd.DataFrame, seed: int | None = None, *, source: str = TABLE) -> pd.DataFrame:
        """Mask a table (see `MaskingMethod.apply`)."""
        attributes = self.masked_attributes(frame, source=source)
        values, generator = values_of(frame, attributes, source, self.schema), random_generator(seed)
        try:
            masked = self.mask_values(values, generator)
        except OfColumnError as error:
            raise DataError(f"{source}, column {attributes[error.position]!r}: {error}") from error
        except DataError as error:
            raise DataError(f"{source}: {error}", option=error.option) from error
        return with_values(frame, attributes, values, masked, self.schema)
