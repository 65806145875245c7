"""Tables of ARGUS: read, written back to equality, published as the program does, and refused."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from linkrisk import open_table, suppress_table
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.argus.ready_tables import read_argus_table
from linkrisk.datasets.tables.argus.written_tables import empty_cells, matrix, records, sbs_text, tab_files
from linkrisk.datasets.tables.stored_table import stored_table

DATA = os.environ.get("LINKRISK_DATA")

# As the engine of tau-ARGUS writes it (format 5) for eight made-up firms with P(10,1) and OPT.
TAB = """"Total";"Total";1610.5;8;1610.5;1610.5;900.0;500.0;S;0.1;0.1
"Total";"big  ";1460.5;3;1460.5;1460.5;900.0;500.0;U;29.5;29.5
"Total";"small";150.0;5;150.0;150.0;40.0;35.0;M;0.1;0.1
"N";"Total";1055.5;5;1055.5;1055.5;900.0;60.5;M;0.1;0.1
"N";"big  ";960.5;2;960.5;960.5;900.0;60.5;U;90.0;90.0
"N";"small";95.0;3;95.0;95.0;40.0;35.0;S;0.1;0.1
"N1";"Total";980.5;3;980.5;980.5;900.0;60.5;U;70.0;70.0
"N1";"big  ";960.5;2;960.5;960.5;900.0;60.5;U;90.0;90.0
"N1";"small";20.0;1;20.0;20.0;20.0;0.0;U;2.0;2.0
"N2";"Total";75.0;2;75.0;75.0;40.0;35.0;U;4.0;4.0
"N2";"big  ";0.0;0;0.0;0.0;0.0;0.0;E;0.0;0.0
"N2";"small";75.0;2;75.0;75.0;40.0;35.0;U;4.0;4.0
"S";"Total";555.0;3;555.0;555.0;500.0;30.0;U;25.0;25.0
"S";"big  ";500.0;1;500.0;500.0;500.0;0.0;U;50.0;50.0
"S";"small";55,0;2;55.0;55.0;30.0;25.0;U;3.0;3.0
"S1";"Total";555.0;3;555.0;555.0;500.0;30.0;U;25.0;25.0
"S1";"big  ";500.0;1;500.0;500.0;500.0;0.0;U;50.0;50.0
"S1";"small";55.0;2;55.0;55.0;30.0;25.0;U;3.0;3.0
"""
RDA = """<SEPARATOR> ";"
region
  <RECODEABLE>
  <TOTCODE> "Total"
  <HIERARCHICAL>
  <HIERCODELIST> "C:\\argus\\REGION.hrc"
  <HIERLEADSTRING> "@"
size "99"
  <RECODEABLE>
turnover
  <NUMERIC>
  <DECIMALS> 1
count
  <FREQUENCY>
shadow
  <NUMERIC> <SHADOW>
price
  <NUMERIC> <COSTVAR>
top1
  <MAXSCORE>
top2
  <MAXSCORE>
state
  <STATUS>
low
  <NUMERIC> <LOWERPL>
up
  <NUMERIC> <UPPERPL>
"""
HRC = "N \n@N1\n@ N2\nS \n@S1\n"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("firms.tab").write_text(TAB, encoding="utf-8")
    Path("firms.rda").write_text(RDA, encoding="utf-8")
    Path("region.hrc").write_text(HRC, encoding="utf-8")


def suppressed(table):
    return np.isin(table.status, ("u", "m"))


def test_a_table_is_read():
    table = open_table("firms.tab")
    assert table.by == ("region", "size")
    assert list(table.cells.columns) == [
        *("region", "size", "value", "respondents", "shadow", "cost", "lower_protection", "upper_protection"),
        *("largest_1", "largest_2", "status"),
    ]
    assert len(table) == 18
    assert int(table.relation.max()) + 1 == 15  # as many as the engine writes into a JJ file
    assert table.status.tolist() == list("summusuuuuzuuuuuuu")
    assert table.numbers["value"][14] == 55  # a decimal comma
    levels = table.numbers["upper_protection"]
    assert (levels[4], levels[0]) == (90.0, 0.0)  # of unsafe cells only
    assert suppress_table(table).protected


def test_what_is_written_back_is_the_same():
    table = open_table("firms.tab")
    for path, text in tab_files(table, "again.tab").items():
        path.write_text(text, encoding="utf-8")
    assert {path.name for path in Path().glob("again*")} == {"again.tab", "again.rda", "again_region.hrc"}
    again = open_table("again.tab")
    pd.testing.assert_frame_equal(again.cells, table.cells)
    for name in ("relation", "cell", "coefficient"):
        assert (getattr(again, name) == getattr(table, name)).all()


def test_what_the_program_has_no_column_for_comes_back_too():
    """Without its sliding levels and bounds it would be another table, which is easier to protect."""
    before = open_table("firms.tab")
    frame = before.cells.assign(sliding_protection=0.0, lower_bound=np.nan, upper_bound=1e6)
    frame.loc[frame["status"] == "u", "sliding_protection"] = 12.5
    frame.loc[0, "lower_bound"] = 0.5
    table = stored_table(frame, before.relations, "firms", by=before.by, trees=before.trees)
    for path, text in tab_files(table, "again.tab").items():
        path.write_text(text, encoding="utf-8")
    again = open_table("again.tab")
    for name in ("sliding_protection", "lower_bound", "upper_bound"):
        np.testing.assert_array_equal(again.numbers[name], table.numbers[name])
    assert again.numbers["value"].tolist() == table.numbers["value"].tolist()


def test_safe_files_are_those_of_the_program():
    table = open_table("firms.tab")
    gone, nobody = suppressed(table), empty_cells(table)
    rows = ['"Total",1610.5,x,x', '"N",x,x,95.0', '"N1",x,x,x', '"N2",x,-,x', '"S",x,x,x', '"S1",x,x,x', "\n"]
    assert matrix(table, gone, nobody) == "\n".join([',"Total","big","small"', *rows])
    lines = records(table, gone, nobody, heading="turnover", status=True).splitlines()
    first = ['"region","size","turnover","Status"', '"Total","Total",1610.5,1', '"Total","big",x,3']
    assert lines[:3] == first
    assert lines[11] == '"N2","big",-,14'
    plain = records(table, gone, nobody, without_empty=True, quotes=False).splitlines()
    assert plain[0] == "Total,Total,1610.5"
    assert len(plain) == 17
    sbs = sbs_text(table, gone, levels=True).splitlines()
    assert sbs[1] == '"Total",0,"big",0,1460.5,3,F,61.6,34.2'
    assert sbs[2] == '"Total",0,"small",0,150.0,5,D'
    assert sbs[5] == '"N",1,"small",0,95.0,3,V'
    assert len(sbs) == 17


def test_a_matrix_of_three_variables():
    lines = [(a, b, c) for a in ("Total", "p") for b in ("Total", "q") for c in ("Total", "r", "s")]
    frame = pd.DataFrame(lines, columns=["a", "b", "c"]).assign(value=[5, 2, 3] * 4)
    table = open_table(frame)
    nothing = np.zeros(12, dtype=bool)
    one = ',"Total","r","s"\n"Total",5,2,3\n"q",5,2,3\n\n'
    assert matrix(table, nothing, nothing) == f'Var 1,"Total"\n{one}Var 1,"p"\n{one}'


def test_some_of_the_variables_and_another_column():
    table = read_argus_table("firms.tab", by=["size"], response="count")
    assert table.by == ("size",)
    assert table.numbers["value"].tolist() == [8, 3, 5]


def test_codes_whose_digits_are_levels():
    rows = ["", "341", "3410", "34100", "34101", "342", "3420", "34200", "99999"]
    lines = zip(rows, [11, 8, 8, 3, 5, 2, 2, 2, 1], strict=True)
    Path("act.tab").write_text("".join(f"{code};{n}\n" for code, n in lines), encoding="utf-8")
    act = 'act "99999"\n <RECODABLE>\n <TOTCODE> "T"\n <HIERARCHICAL>\n <HIERLEVELS> 3 1 1\n'
    Path("act.rda").write_text(f'<SEPARATOR> ";"\n{act}n\n <FREQUENCY>\n', encoding="utf-8")
    table = open_table("act.tab")
    assert table.trees[0].codes[:4] == ("T", "341", "3410", "34100")
    assert table.describe(0) == "relation 0 (act: T = 341 + 342 + 99999)"
    assert int(table.relation.max()) + 1 == 5


def test_levels_that_are_not_given_and_other_words_for_statuses():
    """20 % of the value, as of cells that are unsafe by hand."""
    Path("firms.tab").write_text(TAB.replace(";U;29.5;29.5", ";U;;-"), encoding="utf-8")
    table = open_table("firms.tab")
    assert table.numbers["lower_protection"][1] == pytest.approx(0.2 * 1460.5)
    assert read_argus_table("firms.tab", manual=10).numbers["upper_protection"][1] == pytest.approx(146.05)
    Path("firms.rda").write_text('<SAFE> "G"\n<UNSAFE> "X"\n<PROTECT> "Z"\n' + RDA, encoding="utf-8")
    Path("firms.tab").write_text(TAB.replace(";S;", ";g;").replace(";U;", ";X;"), encoding="utf-8")
    assert open_table("firms.tab").status.tolist() == list("summusuuuuzuuuuuuu")


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("firms.tab", ";U;29.5;29.5", ";U;29.5", "firms.tab, line 2: 10 cells where its .rda has 11"),
        ("firms.tab", "1460.5;3;", "much;3;", "firms.tab, line 2, 'turnover': 'much' is not a number"),
        ("firms.tab", ";U;29.5", ";Q;29.5", "firms.tab, line 2: there is no status 'Q'; S is safe, U unsafe"),
        ("firms.tab", '"N2";"Total"', '"N3";"Total"', "column 'region', row 10: 'N3' is in no hierarchy of"),
        (
            "firms.tab",
            "1460.5;3;",
            "1460;3;",
            r"Total/big = N/big \+ S/big\) does not add up: its terms sum to 0.5 \(1 more",
        ),
        ("firms.rda", "region\n  <RECODEABLE>", "region\n", "size.*twice|stands in row"),
        ("firms.rda", "<RECODEABLE>", "<REQUEST>", "firms.rda has no explanatory variable; mark them with"),
        ("firms.rda", "<SHADOW>", "<SHADE>", "firms.rda, line 16: <SHADE> is no kind of a numeric variable"),
        ("firms.rda", "REGION.hrc", "NUTS.hrc", "the hierarchy NUTS.hrc of 'region' is not in the same"),
        ("region.hrc", "@N1", "@@@N1", "line 2: 'N1' is 3 levels below the line before; go down one at a"),
    ],
)
def test_tables_that_cannot_be_used(file, old, new, message):
    text = Path(file).read_text(encoding="utf-8")
    assert old in text
    many = -1 if old == "<RECODEABLE>" else 1
    Path(file).write_text(text.replace(old, new, many), encoding="utf-8")
    with pytest.raises(DataError, match=message) as found:
        open_table("firms.tab")
    assert "\n" not in str(found.value)


def test_tables_that_argus_cannot_hold_and_metadata_that_is_not_there():
    Path("firms.rda").unlink()
    with pytest.raises(DataError, match=r"firms\.tab: its metadata is missing; give firms\.rda, or name it"):
        open_table("firms.tab")
    frame = pd.DataFrame({"a b": ["Total", "x"], "value": [1, 1]})
    with pytest.raises(DataError, match="'a b' is no name in ARGUS: it has blanks or quotes; rename it"):
        tab_files(open_table(frame), "x.tab")
    with pytest.raises(DataError, match="the code 'x;y' has quotes or semicolons, which ARGUS cannot hold"):
        tab_files(open_table(frame.set_axis(["a", "value"], axis=1).assign(a=["Total", "x;y"])), "x.tab")
    relations = pd.DataFrame({"relation": [0, 0], "cell": [0, 1], "coefficient": [-1, 1]})
    with pytest.raises(DataError, match=r"each variable in one tree, and no other relations; write \.jj"):
        tab_files(open_table(frame, relations), "x.tab")


def test_the_demonstration_table():
    """Cells that the file has wrong by 1 are named; computed again, the optimum of the reference is found."""
    if DATA is None:
        pytest.skip("needs public data: set LINKRISK_DATA to its folder")
    source = pd.read_csv(Path(DATA) / "tauargus_pp_table.csv", dtype=str)
    lines = source.to_csv(sep=";", header=False, index=False).replace(".", ",")
    Path("pp.tab").write_text(lines, encoding="utf-8")
    tree = pd.read_csv(Path(DATA) / "tauargus_testw_region_hierarchy.csv", dtype=str)
    depth = {"Total": -1}
    text = ""
    for code, parent in zip(tree["code"], tree["parent"], strict=True):
        if parent in depth:
            depth[code] = depth[parent] + 1
            text += f"{'@' * depth[code]} {code}\n"
    Path("region2.hrc").write_text(text, encoding="utf-8")
    metadata = RDA.replace("region\n", 'Region "99"\n').replace("C:\\argus\\REGION.hrc", "region2.hrc")
    first, rest = metadata.split('Region "99"')[1].split("size")
    at = rest.index("turnover")
    Path("pp.rda").write_text(
        f'<SEPARATOR> ";"\nSize{rest[:at]}Region "99"{first}{rest[at:]}', encoding="utf-8"
    )
    message = r"relation 5 \(Size/Region: Total/Os = .*: its terms sum to -1 \(2 more do not either\)"
    with pytest.raises(DataError, match=message):
        open_table("pp.tab")
    table = open_table("pp.tab", recompute=True)
    assert len(table) == 162
    assert (table.status == "u").sum() == 9
    result = suppress_table(table, insiders="none", time_limit=None)
    assert result.protected
    assert round(result.pattern.cost) == 521_926
