"""What readers know besides the published values: single children, steps of values, zeros, empty cells."""

from __future__ import annotations

import numpy as np
import openpyxl
import pandas as pd
import pytest
from cli_runs import refuse
from scipy.optimize import Bounds, LinearConstraint, milp

from linkrisk import (
    audit_table,
    make_table,
    open_table,
    perturb_counts,
    perturb_sums,
    round_table,
    suppress_table,
)
from linkrisk.datasets.errors import DataError
from linkrisk.solver.tables.operations.source import cell_table

TREE = pd.DataFrame({"code": ["N", "S", "N1", "S1", "S2"], "parent": ["Total", "Total", "N", "S", "S"]})


def lonely(tmp_path, status, times=1, **how):
    """North has the one code N1 below it; N1 by big is sensitive, and North by big is not."""
    lines = [
        (r, s, k * v) for r, k in (("N1", 3), ("S1", 5), ("S2", 7)) for s, v in (("big", 10), ("small", 4))
    ]
    data = pd.DataFrame(times * lines, columns=["region", "size", "turnover"])
    by_hand = tmp_path / "manual.csv"
    by_hand.write_text(f"region,size,status\nN1,big,u\nN,big,{status}\n", encoding="utf-8")
    how |= {"response": "turnover", "hierarchies": {"region": TREE}, "manual": by_hand}
    return make_table(data, ["region", "size"], **how)


def suppressed_of(result):
    codes = result.cells[["region", "size"]].itertuples(index=False, name=None)
    return {code for code, gone in zip(codes, result.suppressed, strict=True) if gone}


def test_a_parent_with_one_child_is_not_published_beside_it(tmp_path):
    made = lonely(tmp_path, "s")
    found = suppress_table(made, insiders="none")
    assert {("N1", "big"), ("N", "big")} <= suppressed_of(found)
    cells = made.cells.drop(columns="respondents")
    ready = open_table(cells, by=["region", "size"], hierarchies={"region": TREE})
    assert {("N1", "big"), ("N", "big")} <= suppressed_of(suppress_table(ready))
    parent = (found.cells["region"] == "N") & (found.cells["size"] == "big")
    shown = found.cells.assign(status=found.cells["status"].mask(parent, "s"))
    audited = audit_table(shown, made.relations, insiders="none")
    assert not audited.protected
    assert audited.audit.exact.any()


@pytest.mark.parametrize(("scale", "step"), [(1.0, 1.0), (0.01, 0.01)])
def test_levels_below_the_step_of_the_values_are_said(scale, step):
    """2 may be 1.6 to 2.4: it is 2 to whoever knows that all amounts are whole."""
    codes = {"r": np.repeat(["Total", "A", "B"], 3), "c": ["Total", "x", "y"] * 3}
    cells = pd.DataFrame({**codes, "value": [30, 14, 16, 12, 2, 10, 18, 12, 6]})
    cells["lower_protection"] = [0, 0, 0, 0, 0.4, 0, 0, 0, 0]
    cells["upper_protection"] = cells["lower_protection"]
    cells["status"] = ["u" if level else "s" for level in cells["lower_protection"]]
    cells["lower_bound"] = cells["value"] - 0.4
    cells["upper_bound"] = cells["value"] + 0.4
    numbers = ["value", "lower_protection", "upper_protection", "lower_bound", "upper_bound"]
    cells[numbers] = (cells[numbers] * scale).round(6)
    result = suppress_table(open_table(cells, by=["r", "c"], counts=False))
    assert result.details["on_grid"] == {"step": step, "known": [4]}
    wide = cells.drop(columns=["lower_bound", "upper_bound"])
    assert suppress_table(open_table(wide, by=["r", "c"], counts=False)).details["on_grid"]["known"] == []


@pytest.mark.parametrize("seed", [3, 7, 11])
def test_whole_amounts_give_no_more_away_than_is_said(seed):
    generator = np.random.default_rng(seed)
    data = pd.DataFrame(generator.choice(list("AB"), (14, 3)), columns=list("abc"))
    data["x"] = generator.integers(1, 4, len(data))
    made = make_table(data, list("abc"), response="x", rules=["frequency=2,20"])
    result = suppress_table(made, insiders="none")
    table, hidden = cell_table(result.table, "unit"), result.suppressed
    at, relations = np.flatnonzero(hidden), table.relations.tocsc()
    right = -(relations[:, ~hidden] @ table.value[~hidden])
    known = []
    for cell in np.flatnonzero(table.primary).tolist():
        ends = []
        for sign in (1.0, -1.0):
            found = milp(
                np.where(at == cell, sign, 0.0),
                integrality=np.ones(at.size),
                bounds=Bounds(table.lower[at], table.upper[at]),
                constraints=LinearConstraint(relations[:, at], right, right),
            )
            assert found.status == 0
            ends.append(round(sign * found.fun))
        known += [cell] if ends[0] == ends[1] else []
    assert table.primary.any()
    assert result.details["on_grid"]["known"] == known


def test_a_parent_with_one_child_has_its_number_of_respondents(tmp_path):
    made = lonely(tmp_path, "s", times=3, publish_respondents=True)
    result = suppress_table(made, insiders="none")
    assert result.protected
    assert {("N1", "big"), ("N", "big")} <= suppressed_of(result)
    ends = result.cells.set_index(["region", "size"])[["respondents_low", "respondents_high"]]
    assert ends.loc[("N1", "big")].tolist() == ends.loc[("N", "big")].tolist()
    assert ends.loc[("N1", "big")].is_unique


@pytest.mark.parametrize(
    ("weights", "step"), [([10.0] * 4, "10"), ([2.5] * 4, "2.5"), ([4.0, 6.0, 8.0, 4.0], "2")]
)
def test_readers_divide_counts_by_the_step_of_weights(weights, step):
    """Ten for each of 1 and 2 persons, and 10 to 30 are said to be possible: there are 10, 20 and 30 only."""
    persons = pd.DataFrame({"a": list("xxyz"), "w": weights})
    with pytest.raises(DataError, match=f"column 'w': all weights are multiples of {step}, by which readers"):
        make_table(persons, ["a"], weight="w", rules=["frequency=3"])
    assert make_table(persons, ["a"], weight="w").sensitive == 0
    other = persons.assign(w=[2.0, 3.0, 1.0, 1.0])
    assert make_table(other, ["a"], weight="w", rules=["frequency=3"]).sensitive


# Cells of value 0 that have respondents, the sign of empty cells beside them, and bad record keys


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

    cells = made_of(firms().assign(asks=[1] + [0] * 12), "request=70,70,2,20", request="asks").cells
    assert at(cells, "N", "a")["status"] == "u"
    assert at(cells, "N", "a")["upper_protection"] == pytest.approx(0.2 * average)
    cells = made_of(firms().assign(turnover=0), "frequency=3").cells
    assert at(cells, "N", "a")["upper_protection"] == pytest.approx(0.2)
    result = suppress_table(made_of(firms(), "frequency=3"))
    assert ("N", "a") in suppressed_of(result)
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
    data = firms(Na=[1, 0, 0])  # rounded to nothing
    round_table(made_of(data), base=5).write(tmp_path / "safe.xlsx")
    assert not any(one == "-" for row in sheet(tmp_path / "safe.xlsx") for one in row)
    codes = {"r": ["Total", "Total", "Total", "A", "A", "B"], "c": ["Total", "x", "y", "Total", "x", "Total"]}
    table = open_table(pd.DataFrame({**codes, "value": [5, 5, 0, 5, 5, 0]}), by=["r", "c"])
    suppress_table(table).write(tmp_path / "safe.xlsx")  # of cells that are not in it
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
    with pytest.raises(DataError, match=said):
        perturb_counts(persons, ["a"], most=2, variance=1.0, record_key="key")
    how = {"response": "t", "noise": "most=2,variance=1", "share": 0.1, "record_key": "key"}
    with pytest.raises(DataError, match=said):
        perturb_sums(persons, ["a"], **how)
    ask = "tables perturb-counts --input persons.csv --by a --most 2 --variance 1 --record-key key"
    refuse(capsys, f"persons.csv, {said}", *ask.split(), "--output", "safe.csv")


def test_noise_on_the_grid_of_the_sums():
    """Amounts in thousands stay in thousands: a sum of other digits would be known to have noise."""
    random = np.random.default_rng(3)
    data = pd.DataFrame({"a": np.arange(90) % 9, "t": random.integers(1, 40, 90) * 1000})
    asked = {"response": "t", "noise": "most=2,variance=1", "share": 0.1}
    found = perturb_sums(data, ["a"], **asked).cells
    assert (found["perturbed"] % 1000 == 0).all()
    assert (found["noise"] != 0).any()
    assert (perturb_sums(data, ["a"], **asked, decimals=1).cells["perturbed"] % 1000 != 0).any()
