"""Terms of relations that say nothing, or stand twice: what is computed from a table does not change."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from linkrisk import audit_table, suppress_table
from linkrisk.datasets.tables.stored_table import joined_terms


def cells(*, hidden):
    """100 = 40 + 60, where 40 is sensitive, and 60 hidden with it or not; amounts, as counts are smaller."""
    return pd.DataFrame(
        {
            "value": [100.0, 40.0, 60.0],
            "status": ["s", "u", "m" if hidden else "s"],
            "lower_protection": [0.0, 1.0, 0.0],
            "upper_protection": [0.0, 1.0, 0.0],
        }
    )


def relations(*more):
    """That of the total, and terms of others."""
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


@pytest.mark.parametrize("more", NOTHING.values(), ids=NOTHING.keys())
def test_it_does_not_keep_a_cell_from_being_protected(more):
    assert suppress_table(cells(hidden=False), relations(*more), cost="unit").suppressed.sum() == 2


def test_a_cell_that_stands_twice_counts_twice():
    relation, cell, factor = joined_terms(
        np.array([5.0, 2.0, 5.0, 5.0, 2.0]), np.array([1, 1, 0, 1, 3]), np.array([0.1, 1.0, -1.0, 0.2, 0.0])
    )
    terms = sorted(zip(relation.tolist(), cell.tolist(), factor.tolist(), strict=True))
    assert terms == [(2.0, 1, 1.0), (5.0, 0, -1.0), (5.0, 1, 0.3)]
