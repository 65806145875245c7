"""Declared missing codes: which cells have one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.missing import Missing, MissingRange, is_declared_missing, without_codes


@pytest.mark.parametrize(
    ("column", "missing", "expected"),
    [
        ([1, 99, 9], ("99",), [False, True, False]),
        ([1.0, 99.0, np.nan], ("99",), [False, True, False]),
        ([1.5, 2.5], ("99", "x"), [False, False]),
        (["1", "99", "9", None], ("99",), [False, True, False, False]),
        (["09", "9"], ("9",), [False, True]),
        (["99", "100", "x"], (MissingRange(97.0, 99.0),), [True, False, False]),
        ([96, 97, 98, 99, 100], (MissingRange(97.0, 99.0),), [False, True, True, True, False]),
        ([-5, -1, 0], (MissingRange(high=-1.0),), [True, True, False]),
        ([1, 2, 3], (MissingRange(low=3.0), "1"), [True, False, True]),
        ([True, False], ("True",), [True, False]),
        ([1, 2], (), [False, False]),
    ],
)
def test_cells_with_a_code(column: list[Any], missing: Missing, expected: list[bool]) -> None:
    series = pd.Series(column)
    assert is_declared_missing(series, missing).tolist() == expected
    cleaned = without_codes(series, missing)
    assert cleaned.isna().tolist() == [
        is_code or is_missing for is_code, is_missing in zip(expected, series.isna(), strict=True)
    ]
    left = ~np.array(expected) & series.notna().to_numpy()
    assert cleaned[left].tolist() == series[left].tolist()


def test_a_column_without_codes_is_not_copied() -> None:
    column = pd.Series([1, 2])
    assert without_codes(column, ("9",)) is column


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ((2.0, 1.0), "no number is between 2 and 1; give the smaller end first"),
        ((float("nan"), 1.0), "no number is between nan and 1; give the smaller end first"),
        ((float("-inf"), float("inf")), "a range of missing codes needs at least one end"),
    ],
)
def test_ranges_without_numbers(ends: tuple[float, float], message: str) -> None:
    with pytest.raises(DataError) as caught:
        MissingRange(*ends)
    assert str(caught.value) == message
