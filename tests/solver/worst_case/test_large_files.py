"""Rows that grow, and the compiled code for many rows: the same answers as on all rows, by definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from aggregator_cases import BY_LABEL, CASES, LABELS
from exact_runs import files
from fit_runs import frames, steered
from scipy import sparse

from linkrisk.formulations.linkage.block_system import block_system
from linkrisk.formulations.linkage.pair import Ties, make_pair
from linkrisk.solver.engines.attacks.scoring import STRICT, Scorer, _smallest, best_on_lines
from linkrisk.solver.engines.exact.simplex_tree import SimplexTree
from linkrisk.solver.engines.growing_rows import GrowingRows
from linkrisk.solver.engines.steering import TreeSteering
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.worst_case.operations.fit import fit

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)


def probed(pair, aggregator):
    clock = Clock(None)
    rows = GrowingRows(pair, aggregator, clock, 0)
    rows.probe(Incumbent(clock, aggregator.equal(), 0.0, pair.blocks), np.inf)
    return rows


def rows_link(system, theta):
    linked = ~system.lost
    linked[system.block[system.values @ theta <= STRICT]] = False
    return linked


# ---------------------------------------------------------------- rows that grow


@everywhere
@pytest.mark.parametrize("ties", list(Ties))
def test_after_a_count_the_rows_say_what_the_evaluator_has_counted(case, ties):
    original, masked = files(3, 150, noise=0.8)
    masked[5] = masked[6]
    pair = make_pair(original, masked, ties=ties)
    aggregator = case.make(3)
    rows = probed(pair, aggregator)
    first = rows.system()
    assert not first.complete
    whole = block_system(pair, aggregator, reduce=False)
    wrong = 0
    for theta in aggregator.domain.sample(10, np.random.default_rng(1)):
        form = aggregator.form(theta)
        before = rows_link(rows.system(), theta)
        weight = rows.weight(form)
        truth = Evaluator(pair, 1).count(form).linked
        assert weight == pytest.approx(pair.weight[truth].sum())
        assert (before >= truth).all()  # a part of the rows never forbids what can be linked
        wrong += (before > truth).sum()
        np.testing.assert_array_equal(rows_link(rows.system(), theta), truth)
    last = rows.system()
    assert wrong > 0
    assert first.rows < last.rows < whole.rows
    assert not (last.lost & ~whole.lost).any()
    assert rows.fresh == 0


@everywhere
def test_where_memory_is_short_rows_are_taken_by_lot(case, monkeypatch):
    """A part of the rows forbids nothing that all of them allow, and no two builds are there at once."""
    pair, limit = make_pair(*files(5, 60, noise=0.8)), 1e6
    aggregator = case.make(3)
    rows = GrowingRows(pair, aggregator, Clock(None, limit), 0)
    rows.probe(Incumbent(rows._clock, aggregator.equal(), 0.0, pair.blocks), np.inf)
    whole = rows.system()
    half = 4 * whole.rows * aggregator.dimension
    monkeypatch.setattr("linkrisk.solver.run.clock.resident_megabytes", lambda: limit - 1e-6 * half)
    part = rows.system()
    assert 0 < part.rows < whole.rows
    assert 8 * part.rows * aggregator.dimension <= half
    assert set(zip(part.block, part.rival, strict=True)) < set(zip(whole.block, whole.rival, strict=True))
    for theta in aggregator.domain.sample(10, np.random.default_rng(1)):
        assert (rows_link(part, theta) >= rows_link(whole, theta)).all()
    monkeypatch.setattr("linkrisk.solver.run.clock.resident_megabytes", lambda: 2 * limit)
    assert rows.system().rows == rows.no_rows().rows == 0


@pytest.mark.parametrize("label", ["weighted-mean", "owa", "choquet"])
def test_the_optimum_on_growing_rows_is_that_on_all_rows(label):
    case = BY_LABEL[label]
    options = {"aggregator": case.name, "engine": "exact", "time_limit": None, **case.options}
    files = frames(0, 40, noise=0.8)
    whole = fit(*files, **options)
    grown = fit(*files, **options, steering=steered(most_reduced=0))
    assert whole.proven
    assert grown.proven
    assert grown.linked == whole.linked


# ---------------------------------------------------------------- many rows


@pytest.mark.parametrize("count", [1, 3, 12])
def test_the_few_smallest_of_each_block(count):
    random = np.random.default_rng(count)
    sizes = random.integers(1, 30, size=40)
    first = np.concatenate([[0], np.cumsum(sizes)])
    values = np.round(random.normal(size=first[-1]), 1)  # with ties
    few = _smallest(values, first, count)
    for block, size in enumerate(sizes):
        expected = first[block] + np.argsort(values[first[block] : first[block + 1]], kind="stable")[:count]
        assert few[block, : min(size, count)].tolist() == expected.tolist()
        assert (few[block, size:] == -1).all()


def test_lines_are_the_same_on_dense_and_on_sparse_rows():
    pair = make_pair(*files(2, 30, noise=0.8))
    aggregator = BY_LABEL["choquet"].make(3)
    dense = block_system(pair, aggregator)
    assert isinstance(dense.values, np.ndarray)
    thin = replace(dense, values=sparse.csr_array(dense.values))
    theta, *targets = aggregator.domain.sample(6, np.random.default_rng(0))
    directions = np.array(targets) - theta
    chords = np.array([aggregator.domain.chord(theta, direction) for direction in directions])
    for one, other in zip(
        best_on_lines(Scorer(dense), theta, directions, chords),
        best_on_lines(Scorer(thin), theta, directions, chords),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, atol=1e-12)


# ---------------------------------------------------------------- conflicts in a simplex


def test_subtrees_of_many_rows_prove_the_same():
    """With every subtree told its rows, and explorations of one simplex each."""
    pair = make_pair(*files(5, 40, noise=0.8))
    system = block_system(pair, BY_LABEL["weighted-mean"].make(3))
    bounds = []
    for steering in (TreeSteering(), TreeSteering(few_rows=0, budget_rows=1)):
        theta = system.aggregator.equal()
        evaluator = Evaluator(pair, 1)
        linked = evaluator.weight(system.aggregator.form(theta))
        incumbent = Incumbent(Clock(60.0), theta, linked, system.total_weight - system.lost_weight)
        SimplexTree(system, incumbent, evaluator, steering).run(60.0)
        assert incumbent.proven
        bounds.append(incumbent.bound)
    assert bounds[0] == bounds[1]
