"""Expectation maximisation and the decision rule of Fellegi and Sunter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linker_cases import compare, drawn_files, expected_counts, task_of

from linkrisk.solver.linkage.probabilistic.fellegi_sunter import (
    BOUND,
    START_M,
    EMSettings,
    bounded_proportions,
    error_rate_thresholds,
    estimate,
)
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.linkage.probabilistic.patterns import PatternCounts

M = ([0.1, 0.9], [0.05, 0.1, 0.85], [0.2, 0.8], [0.02, 0.98])
U = ([0.7, 0.3], [0.8, 0.15, 0.05], [0.9, 0.1], [0.6, 0.4])
LEVELS = [len(table) for table in M]


def largest_error(tables, known):
    return max(np.abs(np.array(a) - b).max() for a, b in zip(tables, known, strict=True))


@pytest.mark.parametrize(("missing", "p"), [(0.3, 0.02), (0.0, 0.3)])
def test_a_known_model_is_recovered_from_its_expected_counts(p, missing):
    counts = expected_counts(M, U, p, missing=missing)
    found = estimate(counts, LEVELS, EMSettings(tolerance=1e-13, most_iterations=20_000))
    assert found.converged
    assert found.p == pytest.approx(p, rel=1e-6)
    assert largest_error(found.m, M) < 1e-7
    assert largest_error(found.u, U) < 1e-7


def test_a_known_share_of_matches_stays_as_it_is():
    found = estimate(expected_counts(M, U, 0.02), LEVELS, EMSettings(p=0.02, tolerance=1e-13))
    assert found.p == 0.02
    assert largest_error(found.m, M) < 1e-7
    elsewhere = estimate(expected_counts(M, U, 0.02), LEVELS, EMSettings(p=0.1))
    assert elsewhere.p == 0.1
    assert largest_error(elsewhere.m, M) > 0.01


def test_a_fixed_point_is_the_posterior_mode_under_the_prior():
    """With one attribute and p known, m and u follow from their counts plus the prior."""
    counts = PatternCounts(np.array([[1], [2]], dtype=np.uint8), np.array([3.0, 1.0]))
    found = estimate(counts, [2], EMSettings(p=0.5, prior=2.0, tolerance=1e-14))
    matches = counts.counts * found.match_probability
    assert found.m[0] == pytest.approx((matches + 2.0) / (matches.sum() + 4.0), abs=1e-12)


@st.composite
def pattern_counts(draw):
    levels = draw(st.lists(st.integers(2, 4), min_size=1, max_size=4))
    pattern = st.tuples(*(st.integers(0, size) for size in levels))
    patterns = draw(st.lists(pattern, min_size=1, max_size=12, unique=True))
    counts = draw(
        st.lists(st.sampled_from([1.0, 2.0, 7.0, 1e3, 1e6]), min_size=len(patterns), max_size=len(patterns))
    )
    return PatternCounts(np.array(patterns, dtype=np.uint8), np.array(counts)), levels


@settings(max_examples=60, deadline=None)
@given(
    pattern_counts(),
    st.sampled_from([None, 0.5, 0.01, 1e-6]),
    st.booleans(),
    st.sampled_from([0.0, 0.5, 1.0, 20.0]),
)
def test_the_posterior_never_falls(case, p, fixed_u, prior):
    counts, levels = case
    found = estimate(
        counts, levels, EMSettings(p=p, fixed_u=fixed_u, prior=prior, most_iterations=60, tolerance=1e-12)
    )
    trace = np.array(found.log_posterior)
    rounding = 1e-12 * (np.abs(trace).max() + counts.pairs)
    assert (np.diff(trace) >= -rounding).all()
    for table in (*found.m, *found.u):
        assert table.sum() == pytest.approx(1.0, abs=1e-12)
        assert table.min() >= BOUND * (1 - 1e-12)
    assert BOUND <= found.p <= 1 - BOUND


def test_the_log_likelihood_is_that_of_the_model():
    counts = expected_counts(M, U, 0.02, missing=0.1)
    found = estimate(counts, LEVELS, EMSettings())
    total = 0.0
    for pattern, count in zip(counts.patterns, counts.counts, strict=True):
        known = [(k, level - 1) for k, level in enumerate(pattern) if level]
        match = found.p * np.prod([found.m[k][level] for k, level in known])
        other = (1 - found.p) * np.prod([found.u[k][level] for k, level in known])
        total += count * np.log(match + other)
    assert found.log_posterior[-1] == pytest.approx(total, rel=1e-12)


def test_starting_values_are_those_of_the_documentation():
    counts = expected_counts(M, U, 0.02)
    begun = estimate(counts, LEVELS, EMSettings(start_p=0.2, most_iterations=1))
    assert not begun.converged
    assert begun.iterations == 1
    start_m = [np.append(np.full(n - 1, (1 - START_M) / (n - 1)), START_M) for n in LEVELS]
    start_u = [0.02 * np.array(m) + 0.98 * np.array(u) for m, u in zip(M, U, strict=True)]
    match = 0.2 * np.prod([start_m[k][counts.patterns[:, k] - 1] for k in range(4)], axis=0)
    other = 0.8 * np.prod([start_u[k][counts.patterns[:, k] - 1] for k in range(4)], axis=0)
    assert begun.p == pytest.approx((counts.counts * match / (match + other)).sum() / counts.pairs)


@given(st.lists(st.sampled_from([0.0, 1e-12, 1e-8, 0.5, 3.0, 1e9]), min_size=2, max_size=6))
def test_bounded_proportions_are_the_best_of_those_allowed(counts):
    counts = np.array(counts)
    theta = bounded_proportions(counts)
    assert theta.sum() == pytest.approx(1.0, abs=1e-12)
    assert theta.min() >= BOUND
    value = counts @ np.log(theta)
    for give in range(counts.size):
        for take in range(counts.size):
            moved = theta.copy()
            step = 0.1 * max(moved[give] - BOUND, 0.0)
            moved[give] -= step
            moved[take] += step
            assert counts @ np.log(moved) <= value + 1e-12 * (1 + abs(value) + counts.sum())


def test_probabilities_of_drawn_records_are_found_within_a_hundredth():
    sizes, wrong = (2, 3, 5, 8, 12, 20, 40, 25, 60), (0.05, 0.03, 0.08, 0.02, 0.06, 0.04, 0.05, 0.1, 0.07)
    first, second, m, u = drawn_files(5000, 7, sizes, wrong)
    linker = Probabilistic(compare=compare(*(f"{name}=equal" for name in first.columns)))
    learned = linker.learn(task_of(first, second))
    rows = learned.parameters["attributes"]
    assert np.abs([row["m"][1] for row in rows] - m).max() < 0.01
    assert np.abs([row["u"][1] for row in rows] - u).max() < 0.01
    assert learned.parameters["p"] == pytest.approx(1 / 5000, abs=0.01 / 5000)
    assert learned.parameters["expected_matches"] == pytest.approx(5000, rel=0.01)
    assert learned.notes == ()


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


def test_known_u_probabilities_are_those_of_all_pairs_whatever_the_prior():
    counts = expected_counts(M, U, 0.02, missing=0.2)
    everyone = [0.02 * np.array(m) + 0.98 * np.array(u) for m, u in zip(M, U, strict=True)]
    for prior in (0.0, 20.0):
        found = estimate(counts, LEVELS, EMSettings(fixed_u=True, prior=prior))
        assert largest_error(found.u, everyone) < 1e-12


def test_generous_rates_divide_pairs_where_a_match_becomes_likely():
    weights = np.array([4.0, 2.0, 0.0, -3.0])
    matches, others = np.array([70.0, 20.0, 8.0, 2.0]), np.array([1.0, 9.0, 90.0, 900.0])
    for even, cut in ((1.0, 2.0), (-1.0, 0.0), (3.0, 4.0), (9.0, math.inf)):
        made = error_rate_thresholds(weights, matches, others, 1.0, 1.0, even)
        assert made.link == made.non_link == cut
        assert made.outcomes(weights, np.ones(4))["clerical"] == 0
    # Where the rates leave less room, the cut goes as far as they allow; without any, there may be no link.
    made = error_rate_thresholds(weights, matches, others, 1.0, 0.02, even=9.0)
    assert made.link == made.non_link == 0.0
    made = error_rate_thresholds(np.array([1.0]), np.array([5.0]), np.array([5.0]), 0.0, 0.0, even=0.0)
    assert (made.link, made.to_dict()["link"]) == (math.inf, None)
    assert made.outcomes(np.array([1.0]), np.array([10.0]))["clerical"] == 10
