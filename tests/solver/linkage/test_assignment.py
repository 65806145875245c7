"""One-to-one linkage against every permutation."""

from __future__ import annotations

from itertools import permutations

import brute_force as plain
import numpy as np
import pytest
from aggregator_cases import CASES, LABELS

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import Ties, make_pair
from linkrisk.solver.linkage import matching as assignment
from linkrisk.solver.linkage.matching import assigned_blocks, distance_matrix
from linkrisk.solver.run.errors import UsageError


def random_pair(seed, n=6, m=None, attributes=3):
    random = np.random.default_rng(seed)
    masked = random.normal(size=(m or n, attributes))
    original = masked[:n] + 0.9 * random.normal(size=(min(n, len(masked)), attributes))
    return make_pair(original, masked, np.arange(len(original)))


@pytest.mark.parametrize("case", CASES, ids=LABELS)
@pytest.mark.parametrize("seed", range(3))
def test_the_assignment_is_the_best_of_all_permutations(case, seed):
    pair = random_pair(seed)
    aggregator = case.make(3)
    theta = aggregator.domain.sample(1, np.random.default_rng(seed))[0]
    form = aggregator.form(theta)
    define = case.define(aggregator, aggregator.decode(theta))
    reference = plain.of_pair(pair)
    matrix = np.array(
        [[define(c) for c in reference.distances(block, aggregator.differences.value)] for block in range(6)]
    )
    np.testing.assert_allclose(distance_matrix(pair, form), matrix, rtol=1e-9, atol=1e-12)
    best = min(permutations(range(6)), key=lambda order: sum(matrix[i, j] for i, j in enumerate(order)))
    assert assigned_blocks(pair, form).sum() == sum(i == j for i, j in enumerate(best))


def test_more_candidates_than_blocks():
    pair = random_pair(4, 4, 6)
    aggregator = make_aggregator("weighted-mean", pair.attributes)
    form = aggregator.form(aggregator.equal())
    matrix = distance_matrix(pair, form)
    assert matrix.shape == (4, 6)
    best = min(permutations(range(6), 4), key=lambda order: sum(matrix[i, j] for i, j in enumerate(order)))
    assert assigned_blocks(pair, form).sum() == sum(i == j for i, j in enumerate(best))


def test_fewer_candidates_than_blocks_leave_some_without_a_link():
    original = np.array([[0.0], [1.0], [2.0]])
    masked = np.array([[0.1], [1.9]])
    pair = make_pair(original, masked, np.array([0, 1, 1]), standardisation=Standardisation.NONE)
    aggregator = make_aggregator("weighted-mean", ("A",))
    assert assigned_blocks(pair, aggregator.form(np.array([1.0]))).sum() == 2


def test_assignment_finds_what_nearest_neighbours_cannot():
    """Both are nearest to the same candidate; taken together each has its own."""
    original, masked = np.array([[0.0], [1.0]]), np.array([[0.9], [2.0]])
    pair = make_pair(original, masked, standardisation=Standardisation.NONE)
    form = make_aggregator("weighted-mean", ("A",)).form(np.array([1.0]))
    assert assigned_blocks(pair, form).sum() == 2
    assert plain.outcome(plain.Records(original, masked, [0, 1]), lambda c: c[0]).linked == [True, False]


def test_the_tie_rule_does_not_change_the_matrix():
    random = np.random.default_rng(0)
    original, masked = random.normal(size=(2, 8, 2))
    masked[3] = masked[2]
    pairs = [make_pair(original, masked, ties=ties) for ties in Ties]
    form = make_aggregator("weighted-mean", ("A", "B")).form(np.array([0.5, 0.5]))
    np.testing.assert_array_equal(*(distance_matrix(pair, form) for pair in pairs))


def test_a_matrix_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(assignment, "LARGEST_MATRIX", 1000)
    pair = random_pair(0, 40)
    form = make_aggregator("weighted-mean", pair.attributes).form(np.full(3, 1 / 3))
    with pytest.raises(UsageError) as error:
        assigned_blocks(pair, form).sum()
    assert str(error.value) == (
        "one-to-one assignment needs a matrix of 40 x 40 distances, more than the 1,000 that are allowed: "
        "take a sample, or leave one_to_one out"
    )
