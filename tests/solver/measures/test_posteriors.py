"""Posteriors by Bayes' theorem, over matchings, and compatible probabilities."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.measures import reidentification
from linkrisk.solver.measures.posteriors import (
    TOLERANCE,
    calibrated,
    compatible,
    one_record_posterior,
    right_claims,
)
from linkrisk.solver.measures.reidentification import Queries, exact_marginals, matching_limit
from linkrisk.solver.run.clock import Clock


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    for name, sweeps in (("BURNING", 200), ("CHOOSING", 500), ("COUNTING", 1200)):
        monkeypatch.setattr(reidentification, name, sweeps)


def enumerated(logs):
    """Marginals by all injections of the masked records into the originals, shape of `logs`."""
    n, m = logs.shape
    weights = np.exp(logs)
    total, found = 0.0, np.zeros((n, m))
    for rows in itertools.permutations(range(n), m):
        weight = weights[rows, range(m)].prod()
        total += weight
        found[rows, range(m)] += weight
    return found / total


def queries_of(n, masked=False, weight=None):
    return Queries(np.arange(n), masked, np.ones(n) if weight is None else weight)


def drawn(logs, truth, queries=None, seed=0):
    return matching_limit(logs, truth, queries or queries_of(len(logs)), seed, Clock(None))


@given(st.integers(2, 7), st.integers(1, 7), st.integers(0, 2**32))
def test_bayes_theorem_written_out(n, m, seed):
    logs = np.random.default_rng(seed).normal(size=(n, m)) * 4.0
    f = np.exp(logs)
    expected = f / (f.sum(axis=0) - f)
    found = one_record_posterior(logs, np.arange(n), Direction.ORIGINAL_TO_MASKED)
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-6)
    found = one_record_posterior(logs, np.arange(m), Direction.MASKED_TO_ORIGINAL)
    np.testing.assert_allclose(found, (f / f.sum(axis=0)).T)
    logs[1:, 0] = -np.inf  # what no other record can have become is certain
    found = one_record_posterior(logs, np.array([0]), Direction.ORIGINAL_TO_MASKED)
    np.testing.assert_array_equal(found[0], np.arange(m) == 0)


ATTACKS = {
    "bayes": lambda x, y, p: int(p.argmax()),  # noqa: ARG005
    "nearest": lambda x, y, p: int(((y - x) ** 2).sum(axis=1).argmin()),  # noqa: ARG005
    "extreme": lambda x, y, p: int((y @ x).argmax()),  # noqa: ARG005
}


def repetitions(seed, repeats=900, n=7, noise=0.6):
    """Right claims, and those expected, where one record is given and the others are drawn anew."""
    random, base = np.random.default_rng(seed), np.random.default_rng(1).normal(size=(n, 2))
    found = {name: ([], []) for name in ATTACKS}
    for _ in range(repeats):
        target = int(random.integers(n))
        pool = np.delete(np.arange(n), target)
        members = np.concatenate([[target], random.choice(pool, n - 1)])
        masked = base[members] + noise * random.normal(size=(n, 2))
        order = random.permutation(n)
        masked, partner = masked[order], int(np.argsort(order)[0])
        logs = -((base[:, None] - masked[None]) ** 2).sum(axis=2) / (2.0 * noise**2)
        posterior = one_record_posterior(logs, np.array([target]), Direction.ORIGINAL_TO_MASKED)[0]
        for name, (right, expected) in found.items():
            claim = ATTACKS[name](base[target], masked, posterior)
            right.append(float(claim == partner))
            expected.append(posterior[claim])
    return {name: np.array(both) for name, both in found.items()}


def test_probabilities_are_frequencies_and_no_other_attack_expects_more():
    found = repetitions(3)
    for right, expected in found.values():
        error = (right - expected).std() / np.sqrt(right.size)
        assert abs((right - expected).mean()) < 4.0 * error
    expected = {name: both[1].mean() for name, both in found.items()}
    assert expected["bayes"] == max(expected.values())
    assert expected["bayes"] > expected["nearest"] + 0.01, "the nearest candidate is not the most probable"


@pytest.mark.parametrize(("n", "m", "seed"), [(2, 2, 0), (6, 6, 2), (6, 4, 3), (1, 1, 4)])
@pytest.mark.parametrize("masked", [False, True])
def test_draws_agree_with_all_matchings(n, m, seed, masked):
    random = np.random.default_rng(seed)
    logs, truth = random.normal(size=(n, m)) * 1.5, np.full(n, -1)
    truth[random.permutation(n)[:m]] = np.arange(m)
    rows = np.arange(m) if masked else np.flatnonzero(truth >= 0)
    marginals = enumerated(logs)
    table = (marginals.T if masked else marginals)[rows]
    queries = Queries(rows, masked, random.uniform(1.0, 2.0, m))
    found = drawn(logs, truth, queries)
    claimed = table[np.arange(m), found.claimed]
    best, claims = (np.average(each, weights=queries.weight) for each in (table.max(axis=1), claimed))
    assert found.expected == pytest.approx(claims, abs=0.03)
    assert found.low <= best <= found.high + 1e-9 or abs(best - found.expected) < 0.03
    assert found.probability == pytest.approx(claimed, abs=0.05)


def test_draws_agree_where_some_pairs_are_impossible():
    """A band: three neighbours are possible, as within a window."""
    apart = np.abs(np.subtract.outer(np.arange(7), np.arange(7)))
    logs = np.where(apart <= 1, -0.3 * apart, -np.inf)
    found = drawn(logs, np.arange(7))
    assert found.expected == pytest.approx(enumerated(logs).max(axis=1).mean(), abs=0.03)


def test_groups_that_cannot_be_told_apart_need_no_draws():
    group = np.array([0, 0, 0, 1, 1, 2])
    logs = np.where(group[:, None] == group[[2, 0, 3, 1, 5, 4]][None, :], 0.0, -np.inf)
    np.testing.assert_allclose(exact_marginals(logs), enumerated(logs))
    truth = np.array([0, 1, 3, 2, 5, 4])
    found = drawn(logs, truth)
    assert (found.sweeps, found.low, found.high) == (0, found.expected, found.expected)
    assert found.expected == found.right == pytest.approx(0.5)


def test_unequal_groups_are_drawn():
    assert exact_marginals(np.array([[0.0, -1.0], [-1.0, 0.0]])) is None
    assert exact_marginals(np.array([[0.0, 0.0, -np.inf], [0.0, 0.0, 0.0], [-np.inf, 0.0, 0.0]])) is None
    assert exact_marginals(np.zeros((3, 2))) is None


def test_a_clock_that_has_run_out_leaves_a_wide_interval():
    logs = np.random.default_rng(5).normal(size=(30, 30))
    clock = Clock(1e-9)
    short = matching_limit(logs, np.arange(30), queries_of(30), 0, clock)
    assert short.sweeps == 200
    assert short.low <= short.expected <= short.high
    assert short.high - short.low > 0.05


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_the_rate_is_that_of_the_largest_likelihood(seed):
    random = np.random.default_rng(seed)
    distance = random.exponential(size=(40, 6)) * 10.0
    weight = np.exp(-0.3 * distance)
    partner = np.array([random.choice(6, p=row / row.sum()) for row in weight])
    found = calibrated(distance, partner)

    def likelihood(rate):
        logs = -rate * distance
        return (logs[np.arange(40), partner] - np.log(np.exp(logs).sum(axis=1))).sum()

    assert likelihood(found.rate) >= max(likelihood(rate) for rate in np.geomspace(1e-3, 10, 200)) - 1e-3
    np.testing.assert_allclose(found.probability.sum(axis=1), 1.0)


def test_distances_without_any_use_and_impossible_candidates():
    flat = calibrated(np.full((3, 4), 2.5), np.zeros(3, dtype=int))
    np.testing.assert_allclose(flat.probability, 0.25)
    impossible = np.array([[1.0, np.inf, 2.0], [np.inf, np.inf, np.inf], [3.0, 1.0, np.inf]])
    found = calibrated(impossible, np.array([0, 1, 1])).probability
    assert found[0, 1] == found[2, 2] == 0.0
    np.testing.assert_allclose(found[1], 1.0 / 3.0)
    equal = np.array([[0.4, 0.4, 0.2], [0.2, 0.5, 0.3]])  # between which lots decide
    np.testing.assert_allclose(right_claims(equal, np.array([1, 2])), [0.5, 0.0])


def missed_by_belief_functions(true, claimed):
    """By how much no mass on the subsets with ``Bel <= P`` has P' as its pignistic probability.

    The definition as it stands: a mass for each of the 2^n - 1 subsets, and as many inequalities.
    """
    n = len(true)
    subsets = [set(each) for k in range(1, n + 1) for each in itertools.combinations(range(n), k)]
    many = len(subsets)
    inside = np.array([[float(one <= other) for one in subsets] for other in subsets])
    pignistic = np.array([[(i in one) / len(one) for one in subsets] for i in range(n)])
    found = linprog(
        np.repeat([0.0, 0.5], [many, 2 * n]),
        A_ub=np.hstack([inside, np.zeros((many, 2 * n))]),
        b_ub=[sum(true[i] for i in one) for one in subsets],
        A_eq=np.vstack([np.hstack([pignistic, np.eye(n), -np.eye(n)]), np.repeat([1.0, 0.0], [many, 2 * n])]),
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


@pytest.mark.parametrize(("outsider", "answer"), [(0.39, True), (0.4, True), (0.41, False)])
def test_twins_together_weigh_as_much_as_any_other_candidate(outsider, answer):
    """Four equal masked records with 0.1 each may all be the true one: no other may have more than 0.4."""
    others = np.array([outsider, (0.6 - outsider) / 2, (0.6 - outsider) / 2])
    claimed = np.concatenate([np.full(4, 0.1), others])
    true = np.concatenate([np.full(4, 0.25), np.zeros(3)])
    assert compatible(true, claimed, 0) is answer
