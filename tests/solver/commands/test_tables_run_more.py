"""`tables run`: cell keys, audits and holdings in what is written, singletons, several files of data."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from batch_files import ASC, HEAD, KEYED, RDA, TABLE, batch, write_batch_files
from cli_runs import check_golden, refuse, run

from linkrisk import make_table, open_table, perturb_counts, perturb_sums, run_batch
from linkrisk.formulations.errors import FormulationError

DATA = os.environ.get("LINKRISK_DATA")
COUNTS = '"i";"j";"p";"v";"p_ij_ub"\n0;0;1;0;1\n1;0;0.25;-1;0.25\n1;1;0.5;0;0.75\n1;2;0.25;1;1\n'
SUMS = "i;j;p;v;p_int_ub;type\n0;0;1;0;1;all\n1;0;0.25;-1;0.25;all\n1;1;0.5;0;0.75;all\n1;2;0.25;1;1;all\n"
FREQ = '<SPECIFYTABLE> "region""size"|<freq>\n<SAFETYRULE>\n<READMICRODATA>\n'


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_batch_files()
    Path("counts.txt").write_text(COUNTS, encoding="utf-8")
    Path("sums.txt").write_text(SUMS, encoding="utf-8")


def keyed(more="", response=""):
    """Data with record keys, and what the metadata says of their noise."""
    Path("firms.asc").write_text(KEYED, encoding="utf-8")
    described = RDA.replace("  <NUMERIC>\n", f"  <NUMERIC>\n{response}", 1)
    Path("firms.rda").write_text(
        f"{described}key 19 6\n  <RECORDKEY>\n  <DECIMALS> 4\n{more}", encoding="utf-8"
    )


def frame():
    """The records as `make_table` takes them."""
    names, widths = ["region", "size", "turnover", "asks", "group", "w", "key"], [2, 5, 6, 1, 1, 3, 6]
    made = pd.read_fwf("firms.asc", widths=widths, names=names, dtype={"region": str, "size": str})
    return made.assign(region=made["region"].str.strip(), size=made["size"].str.strip())


def test_counts_with_noise(capsys):
    keyed()
    writes = (
        '<SUPPRESS> CKM(1) "counts.txt" // the table of counts\n<WRITETABLE> (1,1,,"safe.csv")\n'
        '<WRITETABLE> (1,2,AS+,"pivot.csv")\n<WRITETABLE> (1,7,AO+AD+AC+SE+QU-,"inside.tab")\n'
        '<WRITETABLE> (1,7,,"outside.tab")\n'
    )
    batch(FREQ + writes)
    check_golden("tables-run-keys", run(capsys, "tables", "run", "firms.arb"))
    expected = perturb_counts(
        frame(), ["region", "size"], design="counts.txt", keys="key", hierarchies={"region": "region.hrc"}
    )
    pivot = pd.read_csv("pivot.csv")
    assert list(pivot.columns) == ["region", "size", "Freq"]
    shown = pd.to_numeric(pivot["Freq"].replace("-", "0"))
    assert shown.tolist() == expected.cells["perturbed"].tolist()
    inside = [line.split(";") for line in Path("inside.tab").read_text(encoding="utf-8").splitlines()]
    assert inside[1][:5] == ["Total", "big", "4", "3", "1"]
    assert float(inside[0][5]) == pytest.approx(frame()["key"].sum() % 1)
    assert len(inside) == int((expected.cells["value"] > 0).sum())
    assert Path("outside.tab").read_text(encoding="utf-8").splitlines()[0] == '"Total";"Total";8'
    assert open_table("outside.tab", recompute=True).by == ("region", "size")


def test_counts_with_noise_are_those_of_the_program():
    """What its engine has written of the same records, keys and perturbation table."""
    keyed()
    rows = [(0, 0, 1, 0), (1, -1, 0.3665, 0), (1, 0, 0.3665, 0), (1, 1, 0.1675, 0), (1, 2, 0.0995, 0)]
    rows += [(2, -1, 0.25, 0), (2, 0, 0.5, 0), (2, 1, 0.25, 0)]
    frame = pd.DataFrame(rows, columns=["i", "v", "p", "p_ij_ub"])
    frame.assign(j=frame["i"] + frame["v"]).to_csv("counts.txt", sep=";", index=False)
    batch(FREQ + '<SUPPRESS> CKM(1) "counts.txt"\n<WRITETABLE> (1,1,QU-,"safe.csv")\n')
    run_batch("firms.arb")
    assert Path("safe.csv").read_text(encoding="utf-8") == (
        ",Total,big,small\nTotal,8,4,5\nN,5,2,2\nN1,3,2,3\nN2,1,-,1\nS,4,0,2\nS1,4,0,2\n\n"
    )


def test_sums_with_noise():
    """The metadata says what the noise is like; the batch may name other tables, and extra noise."""
    keyed(
        '  <PFILE> "counts.txt"\n  <PFILE_CONT> "sums.txt"\n  <PFILE_SEP> "sums.txt"\n',
        "  <CKM> T(2)\n  <SEPARATION> Y\n  <SCALING> F(0.03, 0.30,1000,3,0.5)\n",
    )
    rules = TABLE.replace("P(10,1)", "P(10,1)|WGT(1)")
    batch(
        rules
        + '<SUPPRESS> CKM(1)||2.5\n<WRITETABLE> (1,2,,"safe.csv")\n<WRITETABLE> (1,7,AO+,"inside.tab")\n'
    )
    result = run_batch("firms.arb")
    expected = perturb_sums(
        frame(),
        ["region", "size"],
        response="turnover",
        noise="sums.txt",
        small="sums.txt",
        share=0.3,
        least=0.03,
        flex_point=1000.0,
        factors=(1.0, 0.5),
        extra=2.5,
        rules=["p=10"],
        same_key=False,
        digits=4,
        weight="w",
        keys="key",
        hierarchies={"region": "region.hrc"},
    )
    (table,) = result.tables
    assert table.noisy.cells["perturbed"].tolist() == expected.cells["perturbed"].tolist()
    assert (expected.cells["noise"] != 0).any()
    assert result.protected
    assert result.said == ()
    inside = Path("inside.tab").read_text(encoding="utf-8").splitlines()[0].split(";")
    assert float(inside[2]) == pytest.approx(expected.cells["perturbed"][0])
    assert float(inside[3]) == pytest.approx(expected.cells["value"][0])


def test_sums_with_noise_are_those_of_the_program():
    """What its engine has written of the same records and keys, whose digits are turned round."""
    keyed(response="  <CKM> T(2)\n  <INCLUDEZEROS> N\n  <SCALING> F(0.03,0.30,100,3,0.5)\n")
    rows = [(0, 0, 1), (1, -1, 0.25), (1, -0.5, 0.25), (1, 0, 0.1), (1, 0.5, 0.15), (1, 1.2, 0.25)]
    rows += [(2, -2, 0.1), (2, -1, 0.25), (2, 0, 0.3), (2, 1, 0.25), (2, 2, 0.1)]
    frame = pd.DataFrame(rows, columns=["i", "v", "p"]).assign(type="all")
    frame.to_csv("sums.txt", sep=";", index=False)
    batch(TABLE + '<SUPPRESS> CKM(1) "sums.txt"||0.5\n<WRITETABLE> (1,1,QU-,"safe.csv")\n')
    run_batch("firms.arb")
    assert Path("safe.csv").read_text(encoding="utf-8") == (
        ",Total,big,small\n"
        "Total,1589.4,1391.2,143.2\n"
        "N,1018.4,1067.0,95.0\n"
        "N1,1087.0,1067.0,5.0\n"
        "N2,57.0,-,57.0\n"
        "S,491.7,436.7,73.8\n"
        "S1,491.7,436.7,73.8\n"
        "\n"
    )


def test_keys_whose_digits_are_not_counted_are_mixed():
    keyed(response="  <CKM> V\n  <SCALING> N(0.1)\n")
    described = Path("firms.rda").read_text(encoding="utf-8")
    Path("firms.rda").write_text(described.removesuffix("  <DECIMALS> 4\n"), encoding="utf-8")
    batch(TABLE + '<SUPPRESS> CKM(1) "sums.txt"\n')
    result = run_batch("firms.arb")
    assert result.tables[0].noisy.details["digits"] is None
    assert result.said == (
        "firms.arb, line 7, CKM: <DECIMALS> of the record keys is not said, so that bits are mixed and no "
        "digits turned round",
    )


@pytest.mark.parametrize(
    ("more", "response", "text", "message"),
    [
        (
            "",
            "",
            TABLE + "<SUPPRESS> CKM(1)\n",
            "line 7: <CKM> of 'turnover' is missing; its metadata says T(n), M, D or V",
        ),
        (
            "",
            "  <CKM> N\n",
            TABLE + "<SUPPRESS> CKM(1)\n",
            "line 7: <CKM> of 'turnover' is N; its metadata says T(n), M, D or V",
        ),
        (
            "",
            "  <CKM> T(2)\n  <SCALING> N(0.1)\n",
            TABLE + '<SUPPRESS> CKM(1) "sums.txt"\n',
            "line 7: <SCALING> of 'turnover' is N(0.1); its metadata says F(S0,S1,X,Q) or N(S1), and "
            "1 more for the next contributions",
        ),
        (
            "",
            "  <CKM> M\n  <SCALING> N(a)\n",
            TABLE + '<SUPPRESS> CKM(1) "sums.txt"\n',
            "line 7: <SCALING> of 'turnover' is N(a); its metadata says F(S0,S1,X,Q) or N(S1)",
        ),
        (
            "",
            "  <CKM> M\n  <SCALING> N(0.1)\n",
            TABLE.replace("P(10,1)", "") + '<SUPPRESS> CKM(1) "sums.txt"||2\n',
            "line 7: the extra noise of CKM is of cells that P, NK, FREQ or ZERO say are sensitive by the "
            "response itself; give such a rule",
        ),
        (
            "",
            "",
            FREQ + "<SUPPRESS> CKM(1)\n",
            "line 7: CKM needs a perturbation table; name it here, or by <PFILE> of 'key'",
        ),
        (
            '  <PFILE> "none.txt"\n',
            "",
            FREQ + "<SUPPRESS> CKM(1)\n",
            "line 7: there is no file 'none.txt' beside firms.rda",
        ),
        (
            "",
            "",
            FREQ + '<SUPPRESS> CKM(1) "counts.txt"|"sums.txt"\n',
            'line 7: write <SUPPRESS> CKM(TABLE) "FILE"; what is left out is that of the metadata',
        ),
        (
            "",
            "",
            FREQ + '<SUPPRESS> CKM(1) "biased.txt"\n',
            "line 7: the perturbation table: a count of 1 has probabilities that sum to 0.5",
        ),
        (
            "",
            "",
            FREQ.replace("<SAFETYRULE>", "<SAFETYRULE> FREQ(0,0)|FREQ(3,10)") + "<SUPPRESS> CKM(1)\n",
            "line 7: CKM is not of holdings; leave the rules of holdings out",
        ),
        (
            "",
            "",
            FREQ + '<SUPPRESS> CKM(1) "counts.txt"\n<WRITETABLE> (1,5,,"a.tab")\n',
            "line 8: a table of CKM has the formats 1, 2, 3 and 7, not 5",
        ),
    ],
)
def test_cell_keys_that_are_not_described(capsys, more, response, text, message):
    keyed(more, response)
    Path("biased.txt").write_text("i;v;p\n0;0;1\n1;0;0.5\n", encoding="utf-8")
    batch(text)
    refuse(capsys, f"firms.arb, {message}", "tables", "run", "firms.arb")


def test_cell_keys_need_keys(capsys):
    batch(TABLE + "<SUPPRESS> CKM(1)\n")
    message = "firms.arb, line 7: CKM needs record keys, but no variable is <RECORDKEY>"
    refuse(capsys, message, "tables", "run", "firms.arb")


def rows(name):
    return [line.split(";") for line in Path(name).read_text(encoding="utf-8").splitlines()]


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
    refuse(capsys, message, "tables", "run", "firms.arb")


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
    Path("a.hst").write_text("z,pl,4,40\n", encoding="utf-8")
    batch('<APRIORI> "a.hst",1,","\n<SUPPRESS> OPT(1)\n', head)
    message = (
        "firms.arb, line 7, OPT: cell 3: its upper protection level is beyond what everybody knows of it"
    )
    with pytest.raises(FormulationError, match=f"^{message}$"):
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
    printed = run(capsys, "tables", "run", "firms.arb")
    assert "414 cells, 228 relations\nsensitive   75 cells\n" in printed
    assert "audit       every sensitive cell is protected from outsiders\n" in printed
    assert "insiders    24 insiders: every sensitive cell is protected from each\n" in printed


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
    refuse(capsys, f"firms.arb, {message}", "tables", "run", "firms.arb")
