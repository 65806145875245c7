"""Cores of the Mahalanobis form: threads, interruptions, and records that barely exclude each other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from aggregator_cases import BY_LABEL
from exact_runs import files

from linkrisk.formulations.linkage.block_system import block_system
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.engines.attacks.scoring import STRICT, Scorer
from linkrisk.solver.engines.base import CoreProof
from linkrisk.solver.engines.exact import spectrahedron as semidefinite_cores
from linkrisk.solver.engines.exact.cores import Answer, LinearCoreFinder
from linkrisk.solver.engines.exact.spectrahedron import SemidefiniteCoreFinder
from linkrisk.solver.engines.exact.spectrahedron_margin import largest_eigenvalue
from linkrisk.solver.engines.steering import FinderSteering
from linkrisk.solver.run.clock import Clock

ATTRIBUTES = 3


@pytest.fixture(scope="module")
def system():
    pair = make_pair(*files(5, 40, ATTRIBUTES, 1.2))
    return block_system(pair, BY_LABEL["mahalanobis"].make(ATTRIBUTES))


def finder_of(system, seconds=None, **steering):
    return SemidefiniteCoreFinder(system, Scorer(system), Clock(seconds), FinderSteering(**steering))


def answers(finder, seed=1, count=25):
    """Answers to random questions, cores shrunk in random order."""
    random = np.random.default_rng(seed)
    blocks = finder.system.open_blocks.size
    found = []
    for _ in range(count):
        asked = np.sort(random.choice(blocks, size=random.integers(1, blocks), replace=False))
        answer = finder.ask(asked)
        if answer.core is not None:
            answer = finder.shrink(answer, random.permutation(sorted(answer.core)).tolist())
        found.append((asked, answer))
    return found


def described(found):
    return [(None if a.theta is None else a.theta.tolist(), a.core) for _, a in found]


def test_answers_hold_on_all_rows(system):
    first, second = np.triu_indices(ATTRIBUTES)
    kinds = set()
    for asked, answer in answers(finder_of(system)):
        kinds.add(answer.core is None)
        if answer.core is None:
            rows = system.values[np.isin(system.row_open, asked)]
            assert (rows @ answer.theta > STRICT).all()
        else:
            assert answer.core <= set(asked.tolist())
            combined = answer.proof.multipliers @ system.values[answer.proof.rows]
            assert (answer.proof.multipliers > 0.0).all()
            assert answer.proof.multipliers.sum() == pytest.approx(1.0)
            assert largest_eigenvalue(combined, first, second) < -1e-14
    assert kinds == {True, False}


def test_two_threads_answer_as_one_does(system):
    alone = [described(answers(finder_of(system), seed)) for seed in (1, 2)]
    with ThreadPoolExecutor(2) as pool:
        together = pool.map(lambda seed: described(answers(finder_of(system), seed)), (1, 2))
    assert list(together) == alone


def test_pauses_to_ask_the_clock_change_nothing(system):
    whole = described(answers(finder_of(system)))
    assert described(answers(finder_of(system, cells_at_once=1))) == whole


def test_a_core_stays_as_it_is_after_the_end(system):
    answer = finder_of(system).ask(np.arange(system.open_blocks.size))
    assert finder_of(system, seconds=0.0).shrink(answer, sorted(answer.core)) == answer


def test_blocks_outside_the_core_are_passed_over(system):
    finder = finder_of(system)
    answer = finder.shrink(
        finder.ask(np.arange(system.open_blocks.size)), list(range(system.open_blocks.size))
    )
    outside = sorted(set(range(system.open_blocks.size)) - answer.core)
    assert finder.shrink(answer, outside).core == answer.core


def opposite(touch):
    """Two records whose rivals differ from the partners the other way round, but for a little."""
    original = np.array([[0.0, 0.0], [10.0, 10.0]])
    masked = np.array([[1.0, 0.0], [10.0, 11.0]])
    rivals = np.array([[0.0, 1.0 - touch], [11.0 - touch, 10.0]])
    return make_pair(
        original, np.vstack([masked, rivals]), np.arange(2), standardisation=Standardisation.NONE
    )


@pytest.mark.parametrize("touch", [1e-9, 1e-7, 1e-5, 1e-3])
def test_records_that_exclude_each_other_by_little(touch):
    system = block_system(opposite(touch), BY_LABEL["mahalanobis"].make(2))
    answer = finder_of(system).ask(np.arange(2))
    assert answer.core == {0, 1}


def test_the_linear_program_has_the_last_word(system, monkeypatch):
    """Where the steps prove nothing, a core of the linear program is taken, if its multipliers prove it."""
    finder = finder_of(system)
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
