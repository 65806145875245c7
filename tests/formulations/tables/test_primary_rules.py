"""Primary rules: against their definitions on random contributors, and the Handbook's way of arguing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.contributions import Contributions
from linkrisk.formulations.tables.primary_rules import (
    DominanceRule,
    FrequencyRule,
    PPercentRule,
    RequestRule,
    ZeroRule,
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
    found = sensitive((PPercentRule(percent, intruders=intruders),), cell(contributions))
    unsafe, level = found.unsafe, found.upper
    ordered = sorted(contributions, reverse=True)
    guess = sum(ordered) - sum(ordered[1 : 1 + intruders])
    assert unsafe[0] == (guess - ordered[0] < percent / 100 * ordered[0] - 1e-9)
    if unsafe[0]:  # with the level added to what others contribute, it would be just safe
        assert guess + level[0] - ordered[0] == pytest.approx(percent / 100 * ordered[0])


@given(contributions=values, percent=st.sampled_from([50.0, 75.0, 90.0]), number=st.integers(1, 3))
def test_the_dominance_rule(contributions, percent, number):
    found = sensitive((DominanceRule(number, percent),), cell(contributions))
    unsafe, level = found.unsafe, found.upper
    dominant, total = sum(sorted(contributions, reverse=True)[:number]), sum(contributions)
    assert unsafe[0] == (dominant > percent / 100 * total + 1e-9)
    if unsafe[0]:
        assert dominant == pytest.approx(percent / 100 * (total + level[0]))


@given(contributions=values, least=st.integers(1, 6))
def test_the_frequency_rule(contributions, least):
    found = sensitive((FrequencyRule(least, 20.0),), cell(contributions))
    unsafe, level = found.unsafe, found.lower
    assert unsafe[0] == (len(contributions) < least)
    assert level[0] == pytest.approx(0.2 * sum(contributions) if unsafe[0] else 0.0)


def test_prior_knowledge_and_rules_together():
    """The largest level of all rules; of 100, 5 and 12, who knows the 12 to 50 % comes as close as 6."""
    one = cell([100, 5, 12])
    assert not sensitive((PPercentRule(5.0),), one).unsafe[0]
    assert sensitive((PPercentRule(5.0, prior=50.0),), one).unsafe[0]
    one = cell([90, 6, 4])
    rules = (PPercentRule(10.0), FrequencyRule(4, 50.0))
    assert sensitive(rules, one).upper[0] == pytest.approx(50.0)
    nobody = Contributions(np.zeros(1), np.zeros((1, 5)), np.zeros(1, dtype=np.int64))
    assert not sensitive(rules, nobody).unsafe[0]


HANDBOOK = [  # Handbook on SDC, second edition, section 4.2: examples 1, 2 and 4
    (DominanceRule(1, 90.0), [50_000, 49_000, 1_000], None),
    (PPercentRule(5.0), [50_000, 49_000, 1_000], 1_500.0),
    (PPercentRule(10.0), [52_000, 50_000, 8_000], None),
    (DominanceRule(2, 100.0 / 1.1), [52_000, 50_000, 8_000], 2_200.0),
    (DominanceRule(1, 85.0), [300, 20, 10], 300 / 0.85 - 330),
]


@pytest.mark.parametrize(("rule", "contributions", "level"), HANDBOOK)
def test_examples_of_the_handbook(rule, contributions, level):
    found = sensitive((rule,), cell(contributions))
    assert found.unsafe[0] == (level is not None)
    assert found.upper[0] == pytest.approx(level or 0.0)


@given(contributions=values, percent=st.sampled_from([10.0, 50.0]))
def test_a_level_is_what_the_second_largest_must_not_know(contributions, percent):
    """Handbook, example 5: with X + U as the upper end, x_2 overestimates x_1 by just p %."""
    found = sensitive((PPercentRule(percent),), cell(contributions))
    if found.unsafe[0]:
        ordered = [*sorted(contributions, reverse=True), 0]
        estimate = sum(contributions) + found.upper[0] - ordered[1]
        assert estimate == pytest.approx((1 + percent / 100) * ordered[0])


@given(contributions=values, asked=st.integers(0, 2), least=st.integers(0, 4))
def test_the_request_rule(contributions, asked, least):
    """The largest respondent asked, and has more than 70 % (of the second kind 40 %), or there are few."""
    one = cell(contributions)
    one = Contributions(one.total, one.largest, one.respondents, asked=np.array([asked]))
    found = sensitive((RequestRule((70.0, 40.0), least, 15.0),), one)
    total, first = sum(contributions), max(contributions)
    large = first > (0.7 if asked == 1 else 0.4) * total + 1e-9
    assert found.unsafe[0] == (asked > 0 and (large or len(contributions) < least))
    assert found.upper[0] == pytest.approx(0.15 * total if found.unsafe[0] else 0.0)
    derived = sensitive((RequestRule((70.0, 40.0), least),), one)
    assert derived.unsafe[0] == found.unsafe[0]
    if derived.unsafe[0] and large and not len(contributions) < least:
        assert total + derived.upper[0] == pytest.approx(first / (0.7 if asked == 1 else 0.4))


def test_zeros_with_respondents():
    """Known to be all 0: room upwards only. Nobody is no zero."""
    some = Contributions(np.zeros(2), np.zeros((2, 1)), np.array([3, 0]))
    found = sensitive((ZeroRule(5.0),), some)
    assert found.unsafe.tolist() == [True, False]
    assert (found.lower[0], found.upper[0]) == (0.0, 5.0)


def test_levels_are_the_same_share_of_the_value_as_of_the_shadow():
    """The shadow 90 + 6 + 4 lacks 5 %: so do 300 that are published."""
    one = cell([90, 6, 4])
    shadowed = Contributions(one.total, one.largest, one.respondents, value=np.array([300.0]))
    assert sensitive((PPercentRule(10.0),), one).upper[0] == pytest.approx(5.0)
    assert sensitive((PPercentRule(10.0),), shadowed).upper[0] == pytest.approx(15.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PPercentRule(0.0), "p = 0 %, q = 100 % is none: it needs 0 < p < q <= 100"),
        (lambda: PPercentRule(50.0, prior=40.0), "p = 50 %, q = 40 % is none"),
        (lambda: PPercentRule(10.0, intruders=0), "a coalition of 0 intruders is none"),
        (lambda: DominanceRule(0, 75.0), r"the rule \(0, 75\) is none: it needs n >= 1 and 0 < k < 100"),
        (lambda: DominanceRule(2, 100.0), r"the rule \(2, 100\) is none"),
        (lambda: FrequencyRule(0), "at least 0 respondents with a range of 20 % is no rule"),
        (lambda: ZeroRule(0.0), "a range of 0 around zero is none; give one above 0"),
        (lambda: RequestRule((0.0, 70.0)), "requests above 0 % or 70 %, with fewer than 0 respondents, are"),
        (lambda: RequestRule((70.0, 70.0), 0, 0.0), "a range of 0 % is none; it is above 0, at most 100"),
        (lambda: FrequencyRule(3, 0.0), "at least 3 respondents with a range of 0 % is no rule"),
    ],
)
def test_rules_that_are_none(make, message):
    with pytest.raises(FormulationError, match=message):
        make()
