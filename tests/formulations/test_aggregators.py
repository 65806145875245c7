"""Every aggregator against its definition: features, domain, form, decode, repair, floor, largest excess."""

from __future__ import annotations

import json
from itertools import pairwise

import brute_force as plain
import numpy as np
import pytest
from aggregator_cases import BY_LABEL, CASES, LABELS, NAMES, POLYTOPES, random_distances
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from formulations.aggregators import make_aggregator
from formulations.distances import Differences
from formulations.forms import FormKind

SIZES = (2, 3, 4)

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)
sized = pytest.mark.parametrize("n", SIZES)


def samples(aggregator, count=60, seed=0):
    """Random parameters, the equal ones, and those of the simpler aggregator."""
    random = np.random.default_rng(seed)
    points = [aggregator.sample(count, random), aggregator.equal()[None, :]]
    relative = aggregator.relative()
    if relative is not None:
        simpler, lift = relative
        lifted = [lift(theta) for theta in np.vstack([simpler.sample(20, random), np.eye(simpler.dimension)])]
        points.append(np.array(lifted))
    return np.vstack(points)


def eigenvalues(aggregator, theta):
    return np.linalg.eigvalsh(np.array(aggregator.decode(theta)["matrix"]))


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
        assert aggregator.domain().violation(again) <= 1e-9


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
    assert aggregator.domain().violation(theta) == 0.0


# ---------------------------------------------------------------- the domain


@everywhere
@sized
def test_the_domain_holds_samples_starts_equal_and_lifted_parameters(case, n):
    aggregator = case.make(n)
    partner = random_distances(case, n + 30, 25, n)
    points = np.vstack([samples(aggregator, 100), aggregator.starts(partner)])
    for theta in points:
        assert theta.shape == (aggregator.dimension,)
        assert aggregator.domain().violation(theta) <= 1e-9
        if case.name == "mahalanobis":
            assert eigenvalues(aggregator, theta)[0] >= -1e-12
            assert len(aggregator.cuts(theta)) == 0


@everywhere
@sized
def test_the_domain_is_that_of_the_definition(case, n):
    aggregator = case.make(n)
    for theta in samples(aggregator, 40):
        parameters = aggregator.decode(theta)
        if case.name == "choquet":
            measure = parameters["measure"]
            assert measure[",".join(NAMES[:n])] == pytest.approx(1.0, abs=1e-9)
            sets = {frozenset(key.split(",")): value for key, value in measure.items()}
            assert all(sets[a] <= sets[b] + 1e-9 for a in sets for b in sets if a < b)
            assert len(sets) == 2**n - 1
        elif case.name != "mahalanobis":
            weights = list(parameters["weights"].values())
            assert min(weights) >= 0.0
            assert sum(weights) == pytest.approx(1.0)


@pytest.mark.parametrize("case", POLYTOPES, ids=[case.label for case in POLYTOPES])
@sized
def test_corners_of_the_domain_are_distances_of_the_family_and_the_other_way_round(case, n):
    """The best value of random linear goals is the same over the domain and over the textbook's polytope."""
    aggregator, family = case.make(n), case.family(n)
    c = random_distances(case, n + 40, 8, n)
    domain = aggregator.domain()
    features = aggregator.features(c).toarray()
    textbook = np.array([family.features(row) for row in c])
    for goal in np.random.default_rng(n).normal(size=(6, 8)):
        ours = best(domain, goal @ features)
        theirs = linprog(
            -(goal @ textbook),
            A_ub=family.upper,
            b_ub=family.limit,
            A_eq=family.equal,
            b_eq=family.value,
            bounds=(None, None),
        )
        assert ours == pytest.approx(-theirs.fun, abs=1e-8)


def best(domain, goal):
    """The largest value of ``goal @ theta`` over the domain, by a linear program of its own."""
    matrix = domain.matrix.toarray()
    fixed = domain.row_lower == domain.row_upper
    sides = [(matrix[~fixed], domain.row_upper[~fixed]), (-matrix[~fixed], -domain.row_lower[~fixed])]
    finite = [(a[np.isfinite(b)], b[np.isfinite(b)]) for a, b in sides]
    answer = linprog(
        -goal,
        A_ub=np.vstack([a for a, _ in finite]),
        b_ub=np.concatenate([b for _, b in finite]),
        A_eq=matrix[fixed] if fixed.any() else None,
        b_eq=domain.row_lower[fixed] if fixed.any() else None,
        bounds=list(zip(domain.column_lower, domain.column_upper, strict=True)),
    )
    assert answer.status == 0
    return -answer.fun


@everywhere
@sized
def test_largest_excess_is_the_maximum_over_the_domain(case, n):
    aggregator = case.make(n)
    partner = random_distances(case, n + 50, 24, n)
    rival = random_distances(case, n + 60, 24, n)
    rival[:4] = partner[:4]  # equal records
    rival[4:8] = partner[4:8] * 1.5  # farther on every attribute: the excess is negative
    excess = aggregator.largest_excess(partner, rival)
    rows = (aggregator.features(partner) - aggregator.features(rival)).toarray()
    exact = [best(aggregator.domain(), row) for row in rows]
    np.testing.assert_allclose(excess, exact, atol=1e-8)


@everywhere
@sized
def test_ties_are_a_little_less_than_the_plain_ones_and_their_unit_is_one(case, n):
    aggregator = case.make(n)
    partner, rival = random_distances(case, n + 70, 12, n), random_distances(case, n + 71, 12, n)
    ties = aggregator.tie(partner, rival)
    ones = aggregator.features(np.ones((1, n)))
    for theta in samples(aggregator, 10):
        assert aggregator.unit @ theta == pytest.approx(1.0)
        assert aggregator.form(theta).unit == pytest.approx(1.0)
        if case.name != "mahalanobis":
            assert (ones @ theta)[0] == pytest.approx(1.0)
        distance = case.define(aggregator, aggregator.decode(theta))
        expected = [plain.tie(distance, list(p), list(r)) for p, r in zip(partner, rival, strict=True)]
        assert (ties <= np.multiply(0.901, expected)).all()
        assert (ties >= np.multiply(0.5, expected)).all()


@everywhere
def test_domain_rows_have_a_name_each(case):
    domain = case.make(3).domain()
    assert len(domain.row_names) == domain.matrix.shape[0] == len(domain.row_lower) == len(domain.row_upper)
    assert len(set(domain.row_names)) == len(domain.row_names)
    names = case.make(3).parameter_names
    assert len(set(names)) == len(names) == case.make(3).dimension
    assert not any("," in name or " " in name for name in (*names, *domain.row_names))


# ---------------------------------------------------------------- repair


@everywhere
@sized
def test_repair_leads_into_the_domain_and_leaves_its_points_alone(case, n):
    aggregator = case.make(n)
    random = np.random.default_rng(n)
    for theta in samples(aggregator, 40):
        np.testing.assert_allclose(aggregator.repair(theta), theta, atol=1e-12)
        for size in (1e-9, 1e-6, 0.3):
            mended = aggregator.repair(theta + size * random.normal(size=theta.size))
            assert aggregator.domain().violation(mended) <= 1e-9
            if case.name == "mahalanobis":
                assert eigenvalues(aggregator, mended)[0] >= -1e-15
        moved = theta + 1e-7 * random.normal(size=theta.size)
        assert np.abs(aggregator.repair(moved) - theta).max() <= 1e-5


@everywhere
def test_repair_of_nothing_is_a_point_of_the_domain(case):
    aggregator = case.make(3)
    assert aggregator.domain().violation(aggregator.repair(np.zeros(aggregator.dimension))) <= 1e-9


# ---------------------------------------------------------------- what the evaluator and the rows rely on


@everywhere
@sized
def test_the_floor_bounds_the_distance_from_below(case, n):
    aggregator = case.make(n)
    c = random_distances(case, n + 70, 60, n)
    size = c**2 if case.name == "mahalanobis" else c
    for theta in samples(aggregator, 30):
        form = aggregator.form(theta)
        assert form.floor.shape == (n,)
        assert (form.floor >= 0.0).all()
        assert (form(c)[:, None] >= form.floor * size * (1 - 1e-9) - 1e-12).all()


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


# ---------------------------------------------------------------- identities between aggregators


@sized
def test_choquet_with_an_additive_measure_is_the_weighted_mean_and_a_diagonal_form(n):
    mean = make_aggregator("weighted-mean", NAMES[:n])
    form = make_aggregator("mahalanobis", NAMES[:n])
    z = np.random.default_rng(n).normal(size=(50, n))
    for weights in mean.sample(20, np.random.default_rng(1)):
        expected = mean.features(z**2) @ weights
        np.testing.assert_allclose(form.features(z) @ form.lift(weights), expected, rtol=1e-12)
        for label in ("choquet", "2-additive", "3-additive"):
            aggregator = BY_LABEL[label].make(n)
            _, lift = aggregator.relative()
            np.testing.assert_allclose(aggregator.features(z**2) @ lift(weights), expected, rtol=1e-9)


@sized
def test_owa_is_the_choquet_integral_of_a_symmetric_measure(n):
    owa, choquet = make_aggregator("owa", NAMES[:n]), make_aggregator("choquet", NAMES[:n])
    c = random_distances(BY_LABEL["owa"], n, 50, n)
    for weights in owa.sample(20, np.random.default_rng(2)):
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
        assert choquet.domain().violation(whole) <= 1e-9


@pytest.mark.parametrize("n", [3, 4])
def test_n_additive_measures_are_all_measures(n):
    choquet = make_aggregator("choquet", NAMES[:n])
    aggregator = make_aggregator("choquet", NAMES[:n], k_additive=n)
    assert aggregator.dimension == choquet.dimension
    c = random_distances(BY_LABEL["choquet"], n, 50, n)
    for theta in choquet.sample(20, np.random.default_rng(3)):
        measure = {a: theta[sum(1 << k for k in a) - 1] for a in plain.subsets(n)}
        moebius = {
            ",".join(NAMES[k] for k in sorted(a)): sum(
                (-1) ** (len(a) - len(b)) * value for b, value in measure.items() if b <= a
            )
            for a in plain.subsets(n)
        }
        again = aggregator.encode({"moebius": moebius})
        assert aggregator.domain().violation(again) <= 1e-9
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
    written = aggregator.decode(aggregator.sample(1, np.random.default_rng(0))[0])
    assert again.decode(again.encode(written))["measure"] == pytest.approx(written["measure"], abs=1e-12)
    assert again.options == aggregator.options


def test_two_additive_integrals_of_many_attributes_need_no_table():
    names = tuple(f"V{k}" for k in range(14))
    aggregator = make_aggregator("choquet", names, k_additive=2)
    c = np.random.default_rng(0).exponential(size=(30, 14))
    for theta in aggregator.sample(10, np.random.default_rng(1)):
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
        assert (form(c)[:, None] >= form.floor * c * (1 - 1e-9)).all()


# ---------------------------------------------------------------- attributes


@everywhere
@sized
def test_importance_sums_to_one_and_interaction_is_symmetric(case, n):
    aggregator = case.make(n)
    for theta in samples(aggregator, 10):
        importance = aggregator.importance(theta)
        if case.name == "owa":
            assert importance is None
        else:
            assert list(importance) == list(NAMES[:n])
            assert sum(importance.values()) == pytest.approx(1.0)
        interaction = aggregator.interaction(theta)
        assert (interaction is None) == (case.name != "choquet")
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


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.sampled_from(LABELS), st.integers(0, 10_000), st.permutations(range(3)))
def test_attributes_can_be_permuted_with_their_parameters(label, seed, order):
    case = BY_LABEL[label]
    aggregator = case.make(3)
    permuted = make_aggregator(case.name, tuple(NAMES[k] for k in order), **case.options)
    c = random_distances(case, seed, 6, 3)
    theta = aggregator.sample(1, np.random.default_rng(seed))[0]
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


# ---------------------------------------------------------------- the semidefinite cone


@sized
def test_cuts_separate_what_is_not_semidefinite_and_nothing_else(n):
    aggregator = make_aggregator("mahalanobis", NAMES[:n])
    random = np.random.default_rng(n)
    inside = samples(aggregator, 60)
    separated = 0
    for _ in range(60):
        matrix = random.normal(size=(n, n))
        matrix = matrix + matrix.T
        theta = matrix[np.triu_indices(n)] / max(abs(np.trace(matrix)), 0.1)
        cuts = aggregator.cuts(theta)
        assert len(cuts) == int((np.linalg.eigvalsh(aggregator.matrix(theta)) < -1e-9).sum())
        separated += len(cuts) > 0
        assert (cuts @ theta < 0.0).all()
        assert (inside @ cuts.T >= -1e-12).all()
    assert separated > 20


def test_data_rows_are_non_negative_for_semidefinite_forms_only():
    aggregator = make_aggregator("mahalanobis", ("A", "B"))
    partner = np.array([[1.0, 1.0], [1.0, -2.0]])
    rows = aggregator.data_rows(partner)
    assert (rows @ samples(aggregator, 30).T >= -1e-12).all()
    indefinite = np.array([0.5, -0.6, 0.5])
    assert (rows @ indefinite).min() < 0.0
    for case in POLYTOPES:
        assert case.make(2).data_rows(partner) is None


@pytest.mark.parametrize("case", POLYTOPES, ids=[case.label for case in POLYTOPES])
def test_polytopes_need_no_cuts(case):
    aggregator = case.make(3)
    assert aggregator.cuts(aggregator.equal()).shape == (0, aggregator.dimension)


def test_starts_of_the_weighted_mean_undo_how_far_each_attribute_was_moved():
    aggregator = make_aggregator("weighted-mean", ("A", "B"))
    starts = aggregator.starts(np.array([[1.0, 4.0], [3.0, 12.0]]))
    np.testing.assert_allclose(starts[:2], [[0.5, 0.5], [0.8, 0.2]])


def test_the_default_differences_are_those_of_the_paper():
    for case in CASES[:5]:
        assert case.make(2).differences is Differences.SQUARED
    assert make_aggregator("mahalanobis", ("A", "B")).differences is Differences.SIGNED


@everywhere
@sized
def test_a_chord_ends_on_the_border_of_the_domain(case, n):
    """Both ends lie in the domain and no step beyond them does (for the bilinear form, in the true cone)."""
    aggregator = case.make(n)
    points = samples(aggregator, 12, seed=5)

    def inside(theta):
        positive = case.name != "mahalanobis" or eigenvalues(aggregator, theta)[0] >= -1e-9
        return positive and aggregator.domain().violation(theta) <= 1e-9

    for first, second in pairwise(points):
        direction = second - first
        if np.abs(direction).max() < 1e-6:
            continue
        low, high = aggregator.chord(first, direction)
        assert low <= 1e-9
        assert high >= 1 - 1e-6
        for end, step in ((low, -1e-4), (high, 1e-4)):
            assert inside(first + end * direction)
            assert not inside(first + (end + step) * direction)
