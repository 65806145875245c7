"""`tables run-batch`: what the options of WRITETABLE write, and which of them have no place."""

from __future__ import annotations

from pathlib import Path

import pytest
from batch_files import ASC, RDA, TABLE, batch, rows, write_batch_files
from cli_runs import refuse

from linkrisk import open_table, run_batch
from linkrisk.datasets.errors import DataError
from linkrisk.solver.commands.program import main


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_batch_files()


def test_what_an_attacker_finds_is_written():
    """AR+: six more columns, 0 where nothing is suppressed, as the program has them."""
    batch(TABLE + '<SUPPRESS> OPT(1,5)\n<WRITETABLE> (1,5,AR+,"a.tab")\n<WRITETABLE> (1,5,,"plain.tab")\n')
    table = run_batch("firms.arb").tables[0]
    found = rows("a.tab")
    assert [len(row) for row in found] == [16] * len(table.stored)
    assert [row[:-6] for row in found] == rows("plain.tab")
    assert found[0][-6:] == ["0", "0", "0", "0.00", "0.00", "0.00"]
    low, high = (table.result.cells[name].to_numpy() for name in ("low", "high"))
    at = 1  # Total, big: suppressed
    assert [float(one) for one in found[at][-6:-3]] == pytest.approx([low[at], high[at], high[at] - low[at]])
    assert float(found[at][-3]) == pytest.approx(100 * (1460.5 - low[at]) / 1460.5, abs=0.01)
    described = Path("a.rda").read_text(encoding="utf-8")
    assert "audit_low" in described
    assert list(open_table("a.tab").status) == list(table.stored.status)


def test_a_table_that_nothing_was_done_with_is_audited():
    batch(TABLE + '<WRITETABLE> (1,5,AR+,"a.tab")\n')
    result = run_batch("firms.arb").tables[0].result
    hidden = [at for at, row in enumerate(rows("a.tab")) if "U" in row]
    high = [float(rows("a.tab")[at][-5]) for at in hidden]
    assert high == result.cells["high"].iloc[hidden].tolist()
    assert high != result.cells["value"].iloc[hidden].tolist()
    batch(TABLE.replace("P(10,1)", "") + '<WRITETABLE> (1,5,AR+,"a.tab")\n')
    run_batch("firms.arb")
    assert {row[-5] for row in rows("a.tab")} == {"0"}


def test_holdings_in_what_is_written(capsys):
    """HI+: counts and largest contributions of holdings; c, of group c, has a holding of its own."""
    rules = TABLE.replace("P(10,1)", "P(10,1)|P(0,1)|P(20,1)").replace("size", "size")
    Path("firms.asc").write_text(
        ASC.replace("35.00c", "35.00x").replace("40.00d", "40.00c"), encoding="utf-8"
    )
    batch(rules + '<WRITETABLE> (1,5,HI+SE+,"h.tab")\n<WRITETABLE> (1,5,QU-,"r.tab")\n')
    run_batch("firms.arb")
    held = {tuple(row[:2]): row for row in rows("h.tab")}
    of_records = {tuple(row[:2]): row for row in rows("r.tab")}
    assert held['"Total"', '"small"'][3] == "4"
    assert of_records["Total", "small"][3] == "5"
    assert held['"Total"', '"small"'][5:7] == ["60", "35"]
    assert of_records["Total", "small"][5:7] == ["40", "35"]
    assert len(held) == len(of_records) - 1  # nobody is in N2, big
    Path("firms.rda").write_text(RDA.replace("  <HOLDING>\n", ""), encoding="utf-8")
    batch(TABLE + '<WRITETABLE> (1,5,HI+,"h.tab")\n')
    message = "firms.arb, line 7, HI+: there are no holdings, since no variable of microdata is <HOLDING>"
    refuse(capsys, message, "tables", "run-batch", "firms.arb")


def test_trivial_levels_are_left_out():
    """TR+: S has S1 below it only, so that their cells are one, with the stronger status."""
    Path("known.hst").write_text("S1;big;u\n", encoding="utf-8")
    batch(
        TABLE.replace("P(10,1)", "") + '<APRIORI> "known.hst",1,";",1,0\n<WRITETABLE> (1,6,TR+,"short.jj")\n'
        '<WRITETABLE> (1,6,,"long.jj")\n'
    )
    run_batch("firms.arb")
    short, long = open_table("short.jj"), open_table("long.jj")
    assert (len(long), len(short)) == (18, 15)
    assert int(long.relation.max()) + 1 == 15
    assert int(short.relation.max()) + 1 == 11
    assert list(short.numbers["value"][12:]) == [555.0, 500.0, 55.0]
    assert list(short.status) == ["s"] * 10 + ["z", "s", "s", "u", "s"]  # nobody is in N2, big
    assert short.numbers["lower_protection"][13] == 100.0


def test_options_of_other_formats_are_said():
    batch(
        TABLE.replace("P(10,1)", "") + '<WRITETABLE> (1,3,HI+TR-,"a.txt")\n<WRITETABLE> (1,4,QU-,"a.sbs")\n'
    )
    said = run_batch("firms.arb").said
    assert said == ("firms.arb, line 7, HI+: it is of the format 5 only",)
    assert Path("a.sbs").read_text(encoding="utf-8").startswith("Total,Total,1610.5,8,V\n")


def test_numbers_of_respondents_are_published_with_the_sums(capsys):
    """Both are protected in the same cells; what changes values is refused, and so is a table of counts."""
    counted = TABLE.replace("P(10,1)", "P(10,1)|FREQ(3,20)")
    batch(counted + '<SUPPRESS> OPT(1,5)\n<WRITETABLE> (1,2,,"safe.csv")\n<WRITETABLE> (1,5,,"all.tab")\n')
    found = run_batch("firms.arb", publish_respondents=True)
    (table,) = found.tables
    assert found.to_dict()["tables"][0]["respondents_published"]
    assert table.result.beside.protected
    made = table.stored.cells
    assert made["respondents_published"].tolist() == made["respondents"].tolist()
    assert set(made["threshold"].dropna()) == {3.0}
    said = "published beside the values, where a cell is not suppressed: of every sensitive cell another"
    assert main(["tables", "run-batch", "firms.arb", "--publish-respondents"]) == 0
    assert said in capsys.readouterr().out
    assert main(["tables", "run-batch", "firms.arb"]) == 0
    assert "Numbers of respondents were not looked at" in capsys.readouterr().out
    batch(counted + '<SUPPRESS> CTA(1)\n<WRITETABLE> (1,2,,"safe.csv")\n')
    with pytest.raises(
        DataError, match=r"line 7, CTA: .* has numbers of respondents that are published beside"
    ):
        run_batch("firms.arb", publish_respondents=True)
    batch(TABLE.replace('"turnover"', "<freq>") + '<WRITETABLE> (1,2,,"safe.csv")\n')
    message = (
        "firms.arb: numbers of respondents are published beside sums, and no table has a response; "
        "leave them out"
    )
    refuse(capsys, message, "tables", "run-batch", "firms.arb", "--publish-respondents")


def test_numbers_of_respondents_of_ready_cells():
    batch(TABLE.replace("P(10,1)", "") + '<WRITETABLE> (1,5,QU-,"cells.tab")\n')
    run_batch("firms.arb")
    head = '<OPENTABLEDATA> "cells.tab"\n<OPENMETADATA> "cells.rda"\n'
    ready = (
        TABLE.replace("P(10,1)", "FREQ(3,20)")
        .replace('"turnover"', '"value"')
        .replace("<READMICRODATA>", "<READTABLE> 0")
    )
    batch(ready + '<SUPPRESS> OPT(1,5)\n<WRITETABLE> (1,2,,"safe.csv")\n', head)
    (table,) = run_batch("firms.arb", publish_respondents=True).tables
    assert table.result.beside.protected
    assert set(table.stored.cells["threshold"].dropna()) == {3.0}
