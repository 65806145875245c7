"""Cells of value 0 that have respondents, the sign of empty cells beside them, and bad record keys."""

from __future__ import annotations

import numpy as np
import openpyxl
import pandas as pd
import pytest
from cli_runs import refuse

from linkrisk import make_table, open_table, perturb_counts, perturb_sums, round_table, suppress_table
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.stored_table import StoredTable


def firms(**more):
    """One firm in N,a, which has nothing; nobody in S,a."""
    cells = {
        "Na": [0],
        "Nb": [50, 60, 70],
        "Sb": [40, 41, 42],
        "Nc": [30, 31, 35],
        "Sc": [20, 21, 22],
        **more,
    }
    lines = [(*codes, amount) for codes, amounts in cells.items() for amount in amounts]
    return pd.DataFrame(lines, columns=["region", "size", "turnover"])


def made_of(data, *rules, **how):
    return make_table(data, ["region", "size"], response="turnover", rules=rules, **how)


def at(cells, region, size):
    return cells[(cells["region"] == region) & (cells["size"] == size)].iloc[0]


def test_few_respondents_are_sensitive_who_have_nothing():
    cells = made_of(firms(), "frequency=3").cells
    one = at(cells, "N", "a")
    assert (one["value"], one["respondents"], one["status"]) == (0, 1, "u")
    average = 462 / 13
    assert one["upper_protection"] == pytest.approx(0.2 * average)
    assert one["lower_protection"] == 0
    assert at(cells, "S", "a")["status"] == "z"
    assert at(cells, "N", "b")["status"] == "s"


def test_requests_of_few_who_have_nothing():
    data = firms().assign(asks=[1] + [0] * 12)
    cells = made_of(data, "request=70,70,2,20", request="asks").cells
    assert at(cells, "N", "a")["status"] == "u"
    assert at(cells, "N", "a")["upper_protection"] == pytest.approx(0.2 * 462 / 13)


def test_where_all_have_nothing_there_is_a_level_all_the_same():
    cells = made_of(firms().assign(turnover=0), "frequency=3").cells
    assert at(cells, "N", "a")["upper_protection"] == pytest.approx(0.2)


def test_a_zero_that_few_have_is_suppressed_and_not_told():
    result = suppress_table(made_of(firms(), "frequency=3"))
    codes = result.cells[["region", "size"]].itertuples(index=False, name=None)
    gone = dict(zip(codes, result.suppressed, strict=True))
    assert gone["N", "a"]
    assert result.protected


def sheet(path):
    return [list(row) for row in openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True)]


def test_empty_cells_have_no_sign_beside_a_zero(tmp_path):
    """Three firms that have nothing are published as 0: so is who is not there."""
    data = firms(Na=[0, 0, 0])
    result = suppress_table(made_of(data, "frequency=3"))
    result.write(tmp_path / "safe.xlsx")
    shown = sheet(tmp_path / "safe.xlsx")
    assert shown[2][shown[0].index("a") if "a" in shown[0] else shown[1].index("a")] == 0
    assert not any(one == "-" for row in shown for one in row)
    without = suppress_table(made_of(firms(Na=[5, 6, 7]), "frequency=3"))
    without.write(tmp_path / "other.xlsx")
    assert any(one == "-" for row in sheet(tmp_path / "other.xlsx") for one in row)


def test_what_was_rounded_to_nothing_is_not_told_from_what_is_empty(tmp_path):
    data = firms(Na=[1, 0, 0])
    round_table(made_of(data), base=5).write(tmp_path / "safe.xlsx")
    assert not any(one == "-" for row in sheet(tmp_path / "safe.xlsx") for one in row)


KEYS = {
    "constant": np.zeros(60),
    "flags": np.arange(60) % 2 / 2,
    "nearly constant": np.where(np.arange(60) < 16, 0.25, np.random.default_rng(0).random(60)),
}


@pytest.mark.parametrize("name", KEYS)
def test_record_keys_that_are_the_same(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    persons = pd.DataFrame({"a": np.arange(60) % 3, "b": 0, "t": 5.0, "key": KEYS[name]})
    persons.to_csv("persons.csv", index=False)
    key, often = persons["key"].mode()[0], persons["key"].value_counts().max()
    said = (
        f"column 'key': {often} of 60 records have the key {key:g}; record keys are drawn at random for each "
        "record, so that their noise differs; give another column, or none"
    )
    for make in (
        lambda: perturb_counts(persons, ["a"], most=2, variance=1.0, record_key="key"),
        lambda: perturb_sums(
            persons, ["a"], response="t", noise="most=2,variance=1", share=0.1, record_key="key"
        ),
    ):
        with pytest.raises(DataError, match=said):
            make()
    ask = [
        "tables",
        "perturb-counts",
        "--input",
        "persons.csv",
        "--by",
        "a",
        "--most",
        "2",
        "--variance",
        "1",
    ]
    refuse(capsys, f"persons.csv, {said}", *ask, "--record-key", "key", "--output", "safe.csv")


def test_record_keys_of_two_digits_are_keys():
    persons = pd.DataFrame(
        {"a": np.arange(400) % 3, "key": np.random.default_rng(1).integers(0, 100, 400) / 100}
    )
    assert perturb_counts(persons, ["a"], most=2, variance=1.0, record_key="key").changed >= 0


def test_noise_on_the_grid_of_the_sums():
    """Amounts in thousands stay in thousands: a sum of other digits would be known to have noise."""
    random = np.random.default_rng(3)
    data = pd.DataFrame({"a": np.arange(90) % 9, "t": random.integers(1, 40, 90) * 1000})
    asked = {"response": "t", "noise": "most=2,variance=1", "share": 0.1}
    found = perturb_sums(data, ["a"], **asked).cells
    assert (found["perturbed"] % 1000 == 0).all()
    assert (found["noise"] != 0).any()
    assert (perturb_sums(data, ["a"], **asked, decimals=1).cells["perturbed"] % 1000 != 0).any()


def test_a_table_of_cells_with_zeros_has_no_sign_for_cells_that_are_not_in_it(tmp_path):
    cells = pd.DataFrame(
        {"r": ["Total", "Total", "Total", "A", "A", "B"], "c": ["Total", "x", "y", "Total", "x", "Total"]}
    ).assign(value=[5, 5, 0, 5, 5, 0])
    table = open_table(cells, by=["r", "c"])
    assert isinstance(table, StoredTable)
    suppress_table(table).write(tmp_path / "safe.xlsx")
    assert not any(one == "-" for row in sheet(tmp_path / "safe.xlsx") for one in row)
