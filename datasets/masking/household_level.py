"""Columns that are of households, such as their size or income: one value for all members."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from linkrisk.arrays import LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import MaskingMethod
from linkrisk.datasets.masking.microaggregation import Microaggregation
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.optimal_microaggregation import OptimalMicroaggregation
from linkrisk.datasets.masking.pram import Pram
from linkrisk.datasets.masking.protections import Protection
from linkrisk.datasets.masking.rank_swapping import RankSwapping
from linkrisk.datasets.microdata.names import with_columns

_ONCE = (AdditiveNoise, Microaggregation, OptimalMicroaggregation, Pram, Protection, RankSwapping)
"""Methods that can mask a household as they mask a record, and would give its members several values."""


def household_level(frame: pd.DataFrame, household: str | None, names: Iterable[str]) -> tuple[str, ...]:
    """Name the columns in which all members of each household have the same value, or all none.

    Parameters
    ----------
    frame : DataFrame
    household : str, optional
        The column of household numbers; a record without one is a household of its own.
    names : iterable of str
        The columns that are looked at; none is of households where all of these have one member.
    """
    if household is None or household not in frame.columns:
        return ()
    number, first = _households(frame[household])
    if first.size == len(frame):
        return ()
    codes = {name: pd.factorize(frame[name], use_na_sentinel=False)[0] for name in names if name != household}
    return tuple(name for name, code in codes.items() if (code == code[first[number]]).all())


def masks_households(
    method: MaskingMethod, attributes: tuple[str, ...], frame: pd.DataFrame, household: str | None
) -> bool:
    """Whether a method masks each household once: all attributes are of households, and it can."""
    return isinstance(method, _ONCE) and household_level(frame, household, attributes) == attributes


def applied(
    method: MaskingMethod,
    attributes: tuple[str, ...],
    frame: pd.DataFrame,
    seed: int,
    household: str | None,
    source: str,
) -> pd.DataFrame:
    """Mask a table, each household once where all attributes are of households and the method can.

    Raises
    ------
    DataError
        If the method does not fit the table.
    """
    if household is not None and masks_households(method, tuple(attributes), frame, household):
        number, first = _households(frame[household])
        try:
            once = method.apply(frame.iloc[first], seed, source=source)
        except DataError:  # such as fewer households than a group has; rows are those of the whole table
            return method.apply(frame, seed, source=source)
        spread = {name: once[name].take(number).set_axis(frame.index) for name in attributes}
        return with_columns(frame, spread)
    return method.apply(frame, seed, source=source)


def _households(column: pd.Series) -> tuple[LongArray, LongArray]:
    """The number of the household of each record, and the first record of each."""
    number = pd.factorize(column)[0].astype(np.int64)
    alone = number < 0
    number[alone] = number.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    found, first = np.unique(number, return_index=True)
    return np.searchsorted(found, number).astype(np.int64), first.astype(np.int64)
