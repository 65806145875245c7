"""Files of what insiders know: several lines of one cell hold together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from linkrisk import audit_table
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.reading import read_insiders


def known(*lines):
    return pd.DataFrame(lines, columns=["insider", "cell", "lower", "upper"])


LINES = [
    ("a", 2, 6.0, np.nan),
    ("b", 2, 1.0, 9.0),
    ("a", 1, 0.0, 5.0),
    ("a", 2, np.nan, 6.5),
    ("a", 2, 1.0, 9.0),
]


def test_what_is_said_of_a_cell_in_several_lines_is_all_known():
    found = read_insiders(known(*LINES), 3)
    assert found.to_numpy().tolist() == [["a", 2, 6.0, 6.5], ["b", 2, 1.0, 9.0], ["a", 1, 0.0, 5.0]]


def test_a_line_that_knows_less_does_not_hide_one_that_knows_more():
    cells = pd.DataFrame(
        {
            "value": [10.0, 4.0, 6.0, 10.0, 3.0, 7.0],
            "status": ["m", "u", "m", "m", "m", "m"],
            "lower_protection": [0.0, 3.0, 0.0, 0.0, 0.0, 0.0],
            "upper_protection": [0.0, 3.0, 0.0, 0.0, 0.0, 0.0],
        }
    )
    terms = pd.DataFrame(
        {"relation": [0, 0, 0, 1, 1, 1], "cell": [0, 1, 2, 3, 4, 5], "coefficient": [-1, 1, 1] * 2}
    )
    one = [("a", 1, 3.5, 4.5)]
    for lines in (one, [*one, ("a", 1, 0.0, 9.0)], [("a", 1, 3.5, np.nan), ("a", 1, np.nan, 4.5)]):
        found = audit_table(cells, terms, insiders=known(*lines)).insiders.audit
        place = found.cells.tolist().index(1)
        assert (found.low[place], found.high[place]) == (3.5, 4.5)


def test_lines_that_contradict_one_another_are_refused():
    with pytest.raises(DataError, match="what a knows of cell 1 leaves nothing: at least 5, and at most 4"):
        read_insiders(known(("a", 1, 5.0, np.nan), ("a", 1, np.nan, 4.0)), 3)
