"""Attributes that one value far out, or their unit, makes hard to weigh: said, with numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from fit_runs import frames

from linkrisk import fit


def survey(code: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ages that say who is who, incomes that do not, and one age that stands for a missing one."""
    random = np.random.default_rng(0)
    original = pd.DataFrame({"income": random.normal(size=60), "age": random.uniform(18, 90, 60)})
    masked = original + random.normal(size=(60, 2)) * [1.0, 0.05]
    for frame in (original, masked):
        frame.loc[7, "age"] = code
    return original, masked


def test_a_code_far_out_is_noted():
    (note,) = fit(*survey(99999999.0)).details["notes"]
    assert note.startswith("column age is hard to weight against the others")
    assert "most of its values lie within 3e-06 standardised units" in note
    assert "such as 99999999 for a missing value" in note


def test_codes_for_a_third_of_the_values_are_noted():
    original, masked = survey(40.0)
    masked.loc[::3, "age"] = 99999999.0
    (note,) = fit(original, masked, standardisation="pooled").details["notes"]
    assert note.startswith("column age is hard to weight against the others")


def test_units_far_apart_are_noted_where_nothing_is_standardised():
    original, masked = survey(40.0)
    files = [frame.assign(income=1e6 * frame["income"]) for frame in (original, masked)]
    assert fit(*files).details["notes"] == []
    note = fit(*files, standardisation="none").details["notes"][0]
    assert note.startswith("column age is hard to weight against the others")


@pytest.mark.parametrize("code", [40.0, 999.0])
def test_what_is_within_reach_is_not_noted(code):
    assert fit(*survey(code)).details["notes"] == []


def test_files_as_they_are_mostly_are_not_noted():
    assert fit(*frames(3, 20)).details["notes"] == []
