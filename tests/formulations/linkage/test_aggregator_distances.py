"""Every aggregator as a distance: features, form and definition agree; forms that bound; identities."""

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
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.pair import make_pair

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)
sized = pytest.mark.parametrize("n", [1, 2, 4])


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
def test_parameters_survive_json(case, n):
    aggregator = case.make(n)
    c = random_distances(case, n + 10, 30, n)
    for theta in samples(aggregator, 20):
        parameters = json.loads(json.dumps(aggregator.decode(theta)))
        again, features = aggregator.encode(parameters), aggregator.features(c)
        np.testing.assert_allclose(features @ again, features @ theta, rtol=1e-9, atol=1e-12)
        assert aggregator.domain.rows.violation(again) <= 1e-9


@everywhere
@sized
def test_equal_parameters_are_the_euclidean_distance(case, n):
    aggregator = case.make(n)
    c = random_distances(case, n + 20, 30, n)
    squared = c**2 if case.name == "mahalanobis" else c
    np.testing.assert_allclose(aggregator.features(c) @ aggregator.equal(), squared.mean(axis=1), rtol=1e-12)


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

        def renamed(name):
            return ",".join(sorted(name.split(","), key=permuted.attributes.index))

        moved = {key: {renamed(one): v for one, v in table.items()} for key, table in parameters.items()}
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


# ---------------------------------------------------------------- special cases of the Choquet integral


@sized
def test_choquet_with_an_additive_measure_is_the_weighted_mean_and_a_diagonal_form(n):
    mean = make_aggregator("weighted-mean", NAMES[:n])
    form = make_aggregator("mahalanobis", NAMES[:n])
    z = np.random.default_rng(n).normal(size=(50, n))
    for weights in mean.domain.sample(20, np.random.default_rng(1)):
        expected = mean.features(z**2) @ weights
        np.testing.assert_allclose(form.features(z) @ form.lift(weights), expected, rtol=1e-12)
        for label in ("choquet", "2-additive", "3-additive"):
            aggregator = BY_LABEL[label].make(n)
            _, lift = aggregator.simpler()
            np.testing.assert_allclose(aggregator.features(z**2) @ lift(weights), expected, rtol=1e-9)


@pytest.mark.parametrize("label", ["2-additive", "3-additive"])
@sized
def test_k_additive_distances_are_choquet_distances_of_their_measure(label, n):
    aggregator, choquet = BY_LABEL[label].make(n), make_aggregator("choquet", NAMES[:n])
    c = random_distances(BY_LABEL[label], n, 50, n)
    for theta in samples(aggregator, 20):
        parameters = aggregator.decode(theta)
        whole = choquet.encode({"measure": parameters["measure"]})
        np.testing.assert_allclose(choquet.features(c) @ whole, aggregator.features(c) @ theta, atol=1e-9)
        assert choquet.domain.rows.violation(whole) <= 1e-9


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_options_of_an_aggregator_make_it_again(n):
    """Also where k is more than the attributes: `evaluate` reads the options that `fit` has written."""
    aggregator = make_aggregator("choquet", NAMES[:n], k_additive=3)
    again = make_aggregator("choquet", NAMES[:n], **aggregator.options)
    written = aggregator.decode(aggregator.domain.sample(1, np.random.default_rng(0))[0])
    assert again.decode(again.encode(written))["measure"] == pytest.approx(written["measure"], abs=1e-12)
    assert again.options == aggregator.options


def test_two_additive_integrals_of_many_attributes_need_no_table():
    names = tuple(f"V{k}" for k in range(14))
    aggregator = make_aggregator("choquet", names, k_additive=2)
    c = np.random.default_rng(0).exponential(size=(30, 14))
    for theta in aggregator.domain.sample(10, np.random.default_rng(1)):
        form = aggregator.form(theta)
        assert form.kind is FormKind.PAIRWISE
        parameters = aggregator.decode(theta)
        assert "measure" not in parameters
        moebius = {
            frozenset(names.index(name) for name in key.split(",")): value
            for key, value in parameters["moebius"].items()
        }
        expected = [plain.choquet_of_moebius(row, moebius) for row in c]
        np.testing.assert_allclose(form(c), expected, rtol=1e-9)
        np.testing.assert_allclose(aggregator.features(c) @ theta, expected, rtol=1e-9)
        monotone, raised = form.monotone()
        assert 0.0 <= raised <= 1e-14
        np.testing.assert_allclose(monotone(c), expected, rtol=1e-9)


# ---------------------------------------------------------------- attributes


@everywhere
@sized
def test_importance_sums_to_one_and_interaction_is_symmetric(case, n):
    aggregator = case.make(n)
    for theta in samples(aggregator, 10):
        importance = aggregator.importance(theta)
        if importance is None:
            assert aggregator.words.owners != "attributes"  # the weights are of something else
        else:
            assert list(importance) == list(NAMES[:n])
            assert sum(importance.values()) == pytest.approx(1.0)
        interaction = aggregator.interaction(theta)
        if interaction is not None:
            np.testing.assert_allclose(interaction, np.transpose(interaction), atol=1e-12)
            assert np.abs(interaction).max() <= 1.0 + 1e-9
            np.testing.assert_array_equal(np.diag(interaction), 0.0)


@pytest.mark.parametrize("label", ["2-additive", "3-additive"])
def test_k_additive_importance_and_interaction_are_those_of_the_measure(label):
    aggregator, choquet = BY_LABEL[label].make(4), make_aggregator("choquet", NAMES[:4])
    for theta in samples(aggregator, 10):
        whole = choquet.encode({"measure": aggregator.decode(theta)["measure"]})
        assert aggregator.importance(theta) == pytest.approx(choquet.importance(whole), abs=1e-9)
        np.testing.assert_allclose(aggregator.interaction(theta), choquet.interaction(whole), atol=1e-9)


MONOTONE = [kind for kind in FormKind if kind is not FormKind.QUADRATIC]


def parameters_of(kind, random, n, wrong):
    """Parameters of a monotone distance, and then moved by up to `wrong`."""
    if kind is FormKind.CHOQUET:
        p = random.random(1 << n)
        p[0] = 0.0
        for k in range(n):
            halves = p.reshape(-1, 2, 1 << k)
            np.maximum(halves[:, 0], halves[:, 1], out=halves[:, 1])
        p[1:] += wrong * random.normal(size=p.size - 1)
    elif kind is FormKind.PAIRWISE:
        p = np.triu(random.normal(size=(n, n)), 1)
        np.fill_diagonal(p, -np.minimum(p + p.T, 0.0).sum(axis=1))
        p += wrong * np.triu(random.normal(size=(n, n)))
    else:
        p = random.exponential(size=n) * random.integers(0, 2, size=n) + wrong * random.normal(size=n)
    return p


def distances_of_all_sizes(random, rows, n):
    c = random.exponential(size=(rows, n)) * 10.0 ** random.integers(-3, 4, size=(rows, 1))
    c[::3] = np.round(c[::3])
    c[::7, 0] = 0.0
    return c


@given(
    kind=st.sampled_from(MONOTONE),
    seed=st.integers(0, 10_000),
    n=st.integers(1, 5),
    wrong=st.sampled_from([0.0, 1e-17, 1e-12, 1e-3, 1.0]),
    differences=st.sampled_from([Differences.SQUARED, Differences.ABSOLUTE]),
)
def test_monotone_forms_are_no_lower_and_never_fall(kind, seed, n, wrong, differences):
    random = np.random.default_rng(seed)
    form = DistanceForm(kind, differences, parameters_of(kind, random, n, wrong))
    before = form.parameters.copy()
    monotone, raised = form.monotone()
    np.testing.assert_array_equal(form.parameters, before)
    assert (monotone.kind, monotone.differences) == (kind, differences)
    assert raised >= 0.0
    c = distances_of_all_sizes(random, 80, n)
    rounding = 1e-13 * (1.0 + np.abs(before).sum()) * c.max(axis=1)
    assert (monotone(c) >= form(c) - rounding).all()
    assert (monotone(c) <= form(c) + raised * c.max(axis=1) + rounding).all()
    # Along one attribute, along several, and up to where two of them meet.
    for larger in (
        c + np.eye(n)[random.integers(n, size=len(c))] * random.exponential(size=(len(c), 1)),
        c + random.exponential(size=c.shape) * random.integers(0, 2, size=c.shape),
        np.maximum(c, c[:, [random.integers(n)]]),
    ):
        rounding = 1e-13 * (1.0 + np.abs(before).sum()) * larger.max(axis=1)
        assert (monotone(c) <= monotone(larger) + rounding).all()
    assert monotone.monotone()[1] <= 1e-13 * (1.0 + np.abs(before).sum())


def test_what_is_not_monotone_is_raised_as_little_as_can_be():
    """By hand: of a measure the largest value of any subset, of minima what the diagonal lacks."""
    for kind, before, after, most in (
        (FormKind.CHOQUET, [0.0, 0.5, -0.25, 0.25], [0.0, 0.5, 0.0, 0.5], 0.25),
        (FormKind.PAIRWISE, [[0.25, -0.5], [0.0, 1.0]], [[0.5, -0.5], [0.0, 1.0]], 0.25),
        (FormKind.ORDERED_SUM, [-0.25, 0.5, -0.5], [0.0, 0.5, 0.0], 0.75),
    ):
        monotone, raised = DistanceForm(kind, Differences.SQUARED, np.array(before)).monotone()
        assert (monotone.parameters.tolist(), raised) == (after, most)


# ---------------------------------------------------------------- quadratic forms


def definite(random, n, rank, exponent, zeros):
    """A semidefinite matrix of a rank, with an eigenvalue near zero and attributes without weight."""
    basis = np.linalg.qr(random.normal(size=(n, n)))[0]
    values = np.where(np.arange(n) < rank, random.exponential(size=n), 0.0)
    values[0] *= 10.0**exponent
    scale = 10.0 ** random.integers(-4, 3, size=n)
    scale[:zeros] = 0.0
    return scale[:, None] * ((basis * values) @ basis.T) * scale


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 5),
    short=st.integers(0, 3),
    exponent=st.sampled_from([0, -6, -10, -12, -14, -18]),
    zeros=st.integers(0, 2),
    signed=st.booleans(),
)
def test_diagonal_forms_are_nowhere_above_quadratic_ones(seed, n, short, exponent, zeros, signed):
    random = np.random.default_rng(seed)
    matrix = definite(random, n, max(1, n - short), exponent, min(zeros, n))
    form = DistanceForm(FormKind.QUADRATIC, Differences.SIGNED if signed else Differences.ABSOLUTE, matrix)
    diagonal = form.diagonal()
    assert (diagonal.kind, diagonal.differences) == (FormKind.WEIGHTED_SUM, Differences.SQUARED)
    assert (diagonal.parameters >= 0.0).all()
    # Anywhere, and where the form is smallest for its diagonal.
    roots = np.sqrt(np.where(np.diag(matrix) > 0.0, np.diag(matrix), 1.0))
    vectors = np.linalg.eigh(matrix / np.outer(roots, roots))[1].T / roots
    c = np.vstack([distances_of_all_sizes(random, 40, n), vectors, 1e6 * vectors])
    c = c * random.choice([-1.0, 1.0], size=(len(c), 1)) if signed else np.abs(c)
    noise = form.noise * c**2 @ np.diag(matrix)
    assert (diagonal(c**2) <= form(c) + noise).all()


def test_singular_matrices_bound_nothing_and_definite_ones_by_their_smallest_share():
    for matrix, share in (
        ([[0.5, 0.5], [0.5, 0.5]], 0.0),
        ([[1.0, 0.5], [0.5, 1.0]], 0.5),
        ([[4.0, 1.0], [1.0, 1.0]], 0.5),
        ([[1.0, 1e-3], [1e-3, 0.0]], 0.0),  # not semidefinite: below zero somewhere
    ):
        form = DistanceForm(FormKind.QUADRATIC, Differences.SIGNED, np.array(matrix))
        expected = share * np.diag(matrix)
        np.testing.assert_allclose(form.diagonal().parameters, expected, rtol=1e-8, atol=1e-300)
