"""Masking stratum by stratum."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk import mask, run_protocol
from linkrisk.datasets.errors import DataError


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


@settings(max_examples=20, deadline=None)
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


def test_types_and_words():
    frame = made(5).astype({"trade": "category", "sex": "Int64"})
    result = mask(frame, "pram theta=0.8 attributes=trade", strata=["region"], seed=2)
    assert result.table.dtypes.equals(frame.dtypes)
    assert result.to_dict()["strata"] == ["region"]


def test_in_a_protocol(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made(6).to_csv("in.csv", index=False)
    Path("steps.toml").write_text(
        '[input]\nfile = "in.csv"\n[[step]]\ncommand = "mask"\nmethod = "noise percent=9 attributes=pay"\n'
        'strata = ["region"]\nseed = 5\n',
        encoding="utf-8",
    )
    run_protocol("steps.toml", "out.csv")
    mask("in.csv", "noise percent=9 attributes=pay", strata=["region"], seed=5).write("hand.csv")
    assert Path("out.csv").read_bytes() == Path("hand.csv").read_bytes()


@pytest.mark.parametrize(
    ("text", "strata", "message"),
    [
        ("noise percent=5 attributes=pay", ["regio"], "did you mean 'region'"),
        ("noise percent=5 attributes=pay", ["pay"], "'pay' is masked by noise and cannot be a stratum"),
        (
            "microaggregation k=30 attributes=pay",
            ["region"],
            r"stratum region (= [ns]|is missing): k is 30, but",
        ),
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
