"""`tables perturb-counts` on the command line and as a function."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import check_golden, refuse, run

from linkrisk import perturb_counts

ASKED = ["tables", "perturb-counts", "--input", "persons.csv", "--by", "region,sex"]
NOISE = ["--most", "2", "--variance", "1"]


@pytest.fixture(autouse=True)
def persons(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(5)
    frame = pd.DataFrame({"region": draw.choice(list("NSEW"), 60, p=[0.5, 0.3, 0.15, 0.05])})
    frame["sex"] = draw.choice(["f", "m"], 60)
    frame["key"] = draw.random(60).round(6)
    frame.to_csv("persons.csv", index=False)


def test_what_is_printed_and_written(capsys):
    files = ["--output", "safe.csv", "--internal", "internal.csv", "--json", "found.json"]
    more = ["--write-design", "design.csv", "--record-key", "key"]
    check_golden("tables-perturb-counts", run(capsys, *ASKED, *NOISE, *files, *more))
    safe, internal = pd.read_csv("safe.csv"), pd.read_csv("internal.csv")
    assert list(safe.columns) == ["region", "sex", "value"]
    assert (safe["value"] == internal["value"] + internal["noise"]).all()
    assert (safe["value"][internal["value"] == 0] == 0).all()
    persons = pd.read_csv("persons.csv")
    inside = persons[(persons["region"] == "N") & (persons["sex"] == "f")]
    mine = internal[(internal["region"] == "N") & (internal["sex"] == "f")]
    assert mine["cell_key"].iloc[0] == pytest.approx(inside["key"].sum() % 1.0)
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert found["changed"] == int((internal["noise"] != 0).sum())
    assert found["changes"]["absolute"]["mean"] == pytest.approx(internal["noise"].abs().mean())
    again = perturb_counts("persons.csv", ["region", "sex"], design="design.csv", record_key="key")
    assert again.cells["noise"].tolist() == internal["noise"].tolist()


def test_the_same_records_have_the_same_noise_in_every_table():
    both = perturb_counts("persons.csv", ["region", "sex"], most=2, variance=1.0, record_key="key").cells
    turned = pd.read_csv("persons.csv").iloc[::-1].reset_index(drop=True)
    one = perturb_counts(turned, ["region"], most=2, variance=1.0, record_key="key").cells
    for row in one.itertuples():
        same = both[(both["region"] == row.region) & (both["sex"] == "Total")].iloc[0]
        assert (same["cell_key"], same["noise"], same["value"]) == (row.cell_key, row.noise, row.value)


def test_keys_that_are_drawn_and_small_counts():
    first, second, other = (
        perturb_counts("persons.csv", ["region", "sex"], most=3, variance=2.0, small=1, seed=seed)
        for seed in (1, 1, 2)
    )
    assert first.cells.equals(second.cells)
    assert not first.cells["noise"].equals(other.cells["noise"])
    assert not first.cells["perturbed"].isin([1]).any()
    assert first.record_keys.size == 60
    assert repr(first) == f"PerturbedCounts(15 cells, {first.not_adding_up} relations do not add up)"


def test_sums_that_are_off_are_counted():
    found = perturb_counts("persons.csv", ["region", "sex"], most=2, variance=1.0)
    table = found.cells.pivot(index="region", columns="sex", values="perturbed")
    rows = (table["f"] + table["m"] != table["Total"]).sum()
    columns = (table.drop(index="Total").sum() != table.loc["Total"]).sum()
    assert found.not_adding_up == rows + columns


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "say what the noise is like: its largest value and its variance, or a design"),
        ([*NOISE, "--most", "0"], "the largest noise is 1 to 20, not 0"),
        (
            [*NOISE, "--design", "persons.csv"],
            "the design says what the noise is like; leave out what else does",
        ),
        (["--design", "persons.csv"], "persons.csv has no column 'i'; there are: region, sex, key"),
        (
            [*NOISE, "--json", "persons.csv"],
            "--json persons.csv would overwrite the --input file: give another name",
        ),
        (
            [*NOISE, "--record-key", "age"],
            "persons.csv has no column 'age' (record key); there are: region, sex, key",
        ),
    ],
)
def test_what_cannot_be_asked_for(capsys, options, message):
    refuse(capsys, message, *ASKED, "--output", "safe.csv", *options)


def test_keys_that_are_none(capsys):
    frame = pd.read_csv("persons.csv")
    frame.loc[3, "key"] = 1.5
    frame.to_csv("persons.csv", index=False)
    message = "persons.csv, column 'key', row 4: 1.5 is no record key; they are from 0 to less than 1"
    refuse(capsys, message, *ASKED, *NOISE, "--record-key", "key", "--output", "safe.csv")


def test_weighted_counts_are_perturbed_counts_times_the_mean_weight(capsys):
    """As `ck_class` of cellKey: `pwc = puwc * wc / uwc`, and nothing where nobody is.

    But in halves, as weighted counts are: other digits would say which have noise, and how many they count.
    """
    frame = pd.read_csv("persons.csv")
    frame["w"] = np.random.default_rng(1).integers(1, 6, len(frame)) / 2
    frame.to_csv("persons.csv", index=False)
    files = ["--output", "safe.csv", "--internal", "internal.csv"]
    run(capsys, *ASKED, *NOISE, *files, "--record-key", "key", "--weight", "w")
    safe, house = pd.read_csv("safe.csv"), pd.read_csv("internal.csv")
    total = house[(house["region"] == "Total") & (house["sex"] == "Total")].iloc[0]
    assert (total["value"], total["weighted"]) == (60, frame["w"].sum())
    inside = house[house["value"] > 0]
    expected = inside["perturbed"] * inside["weighted"] / inside["value"]
    assert inside["perturbed_weighted"].tolist() == (np.round(2.0 * expected) / 2.0).tolist()
    assert (expected % 0.5).any()
    assert not house["perturbed_weighted"][house["value"] == 0].any()
    assert list(safe.columns) == ["region", "sex", "value"]
    assert safe["value"].to_numpy() == pytest.approx(house["perturbed_weighted"].to_numpy())
    without = perturb_counts("persons.csv", ["region", "sex"], most=2, variance=1.0, record_key="key")
    assert without.cells["noise"].tolist() == house["noise"].tolist()
