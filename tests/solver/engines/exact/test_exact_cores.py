"""Cores: what is called infeasible is so, what is called linked can be linked; the Mahalanobis form's own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import brute_optimum
import numpy as np
import pytest
from aggregator_cases import BY_LABEL, CASES, POLYTOPES
from exact_runs import files, unit_rows
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.formulations.linkage.block_system import block_system
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.base import CoreProof
from linkrisk.solver.engines.exact import spectrahedron as semidefinite_cores
from linkrisk.solver.engines.exact.cores import Answer, LinearCoreFinder, few_multipliers
from linkrisk.solver.engines.exact.polytope import PolytopeCoreFinder
from linkrisk.solver.engines.exact.spectrahedron import SemidefiniteCoreFinder
from linkrisk.solver.engines.exact.spectrahedron_margin import largest_eigenvalue, widest_margin
from linkrisk.solver.engines.steering import FinderSteering
from linkrisk.solver.run.clock import Clock

OWN = [(case, PolytopeCoreFinder if case in POLYTOPES else SemidefiniteCoreFinder) for case in CASES]
SETUPS = [*OWN, *((case, LinearCoreFinder) for case in POLYTOPES)]
everywhere = pytest.mark.parametrize(
    ("case", "kind"), SETUPS, ids=[f"{case.label}-{kind.__name__}" for case, kind in SETUPS]
)


def finder_of(pair, aggregator, kind, seconds=None):
    system = block_system(pair, aggregator)
    return kind(system, Scorer(system), Clock(seconds))


def questions(finder, seed, count=12):
    """Random sets of open blocks, small ones first."""
    random = np.random.default_rng(seed)
    open_blocks = finder.system.open_blocks.size
    for at in range(count):
        size = min(open_blocks, 1 + at // 3)
        yield np.sort(random.choice(open_blocks, size=size, replace=False))


@everywhere
def test_what_can_be_linked_is_told_from_what_cannot(case, kind):
    pair = make_pair(*files(5, 14, 3, 1.4))
    family = case.family(3)
    finder = finder_of(pair, case.make(3), kind)
    answers = set()
    everything = np.arange(finder.system.open_blocks.size)
    for blocks in (*questions(finder, 1, 24), everything):
        answer = finder.ask(blocks)
        rows = np.vstack([unit_rows(pair, case, block) for block in finder.system.open_blocks[blocks]])
        possible = brute_optimum.linkable(family, rows, 1e-7, [])
        assert (answer.theta is not None) is possible
        assert (answer.core is None) is possible
        answers.add(possible)
    assert answers == {True, False}


@everywhere
def test_a_shrunk_core_is_smaller_and_still_one(case, kind):
    pair = make_pair(*files(5, 25, 2, 1.0))
    finder = finder_of(pair, case.make(2), kind)
    whole = finder.ask(np.arange(finder.system.open_blocks.size))
    shrunk = finder.shrink(whole, sorted(whole.core))
    assert shrunk.core <= whole.core
    assert finder.ask(np.array(sorted(shrunk.core), dtype=np.intp)).core is not None
    for block in shrunk.core:  # no block of it can be spared
        fewer = np.array(sorted(shrunk.core - {block}), dtype=np.intp)
        assert finder.ask(fewer).theta is not None


@everywhere
def test_no_blocks_can_be_linked_and_questions_after_the_end_stay_open(case, kind):
    pair = make_pair(*files(5, 12, 2, 1.0))
    finder = finder_of(pair, case.make(2), kind)
    answer = finder.ask(np.empty(0, dtype=np.intp))
    assert answer.core is None
    assert finder.system.aggregator.domain.rows.violation(answer.theta) <= 1e-9
    over = finder_of(pair, case.make(2), kind, seconds=0.0)
    assert over.ask(np.arange(over.system.open_blocks.size)) == Answer()


# ---------------------------------------------------------------- semidefinite


ATTRIBUTES = 3


@pytest.fixture(scope="module")
def system():
    pair = make_pair(*files(5, 40, ATTRIBUTES, 1.2))
    return block_system(pair, BY_LABEL["mahalanobis"].make(ATTRIBUTES))


def semidefinite_finder(system, seconds=None, **steering):
    return SemidefiniteCoreFinder(system, Scorer(system), Clock(seconds), FinderSteering(**steering))


def answers(finder, seed=1, count=25):
    random = np.random.default_rng(seed)
    blocks = finder.system.open_blocks.size
    found = []
    for _ in range(count):
        answer = finder.ask(np.sort(random.choice(blocks, size=random.integers(1, blocks), replace=False)))
        if answer.core is not None:
            answer = finder.shrink(answer, random.permutation(sorted(answer.core)).tolist())
        found.append((None if answer.theta is None else answer.theta.tolist(), answer.core))
    return found


def test_two_threads_answer_as_one_does_and_pauses_change_nothing(system):
    alone = [answers(semidefinite_finder(system), seed) for seed in (1, 2)]
    with ThreadPoolExecutor(2) as pool:
        together = pool.map(lambda seed: answers(semidefinite_finder(system), seed), (1, 2))
    assert list(together) == alone
    assert answers(semidefinite_finder(system, cells_at_once=1)) == alone[0]


def opposite(touch):
    original = np.array([[0.0, 0.0], [10.0, 10.0]])
    masked = np.array([[1.0, 0.0], [10.0, 11.0]])
    rivals = np.array([[0.0, 1.0 - touch], [11.0 - touch, 10.0]])
    return make_pair(
        original, np.vstack([masked, rivals]), np.arange(2), standardisation=Standardisation.NONE
    )


@pytest.mark.parametrize("touch", [1e-9, 1e-7, 1e-5, 1e-3])
def test_records_that_exclude_each_other_by_little(touch):
    system = block_system(opposite(touch), BY_LABEL["mahalanobis"].make(2))
    answer = semidefinite_finder(system).ask(np.arange(2))
    assert answer.core == {0, 1}


def test_the_linear_program_has_the_last_word(system, monkeypatch):
    """Where the steps prove nothing, a core of the linear program is taken, if its multipliers prove it."""
    finder = semidefinite_finder(system)
    blocks = np.arange(system.open_blocks.size)
    proof = finder.ask(blocks).proof
    nothing = np.empty(0, dtype=np.intp)
    touching = (semidefinite_cores.TOUCHING, np.empty(0), proof.rows, np.empty(0))
    monkeypatch.setattr(semidefinite_cores, "ask", lambda *_: touching)
    monkeypatch.setattr(LinearCoreFinder, "ask", lambda *_: Answer(proof=proof))
    assert finder.ask(blocks).core == set(system.row_open[proof.rows].tolist())
    false = CoreProof(proof.rows[:1], np.ones(1), nothing)
    monkeypatch.setattr(LinearCoreFinder, "ask", lambda *_: Answer(proof=false))
    assert finder.ask(blocks) == Answer()


# ---------------------------------------------------------------- margin


NEVER = np.inf


def matrix_of(theta, n):
    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n)] = theta
    return matrix + np.triu(matrix, 1).T


def some_rows(seed, many, n):
    rows = np.random.default_rng(seed).normal(size=(many, n * (n + 1) // 2))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def solved(rows, n, enough=NEVER, proven=-NEVER):
    first, second = np.triu_indices(n)
    theta, multipliers = widest_margin(rows, first, second, enough, proven)
    matrix = matrix_of(theta, n)
    assert np.linalg.eigvalsh(matrix)[0] >= -1e-15
    assert np.trace(matrix) == pytest.approx(1.0)
    assert (multipliers >= 0.0).all()
    assert multipliers.sum() == pytest.approx(1.0)
    return (rows @ theta).min(), largest_eigenvalue(multipliers @ rows, first, second)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_largest_value_of_a_row_is_attained_by_an_eigenvector(n, seed):
    row = np.random.default_rng(seed).normal(size=n * (n + 1) // 2)
    first, second = np.triu_indices(n)
    largest = largest_eigenvalue(row, first, second)
    family = brute_optimum.bilinear_family(n)
    vectors = np.random.default_rng(1).normal(size=(400, n))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    values = [row @ (v[first] * v[second]) for v in vectors]
    assert max(values) <= largest + 1e-12
    if n <= 2:
        assert max(values) == pytest.approx(largest, abs=1e-3)
    assert family.equal @ np.outer(vectors[0], vectors[0])[first, second] == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("many", [1, 2, 6, 20])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_matrix_and_multipliers_meet(n, many, seed):
    """Any matrix is a lower bound and any multipliers are an upper bound: where they meet is the optimum."""
    margin, bound = solved(some_rows(seed, many, n), n)
    assert margin <= bound + 1e-12
    assert bound - margin <= 1e-6


@pytest.mark.parametrize("touch", [0.0, 1e-13, 1e-11, 1e-9, 1e-7])
def test_rows_that_all_but_exclude_each_other(touch):
    """Opposite rows less a little: the margin is zero less that, and no multipliers may claim more."""
    row = some_rows(3, 1, 3)[0]
    unit = np.equal(*np.triu_indices(3)).astype(float)
    rows = np.array([row - touch * unit, -row - touch * unit])
    margin, bound = solved(rows, 3, 1e-9, -2e-14)
    assert margin <= -touch + 1e-15
    assert bound >= -touch - 1e-15


# ---------------------------------------------------------------- caratheodory


@given(st.integers(0, 10_000), st.integers(1, 7), st.integers(1, 40), st.booleans())
def test_the_same_combination_from_few_rows(seed, dimension, many, alike):
    random = np.random.default_rng(seed)
    values = random.normal(size=(many, dimension))
    values /= np.linalg.norm(values, axis=1)[:, None]
    if alike:
        values = values[random.integers(0, max(1, many // 3), size=many)]
    multipliers = random.dirichlet(np.ones(many)) + 1e-9
    cost = random.uniform(size=many)
    few = few_multipliers(values, multipliers, cost)
    assert (few >= 0.0).all()
    assert np.count_nonzero(few) <= max(dimension + 1, 1)
    np.testing.assert_allclose(few @ values, multipliers @ values, atol=1e-9)
    assert few.sum() == pytest.approx(multipliers.sum())
    assert few @ cost <= multipliers @ cost + 1e-9


def test_rows_that_cost_more_go_first():
    values = np.array([[1.0], [1.0], [1.0], [-1.0]])
    few = few_multipliers(values, np.full(4, 0.25), np.array([3.0, 1.0, 2.0, 0.0]))
    assert few.tolist() == [0.0, 0.75, 0.0, 0.25]
