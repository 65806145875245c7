"""A-priori files: what each line changes, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from linkrisk import open_table
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.argus.apriori import with_apriori

CELLS = pd.DataFrame({"a": list("TTTxxxyyy"), "b": list("T12T12T12"), "status": list("ssssussss")})
CELLS.insert(2, "value", [100, 60, 40, 30, 20, 10, 70, 40, 30])
CELLS["lower_protection"] = CELLS["upper_protection"] = np.where(CELLS["status"] == "u", 5, 0)
TOTALS = {"a": "T", "b": "T"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(text, **more):
    Path("known.hst").write_text(text, encoding="utf-8")
    return with_apriori(open_table(CELLS, totals=TOTALS), "known.hst", **more)


def test_what_lines_say():
    table = read('"x";2;u\ny;1;P\ny;2;c;7,5\nx;1;pl;3;4\nT;1;ab;10;90\nx;2;pl;1;2\nT;2;m\n')
    assert table.status.tolist() == ["s", "s", "m", "s", "u", "u", "s", "z", "s"]
    assert table.numbers["cost"][8] == 7.5
    assert [table.numbers[f"{side}_protection"][4] for side in ("lower", "upper")] == [3, 4]
    assert [table.numbers[f"{side}_protection"][5] for side in ("lower", "upper")] == [1, 2]
    assert [table.numbers[f"{side}_bound"][1] for side in ("lower", "upper")] == [10, 90]
    assert table.cells["status"].tolist() == table.status.tolist()


def test_levels_of_cells_that_become_sensitive_are_a_share_of_the_value():
    table = read("x,2,u\nx,1,u\nx,1,s\n")
    assert table.numbers["lower_protection"][5] == 2.0
    assert (table.status[4], table.numbers["lower_protection"][4]) == ("s", 0.0)
    assert read("x,2,u\n", manual=50).numbers["upper_protection"][5] == 5.0


def test_commas_of_decimals_are_no_separators_and_it_is_read_with_the_table():
    assert read("x\t2\tc\t7,5\nx\t2\tu\n").numbers["cost"][5] == 7.5
    assert read("x;2;c;7,5\n").numbers["cost"][5] == 7.5
    Path("known.hst").write_text("x\t2\tu\n", encoding="utf-8")
    assert open_table(CELLS, totals=TOTALS, apriori="known.hst").status[5] == "u"
    assert read("q;9;u\n", skip_unknown=True).status[4] == "u"


def test_cells_that_are_the_same_one():
    """A code with a single one below it: both have the status."""
    frame = pd.DataFrame({"a": ["T", "x", "x1", "y"], "value": [5, 2, 2, 3]})
    Path("tree.csv").write_text("code,parent\nx,T\nx1,x\ny,T\n", encoding="utf-8")
    table = open_table(frame, hierarchies={"a": "tree.csv"}, totals={"a": "T"})
    Path("known.hst").write_text("x,u\n", encoding="utf-8")
    assert with_apriori(table, "known.hst").status.tolist() == ["s", "u", "s", "s"]
    assert with_apriori(table, "known.hst", expand=True).status.tolist() == ["s", "u", "u", "s"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x;9;u\n", "known.hst, line 1: there is no cell a=x, b=9"),
        ("x;1;u\nx;2;q\n", "known.hst, line 2: it says nothing of a cell; write its 2 codes, then u, s, p"),
        ("x;1;c\n", "known.hst, line 1: it says nothing of a cell; "),
        ("x;1;c;much\n", "known.hst, line 1: 'much' are no numbers"),
        ("x;1;c;nan\n", "known.hst, line 1: 'nan' are no numbers"),
        ("x;1;ab;0;inf\n", "known.hst, line 1: '0 inf' are no numbers"),
        ("x;1;pl;1e400;2\n", "known.hst, line 1: '1e400 2' are no numbers"),
        ("x;2;u;5;5\n", "known.hst, line 1: it says nothing of a cell; "),
        ("x;1;pl;-1;2\n", "known.hst, line 1: -1 is below 0, as no cost and no level is"),
        ("y;1;pl;1;2\n", "known.hst, line 1: a=y, b=1 is not sensitive; make it so before its levels"),
    ],
)
def test_files_that_cannot_be_used(text, message):
    with pytest.raises(DataError, match=message) as found:
        read(text)
    assert "\n" not in str(found.value)
