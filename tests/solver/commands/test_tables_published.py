"""What `tables` writes to be published holds nothing that helps an intruder, in any format."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from cli_runs import check_refusals, run

from linkrisk import audit_table, make_table, open_table, suppress_table
from linkrisk.datasets.tables.stored_table import SECONDARY

FIRMS = """region,size,turnover
N1,big,90017
N1,big,60029
N1,small,2313
N2,small,3511
N2,small,4001
N2,big,5647
S1,big,50023
S1,small,2539
S1,small,3037
S1,big,77003
"""


@pytest.fixture(autouse=True)
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("firms.csv").write_text(FIRMS, encoding="utf-8")
    Path("tree.csv").write_text("code,parent\nN,Total\nN1,N\nN2,N\nS,Total\nS1,S\n", encoding="utf-8")
    return make_table(
        "firms.csv", ["region", "size"], response="turnover", rules=["p=10"],
        hierarchies={"region": "tree.csv"},
    )  # fmt: skip


def raw(path):
    content = Path(path).read_bytes()
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".tab", ".parquet"])
def test_no_value_of_a_suppressed_cell_is_anywhere(table, suffix):
    result = suppress_table(table)
    result.write(f"safe{suffix}")
    secret = {
        str(int(value)).encode()
        for value, gone in zip(table.cells["value"], result.suppressed, strict=True)
        if gone and value > 999
    }
    assert len(secret) >= 4
    if suffix == ".parquet":
        read = pd.read_parquet("safe.parquet")
        assert list(read.columns) == ["region", "size", "value", "status"]
        assert read["value"].isna().sum() == result.suppressed.sum()
        return
    written = raw(f"safe{suffix}")
    assert not [one for one in secret if one in written]
    published = table.cells["value"][~result.suppressed]
    assert str(int(published.iloc[0])).encode() in written
    for word in (b"respondents", b"protection", b"primary", b"sensitive", b"cost"):
        assert word not in written


def test_a_workbook(table):
    result = suppress_table(table)
    result.write("safe.xlsx")
    book = openpyxl.load_workbook("safe.xlsx")
    assert book.sheetnames == ["Table", "Legend"]
    sheet = book["Table"]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert rows[0][:2] == ["region", "size"]
    assert rows[1] == [None, "Total", "big", "small"]
    assert [row[0] for row in rows[2:]] == ["Total", "N", "N1", "N2", "S", "S1"]
    cells = {
        (row[0], code): value for row in rows[2:] for code, value in zip(rows[1][1:], row[1:], strict=True)
    }
    for at, line in enumerate(table.cells.itertuples()):
        assert cells[line.region, line.size] == ("x" if result.suppressed[at] else line.value)
    assert sheet.freeze_panes == "B3"
    assert sheet["B3"].number_format == "#,##0"
    assert sheet["A5"].alignment.indent == 2
    assert sheet["B3"].font.bold
    legend = [[cell.value for cell in row] for row in book["Legend"].iter_rows()]
    assert legend[0][0] == "x"
    assert legend[-1][:2] == ["cells with x", int(result.suppressed.sum())]


def test_a_workbook_of_one_variable_and_of_codes_like_formulas():
    frame = pd.DataFrame({"a": ["Total", "=1+1", "y"], "value": [5.5, 2.25, 3.25]})
    suppress_table(open_table(frame)).write("safe.xlsx")
    sheet = openpyxl.load_workbook("safe.xlsx")["Table"]
    assert [cell.value for cell in sheet[2]] == [None, "Total", "=1+1", "y"]
    assert sheet["C2"].data_type == "s"
    assert sheet["B3"].number_format == "#,##0.00"


def test_the_same_bytes_each_time(table):
    result = suppress_table(table)
    result.write("one.xlsx")
    result.write("two.xlsx")
    assert Path("one.xlsx").read_bytes() == Path("two.xlsx").read_bytes()


@pytest.mark.parametrize("suffix", [".jj", ".tab"])
def test_the_internal_file_is_read_again(table, suffix):
    result = suppress_table(table)
    result.write_internal(f"internal{suffix}")
    again = open_table(f"internal{suffix}")
    assert (again.status == result.table.status).all()
    assert (again.status == SECONDARY).any()
    audited = audit_table(again)
    assert audited.protected
    assert (audited.suppressed == result.suppressed).all()


def test_options_of_the_command(capsys, table):
    table.write("cells.csv", "relations.csv")
    asked = ["--cells", "cells.csv", "--hierarchy", "region=tree.csv", "--by", "region,size"]
    files = ["--output", "safe.xlsx", "--internal", "internal.jj"]
    printed = run(capsys, "tables", "suppress", *asked, *files)
    assert printed.splitlines()[0] == (
        "cells.csv: 18 cells by region and size, with 15 relations between them"
    )
    assert "not be" not in printed
    run(capsys, "tables", "audit", "--table", "internal.jj")
    Path("known.hst").write_text("N1;small;s\n", encoding="utf-8")
    printed = run(capsys, "tables", "suppress", *asked, "--apriori", "known.hst")
    assert "sensitive" in printed
    printed = run(capsys, "tables", "round", *asked, "--base", "1000", "--internal", "rounded.csv")
    assert "18 cells" in printed


def test_requests_that_cannot_be_met(capsys, table):
    table.write("cells.csv", "relations.csv")
    options = [
        *([], ["--table", "a.jj", "--relations", "b.csv"], ["--cells", "a.csv", "--metadata", "b.rda"]),
        ["--cells", "a.csv", "--relations", "b", "--relations", "c"],
        ["--cells", "cells.csv", "--cells", "cells.csv", "--hierarchy", "sex=tree.csv"],
        ["--cells", "cells.csv", "--cells", "cells.csv", "--apriori", "k.hst"],
        ["--cells", "cells.csv", "--output", "safe.jj"],
    ]
    records = ["--input", "firms.csv", "--response", "turnover", "--rule", "p=10", "--by", "region"]
    made = ([], ["--table", "a.jj", "--contributors", "b.csv"], ["--by", "size", "--table", "a.tab"])
    asked = [
        *(["tables", "suppress", *one] for one in options),
        *(["tables", "make", *records, *one] for one in made),
    ]
    check_refusals(capsys, "tables-files", asked)


def test_tables_made_and_written_as_one(capsys):
    """Several tables of the same microdata, and both files in one."""
    asked = ["--input", "firms.csv", "--response", "turnover", "--rule", "p=10"]
    printed = run(capsys, "tables", "make", *asked, "--by", "region", "--by", "size", "--table", "made.jj")
    assert printed == ("6 cells and 2 relations: 2 cells are sensitive\n\ntable       made.jj\n")
    run(capsys, "tables", "make", *asked, "--by", "region,size", "--table", "made.tab")
    assert open_table("made.tab").by == ("region", "size")
