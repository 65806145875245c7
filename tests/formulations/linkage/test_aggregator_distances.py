"""Every aggregator as a distance: features, form and definition agree; how it grows, ties and is bounded."""

from __future__ import annotations

import json

import brute_force as plain
import numpy as np
import pytest
from aggregator_cases import BY_LABEL, CASES, LABELS, NAMES, POLYTOPES, SYMMETRIC, random_distances, samples
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.distances import Differences, Standardisation
from linkrisk.formulations.linkage.forms import FormKind
from linkrisk.formulations.linkage.pair import make_pair

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)
sized = pytest.mark.parametrize("n", [2, 3, 4])


# ---------------------------------------------------------------- one distance, four ways


@everywhere
@sized
def test_features_form_and_definition_give_the_same_distance(case, n):
    aggregator = case.make(n)
    c = random_distances(case, n, 40, n)
    features = aggregator.features(c)
    assert features.shape == (40, aggregator.dimension)
    for theta in samples(aggregator, 15):
        define = case.define(aggregator, aggregator.decode(theta))
        expected = [define(row) for row in c]
        np.testing.assert_allclose(features @ theta, expected, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(aggregator.form(theta)(c), expected, rtol=1e-9, atol=1e-11)


@everywhere
@sized
def test_forms_broadcast_over_leading_axes(case, n):
    aggregator = case.make(n)
    c = random_distances(case, 7, 12, n)
    form = aggregator.form(samples(aggregator, 1)[0])
    np.testing.assert_array_equal(form(c.reshape(3, 4, n)), form(c).reshape(3, 4))


@everywhere
@sized
def test_parameters_survive_json(case, n):
    aggregator = case.make(n)
    c = random_distances(case, n + 10, 30, n)
    for theta in samples(aggregator, 20):
        parameters = json.loads(json.dumps(aggregator.decode(theta)))
        again = aggregator.encode(parameters)
        np.testing.assert_allclose(
            aggregator.features(c) @ again, aggregator.features(c) @ theta, rtol=1e-9, atol=1e-12
        )
        assert aggregator.domain.rows.violation(again) <= 1e-9


@everywhere
@sized
def test_equal_parameters_are_the_euclidean_distance(case, n):
    aggregator = case.make(n)
    c = random_distances(case, n + 20, 30, n)
    squared = c**2 if case.name == "mahalanobis" else c
    np.testing.assert_allclose(aggregator.features(c) @ aggregator.equal(), squared.mean(axis=1), rtol=1e-12)


@everywhere
def test_one_attribute_is_the_distance_itself(case):
    aggregator = case.make(1)
    c = np.abs(random_distances(case, 1, 10, 1))
    expected = c[:, 0] ** 2 if case.name == "mahalanobis" else c[:, 0]
    theta = aggregator.equal()
    np.testing.assert_allclose(aggregator.features(c) @ theta, expected, rtol=1e-15)
    np.testing.assert_allclose(aggregator.form(theta)(c), expected, rtol=1e-15)
    assert aggregator.domain.rows.violation(theta) == 0.0


def test_the_default_differences_are_those_of_the_paper():
    for case in CASES[:5]:
        assert case.make(2).differences is Differences.SQUARED
    assert make_aggregator("mahalanobis", ("A", "B")).differences is Differences.SIGNED


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.sampled_from(SYMMETRIC), st.integers(0, 10_000), st.permutations(range(3)))
def test_attributes_can_be_permuted_with_their_parameters(label, seed, order):
    case = BY_LABEL[label]
    aggregator = case.make(3)
    permuted = make_aggregator(case.name, tuple(NAMES[k] for k in order), **case.options)
    c = random_distances(case, seed, 6, 3)
    theta = aggregator.domain.sample(1, np.random.default_rng(seed))[0]
    parameters = aggregator.decode(theta)
    if case.name == "mahalanobis":
        moved = {"matrix": np.array(parameters["matrix"])[np.ix_(order, order)].tolist()}
    elif case.name == "choquet":
        moved = {
            key: {
                ",".join(sorted(name.split(","), key=permuted.attributes.index)): v
                for name, v in table.items()
            }
            for key, table in parameters.items()
        }
    else:
        moved = parameters
    again = permuted.features(c[:, order]) @ permuted.encode(moved)
    np.testing.assert_allclose(again, aggregator.features(c) @ theta, rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------- what the evaluator and the rows rely on


@everywhere
@sized
def test_rows_are_the_plain_difference_less_nine_tenths_of_the_plain_tie(case, n):
    random = np.random.default_rng(n)
    original = np.round(random.normal(size=(8, n)), 1)
    pair = make_pair(original, original + random.normal(size=(8, n)), standardisation=Standardisation.NONE)
    files, aggregator = plain.of_pair(pair), case.make(n)
    kind, partners = aggregator.differences, aggregator.partners(pair)
    for theta in samples(aggregator, 4):
        distance = case.define(aggregator, aggregator.decode(theta))
        for block in range(pair.blocks):
            c = np.array(files.distances(block, kind.value))
            rows = aggregator.rows(partners[[block] * len(c)], c)
            farther = aggregator.features(c) - aggregator.features(partners.distances[[block]])[[0] * len(c)]
            ties = (farther - rows) @ theta
            expected = [plain.slack(files, block, distance, kind.value, other) for other in c]
            assert (ties <= np.multiply(0.91, expected)).all()
            assert (ties >= np.multiply(0.5, expected)).all()


@everywhere
@sized
def test_forms_have_a_monotone_distance_beside_them(case, n):
    """What the evaluator bounds distances by: the same but for rounding, or a diagonal form below."""
    aggregator = case.make(n)
    c = random_distances(case, n + 70, 60, n)
    for theta in samples(aggregator, 30):
        form = aggregator.form(theta)
        if form.kind is FormKind.QUADRATIC:
            below = form.diagonal()
            assert (below.kind, below.differences) == (FormKind.WEIGHTED_SUM, Differences.SQUARED)
            assert (below.parameters >= 0.0).all()
            assert (form(c) >= below(c**2) - form.noise * c**2 @ np.diag(form.parameters)).all()
            with pytest.raises(ValueError, match="quadratic"):
                form.monotone()
        else:
            monotone, raised = form.monotone()
            assert 0.0 <= raised <= 1e-14
            assert (monotone.kind, monotone.differences) == (form.kind, form.differences)
            np.testing.assert_allclose(monotone(c), form(c), rtol=0.0, atol=1e-14 * c.max())


@pytest.mark.parametrize("case", POLYTOPES, ids=[case.label for case in POLYTOPES])
@sized
def test_monotone_aggregators_never_fall_when_a_distance_grows(case, n):
    aggregator = case.make(n)
    assert aggregator.monotone
    random = np.random.default_rng(n)
    c = random_distances(case, n + 80, 60, n)
    larger = c + random.exponential(size=c.shape) * random.integers(0, 2, size=c.shape)
    assert (aggregator.comparable(c) <= aggregator.comparable(larger)).all()
    for theta in samples(aggregator, 30):
        form = aggregator.form(theta)
        assert (form(c) <= form(larger) + 1e-12).all()


def test_the_bilinear_form_is_not_monotone():
    aggregator = make_aggregator("mahalanobis", ("A", "B"))
    assert not aggregator.monotone
    form = aggregator.form(aggregator.encode({"matrix": [[0.5, -0.45], [-0.45, 0.5]]}))
    assert form(np.array([1.0, 1.0])) < form(np.array([1.0, 0.5]))


def test_comparable_owa_distances_are_in_descending_order():
    aggregator = make_aggregator("owa", ("A", "B", "C"))
    assert aggregator.comparable(np.array([[1.0, 3.0, 2.0]])).tolist() == [[3.0, 2.0, 1.0]]
