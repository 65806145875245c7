"""`tables` on the command line and as functions: what it writes, proves, audits and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_golden, check_refusals, check_refused_calls, run

from linkrisk import audit_table, make_table, open_table, round_table, suppress_table
from linkrisk.solver.commands.program import main
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables import steering

INNER = [[20, 3, 10, 30], [15, 25, 35, 40], [45, 12, 28, 18], [32, 22, 16, 60]]
SENSITIVE = {(1, 3): 3, (3, 2): 4}
ASKED = ["--cells", "cells.csv", "--relations", "relations.csv"]


@pytest.fixture(autouse=True)
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(INNER, index=range(1, 5), columns=range(1, 5))
    frame.loc["T"] = frame.sum()
    frame["T"] = frame.sum(axis=1)
    codes = ["T", 1, 2, 3, 4]
    lines = ["row,column,value,status,lower_protection,upper_protection,lower_bound,upper_bound"]
    for row in codes:
        for column in codes:
            level = SENSITIVE.get((row, column), 0)
            value = frame.loc[row, column]
            lines.append(f"{row},{column},{value},{'u' if level else 's'},{level},{level},0,{2 * value}")
    Path("cells.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    terms = ["relation,cell,coefficient"]
    for at in range(5):
        for number, cells in ((at, range(5 * at, 5 * at + 5)), (5 + at, range(at, 25, 5))):
            terms += [f"{number},{cell},{-1 if cell == cells[0] else 1}" for cell in cells]
    Path("relations.csv").write_text("\n".join(terms) + "\n", encoding="utf-8")


def test_what_is_printed_and_written(capsys):
    files = ["--output", "safe.csv", "--internal", "internal.csv", "--json", "found.json"]
    check_golden("tables", run(capsys, "tables", "suppress", *ASKED, *files))
    safe = pd.read_csv("safe.csv", keep_default_na=True)
    assert list(safe.columns) == ["row", "column", "value", "status"]  # nothing of how it is protected
    assert safe["value"].isna().sum() == (safe["status"] == "suppressed").sum() == 6
    assert "T,2,62,published" in Path("safe.csv").read_text(encoding="utf-8")  # whole numbers stay whole
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert (found["cost"], found["bound"], found["status"]) == (69.0, 69.0, "optimal")
    assert found["pattern"] == [7, 8, 17, 18, 22, 23]
    internal = pd.read_csv("internal.csv")
    assert internal.loc[8, ["low", "high"]].tolist() == pytest.approx([7.0, 13.0])


@pytest.mark.parametrize("method", ["modular", "heuristic"])
def test_methods_for_large_tables(capsys, method):
    files = ["--output", "safe.csv", "--json", "found.json"]
    asked = ["tables", "suppress", *ASKED, "--method", method, "--time-limit", "none", *files]
    check_golden(f"tables-{method}", run(capsys, *asked))
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert found["method"] == method
    assert found["protected"]
    assert found["bound"] <= 69.0 <= found["cost"]
    frame = pd.read_csv("safe.csv")
    assert frame["value"].isna().sum() == found["suppressed"]


def test_levels_alone_where_intervals_take_too_long(monkeypatch):
    monkeypatch.setattr(steering, "INTERVAL_CELLS", 1)
    result = suppress_table("cells.csv", "relations.csv", method="heuristic")
    assert result.protected
    assert result.to_dict()["intervals"] is False
    assert result.to_frame()["low"].isna().sum() == result.suppressed.sum()


def test_an_audit_of_a_pattern_that_does_not_protect(capsys):
    """Of the cheapest rectangle one cell of 3 moves by 3 only."""
    frame = pd.read_csv("cells.csv")
    frame.loc[[7, 18], "status"] = "m"
    frame.to_csv("cells.csv", index=False)
    assert main(["tables", "audit", *ASKED, "--output", "safe.csv"]) == 1
    check_golden("tables-audit", capsys.readouterr().out)
    assert not Path("safe.csv").exists()
    result = audit_table("cells.csv", "relations.csv")
    assert result.to_dict()["under_protected"] == [17]
    with pytest.raises(UsageError, match="the table is not protected"):
        result.write("safe.csv")


def test_a_table_rounded(capsys):
    files = ["--output", "safe.csv", "--internal", "internal.csv", "--json", "found.json"]
    check_golden("tables-round", run(capsys, "tables", "round", *ASKED, "--base", "5", *files))
    safe = pd.read_csv("safe.csv")
    assert list(safe.columns) == ["row", "column", "value"]
    assert (safe["value"] % 5 == 0).all()
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert (found["cost"], found["bound"], found["status"]) == (28.0, 28.0, "optimal")
    assert repr(round_table("cells.csv", "relations.csv", base=5)) == (
        "RoundedTable(25 cells, changed by 28, optimal)"
    )
    run(capsys, "tables", "round", *ASKED, "--base", "7", "--relaxed")


def test_costs():
    assert suppress_table("cells.csv", "relations.csv", cost="unit").pattern.cost == 4.0
    frame = pd.read_csv("cells.csv").assign(cost=1.0)
    frame.loc[0, "cost"] = None  # 1, where nothing is said
    frame.to_csv("cells.csv", index=False)
    assert suppress_table("cells.csv", "relations.csv", cost="given").pattern.cost == 4.0
    by_log = suppress_table("cells.csv", "relations.csv", cost="log")
    assert by_log.pattern.proven or by_log.pattern.bound > 0.99 * by_log.pattern.cost


def test_tables_that_cannot_be_used():
    texts = {file: Path(file).read_text(encoding="utf-8") for file in ("cells.csv", "relations.csv")}

    def refused(case):
        file, old, new = case
        assert old in texts[file]
        for name, text in texts.items():
            Path(name).write_text(text.replace(old, new, 1) if name == file else text, encoding="utf-8")
        suppress_table("cells.csv", "relations.csv")

    check_refused_calls(
        "tables-cells",
        refused,
        [
            ("cells.csv", "1,3,10,u", "1,3,11,u"),
            ("cells.csv", "1,3,10,u,3,3", "1,3,10,u,0,0"),
            ("cells.csv", "1,3,10,u,3,3", "1,3,10,u,11,3"),
            ("cells.csv", "1,3,10,u", "1,3,10,x"),
            ("cells.csv", "1,3,10,u", "1,3,,u"),
            ("cells.csv", "status", "Status"),
            ("relations.csv", "0,0,-1", "0,99,-1"),
        ],
    )


def test_a_cell_that_cannot_be_protected():
    """Everything else is always published."""
    text = Path("cells.csv").read_text(encoding="utf-8").replace(",s,", ",z,")
    Path("cells.csv").write_text(text, encoding="utf-8")
    message = (
        r"^cell [0-9]+ \(row=., column=.\) cannot be protected: with all cells suppressed it is still short"
    )
    for method in ("optimal", "modular"):
        with pytest.raises(UsageError, match=message):
            suppress_table("cells.csv", "relations.csv", method=method)


def test_bad_requests(capsys):
    options = ["--method", "modular", "--backend", "highs", "--output", "safe.csv"]
    check_refusals(capsys, "tables-suppress", [["tables", "suppress", *ASKED, *options]])


def test_a_total_that_is_sensitive_itself(tmp_path):
    """One firm has most of everything: nobody knows that the total is not larger than it is."""
    Path("firms.csv").write_text("region,size,x\nN,L,900\nN,S,20\nS,L,30\nS,S,25\nS,S,20\n", "utf-8")
    made = make_table("firms.csv", ["region", "size"], response="x", rules=["p=20"])
    assert made.cells["status"].iloc[0] == "u"
    level = made.cells["upper_protection"].iloc[0]
    assert level == pytest.approx(0.2 * 900 - (995 - 900 - 30))
    result = suppress_table(made)
    assert result.protected
    assert result.audit.high[0] >= 995 + level - 1e-6
    result.write_internal(tmp_path / "inside.jj")
    again = audit_table(open_table(tmp_path / "inside.jj"))
    assert again.protected


def test_levels_beyond_the_largest_size_of_a_ready_table():
    """Of values below 0 nobody knows how far below; a sliding interval is as wide as it is asked to be."""
    levels = ["lower_protection", "upper_protection", "sliding_protection"]
    frame = pd.DataFrame({"v": ["Total", "a", "b"], "value": [-965, -900, -65], "status": ["u", "s", "s"]})
    for sign, own in ((1, [100, 50, 0]), (-1, [100, 50, 0]), (1, [0, 0, 3000]), (-1, [0, 0, 3000])):
        table = frame.assign(value=sign * frame["value"], **dict(zip(levels, own, strict=True)))
        table.loc[1:, levels] = 0
        result = suppress_table(table)
        assert result.protected
        assert (result.audit.low[0], result.audit.high[0]) <= (table["value"][0] - own[0] + 1e-6, 1e6)
        assert result.audit.high[0] >= table["value"][0] + own[1] - 1e-6
        assert result.audit.high[0] - result.audit.low[0] >= own[2] - 1e-6
