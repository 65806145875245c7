"""The linker `prl`: expectation maximisation, the rule of Fellegi and Sunter, scores, notes, bad input."""

from __future__ import annotations

import itertools
import json
import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linker_cases import closeness, compare, drawn_files, expected_counts, level, ordinal, task_of
from refusals import refusal

from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.solver.linkage.judging import judge
from linkrisk.solver.linkage.linker import Truth
from linkrisk.solver.linkage.matching import hungarian, score_matrix
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


def test_the_log_likelihood_is_that_of_the_model_and_starting_values_are_as_documented():
    counts = expected_counts(M, U, 0.02, missing=0.1)
    found = estimate(counts, LEVELS, EMSettings())
    match, other = (np.ones(len(counts.counts)) for _ in range(2))
    for k, (m, u) in enumerate(zip(found.m, found.u, strict=True)):
        match *= np.append(1.0, m)[counts.patterns[:, k]]
        other *= np.append(1.0, u)[counts.patterns[:, k]]
    total = counts.counts @ np.log(found.p * match + (1 - found.p) * other)
    assert found.log_posterior[-1] == pytest.approx(total, rel=1e-12)
    counts = expected_counts(M, U, 0.02)
    begun = estimate(counts, LEVELS, EMSettings(start_p=0.2, most_iterations=1))
    assert (begun.converged, begun.iterations) == (False, 1)
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
    for give, take in itertools.product(range(counts.size), repeat=2):
        step = 0.1 * max(theta[give] - BOUND, 0.0)
        moved = theta - step * (np.arange(counts.size) == give) + step * (np.arange(counts.size) == take)
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


PEOPLE = pd.DataFrame(
    {
        "name": ["anna", "bob", "martha", "dwayne", None, "robert", "anne", "hannah"],
        "town": ["york", "york", None, "cork", "york", "leeds", "leeds", "cork"],
        "age": [20.0, 31.0, 45.0, np.nan, 52.0, 33.5, 21.0, 70.0],
    }
)
CHANGED = pd.DataFrame(
    {
        "name": ["ana", "bob", "marhta", "duane", "rob", "robert", None, "hannah"],
        "town": ["york", "cork", "leeds", "cork", "york", None, "leeds", "cork"],
        "age": [21.0, 31.0, 44.0, 60.0, 50.0, 35.0, 21.0, np.nan],
    }
)
TASK = task_of(PEOPLE, CHANGED)
GRADED = Probabilistic(
    compare=compare("name=jaro-winkler:0.95,0.85..0.6", "age=within:1,3..6"), match_share=0.2
)
STEPPED = Probabilistic(compare=compare("name=jaro-winkler:0.95,0.85", "age=within:1,3"), match_share=0.2)
EVERY = np.arange(len(PEOPLE))


def score_by_definition(learned, query, candidate):
    """The sum of interpolated match weights, looked up in the JSON."""
    total = 0.0
    for row, how in zip(learned.parameters["attributes"], learned.files.comparisons, strict=True):
        a, b = query[row["attribute"]], candidate[row["attribute"]]
        if pd.isna(a) or pd.isna(b):
            continue
        weights = np.log2(np.array(row["m"]) / np.array(row["u"]))
        assert row["weights"] == pytest.approx(weights)
        if how.disagreement is None:
            total += weights[level(how, a, b) - 1]
            continue
        knots, heights, value = list(how.knots), list(weights[::-1]), closeness(how, a, b)
        sign = 1.0 if how.measure.value == "within" else -1.0
        total += np.interp(sign * value, sign * np.array(knots), heights)
    return total


@pytest.mark.parametrize("linker", [GRADED, STEPPED], ids=["interpolated", "levels"])
def test_scores_are_sums_of_match_weights(linker):
    learned = linker.learn(TASK)
    scores = learned.scores(EVERY)
    for i, query in PEOPLE.iterrows():
        expected = [score_by_definition(learned, query, candidate) for _, candidate in CHANGED.iterrows()]
        assert scores[i] == pytest.approx(expected, abs=1e-9)
    assert (learned.scores(np.array([3, 3, 0])) == scores[[3, 3, 0]]).all()


@settings(max_examples=40, deadline=None)
@given(st.floats(0.0, 12.0, allow_subnormal=False))
def test_interpolated_weights_at_their_ends_and_between(difference):
    queries = pd.DataFrame({"x": [0.0, 100.0, 200.0, 300.0]})
    candidates = pd.DataFrame({"x": [difference, 101.0, 203.0, 306.0]})
    linker = Probabilistic(compare=compare("x=within:2,4..8"), match_share=0.25)
    learned = linker.learn(task_of(queries, candidates))
    expected = np.interp(difference, (2, 4, 8), learned.level_weights[0][::-1])
    assert learned.scores(np.array([0]))[0, 0] == pytest.approx(expected, abs=1e-12)


def test_probabilities_are_bayes_rule():
    learned = STEPPED.learn(TASK)
    scores = np.array([-np.inf, -3.0, 0.0, learned.even, 40.0])
    found = learned.probabilities(scores)
    odds = 2.0 ** scores[1:] * learned.p / (1 - learned.p)
    assert found[0] == 0.0
    assert found[1:] == pytest.approx(odds / (1 + odds))
    assert found[3] == pytest.approx(0.5)


@pytest.mark.parametrize("linker", [GRADED, replace(STEPPED, blocking=("town",), prior=0.5)])
def test_parameters_that_went_through_json_score_alike(linker):
    learned = linker.learn(TASK)
    restored = Probabilistic.restored(json.loads(json.dumps(learned.parameters)), TASK)
    assert (restored.scores(EVERY) == learned.scores(EVERY)).all()
    assert restored.parameters == learned.parameters


def test_blocked_pairs_are_no_matches():
    learned = replace(STEPPED, blocking=("town", "age"), match_share=None).learn(TASK)
    scores = learned.scores(EVERY)
    assert np.isfinite(STEPPED.learn(TASK).scores(EVERY)).all()
    for (i, query), (j, candidate) in itertools.product(PEOPLE.iterrows(), CHANGED.iterrows()):
        equal = any(pd.notna(query[key]) and query[key] == candidate[key] for key in ("town", "age"))
        assert np.isfinite(scores[i, j]) == equal
    assert learned.parameters["compared_pairs"] == np.isfinite(scores).sum()
    assert (learned.probabilities(scores)[np.isinf(scores)] == 0.0).all()


def test_outcomes_count_every_pair_once():
    learned = replace(GRADED, blocking=("town",), false_link_rate=0.05, false_non_link_rate=0.05).learn(TASK)
    found = learned.parameters["thresholds"]
    scores = learned.scores(EVERY)
    link = math.inf if found["link"] is None else found["link"]
    assert found["linked"] == (scores >= link).sum()
    assert found["non_linked"] == (scores < found["non_link"]).sum()
    assert found["linked"] + found["clerical"] + found["non_linked"] == scores.size
    assert found["false_link_rate"] <= 0.05


def test_the_share_of_matches_of_a_bijection_is_known():
    task = replace(TASK, bijection=True)
    assert Probabilistic().learn(task).p == 1 / 8
    assert not Probabilistic().learn(task).parameters["p_estimated"]
    for linker in (Probabilistic(estimate_share=True), Probabilistic(blocking=("town",))):
        assert linker.learn(task).parameters["p_estimated"]
    assert Probabilistic(match_share=0.3).learn(task).p == 0.3
    assert Probabilistic().learn(TASK).parameters["p_estimated"]


def test_records_are_linked_that_share_no_value_but_are_near():
    first, second, _, _ = drawn_files(300, 5, (40, 50, 60, 70), (0.05, 0.05, 0.05, 0.05))
    learned = Probabilistic().learn(task_of(first, second + 0.2, bijection=True))
    truth = Truth.of(np.arange(300), 300)
    assert judge(learned, truth).count > 270
    shuffled = second.sample(frac=1.0, random_state=0)
    again = Probabilistic().learn(task_of(first, shuffled + 0.2, bijection=True))
    assert again.scores(np.arange(300)) == pytest.approx(learned.scores(np.arange(300))[:, shuffled.index])


def test_what_is_doubtful_is_said():
    first, second, _, _ = drawn_files(60, 5, (4, 5, 6), (0.3, 0.3, 0.3))
    equal = compare("x0=equal", "x1=equal", "x2=equal")

    def notes(files, **changes):
        found = Probabilistic(**{"compare": equal, **changes}).learn(task_of(*files))
        assert np.isfinite(found.scores(np.arange(60))).all()
        return found.notes

    def said(words, *asked, **changes):
        return sum(words in note for note in notes(*asked, **changes))

    known = {"match_share": 1 / 60}
    sure = pd.DataFrame({name: np.arange(60.0) for name in ("x0", "x1", "x2")})
    against = sure.assign(x2=sure["x2"] % 6), sure.assign(x2=(sure["x2"] + 1) % 6)
    classes = pd.DataFrame(np.repeat(np.arange(6.0), 10)[:, None] * np.ones((1, 4)), columns=list("0123"))
    many = compare(*(f"{name}=equal" for name in range(4)))
    assert said("EM did not converge in 2 iterations", (first, second), most_iterations=2)
    assert said(
        "the m-probability of 'x0' is at its bound 1e-09 at level 0", (sure, sure), prior=0.0, **known
    )
    assert notes((sure, sure), **known) == ()
    assert said("full agreement on 'x2' is not more likely among matches", against, **known)
    assert said("it is no evidence of a match", (sure, sure + 100), prior=0.0, tolerance=1e-12) == 3
    assert said("EM expects 600 matches for 60 records", (classes, classes), compare=many)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"compare": compare("a=equal", "a=within:2")}, "attribute 'a' has two comparisons"),
        ({"match_share": 0.0}, "the share of matches is 0; it must be between 0 and 1"),
        ({"match_share": 0.1, "estimate_share": True}, "both given and to be estimated"),
        ({"prior": -1.0}, "the prior is -1 pairs"),
        ({"tolerance": 0.0}, "the tolerance is 0; it must be positive"),
        ({"most_iterations": 0}, "EM needs at least one iteration, not 0"),
        ({"false_link_rate": 0.1}, "thresholds need both error rates"),
        ({"false_link_rate": 0.1, "false_non_link_rate": 1.5}, "an error rate is 1.5"),
    ],
)
def test_bad_settings_are_refused_in_one_line(setting, message):
    assert message in refusal(lambda: Probabilistic(**setting))


@pytest.mark.parametrize(
    ("linker", "task", "message"),
    [
        (Probabilistic(compare=compare("nam=equal")), TASK, "a comparison for 'nam', which is not among"),
        (Probabilistic(compare=compare("name=within:2")), TASK, "'name' is text and has no differences"),
        (Probabilistic(blocking=("zip",)), TASK, "blocking key 'zip' is not a column of the file of"),
        (
            Probabilistic(blocking=("town",)),
            task_of(PEOPLE, CHANGED.assign(town="paris")),
            "no pair of records is equal on town; block by others",
        ),
        (Probabilistic(), replace(TASK, candidate_attributes=("name",)), "compares attributes that both"),
        (
            Probabilistic(),
            replace(TASK, candidate_attributes=(), query_attributes=()),
            "needs at least one attribute",
        ),
        (Probabilistic(), task_of(PEOPLE, CHANGED.assign(age=np.nan)), "the file of candidates has no"),
        (Probabilistic(), task_of(PEOPLE.assign(age=np.inf), CHANGED), "attribute 'age' has an infinite"),
        (
            Probabilistic(compare=compare("town=within:1")),
            task_of(PEOPLE, CHANGED, scales=ordinal("town", "cork", "york")),
            "'town' has the value 'leeds', which is none of its categories",
        ),
    ],
)
def test_tasks_that_do_not_suit_are_refused_in_one_line(linker, task, message):
    assert message in refusal(lambda: linker.learn(task))


LEARNED = STEPPED.learn(TASK).parameters


def _changed(**entries):
    first, *others = LEARNED["attributes"]
    return LEARNED | {"attributes": [first | entries, *others]}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "not parameters of a probabilistic linker: 'attributes' is missing"),
        (LEARNED | {"p": 1.0}, "the share of matches p is 1; it must be between 0 and 1"),
        (LEARNED | {"attributes": LEARNED["attributes"][:2]}, "are those of attributes name, town, not of"),
        (_changed(m=[0.5, 0.5]), "attribute 'name' has 3 levels of agreement, but 2 m-probabilities"),
        (_changed(u=[0.5, 0.5, 0.5]), "the u-probabilities of attribute 'name' must be positive and sum to"),
        (_changed(comparison={"measure": "soundex"}), "not parameters of a probabilistic linker"),
        (
            _changed(comparison={"measure": "within", "thresholds": [2, 1], "disagreement": None}),
            "must be ascending differences",
        ),
    ],
)
def test_bad_parameters_are_refused_in_one_line(parameters, message):
    assert message in refusal(lambda: Probabilistic.restored(parameters, TASK))


def test_febrl4_is_linked_one_to_one():
    folder = Path(os.environ.get("LINKRISK_DATA", "nowhere"))
    if not (folder / "febrl4a.csv").exists():
        pytest.skip("needs public data: set LINKRISK_DATA to its folder")
    first, second = (read_table(folder / f"febrl4{letter}.csv") for letter in "ab")
    persons = [frame["rec_id"].str.split("-").str[1] for frame in (first, second)]
    partner = persons[0].map(pd.Series(second.index, index=persons[1]))
    names = [name for name in first.columns if name != "rec_id"]
    linker = Probabilistic(compare=compare(*(f"{name}=equal" for name in names)))
    learned = linker.learn(task_of(first[names], second[names]))
    matched = hungarian(score_matrix(learned, len(first), len(second)))
    assert (matched == partner).mean() >= 0.99
    assert learned.notes == ()
