"""Every aggregator's domain against its definition: points, corners, repair, chords; semidefinite cuts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from aggregator_cases import CASES, LABELS, NAMES, POLYTOPES, random_distances, samples
from scipy.optimize import linprog

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.tie_tolerance import Partners

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)
sized = pytest.mark.parametrize("n", [2, 3, 4])


def eigenvalues(aggregator, theta):
    return np.linalg.eigvalsh(np.array(aggregator.decode(theta)["matrix"]))


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


# ---------------------------------------------------------------- which points it holds


@everywhere
@sized
def test_the_domain_holds_samples_starts_equal_and_lifted_parameters(case, n):
    aggregator = case.make(n)
    partner = random_distances(case, n + 30, 25, n)
    points = np.vstack([samples(aggregator, 100), aggregator.starts(partner)])
    for theta in points:
        assert theta.shape == (aggregator.dimension,)
        assert aggregator.domain.rows.violation(theta) <= 1e-9
        if case.name == "mahalanobis":
            assert eigenvalues(aggregator, theta)[0] >= -1e-12
            assert len(aggregator.domain.cuts(theta)) == 0


@pytest.mark.parametrize("case", POLYTOPES, ids=[case.label for case in POLYTOPES])
@sized
def test_corners_of_the_domain_are_distances_of_the_family_and_the_other_way_round(case, n):
    """The best value of random linear goals is the same over the domain and over the textbook's polytope."""
    aggregator, family = case.make(n), case.family(n)
    c = random_distances(case, n + 40, 8, n)
    domain = aggregator.domain.rows
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


@everywhere
@sized
def test_rows_are_at_least_and_at_most_what_the_domain_makes_of_them(case, n):
    aggregator = case.make(n)
    partner = random_distances(case, n + 50, 24, n)
    rival = random_distances(case, n + 60, 24, n)
    rival[:4] = partner[:4]  # equal records
    rival[4:8] = partner[4:8] * 1.5  # farther on every attribute: nowhere negative
    squares = aggregator.tied_differences is not aggregator.differences
    partners = Partners(partner, (partner**2 if squares else partner) * 1.01)
    rows = aggregator.rows(partners, rival).toarray()
    most = [best(aggregator.domain.rows, row) for row in rows]
    least = [-best(aggregator.domain.rows, -row) for row in rows]
    np.testing.assert_allclose(aggregator.most(partners, rival), most, atol=1e-8)
    np.testing.assert_allclose(aggregator.least(partners, rival), least, atol=1e-8)


def test_starts_of_the_weighted_mean_undo_how_far_each_attribute_was_moved():
    aggregator = make_aggregator("weighted-mean", ("A", "B"))
    starts = aggregator.starts(np.array([[1.0, 4.0], [3.0, 12.0]]))
    np.testing.assert_allclose(starts[:2], [[0.5, 0.5], [0.8, 0.2]])


# ---------------------------------------------------------------- ways into it and through it


@everywhere
@sized
def test_repair_leads_into_the_domain_and_leaves_its_points_alone(case, n):
    aggregator = case.make(n)
    random = np.random.default_rng(n)
    for theta in samples(aggregator, 40):
        np.testing.assert_allclose(aggregator.domain.repair(theta), theta, atol=1e-12)
        for size in (1e-9, 1e-6, 0.3):
            mended = aggregator.domain.repair(theta + size * random.normal(size=theta.size))
            assert aggregator.domain.rows.violation(mended) <= 1e-9
            if case.name == "mahalanobis":
                assert eigenvalues(aggregator, mended)[0] >= -1e-15
        moved = theta + 1e-7 * random.normal(size=theta.size)
        assert np.abs(aggregator.domain.repair(moved) - theta).max() <= 1e-5


@everywhere
@sized
def test_a_chord_ends_on_the_border_of_the_domain(case, n):
    aggregator = case.make(n)
    points = samples(aggregator, 12, seed=5)

    def inside(theta):
        positive = case.name != "mahalanobis" or eigenvalues(aggregator, theta)[0] >= -1e-9
        return positive and aggregator.domain.rows.violation(theta) <= 1e-9

    for first, second in pairwise(points):
        direction = second - first
        if np.abs(direction).max() < 1e-6:
            continue
        low, high = aggregator.domain.chord(first, direction)
        assert low <= 1e-9
        assert high >= 1 - 1e-6
        for end, step in ((low, -1e-4), (high, 1e-4)):
            assert inside(first + end * direction)
            assert not inside(first + (end + step) * direction)


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
        cuts = aggregator.domain.cuts(theta)
        assert len(cuts) == int((np.linalg.eigvalsh(aggregator.domain.matrix(theta)) < -1e-9).sum())
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
