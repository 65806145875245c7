"""Adjusted tables of counts: what readers know who know that they count, and how they were adjusted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.datasets.tables.cells_and_relations import SENSITIVE, StoredTable
from linkrisk.datasets.tables.counting import count_numbers


def with_ways_of_counts(stored: StoredTable) -> StoredTable:
    """The table with the ways that its counts can be moved without being known afterwards.

    A cell of the least count (1 where empty cells are shown) that is sensitive goes up. So a sensitive cell
    that is published with the least count is known not to have it: none is moved there, and 2 goes up as 1
    does. Cells that are not empty do not become so.

    Parameters
    ----------
    stored : StoredTable
        Of counts.
    """
    found, value = count_numbers(stored.numbers, stored.status), stored.numbers["value"]
    sensitive = stored.status == SENSITIVE
    asked = np.ceil(np.nan_to_num(stored.numbers.get("lower_protection", np.zeros(value.size))) - 1e-9)
    lower = np.where(sensitive, np.minimum(found.lower + 1.0, value), found.lower)
    down = np.where(sensitive & (asked <= value - lower), asked, 0.0)
    up = np.where(sensitive & (down == 0), np.maximum(found.rule_level, asked), found.rule_level)
    given = stored.numbers.get("upper_bound", np.full(value.size, np.nan))
    upper = np.where(np.isnan(given), value.max() + up.sum(), given)  # all may go up, and totals with them
    numbers = {"lower_bound": lower, "upper_bound": upper, "lower_protection": down, "upper_protection": up}
    return replace(stored, numbers={**stored.numbers, **numbers})


def guessed(value: FloatArray, adjusted: FloatArray, sensitive: BoolArray) -> int:
    """How many sensitive counts are the most frequent ones of what is published with their value.

    That is what a reader guesses who knows rule and method, and has tried both on tables like this one.
    """
    pairs = pd.DataFrame({"true": value, "published": adjusted})
    most = pairs.groupby("published")["true"].agg(lambda one: one.mode().min())
    return int((pairs["published"].map(most) == pairs["true"])[sensitive].sum())
