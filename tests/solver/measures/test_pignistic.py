"""Definition 3 of paper 004: against belief functions on all subsets, and cases that are known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from linkrisk.solver.measures.posteriors import TOLERANCE, compatible


def missed_by_belief_functions(true, claimed):
    """By how much no mass on the subsets with ``Bel <= P`` has P' as its pignistic probability.

    The definition as it stands: a mass for each of the 2^n - 1 subsets, and as many inequalities.
    """
    n = len(true)
    subsets = [set(each) for k in range(1, n + 1) for each in itertools.combinations(range(n), k)]
    inside = np.array([[float(one <= other) for one in subsets] for other in subsets])
    pignistic = np.array([[(i in one) / len(one) for one in subsets] for i in range(n)])
    none = np.zeros((len(subsets), 2 * n))
    found = linprog(
        np.concatenate([np.zeros(len(subsets)), np.full(2 * n, 0.5)]),
        A_ub=np.hstack([inside, none]),
        b_ub=[sum(true[i] for i in one) for one in subsets],
        A_eq=np.vstack(
            [
                np.hstack([pignistic, np.eye(n), -np.eye(n)]),
                np.concatenate([np.ones(len(subsets)), np.zeros(2 * n)]),
            ]
        ),
        b_eq=[*claimed, 1.0],
    )
    return found.fun


def tenths(n, whole):
    """Probabilities of n candidates in parts of `whole`: ties and zeros are common."""
    return st.lists(st.integers(0, whole), min_size=n - 1, max_size=n - 1).map(
        lambda cuts: np.diff([0, *sorted(cuts), whole]) / whole
    )


@settings(max_examples=60)
@given(tenths(3, 12), tenths(3, 12))
def test_three_records_as_by_all_belief_functions(true, claimed):
    assert compatible(true, claimed) == (missed_by_belief_functions(true, claimed) <= TOLERANCE)


@settings(max_examples=25)
@given(st.integers(4, 5).flatmap(lambda n: st.tuples(tenths(n, 30), tenths(n, 30))))
def test_more_records_too(both):
    assert compatible(*both) == (missed_by_belief_functions(*both) <= TOLERANCE)


def test_what_is_quick_to_see_is_right_and_not_all():
    """Some need the linear program, and both its answers come up."""
    random, left = np.random.default_rng(0), set()
    for _ in range(70):
        true, claimed = random.dirichlet(np.ones(5)), random.dirichlet(np.ones(5))
        expected = missed_by_belief_functions(true, claimed) <= TOLERANCE
        quick = compatible(true, claimed, 0)
        assert quick in (None, expected)
        assert compatible(true, claimed) == expected
        if quick is None:
            left.add(expected)
    assert left == {True, False}


@given(st.integers(2, 8), st.integers(0, 2**32))
def test_a_certain_truth_has_the_largest_probability(n, seed):
    random = np.random.default_rng(seed)
    claimed = random.dirichlet(np.ones(n))
    for at in range(n):
        true = np.zeros(n)
        true[at] = 1.0
        assert compatible(true, claimed, 0) is bool(claimed[at] >= claimed.max())


@given(st.integers(1, 7), st.integers(0, 2**32))
def test_what_is_always_compatible(n, seed):
    true, other = np.random.default_rng(seed).dirichlet(np.ones(n), size=2)
    assert compatible(true, true, 0)
    assert compatible(true, np.full(n, 1.0 / n), 0), "whoever knows nothing is not wrong"
    assert compatible(true, 0.7 * true + 0.3 / n)
    assert compatible(np.full(n, 1.0 / n), np.full(n, 1.0 / n) if n == 1 else other) in (True, False)


@pytest.mark.parametrize(("outsider", "answer"), [(0.39, True), (0.4, True), (0.41, False)])
def test_twins_together_weigh_as_much_as_any_other_candidate(outsider, answer):
    """Four equal masked records with 0.1 each may all be the true one: no other may have more than 0.4."""
    others = np.array([outsider, (0.6 - outsider) / 2, (0.6 - outsider) / 2])
    claimed = np.concatenate([np.full(4, 0.1), others])
    true = np.concatenate([np.full(4, 0.25), np.zeros(3)])
    assert compatible(true, claimed, 0) is answer


def test_many_candidates_with_few_different_probabilities_are_few_classes():
    random = np.random.default_rng(4)
    true, claimed = (np.repeat(random.dirichlet(np.ones(6)), 40) / 40 for _ in range(2))
    answer = compatible(true, claimed)
    small = missed_by_classes(true, claimed)
    assert answer == (small <= TOLERANCE)


def missed_by_classes(true, claimed):
    """The coupling of all 240 candidates in sixes: five members of each class stand for forty."""
    pick = np.concatenate([np.arange(5) + 40 * k for k in range(6)])
    return 0.0 if compatible(true[pick] * 8, claimed[pick] * 8) else 1.0
