"""Hitting sets: local search, master and the search as a whole, against brute force over all sets."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from aggregator_cases import BY_LABEL, CASES, LABELS
from exact_runs import files, hitting_sets, optimum, start
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.pair import Ties, make_pair
from solver.engines.base import CoreProof
from solver.engines.exact.cores import LinearCoreFinder
from solver.engines.exact.cover import incidence, search_cover
from solver.engines.exact.hitting import HittingSearch
from solver.engines.exact.hitting_set import HittingSet
from solver.engines.exact.swaps import SwapSearch
from solver.engines.scoring import STRICT, Scorer

NO_PROOF = CoreProof(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0))
everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)
quickly = settings(derandomize=True, max_examples=150, deadline=None)


@st.composite
def masters(draw):
    """Cores over a few blocks, and the weight of each block: ones, shares of ties or anything."""
    blocks = draw(st.integers(1, 8))
    most = draw(st.sampled_from([2, 4]))  # many pairs make cliques
    core = st.frozensets(st.integers(0, blocks - 1), min_size=1, max_size=min(most, blocks))
    cores = draw(st.lists(core, min_size=1, max_size=18, unique=True))
    weight = draw(st.sampled_from([(1.0,), (1.0, 0.5, 1.0 / 3.0), (3.3, 0.01, 1e4)]))
    return cores, np.array(draw(st.lists(st.sampled_from(weight), min_size=blocks, max_size=blocks)))


def lightest(cores, weight):
    """Weight of the lightest set of blocks that has one of every core, by looking at all sets."""
    sets = (np.array(bits, dtype=bool) for bits in product((False, True), repeat=weight.size))
    return min(weight[chosen].sum() for chosen in sets if hits(cores, chosen))


def hits(cores, chosen):
    return all(any(chosen[block] for block in core) for core in cores)


def master_of(cores, weight):
    master = HittingSet(weight, np.random.default_rng(0))
    assert all(master.add(core, NO_PROOF) for core in cores)
    assert not master.add(cores[0], NO_PROOF)
    return master


# ---------------------------------------------------------------- local search


@given(masters(), st.integers(0, 5))
@quickly
def test_the_local_search_finds_what_it_says(made, seed):
    cores, weight = made
    sizes = np.array([len(core) for core in cores], dtype=np.intp)
    members = np.array([block for core in cores for block in sorted(core)], dtype=np.intp)
    least = lightest(cores, weight)
    random = np.random.default_rng(seed)
    start_set = random.random(weight.size) < 0.5
    for target, possible in ((least * (1.0 + 1e-9), True), (least * 0.999, False)):
        chosen, found = search_cover(
            incidence(sizes, members, weight.size), weight, start_set, target, 5000, random
        )
        assert found == possible
        if found:
            assert hits(cores, chosen)
            assert weight[chosen].sum() <= target * (1.0 + 1e-9)


# ---------------------------------------------------------------- the master


@given(masters())
@quickly
def test_the_relaxation_never_exceeds_the_lightest_set(made):
    cores, weight = made
    master = master_of(cores, weight)
    point = master.relaxed()
    least = lightest(cores, weight)
    assert 0.0 < master.bound <= least
    assert all(sum(point[block] for block in core) >= 1.0 - 1e-6 for core in cores)
    # A packing of disjoint cores is a fractional one.
    used: set[int] = set()
    packed = 0.0
    for core in cores:
        if not core & used:
            used |= core
            packed += min(weight[block] for block in core)
    assert master.bound >= packed * (1.0 - 1e-9) - 1e-9


@given(masters(), st.booleans())
@quickly
def test_the_lightest_set_is_found_and_its_bound_holds(made, relaxed_first):
    cores, weight = made
    master = master_of(cores, weight)
    if relaxed_first:
        master.relaxed()
    least = lightest(cores, weight)
    gap = 0.999 if (weight == 1.0).all() else 1e-6
    for _ in range(2):
        point = master.whole(master.rows(), 10.0, gap)
        assert hits(cores, point > 0.5)
        assert master.bound <= least * (1.0 + 1e-9)
        assert weight @ point <= least + gap + 1e-6


def test_the_master_without_time_bounds_all_the_same():
    random = np.random.default_rng(1)
    cores = list({frozenset(random.choice(60, size=3, replace=False).tolist()) for _ in range(200)})
    master = HittingSet(np.ones(60), random)
    for core in cores:
        master.add(core, NO_PROOF)
    point = master.whole(master.rows(), 0.0, 0.999)
    assert 0.0 <= master.bound <= 60.0
    assert point.shape == (60,)


@pytest.mark.parametrize(
    ("size", "relaxed", "whole"), [(3, 2.0, 2.0), (4, 2.0, 2.0), (5, 2.5, 3.0), (7, 3.5, 4.0)]
)
def test_cycles_of_pairs(size, relaxed, whole):
    """Three pairs in a triangle are a clique, all but one of which go; of longer cycles half must go."""
    cores = [frozenset({block, (block + 1) % size}) for block in range(size)]
    master = master_of(cores, np.ones(size + 1))
    master.relaxed()
    assert master.bound == pytest.approx(relaxed)
    assert master.whole(master.rows(), 10.0, 0.999).sum() == whole


# ---------------------------------------------------------------- the search as a whole


@everywhere
@pytest.mark.parametrize("ties", list(Ties))
@pytest.mark.parametrize("seed", range(4))
def test_hitting_sets_alone_reach_the_optimum(case, ties, seed):
    attributes = 2 + seed % 2
    original, masked = files(seed, attributes=attributes)
    masked[1] = masked[0]
    pair = make_pair(original, masked, ties=ties)
    made = hitting_sets(pair, case.make(attributes), seed)
    assert made.record.proven
    assert made.record.linked == pytest.approx(optimum(pair, case))


def test_every_core_of_a_search_has_a_proof():
    pair = make_pair(*files(4, 30, 3, 1.0))
    made = start(pair, BY_LABEL["choquet"].make(3))
    search = HittingSearch(made.system, made.record, made.evaluator, 0)
    search.small_cores()
    search.rounds(np.inf)
    assert search.master.cores
    assert not search.undecided
    for core, proof in search.master.cores.items():
        assert core == set(made.system.row_open[proof.rows].tolist())
        assert proof.multipliers.sum() == pytest.approx(1.0)


def test_rounds_stop_in_time_and_go_on():
    pair = make_pair(*files(7, 60, 4, 0.9))
    made = start(pair, BY_LABEL["choquet"].make(4), seconds=60.0)
    search = HittingSearch(made.system, made.record, made.evaluator, 0)
    search.rounds(made.record.clock.seconds)
    assert not search.master.cores  # there was no time for any
    search.rounds(made.record.clock.seconds + 0.5)
    assert made.record.clock.seconds < 30.0
    assert search.master.cores


# ---------------------------------------------------------------- swaps


@pytest.mark.parametrize("label", ["weighted-mean", "choquet"])
def test_swaps_never_lose_and_learn_true_cores(label):
    pair = make_pair(*files(6, 40, 3, 1.0))
    aggregator = BY_LABEL[label].make(3)
    made = start(pair, aggregator)
    scorer = Scorer(made.system)
    learned = []
    finder = LinearCoreFinder(made.system, scorer, made.record.clock)
    search = SwapSearch(finder, scorer, scorer.weight, learned.append, np.random.default_rng(0))
    theta = aggregator.equal()
    search.start(theta)
    weight = scorer.exact_weight(theta)
    first = weight
    for _ in range(120):
        found = search.step()
        if found is not None:
            assert scorer.exact_weight(found) >= weight
            weight = scorer.exact_weight(found)
    assert weight > first
    points = aggregator.sample(2000, np.random.default_rng(2))
    linked = scorer.linked(points)
    assert learned
    for answer in learned:
        assert not linked[sorted(answer.core)].all(axis=0).any()
    assert (scorer.exact_margins(theta) > STRICT).sum() == first
