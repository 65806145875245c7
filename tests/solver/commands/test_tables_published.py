"""What `tables` writes to be published holds nothing that helps an intruder, in any format."""

from __future__ import annotations

import contextlib
import io
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_refusals, run
from extras import of_extra
from hypothesis import given
from hypothesis import strategies as st

from linkrisk import audit_table, make_table, open_table, suppress_table
from linkrisk.datasets.errors import DataError
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


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".tab", ".parquet", ".sdmx.csv", ".sdmx1.csv", ".px"])
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
    openpyxl = of_extra("openpyxl")
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
    openpyxl = of_extra("openpyxl")
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


def test_files_of_offices_by_commands(capsys):
    """The dataflow is that of the file that was read, or the one that is named."""
    Path("cells.csv").write_text(
        "DATAFLOW,region,size,OBS_VALUE,CONF_STATUS\n"
        + "".join(
            f"ESTAT:SBS(1.0),{region},{size},{value},{status}\n"
            for region, size, value, status in zip(
                ["_T"] * 3 + ["N"] * 3 + ["S"] * 3, ["_T", "a", "b"] * 3,
                (90, 40, 50, 30, 10, 20, 60, 30, 30), "FFFFCFFFF", strict=True,
            )
        ),
        encoding="utf-8",
    )  # fmt: skip
    ask = ["tables", "suppress", "--cells", "cells.csv", "--output"]
    run(capsys, *ask, "safe.sdmx1.csv", "--internal", "kept.sdmx.csv")
    read = pd.read_csv("safe.sdmx1.csv", dtype=str, keep_default_na=False)
    assert set(read["DATAFLOW"]) == {"ESTAT:SBS(1.0)"}
    assert read["OBS_VALUE"].tolist() == ["90", "40", "50", "30", "", "", "60", "", ""]
    assert read["CONF_STATUS"].tolist() == list("FFFFCCFCC")
    kept = pd.read_csv("kept.sdmx.csv")
    assert (kept["OBS_VALUE"][4], "".join(kept["CONF_STATUS"])) == (10, "FFFFCDFDD")
    run(capsys, *ask, "safe.sdmx.csv", "--dataflow", "X:Y(1.0.0)")
    assert set(pd.read_csv("safe.sdmx.csv")["STRUCTURE_ID"]) == {"X:Y(1.0.0)"}
    run(capsys, "tables", "round", "--cells", "cells.csv", "--base", "20", "--output", "round.px")
    assert Path("round.px").read_text("utf-8").partition("DATA=\n")[2].split()[:3] != ["90", "40", "50"]
    counts = ["tables", "perturb-counts", "--input", "firms.csv", "--by", "region,size"]
    run(capsys, *counts, "--most", "2", "--variance", "1", "--output", "noise.px")
    assert '"-"' not in Path("noise.px").read_text("utf-8")  # which cells are empty nobody is told


def test_files_of_offices_that_are_refused(capsys):
    sdmx = "DATAFLOW,a,OBS_VALUE,CONF_STATUS\nX:Y(1.0),_T,3,F\nX:Y(1.0),x,3,F\n"
    px = 'STUB="a";VALUES("a")="Total","x";DATA=3 3;'
    files = {
        "status.csv": sdmx.replace("3,F", "3,Q"),
        "short.csv": sdmx.replace(",3,F", ",3"),
        "quotes.csv": sdmx.replace("_T", '"_T'),
        "number.csv": sdmx.replace("3,F", "three,F"),
        "delete.csv": "STRUCTURE,STRUCTURE_ID,ACTION,a,OBS_VALUE\ndataflow,X:Y(1.0),D,_T,3\n",
        "two.csv": sdmx.replace("X:Y(1.0),x", "X:Z(1.0),x"),
        "twice.csv": sdmx.replace(",a,", ",a,a,"),
        "none.csv": "DATAFLOW,a,OBS_VALUE\n",
        "hidden.csv": sdmx.replace("3,F", ",C"),
        "many.px": px.replace("3 3", "3 3 3"),
        "few.px": px.replace("3 3", '3 "three"'),
        "keys.px": px.replace("DATA", 'KEYS("a")=VALUES;DATA'),
        "cut.px": px[:-1],
        "nothing.px": px.partition("DATA")[0],
        "open.px": px.replace('"x"', '"x'),
        "values.px": px.replace("VALUES", "VALUE"),
        "codes.px": px.replace("DATA", 'CODES("a")="1";DATA'),
        "same.px": px.replace('"x"', '"Total"'),
        "words.px": "region,size\n1,2\n",
        "page.px": '\ufeffa=1;CODEPAGE="klingon";\n' + px.replace("x", "\u00e4"),
        "empty.px": "",
        "loop.px": px.replace("DATA", 'HIERARCHIES("a")="Total","x":"y","y":"x";DATA'),
        "contents.px": px.replace("DATA", 'HEADING="c";CONTVARIABLE="c";VALUES("c")="a","b";DATA').replace(
            "3 3", "3 3 3 3"
        ),
    }
    for name, text in files.items():
        Path(name).write_text(text, encoding="cp1252" if name == "page.px" else "utf-8", errors="ignore")
    suppress = ["tables", "suppress", "--cells"]
    Path("cells.csv").write_text("a b,value\nTotal,3\nx,3\n", encoding="utf-8")
    Path("quoted.csv").write_text('a,value\nTotal,3\n"x""y",3\n', encoding="utf-8")
    Path("bare.csv").write_text("value\n3\n3\n", encoding="utf-8")
    Path("terms.csv").write_text("relation,cell,coefficient\n0,0,-1\n0,1,1\n", encoding="utf-8")
    asked = [[*suppress, name] for name in files]
    asked += [
        [*suppress, "folder.px"],
        [*suppress, "cells.csv", "--output", "o.sdmx.csv"],
        [*suppress, "quoted.csv", "--output", "o.px"],
        [*suppress, "bare.csv", "--relations", "terms.csv", "--output", "o.px"],
        [*suppress, "bare.csv", "--relations", "terms.csv", "--output", "o.sdmx.csv"],
        [*suppress, "quoted.csv", "--internal", "o.px"],
        [*suppress, "quoted.csv", "--output", "o.csv", "--dataflow", "mine"],
        ["tables", "round", "--cells", "quoted.csv", "--base", "3", "--internal", "o.sdmx.csv"],
        ["tables", "make", "--input", "firms.csv", "--by", "size", "--cells", "o.px", "--relations", "r.csv"],
    ]
    Path("folder.px").mkdir()
    check_refusals(capsys, "tables-offices", asked)


@given(st.data())
def test_damaged_files_are_read_or_refused(data):
    whole = data.draw(st.sampled_from([
        'CHARSET="ANSI";STUB="a","b";VALUES("a")="Total","x";VALUES("b")="T";ELIMINATION("a")="x";DATA=1 1;',
        "STRUCTURE,STRUCTURE_ID,ACTION,a:A,OBS_VALUE,CONF_STATUS\ndataflow,X:Y(1.0),I,_T: all,3,F\n",
    ]))  # fmt: skip
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 9)))
    text = whole[:start] + data.draw(st.text('";,()=[]:ab1.-\n\x00é', max_size=4)) + whole[end:]
    path = Path("x.px" if whole.startswith("CHARSET") else "x.csv")
    path.write_text(text, encoding=data.draw(st.sampled_from(["utf-8", "cp1252"])))
    with contextlib.suppress(DataError):
        open_table(path)
