"""Explanatory variables of dates: years, quarters and months in the place of days, and their tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.dates import LEVELS, at_level, read_dates
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.schema import Schema

_Given = TypeVar("_Given")


def with_date_levels(
    frame: pd.DataFrame, hierarchies: Mapping[str, _Given], source: str, schema: Schema | None = None
) -> tuple[pd.DataFrame, dict[str, _Given | pd.DataFrame]]:
    """Recode variables whose hierarchy is a level of dates, and make the tree of that level and coarser ones.

    Parameters
    ----------
    frame : DataFrame
        The microdata.
    hierarchies : mapping of str to hierarchy
        Of some variables; ``year``, ``quarter`` or ``month`` in the place of a hierarchy is such a level.
    source : str
        What to call the microdata in messages.
    schema : Schema, optional
        Which form dates have, where it says so.

    Raises
    ------
    DataError
        If a cell of such a variable is no date, or its form is not clear.
    """
    found: dict[str, _Given | pd.DataFrame] = {}
    for name, given in hierarchies.items():
        level = given[0] if isinstance(given, list | tuple) and len(given) == 1 else given
        if not isinstance(level, str) or level not in LEVELS:
            found[name] = given
            continue
        form = None if schema is None else schema.get(name).form
        days = read_dates([(frame[name], source)], form)[0].days
        known = np.unique(days[~np.isnan(days)]).tolist()
        levels = LEVELS[: LEVELS.index(level) + 1]
        found[name] = pd.DataFrame({one: [at_level(day, one) for day in known] for one in levels})
        codes = [None if np.isnan(day) else at_level(day, level) for day in days.tolist()]
        frame = with_columns(frame, {name: pd.Series(codes, frame.index, dtype=object)})
    return frame, found
