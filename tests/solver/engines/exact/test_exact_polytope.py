"""The compiled simplex method, and the polish where blocks differ by no more than a tie: all are decided."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from aggregator_cases import BY_LABEL, POLYTOPES
from exact_runs import files
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from linkrisk.formulations.linkage.block_system import block_system
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.backends.linear.base import LinearStatus
from linkrisk.solver.engines.attacks.linear_programs import GrowingProgram, Multipliers, WidestMargin
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.exact import cores
from linkrisk.solver.engines.exact import polytope as polytope_kernels
from linkrisk.solver.engines.exact.cores import LinearCoreFinder, polished
from linkrisk.solver.engines.exact.polytope import PolytopeCoreFinder
from linkrisk.solver.engines.exact.polytope_margin import Offers, of_domain, reprice
from linkrisk.solver.engines.steering import FinderSteering
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Clock

polytopes = pytest.mark.parametrize("case", POLYTOPES, ids=[case.label for case in POLYTOPES])


def simplex_finder(case, seed=5, records=25, attributes=3, kind=PolytopeCoreFinder):
    system = block_system(make_pair(*files(seed, records, attributes, 1.0)), case.make(attributes))
    return kind(system, Scorer(system), Clock(None))


def offered(questions, rows):
    """All columns of the domain and these rows; the basis of the first of them."""
    base = of_domain(questions.columns)
    room = base + rows.size
    offers = Offers(
        rows, np.array([rows.size]), np.empty(room), np.empty(room), np.zeros(questions.first.size - 1, int)
    )
    polytope_kernels.begin(questions.basis, questions.columns, rows[0])
    questions.basis.prices[:] = questions.basis.inverse @ questions.basis.cost
    reprice(questions.basis, questions.columns, offers, 0)
    return offers


def widest_margin(system, rows):
    domain, count = system.aggregator.domain.rows, rows.size
    matrix = domain.matrix.toarray()
    low, high = np.isfinite(domain.row_lower), np.isfinite(domain.row_upper)
    upper = np.vstack(
        [
            np.hstack([-system.part(rows).toarray(), np.ones((count, 1))]),
            np.hstack([-matrix[low], np.zeros((low.sum(), 1))]),
            np.hstack([matrix[high], np.zeros((high.sum(), 1))]),
        ]
    )
    limit = np.concatenate([np.zeros(count), -domain.row_lower[low], domain.row_upper[high]])
    bounds = [*zip(domain.column_lower, domain.column_upper, strict=True), (None, None)]
    answer = linprog([0.0] * system.aggregator.dimension + [-1.0], A_ub=upper, b_ub=limit, bounds=bounds)
    assert answer.status == 0
    return -answer.fun


@polytopes
@given(seed=st.integers(0, 1000), count=st.integers(1, 12))
@settings(max_examples=15, derandomize=True)
def test_the_widest_margin_is_that_of_another_solver(case, seed, count):
    finder = simplex_finder(case)
    questions, system = finder._questions, finder.system
    rows = np.sort(np.random.default_rng(seed).choice(system.rows, size=count, replace=False))
    offers = offered(questions, rows)
    nobody = np.zeros(questions.first.size - 1, dtype=bool)  # so that no core ends the search early
    state = polytope_kernels._descend(questions, offers, nobody, 5_000)
    assert state == polytope_kernels._OPTIMAL
    theta, margin = -questions.basis.prices[:-1], questions.basis.prices[-1]
    assert margin == pytest.approx(widest_margin(system, rows), abs=1e-8)
    assert (system.part(rows) @ theta).min() == pytest.approx(margin, abs=1e-8)
    assert system.aggregator.domain.rows.violation(theta) <= 2e-9


@polytopes
@pytest.mark.parametrize("rubbish", [np.nan, 0.0, 1e9])
def test_a_spoilt_basis_is_begun_anew(case, rubbish):
    finder, fresh = simplex_finder(case), simplex_finder(case)
    finder.ask(np.arange(3))
    finder._questions.basis.inverse[:] = rubbish
    for blocks in (np.arange(4), np.arange(finder.system.open_blocks.size)):
        assert (finder.ask(blocks).core is None) == (fresh.ask(blocks).core is None)


@polytopes
def test_what_stays_undecided_is_asked_of_highs(case, monkeypatch):
    """No pivots are allowed, and so nothing is found."""
    calls = []
    ask = LinearCoreFinder.ask
    monkeypatch.setattr(LinearCoreFinder, "ask", lambda *a: calls.append(1) or ask(*a))
    linear = simplex_finder(case, kind=LinearCoreFinder)
    finder = PolytopeCoreFinder(
        linear.system, Scorer(linear.system), Clock(None), FinderSteering(most_pivots=0)
    )
    everything = np.arange(finder.system.open_blocks.size)
    answer = finder.ask(everything)
    assert answer.core is not None
    assert len(calls) == 1
    shrunk = finder.shrink(answer, sorted(answer.core))
    assert len(calls) > 1
    assert shrunk.core <= answer.core
    for block in shrunk.core:
        assert linear.ask(np.array(sorted(shrunk.core - {block}), dtype=np.intp)).core is None


# ---------------------------------------------------------------- polish


SIMPLEX = BY_LABEL["weighted-mean"].make(2).domain.rows

linear = pytest.mark.parametrize("label", ["weighted-mean", "owa", "choquet", "2-additive", "3-additive"])


def whole_numbers(seed, n, attributes):
    """Few values: attributes that tie, and records as far as others in opposite directions."""
    random = np.random.default_rng(seed)
    original = random.integers(0, 5, size=(n, attributes)).astype(float)
    return make_pair(
        original,
        original + random.integers(-2, 3, size=original.shape),
        np.arange(n),
        standardisation=Standardisation.NONE,
    )


def sheared(seed, n, attributes, decades=2):
    """Whole numbers on scales far apart, moved by much or by little: margins below every tolerance."""
    random = np.random.default_rng(seed)
    original = random.integers(0, 5, size=(n, attributes)).astype(float)
    steps = random.integers(-2, 3, size=original.shape) * 10.0 ** -random.integers(0, 4, size=(n, 1))
    scale = 10.0 ** random.uniform(-decades, decades, size=attributes)
    return make_pair(
        original * scale, (original + steps) * scale, np.arange(n), standardisation=Standardisation.NONE
    )


both = pytest.mark.parametrize("kind", [LinearCoreFinder, PolytopeCoreFinder])


def finder_of(pair, label, kind=LinearCoreFinder):
    system = block_system(pair, BY_LABEL[label].make(pair.queries.shape[1]))
    return kind(system, Scorer(system), Clock(None))


def questions(finder, seed):
    random = np.random.default_rng(seed)
    size = finder.system.open_blocks.size
    for count in np.repeat([2, 3, 5, 8], [60, 10, 10, 10]):
        yield np.sort(random.choice(size, size=min(size, count), replace=False))


def largest(finder, proof):
    """The combined row at its largest over the domain, by weak duality in fractions."""
    domain, system = finder.system.aggregator.domain.rows, finder.system
    row = [Fraction(0)] * system.aggregator.dimension
    fixed = Fraction(0)
    for values, multiplier in zip(system.part(proof.rows).toarray(), proof.multipliers, strict=True):
        row = [x + Fraction(multiplier) * Fraction(y) for x, y in zip(row, values, strict=True)]
    sides = zip(domain.matrix.toarray(), domain.row_lower, domain.row_upper, proof.domain, strict=True)
    for values, low, high, multiplier in sides:
        side = high if multiplier > 0.0 else low
        if multiplier != 0.0 and np.isfinite(side):
            fixed += Fraction(multiplier) * Fraction(side)
            row = [x - Fraction(multiplier) * Fraction(y) for x, y in zip(row, values, strict=True)]
    limits = zip(row, map(Fraction, domain.column_lower), map(Fraction, domain.column_upper), strict=True)
    return fixed + sum(max(x * low, x * high) for x, low, high in limits)


def assert_decided(finder, blocks):
    """The question has an answer, and it is right: a core in fractions, parameters by the evaluator."""
    answer = finder.ask(blocks)
    assert (answer.core is None) is not (answer.theta is None)
    if answer.core is not None:
        assert answer.core <= set(blocks.tolist())
        assert (answer.proof.multipliers >= 0.0).all()
        assert answer.core == set(finder.system.row_open[answer.proof.rows].tolist())
        assert largest(finder, answer.proof) < 0
    else:
        form = finder.system.aggregator.form(finder.system.aggregator.domain.repair(answer.theta))
        linked = Evaluator(finder.system.pair, 1).count(form).linked
        assert linked[finder.system.open_blocks[blocks]].all()
    return answer


@linear
@both
@pytest.mark.parametrize("pair", [whole_numbers(1, 30, 4), sheared(0, 30, 5)], ids=["whole", "sheared"])
def test_ties_and_scales_far_apart_leave_nothing_undecided(label, kind, pair):
    """HiGHS used to drop the ties, where they are all that is left of a coefficient."""
    finder = finder_of(pair, label, kind)
    answers = [assert_decided(finder, blocks) for blocks in questions(finder, 1)]
    assert {answer.core is None for answer in answers} == {True, False}


@linear
def test_multipliers_with_few_digits_are_polished(label, monkeypatch):
    """Those of HiGHS keep a tolerance of 1e-7; these are worse."""
    multipliers = WidestMargin.multipliers
    random = np.random.default_rng(0)

    def coarse(self):
        return Multipliers(
            *(part + 0.01 * random.uniform(size=part.shape) * (part != 0.0) for part in multipliers(self))
        )

    monkeypatch.setattr(WidestMargin, "multipliers", coarse)
    calls = []
    monkeypatch.setattr(cores, "polished", lambda *a: calls.append(a) or polished(*a))
    # Ties of an attribute are as small as it is: further apart, some are below the rounding of the others.
    finder = finder_of(sheared(0, 30, 5, decades=1), label)
    answers = [assert_decided(finder, blocks) for blocks in questions(finder, 2)]
    assert calls
    assert any(answer.core is not None for answer in answers)


@linear
def test_rows_that_are_switched_off_are_in_no_core(label, monkeypatch):
    """HiGHS may leave them a multiplier that is rounding; a core of other blocks once came for ever."""
    duals = GrowingProgram.duals
    monkeypatch.setattr(GrowingProgram, "duals", lambda self: duals(self) + 1e-10)
    finder = finder_of(whole_numbers(1, 30, 4), label)
    answers = [assert_decided(finder, blocks) for blocks in questions(finder, 1)]
    assert any(answer.core is not None for answer in answers)


def test_multipliers_that_prove_nothing_make_no_core():
    random = np.random.default_rng(0)
    finder = finder_of(whole_numbers(2, 30, 4), "2-additive")
    possible = [blocks for blocks in questions(finder, 2) if finder.ask(blocks).theta is not None]

    def guess(self):
        domain = self._system.aggregator.domain.rows.matrix.shape[0]
        sizes = (self.rows.size, len(self.cuts), domain)
        return Multipliers(*(10.0 ** random.uniform(0, 12) * random.uniform(size=size) for size in sizes))

    for blocks in possible:
        finder.ask(blocks)
        for _ in range(20):
            assert finder._proven(finder._program.rows, guess(finder._program)).core is None


def test_two_rows_that_touch_have_the_margin_on_paper():
    """(1, -1 - e) and (-1, 1): multipliers 2 / (4 + e) and the rest give -e / (4 + e) at both corners."""
    e = 1e-11
    best = list(polished(SIMPLEX, sparse.csr_array([[1.0, -1.0 - e], [-1.0, 1.0]]), np.empty((0, 2))))[-1]
    assert best.margin == pytest.approx(-e / (4 + e), abs=1e-16)
    np.testing.assert_allclose(best.multipliers.rows, [2 / (4 + e), (2 + e) / (4 + e)], rtol=0, atol=1e-15)
    np.testing.assert_allclose(best.theta, [(2 + e) / (4 + e), 2 / (4 + e)], rtol=0, atol=1e-15)
    assert best.multipliers.cuts.size == 0


def test_cuts_have_multipliers_too():
    """On the simplex the first weight must not exceed the second, and the row wants it to."""
    best = list(polished(SIMPLEX, sparse.csr_array([[1.0, -1.0]]), np.array([[-1.0, 1.0]])))[-1]
    assert best.margin == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(best.multipliers.rows, [1.0], atol=1e-15)
    np.testing.assert_allclose(best.multipliers.cuts, [1.0], atol=1e-15)


class Lost:
    def __init__(self, program):
        self._program, self.forgotten = program, 0

    def __getattr__(self, name):
        return getattr(self._program, name)

    def solve(self, seconds=None):
        solution = self._program.solve(seconds=seconds)
        return solution if self.forgotten else replace(solution, status=LinearStatus.FAILED)

    def forget_basis(self):
        self.forgotten += 1
        self._program.forget_basis()


def test_a_program_that_is_lost_is_solved_from_scratch():
    program = GrowingProgram(BY_LABEL["weighted-mean"].make(2), np.array([-1.0]), np.zeros(1), np.ones(1))
    program._program = Lost(program._program)
    assert program.solve(Clock(None))[-1] == pytest.approx(1.0)
    assert program._program.forgotten == 1


@both
def test_finders_in_two_threads_do_not_disturb_each_other(kind):
    pairs = [whole_numbers(3, 30, 4), sheared(0, 30, 4)]

    def answers(pair):
        finder = finder_of(pair, "choquet", kind)
        found = [finder.ask(blocks) for blocks in questions(finder, 3)]
        return [(answer.core, None if answer.theta is None else answer.theta.tolist()) for answer in found]

    alone = [answers(pair) for pair in pairs]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(answers, pairs)) == alone
