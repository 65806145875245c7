"""JJ files: as the engine of tau-ARGUS writes them, written back to equality, and refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk import open_table, suppress_table
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.argus.jj_files import jj_text, read_jj
from linkrisk.datasets.tables.stored_table import stored_table

ENGINE = """0
6
0 1610.5 20000 s 0.0 1610.5 0.0000 0.0000 0.0
1 1460.5 18137 u 0.0 1610.5 29.5000 29.5000 0.0
2 150.0 1863 m 0.0 1610.5 0.0000 0.0000 0.0
3 1055.5 13108 m 0.0 1610.5 0.0000 0.0000 0.0
4 555.0 6892 U 0.0 1610.5 25.0000 25.0000 0.0
5 0.0 1 z 0.0 1610.5 0.0000 0.0000 0.0
2
0 3 : 0 (-1) 1 (1) 2 (1) 
0.0 4 : 0(-1) 3(1) 4(1) 5(1.0)
"""  # noqa: W291  # the first relation as the engine writes it, the second as sdcTable does


def same(one, other):
    assert set(one.numbers) <= set(other.numbers)
    for name, numbers in one.numbers.items():
        given_ = ~np.isnan(numbers)
        assert (numbers[given_] == other.numbers[name][given_]).all()
    assert (one.status == other.status).all()
    for name in ("relation", "cell", "coefficient"):
        assert (getattr(one, name) == getattr(other, name)).all()


def test_a_file_of_the_engine(tmp_path):
    path = tmp_path / "table.jj"
    path.write_text(ENGINE, encoding="utf-8")
    table = read_jj(path)
    assert table.numbers["value"].tolist() == [1610.5, 1460.5, 150.0, 1055.5, 555.0, 0.0]
    assert table.status.tolist() == ["s", "u", "m", "m", "u", "z"]
    assert table.numbers["cost"][1] == 18137
    assert table.numbers["upper_bound"].tolist() == [1610.5] * 6
    assert table.relation.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert table.coefficient.tolist() == [-1, 1, 1, -1, 1, 1, 1]
    again = tmp_path / "again.jj"
    again.write_text(jj_text(table), encoding="utf-8")
    same(table, read_jj(again))
    assert suppress_table(path).protected
    with pytest.raises(DataError, match=r"table\.jj says itself which relations there are; leave the others"):
        open_table(path, "relations.csv")


@settings(max_examples=40, deadline=None)
@given(inner=st.lists(st.lists(st.floats(0, 1e9), min_size=2, max_size=2), min_size=1, max_size=4))
def test_every_number_comes_back(inner, tmp_path_factory):
    """Also those that no decimal of few digits is."""
    cells = pd.DataFrame({"value": [each for one, other in inner for each in (one + other, one, other)]})
    terms = pd.DataFrame({"relation": np.arange(len(cells)) // 3, "cell": np.arange(len(cells))})
    table = stored_table(cells, terms.assign(coefficient=[-1.0, 1.0, 1.0] * len(inner)), "t")
    path = tmp_path_factory.mktemp("jj") / "t.jj"
    path.write_text(jj_text(table), encoding="utf-8")
    same(table, read_jj(path))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0\n6\n", "1\n6\n", "line 1: a JJ file begins with a line 0"),
        ("0\n6\n", "0\nsix\n", "line 2: 'six' is not the number of cells"),
        ("0\n6\n", "0\n7\n", "line 9: it is not cell 6: a cell has its number, value, cost, status, lower"),
        ("1 1460.5", "2 1460.5", "line 4: it is not cell 1: "),
        ("1460.5", "much", "line 4: 'much' is not a number"),
        (" z ", " q ", "row 6: there is no status 'q'; u is sensitive"),
        ("0 3 :", "5 3 :", "line 10: its terms sum to 5; bring it to the other side as a cell of that value"),
        ("0 3 :", "0 4 :", "line 10: it has 3 terms, not 4"),
        ("0 3 :", "0 3 ", "line 10: it is no relation; write '0 3 : 0 \\(-1\\) 1 \\(1\\) 2 \\(1\\)'"),
        ("2 (1)", "9 (1)", "line 10: 9 is no cell; they are 0 to 5"),
        ("2 (1)", "2 (x)", "line 10: 'x' is not a number"),
        ("\n2\n", "\n3\n", "ends where relation 2 should stand; it is cut off, or no JJ file"),
        ("1055.5", "1055", r"relation 1 \(cells: 0 = 3 \+ 4 \+ 5\) does not add up: its terms sum to -0.5; "),
    ],
)
def test_files_that_are_none(tmp_path, old, new, message):
    assert old in ENGINE
    (tmp_path / "table.jj").write_text(ENGINE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataError, match=message) as found:
        open_table(tmp_path / "table.jj")
    assert "\n" not in str(found.value)
    assert "table.jj" in str(found.value)
