"""Masking methods by name: what exists, what each takes, and what is said when it does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk import mask
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import MaskingMethod
from linkrisk.datasets.masking.registry import METHODS, make_method
from linkrisk.datasets.microdata.recoding_files import RecodingFile, RecodingLine

REQUIRED: dict[str, dict[str, Any]] = {
    "noise": {"percent": 5.0},
    "rank-swapping": {"percent": 20.0},
    "top-coding": {"categories": 3, "attributes": ("x1",)},
    "bottom-coding": {"percent": 50.0, "attributes": ("x2",)},
    "global-recoding": {"categories": 2, "attributes": ("x1", "x3")},
    "recode": {"file": (RecodingFile("x1", "x1.grc", (RecodingLine(1, "3", (("0", ""),)),)),)},
    "record-swapping": {"household": "home", "hierarchy": ("place",), "risk": ("x1",)},
    "rounding": {"base": 2.0},
    "weight-calibration": {"like": "like.csv", "margins": ("x1",), "attributes": ("w",)},
    "pram": {"change": 0.5, "attributes": ("x4",)},
}


def test_every_method_has_a_name_and_the_common_shape(tmp_path, monkeypatch):
    protections = ("M4-33", "M4-28", "M4-82", "M5-38", "M6-385", "M6-853")
    assert tuple(METHODS)[-len(protections) :] == protections
    frame = pd.DataFrame(
        {f"x{number}": [float(number * row % 7) for row in range(9)] for number in range(1, 7)}
    ).assign(w=range(1, 10), home=range(9), place=[0, 1, 2] * 3)
    monkeypatch.chdir(tmp_path)
    frame.to_csv("like.csv", index=False)
    for name in METHODS:
        method = make_method(name, REQUIRED.get(name, {}))
        assert isinstance(method, MaskingMethod)
        assert method.name == name
        masked = method.apply(frame, 1)
        changed = {column for column in frame if not masked[column].equals(frame[column])}
        assert changed <= set(method.masked_attributes(frame))


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("nois", {}, "there is no masking method 'nois'; did you mean 'noise'?"),
        ("noise", {}, "noise needs percent"),
        ("noise", {"k": 3}, "noise has no parameter k; it takes attributes, schema, percent, correlated"),
        ("M4-33", {"k": 3}, "M4-33 has no parameter k; it takes attributes, schema"),
        ("rank-swapping", {"percent": 200.0}, "percent is 200; it must be above 0 and at most 100"),
    ],
)
def test_what_does_not_fit(name, parameters, message):
    with pytest.raises(DataError) as caught:
        make_method(name, parameters)
    assert str(caught.value) == message


# Masking stratum by stratum


def made(seed, rows=40):
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "region": generator.permutation(np.resize(["n", "s", "n", "s", None], rows)),
            "sex": generator.integers(1, 3, rows),
            "pay": generator.lognormal(3, 1, rows).round(1),
            "trade": generator.choice(["a", "b", "c"], rows),
        },
        index=generator.permutation(rows) // 2,  # an index that says nothing
    )


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_each_stratum_as_if_it_were_a_table(seed):
    """A method without chance gives the same as by hand; a missing stratum is one of its own."""
    frame = made(seed)
    text = "microaggregation k=2 attributes=pay"
    after = mask(frame, text, strata=["region"]).table
    assert after.index.equals(frame.index)
    assert after.drop(columns="pay").equals(frame.drop(columns="pay"))
    for region in ("n", "s", None):
        inside = (frame["region"] == region if region else frame["region"].isna()).to_numpy()
        by_hand = mask(frame[inside], text).table["pay"]
        assert after["pay"][inside].tolist() == by_hand.tolist()


def test_ranks_are_swapped_within_strata():
    frame = made(3, rows=200)
    after = mask(frame, "rank-swapping percent=30 attributes=pay", strata=["region", "sex"], seed=4).table
    for table in (frame, after):
        table["cell"] = table["region"].fillna("-") + table["sex"].astype(str)
    for cell in frame["cell"].unique():
        assert sorted(frame["pay"][frame["cell"] == cell]) == sorted(after["pay"][after["cell"] == cell])
    assert not frame["pay"].equals(after["pay"])


def test_strata_draw_different_numbers_and_the_same_again():
    frame = pd.DataFrame({"region": ["n"] * 5 + ["s"] * 5, "pay": [1.0, 2, 3, 4, 5] * 2})
    first = mask(frame, "noise percent=50 attributes=pay", strata=["region"], seed=1).table["pay"]
    assert not np.allclose(first[:5].to_numpy(), first[5:].to_numpy())
    assert first.equals(
        mask(frame, "noise percent=50 attributes=pay", strata=["region"], seed=1).table["pay"]
    )


@pytest.mark.parametrize(
    ("text", "strata", "message"),
    [
        ("noise percent=5 attributes=pay", ["regio"], "did you mean 'region'"),
        ("noise percent=5 attributes=pay", ["pay"], "'pay' is masked by noise and cannot be a stratum"),
        ("microaggregation k=30 attributes=pay", ["region"], "stratum region (= [ns]|is missing): k is 30,"),
        (
            "weight-calibration like=x.csv margins=sex attributes=pay",
            ["region"],
            "restores the shares of a whole",
        ),
    ],
)
def test_what_cannot_be_stratified(text, strata, message):
    with pytest.raises(DataError, match=message):
        mask(made(1), text, strata=strata, seed=1)
