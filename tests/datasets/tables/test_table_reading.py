"""Files about cells: contributions, coalitions, insiders, terms of relations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from linkrisk import audit_table, suppress_table
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.reading import read_insiders
from linkrisk.datasets.tables.stored_table import joined_terms


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
    level = [0.0, 3.0, 0.0, 0.0, 0.0, 0.0]
    cells = pd.DataFrame({"value": [10.0, 4.0, 6.0, 10.0, 3.0, 7.0], "status": list("mummmm")})
    cells = cells.assign(lower_protection=level, upper_protection=level)
    terms = pd.DataFrame({"relation": [0] * 3 + [1] * 3, "cell": range(6), "coefficient": [-1, 1, 1] * 2})
    one = [("a", 1, 3.5, 4.5)]
    for lines in (one, [*one, ("a", 1, 0.0, 9.0)], [("a", 1, 3.5, np.nan), ("a", 1, np.nan, 4.5)]):
        found = audit_table(cells, terms, insiders=known(*lines)).insiders.audit
        place = found.cells.tolist().index(1)
        assert (found.low[place], found.high[place]) == (3.5, 4.5)


def test_lines_that_contradict_one_another_are_refused():
    with pytest.raises(DataError, match="what a knows of cell 1 leaves nothing: at least 5, and at most 4"):
        read_insiders(known(("a", 1, 5.0, np.nan), ("a", 1, np.nan, 4.0)), 3)


def cells(*, hidden):
    frame = pd.DataFrame({"value": [100.0, 40.0, 60.0], "status": ["s", "u", "m" if hidden else "s"]})
    return frame.assign(lower_protection=[0.0, 1.0, 0.0], upper_protection=[0.0, 1.0, 0.0])


def relations(*more):
    lines = [(0, 0, -1.0), (0, 1, 1.0), (0, 2, 1.0), *more]
    return pd.DataFrame(lines, columns=["relation", "cell", "coefficient"])


NOTHING = {
    "a coefficient of 0": [(1, 1, 0.0)],
    "terms that cancel": [(1, 1, 1.0), (1, 1, -1.0)],
    "decimals that cancel": [(1, 1, 0.1), (1, 1, 0.2), (1, 1, -0.3)],
    "beside others": [(1, 0, 0.0), (1, 1, 0.0), (0, 1, 0.0)],
}


@pytest.mark.parametrize("more", NOTHING.values(), ids=NOTHING.keys())
def test_a_term_of_nothing_gives_no_cell_away(more):
    found = audit_table(cells(hidden=True), relations(*more), exact=True)
    assert found.protected
    assert found.to_dict()["known_exactly"] == []
    assert found.to_dict()["exact"]["missed"] == []
    np.testing.assert_allclose(found.audit.low, [0.0, 0.0], atol=1e-9)
    assert suppress_table(cells(hidden=False), relations(*more), cost="unit").suppressed.sum() == 2


def test_a_cell_that_stands_twice_counts_twice():
    relation, cell, factor = joined_terms(
        np.array([5.0, 2.0, 5.0, 5.0, 2.0]), np.array([1, 1, 0, 1, 3]), np.array([0.1, 1.0, -1.0, 0.2, 0.0])
    )
    terms = sorted(zip(relation.tolist(), cell.tolist(), factor.tolist(), strict=True))
    assert terms == [(2.0, 1, 1.0), (5.0, 0, -1.0), (5.0, 1, 0.3)]
