"""`tables run-batch`: noise by cell keys (CKM), of counts and of sums."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_golden, refuse, run
from small_files import KEYED, RDA, TABLE, batch, write_batch_files

from linkrisk import open_table, perturb_counts, perturb_sums, run_batch

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
    check_golden("tables-run-batch-keys", run(capsys, "tables", "run-batch", "firms.arb"))
    expected = perturb_counts(
        frame(),
        ["region", "size"],
        design="counts.txt",
        record_key="key",
        hierarchies={"region": "region.hrc"},
    )
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
        turn_digits=4,
        weight="w",
        decimals=1,
        record_key="key",
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
    refuse(capsys, f"firms.arb, {message}", "tables", "run-batch", "firms.arb")


def test_cell_keys_need_keys(capsys):
    batch(TABLE + "<SUPPRESS> CKM(1)\n")
    message = "firms.arb, line 7: CKM needs record keys, but no variable is <RECORDKEY>"
    refuse(capsys, message, "tables", "run-batch", "firms.arb")
