"""The distances that nobody has to learn: Euclid and the classical Mahalanobis distance."""

from __future__ import annotations

import brute_force as plain
import numpy as np
import pytest

from formulations.distances import Standardisation
from formulations.pair import Direction, Ties, make_pair
from solver.linkage.baselines import baselines, euclidean_form, mahalanobis_form
from solver.linkage.evaluator import Evaluator


def files(seed, n=30, attributes=3):
    random = np.random.default_rng(seed)
    original = random.normal(size=(n, attributes))
    mixing = random.normal(size=(attributes, attributes))
    return original, original + 0.6 * random.normal(size=(n, attributes)) @ mixing


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("seed", range(4))
def test_both_counts_are_those_of_their_definitions(direction, seed):
    original, masked = files(seed)
    pair = make_pair(original, masked, direction=direction)
    reference = plain.records(original, masked, direction.value)
    euclid = plain.outcome(reference, sum).linked
    # Eq. 2 with the covariance of the differences between partners: Var(X) + Var(Y) - 2 Cov(X, Y).
    x, y = plain.standardised(original), plain.standardised(masked)
    together = np.cov(x, y, rowvar=False)
    covariance = together[:3, :3] + together[3:, 3:] - together[:3, 3:] - together[3:, :3]
    inverse = np.linalg.inv(covariance)
    classical = plain.outcome(reference, plain.Bilinear(inverse), "signed").linked
    assert baselines(Evaluator(pair)) == {"euclid": sum(euclid), "mahalanobis": sum(classical)}
    assert all(isinstance(count, int) for count in baselines(Evaluator(pair)).values())


def test_the_classical_form_forgets_any_linear_change_of_attributes():
    original, masked = files(7)
    change = np.random.default_rng(1).normal(size=(3, 3))
    options = {"standardisation": Standardisation.NONE}
    first = make_pair(original, masked, **options)
    second = make_pair(original @ change, masked @ change, **options)
    counts = [Evaluator(pair).count(mahalanobis_form(pair)).tolist() for pair in (first, second)]
    assert counts[0] == counts[1]
    euclid = [Evaluator(pair).count(euclidean_form(pair)).tolist() for pair in (first, second)]
    assert euclid[0] != euclid[1]


def test_the_matrix_is_semidefinite_of_trace_one():
    pair = make_pair(*files(8))
    matrix = mahalanobis_form(pair).parameters
    assert np.trace(matrix) == pytest.approx(1.0)
    assert np.linalg.eigvalsh(matrix)[0] > 0.0


def test_collinear_attributes_take_the_pseudo_inverse():
    """The third attribute repeats the first two: their plane is all there is, and the count is theirs."""
    original, masked = files(9, attributes=2)
    change = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    options = {"standardisation": Standardisation.NONE}
    flat = make_pair(original, masked, **options)
    repeated = make_pair(original @ change, masked @ change, **options)
    counts = [Evaluator(pair).count(mahalanobis_form(pair)).tolist() for pair in (flat, repeated)]
    assert counts[0] == counts[1]


def test_unmasked_files_and_single_blocks_fall_back_to_euclid():
    original, masked = files(10)
    same = make_pair(original, original)
    assert baselines(Evaluator(same)) == {"euclid": 30, "mahalanobis": 30}
    single = make_pair(original, masked, np.array([3] + [-1] * 29))
    found = baselines(Evaluator(single))
    assert found["euclid"] == found["mahalanobis"]


def test_shared_ties_count_by_weight():
    original = np.array([[0.0, 0.0], [0.2, 0.1], [5.0, 1.0], [6.0, 3.0]])
    masked = np.array([[0.1, 0.05], [0.1, 0.05], [5.1, 1.1], [6.1, 2.9]])
    assert baselines(Evaluator(make_pair(original, masked)))["euclid"] == 2
    assert baselines(Evaluator(make_pair(original, masked, ties=Ties.SHARE)))["euclid"] == 3
    original[1] = [5.5, 2.0]  # now only one of the twins is found
    shared = baselines(Evaluator(make_pair(original, masked, ties=Ties.SHARE)))["euclid"]
    assert shared == 2.5
