"""`tables run-batch`: batches of tau-ARGUS, against what its engine writes, and lines that cannot be run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_golden, check_refusals, refuse, run
from small_files import KEYED, RDA, TABLE, batch, write_batch_files

from linkrisk import open_table, perturb_counts, perturb_sums, run_batch
from linkrisk.solver.commands.program import main

DATA = os.environ.get("LINKRISK_DATA")
RUN = ["tables", "run-batch", "firms.arb"]

SOLVED = TABLE + "<SUPPRESS> OPT(1,5)\n"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_batch_files()


def test_a_batch_writes_what_the_program_writes(capsys):
    """Matrix, list for pivot tables, codes and values, SBS: letter by letter, without suppressed values."""
    writes = (
        '<WRITETABLE> (1,1,,"safe.csv")\n<WRITETABLE> (1,2,AS+,"pivot.csv")\n<WRITETABLE> '
        '(1,3,SE+QU-,"codes.txt")\n'
        '<WRITETABLE> (1,4,HL+,"safe.sbs")\n<WRITETABLE> (1,5,,"inside.tab")\n<WRITETABLE> '
        '(1,6,,"inside.jj")\n'
        "<GOINTERACTIVE>\n"
    )
    batch(SOLVED + writes)
    check_golden("tables-run-batch", run(capsys, "tables", "run-batch", "firms.arb", "--json", "done.json"))
    assert Path("safe.csv").read_text(encoding="utf-8") == (
        ',"Total","big","small"\n"Total",1610.5,x,x\n"N",x,x,95.0\n"N1",x,x,x\n"N2",x,-,x\n"S",x,x,x\n"S1",x,x,x\n\n'
    )
    pivot = Path("pivot.csv").read_text(encoding="utf-8").splitlines()
    assert pivot[:3] == [
        '"region","size","turnover","Status"',
        '"Total","Total",1610.5,1',
        '"Total","big",x,3',
    ]
    assert Path("codes.txt").read_text(encoding="utf-8").splitlines()[5] == "N,small,95.0"
    sbs = Path("safe.sbs").read_text(encoding="utf-8").splitlines()
    assert sbs[:3] == [
        '"Total",0,"Total",0,1610.5,8,V',
        '"Total",0,"big",0,1460.5,3,F,61.6,34.2',
        '"Total",0,"small",0,150.0,5,D',
    ]
    inside = open_table("inside.tab")
    assert list(inside.status) == list(open_table("inside.jj").status)
    assert inside.numbers["lower_protection"][4] == pytest.approx(90.0)
    done = json.loads(Path("done.json").read_text(encoding="utf-8"))
    assert done["protected"]
    assert (done["tables"][0]["cost"], done["tables"][0]["bound"]) == (1205.5, 1205.5)


def test_frequencies_weights_and_costs():
    batch(
        '<SPECIFYTABLE> "size"|<freq>\n<SAFETYRULE> FREQ(4,30)\n'
        '<SPECIFYTABLE> "region""size"|"turnover"|""|-1\n<SAFETYRULE> NK(1,90)|WGT(1)\n'
        '<SPECIFYTABLE> "size"|"turnover"|""|-2,2\n<SAFETYRULE> P(0,0)|FREQ(0,0)\n<READMICRODATA>\n'
    )
    counts, weighted, plain = (table.stored for table in run_batch("firms.arb").tables)
    assert counts.numbers["value"].tolist() == [8, 3, 5]
    assert counts.status.tolist() == ["s", "u", "s"]
    assert counts.counting
    assert (counts.numbers["upper_protection"][1], counts.numbers["threshold"][1]) == (1.0, 4.0)
    assert weighted.numbers["value"][0] == pytest.approx(1610.5 + 20 + 15)
    assert weighted.numbers["cost"][0] == 8
    assert set(plain.status) == {"s"}
    assert set(plain.numbers["cost"]) == {1.0}


def test_requests_and_holdings_and_zero():
    batch(
        '<SPECIFYTABLE> "region"|"turnover"\n<SAFETYRULE> REQ(50,60,0,10)\n'
        '<SPECIFYTABLE> "size"|"turnover"\n<SAFETYRULE> FREQ(1,10)|FREQ(5,10)\n'
        '<SPECIFYTABLE> "size"|"turnover"\n<SAFETYRULE> ZERO(3)\n<READMICRODATA>\n'
    )
    asked, held, zero = (table.stored for table in run_batch("firms.arb").tables)
    codes = dict(zip(asked.codes["region"], asked.status, strict=True))
    assert codes == dict.fromkeys(["Total", "N", "N1"], "u") | dict.fromkeys(
        ["N2", "S", "S1"], "s"
    )  # a, of N1
    assert held.status.tolist() == ["s", "u", "u"]  # c counts once among the small ones
    assert set(zero.status) == {"s"}


def test_a_variable_is_recoded():
    batch(TABLE + "<RECODE> 1, region, 1\n")
    assert run_batch("firms.arb").tables[0].stored.trees[0].codes == ("Total", "N", "S")
    Path("region.grc").write_text("<TREERECODE>\nN\n", encoding="utf-8")
    batch(TABLE + '<RECODE> 1, region, "region.grc"\n')
    table = run_batch("firms.arb").tables[0].stored
    assert table.trees[0].codes == ("Total", "N", "S", "S1")
    assert table.numbers["value"][0] == pytest.approx(1610.5)
    Path("region.grc").write_text("1: N1, S1\n2: N2\n", encoding="utf-8")
    assert run_batch("firms.arb").tables[0].stored.trees[0].codes == ("Total", "1", "2")


def test_what_is_known_of_cells():
    Path("known.hst").write_text("N1;big;s\nS1;small;c;0.5\nS1;small;u\nX;big;u\n", encoding="utf-8")
    batch(TABLE.replace("P(10,1)", "P(10,1)|MAN(30)") + '<APRIORI> "known.hst",1,";",1,0\n')
    table = run_batch("firms.arb").tables[0].stored
    at = list(zip(table.codes["region"], table.codes["size"], strict=True)).index(("N1", "big"))
    assert table.status[at] == "s"
    batch(TABLE + '<APRIORI> "known.hst",1,";",0,0\n')
    with pytest.raises(Exception, match=r"known\.hst, line 4: there is no cell region=X, size=big"):
        run_batch("firms.arb")


def test_linked_tables_are_protected_at_once(capsys):
    tables = (
        '<SPECIFYTABLE> "region"|"turnover"\n<SAFETYRULE> P(10,1)\n'
        '<SPECIFYTABLE> "size"|"turnover"\n<SAFETYRULE> NK(1,60)\n<READMICRODATA>\n'
    )
    batch(tables + '<SUPPRESS> MOD(0,1)\n<WRITETABLE> (1,1,,"one.csv")\n<WRITETABLE> (2,1,,"two.csv")\n')
    printed = run(capsys, "tables", "run-batch", "firms.arb")
    assert "linked tables" in printed
    result = run_batch("firms.arb")
    first, second = result.tables
    assert first.result is second.result
    assert result.protected
    assert Path("two.csv").read_text(encoding="utf-8").startswith(',"Total","big","small"\n')


def test_rounding_and_adjustment():
    batch(
        TABLE.replace("<READMICRODATA>\n", TABLE)
        + '<SUPPRESS> RND(1,50,0,1,0,2)\n<SUPPRESS> CTA(2)\n<WRITETABLE> (1,2,AS+,"round.csv")\n'
        '<WRITETABLE> (2,3,FL+,"moved.csv")\n'
    )
    result = run_batch("firms.arb", time_limit=30)
    rounded = pd.read_csv("round.csv")
    assert list(rounded.columns) == ["region", "size", "turnover_Round"]
    assert (rounded["turnover_Round"].replace("-", 0).astype(float) % 50 == 0).all()
    assert pd.read_csv("moved.csv").columns[2] == "turnover_CTA"
    assert any("values before RND are not published" in one for one in result.said)


def test_cells_of_argus():
    batch(SOLVED + '<WRITETABLE> (1,5,,"inside.tab")\n')
    made = run_batch("firms.arb").tables[0].stored
    head = '<OPENTABLEDATA> "inside.tab"\n<OPENMETADATA> "inside.rda"\n'
    cells = '<SPECIFYTABLE> "region""size"|"value"\n<SAFETYRULE>{}\n<READTABLE> 1T\n'
    batch(cells.format(""), head)
    assert (run_batch("firms.arb").tables[0].stored.status == made.status).all()
    text = Path("inside.tab").read_text(encoding="utf-8")
    Path("inside.tab").write_text(text.replace(";U;", ";S;").replace(";M;", ";S;"), encoding="utf-8")
    batch(cells.format(" P(10,1)"), head)
    table = run_batch("firms.arb").tables[0].stored
    assert ((table.status == "u") == (made.status == "u")).all()
    unsafe = table.status == "u"
    for side in ("lower_protection", "upper_protection"):
        assert table.numbers[side][unsafe] == pytest.approx(made.numbers[side][unsafe])


def test_a_table_that_is_not_protected_is_not_published(capsys):
    batch(TABLE + '<WRITETABLE> (1,1,,"safe.csv")\n<WRITETABLE> (1,6,,"inside.jj")\n')
    assert main(["tables", "run-batch", "firms.arb"]) == 1
    printed = capsys.readouterr().out
    assert "withheld    safe.csv: its table is not protected" in printed
    assert "NOT protected" in printed
    assert not Path("safe.csv").exists()
    assert Path("inside.jj").exists()


def test_lines_that_cannot_be_run(capsys):
    def refused():
        for text in (
            "<OPENALL>\n",
            "",
            '<OPENMICRODATA> "firms.asc"\n',
            '<OPENMETADATA> "none.rda"\n',
            '<SPECIFYTABLE> "region"\n',
            '<SPECIFYTABLE> "sex"|"turnover"\n<READMICRODATA>\n',
            TABLE.replace("P(10,1)", "Q(1)"),
            TABLE.replace("P(10,1)", "P(ten)"),
            TABLE.replace("P(10,1)", "NK(1)"),
            '<SPECIFYTABLE> "size"|<freq>\n<SAFETYRULE> P(10,1)\n<READMICRODATA>\n',
            "<SUPPRESS> OPT(1)\n" + TABLE,
            TABLE + "<SUPPRESS> ABC(1)\n",
            TABLE + "<SUPPRESS> RND(0,5)\n",
            SOLVED + "<SUPPRESS> GH(1)\n",
            SOLVED + "<RECODE> 1, region, 1\n",
            TABLE + "<RECODE> 1, region\n",
            TABLE + "<RECODE> 1, region, 2\n",
            TABLE + '<APRIORI> "firms.rda"\n',
            TABLE + "<WRITETABLE> (1,1)\n",
            TABLE + '<WRITETABLE> (1,9,,"a.csv")\n',
            TABLE + '<WRITETABLE> (1,1,ZZ+,"a.csv")\n',
            TABLE + '<WRITETABLE> (1,7,,"a.csv")\n',
            TABLE + '<WRITETABLE> (1,1,,"firms.asc")\n',
            TABLE + '<WRITETABLE> (1,5,,"firms.tab")\n',
            TABLE + '<WRITETABLE> (1,1,,"none/a.csv")\n',
            TABLE + '<WRITETABLE> (1,5,,"a.tab")\n<WRITETABLE> (1,6,,"a.tab")\n',
            TABLE + '<SUPPRESS> RND(1,50)\n<WRITETABLE> (1,6,,"a.jj")\n',
            '<SPECIFYTABLE> "size"|"turnover"||-3\n<READMICRODATA>\n',
            TABLE.replace("MICRODATA", "TABLE"),
        ):
            batch(text)
            yield text, RUN
        for name in ("firms.asc", "safe.csv"):
            batch(TABLE + '<SUPPRESS> OPT(1,1)\n<WRITETABLE> (1,1,,"safe.csv")\n')
            yield [*RUN, "--json", name]

    check_refusals(capsys, "tables-run-batch", refused())


def test_tables_that_do_not_add_up_have_to_be_computed_again(capsys):
    head = '<OPENTABLEDATA> "a.tab"\n<OPENMETADATA> "a.rda"\n'
    Path("a.tab").write_text("T;5;3;S\nx;2;1;S\ny;2;2;S\n", encoding="utf-8")
    Path("a.rda").write_text(
        '<SEPARATOR> ";"\na\n <RECODEABLE>\n <TOTCODE> "T"\nv\n <NUMERIC>\nn\n <FREQUENCY>\ns\n <STATUS>\n',
        encoding="utf-8",
    )
    cells = '<SPECIFYTABLE> "a"|"v"\n<READTABLE> '
    batch(cells + "1\n", head)
    assert run_batch("firms.arb").tables[0].stored.numbers["value"][0] == 4

    def refused():
        rules = cells.replace("<READ", "<SAFETYRULE> P(10,1)\n<READ")
        for text in (f"{cells}0\n", f"{cells}2\n", f"{cells}7\n", f"{rules}1\n"):
            batch(text, head)
            yield text, RUN

    check_refusals(capsys, "tables-run-batch-cells", refused())


@pytest.mark.skipif(os.sep != "/", reason="these are paths of this machine")
@pytest.mark.parametrize("name", [r"D:\out\t.csv", r"\\server\share\t.csv"])
def test_what_is_written_to_paths_of_other_machines_lies_beside_the_batch(capsys, name):
    batch(TABLE + f'<SUPPRESS> OPT(1,1)\n<WRITETABLE> (1,1,,"{name}")\n<LOGBOOK> "{name}.log"\n')
    before = set(Path().iterdir())
    assert "written     t.csv\n" in run(capsys, "tables", "run-batch", "firms.arb")
    assert {path.name for path in set(Path().iterdir()) - before} == {"t.csv", "t.csv.log"}
    batch(TABLE + f'<WRITETABLE> (1,5,,"{name}")\n<WRITETABLE> (1,5,,"E:\\t.csv")\n')
    message = r"firms.arb, line 8: E:\t.csv is written by another line already; give it another name"
    refuse(capsys, message, "tables", "run-batch", "firms.arb")
    batch(TABLE + r'<WRITETABLE> (1,5,,"D:\out\firms.rda")' + "\n")
    message = "firms.arb, line 7: firms.rda is read by the batch; give what is written another name"
    refuse(capsys, message, "tables", "run-batch", "firms.arb")


@pytest.mark.skipif(DATA is None, reason="needs public data: set LINKRISK_DATA to its folder")
def test_the_demonstration_batch():
    """From microdata as tau-ARGUS has them to the optimum of the reference."""
    frame = pd.read_csv(Path(str(DATA)) / "tauargus_testw.csv", dtype=str)
    widths = {"Size": 2, "Region": 2, "Var2": 10}
    lines = frame["Size"].str.rjust(2) + frame["Region"].str.rjust(2) + frame["Var2"].str.rjust(10)
    Path("demo.asc").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert sum(widths.values()) == len(lines.iloc[0])
    Path("demo.rda").write_text(
        'Size 1 2 "99"\n  <RECODEABLE>\n  <TOTCODE> "Total"\nRegion 3 2 "99"\n  <RECODEABLE>\n'
        '  <TOTCODE> "Total"\n  <HIERARCHICAL>\n  <HIERCODELIST> "region2.hrc"\n  <HIERLEADSTRING> "@"\n'
        "Var2 5 10\n  <NUMERIC>\n  <DECIMALS> 2\n",
        encoding="utf-8",
    )
    Path("region2.hrc").write_text(
        "Nr\n@ 1\n@ 2\n@ 3\nOs \n@ 4\n@ 5\n@ 6\n@ 7\nWs\n@ 8\n@ 9\n@10\nZd\n@11\n@12", encoding="utf-8"
    )
    Path("demo.arb").write_text(
        '<OPENMICRODATA> "demo.asc"\n<OPENMETADATA> "demo.rda"\n<SPECIFYTABLE> "Size""Region"|"Var2"|""|""\n'
        '<SAFETYRULE> P(10,1)\n<READMICRODATA>\n<SUPPRESS> OPT(1,5)\n<WRITETABLE> (1,1,,"safe.csv")\n',
        encoding="utf-8",
    )
    (table,) = run_batch("demo.arb", time_limit=600).tables
    assert (len(table.stored), int(table.stored.relation.max()) + 1) == (153, 62)
    assert (table.stored.status == "u").sum() == 9
    assert round(table.result.pattern.cost) == 521_926
    assert table.result.pattern.proven
    assert table.result.protected


# Noise by cell keys (CKM), of counts and of sums


COUNTS = '"i";"j";"p";"v";"p_ij_ub"\n0;0;1;0;1\n1;0;0.25;-1;0.25\n1;1;0.5;0;0.75\n1;2;0.25;1;1\n'
SUMS = "i;j;p;v;p_int_ub;type\n0;0;1;0;1;all\n1;0;0.25;-1;0.25;all\n1;1;0.5;0;0.75;all\n1;2;0.25;1;1;all\n"
FREQ = '<SPECIFYTABLE> "region""size"|<freq>\n<SAFETYRULE>\n<READMICRODATA>\n'


@pytest.fixture(autouse=True)
def designs(files):
    del files
    Path("counts.txt").write_text(COUNTS, encoding="utf-8")
    Path("sums.txt").write_text(SUMS, encoding="utf-8")


def keyed(more="", response=""):
    Path("firms.asc").write_text(KEYED, encoding="utf-8")
    described = RDA.replace("  <NUMERIC>\n", f"  <NUMERIC>\n{response}", 1)
    Path("firms.rda").write_text(
        f"{described}key 19 6\n  <RECORDKEY>\n  <DECIMALS> 4\n{more}", encoding="utf-8"
    )


def frame():
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
    check_golden("tables-run-batch-keys", run(capsys, "tables", "run-batch", "firms.arb"))
    expected = perturb_counts(
        frame(), ["region", "size"], design="counts.txt", record_key="key",
        hierarchies={"region": "region.hrc"},
    )  # fmt: skip
    pivot = pd.read_csv("pivot.csv")
    assert list(pivot.columns) == ["region", "size", "Freq"]
    shown = pd.to_numeric(pivot["Freq"].replace("-", "0"))
    assert shown.tolist() == expected.cells["perturbed"].tolist()
    inside = [line.split(";") for line in Path("inside.tab").read_text(encoding="utf-8").splitlines()]
    assert inside[1][:5] == ["Total", "big", "4", "3", "1"]
    assert inside[0][5] == f"{frame()['key'].sum() % 1:.4f}"  # no digits that keys do not have
    assert len(inside) == int((expected.cells["value"] > 0).sum())
    assert Path("outside.tab").read_text(encoding="utf-8").splitlines()[0] == '"Total";"Total";8'
    assert open_table("outside.tab", recompute=True).by == ("region", "size")


def test_counts_with_noise_are_those_of_the_program():
    """What its engine has written of the same records, keys and perturbation table; but for its sign for N2.

    It marks the empty cell by "-", so that the 0 of S is known to be no empty one.
    """
    keyed()
    rows = [(0, 0, 1, 0), (1, -1, 0.3665, 0), (1, 0, 0.3665, 0), (1, 1, 0.1675, 0), (1, 2, 0.0995, 0)]
    rows += [(2, -1, 0.25, 0), (2, 0, 0.5, 0), (2, 1, 0.25, 0)]
    frame = pd.DataFrame(rows, columns=["i", "v", "p", "p_ij_ub"])
    frame.assign(j=frame["i"] + frame["v"]).to_csv("counts.txt", sep=";", index=False)
    batch(FREQ + '<SUPPRESS> CKM(1) "counts.txt"\n<WRITETABLE> (1,1,QU-,"safe.csv")\n')
    run_batch("firms.arb")
    assert Path("safe.csv").read_text(encoding="utf-8") == (
        ",Total,big,small\nTotal,8,4,5\nN,5,2,2\nN1,3,2,3\nN2,1,0,1\nS,4,0,2\nS1,4,0,2\n\n"
    )


def test_sums_with_noise():
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
        frame(), ["region", "size"], response="turnover", noise="sums.txt", small="sums.txt", share=0.3,
        least=0.03, flex_point=1000.0, factors=(1.0, 0.5), extra=2.5, rules=["p=10"], same_key=False,
        turn_digits=4, weight="w", decimals=1, record_key="key", hierarchies={"region": "region.hrc"},
    )  # fmt: skip
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


def test_cell_keys_that_are_not_described(capsys):
    def refused():
        batch(TABLE + "<SUPPRESS> CKM(1)\n")
        yield "no keys", RUN
        for more, response, text in (
            ("", "", TABLE + "<SUPPRESS> CKM(1)\n"),
            ("", "  <CKM> T(2)\n  <SCALING> N(0.1)\n", TABLE + '<SUPPRESS> CKM(1) "sums.txt"\n'),
            (
                "",
                "  <CKM> M\n  <SCALING> N(0.1)\n",
                TABLE.replace("P(10,1)", "") + '<SUPPRESS> CKM(1) "sums.txt"||2\n',
            ),
            ("", "", FREQ + "<SUPPRESS> CKM(1)\n"),
            ("", "", FREQ + '<SUPPRESS> CKM(1) "counts.txt"|"sums.txt"\n'),
            (
                "",
                "",
                FREQ.replace("<SAFETYRULE>", "<SAFETYRULE> FREQ(0,0)|FREQ(3,10)") + "<SUPPRESS> CKM(1)\n",
            ),
            ("", "", FREQ + '<SUPPRESS> CKM(1) "counts.txt"\n<WRITETABLE> (1,5,,"a.tab")\n'),
        ):
            keyed(more, response)
            batch(text)
            yield response + text, RUN

    check_refusals(capsys, "tables-run-batch-keys", refused())
