"""The decision rule by its definition: error rates reached but not passed, clerical pairs only if needed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.solver.linkage.probabilistic.match_weights import error_rate_thresholds


@st.composite
def cases(draw):
    """Weights in eighths with ties; matches are likelier at large weights, but not always."""
    size = draw(st.integers(1, 8))
    weights = np.array(draw(st.lists(st.integers(-6, 6), min_size=size, max_size=size))) / 2.0
    counts = st.lists(st.sampled_from([0.0, 0.5, 1.0, 8.0, 100.0]), min_size=size, max_size=size)
    matches, others = np.array(draw(counts)), np.array(draw(counts))
    rate = st.sampled_from([0.0, 0.01, 0.1, 0.25, 0.5, 1.0])
    return weights, matches, others, draw(rate), draw(rate), draw(st.sampled_from([-1.0, 0.0, 0.7]))


def share(counts, chosen):
    return counts[chosen].sum() / (counts.sum() or 1.0)


@given(cases())
def test_both_error_rates_hold_and_no_pair_is_left_for_review_without_need(case):
    weights, matches, others, most_false_links, most_false_non_links, _ = case
    made = error_rate_thresholds(*case)
    linked, non_linked = weights >= made.link, weights < made.non_link
    assert made.non_link <= made.link
    assert made.false_link_rate == pytest.approx(share(others, linked))
    assert made.false_link_rate <= most_false_links + 1e-9
    assert made.false_non_link_rate == pytest.approx(share(matches, non_linked))
    assert made.false_non_link_rate <= most_false_non_links + 1e-9
    left = ~(linked | non_linked)
    if left.any():
        # Neither rate lets the nearest of them go.
        next_linked = weights >= weights[left].max()
        assert share(others, next_linked) > most_false_links
        next_left_out = weights <= weights[left].min()
        assert share(matches, next_left_out) > most_false_non_links


def test_a_rule_worked_out_by_hand():
    weights = np.array([4.0, 2.0, 0.0, -3.0])
    matches, others = np.array([70.0, 20.0, 8.0, 2.0]), np.array([1.0, 9.0, 90.0, 900.0])
    made = error_rate_thresholds(weights, matches, others, 0.001, 0.02, even=1.0)
    assert (made.link, made.non_link) == (4.0, 0.0)
    assert (made.false_link_rate, made.false_non_link_rate) == (0.001, 0.02)
    assert made.outcomes(weights, matches + others) == {"linked": 71, "clerical": 127, "non_linked": 902}


def test_generous_rates_divide_pairs_where_a_match_becomes_likely():
    weights = np.array([4.0, 2.0, 0.0, -3.0])
    matches, others = np.array([70.0, 20.0, 8.0, 2.0]), np.array([1.0, 9.0, 90.0, 900.0])
    for even, cut in ((1.0, 2.0), (-1.0, 0.0), (3.0, 4.0), (9.0, math.inf)):
        made = error_rate_thresholds(weights, matches, others, 1.0, 1.0, even)
        assert made.link == made.non_link == cut
        assert made.outcomes(weights, np.ones(4))["clerical"] == 0
    # Where the rates leave less room, the cut goes as far as they allow.
    made = error_rate_thresholds(weights, matches, others, 1.0, 0.02, even=9.0)
    assert made.link == made.non_link == 0.0


def test_no_false_links_at_all_may_leave_no_link():
    made = error_rate_thresholds(np.array([1.0]), np.array([5.0]), np.array([5.0]), 0.0, 0.0, even=0.0)
    assert made.link == math.inf
    assert made.to_dict()["link"] is None
    assert made.outcomes(np.array([1.0]), np.array([10.0]))["clerical"] == 10
