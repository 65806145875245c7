"""`tables suppress` and `tables audit` with insiders: what is printed, written and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_golden, contents, flat, refuse, run

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


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--insiders", "contributors"], "contributors as insiders need the file of contributions; give it"),
        (
            ["--coalitions", "x.csv", "--contributors", "who.csv"],
            "coalition 'x': 'nobody' contributes to no cell; correct the name",
        ),
        (
            ["--insiders", "contributors", "--contributors", "bad.csv"],
            "bad.csv, row 1, column 'cell': 77 is no cell; they are 0 to 15",
        ),
        (
            ["--insiders", "contributors", "--contributors", "twice.csv"],
            "twice.csv, row 2: a stands twice in cell 5; add its amounts",
        ),
        (["--insiders", "ends.csv"], "ends.csv, row 1: the lower end 9 is above the upper 3"),
        (
            ["--insiders", "wrong.csv"],
            "insider 'a': the value 60 of cell 7 is outside of what they know; correct it",
        ),
    ],
)
def test_files_that_cannot_be_used(argv, message, capsys):
    Path("x.csv").write_text("coalition,contributor\nx,nobody\n", encoding="utf-8")
    Path("bad.csv").write_text("cell,contributor,amount\n77,a,3\n", encoding="utf-8")
    Path("twice.csv").write_text("cell,contributor,amount\n5,a,3\n5,a,3\n", encoding="utf-8")
    Path("ends.csv").write_text("insider,cell,lower,upper\na,5,9,3\n", encoding="utf-8")
    Path("wrong.csv").write_text("insider,cell,lower,upper\na,7,1,3\n", encoding="utf-8")
    before = contents()
    code = main(["tables", "suppress", *FILES, *argv])
    printed = capsys.readouterr()
    assert (code, printed.out, contents()) == (2, "", before)
    assert printed.err.startswith(f"error: {message}")


def test_singletons_by_name_where_contributions_are_known(capsys):
    printed = run(capsys, "tables", "suppress", *FILES, "--contributors", "who.csv")
    assert "Insiders 2: every sensitive cell is protected from each " in flat(printed)
    found = suppress_table("cells.csv", "relations.csv", contributors="who.csv")
    assert set(found.insiders.audit.names[1:]) == {"a", "b"}
    assert found.details["from"] == {"who": ["singletons"], "left_out": None, "in_part": False}


@pytest.mark.parametrize(("action", "option"), [("suppress", "--insiders"), ("audit", "--apriori")])
def test_what_is_known_is_given_once(action, option, capsys):
    message = f"{option} is given twice; give it once, with all in one file"
    refuse(capsys, message, "tables", action, *FILES, option, "one.csv", option, "two.csv")


def test_contributions_nobody_looks_at(capsys):
    Path("known.csv").write_text("insider,cell,lower,upper\nme,1,0,9\n", encoding="utf-8")
    message = (
        "contributions are looked at for coalitions, singletons or contributors as insiders, and neither "
    )
    asked = ["--insiders", "known.csv", "--contributors", "who.csv"]
    message += "is asked for; ask for one, or leave them out"
    refuse(capsys, message, "tables", "suppress", *FILES, *asked)


def test_singletons_need_to_be_known():
    cells = pd.read_csv("cells.csv").drop(columns="respondents")
    with pytest.raises(UsageError, match="has no column 'respondents', which says who is alone in a cell"):
        audit_table(cells, "relations.csv", insiders="singletons")
    assert suppress_table(cells, "relations.csv", insiders="singletons", contributors="who.csv").protected


def test_no_cell_has_a_single_respondent(capsys):
    cells = pd.read_csv("cells.csv")
    cells.assign(respondents=cells["respondents"].clip(lower=2)).to_csv("cells.csv", index=False)
    assert "outsiders; no cell has a single respondent. " in flat(run(capsys, "tables", "suppress", *FILES))
