"""`tables perturb-counts` and `tables perturb-sums` on the command line and as functions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import check_golden, check_refusals, run

from linkrisk import perturb_counts, perturb_sums

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


def test_sums_that_are_off_are_counted():
    found = perturb_counts("persons.csv", ["region", "sex"], most=2, variance=1.0)
    table = found.cells.pivot(index="region", columns="sex", values="perturbed")
    rows = (table["f"] + table["m"] != table["Total"]).sum()
    columns = (table.drop(index="Total").sum() != table.loc["Total"]).sum()
    assert found.not_adding_up == rows + columns


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


SUMS = ["tables", "perturb-sums", "--input", "firms.csv", "--by", "region,size", "--response", "turnover"]
DESIGN = "most=2,variance=1,steps=1"
BY_SHARE = ["--noise", DESIGN, "--share", "0.1"]
HOW = {"response": "turnover", "noise": DESIGN, "share": 0.1, "record_key": "key"}


@pytest.fixture(autouse=True)
def firms(persons):
    del persons
    draw = np.random.default_rng(5)
    frame = pd.DataFrame({"region": draw.choice(list("NSEW"), 60, p=[0.5, 0.3, 0.15, 0.05])})
    frame["size"] = draw.choice(["large", "small"], 60)
    frame["turnover"] = draw.lognormal(5, 1, 60).round()
    frame.loc[:3, "turnover"] = 0
    frame["w"] = draw.integers(1, 5, 60)
    frame["key"] = draw.random(60).round(6)
    frame.to_csv("firms.csv", index=False)


def cell(frame, region, size):
    return frame[(frame["region"] == region) & (frame["size"] == size)].iloc[0]


def test_sums_are_printed_and_written(capsys):
    files = ["--output", "safe.csv", "--internal", "internal.csv", "--json", "found.json"]
    more = ["--write-design", "design.csv", "--record-key", "key", "--factors", "1,0.5", "--rule", "p=10"]
    check_golden("tables-perturb-sums", run(capsys, *SUMS, *BY_SHARE, *files, *more))
    safe, internal = pd.read_csv("safe.csv"), pd.read_csv("internal.csv")
    assert list(safe.columns) == ["region", "size", "value"]
    assert (safe["value"] == internal["perturbed"]).all()
    assert (safe["value"] == safe["value"].round()).all()  # as the sums
    firms = pd.read_csv("firms.csv")
    inside = firms[(firms["region"] == "N") & (firms["size"] == "small") & (firms["turnover"] > 0)]
    mine = cell(internal, "N", "small")
    assert mine["value"] == inside["turnover"].sum()
    assert mine["cell_key"] == pytest.approx(inside["key"].sum() % 1.0)
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert found["changed"] == int((internal["noise"] != 0).sum())
    again = perturb_sums("firms.csv", ["region", "size"], **HOW | {"noise": "design.csv"}, factors=(1, 0.5))
    assert again.cells["perturbed"].tolist() == internal["perturbed"].tolist()


def test_noise_is_that_of_the_largest_with_weights():
    """One cell by hand: the largest is that without weights, and moves by its weighted amount."""
    found = perturb_sums("firms.csv", ["region"], **HOW, weight="w", decimals=9)
    firms, lines = pd.read_csv("firms.csv"), found.design
    for row in found.cells.itertuples():
        inside = firms if row.region == "Total" else firms[firms["region"] == row.region]
        used = inside[inside["turnover"] > 0].sort_values(["turnover", "w"], ascending=False)
        first = used.iloc[0]["turnover"] * used.iloc[0]["w"]
        value = (used["turnover"] * used["w"]).sum()
        key = used["key"].sum() % 1.0
        at = lines[(lines["i"] == 2) & (lines["p_int_lb"] <= key) & (key < lines["p_int_ub"])].iloc[0]
        assert value / (0.1 * first) > 2
        assert row.value == value
        assert row.perturbed == pytest.approx(value + 0.1 * first * at["v"])


@pytest.mark.parametrize(
    ("scale", "by_hand"),
    [
        ("mean", lambda t, w: (t * w).sum() / w.sum()),
        ("range", lambda t, _: t.max() - t.min()),
        ("sum", lambda t, w: (t * w).sum()),
    ],
)
def test_other_scales(scale, by_hand):
    found = perturb_sums(
        "firms.csv", ["region"], **HOW | {"share": 0.02}, scale=scale, weight="w", decimals=9
    )
    firms, total = pd.read_csv("firms.csv"), found.cells[found.cells["region"] == "Total"].iloc[0]
    unit = 0.02 * by_hand(firms["turnover"], firms["w"])
    assert abs(total["noise"] / unit - round(total["noise"] / unit)) < 1e-6
    assert abs(found.cells["noise"]).max() > 0


def test_keys_of_zeros_seeds_and_sensitive_cells():
    how = {name: one for name, one in HOW.items() if name != "record_key"}
    first, second, other, zeros = (
        perturb_sums("firms.csv", ["region", "size"], **how, **more)
        for more in ({"seed": 1}, {"seed": 1}, {"seed": 2}, {"seed": 1, "zeros": True})
    )
    assert first.cells.equals(second.cells)
    assert not first.cells["noise"].equals(other.cells["noise"])
    assert not first.cells["cell_key"].equals(zeros.cells["cell_key"])
    more = perturb_sums("firms.csv", ["region", "size"], **how, seed=1, rules=["p=30"], extra=1.0)
    mine = more.cells[more.cells["sensitive"]]
    assert len(mine) > 0
    assert (mine["noise"] != 0).all()
    assert (first.cells["noise"] == more.cells["noise"])[~more.cells["sensitive"]].all()
    assert repr(first) == f"PerturbedSums(15 cells, {first.not_adding_up} relations do not add up)"


def test_odd_and_small_cells():
    found = perturb_sums(
        "firms.csv", ["region", "size"], **HOW, odd="most=3,variance=2,steps=1", small="most=1,variance=0.5"
    )
    assert sorted(set(found.design["type"])) == ["even", "odd", "small_cells"]
    found.design.to_csv("design.csv", index=False)
    again = perturb_sums("firms.csv", ["region", "size"], **HOW | {"noise": "design.csv"})
    assert again.cells.equals(found.cells)


def test_what_cannot_be_asked(capsys):
    def asked():
        for more in ([], [*NOISE, "--design", "persons.csv"], [*NOISE, "--record-key", "age"]):
            yield [*ASKED, "--output", "safe.csv", *more]
        frame = pd.read_csv("persons.csv")
        frame.loc[3, "key"] = 1.5
        frame.to_csv("persons.csv", index=False)
        yield [*ASKED, *NOISE, "--record-key", "key", "--output", "safe.csv"]
        for more in (
            *(["--noise", "most=2", "--share", "0.1"], [*BY_SHARE, "--scale", "mean", "--factors", "1,0.5"]),
            *([*BY_SHARE, "--extra", "1"], [*BY_SHARE, "--extra", "-1"], [*BY_SHARE, "--decimals", "12"]),
            [*BY_SHARE, "--odd", DESIGN, "--factors", "1,0.5"],
        ):
            yield [*SUMS, "--output", "safe.csv", *more]
        frame = pd.DataFrame({"i": [0, 1], "v": [0, 0], "p": [1, 1]})
        for kind in ("even", "any"):
            frame.assign(type=kind).to_csv("type.csv", index=False)
            yield kind, [*SUMS, "--noise", "type.csv", "--share", "0.1", "--output", "safe.csv"]

    check_refusals(capsys, "tables-perturb", asked())
