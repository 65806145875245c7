"""The exact engine: its proofs are the exact optimum, its bounds survive every attack."""

from __future__ import annotations

import brute_force as plain
import numpy as np
import pandas as pd
import pytest
from aggregator_cases import BY_LABEL, CASES, LABELS

from datasets.default_pair import default_pair
from formulations.block_system import block_system
from formulations.distances import Standardisation
from formulations.pair import Direction, Ties, make_pair
from solver.backends.base import Limit, Status
from solver.engines.attacks import attack
from solver.engines.base import Clock, EngineOptions, Record
from solver.engines.exact.cores import Answer, CoreFinder
from solver.engines.exact.engine import MOST_TREE_DIMENSIONS, ExactEngine
from solver.engines.exact.hitting import HittingSearch
from solver.engines.exact.hitting_set import HittingSet
from solver.engines.exact.tree import SimplexTree
from solver.engines.scoring import Scorer
from solver.fitting import fit
from solver.linkage.evaluator import Evaluator

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)
on_simplex = pytest.mark.parametrize("label", ["weighted-mean", "owa", "2-additive"])


def files(seed, n=7, attributes=3, noise=1.4):
    random = np.random.default_rng(seed)
    original = random.normal(size=(n, attributes))
    return original, original + noise * random.normal(size=(n, attributes))


def start(pair, aggregator, seconds=30.0, attacked=False):
    system = block_system(pair, aggregator)
    evaluator = Evaluator(pair, 1)
    theta = aggregator.equal()
    record = Record(
        Clock(seconds),
        theta,
        evaluator.weight(aggregator.form(theta)),
        system.total_weight - system.lost_weight,
    )
    if attacked:
        attack(system, record, evaluator, 0)
    return system, record, evaluator


def run(pair, aggregator, **options):
    system, record, evaluator = start(pair, aggregator, **options)
    result = ExactEngine().run(system, record, evaluator, EngineOptions())
    assert record.linked == pytest.approx(evaluator.weight(aggregator.form(record.theta)))
    assert record.linked <= record.bound + 1e-9
    assert aggregator.domain().violation(record.theta) <= 1e-9
    assert result.margin is None
    return record, result


def optimum(pair, case):
    reference = plain.Records(pair.queries, pair.candidates, pair.partner.tolist(), pair.ties is Ties.SHARE)
    return plain.optimum(reference, case.family(pair.queries.shape[1]), 1e-9)


@everywhere
@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("ties", list(Ties))
@pytest.mark.parametrize("seed", range(5))
def test_the_interval_holds_the_exact_optimum(case, direction, ties, seed):
    attributes = 2 + seed % 2
    original, masked = files(seed, attributes=attributes)
    if ties is Ties.SHARE:
        masked[1] = masked[0]
    pair = make_pair(original, masked, direction=direction, ties=ties)
    record, result = run(pair, case.make(attributes))
    best = optimum(pair, case)
    assert record.linked <= best + 1e-9
    assert record.bound >= best - 1e-9
    aggregator = case.make(attributes)
    if aggregator.on_simplex and aggregator.dimension <= MOST_TREE_DIMENSIONS:
        assert result.status is Status.OPTIMAL
        assert record.linked == pytest.approx(best)
    if case.name == "mahalanobis":
        assert np.linalg.eigvalsh(case.make(attributes).matrix(record.theta))[0] >= 0.0


@pytest.mark.parametrize("label", ["weighted-mean", "owa"])
@pytest.mark.parametrize("seed", range(40))
def test_integer_data_full_of_ties(label, seed):
    """Small whole numbers: rivals as near as the partner, opposite rows, records that are equal."""
    random = np.random.default_rng(seed)
    original = random.integers(0, 4, size=(7, 2)).astype(float)
    masked = original + random.integers(-1, 2, size=(7, 2))
    if any(np.ptp(values[:, k]) == 0 for values in (original, masked) for k in range(2)):
        masked[0] += 1.0
        original[0] += 2.0
    pair = make_pair(original, masked, standardisation=Standardisation.POOLED)
    case = BY_LABEL[label]
    record, _ = run(pair, case.make(2))
    best = optimum(pair, case)
    assert record.linked <= best <= record.bound


@on_simplex
@pytest.mark.parametrize("seed", range(3))
def test_both_searches_agree(label, seed):
    attributes = 2 if label == "2-additive" else 3
    pair = make_pair(*files(seed, 40, attributes, 0.7))
    aggregator = BY_LABEL[label].make(attributes)
    system, record, evaluator = start(pair, aggregator)
    SimplexTree(system, record, evaluator).run(20.0)
    other_system, other, other_evaluator = start(pair, aggregator, attacked=True)
    HittingSearch(other_system, other, other_evaluator, seed).run()
    assert record.linked <= other.bound
    assert other.linked <= record.bound


@everywhere
def test_no_attack_exceeds_the_bound(case):
    pair = make_pair(*files(11, 60, 3, 0.8))
    aggregator = case.make(3)
    record, _ = run(pair, aggregator, seconds=3.0, attacked=True)
    evaluator = Evaluator(pair, 1)
    points = aggregator.sample(500, np.random.default_rng(1))
    assert max(evaluator.weight(aggregator.form(point)) for point in points) <= record.bound
    for seed in (1, 2):
        system, other, _ = start(pair, aggregator, seconds=5.0)
        attack(system, other, evaluator, seed)
        assert other.linked <= record.bound


def test_richer_aggregators_never_link_less():
    pair = default_pair()
    bounds = {}
    for name in ("weighted-mean", "choquet"):
        result = fit(
            pair.original, pair.masked, attributes=list(pair.attributes), aggregator=name, engine="exact"
        )
        bounds[name] = result
    assert bounds["weighted-mean"].proven
    assert bounds["weighted-mean"].linked == 377  # as the big-C engine proves
    assert bounds["choquet"].linked_upper_bound >= 381  # as the big-C engine links
    assert bounds["choquet"].linked >= bounds["weighted-mean"].linked


def test_one_more_candidate_never_raises_the_optimum():
    original, masked = files(3, 30, 3, 0.6)
    aggregator = BY_LABEL["weighted-mean"].make(3)
    random = np.random.default_rng(0)
    partner = np.arange(30)
    last = np.inf
    for _ in range(4):
        pair = make_pair(original, masked, partner, standardisation=Standardisation.NONE)
        record, result = run(pair, aggregator)
        assert result.status is Status.OPTIMAL
        assert record.linked <= last
        last = record.linked
        masked = np.vstack([masked, random.normal(size=(1, 3))])


def test_a_core_is_proved_and_shrinks():
    pair = make_pair(*files(5, 40, 2, 1.0))
    aggregator = BY_LABEL["choquet"].make(2)
    system = block_system(pair, aggregator)
    finder = CoreFinder(system, Scorer(system), Clock(20.0))
    answer = finder.ask(np.arange(system.open_blocks.size))
    assert answer.core is not None
    core, points = finder.shrink(answer.core, sorted(answer.core))
    assert core <= answer.core
    draws = aggregator.sample(3000, np.random.default_rng(2))
    linked = Scorer(system).linked(draws)[sorted(core)]
    assert not linked.all(axis=0).any()
    for point in points:
        assert np.isfinite(point).all()


def test_the_master_bounds_the_lightest_hitting_set():
    """Three pairs in a triangle: two blocks must go; the relaxation says one and a half."""
    master = HittingSet(np.ones(4))
    for core in ({0, 1}, {1, 2}, {0, 2}):
        assert master.add(frozenset(core))
    assert not master.add(frozenset({0, 1}))
    assert master.relaxed()[1] == pytest.approx(1.5)
    point, bound = master.whole(10.0, 0.999)
    assert point.round().sum() == 2
    assert np.ceil(bound - 1e-6) == 2


def test_a_time_limit_leaves_a_valid_interval():
    original, masked = files(7, 150, 6, 0.9)
    frames = [pd.DataFrame(values, columns=list("abcdef")) for values in (original, masked)]
    result = fit(*frames, aggregator="choquet", engine="exact", time_limit=1.0)
    assert result.status == "feasible"
    assert result.limit == Limit.TIME.value
    assert result.linked < result.linked_upper_bound <= 150
    assert result.details["backend"] is None
    assert result.details["margin"] is None


def test_what_rounding_leaves_open_is_said(monkeypatch):
    """Records that exclude each other but touch where both distances vanish: rounding cannot prove it."""
    monkeypatch.setattr(CoreFinder, "ask", lambda *_: Answer())
    original, masked = files(8, 40, 3, 0.9)
    frames = [pd.DataFrame(values, columns=list("abc")) for values in (original, masked)]
    result = fit(*frames, aggregator="choquet", engine="exact")
    assert result.status == "feasible"
    assert result.limit is None
    assert result.details["notes"] == [
        "some records exclude each other only up to rounding, so the interval stays open; --engine milp may "
        "close it up to its margin"
    ]
