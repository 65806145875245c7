"""What every masking method has in common: its shape, its parameters, its randomness."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pandas as pd

from datasets.errors import DataError
from datasets.numeric import check_known, check_no_twins, numeric_matrix
from datasets.schema import Role, Scale, Schema


@runtime_checkable
class MaskingMethod(Protocol):
    """A masking method with its parameters, a frozen dataclass.

    Each field is a parameter; its metadata, made by `option`, is what the command line needs to offer it.
    """

    @property
    def name(self) -> str:
        """What the method is called, also on the command line."""
        ...

    def apply(self, frame: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
        """Mask a table.

        Parameters
        ----------
        frame : DataFrame
            The original table, n rows.
        seed : int
            Not negative. The same seed gives the same table on every machine; methods without chance
            ignore it.

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

    def masked_attributes(self, frame: pd.DataFrame) -> tuple[str, ...]:
        """Name the attributes of this table that `apply` would mask."""
        ...

    def describe(self, frame: pd.DataFrame) -> str:
        """Say in one line what `apply` does to this table."""
        ...


@dataclass(frozen=True)
class Option:
    """How the command line offers a parameter.

    Attributes
    ----------
    help : str
        What it means, with its unit.
    parse : callable, optional
        Text to value; raises DataError on bad text. None marks a flag without a value.
    metavar : str
        What to call the value in the help.
    repeated : bool
        Whether the option can be given several times; the values make a tuple.
    """

    help: str
    parse: Callable[[str], Any] | None
    metavar: str = ""
    repeated: bool = False


def option(
    help: str,  # noqa: A002 - the name that argparse uses
    parse: Callable[[str], Any] | None,
    *,
    metavar: str = "",
    repeated: bool = False,
) -> dict[str, Option]:
    """Make the `metadata` of a dataclass field that is a parameter of a masking method."""
    return {"option": Option(help, parse, metavar, repeated)}


def parse_names(text: str) -> tuple[str, ...]:
    """Read attribute names separated by commas."""
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise DataError(f"{text!r} has an empty attribute name; write names separated by single commas")
    return names


def parse_whole(text: str) -> int:
    """Read a whole number."""
    try:
        return int(text)
    except ValueError:
        raise DataError(f"{text!r} is not a whole number") from None


def parse_number(text: str) -> float:
    """Read a finite number; a percent sign at its end is allowed."""
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{text!r} is not a number")
    return number


ATTRIBUTES = option(
    "attributes to mask, separated by commas (default: all numeric)", parse_names, metavar="A,B"
)
"""The option of methods that mask any set of attributes."""


def choose_attributes(frame: pd.DataFrame, attributes: Sequence[str] | None) -> tuple[str, ...]:
    """Check the attributes to mask, or take all numeric quasi-identifiers of the table.

    Raises
    ------
    DataError
        If one does not exist or is given twice, there is none, or the columns have no distinct names.
    """
    columns = list(frame.columns)
    for position, column in enumerate(columns):
        if not isinstance(column, str) or column in columns[:position]:
            raise DataError(
                f"column {position + 1} of the input needs a name of its own instead of {column!r}"
            )
    if attributes is None:
        chosen = Schema.from_frame(frame).select(role=Role.QUASI_IDENTIFIER, scale=Scale.NUMERIC)
    else:
        chosen = tuple(attributes)
        check_no_twins(chosen)
        check_known(chosen, columns, "the input")
    if not chosen:
        raise DataError("there is no numeric attribute to mask; name at least one with --attributes")
    return chosen


def values_of(frame: pd.DataFrame, attributes: Sequence[str]) -> npt.NDArray[np.float64]:
    """Take attributes as a float64 array (n, a); a DataError names the first cell that is no number."""
    if frame.empty:
        raise DataError("the input has no records; there is nothing to mask")
    return numeric_matrix(frame, attributes, "the input")


def with_values(
    frame: pd.DataFrame, attributes: Sequence[str], values: npt.NDArray[np.float64]
) -> pd.DataFrame:
    """Copy a table with the columns of `attributes` replaced by the columns of `values` (n, a)."""
    replaced = frame.copy()
    for position, attribute in enumerate(attributes):
        replaced[attribute] = values[:, position]
    return replaced


def random_generator(seed: int) -> np.random.Generator:
    """Make the generator all methods draw from: PCG64, the same stream on every machine.

    Raises
    ------
    DataError
        If the seed is negative.
    """
    if seed < 0:
        raise DataError(f"the seed {seed} is negative; give a whole number from 0")
    return np.random.Generator(np.random.PCG64(seed))


def check_percent(percent: float, *, most: float | None = None) -> None:
    """Raise a DataError unless 0 < percent <= most."""
    if not (math.isfinite(percent) and percent > 0 and (most is None or percent <= most)):
        upper = "" if most is None else f" and at most {most:g}"
        raise DataError(f"percent is {percent:g}; it must be above 0{upper}")


def standardised(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Centre each column of an array (n, a) and divide by its standard deviation (constants become 0)."""
    centred = values - values.mean(axis=0)
    deviation = np.sqrt((centred * centred).mean(axis=0))
    return np.asarray(centred / np.where(deviation > 0, deviation, 1.0))


@dataclass(frozen=True, kw_only=True)
class NumericMethod(ABC):
    """A method that turns the values of numeric attributes into others; subclasses fill in `mask_values`.

    Attributes
    ----------
    attributes : tuple of str, optional
        The attributes to mask; by default every numeric quasi-identifier.
    """

    attributes: tuple[str, ...] | None = field(default=None, metadata=ATTRIBUTES)

    @abstractmethod
    def mask_values(
        self, values: npt.NDArray[np.float64], generator: np.random.Generator
    ) -> npt.NDArray[np.float64]:
        """Mask an array (n, a) of finite numbers, n >= 1; return a new one of the same shape.

        Raises
        ------
        DataError
            If a parameter does not fit the number of records.
        """

    @property
    @abstractmethod
    def action(self) -> str:
        """What is done, with the parameters, as the beginning of "... of <attributes>"."""

    def masked_attributes(self, frame: pd.DataFrame) -> tuple[str, ...]:
        """Name the attributes of this table that `apply` would mask."""
        return choose_attributes(frame, self.attributes)

    def describe(self, frame: pd.DataFrame) -> str:
        """Say in one line what `apply` does to this table."""
        return f"{self.action} of {', '.join(self.masked_attributes(frame))}"

    def apply(self, frame: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
        """Mask a table (see `MaskingMethod.apply`)."""
        attributes = self.masked_attributes(frame)
        masked = self.mask_values(values_of(frame, attributes), random_generator(seed))
        return with_values(frame, attributes, masked)
