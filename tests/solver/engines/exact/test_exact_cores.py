"""Cores: what is called infeasible is infeasible, and what is called linked can be linked."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import brute_force as plain
import brute_optimum
import numpy as np
import pytest
from aggregator_cases import CASES, POLYTOPES
from exact_runs import exact_rows, files, nasty_pair, unit_rows
from scipy.optimize import linprog

from linkrisk.formulations.linkage.block_system import block_system
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.exact.cores import LinearCoreFinder
from linkrisk.solver.engines.exact.polytope import PolytopeCoreFinder
from linkrisk.solver.engines.exact.spectrahedron import SemidefiniteCoreFinder
from linkrisk.solver.linkage.evaluator import Evaluator
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


def combination(finder, pair, case, proof):
    """The rows of a proof added up exactly, in the parameters of the oracle."""
    system = finder.system
    total = None
    for row, multiplier in zip(proof.rows.tolist(), proof.multipliers.tolist(), strict=True):
        share = Fraction(multiplier) / Fraction(float(system.length[row]))
        own = exact_rows(pair, case, int(system.block[row]))[int(system.rival[row])]
        total = [
            share * x + (0 if total is None else before) for x, before in zip(own, total or own, strict=True)
        ]
    return total


def corners(case, n):
    """Extreme points of the domain, where they are easy to list: corners of a simplex, 0-1 measures."""
    if case.label in ("weighted-mean", "owa"):
        return np.eye(n, dtype=int).tolist()
    sets = plain.subsets(n)
    monotone = [(a, b) for a in range(len(sets)) for b in range(len(sets)) if sets[a] < sets[b]]
    tables = (values for values in product((0, 1), repeat=len(sets)) if values[-1] == 1)
    return [values for values in tables if all(values[a] <= values[b] for a, b in monotone)]


def assert_nowhere_positive(case, n, row):
    """No parameters of the family give this row a positive value."""
    largest = max(abs(x) for x in row)
    scaled = np.array([float(x / largest) for x in row])
    family = case.family(n)
    if case.label in ("weighted-mean", "owa", "choquet"):
        for corner in corners(case, n):
            assert sum(x * value for x, value in zip(row, corner, strict=True)) < 0
    elif family.cone is not None:
        matrix = np.zeros((n, n))
        matrix[np.triu_indices(n)] = scaled / np.where(np.equal(*np.triu_indices(n)), 1.0, 2.0)
        assert np.linalg.eigvalsh(matrix + np.triu(matrix, 1).T)[-1] <= 1e-14
    else:
        answer = linprog(
            -scaled,
            A_ub=family.upper,
            b_ub=family.limit,
            A_eq=family.equal,
            b_eq=family.value,
            bounds=[(None, None)] * len(row),
        )
        assert -answer.fun <= 1e-9


@everywhere
@pytest.mark.parametrize("data", ["normal", "halves", "whole numbers", "mirrored", "nearly duplicates"])
def test_every_answer_is_right(case, kind, data):
    decided = 0
    for seed in range(3):
        pair = nasty_pair(data, 7 + seed)
        n = pair.queries.shape[1]
        finder = finder_of(pair, case.make(n), kind)
        if not finder.system.open_blocks.size:
            continue
        for blocks in questions(finder, seed):
            answer = finder.ask(blocks)
            asked = finder.system.open_blocks[blocks]
            if answer.theta is not None:
                decided += 1
                theta = finder.system.aggregator.domain.repair(answer.theta)
                form = finder.system.aggregator.form(theta)
                assert Evaluator(pair, 1).count(form).linked[asked].all()
            if answer.core is not None:
                decided += 1
                assert answer.core <= set(blocks.tolist())
                assert (answer.proof.multipliers >= 0.0).all()
                assert answer.core == set(finder.system.row_open[answer.proof.rows].tolist())
                assert_nowhere_positive(case, n, combination(finder, pair, case, answer.proof))
    assert decided > 0


@everywhere
def test_what_can_be_linked_is_told_from_what_cannot(case, kind):
    """An independent program about all rivals comes to the same answers."""
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
    assert_nowhere_positive(case, 2, combination(finder, pair, case, shrunk.proof))
    for block in shrunk.core:  # no block of it can be spared
        fewer = np.array(sorted(shrunk.core - {block}), dtype=np.intp)
        assert finder.ask(fewer).theta is not None


@everywhere
def test_no_blocks_at_all_can_be_linked(case, kind):
    finder = finder_of(make_pair(*files(5, 6, 2, 1.0)), case.make(2), kind)
    answer = finder.ask(np.empty(0, dtype=np.intp))
    assert answer.core is None
    assert finder.system.aggregator.domain.rows.violation(answer.theta) <= 1e-9


@everywhere
def test_questions_after_the_end_stay_open(case, kind):
    finder = finder_of(make_pair(*files(5, 12, 2, 1.0)), case.make(2), kind, seconds=0.0)
    answer = finder.ask(np.arange(finder.system.open_blocks.size))
    assert answer.theta is None
    assert answer.core is None


@pytest.mark.parametrize(("case", "kind"), OWN, ids=[case.label for case, _ in OWN])
def test_both_finders_agree(case, kind):
    """HiGHS (with cuts by eigenvectors) and compiled code never contradict each other."""
    pair = make_pair(*files(9, 14, 3, 1.2))
    linear, own = (finder_of(pair, case.make(3), kind) for kind in (LinearCoreFinder, kind))
    cores = 0
    for blocks in questions(linear, 3, 30):
        first, second = linear.ask(blocks), own.ask(blocks)
        assert first.theta is None or second.core is None
        assert second.theta is None or first.core is None
        cores += first.core is not None and second.core is not None
    assert cores > 0
