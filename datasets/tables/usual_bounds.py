"""What everybody knows of the cells of a table, where nothing is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray


def usual_bounds(
    numbers: Mapping[str, FloatArray], sensitive: BoolArray, largest: float | None = None
) -> tuple[float, float]:
    """The least and the most that any cell can be, as everybody knows.

    Nobody knows that no cell is larger than a total that is sensitive itself, so that what the levels ask for
    is added where it would be out of reach; below it likewise, where cells may be negative.

    Parameters
    ----------
    numbers : mapping of str to ndarray of float64, shape (n,)
        `value`, and what there is of `lower_protection`, `upper_protection` and `sliding_protection`.
    sensitive : ndarray of bool, shape (n,)
        Whose levels count.
    largest : float, optional
        Where amounts may be negative: the largest sum of their sizes. By default it is the largest value, and
        cells may be negative where one is.

    Returns
    -------
    tuple of float
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
    """Cells of amounts that may be negative, with `lower_bound` and `upper_bound` (see `usual_bounds`)."""
    known = [name for name in cells.columns if name == "value" or name.endswith("_protection")]
    numbers = {name: cells[name].to_numpy(dtype=np.float64) for name in known}
    least, most = usual_bounds(numbers, sensitive, largest)
    return cells.assign(lower_bound=least, upper_bound=most)


def _sum(one: float, other: float) -> float:
    """The sum of two decimals as they are written: 0.1 + 0.2 is 0.3."""
    return float(Fraction(repr(one)) + Fraction(repr(other)))


def _level(numbers: Mapping[str, FloatArray], kind: str, sensitive: BoolArray) -> FloatArray:
    given = numbers.get(f"{kind}_protection", np.zeros(sensitive.size))
    return np.where(sensitive, np.nan_to_num(given), 0.0)
