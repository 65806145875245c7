"""`mask` as a function: the same tables and files as the command makes."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from linkrisk import mask
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.noise import AdditiveNoise
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


def test_public_data_by_name():
    assert len(mask("iris", "noise percent=5", seed=1).table) == 150


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
