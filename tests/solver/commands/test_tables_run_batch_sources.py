"""`tables run-batch`: several data in one batch, who attacks them, and lines in another place."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from batch_files import ASC, HEAD, TABLE, batch, rows, write_batch_files
from cli_runs import flat, refuse, run

from linkrisk import make_table, run_batch
from linkrisk.formulations.errors import FormulationError

DATA = os.environ.get("LINKRISK_DATA")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_batch_files()


def test_singletons_attack_where_the_batch_says_so():
    """MOD(T,minutes,1,..) and GH(T,..,1) protect from those who are alone in a cell, too."""
    batch(TABLE.replace("P(10,1)", "FREQ(2,10)") + "<SUPPRESS> MOD(1,1,1,1,1,20000)\n")
    result = run_batch("firms.arb")
    (table,) = result.tables
    assert table.result.insiders is not None
    assert table.result.protected
    assert [one.split(": ", 1)[1] for one in result.said] == [
        "groups of few respondents are left out, only single ones count",
        "the scaling of costs and bounds of margins are left out",
    ]
    batch(TABLE.replace("P(10,1)", "FREQ(2,10)") + "<SUPPRESS> GH(1,75,0,0)\n")
    assert run_batch("firms.arb").tables[0].result.insiders is None


def test_nobody_is_alone_where_respondents_are_not_counted():
    Path("a.tab").write_text("T;9;S\nx;2;U\ny;3;S\nz;4;S\n", encoding="utf-8")
    Path("a.rda").write_text(
        '<SEPARATOR> ";"\na\n <RECODEABLE>\n <TOTCODE> "T"\nv\n <NUMERIC>\ns\n <STATUS>\n', encoding="utf-8"
    )
    head = (
        '<OPENTABLEDATA> "a.tab"\n<OPENMETADATA> "a.rda"\n<SPECIFYTABLE> "a"|"v"\n<SAFETYRULE>\n<READTABLE>\n'
    )
    batch("<SUPPRESS> MOD(1,5,1,0,0)\n", head)
    result = run_batch("firms.arb")
    assert result.tables[0].result.insiders is None
    assert result.said == (
        "firms.arb, line 6, MOD: no variable is <FREQUENCY>, so that nobody is seen to be alone in a cell",
    )
    Path("a.tab").write_text("T;9;S\nx;2;S\ny;3;S\nz;4;U\n", encoding="utf-8")
    Path("a.hst").write_text("z,pl,40,4\n", encoding="utf-8")
    batch('<APRIORI> "a.hst",1,","\n<SUPPRESS> OPT(1)\n', head)
    message = "firms.arb, line 7, OPT: cell 3 (a=z): its lower protection level is beyond what everybody"
    with pytest.raises(FormulationError, match=f"^{re.escape(message)}"):
        run_batch("firms.arb")


@pytest.mark.skipif(DATA is None, reason="needs public data: set LINKRISK_DATA to its folder")
def test_a_batch_as_package_rtauargus_writes_them(capsys):
    """Turnover by activity (three levels) and size, 414 cells, from singletons, too."""
    cells = pd.read_csv(f"{DATA}/rtauargus_turnover_act_size.csv", dtype=str)
    order = ["ACTIVITY", "SIZE", "TOT", "N_OBS", "MAX"]
    cells[order].to_csv("t.tab", sep=";", header=False, index=False)
    lines = []
    tree = pd.read_csv(f"{DATA}/rtauargus_activity_corr_table.csv", dtype=str)
    for row in tree.itertuples(index=False):
        lines += ["@" * depth + code for depth, code in enumerate(row) if code not in row[:depth]]
    Path("act.hrc").write_text("\n".join(dict.fromkeys(lines)) + "\n", encoding="utf-8")
    Path("t.rda").write_text(
        '<SEPARATOR> ";"\nACTIVITY\n <RECODEABLE>\n <TOTCODE> "Total"\n <HIERARCHICAL>\n'
        ' <HIERCODELIST> "act.hrc"\n <HIERLEADSTRING> "@"\nSIZE\n <RECODEABLE>\n <TOTCODE> "Total"\n'
        "TOT\n <NUMERIC>\nN_OBS\n <FREQUENCY>\nMAX\n <MAXSCORE>\n",
        encoding="utf-8",
    )
    head = '<OPENTABLEDATA> "t.tab"\n<OPENMETADATA> "t.rda"\n<SPECIFYTABLE> "ACTIVITY""SIZE"|"TOT"|""|""\n'
    batch(
        "<SAFETYRULE> NK(1,85)|FREQ(3,10)|MAN(10)\n<READTABLE> 1\n<SUPPRESS> MOD(1,5,1,0,0)\n"
        '<WRITETABLE> (1,4,,"safe.sbs")\n',
        head,
    )
    printed = run(capsys, "tables", "run-batch", "firms.arb")
    assert "414 cells, 228 relations\n  MOD: 77 sensitive cells\n" in printed
    assert "All 77 sensitive cells are protected from outsiders and from 24 insiders" in printed
    assert "Insiders 24: every sensitive cell is protected from each " in flat(printed)


def test_costs_to_the_power_0_are_logarithms():
    batch('<SPECIFYTABLE> "size"|"turnover"|""|"turnover"|0\n<SAFETYRULE>\n<READMICRODATA>\n')
    stored = run_batch("firms.arb").tables[0].stored
    assert stored.numbers["cost"] == pytest.approx(np.log1p(stored.numbers["value"]))


def test_other_data_behind_clear():
    """Tables are numbered anew in the batch, and counted on in what is told."""
    Path("other.asc").write_text(ASC.replace("900.0", "800.0"), encoding="utf-8")
    other = HEAD.replace("firms.asc", "other.asc")
    batch(
        TABLE + '<RECODE> 1, region, 1\n<SUPPRESS> OPT(1,5)\n<WRITETABLE> (1,1,,"one.csv")\n<CLEAR>\n'
        f'{other}{TABLE}<SUPPRESS> GH(1)\n<WRITETABLE> (1,1,,"two.csv")\n<CLEAR>\n'
    )
    first, second = run_batch("firms.arb").tables
    assert (first.method, second.method) == ("OPT", "GH")
    assert first.stored.trees[0].codes == ("Total", "N", "S")
    assert second.stored.trees[0].codes == ("Total", "N", "N1", "N2", "S", "S1")
    assert second.stored.numbers["value"][0] == pytest.approx(1510.5)
    assert Path("two.csv").exists()


def test_several_files_of_cells_are_linked():
    """Each with its own metadata, and protected at once."""
    source = frame_of(ASC)
    for name, by in (("a", ["region", "size"]), ("b", ["size", "group"])):
        tree = {"region": "region.hrc"} if "region" in by else {}
        made = make_table(source, by, response="turnover", rules=["p=10"], hierarchies=tree)
        made.cells.to_csv(f"{name}.csv", index=False)
        cells = made.cells.assign(status=made.cells["status"].str.upper().replace("Z", "E"))
        cells.to_csv(f"{name}.tab", index=False, header=False, sep=";")
        words = "".join(
            f'{one}\n <RECODEABLE>\n <TOTCODE> "Total"\n'
            + (
                ' <HIERARCHICAL>\n <HIERCODELIST> "region.hrc"\n <HIERLEADSTRING> "@"\n'
                if one == "region"
                else ""
            )
            for one in by
        )
        Path(f"{name}.rda").write_text(
            f'<SEPARATOR> ";"\n{words}v\n <NUMERIC>\nn\n <FREQUENCY>\ns\n <STATUS>\n'
            "l\n <NUMERIC> <LOWERPL>\nu\n <NUMERIC> <UPPERPL>\n",
            encoding="utf-8",
        )
    batch(
        '<OPENTABLEDATA> "a.tab"\n<OPENMETADATA> "a.rda"\n<SPECIFYTABLE> "region""size"|"v"\n<SAFETYRULE>\n'
        '<OPENTABLEDATA> "b.tab"\n<OPENMETADATA> "b.rda"\n<SPECIFYTABLE> "size""group"|"v"\n<SAFETYRULE>\n'
        '<READTABLE> 0\n<SUPPRESS> MOD(0,1)\n<WRITETABLE> (2,5,AR+,"b-inside.tab")\n',
        "",
    )
    result = run_batch("firms.arb")
    first, second = result.tables
    assert first.result is second.result
    assert result.protected
    assert {row[-4] != "0" for row in rows("b-inside.tab") if {"U", "M"} & set(row)} == {True}


def frame_of(text):
    """The records of a text without keys."""
    made = pd.DataFrame([(line[:2], line[2:7], float(line[7:13]), line[14]) for line in text.splitlines()])
    made.columns = ["region", "size", "turnover", "group"]
    return made.assign(**{name: made[name].str.strip() for name in ("region", "size", "group")})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<JJ> a.jj\n", "line 4: a JJ file needs no batch; write tables suppress --table FILE.jj"),
        (
            "<LINKMOD> 1\n",
            "line 4: linked tables are protected by <SUPPRESS> MOD(0,...); write that",
        ),
        (
            "<CLEAR>\n",
            "line 4: data is open that no table is read of; leave it out, or read a table",
        ),
        (TABLE + "<SUPPRESS> OPT(1,5) now\n", "line 7: 'now' stands behind OPT(...); leave it out"),
        (
            TABLE + '<SUPPRESS> OPT(1)\n<APRIORI> "region.hrc",1,";"\n',
            "line 8: <APRIORI> comes before <SUPPRESS> OPT; move it up",
        ),
        (
            TABLE + f'<CLEAR>\n{HEAD}{TABLE}<WRITETABLE> (2,1,,"a.csv")\n',
            "line 14: there is no table 2; they are 1 to 1",
        ),
        (
            TABLE + "<SUPPRESS> CKM(1,2)\n",
            'line 7: write <SUPPRESS> CKM(TABLE) "FILE"|"FILE OF SMALL CELLS"|EXTRA; what is left out is '
            "that of the metadata",
        ),
    ],
)
def test_lines_that_have_another_place(capsys, text, message):
    batch(text)
    refuse(capsys, f"firms.arb, {message}", "tables", "run-batch", "firms.arb")
