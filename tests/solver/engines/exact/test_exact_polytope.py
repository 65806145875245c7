"""The compiled simplex method: the widest margin, its bookkeeping, and questions that follow each other."""

from __future__ import annotations

import numpy as np
import pytest
from aggregator_cases import POLYTOPES
from exact_runs import files
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from linkrisk.formulations.linkage.block_system import block_system
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.exact import polytope as polytope_kernels
from linkrisk.solver.engines.exact.cores import LinearCoreFinder
from linkrisk.solver.engines.exact.polytope import PolytopeCoreFinder
from linkrisk.solver.engines.exact.polytope_margin import Offers, best, follow, of_domain, pivot, reprice
from linkrisk.solver.engines.steering import FinderSteering
from linkrisk.solver.run.clock import Clock

polytopes = pytest.mark.parametrize("case", POLYTOPES, ids=[case.label for case in POLYTOPES])


def finder_of(case, seed=5, records=25, attributes=3, kind=PolytopeCoreFinder):
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


def dense_column(questions, column):
    """A column of the dual, from its definition."""
    columns = questions.columns
    d, m = columns.lower.size, columns.row_lower.size
    out, sign = np.zeros(d + 1), 1.0 if column % (2 * d) < d else -1.0
    if column < 2 * d:
        out[column % d] = sign
        return out
    rows, row = (columns.domain, (column - 2 * d) % m) if column < 2 * d + 2 * m else (columns.rows, 0)
    if rows is columns.rows:
        row, sign, out[d] = column - 2 * d - 2 * m, 1.0, 1.0
    else:
        sign = 1.0 if column < 2 * d + m else -1.0
    part = slice(rows.starts[row], rows.starts[row + 1])
    out[rows.columns[part]] = sign * rows.values[part]
    return out


def widest_margin(system, rows):
    """The same program by HiGHS in SciPy."""
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
    finder = finder_of(case)
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
def test_pivots_keep_their_books(case):
    """Inverse, x, prices and reduced costs that were only changed are those made from the columns."""
    finder = finder_of(case)
    questions, system = finder._questions, finder.system
    basis, columns = questions.basis, questions.columns
    offers = offered(questions, np.arange(0, system.rows, 3))
    size = system.aggregator.dimension + 1
    step, share = np.empty(size), np.empty(size)
    values = []
    for _ in range(200):
        place = best(offers, questions.block, 1.0)
        if place < 0:
            break
        base = of_domain(columns)
        column = place if place < base else base + offers.rows[place - base]
        left = pivot(basis, columns, column, offers.reduced[place], step, share)
        assert left >= 0
        assert column in basis.columns
        assert left not in basis.columns
        follow(columns, offers, place, share)
        values.append(float(basis.cost @ basis.x))
    matrix = np.array([dense_column(questions, column) for column in basis.columns])
    np.testing.assert_allclose(matrix @ basis.inverse, np.eye(size), atol=1e-10)
    np.testing.assert_allclose(basis.x @ matrix, basis.right, atol=1e-9)
    np.testing.assert_allclose(matrix @ basis.prices, basis.cost, atol=1e-9)
    assert basis.x.min() >= -1e-9
    assert (np.diff(values) <= 1e-9).all()
    changed = offers.reduced.copy()
    reprice(basis, columns, offers, 0)
    np.testing.assert_allclose(changed, offers.reduced, atol=1e-9)


@polytopes
def test_a_row_that_is_not_asked_about_takes_no_part(case):
    """It is in the basis still, and dear; a proof is none of it."""
    finder = finder_of(case, records=40)
    everything = np.arange(finder.system.open_blocks.size)
    answer = finder.ask(everything)
    while answer.core is not None and len(answer.core) > 1:
        rest = np.setdiff1d(everything, sorted(answer.core))
        if rest.size == 0:
            break
        answer = finder.ask(rest)
        assert answer.core is None or answer.core <= set(rest.tolist())
        everything = rest


@polytopes
def test_where_the_last_question_ended_does_not_matter(case):
    going_on = finder_of(case, records=30)
    random = np.random.default_rng(2)
    blocks = going_on.system.open_blocks.size
    kinds = set()
    for _ in range(60):
        asked = np.sort(random.choice(blocks, size=random.integers(1, min(blocks, 9)), replace=False))
        first, second = going_on.ask(asked), finder_of(case, records=30).ask(asked)
        assert (first.core is None) == (second.core is None)
        kinds.add(first.core is None)
    assert kinds == {True, False}


@polytopes
@pytest.mark.parametrize("rubbish", [np.nan, 0.0, 1e9])
def test_a_spoilt_basis_is_begun_anew(case, rubbish):
    finder, fresh = finder_of(case), finder_of(case)
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
    linear = finder_of(case, kind=LinearCoreFinder)
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
