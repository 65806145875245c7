"""Respondents of equal amounts: what rules say does not depend on the order of records."""

from __future__ import annotations

import pandas as pd
import pytest

from linkrisk import make_table

FIRMS = pd.DataFrame(
    {
        "region": ["N"] * 5,
        "turnover": [100.0, 40.0, 40.0, 2.0, 2.0],
        "weight": [1.0, 1.0, 4.0, 1.0, 1.0],
        "asked": [0, 0, 0, 0, 0],
    }
)


def total(firms, **how):
    made = make_table(firms, ["region"], response="turnover", **how)
    return made.cells.set_index("region").loc["Total"]


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]])
def test_of_equals_the_intruder_is_the_one_that_makes_up_most(order):
    """304 less 100 and less 4 times 40 leave 44, which is less than half of 100 by 6."""
    found = total(
        FIRMS.iloc[order], weight="weight", weights_in_rules="known", rules=["p=45,q=90"], protection="upper"
    )
    assert found["value"] == 304
    assert found["status"] == "u"
    assert found["upper_protection"] == pytest.approx(50.0 - 44.0)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0]])
def test_of_equals_it_is_enough_that_one_asked(order):
    firms = FIRMS.iloc[[0, 0, 3]].assign(asked=[0, 1, 0]).iloc[order]
    found = total(firms, request="asked", rules=["request=40"])
    assert found["status"] == "u"
    assert found["upper_protection"] == pytest.approx(100.0 / 0.4 - 202.0)
