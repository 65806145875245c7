"""`tables adjust` on the command line and as a function."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_golden, refuse, run
from small_tables import ASKED, write_table_files

from linkrisk import adjust_table


@pytest.fixture(autouse=True)
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table_files(tmp_path)


def test_what_is_printed_and_written(capsys):
    files = ["--output", "safe.csv", "--internal", "internal.csv", "--json", "found.json"]
    check_golden("tables-adjust", run(capsys, "tables", "adjust", *ASKED, *files))
    safe, internal = pd.read_csv("safe.csv"), pd.read_csv("internal.csv")
    assert list(safe.columns) == ["row", "column", "value"]
    assert safe["value"].tolist() == internal["adjusted"].tolist()
    assert safe["value"].dtype == "int64"
    moved = (internal["adjusted"] - internal["value"]).abs()
    assert (moved >= internal["upper_protection"]).all()
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert found["status"] == "optimal"
    assert found["bound"] == pytest.approx(found["cost"])
    assert found["mean_change"] == pytest.approx(moved.mean())


def test_squares_weights_and_up(capsys):
    run(capsys, "tables", "adjust", *ASKED, "--squares", "--cost", "root", "--up", "--output", "safe.csv")
    result = adjust_table("cells.csv", "relations.csv", squares=True, cost="unit")
    assert repr(result) == "AdjustedTable(25 cells, 13 changed, feasible)"
    assert result.limit is None  # the least sum of squares in any numbers is less than that in whole ones
    assert 0.8 * result.cost < result.bound < result.cost
    assert result.details["backend"] == "exact"
    assert 0 <= result.details["up"] <= 2
    frame = pd.read_csv("cells.csv").assign(cost=2.0)
    frame.loc[0, "cost"] = None  # 1, where nothing is said
    frame.to_csv("cells.csv", index=False)
    given = adjust_table("cells.csv", "relations.csv", cost="given")
    unit = adjust_table("cells.csv", "relations.csv", cost="unit")
    assert unit.cost <= given.cost <= 2.0 * unit.cost


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cost", "given"], "the cost 'given' needs a column 'cost' in cells.csv"),
        (
            ["--backend", "exact"],
            "the backend 'exact' adjusts with squares; ask for these, or choose another one",
        ),
    ],
)
def test_what_cannot_be_asked_for(capsys, options, message):
    refuse(capsys, message, "tables", "adjust", *ASKED, "--output", "safe.csv", *options)
    assert not Path("safe.csv").exists()
