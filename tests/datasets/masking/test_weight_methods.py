"""Rounding of any numbers, and calibration of weights to the shares of another file."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.noise import Rounding
from linkrisk.datasets.masking.weight_calibration import WeightCalibration


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6),
    base=st.sampled_from([0.1, 0.25, 1.0, 5.0, 100.0]),
)
def test_the_nearest_multiple(values, base):
    frame = pd.DataFrame({"x": [*values, None]}, dtype=float)
    made = Rounding(base=base, attributes=("x",)).apply(frame)["x"]
    assert made.isna().tolist() == frame["x"].isna().tolist()
    known = made.dropna().to_numpy()
    assert np.abs(known / base - np.round(known / base)).max() < 1e-6
    assert (np.abs(known - values) <= base / 2 * (1 + 1e-9) + 1e-9).all()


def test_halves_go_away_from_zero_and_weights_stay_above():
    frame = pd.DataFrame({"w": [0.2, 1.5, 2.5, 12.0]})
    assert Rounding(base=1, attributes=("w",)).apply(frame)["w"].tolist() == [0.0, 2.0, 3.0, 12.0]
    assert Rounding(base=5, positive=True, attributes=("w",)).apply(frame)["w"].tolist() == [5, 5, 5, 10]
    assert Rounding(base=1, attributes=("w",)).apply(-frame)["w"].tolist() == [0.0, -2.0, -3.0, -12.0]


@given(
    steps=st.integers(-(10**6), 10**6),
    base=st.sampled_from(["0.1", "0.05", "0.2", "0.25", "3", "0.001", "1e-13"]),
)
def test_halves_are_those_of_decimals(steps, base):
    """5.05 is half way from 5.0 to 5.1, although the nearest double is a little less."""
    half = (steps + Decimal("0.5")) * Decimal(base)
    away = (steps + (1 if steps >= 0 else 0)) * Decimal(base)
    made = Rounding(base=float(base), attributes=("x",)).apply(pd.DataFrame({"x": [float(half)]}))
    assert made["x"].tolist() == [float(away)]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def shares(frame, name):
    sums = frame.groupby(frame[name].astype(str))["w"].sum()
    return sums / sums.sum()


def method(*margins):
    return WeightCalibration(like="original.csv", margins=margins, attributes=("w",))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6))
def test_shares_and_total_are_those_of_the_original(seed):
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": np.tile(["x", "y", "z"], 40),
            "b": generator.permutation(np.repeat(["1", "2"], 60)),
            "w": generator.uniform(1, 50, 120).round(2),
        }
    )
    frame.to_csv("original.csv", index=False)
    lost = frame.copy()
    lost.loc[generator.random(120) < 0.2, "a"] = None
    lost.loc[generator.random(120) < 0.1, "b"] = None
    made = method("a", "b").apply(lost)
    assert made["w"].sum() == pytest.approx(frame["w"].sum())
    assert (made["w"] > 0).all()
    for name in ("a", "b"):
        known = made[made[name].notna()]
        assert shares(known, name).to_numpy() == pytest.approx(shares(frame, name).to_numpy(), rel=1e-6)
    assert made.drop(columns="w").equals(lost.drop(columns="w"))


BASE = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["1", "2", "1", "2"], "w": [1.0, 2.0, 3.0, 4.0]})


@pytest.mark.parametrize(
    ("change", "margins", "message"),
    [
        ({"w": [1.0, 0.0, 3.0, 4.0]}, ("a",), "column 'w', row 2: a sampling weight must be above 0"),
        ({"a": ["x", "x", "y", "q"]}, ("a",), "column 'a': original.csv has no 'q'; recode both alike"),
        ({"a": [None] * 4}, ("a",), "column 'a': all values are missing; leave the margin out"),
        ({}, ("c",), "margins 'c'|c"),
        # Who is x is 1 and who is y is 2 once the others are gone: one share cannot be two.
        ({"a": ["x", None, "y", None], "b": ["1", None, "2", None]}, ("a", "b"), "no weights have the"),
    ],
)
def test_what_cannot_be_calibrated(change, margins, message):
    BASE.to_csv("original.csv", index=False)
    with pytest.raises(DataError, match=message):
        method(*margins).apply(BASE.assign(**change))


def test_categories_that_are_gone_leave_the_shares_of_the_others():
    BASE.to_csv("original.csv", index=False)
    for a, b in ((["x", "x", None, None], ["1", None, "1", "1"]), (["x", None, "y", None], [None, "1"] * 2)):
        made = method("a", "b").apply(BASE.assign(a=a, b=b))
        assert made["w"].sum() == pytest.approx(10.0)


def test_the_weights_have_to_be_named():
    with pytest.raises(DataError, match="name the one column of sampling weights with attributes"):
        WeightCalibration(like="x.csv", margins=("a",))
    with pytest.raises(DataError, match="margins are the columns whose shares are restored"):
        WeightCalibration(like="x.csv", margins=("w",), attributes=("w",))
    assert not Path("x.csv").exists()
