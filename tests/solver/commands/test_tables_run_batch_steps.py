"""`tables run-batch`: options of WRITETABLE, the logbook and Ctrl-C, several data, and who attacks."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import check_refusals, contents, flat, refuse, run
from small_files import ASC, HEAD, RDA, TABLE, batch, rows, write_batch_files

from linkrisk import Cancel, make_table, open_table, run_batch
from linkrisk.datasets.errors import DataError
from linkrisk.formulations.errors import FormulationError
from linkrisk.solver.commands.program import main
from linkrisk.solver.tables.operations.batch import steps


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


SOLVED = TABLE + '<SUPPRESS> OPT(1,5)\n<WRITETABLE> (1,1,,"safe.csv")\n'
TWICE = TABLE.replace("<READ", '<SPECIFYTABLE> "size"|"turnover"|""|""\n<SAFETYRULE> P(10,1)\n<READ')
BOTH = (
    '<SUPPRESS> OPT(1,5)\n<SUPPRESS> OPT(2,5)\n<WRITETABLE> (1,1,,"one.csv")\n'
    '<WRITETABLE> (2,1,,"two.csv")\n<LOGBOOK> "log.txt"\n'
)
STAMP = re.compile(r"\d\d-[A-Z][a-z]{2}-\d{4} \d\d:\d\d:\d\d : ")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_batch_files()


def logged() -> list[str]:
    lines = Path("log.txt").read_text(encoding="utf-8").splitlines()
    assert all(STAMP.match(line) for line in lines)
    return [re.sub(r"; \d+\.\d s$", "", STAMP.sub("", line)) for line in lines]


def test_what_is_done_is_in_the_logbook(capsys):
    batch(SOLVED + '<LOGBOOK> "log.txt"\n<VERSIONINFO> "version.txt"\n')
    printed = run(capsys, "tables", "run-batch", "firms.arb")
    assert [line for line in printed.splitlines() if line.startswith("  written")] == [
        f"  written     {name}" for name in ("safe.csv", "version.txt", "log.txt")
    ]
    assert re.fullmatch(r"linkrisk \S+\n", Path("version.txt").read_text(encoding="utf-8"))
    assert logged()[1:] == [
        *('<SPECIFYTABLE> "region""size"|"turnover"|""|""', "Tables have been made: 1, with 18 cells"),
        "<SUPPRESS> OPT(1,5)",
        "Table 1: 2 cells suppressed with 13 sensitive ones, cost 1,205.5, at least 1,205.5, protected",
        *('<WRITETABLE> (1,1,,"safe.csv")', "safe.csv is made"),
        "End of run: safe.csv, version.txt are written",
    ]


@pytest.mark.parametrize(
    ("line", "done", "failure"),
    [
        (
            "<SUPPRESS> RND(1)",
            5,
            "firms.arb, line 8, RND: it needs a base in whole numbers: RND(TABLE, BASE)",
        ),
        ("<OPENALL>", 2, "firms.arb, line 8: there is no command <OPENALL>"),
    ],
)
def test_a_failure_is_in_the_logbook_behind_what_was_before(capsys, line, done, failure):
    batch(SOLVED + '<LOGBOOK> "log.txt"\n')
    run_batch("firms.arb")
    before = logged()
    Path("safe.csv").unlink()
    batch(f'<LOGBOOK> "log.txt"\n{TABLE}{line}\n')
    assert main(["tables", "run-batch", "firms.arb"]) == 2
    said = capsys.readouterr().err.removeprefix("error: ").strip()
    assert said.startswith(failure)
    assert logged()[: len(before)] == before
    assert logged()[-2:] == [f"Failure: {said}", "End of run: nothing is written"]
    assert len(logged()) == len(before) + done + 1
    assert not Path("safe.csv").exists()


def test_a_second_logbook_is_refused_and_the_first_kept_of_it(capsys):
    batch('<LOGBOOK> "a"\n<LOGBOOK> "b"\n')
    before = contents()
    assert main(["tables", "run-batch", "firms.arb"]) == 2
    message = "firms.arb, line 5: there is a <LOGBOOK> already; one is for the whole batch"
    assert capsys.readouterr().err == f"error: {message}\n"
    assert set(contents()) == {*before, "a"}


def test_ctrl_c_writes_what_is_protected_and_begins_nothing_else(capsys, monkeypatch):
    batch(TWICE + BOTH)
    whole = steps.suppress_table

    def pressed(*table: object, **settings: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        return whole(*table, **settings)

    monkeypatch.setattr(steps, "suppress_table", pressed)
    printed = run(capsys, "tables", "run-batch", "firms.arb", "--json", "done.json").splitlines()
    stopped = "  stopped     by the user; not begun: firms.arb, line 10, <SUPPRESS> OPT(2,5), and 1 line more"
    assert printed[-2:] == [stopped, "wrote done.json"]
    assert Path("one.csv").exists()
    assert not Path("two.csv").exists()
    done = json.loads(Path("done.json").read_text(encoding="utf-8"))
    assert done["not_begun"] == ["line 10, <SUPPRESS> OPT(2,5)", 'line 12, <WRITETABLE> (2,1,,"two.csv")']
    assert [table["protected"] for table in done["tables"]] == [True, None]
    assert "not begun: <SUPPRESS> OPT(2,5)" in logged()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_batch_that_was_stopped_before_anything_was_protected(capsys, monkeypatch):
    batch(SOLVED)
    token = Cancel()
    token.cancel()
    done = run_batch("firms.arb", cancel=token)
    assert (done.files, len(done.not_begun)) == ((), 2)
    monkeypatch.setattr("linkrisk.solver.tables.operations.batch.run.run_batch", lambda *_, **__: done)
    assert main(["tables", "run-batch", "firms.arb"]) == 1
    assert "stopped     by the user" in capsys.readouterr().out


DATA = os.environ.get("LINKRISK_DATA")


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
    made = pd.DataFrame([(line[:2], line[2:7], float(line[7:13]), line[14]) for line in text.splitlines()])
    made.columns = ["region", "size", "turnover", "group"]
    return made.assign(**{name: made[name].str.strip() for name in ("region", "size", "group")})


def test_lines_that_have_another_place(capsys):
    def refused():
        for text in (
            *("<JJ> a.jj\n", "<LINKMOD> 1\n", "<CLEAR>\n", TABLE + "<SUPPRESS> OPT(1,5) now\n"),
            TABLE + '<SUPPRESS> OPT(1)\n<APRIORI> "region.hrc",1,";"\n',
            TABLE + f'<CLEAR>\n{HEAD}{TABLE}<WRITETABLE> (2,1,,"a.csv")\n',
            *(TABLE + "<SUPPRESS> CKM(1,2)\n", "<LOGBOOK>\n", '<LOGBOOK> "firms.asc"\n'),
        ):
            batch(text)
            yield text, ["tables", "run-batch", "firms.arb"]

    check_refusals(capsys, "tables-run-batch-steps", refused())
