"""Dates that were recoded to years, quarters or months by a method that is known."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from linkrisk.datasets.masking.recode import Recode
from linkrisk.datasets.masking.spelled import masking_method, names_files
from linkrisk.datasets.microdata.dates import at_level, read_dates
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.pairs.categorical import NOT_INFERRED, KnownRecoding, Masking, check_listed
from linkrisk.datasets.pairs.inferred import NumberRecoding


def date_recodings(
    masking: Masking, original: Table, dates: Collection[str]
) -> tuple[Masking, dict[str, NumberRecoding]]:
    """What levels of dates make of the days of an original table, and the masking methods that are left.

    Parameters
    ----------
    masking : sequence of str or KnownRecoding
    original : Table
        With days in the place of dates.
    dates : collection of str
        The attributes that are dates.

    Raises
    ------
    DataError
        If the methods are one text.
    """
    check_listed(masking)
    left: list[str | KnownRecoding] = []
    found: dict[str, NumberRecoding] = {}
    for item in masking:
        level, names = level_of(item, dates)
        if level is None:
            left.append(item)
            continue
        found |= {name: _recoding(name, original.frame[name], level) for name in names}
    return tuple(left), found


def level_of(item: object, dates: Collection[str]) -> tuple[str | None, tuple[str, ...]]:
    """The level that a method recodes dates to, and which; None where it does something else."""
    if not isinstance(item, str) or item == NOT_INFERRED or names_files(item):
        return None, ()
    method = masking_method(item)
    if not isinstance(method, Recode) or method.level is None:
        return None, ()
    names = tuple(dates) if method.attributes is None else tuple(method.attributes)
    return (str(method.level), names) if names and set(names) <= set(dates) else (None, ())


def _recoding(name: str, column: pd.Series, level: str) -> NumberRecoding:
    days = np.unique(column.dropna().to_numpy(dtype=np.float64))
    codes = pd.Series([at_level(day, level) for day in days.tolist()], dtype=object)
    became = read_dates([(codes, name)])[0].days
    return NumberRecoding(name, tuple(zip(days.tolist(), became.tolist(), strict=True)))
