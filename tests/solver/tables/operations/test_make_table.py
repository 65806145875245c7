"""`make_table`: weights, holdings, shadow, costs, requests, statuses by hand; against plain loops."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk import make_table, make_tables, perturb_counts, perturb_sums, recode_table, suppress_table
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.code_trees import CodeTree
from linkrisk.solver.commands.program import main
from linkrisk.solver.run.errors import UsageError

DATA = os.environ.get("LINKRISK_DATA")

# The data of the tests of the R package GaussSuppression (MagnitudeRule), with its outcomes.
AMOUNTS = [100, 90, 10, 80, 20, 70, 30, 80, 10, 10, 70, 10, 10, 10, 60, 20, 10, 10]
CELLS = ["v1", *["v2"] * 2, *["v3"] * 2, *["v4"] * 2, *["v5"] * 3, *["v6"] * 4, *["v7"] * 4]
WEIGHTS = [1, 2, 1, 2, 1, 2, 1, 2, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1]
FRAME = pd.DataFrame({"v": CELLS, "x": AMOUNTS, "w": WEIGHTS})


def sensitive(made):
    return made.cells.loc[made.cells["status"] == "u", "v"].tolist()


def test_weights_as_published():
    """Dominance (2, 90): GaussSuppression finds v1 by its own way and v1, v2 by that of τ-ARGUS."""
    asked = {"response": "x", "rules": ["nk=2,90"], "weight": "w"}
    assert sensitive(make_table(FRAME, ["v"], **asked)) == ["v1", "v2"]
    assert sensitive(make_table(FRAME, ["v"], weights_in_rules="sample", **asked)) == ["v1"]

    # The example of `SuppressDominantCells` of GaussSuppression, domWeightMethod "tauargus".
    frame = FRAME.assign(x=[100, 90, 10, 80, 20, 70, 30, 50, 25, 25, 40, 20, 20, 20, 25, 25, 25, 25])
    made = make_table(frame, ["v"], response="x", rules=["nk=1,80", "nk=2,70"], weight="w")
    assert made.cells["value"].tolist() == [1055, 100, 190, 180, 170, 150, 140, 125]
    assert sensitive(made) == ["v1", "v2", "v3", "v4"]

    # The Handbook: 100 with weight 4 and 10 with weight 7: 470, whose two largest are 100 and 100 (4.2.1).
    frame = pd.DataFrame({"v": ["a", "a"], "x": [100, 10], "w": [4, 7]})
    seen = make_table(frame, ["v"], response="x", rules=["nk=2,60"], weight="w").tabulated.seen
    assert seen.total.tolist() == [470, 470]
    assert seen.largest[1].tolist() == [100, 100]
    assert seen.units[1] == 11


weights = st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.2])
record = st.tuples(st.sampled_from("abc"), st.integers(0, 60), weights, st.sampled_from("xyz"))
records = st.lists(record, min_size=1, max_size=10)


def filled(members, number):
    """What the largest `number` contributors have, a record at a time, the last one in part."""
    left, total = float(number), 0.0
    for amount, weight in sorted(members, key=lambda one: -one[0]):
        taken = min(left, weight)
        total, left = total + taken * amount, left - taken
    return total


@settings(max_examples=40, deadline=None)
@given(rows=records, weighting=st.sampled_from(["expanded", "sample", "known"]))
def test_rules_with_weights_are_those_of_their_definition(rows, weighting):
    frame = pd.DataFrame(rows, columns=["v", "x", "w", "h"])
    rules = ["nk=2,75"]
    made = make_table(frame, ["v"], response="x", rules=rules, weight="w", weights_in_rules=weighting)
    made = made.cells.set_index("v")
    for code in {"Total", *frame["v"]}:
        inside = [(x, w) for v, x, w, _ in rows if code in ("Total", v)]
        total = sum(x * w for x, w in inside)
        assert made.loc[code, "value"] == pytest.approx(total)
        if weighting == "known":
            continue  # which of equal observations is weighted is open
        two = filled(inside if weighting == "expanded" else [(x, 1.0) for x, _ in inside], 2)
        assert (made.loc[code, "status"] == "u") == (two > 0.75 * total + 1e-6)


@settings(max_examples=25, deadline=None)
@given(rows=records)
def test_the_list_of_contributions_sums_to_the_cells(rows):
    frame = pd.DataFrame(rows, columns=["v", "x", "w", "h"])
    made = make_table(frame, ["v"], response="x", holding="h")
    listed = made.contributors
    assert listed.groupby("cell")["amount"].sum().sort_index().tolist() == made.cells["value"].tolist()
    assert listed.groupby("cell").size().tolist() == made.cells["respondents"].tolist()
    assert set(listed["contributor"]) == set(frame["h"])


def test_shadow_costs_and_requests():
    frame = pd.DataFrame(
        {"v": list("aab"), "x": [30, 10, 5], "s": [90, 10, 8], "c": [1, 2, 4], "asked": [1, None, 2]}
    )
    made = make_table(frame, ["v"], response="x", shadow="s", cost_column="c", rules=["p=12"]).cells
    assert made["cost"].tolist() == [7, 3, 4]
    assert made.loc[1, "status"] == "u"
    assert made.loc[1, "upper_protection"] == pytest.approx(40 * (0.12 * 90) / 100)
    asked = make_table(frame, ["v"], response="x", request="asked", rules=["request=80,60"]).cells
    assert asked["status"].tolist() == ["s", "s", "u"]
    asked = make_table(frame, ["v"], response="x", request="asked", rules=["request=70,60,0,25"]).cells
    assert asked["status"].tolist() == ["s", "u", "u"]
    assert asked["upper_protection"].tolist() == [0, 10, 1.25]


def test_negative_contributions():
    frame = pd.DataFrame({"v": list("aab"), "x": [30, -29, 5]})
    with pytest.raises(DataError, match="column 'x', row 2: a contribution is negative; correct it, or"):
        make_table(frame, ["v"], response="x")
    made = make_table(frame, ["v"], response="x", rules=["nk=1,60"], negative=True).cells
    assert made["value"].tolist() == [6, 1, 5]
    assert made["status"].tolist() == ["s", "s", "u"]
    assert made["lower_bound"].tolist() == [-64, -64, -64]  # nobody knows that cells are not below 0


FIRMS = pd.DataFrame({"r": list("NNSSS"), "s": list("LSLSS"), "x": [900, 20, 30, -5, 20]})


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("rule", ["p=20", "frequency=9,20"])
@pytest.mark.parametrize("protection", ["both", "upper", "sliding"])
def test_a_sensitive_total_of_negative_contributions(sign, rule, protection):
    """Nobody knows that it is not further from 0 than all sizes together."""
    frame = FIRMS.assign(x=sign * FIRMS["x"])
    made = make_table(frame, ["r", "s"], response="x", rules=[rule], negative=True, protection=protection)
    total = made.cells.iloc[0]
    assert (total["value"], total["status"]) == (sign * 965, "u")
    assert total["lower_bound"] <= min(-975, total["value"] - total["lower_protection"])
    assert total["upper_bound"] >= max(975, total["value"] + total["upper_protection"])
    result = suppress_table(made)
    assert result.protected
    assert result.audit.low[0] <= total["value"] - total["lower_protection"] + 1e-6
    assert result.audit.high[0] >= total["value"] + total["upper_protection"] - 1e-6


def test_sums_of_decimals_are_exact_and_levels_have_few():
    frame = pd.DataFrame({"v": ["a"] * 10 + ["b"] * 10, "x": [0.1] * 20, "w": [1.1] * 20})
    assert make_table(frame, ["v"], response="x").cells["value"].tolist() == [2.0, 1.0, 1.0]
    assert make_table(frame, ["v"], response="x", weight="w").cells["value"].tolist() == [2.2, 1.1, 1.1]

    # Levels are written with few decimals, and never below their rule.
    frame = pd.DataFrame({"size": list("aaabb"), "amount": [87.0, 1.0, 0.5, 64.2, 0.3]})
    found = make_table(frame, ["size"], response="amount", rules=["p=10"]).cells.set_index("size")
    assert found.loc["a", "upper_protection"] == 8.2  # and not 8.200000000000001
    assert f"{0.1 * 64.2 - 0:.17g}" == "6.4200000000000008"
    assert found.loc["b", "upper_protection"] == 6.42  # and not more
    third = make_table(frame, ["size"], response="amount", rules=["nk=1,60"]).cells.set_index("size")
    exact = 87.0 / 0.6 - 88.5
    assert exact <= third.loc["a", "upper_protection"] <= exact + 1e-6
    assert third.loc["a", "upper_protection"] == round(third.loc["a", "upper_protection"], 6)


SCHEMA = """
[[attributes]]
name = "size"
label = "Size of firm"
labels = { a = "small", b = "large" }
missing = ["-9"]
[[attributes]]
name = "amount"
missing = [-8, -9]
[[attributes]]
name = "begun"
scale = "date"
form = "DD/MM/YYYY"
"""


def test_missing_codes_labels_and_forms_of_dates_of_a_schema(tmp_path, monkeypatch, capsys):
    """A contribution of -8 was refused as negative, and nobody could say that it is none."""
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SCHEMA)
    frame = pd.DataFrame({"size": ["a", "a", "b", "b", "-9", "b"], "amount": [5, -8, 7, 2, 4, -9]})
    frame["begun"] = ["02/01/2020", "03/01/2020", "04/02/2020", "05/02/2021", "06/01/2020", "07/01/2020"]
    frame.to_csv("f.csv", index=False)
    made = make_table("f.csv", ["size"], response="amount", schema="s.toml", missing="leave-out")
    assert dict(zip(made.cells["size"], made.cells["value"], strict=True)) == {"Total": 14, "a": 5, "b": 9}
    assert made.left_out == {"size": 1, "amount": 2}
    assert made.labels["size"] == {"label": "Size of firm", "codes": {"a": "small", "b": "large"}}
    with pytest.raises(DataError, match="negative"):
        make_table("f.csv", ["size"], response="amount", missing="leave-out")
    with pytest.raises(DataError, match="column 'amount', row 2"):
        make_table("f.csv", ["size"], response="amount", schema="s.toml")
    monthly = make_table("f.csv", ["begun"], hierarchies={"begun": "month"}, schema="s.toml")
    assert "2020-02" in monthly.cells["begun"].tolist()
    how = {"response": "amount", "schema": "s.toml", "missing": "leave-out"}
    assert make_tables("f.csv", [["size"], ["begun"]], **how).left_out == {"size": 1, "amount": 2}
    coarse = recode_table("f.csv", ["size"], **how)
    assert coarse.made.cells["value"].tolist() == made.cells["value"].tolist()
    counts = perturb_counts("f.csv", ["size"], most=2, variance=1.0, schema="s.toml", missing="leave-out")
    assert counts.cells["value"].tolist() == [5, 2, 3]
    noisy = perturb_sums("f.csv", ["size"], noise="most=10,variance=3", share=0.1, **how)
    assert noisy.cells["value"].tolist() == [14, 5, 9]
    asked = ["--input", "f.csv", "--by", "size", "--schema", "s.toml", "--missing", "leave-out"]
    out = ["--cells", "c.csv", "--relations", "r.csv"]
    assert main(["tables", "make", *asked, "--response", "amount", *out]) == 0
    assert pd.read_csv("c.csv")["value"].tolist() == [14, 5, 9]
    capsys.readouterr()


def test_codes_without_a_hierarchy_are_in_natural_order():
    frame = pd.DataFrame({"v": ["c10", "c2", "c1"], "n": [10, 9, 100], "h": ["h2", "h10", "h1"]})
    tree = CodeTree.of("h", {"h10": "Total", "h2": "Total", "h1": "Total"}, "a tree")
    cells = make_table(frame, ["v", "n", "h"], hierarchies={"h": tree}).cells
    assert list(dict.fromkeys(cells["v"])) == ["Total", "c1", "c2", "c10"]
    assert list(dict.fromkeys(cells["n"])) == ["Total", "9", "10", "100"]
    assert list(dict.fromkeys(cells["h"])) == ["Total", "h10", "h2", "h1"]


def test_ways_of_protection():
    frame = pd.DataFrame({"v": list("ab"), "x": [30, 5]})
    upper = make_table(frame, ["v"], response="x", rules=["p=10"], protection="upper").cells
    assert upper.loc[1, ["lower_protection", "upper_protection"]].tolist() == [0, 3]
    sliding = make_table(frame, ["v"], response="x", rules=["p=10"], protection="sliding").cells
    levels = ["lower_protection", "upper_protection", "sliding_protection"]
    assert sliding.loc[1, levels].tolist() == [0, 0, 6]


def test_empty_zero_and_one(tmp_path, monkeypatch):
    """Nobody in b x: published unless it is said otherwise. Two with nothing in b y: sensitive by rule."""
    monkeypatch.chdir(tmp_path)
    rows = [("a", "x", 5), ("a", "y", 7), ("b", "y", 0), ("b", "y", 0)]
    frame = pd.DataFrame(rows, columns=["v", "u", "n"])
    made = make_table(frame, ["v", "u"], response="n", rules=["zero=3"]).cells.set_index(["v", "u"])
    assert made.loc[("b", "x"), "status"] == "z"
    assert made.loc[("b", "y"), ["status", "lower_protection", "upper_protection"]].tolist() == ["u", 0, 3]
    open_ones = make_table(frame, ["v", "u"], response="n", empty="suppressible").cells
    assert (open_ones["status"] == "s").all()
    counts = make_table(frame, ["v", "u"], rules=["frequency=2"]).cells.set_index(["v", "u"])
    assert counts["value"].tolist() == [4, 1, 3, 2, 1, 1, 2, 0, 2]
    assert counts.loc[("a", "x"), "status"] == "u"
    assert counts.loc[("b", "x"), "status"] == "z"


def test_statuses_by_hand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"v": list("abc"), "x": [30, 50, 20]})
    Path("hand.csv").write_text("v,status,upper_protection,cost\na,s,,\nb,u,4,\nc,u,,\nTotal,,,7\n")
    made = make_table(frame, ["v"], response="x", rules=["frequency=2"], manual="hand.csv").cells
    made = made.set_index("v")
    assert made["status"].tolist() == ["s", "s", "u", "u"]
    assert made["upper_protection"].tolist() == [0, 0, 4, 4]
    assert made["lower_protection"].tolist() == [0, 0, 10, 4]
    assert made["cost"].tolist() == [7, 30, 50, 20]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"weight": "low"}, "column 'low', row 1: a weight is negative; correct it, or leave the record out"),
        ({"weight": "w", "holding": "h"}, "with holdings, weights cannot stand for more respondents, whose"),
        ({"rules": ["request=70"]}, "the request rule needs the column of who asked"),
        ({"request": "w"}, "request, who asked for protection, is looked at by the request rule only"),
        ({"rules": ["request=70"], "request": "w"}, "there is no request 2.5; it is 1 or 2, or 0"),
        ({"respondent": "r"}, "column 'r', row 1: no respondent; give each record one"),
        ({"cost_column": "low"}, "column 'low', row 1: a cost is negative; correct it, or leave the record"),
        ({"shadow": "none"}, "has no column 'none'"),
        ({"by": [*"vxwhr", "low", "t"]}, "one to 6 explanatory variables, not 7"),
        ({"manual": "v,status\nq,u\n"}, r"hand\.csv, row 1: there is no cell q; correct its codes"),
        ({"manual": "v,status\na,u\na,s\n"}, r"hand\.csv, row 2: the cell stands twice; give it one line"),
        ({"manual": "v,status\na,x\n"}, r"hand\.csv, row 1: there is no status 'x'; u is sensitive, s safe"),
        ({"manual": "v,status,cost\na,u,-1\n"}, r"hand\.csv, row 1, column 'cost': it is below 0"),
        ({"manual": "v,status\nb,u\n"}, r"hand\.csv, row 1: the cell is 0, so that no share of it is a"),
        ({"manual": "v\na\n"}, r"hand\.csv has no column 'status'"),
    ],
)
def test_what_cannot_be_asked_for(given, message, tmp_path):
    frame = pd.DataFrame({"v": list("ab"), "x": [1, 0], "w": [2.5] * 2, "low": [-1, 0], "h": "q", "r": None})
    if "manual" in given:
        (tmp_path / "hand.csv").write_text(given["manual"], encoding="utf-8")
        given = {"manual": tmp_path / "hand.csv"}
    with pytest.raises((DataError, UsageError), match=message):
        make_table(frame.assign(t="a"), **{"by": ["v"], "response": "x", **given})


@pytest.mark.skipif(DATA is None, reason="needs public data: set LINKRISK_DATA to its folder")
@pytest.mark.parametrize(
    ("given", "known"),
    [  # computed by the τ-ARGUS engine: Size, Region, level
        (
            {"rules": ["p=10"], "shadow": "Var1"},
            "2 Total 1.11, 2 1 0.5, 2 4 0.5, 2 6 1.0, 4 1 0.5, 4 6 0.5, 4 11 1.11, 9 4 412.61",
        ),
        (
            {"rules": ["nk=3,60"], "weight": "Wgt"},
            "2 1 8.5, 2 4 8.5, 2 6 3.0, 4 1 8.5, 4 6 7.33, 9 4 17510.6",
        ),
        ({"rules": ["p=10", "zero=5"]}, "2 1 0.5, 2 2 5.0, 2 4 0.5, 2 6 0.5, 4 1 0.5, 4 6 0.5, 9 4 718.1"),
    ],
    ids=["shadow", "weights", "zeros"],
)
def test_the_demonstration_file_of_argus(given, known):
    frame = pd.read_csv(Path(str(DATA)) / "tauargus_testw.csv")
    made = make_table(frame, ["Size", "Region"], response="Var2", **given).cells
    found = made[made["status"] == "u"]
    lines = zip(found["Size"], found["Region"], found["upper_protection"], strict=True)
    assert ", ".join(f"{size} {region} {np.round(level, 2)}" for size, region, level in lines) == known


NAMES = list("uvwxyz")
BELOW = {"Total": "abc", "g": "ab", "a": "a", "b": "b", "c": "c"}
PARENTS = {"g": "Total", "a": "g", "b": "g", "c": "Total"}


def test_cells_are_plain_sums_of_records():
    generator = np.random.default_rng(3)
    frame = pd.DataFrame({name: generator.choice(list("abc"), 200) for name in NAMES})
    frame = frame.assign(value=generator.integers(1, 50, 200))
    trees = {name: CodeTree.of(name, PARENTS, "a tree") for name in NAMES}
    made = make_table(frame, NAMES, response="value", rules=["p=10"], hierarchies=trees)
    assert len(made.cells) == 5**6
    for row in made.cells.sample(300, random_state=0).itertuples(index=False):
        inside = np.all([frame[name].isin(list(BELOW[getattr(row, name)])) for name in NAMES], axis=0)
        assert (row.value, row.respondents) == (frame.loc[inside, "value"].sum(), inside.sum())
