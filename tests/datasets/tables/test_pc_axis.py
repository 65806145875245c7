"""PC-Axis: files as offices write them are read, tables come back, nothing that is suppressed is written."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_tables import CODES, flat_table

from linkrisk import make_table, open_table, suppress_table
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.pc_axis import published_px
from linkrisk.datasets.tables.reading import cells_of

# By the specification of 2013: texts in several pieces, two languages, codes, a total, time, notes, a dash.
PX = """CHARSET="ANSI";
AXIS-VERSION="2013";
LANGUAGE="en";
LANGUAGES="en","sv";
DECIMALS=0;
MATRIX="BE01";
SUBJECT-CODE="BE";
SUBJECT-AREA="Population";
TITLE="Population by region; a text "
"in two pieces";
TITLE[sv]="Folkmängd";
CONTENTS="Population";
UNITS="persons";
STUB="region (county)","sex";
STUB[sv]="län","kön";
HEADING="year";
VALUES("region (county)")="Sweden","Skåne",
"Uppsala";
VALUES[sv]("län")="Riket","Skåne","Uppsala";
VALUES("sex")="men","women","all";
VALUES("year")="2023","2024";
TIMEVAL("year")=TLIST(A1),"2023","2024";
CODES("region (county)")="00","12","03";
VARIABLECODE("region (county)")="region";
ELIMINATION("region (county)")="Sweden";
ELIMINATION("sex")="all";
DOMAIN("sex")="kön";
VALUENOTE("sex","all")="with; semicolon";
DATA=
30 33
15 16
45 49
10 11
5 6
15 17
20 22
10 10
30 32
;
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (PX, "cp1252"),
        (PX.replace('LANGUAGE="en"', 'CODEPAGE="utf-8";\nLANGUAGE="en"'), "utf-8-sig"),
        (PX.replace('LANGUAGE="en"', 'CODEPAGE="iso-8859-15";\nLANGUAGE="en"'), "iso-8859-15"),
        (PX.removeprefix('CHARSET="ANSI";\n'), "cp850"),
        (PX.replace("\n", "\r\n"), "cp1252"),
    ],
)
def test_a_file_as_offices_write_it(text, encoding):
    Path("be.px").write_bytes(text.encode(encoding))
    table = open_table("be.px")
    assert table.by == ("region", "sex", "year")
    assert [tree.codes[0] for tree in table.trees[:2]] == ["00", "all"]
    assert table.cells["value"].tolist()[:4] == [30, 33, 15, 16]
    labels = {"00": "Sweden", "12": "Skåne", "03": "Uppsala"}
    assert table.labels["region"] == {"label": "region (county)", "codes": labels}
    assert int(table.relation.max()) + 1 == 2 * (3 + 3)  # each year by itself


def test_dashes_are_zeros_that_are_always_published_and_dots_are_refused():
    Path("a.px").write_text('STUB="a";VALUES("a")="Total","x","y";DATA=7 7 "-";', encoding="utf-8")
    table = open_table("a.px")
    assert (table.cells["value"].tolist(), table.status.tolist()) == ([7, 7, 0], ["s", "s", "z"])
    Path("a.px").write_text('STUB="a";VALUES("a")="Total","x","y";DATA=7 "..""..";', encoding="utf-8")
    with pytest.raises(DataError, match=r"row 2 \(a=x\): its value is empty"):
        open_table("a.px")


def test_several_contents_are_several_columns_of_values():
    text = """HEADING="a","what";VALUES("a")="Total","x","y";VALUES("what")="Import","Export";
CONTVARIABLE="what";UNITS("Import")="EUR";UNITS("Export")="EUR";DATA=3 30 1 10 2 20;"""
    Path("a.px").write_text(text, encoding="utf-8")
    assert open_table("a.px", value="Export").cells["value"].tolist() == [30, 10, 20]
    with pytest.raises(DataError, match=r"say which one holds the values.*there are: a, Import, Export"):
        open_table("a.px")


def test_a_hierarchy_and_its_table_come_back():
    rows = [
        "region,x",
        *[f"{code},{value}" for code, value in zip("abcabc", (5, 9, 7, 3, 8, 1), strict=True)],
    ]
    Path("micro.csv").write_text("\n".join(rows), encoding="utf-8")
    Path("tree.csv").write_text("code,parent\na,AB\nb,AB\nAB,Total\nc,Total\n", encoding="utf-8")
    made = make_table("micro.csv", ["region"], response="x", hierarchies={"region": "tree.csv"})
    path = Path("all.px")
    path.write_bytes(published_px(made.stored(), np.zeros(len(made.cells), dtype=bool), path)[path])
    read = open_table(path)
    assert read.trees[0].codes == made.stored().trees[0].codes
    assert read.relations.equals(made.stored().relations)
    assert suppress_table(read).suppressed.sum() == 0


@given(
    st.lists(CODES, min_size=1, max_size=3),
    st.lists(st.integers(-10_000, 10_000).map(lambda one: one / 100), min_size=1, max_size=9),
    st.randoms(use_true_random=False),
)
def test_all_values_come_back_and_suppressed_ones_are_nowhere(codes, values, chance):
    table = flat_table(dict(zip(["A", "b c", "Ö"], codes, strict=False)), values)
    path = Path("x.px")
    path.write_bytes(published_px(table, np.zeros(len(table), dtype=bool), path)[path])
    read = cells_of(path)
    assert read.frame["value"].tolist() == table.numbers["value"].tolist()
    assert read.frame[list(table.by)].equals(table.codes.astype(object))
    assert read.dialect.totals == dict.fromkeys(table.by, "Total")
    gone = np.array([chance.random() < 0.5 for _ in range(len(table))])
    text = published_px(table, gone, path)[path].decode()
    shown = re.findall(r'"\.\."|[-\d.]+', text.partition("DATA=")[2])
    assert [one == '".."' for one in shown] == gone.tolist()
    kept = table.numbers["value"][~gone]
    assert [float(one) for one in shown if one != '".."'] == kept.tolist()
    decimals = int(re.search(r"DECIMALS=(\d)", text)[1])  # no more than the published ones have
    assert decimals == 0 or any(not math.isclose(one, round(one, decimals - 1)) for one in kept)
