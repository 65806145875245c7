"""`tables make`: tables from microdata, against plain sums, and the tables of the reference."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import check_golden, check_refusals, check_refused_calls, run
from extras import of_extra

from linkrisk import make_table, suppress_table
from linkrisk.solver.commands.program import main

DATA = os.environ.get("LINKRISK_DATA")
FIRMS = """region,size,turnover,group
N1,big,900,a
N1,big,60,b
N1,small,20,c
N2,small,35,c
N2,small,40,d
S1,big,500,e
S1,small,25,f
S1,small,30,g
"""
TREE = "code,parent\nN,Total\nN1,N\nN2,N\nS,Total\nS1,S\n"
ASKED = ["tables", "make", "--input", "firms.csv", "--by", "region,size", "--response", "turnover"]
FILES = ["--cells", "cells.csv", "--relations", "relations.csv"]


@pytest.fixture(autouse=True)
def firms(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("firms.csv").write_text(FIRMS, encoding="utf-8")
    Path("tree.csv").write_text(TREE, encoding="utf-8")


def test_what_is_printed_and_written(capsys):
    of_extra("altair")
    printed = run(capsys, *ASKED, "--hierarchy", "region=tree.csv", "--rule", "p=10", *FILES)
    check_golden("tables-make", printed)
    cells = pd.read_csv("cells.csv").set_index(["region", "size"])
    assert cells.loc[("Total", "Total"), "value"] == 1610
    assert cells.loc[("N", "big"), ["value", "respondents", "status"]].tolist() == [960, 2, "u"]
    assert cells.loc[("N", "big"), "lower_protection"] == pytest.approx(90.0)  # 10 % of 900, and nobody else
    assert cells.loc[("N2", "big"), ["value", "status"]].tolist() == [0, "z"]
    result = suppress_table("cells.csv", "relations.csv")
    assert result.protected
    assert result.pattern.proven


def test_holdings_count_as_one():
    """c has firms in both regions: together they are one respondent of N."""
    apart = make_table("firms.csv", ["size"], response="turnover", rules=["frequency=5"])
    together = make_table("firms.csv", ["size"], response="turnover", rules=["frequency=5"], holding="group")
    assert apart.cells["respondents"].tolist() == [8, 3, 5]
    assert together.cells["respondents"].tolist() == [7, 3, 4]
    assert apart.cells["value"].tolist() == together.cells["value"].tolist()
    assert together.cells["status"].tolist() == ["s", "u", "u"]


@pytest.mark.skipif(DATA is None, reason="needs public data: set LINKRISK_DATA to its folder")
@pytest.mark.parametrize(
    ("name", "rule", "file"),
    [("t2_20x20", "p=10", "P10-1"), ("t3_8x6x5", "nk=2,75", "NK2-75"), ("h2_18x12", "p=10", "P10-1")],
)
def test_tables_of_the_reference(name, rule, file):
    """The sensitive cells and their levels are those of the reference, which lifts levels below 1 to 1."""
    folder = Path(str(DATA)).parent / "bench" / "tables"
    if not folder.is_dir():
        pytest.skip("there are no tables of the reference beside the public data")
    frame = pd.read_csv(folder / "micro" / f"{name}.csv")
    by = [column for column in frame.columns if column != "value"]
    trees = {one: path for one in by if (path := folder / "micro" / f"{name}_hierarchy_{one}.csv").exists()}
    made = make_table(frame, by, response="value", rules=[rule], hierarchies=trees)
    known = pd.read_csv(folder / "ref" / f"{name}_{file}_cells.csv")
    both = made.cells.merge(known, on=by, suffixes=("", "_known"), how="outer", indicator=True)
    assert (both["_merge"] == "both").all()
    assert (both["value"] == both["value_known"]).all()
    assert (both["respondents"] == both["freq"]).all()
    assert ((both["status"] == "u") == (both["status_known"] == "u")).all()
    unsafe = both[both["status"] == "u"]
    ours = np.maximum(unsafe["lower_protection"], 1.0)
    assert ours.to_numpy() == pytest.approx(unsafe["lower_protection_known"].to_numpy(), abs=1e-3)


def test_trees_that_are_none():
    def refused(tree):
        Path("tree.csv").write_text(tree, encoding="utf-8")
        make_table("firms.csv", ["region", "size"], hierarchies={"region": "tree.csv"})

    check_refused_calls(
        "trees",
        refused,
        [
            *("code,parent\nN1,N\n", "code,parent\nA,B\nB,A\n", "code,parent\nN1,Total\nN1,Total\n"),
            *("code\nN1\n", "code,parent\nN1,Total\n"),
        ],
    )


def test_records_that_cannot_be_used():
    def refused(case):
        Path("firms.csv").write_text(FIRMS.replace(*case), encoding="utf-8")
        make_table("firms.csv", ["region", "size"], response="turnover", holding="group")

    check_refused_calls(
        "firms",
        refused,
        [
            *(("N1,big,900", "N1,big,-900"), ("N1,big,900", "N1,,900"), ("900,a", "900,")),
            ("N1,big,900", "Total,big,900"),
        ],
    )


def test_bad_requests(capsys):
    options = (["--rule", "q=3"], ["--hierarchy", "age=tree.csv"])
    one_file = [*ASKED, "--cells", "cells.csv", "--relations", "cells.csv"]
    asked = [*([*ASKED, *FILES, *one] for one in options), ["tables", "make", *FILES], one_file]
    check_refusals(capsys, "tables-make", asked)


@pytest.mark.parametrize("action", ["audit", "round"])
def test_what_was_recorded_holds_in_every_action(action, capsys):
    of_extra("altair")
    make = ["tables", "make", "--input", "firms.csv", "--by", "region,size", "--rule", "frequency=3"]
    run(capsys, *make, *FILES, "--record", "made.json")
    table = ["tables", action, "--cells", "cells.csv", "--relations", "relations.csv", "--json", "found.json"]
    table += ["--base", "3"] if action == "round" else []
    pages = ["--report", "inside.html", "--external-report", "outside.html"]
    record = json.loads(Path("made.json").read_text(encoding="utf-8"))
    record["labels"] = {"region": {"title": "Where", "codes": {"N": "The north"}}}
    Path("made.json").write_text(json.dumps(record), encoding="utf-8")
    assert main([*table, "--made", "made.json", *pages]) == (action == "audit")  # nothing was suppressed
    capsys.readouterr()
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert found["table"]["labels"] == record["labels"]
    if action != "round":  # it looks at no cell's status
        assert found["rules"] == ["frequency=3"]
        assert "frequency=3" in Path("inside.html").read_text(encoding="utf-8")
    assert "frequency=3" not in Path("outside.html").read_text(encoding="utf-8")


def test_rules_are_recorded_and_told_inside_only(capsys):
    of_extra("altair")
    run(capsys, *ASKED, *FILES, "--rule", "p=10", "--record", "made.json")
    table = ["tables", "suppress", "--cells", "cells.csv", "--relations", "relations.csv"]
    files = ["--json", "found.json", "--report", "inside.html", "--external-report", "outside.html"]
    run(capsys, *table, "--made", "made.json", *files)
    assert json.loads(Path("found.json").read_text(encoding="utf-8"))["rules"] == ["p=10"]
    assert "p=10" in Path("inside.html").read_text(encoding="utf-8")
    assert "p=10" not in Path("outside.html").read_text(encoding="utf-8")
    made = make_table("firms.csv", ["region", "size"], response="turnover", rules=["p=10"])
    assert suppress_table(made).to_dict()["rules"] == ["p=10"]
    Path("made.json").write_text('{"rules": ["p=10"], "cells": 4}', encoding="utf-8")
    made = ("made.json", "firms.csv", "no.json")
    asked = ([*table, "--made", name, "--output", "safe.csv"] for name in made)
    check_refusals(capsys, "tables-made", asked)


@pytest.mark.parametrize(
    "text",
    [
        "code,part,all\nN1,N,*\nN2,N,*\nS1,S,*\n",
        "N1,N\nN2,N\nS1,S\nN,Total\nS,Total\n",
        "*,N,N1\n*,N,N2\n*,S,S1\n",
    ],
)
def test_a_hierarchy_is_read_with_and_without_a_header(text):
    Path("written.csv").write_text(text, encoding="utf-8")
    frame = pd.DataFrame({"region": ["N1", "N1", "N2", "S1"], "turnover": [1, 2, 3, 4]})
    made = make_table(frame, ["region"], response="turnover", hierarchies={"region": "written.csv"})
    found = dict(zip(made.cells["region"], made.cells["value"], strict=True))
    assert found == {"Total": 10, "N": 6, "N1": 3, "N2": 3, "S": 4, "S1": 4}
