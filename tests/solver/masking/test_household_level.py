"""What is of a household, such as its size and income, keeps one value for all its members when masked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from cli_runs import run, squeezed

from linkrisk import mask
from linkrisk.datasets.masking.sequence import household_level

METHODS = [
    "noise percent=30",
    "noise percent=30 correlated",
    "microaggregation k=3",
    "microaggregation groups=income,rooms:3",
    "optimal-microaggregation k=3",
    "rank-swapping percent=20",
    "pram change=0.5",
]


def survey():
    """Thirty households of one to four persons, the last without a number."""
    rng = np.random.default_rng(2)
    size = rng.integers(1, 5, 30)
    of = np.arange(30).repeat(size)
    number = (of + 500).astype(float)
    number[of == 29] = np.nan
    return pd.DataFrame(
        {
            "hhid": number,
            "income": (rng.integers(10, 90, 30) * 100)[of],
            "rooms": rng.integers(1, 9, 30)[of],
            "age": rng.integers(1, 90, of.size),
        }
    )


def named(text):
    return text if "groups=" in text else f"{text} attributes=income,rooms"


SCHEMA = {"attributes": [{"name": "hhid", "role": "household"}]}


@pytest.mark.parametrize("text", METHODS)
def test_members_keep_one_value(text):
    frame = survey()
    found = mask(frame, named(text), schema=SCHEMA, seed=1)
    each = found.table.groupby("hhid")
    assert (each[["income", "rooms"]].nunique(dropna=False) == 1).all().all()
    assert found.split == {}
    assert not found.table["income"].equals(frame["income"])


def test_what_was_masked_once_for_each_household_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    survey().to_csv("survey.csv", index=False)
    methods = [f"noise percent=30 attributes={name}" for name in ("income", "age")]
    said = run(
        *(capsys, "mask", "--input", "survey.csv", "--method", methods[0], "--method", methods[1]),
        *("--seed", "1", "--output", "masked.csv"),
    )
    assert " once income: masked once for each household (hhid)\n" in squeezed(said)
    found = mask(survey(), methods, seed=1)
    assert found.to_dict()["once_per_household"] == {"income": "hhid"}
    both = mask(survey(), "noise percent=30 attributes=income,age", seed=1)
    assert both.once == {}
    assert both.to_dict()["several_per_household"] == {"income": "hhid"}


def test_numbers_that_may_be_codes_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = survey().drop(columns="hhid")
    frame["status"], frame["hours"] = 1 + frame["age"] % 3, 8 + frame["age"] % 3
    frame.to_csv("survey.csv", index=False)
    given = ["mask", "--input", "survey.csv", "--method", "noise", "--percent", "5", "--output", "m.csv"]
    assert (
        "note: rooms, status: few different whole numbers, masked as numbers; if these are codes, say so "
        "in a --schema, or name the others with --attributes\n"
    ) in run(capsys, *given, "--seed", "1")
    assert mask(frame, "noise percent=5", seed=1).to_dict()["perhaps_codes"] == ["rooms", "status"]
    assert "note" not in run(capsys, *given, "--seed", "1", "--attributes", "age,status")


def test_each_household_is_masked_as_one_record():
    """The values are those of a table of households; a record without a number is one of its own."""
    frame = survey()
    of_households = frame[~frame["hhid"].duplicated() | frame["hhid"].isna()]
    for text in METHODS[:-1]:
        once = mask(of_households, named(text), seed=1).table
        spread = mask(frame, named(text), schema=SCHEMA, seed=1).table.loc[once.index]
        pd.testing.assert_frame_equal(spread, once)


def test_a_method_of_persons_and_households_is_said_to_split_these(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    survey().to_csv("survey.csv", index=False)
    given = ["mask", "--input", "survey.csv", "--output", "masked.csv", "--seed", "1"]
    lines = run(capsys, *given, "--method", "noise percent=30 attributes=income,age").splitlines()
    note = (
        "note: income had one value in each household (hhid) and has several now; mask such columns by a "
        "method of their own, once for each household"
    )
    assert note in lines
    apart = ["--method", "noise percent=30 attributes=income", "--method", "noise percent=30 attributes=age"]
    assert not [line for line in run(capsys, *given, *apart).splitlines() if line.startswith("note")]
    assert pd.read_csv("masked.csv").groupby("hhid")["income"].nunique().max() == 1


def test_columns_of_households_are_found():
    frame = survey()
    assert household_level(frame, "hhid", ["income", "rooms", "age", "hhid"]) == ("income", "rooms")
    assert household_level(frame, None, ["income"]) == ()
    assert household_level(frame[~frame["hhid"].duplicated()], "hhid", ["income"]) == ()
