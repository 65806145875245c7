"""`tables suppress` and `tables audit` with insiders: what is printed, written and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_golden, check_refusals, flat, refuse, run

from linkrisk import audit_table, make_table, suppress_table
from linkrisk.solver.commands.program import main
from linkrisk.solver.run.errors import UsageError

FIRMS = """region,size,turnover,firm
N,big,20,a
N,mid,30,b
N,small,50,c
N,small,10,d
S,big,40,e
S,big,9,f
S,mid,50,g
S,mid,8,h
S,small,60,i
S,small,7,j
W,big,90,k
W,big,8,l
W,mid,70,m
W,mid,6,c
W,small,80,n
W,small,5,o
"""
FILES = ["--cells", "cells.csv", "--relations", "relations.csv"]


@pytest.fixture(autouse=True)
def firms(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("firms.csv").write_text(FIRMS, encoding="utf-8")
    made = make_table(
        "firms.csv", ["region", "size"], response="turnover", rules=["frequency=2"], respondent="firm"
    )
    made.write("cells.csv", "relations.csv", "who.csv")


def test_singletons(capsys):
    """The outsider's pattern gives b away to a; the exit code of its audit is 1."""
    asked = ["--insiders", "none", "--internal", "outside.csv"]
    outside = run(capsys, "tables", "suppress", *FILES, *asked)
    audited = ["tables", "audit", "--cells", "outside.csv", "--relations", "relations.csv"]
    assert main([*audited, "--insiders", "singletons"]) == 1
    told = capsys.readouterr().out
    inside = run(capsys, "tables", "suppress", *FILES, "--insiders", "singletons", "--internal", "inside.csv")
    check_golden("tables-insiders", f"{outside}{told}{inside}")
    assert run(capsys, "tables", "suppress", *FILES, "--internal", "inside.csv") == inside  # the default
    assert main(audited) == 1
    columns = pd.read_csv("inside.csv").columns
    assert {"narrowest_low", "narrowest_high", "narrowest_of"} <= set(columns)


def test_contributors_and_coalitions(capsys):
    asked = ["tables", "suppress", *FILES, "--contributors", "who.csv"]
    printed = run(
        capsys, *asked, "--insiders", "contributors", "--json", "found.json", "--output", "safe.csv"
    )
    assert "Insiders 15: every sensitive cell is protected from each " in flat(printed)
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))["insiders"]
    assert (found["attackers"], found["protected"], found["unreachable"]) == (15, True, [])
    assert {one["cell"] for one in found["narrowest"]} > {5, 6}
    assert not {"narrowest_low", "narrowest_of"} & set(pd.read_csv("safe.csv").columns)
    Path("together.csv").write_text("coalition,contributor\nx,c\nx,e\n", encoding="utf-8")
    printed = run(capsys, *asked, "--coalitions", "together.csv")
    assert "Insiders 1: every sensitive cell is protected from each " in flat(printed)


@pytest.mark.parametrize("method", ["optimal", "modular"])
def test_methods_and_what_they_say_of_the_cost(method):
    """Against the outsider alone first, and in the end against everybody."""
    said = []
    how = {"insiders": "singletons", "method": method, "on_progress": said.append}
    result = suppress_table("cells.csv", "relations.csv", **how)
    assert result.protected
    assert result.pattern.bound <= 234 <= result.pattern.cost
    costs = [one for one in said if one.cost == one.cost]
    assert list(dict.fromkeys(one.about for one in costs)) == ["the outsider", ""]
    assert (costs[-1].cost, costs[-1].bound) == (result.pattern.cost, result.pattern.bound)
    alone = [one.cost for one in costs if one.about]
    assert alone[-1] < result.pattern.cost


def test_an_insider_of_a_file_who_knows_too_much(capsys):
    cells = pd.read_csv("cells.csv")
    row = cells[(cells["region"] == "N") & (cells["size"] != "mid")]
    known = pd.DataFrame({"insider": "spy", "cell": row.index, "lower": row["value"], "upper": row["value"]})
    known.to_csv("spy.csv", index=False)
    asked = ["tables", "suppress", *FILES, "--insiders", "spy.csv"]
    mid = int(cells.index[(cells["region"] == "N") & (cells["size"] == "mid")][0])
    cell = f"cell {mid} (region=N, size=mid)"
    message = (
        f"not protected, whatever is suppressed: {cell} from spy, by 6; {cell} from spy, by 6; lower "
        "their levels, let more cells be suppressed, or go as far as possible"
    )
    refuse(capsys, message, *asked)
    printed = run(capsys, *asked, "--as-far-as-possible")
    said = f"cell {mid} (region=N, size=mid) from spy: 0 of 6"
    assert "Levels out of reach 2: as much was asked for as can be" in flat(printed)
    assert f" of their own cells: {said}; {said}\n" in printed


def test_files_that_cannot_be_used(capsys):
    files = {
        "x": "coalition,contributor\nx,nobody\n", "bad": "cell,contributor,amount\n77,a,3\n",
        "twice": "cell,contributor,amount\n5,a,3\n5,a,3\n", "ends": "insider,cell,lower,upper\na,5,9,3\n",
        "wrong": "insider,cell,lower,upper\na,7,1,3\n", "known": "insider,cell,lower,upper\nme,1,0,9\n",
    }  # fmt: skip
    for name, text in files.items():
        Path(f"{name}.csv").write_text(text, encoding="utf-8")
    asked = [
        *(["--insiders", "contributors"], ["--coalitions", "x.csv", "--contributors", "who.csv"]),
        ["--insiders", "contributors", "--contributors", "bad.csv"],
        *(["--insiders", "contributors", "--contributors", "twice.csv"], ["--insiders", "ends.csv"]),
        *(["--insiders", "wrong.csv"], ["--insiders", "known.csv", "--contributors", "who.csv"]),
        ["--insiders", "one.csv", "--insiders", "two.csv"],
    ]
    audit = ["tables", "audit", *FILES, "--apriori", "one.csv", "--apriori", "two.csv"]
    check_refusals(
        capsys, "tables-insiders", [*(["tables", "suppress", *FILES, *one] for one in asked), audit]
    )


def test_singletons_by_name_where_contributions_are_known(capsys):
    printed = run(capsys, "tables", "suppress", *FILES, "--contributors", "who.csv")
    assert "Insiders 2: every sensitive cell is protected from each " in flat(printed)
    found = suppress_table("cells.csv", "relations.csv", contributors="who.csv")
    assert set(found.insiders.audit.names[1:]) == {"a", "b"}
    assert found.details["from"] == {"who": ["singletons"], "left_out": None, "in_part": False}


def test_singletons_need_to_be_known():
    cells = pd.read_csv("cells.csv").drop(columns="respondents")
    with pytest.raises(UsageError, match="has no column 'respondents', which says who is alone in a cell"):
        audit_table(cells, "relations.csv", insiders="singletons")
    assert suppress_table(cells, "relations.csv", insiders="singletons", contributors="who.csv").protected


def test_no_cell_has_a_single_respondent(capsys):
    cells = pd.read_csv("cells.csv")
    cells.assign(respondents=cells["respondents"].clip(lower=2)).to_csv("cells.csv", index=False)
    assert "outsiders; no cell has a single respondent. " in flat(run(capsys, "tables", "suppress", *FILES))
