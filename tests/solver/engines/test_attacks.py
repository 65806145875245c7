"""The heuristic attacks: scores, line searches, margins and the portfolio."""

from __future__ import annotations

import brute_force as plain
import brute_optimum
import numpy as np
import pytest
from aggregator_cases import BY_LABEL, CASES, LABELS
from exact_runs import files

from linkrisk.formulations.linkage.block_system import block_system
from linkrisk.formulations.linkage.pair import Ties, make_pair
from linkrisk.solver.engines.attacks.scoring import STRICT, Scorer, best_on_lines
from linkrisk.solver.engines.attacks.search import attack, widen
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.run.progress import Progress

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)


def pair_of(seed, n=14, attributes=3, noise=0.8, **options):
    return make_pair(*files(seed, n, attributes, noise), **options)


def start(system, seconds=None, report=None):
    theta = system.aggregator.equal()
    evaluator = Evaluator(system.pair, 1)
    linked = evaluator.count(system.aggregator.form(theta)).linked_weight
    clock = Clock(seconds)
    return Incumbent(clock, theta, linked, system.total_weight - system.lost_weight, report), evaluator


# ---------------------------------------------------------------- scores


@everywhere
@pytest.mark.parametrize("ties", list(Ties))
def test_scores_are_the_evaluators_counts(case, ties):
    pair = pair_of(1, 25, ties=ties)
    aggregator = case.make(3)
    system = block_system(pair, aggregator)
    scorer, evaluator = Scorer(system), Evaluator(pair, 1)
    points = aggregator.domain.sample(40, np.random.default_rng(0))
    weights = scorer.weights(points) + system.sure_weight
    for theta, weight in zip(points, weights, strict=True):
        assert weight == pytest.approx(evaluator.count(aggregator.form(theta)).linked_weight)
        assert scorer.exact_weight(theta) + system.sure_weight == pytest.approx(weight)
        margins = scorer.exact_margins(theta)
        rows, smallest = scorer.tightest_rows(theta)
        np.testing.assert_array_equal(smallest, margins)
        np.testing.assert_array_equal(system.row_open[rows], np.arange(system.open_blocks.size))
        np.testing.assert_allclose(system.matrix[rows] @ theta, margins, atol=1e-14)
        table = evaluator.rank(aggregator.form(theta))
        np.testing.assert_array_equal(table.linked[system.open_blocks], margins > STRICT)


# ---------------------------------------------------------------- line searches


@everywhere
@pytest.mark.parametrize("seed", range(3))
def test_the_best_point_of_a_line_beats_every_point_of_a_fine_grid(case, seed):
    pair = pair_of(seed, 20)
    aggregator = case.make(3)
    system = block_system(pair, aggregator)
    scorer = Scorer(system)
    theta, *targets = aggregator.domain.sample(9, np.random.default_rng(seed))
    directions = np.array(targets) - theta
    chords = np.array([aggregator.domain.chord(theta, direction) for direction in directions])
    weights, steps = best_on_lines(scorer, theta, directions, chords)
    for direction, (low, high), weight, step in zip(directions, chords, weights, steps, strict=True):
        assert low <= step <= high
        assert scorer.exact_weight(theta + step * direction) == pytest.approx(weight)
        grid = theta + np.linspace(low, high, 801)[:, None] * direction
        assert scorer.weights(grid).max() <= weight + 1e-9


# ---------------------------------------------------------------- linear programs


@everywhere
@pytest.mark.parametrize("seed", range(3))
def test_widening_loses_nothing_and_the_record_stays_true(case, seed):
    pair = pair_of(seed, 12)
    aggregator = case.make(3)
    system = block_system(pair, aggregator)
    incumbent, evaluator = start(system)
    theta = aggregator.domain.sample(1, np.random.default_rng(seed))[0]
    incumbent.solution, incumbent.value = theta, evaluator.count(aggregator.form(theta)).linked_weight
    before, scorer = incumbent.value, Scorer(system)
    inside = scorer.exact_margins(theta) > STRICT
    widen(system, scorer, incumbent, evaluator)
    assert incumbent.value >= before
    assert incumbent.value == evaluator.count(aggregator.form(incumbent.solution)).linked_weight
    after = scorer.exact_margins(incumbent.solution)
    if inside.any() and (after[inside] > STRICT).all():
        narrowest = scorer.exact_margins(theta)[inside].min()
        assert after[inside].min() >= narrowest - 1e-6


# ---------------------------------------------------------------- the portfolio


@everywhere
def test_the_attack_improves_on_equal_weights_and_says_what_it_counts(case):
    ties = list(Ties)[CASES.index(case) % 2]
    seen: list[Progress] = []
    pair = pair_of(6, 18, ties=ties)
    system = block_system(pair, case.make(3))
    incumbent, evaluator = start(system, report=seen.append)
    euclid = incumbent.value
    attack(system, incumbent, evaluator, seed=0)
    assert incumbent.value > euclid
    assert incumbent.value == pytest.approx(
        evaluator.count(system.aggregator.form(incumbent.solution)).linked_weight
    )
    assert system.aggregator.domain.rows.violation(incumbent.solution) <= 1e-9
    if case.name == "mahalanobis":
        assert np.linalg.eigvalsh(system.aggregator.domain.matrix(incumbent.solution))[0] >= 0.0
    assert [p.value for p in seen] == sorted(p.value for p in seen)
    assert [row[1] for row in incumbent.trace] == sorted(row[1] for row in incumbent.trace)


@pytest.mark.parametrize("label", ["weighted-mean", "owa"])
@pytest.mark.parametrize("seed", range(6))
def test_with_two_attributes_the_attack_finds_the_optimum(label, seed):
    """The best weight of two attributes is a point of largest overlap: hundreds of intervals, exactly."""
    pair = pair_of(seed, 60, 2, noise=0.4)
    system = block_system(pair, BY_LABEL[label].make(2))
    incumbent, evaluator = start(system)
    attack(system, incumbent, evaluator, seed=0)
    reference = plain.of_pair(pair)
    features = list if label == "weighted-mean" else (lambda c: sorted(c, reverse=True))
    assert incumbent.value == brute_optimum.overlap_optimum(reference, features)


@everywhere
def test_an_expired_clock_stops_the_attack_with_a_valid_record(case, virtual_time):
    system = block_system(pair_of(9, 40), case.make(3))
    incumbent, evaluator = start(system, 1e-9)
    attack(system, incumbent, evaluator, seed=0)
    assert incumbent.clock.expired
    assert incumbent.value == evaluator.count(system.aggregator.form(incumbent.solution)).linked_weight
    assert virtual_time.asked < 200
