"""`mask` as a function: the same tables and files as the command makes; households keep one value."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from cli_runs import run, squeezed

from linkrisk import mask
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.sequence import household_level
from linkrisk.solver.commands.program import main
from linkrisk.solver.run.errors import UsageError

pytestmark = pytest.mark.usefixtures("survey_folder")


@pytest.fixture
def table():
    return pd.read_csv("original.csv")


def test_the_command_writes_what_the_function_makes(capsys):
    argv = ["mask", "--input", "original.csv", "--method", "noise", "--percent", "10", "--seed", "5"]
    assert main([*argv, "--output", "command.csv", "--record", "command.json"]) == 0
    capsys.readouterr()
    found = mask("original.csv", "noise", parameters={"percent": 10.0}, seed=5)
    found.write("function.csv", record="function.json")
    assert Path("function.csv").read_bytes() == Path("command.csv").read_bytes()
    written, expected = (
        json.loads(Path(f"{name}.json").read_text("utf-8")) for name in ("function", "command")
    )
    assert written.pop("output")["sha256"] == expected.pop("output")["sha256"]
    assert written == expected
    made = json.loads(found.to_json())
    assert made["seed"] == "5"
    assert {name: expected[name] for name in made} == made


def test_methods_by_name_as_text_and_as_they_are(table):
    expected = mask(table, AdditiveNoise(percent=10.0), seed=3).to_frame()
    for method, parameters in (("noise", {"percent": 10.0}), ("noise percent=10", None)):
        pd.testing.assert_frame_equal(mask(table, method, parameters=parameters, seed=3).table, expected)
    assert not expected.equals(mask(table, "noise percent=10", seed=4).table)
    assert not expected.equals(mask(table, "noise percent=10").table)
    both = mask(table, ["noise percent=10 attributes=age", AdditiveNoise(percent=5.0)], seed=1)
    assert [step.method.name for step in both.steps] == ["noise", "noise"]
    assert both.steps[0].attributes == ("age",)
    assert "age" not in both.steps[1].attributes


def test_rows_index_and_other_columns_stay(table):
    labelled = table.set_axis([f"r{row}" for row in range(len(table))])
    found = mask(labelled, "noise percent=10 attributes=age", seed=1)
    assert found.table.index.equals(labelled.index)
    assert found.masked == ("age",)
    assert set(found.as_is) == set(table.columns) - {"age"}
    pd.testing.assert_frame_equal(found.table[list(found.as_is)], labelled[list(found.as_is)])
    other = mask(pl.from_pandas(table), "noise percent=10 attributes=age", seed=1)
    assert other.table["age"].tolist() == found.table["age"].tolist()


def test_the_seed_is_not_shown(table):
    found = mask(table, "noise percent=10 attributes=age", seed=987654321)
    assert "987654321" not in repr(found)
    assert repr(found) == f"MaskingResult(the table, {len(table)} records: noise of age)"
    assert mask(table, "microaggregation", parameters={"k": 3}).seed is None


def test_weights_and_ids_are_left_alone(table):
    numbered = table.assign(number=range(len(table)))
    found = mask(numbered, "noise percent=10", id="number", seed=1)
    assert found.left_alone["number"] == "id"
    assert "number" in found.as_is


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ([], {}, "no masking method is given; give at least one"),
        (
            "noise percent=5",
            {"parameters": {"percent": 6.0}},
            "percent does not say which method it is for; write it into the method, as "
            "method='noise percent=...'",
        ),
    ],
)
def test_bad_requests(table, method, options, message):
    with pytest.raises((UsageError, DataError)) as error:
        mask(table, method, **options)
    assert str(error.value).startswith(message)


def test_no_file_takes_the_place_of_another():
    found = mask("original.csv", "noise percent=5", seed=1)
    Path("kept.json").write_text("{}", encoding="utf-8")
    for output, record in (("original.csv", None), ("m.csv", "m.csv"), ("m.csv", "kept.json")):
        with pytest.raises((UsageError, DataError)):
            found.write(output, record)
    assert not Path("m.csv").exists()


# What is of a household, such as its size and income, keeps one value for all its members when masked


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
