"""`tables compare`: every backend on the same model, what is said when one is wrong; and `tables adjust`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import check_golden, check_refusals, flat, run
from small_tables import ASKED, write_table_files

from linkrisk import adjust_table, compare_table
from linkrisk.solver.backends.registry import available_backends
from linkrisk.solver.commands.program import main
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.tables.operations import compare as comparing
from linkrisk.solver.tables.operations.compare import SuppressionProblem, TableRow


@pytest.fixture(autouse=True)
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table_files(tmp_path)


@pytest.mark.parametrize(
    ("problem", "optimum", "names"),
    [
        ("suppress", 69.0, ["highs", "scip"]),
        ("round", 28.0, ["highs", "scipy"]),
        ("adjust", 0.820444417, ["pulp-cbc"]),
        pytest.param("suppress", 69.0, None, marks=pytest.mark.slow),
        pytest.param("round", 28.0, None, marks=pytest.mark.slow),
        pytest.param("adjust", 0.820444417, None, marks=pytest.mark.slow),
    ],
)
def test_every_backend_proves_the_same(problem, optimum, names):
    result = compare_table("cells.csv", "relations.csv", problem=problem, backends=names, time_limit=None)
    all_names = [*(["exact"] if problem == "suppress" else []), *available_backends()]
    assert [row.name for row in result.rows] == (names or all_names)
    assert {row.audit for row in result.rows} == {"passed"}
    assert all(row.proven for row in result.rows)
    assert [row.cost for row in result.rows] == pytest.approx([optimum] * len(result.rows))
    assert result.disagreements == ()


def test_backends_agree_on_counts():
    """Attacks on whole numbers go along to the processes of the backends, with their clock."""
    result = compare_table(
        "cells.csv", "relations.csv", counts=True, backends=["exact", "highs"], time_limit=60
    )
    assert {row.audit for row in result.rows} == {"passed"}
    assert result.disagreements == ()


def test_what_is_printed_and_written(capsys):
    files = ["--json", "found.json", "--time-limit", "none"]
    assert main(["tables", "compare", *ASKED, "--backends", "exact,highs", *files]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "cells.csv: 25 cells, 10 relations",
        "model: suppress, 4 rows, 25 columns, more rows when they are violated",
    ]
    assert lines[3] == "2 of 2 prove the optimum; no two contradict each other"
    assert lines[5].split()[:6] == ["backend", "status", "limit", "cost", "at", "least"]
    assert lines[6].split()[:8] == ["exact", "optimal", "-", "69", "69", "0", "yes", "passed"]
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert [row["cost"] for row in found["backends"]] == [69.0, 69.0]
    assert found["model"] == {"rows": 4, "columns": 25, "nonzeros": 16}


def test_a_pattern_that_does_not_protect_is_shown_as_wrong(monkeypatch, capsys):
    """As if a backend came back with the two sensitive cells alone."""
    counted = SuppressionProblem.counted

    def forged(self, values):
        return counted(self, np.isin(np.arange(values.size), [8, 17]).astype(float))

    monkeypatch.setattr(SuppressionProblem, "counted", forged)
    assert main(["tables", "compare", *ASKED, "--backends", "highs", "--time-limit", "none"]) == 1
    printed = capsys.readouterr()
    assert "2 cells are not protected" in printed.out
    assert printed.err == "DISAGREEMENT: highs returned what is none: 2 cells are not protected\n"


ROW = TableRow("a", "optimal", None, 10.0, 10.0, 0.0, True, "passed", 0, 0.0, 0.0, None, "1")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"cost": 10.0}, []),
        (
            {"cost": 12.0, "bound": 9.0, "proven": True},
            ["a and b both claim a proof, but of different optima: 10 and 12"],
        ),
        ({"cost": 12.0, "bound": 11.0, "proven": False}, ["a found 10, less than the bound 11 of b"]),
        (
            {"cost": 5.0, "audit": "1 cells are not protected"},
            ["b returned what is none: 1 cells are not protected"],
        ),
        ({"cost": None, "bound": None, "audit": None, "proven": False}, []),
    ],
)
def test_claims_that_contradict_each_other(other, said):
    assert comparing.disagreements([ROW, replace(ROW, name="b", **other)]) == said


@pytest.mark.parametrize("problem", ["suppress", "round"])
def test_when_all_fail_the_exit_code_says_so(problem, monkeypatch, capsys):
    def broken(*_):
        raise RuntimeError("it broke")

    monkeypatch.setattr("linkrisk.solver.tables.operations.compare.solve_isolated", broken)
    assert main(["tables", "compare", *ASKED, "--problem", problem, "--backends", "highs,scipy"]) == 1
    printed = capsys.readouterr()
    line = "NO ANSWER: none of 2 answered: highs failed (it broke), scipy failed (it broke)\n"
    assert printed.err == line
    assert line.strip() in flat(printed.out)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "stopped before any of them was done"),
        ([("a", "no_solution", None)], "none of 1 answered: a found nothing in its time"),
        ([("a", "failed", None), ("b", "no_solution", 3.0)], None),
        ([("a", "infeasible", None)], None),
        ([("a", "interrupted", None)], None),  # by the user, who knows
    ],
)
def test_what_an_answer_is(rows, said):
    found = [replace(ROW, name=name, status=status, cost=None, bound=bound) for name, status, bound in rows]
    assert comparing.TableComparison(tuple(found), (), {"problem": "suppress"}).no_answer == said


def test_a_comparison_that_was_stopped():
    cancel = Cancel()
    cancel.cancel()
    assert compare_table("cells.csv", "relations.csv", cancel=cancel).rows == ()


def test_an_adjustment_is_printed_and_written(capsys):
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


def test_bad_requests(capsys):
    adjust = ["tables", "adjust", *ASKED, "--output", "safe.csv", "--backend", "exact"]
    check_refusals(capsys, "tables-compare", [adjust, ["tables", "compare", *ASKED, "--base", "5"]])
