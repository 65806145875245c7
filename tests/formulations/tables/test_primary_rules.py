"""Primary rules: against their definitions on random contributors, and the Handbook's way of arguing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.primary_rules import (
    Contributions,
    DominanceRule,
    FrequencyRule,
    PPercentRule,
    sensitive,
)

values = st.lists(st.integers(1, 200), min_size=1, max_size=8)


def cell(contributions, width=5):
    largest = sorted(contributions, reverse=True)[:width]
    return Contributions(
        np.array([float(sum(contributions))]),
        np.array([largest + [0.0] * (width - len(largest))], dtype=float),
        np.array([len(contributions)]),
    )


@given(contributions=values, percent=st.sampled_from([5.0, 10.0, 30.0]), intruders=st.integers(1, 3))
def test_the_p_percent_rule(contributions, percent, intruders):
    """Sensitive when the guess of the intruders, all that is not theirs, is within p % of the largest."""
    unsafe, level = sensitive((PPercentRule(percent, intruders=intruders),), cell(contributions))
    ordered = sorted(contributions, reverse=True)
    guess = sum(ordered) - sum(ordered[1 : 1 + intruders])
    assert unsafe[0] == (guess - ordered[0] < percent / 100 * ordered[0] - 1e-9)
    if unsafe[0]:  # with the level added to what others contribute, it would be just safe
        assert guess + level[0] - ordered[0] == pytest.approx(percent / 100 * ordered[0])


@given(contributions=values, percent=st.sampled_from([50.0, 75.0, 90.0]), number=st.integers(1, 3))
def test_the_dominance_rule(contributions, percent, number):
    unsafe, level = sensitive((DominanceRule(number, percent),), cell(contributions))
    dominant, total = sum(sorted(contributions, reverse=True)[:number]), sum(contributions)
    assert unsafe[0] == (dominant > percent / 100 * total + 1e-9)
    if unsafe[0]:
        assert dominant == pytest.approx(percent / 100 * (total + level[0]))


@given(contributions=values, least=st.integers(1, 6))
def test_the_frequency_rule(contributions, least):
    unsafe, level = sensitive((FrequencyRule(least, 20.0),), cell(contributions))
    assert unsafe[0] == (len(contributions) < least)
    assert level[0] == pytest.approx(0.2 * sum(contributions) if unsafe[0] else 0.0)


def test_prior_knowledge_makes_a_cell_sensitive():
    """Of 100, 5 and 8 others: p = 10 % is kept, but who knows the 8 to 50 % comes as close as 4."""
    one = cell([100, 5, 12])
    assert not sensitive((PPercentRule(5.0),), one)[0][0]
    assert sensitive((PPercentRule(5.0, prior=50.0),), one)[0][0]


def test_rules_together_take_the_largest_level():
    one = cell([90, 6, 4])
    rules = (PPercentRule(10.0), FrequencyRule(4, 50.0))
    assert sensitive(rules, one)[1][0] == pytest.approx(50.0)
    nobody = Contributions(np.zeros(1), np.zeros((1, 5)), np.zeros(1, dtype=np.int64))
    assert not sensitive(rules, nobody)[0][0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PPercentRule(0.0), "p = 0 %, q = 100 % is none: it needs 0 < p < q <= 100"),
        (lambda: PPercentRule(50.0, prior=40.0), "p = 50 %, q = 40 % is none"),
        (lambda: PPercentRule(10.0, intruders=0), "a coalition of 0 intruders is none"),
        (lambda: DominanceRule(0, 75.0), r"the rule \(0, 75\) is none: it needs n >= 1 and 0 < k < 100"),
        (lambda: DominanceRule(2, 100.0), r"the rule \(2, 100\) is none"),
        (lambda: FrequencyRule(0), "at least 0 respondents with a range of 20 % is no rule"),
        (lambda: FrequencyRule(3, 0.0), "at least 3 respondents with a range of 0 % is no rule"),
    ],
)
def test_rules_that_are_none(make, message):
    with pytest.raises(FormulationError, match=message):
        make()
