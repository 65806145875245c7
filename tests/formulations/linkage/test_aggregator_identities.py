"""Identities between aggregators: additive, symmetric and k-additive measures; what attributes contribute."""

from __future__ import annotations

import brute_force as plain
import numpy as np
import pytest
from aggregator_cases import BY_LABEL, CASES, LABELS, NAMES, random_distances, samples

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.forms import FormKind

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)
sized = pytest.mark.parametrize("n", [2, 3, 4])


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


@sized
def test_owa_is_the_choquet_integral_of_a_symmetric_measure(n):
    owa, choquet = make_aggregator("owa", NAMES[:n]), make_aggregator("choquet", NAMES[:n])
    c = random_distances(BY_LABEL["owa"], n, 50, n)
    for weights in owa.domain.sample(20, np.random.default_rng(2)):
        table = {
            ",".join(NAMES[k] for k in sorted(a)): float(weights[: len(a)].sum()) for a in plain.subsets(n)
        }
        theta = choquet.encode({"measure": table})
        np.testing.assert_allclose(choquet.features(c) @ theta, owa.features(c) @ weights, rtol=1e-9)


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


@pytest.mark.parametrize("n", [3, 4])
def test_n_additive_measures_are_all_measures(n):
    choquet = make_aggregator("choquet", NAMES[:n])
    aggregator = make_aggregator("choquet", NAMES[:n], k_additive=n)
    assert aggregator.dimension == choquet.dimension
    c = random_distances(BY_LABEL["choquet"], n, 50, n)
    for theta in choquet.domain.sample(20, np.random.default_rng(3)):
        measure = {a: theta[sum(1 << k for k in a) - 1] for a in plain.subsets(n)}
        moebius = {
            ",".join(NAMES[k] for k in sorted(a)): sum(
                (-1) ** (len(a) - len(b)) * value for b, value in measure.items() if b <= a
            )
            for a in plain.subsets(n)
        }
        again = aggregator.encode({"moebius": moebius})
        assert aggregator.domain.rows.violation(again) <= 1e-9
        np.testing.assert_allclose(aggregator.features(c) @ again, choquet.features(c) @ theta, atol=1e-9)


def test_more_additivity_than_attributes_is_no_more_than_all_measures():
    aggregator = make_aggregator("choquet", ("A", "B", "C"), k_additive=9)
    assert aggregator.dimension == 7
    assert aggregator.options == {"k_additive": 3}


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


def test_what_has_importances_and_interactions():
    having = {case.label for case in CASES if case.make(3).importance(case.make(3).equal()) is not None}
    assert having >= {"weighted-mean", "choquet", "2-additive", "3-additive", "mahalanobis"}
    assert "owa" not in having
    interacting = {case.label for case in CASES if case.make(3).interaction(case.make(3).equal()) is not None}
    assert interacting >= {"choquet", "2-additive", "3-additive"}
    assert not interacting & {"weighted-mean", "owa", "mahalanobis"}


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
