"""Public knowledge of cells: their bounds, and whole numbers where values are counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import with_columns


def usual_bounds(
    numbers: Mapping[str, FloatArray], sensitive: BoolArray, largest: float | None = None
) -> tuple[float, float]:
    """Return the lower and upper bound that everybody knows of any cell, where a table gives none.

    The upper bound is the largest value; cells may be negative where one is, or where `largest`, the largest
    sum of absolute amounts, is given. Nobody knows that no cell is larger than a total that is sensitive
    itself, so that what the levels ask for is added where it would be out of reach; below it likewise, where
    cells may be negative.
    """
    value = numbers["value"]
    negative = largest is not None or bool((value < 0).any())
    most = float(np.abs(value).max()) if largest is None else largest
    least = -most if negative else 0.0
    below, above, wide = (_level(numbers, kind, sensitive) for kind in ("lower", "upper", "sliding"))
    narrow = bool((wide > most - least).any())
    if negative and (value - below < least).any():
        least = _sum(least, -float(below.max()))
    if narrow or (value + above > most).any():
        most = _sum(most, float(np.maximum(above, wide).max()))
    return least, most


def with_bounds(cells: pd.DataFrame, sensitive: BoolArray, largest: float) -> pd.DataFrame:
    """Add `lower_bound` and `upper_bound` to cells of amounts that may be negative (`usual_bounds`)."""
    known = [name for name in cells.columns if name == "value" or name.endswith("_protection")]
    numbers = {name: cells[name].to_numpy(dtype=np.float64) for name in known}
    least, most = usual_bounds(numbers, sensitive, largest)
    return cells.assign(lower_bound=least, upper_bound=most)


def _sum(one: float, other: float) -> float:
    """Add two decimals as they are written: 0.1 + 0.2 is 0.3."""
    return float(Fraction(repr(one)) + Fraction(repr(other)))


def _level(numbers: Mapping[str, FloatArray], kind: str, sensitive: BoolArray) -> FloatArray:
    given = numbers.get(f"{kind}_protection", np.zeros(sensitive.size))
    return np.where(sensitive, np.nan_to_num(given), 0.0)


_SENSITIVE, _SECONDARY, _SAFE = "u", "m", "s"

_FEW = 15
"""Where all sensitive values are below it, they may be counts below the threshold of a rule."""

_DIGITS = 1e-9
"""A level that is a whole number but for so much is one."""


def are_counts(
    cells: pd.DataFrame, numbers: Mapping[str, FloatArray], status: npt.NDArray[np.str_]
) -> bool | None:
    """Guess whether the values of a table are counts; None where they may be.

    They are where they equal the numbers of respondents; without these, where they are whole numbers, none
    below 0, of which exactly the smallest that are not 0 are sensitive, as a frequency rule has it. They may
    be where other ones are sensitive that are as small.
    """
    value, sensitive = numbers["value"], status == _SENSITIVE
    if (value != np.round(value)).any() or (value < 0).any():
        return False
    if "respondents" in cells.columns:
        respondents = pd.to_numeric(cells["respondents"], errors="coerce").to_numpy(dtype=np.float64)
        return bool((respondents == value).all())
    largest, others = float(value[sensitive].max(initial=0.0)), value[~sensitive & (value > 0)]
    if not sensitive.any() or largest >= _FEW:
        return False
    return True if largest < others.min(initial=np.inf) else None


@dataclass(frozen=True, eq=False)
class CountNumbers:
    """What a reader knows of counts, and their protection levels; arrays of shape (n,)."""

    lower: FloatArray
    upper: FloatArray
    lower_level: FloatArray
    upper_level: FloatArray
    sliding_level: FloatArray
    rule_level: FloatArray  # The part of `upper_level` that is not there for the threshold alone.
    empty: BoolArray  # Cells that are shown to be empty.


def count_numbers(numbers: Mapping[str, FloatArray], status: npt.NDArray[np.str_]) -> CountNumbers:
    """Compute bounds and protection levels of counts in whole numbers.

    A level below the value that the least count leaves no room for goes as far as there is room: all other
    counts are then above.
    """
    value, sensitive = numbers["value"], status == _SENSITIVE
    down, up, wide = (_rounded(numbers, kind, sensitive) for kind in ("lower", "upper", "sliding"))
    given = _given(numbers, "lower_bound")
    known = np.where(np.isnan(given), 0.0, np.ceil(given - _DIGITS))
    shown = empties_are_shown(numbers, status)
    lower = np.where(shown & (value >= 1), np.maximum(known, 1.0), known)
    beyond = (down > 1) & (down > value - known)  # more than anybody could ask for: refused by the table
    asked = np.maximum(np.maximum(down, up), wide)
    down = np.where(beyond, down, np.minimum(down, value - lower))
    up = np.where((asked > 0) & (np.maximum(np.maximum(down, up), wide) < 1), 1.0, up)
    threshold = np.nan_to_num(_given(numbers, "threshold"))
    wished = np.where(sensitive, np.maximum(up, threshold - value), 0.0)
    levels = {"lower_protection": down, "upper_protection": wished, "sliding_protection": wide}
    most = usual_bounds({**numbers, **levels}, sensitive)[1]
    given = _given(numbers, "upper_bound")
    upper = np.where(np.isnan(given), most, np.floor(given + _DIGITS))
    wished = np.maximum(np.minimum(wished, upper - value), up)
    return CountNumbers(lower, upper, down, wished, wide, up, shown & (value == 0))


def integer_numbers(numbers: Mapping[str, FloatArray], status: npt.NDArray[np.str_]) -> dict[str, FloatArray]:
    """Return bounds and levels of counts by their columns; the upper level includes the threshold."""
    found = count_numbers(numbers, status)
    return {
        "lower_bound": found.lower,
        "upper_bound": found.upper,
        "lower_protection": found.lower_level,
        "upper_protection": found.upper_level,
        "sliding_protection": found.sliding_level,
    }


def with_integer_levels(cells: pd.DataFrame, least: int, *, suppressible: bool) -> pd.DataFrame:
    """Round the levels of counts to whole numbers, and add the threshold of a frequency rule.

    Fewer than `least` respondents are sensitive; 0 where there is no such rule. With `suppressible` empty
    cells, a suppressed cell may be empty, so that its lower bound is 0.
    """
    kinds = [name for name in cells.columns if name.endswith("_protection")]
    numbers = {name: cells[name].to_numpy(dtype=np.float64) for name in ("value", *kinds)}
    if suppressible:
        numbers["lower_bound"] = np.zeros(len(cells))
    status = cells["status"].to_numpy(dtype=np.str_)
    found = count_numbers(numbers, status)
    levels = {
        "lower_protection": found.lower_level,
        "upper_protection": found.rule_level,
        "sliding_protection": found.sliding_level,
    }
    made = with_columns(cells, {name: levels[name] for name in kinds})
    if least:
        below = (status == _SENSITIVE) & (numbers["value"] < least)
        made["threshold"] = np.where(below, float(least), np.nan)
    return made.assign(lower_bound=0) if suppressible else made


def empties_are_shown(numbers: Mapping[str, FloatArray], status: npt.NDArray[np.str_]) -> bool:
    """Tell whether a reader knows of every suppressed cell that it is not empty.

    He does not where an empty cell is suppressed itself; or where one may be, and the lower bounds say so:
    that of a cell which is not empty is 0.
    """
    value = numbers["value"]
    empty = value == 0
    if (empty & np.isin(status, (_SENSITIVE, _SECONDARY))).any():
        return False
    given = _given(numbers, "lower_bound")
    return not ((empty & (status == _SAFE)).any() and (given[~empty] == 0).any())


def _rounded(numbers: Mapping[str, FloatArray], kind: str, sensitive: BoolArray) -> FloatArray:
    level = np.nan_to_num(_given(numbers, f"{kind}_protection"))
    return np.where(sensitive, np.where(level > 0, np.ceil(level - _DIGITS), level), 0.0)


def _given(numbers: Mapping[str, FloatArray], name: str) -> FloatArray:
    return numbers.get(name, np.full(numbers["value"].size, np.nan))


def check_weights(where: str, weights: pd.Series) -> None:
    """Refuse weights with a common factor: readers divide by it, and know whole numbers of the result."""
    given = np.unique(pd.to_numeric(weights).to_numpy(dtype=np.float64))
    given = given[given > 0]
    if given.size > 1 and (given != np.round(given)).any():
        return
    step = float(given[0]) if given.size == 1 else float(np.gcd.reduce(given.astype(np.int64), initial=0))
    if step not in (0.0, 1.0):
        raise DataError(
            f"{where}: all weights are multiples of {step:g}, by which readers divide what is counted, and "
            f"know whole numbers of it; divide the weights by {step:g}, or leave them out where they are all "
            "the same, and multiply what may be published"
        )
