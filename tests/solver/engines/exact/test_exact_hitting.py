"""Hitting sets: program, branch and cut, and the search as a whole, against brute force over all sets."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from aggregator_cases import BY_LABEL, CASES, LABELS
from exact_runs import files, hitting_sets, optimum, start
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise import pairwise

from linkrisk.formulations.linkage.pair import Ties, make_pair
from linkrisk.solver.engines.attacks.scoring import STRICT, Scorer
from linkrisk.solver.engines.base import CoreProof
from linkrisk.solver.engines.exact.branching import BranchAndCut, Worker
from linkrisk.solver.engines.exact.cores import Answer, LinearCoreFinder
from linkrisk.solver.engines.exact.hitting_search import HittingSearch, SwapSearch
from linkrisk.solver.engines.exact.hitting_set import CoveringProgram, HittingSet
from linkrisk.solver.engines.exact.polytope import PolytopeCoreFinder
from linkrisk.solver.engines.exact.spectrahedron import SemidefiniteCoreFinder
from linkrisk.solver.engines.steering import FinderSteering, HittingSteering, Steering

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
    master = HittingSet(weight)
    assert all(master.add(core, NO_PROOF) for core in cores)
    assert not master.add(cores[0], NO_PROOF)
    return master


def nothing(_=None):
    """Find no core, and let nothing be enough."""
    return False


def branching_of(master, stop=np.inf, enough=nothing, workers=1):
    """Branch and cut over fixed cores; it is over after `stop` questions."""
    asked = iter(range(10**9))
    made = [Worker(CoveringProgram(master), nothing, nothing) for _ in range(workers)]
    search = BranchAndCut(made, master.weight.size, enough)
    search.run(lambda: next(asked) >= stop, nothing)
    return search


# ---------------------------------------------------------------- the linear program


@given(masters())
@quickly
def test_the_relaxation_never_exceeds_the_lightest_set(made):
    cores, weight = made
    point, value = CoveringProgram(master_of(cores, weight)).solve()
    least = lightest(cores, weight)
    assert 0.0 < value <= least
    assert all(sum(point[block] for block in core) >= 1.0 - 1e-5 for core in cores)
    # A packing of disjoint cores is a fractional one.
    used: set[int] = set()
    packed = 0.0
    for core in cores:
        if not core & used:
            used |= core
            packed += min(weight[block] for block in core)
    assert value >= packed * (1.0 - 1e-9) - 1e-9


@given(masters(), st.data())
@quickly
def test_the_relaxation_with_fixed_blocks(made, data):
    """Also when blocks were fixed otherwise before."""
    cores, weight = made
    program = CoveringProgram(master_of(cores, weight))
    for _ in range(3):
        fixed = data.draw(st.dictionaries(st.integers(0, weight.size - 1), st.booleans()))
        program.fix(fixed)
        point, value = program.solve()
        sets = (np.array(bits, dtype=bool) for bits in product((False, True), repeat=weight.size))
        agreeing = [chosen for chosen in sets if all(chosen[b] == up for b, up in fixed.items())]
        least = min((weight[chosen].sum() for chosen in agreeing if hits(cores, chosen)), default=np.inf)
        assert value <= least
        assert np.isinf(value) == np.isinf(least)
        assert np.isinf(value) or all(point[block] == up for block, up in fixed.items())


def test_inequalities_leave_and_come_back():
    steering = HittingSteering(most_rows=20, most_idle=2)
    random = np.random.default_rng(1)
    cores = list({frozenset(random.choice(40, size=4, replace=False).tolist()) for _ in range(300)})
    master = master_of(cores, random.uniform(0.5, 2.0, size=40))
    program = CoveringProgram(master, steering=steering)
    first = program.solve()[1]
    for at in range(60):
        fixed = {at % 40: at % 3 == 0, (at * 7 + 1) % 40: at % 2 == 0}
        program.fix(fixed)
        point, value = program.solve()
        fresh = CoveringProgram(master)
        fresh.fix(fixed)
        assert value == pytest.approx(fresh.solve()[1])
        assert all(sum(point[block] for block in core) >= 1.0 - 1e-5 for core in cores)
    program.fix({})
    assert program.solve()[1] == pytest.approx(first)


# ---------------------------------------------------------------- branch and cut


@given(masters(), st.integers(1, 2))
@quickly
def test_the_lightest_set_is_proven(made, workers):
    cores, weight = made
    least = lightest(cores, weight)
    enough = branching_of(
        master_of(cores, weight), enough=lambda value: value >= least * (1.0 - 1e-9), workers=workers
    )
    assert np.isinf(enough.bound)
    # Without it the search ends at a whole hitting set that misses no core.
    assert branching_of(master_of(cores, weight), workers=workers).bound == pytest.approx(least)


@given(masters(), st.integers(0, 6))
@quickly
def test_a_search_that_is_stopped_bounds_all_the_same(made, stop):
    cores, weight = made
    search = branching_of(master_of(cores, weight), stop)
    assert search.bound <= lightest(cores, weight) * (1.0 + 1e-9)
    search.run(nothing, nothing)
    assert search.bound == pytest.approx(lightest(cores, weight))


@given(masters())
@quickly
def test_splits_are_the_tree_in_preorder(made):
    cores, weight = made
    splits = list(branching_of(master_of(cores, weight)).splits())

    def read(fixed):
        split = splits.pop(0)
        if split >= 0:
            assert split not in fixed
            read(fixed | {split})
            read(fixed | {split})

    read(frozenset())
    assert not splits


def test_the_root_without_time_bounds_all_the_same():
    random = np.random.default_rng(1)
    cores = list({frozenset(random.choice(60, size=3, replace=False).tolist()) for _ in range(200)})
    assert 0.0 <= branching_of(master_of(cores, np.ones(60)), 0).bound <= 60.0


@pytest.mark.parametrize(
    ("size", "relaxed", "whole"), [(3, 2.0, 2.0), (4, 2.0, 2.0), (5, 2.5, 3.0), (7, 3.5, 4.0)]
)
def test_cycles_of_pairs(size, relaxed, whole):
    """Three pairs in a triangle are a clique, all but one of which go; of longer cycles half must go."""
    cores = [frozenset({block, (block + 1) % size}) for block in range(size)]
    master = master_of(cores, np.ones(size + 1))
    assert CoveringProgram(master).solve()[1] == pytest.approx(relaxed)
    assert branching_of(master).bound == pytest.approx(whole)


# ---------------------------------------------------------------- the search as a whole


@pairwise(case=CASES, ties=list(Ties), seed=range(2))
def test_hitting_sets_alone_reach_the_optimum(case, ties, seed):
    attributes = 2 + seed % 2
    original, masked = files(seed, attributes=attributes)
    masked[1] = masked[0]
    pair = make_pair(original, masked, ties=ties)
    made = hitting_sets(pair, case.make(attributes), seed)
    assert made.incumbent.proven
    assert made.incumbent.value == pytest.approx(optimum(pair, case))


@pytest.mark.parametrize(
    ("label", "most", "kind"),
    [
        ("choquet", 7, PolytopeCoreFinder),
        ("choquet", 6, LinearCoreFinder),
        ("mahalanobis", 6, SemidefiniteCoreFinder),
    ],
)
def test_the_finder_suits_the_domain(label, most, kind):
    """Three attributes have seven subsets; a basis of too many parameters is left to HiGHS."""
    pair = make_pair(*files(3, 9, 3, 1.4))
    made = start(pair, BY_LABEL[label].make(3))
    steering = Steering(finders=FinderSteering(most_parameters=most))
    search = HittingSearch(made.system, made.incumbent, made.evaluator, 0, steering)
    assert all(type(finder) is kind for finder in search._finders)
    search.branch(np.inf)
    assert made.incumbent.proven


def test_every_core_of_a_search_has_a_proof():
    pair = make_pair(*files(4, 30, 3, 1.0))
    made = start(pair, BY_LABEL["choquet"].make(3))
    search = HittingSearch(made.system, made.incumbent, made.evaluator, 0)
    search.all_pairs(np.inf)
    search.branch(np.inf)
    assert search.master.cores
    assert not search.undecided
    for core, proof in search.master.cores.items():
        assert core == set(made.system.row_open[proof.rows].tolist())
        assert proof.multipliers.sum() == pytest.approx(1.0)


def test_branching_stops_in_time_and_goes_on():
    pair = make_pair(*files(4, 30, 3, 1.0))
    made = start(pair, BY_LABEL["choquet"].make(3))
    search = HittingSearch(made.system, made.incumbent, made.evaluator, 0)
    search.branch(made.incumbent.clock.seconds)
    assert not search.master.cores  # there was no time for any
    assert not made.incumbent.proven
    search.branch(np.inf)
    assert search.master.cores
    assert made.incumbent.proven


def test_a_core_that_another_thread_tells_first_is_missed_all_the_same():
    """Else the search ends where two threads find the same core at the same time."""
    made = start(make_pair(*files(3, 9, 3, 1.4)), BY_LABEL["choquet"].make(3))
    search = HittingSearch(made.system, made.incumbent, made.evaluator, 0)
    point, _ = CoveringProgram(search.master).solve()  # knows no core
    for _ in range(100):
        assert search._separate(search._finders[0], point)
    search.branch(np.inf)
    assert made.incumbent.proven


# ---------------------------------------------------------------- swaps


@pytest.mark.parametrize("label", ["weighted-mean", "choquet"])
def test_swaps_never_lose_and_learn_true_cores(label):
    pair = make_pair(*files(6, 40, 3, 1.0))
    aggregator = BY_LABEL[label].make(3)
    made = start(pair, aggregator)
    scorer = Scorer(made.system)
    learned = []
    finder = PolytopeCoreFinder(made.system, scorer, made.incumbent.clock)
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
    points = aggregator.domain.sample(2000, np.random.default_rng(2))
    linked = scorer.linked(points)
    assert learned
    for answer in learned:
        assert not linked[sorted(answer.core)].all(axis=0).any()
    assert (scorer.exact_margins(theta) > STRICT).sum() == first


def test_a_walk_that_gets_nowhere_goes_on_from_what_was_offered():
    pair = make_pair(*files(6, 40, 3, 1.0))
    aggregator = BY_LABEL["weighted-mean"].make(3)
    made = start(pair, aggregator)
    scorer = Scorer(made.system)
    finder = PolytopeCoreFinder(made.system, scorer, made.incumbent.clock)
    impatient = HittingSteering(patience=0)
    search = SwapSearch(finder, scorer, scorer.weight, lambda _: None, np.random.default_rng(0), impatient)
    low, high = sorted(aggregator.domain.sample(30, np.random.default_rng(3)), key=scorer.exact_weight)[::29]
    assert scorer.exact_weight(low) + 1 < scorer.exact_weight(high)
    search.start(low)
    search.offer(high, np.zeros(scorer.weight.size))
    # Every step from `high` on links at least as much; those from `low` could not.
    for _ in range(40):
        found = search.step()
        assert found is None or scorer.exact_weight(found) >= scorer.exact_weight(high)


@everywhere
def test_a_core_that_another_thread_is_first_to_find_does_not_end_the_search(case, monkeypatch):
    """It is no news to the one that comes second, whose point has to learn it all the same."""
    add = HittingSet.add

    def late(master, core, proof):
        assert add(master, core, proof) is not None
        return False

    monkeypatch.setattr(HittingSet, "add", late)
    monkeypatch.setattr(HittingSearch, "all_pairs", lambda *_: None)
    made = hitting_sets(make_pair(*files(0, 7, 2)), case.make(2))
    assert made.incumbent.proven


def test_a_core_of_other_blocks_is_not_asked_for_again_and_again():
    """Once a search never ended: the core that came had none of the blocks that were asked about."""
    made = start(make_pair(*files(0, n=12)), BY_LABEL["weighted-mean"].make(3))
    search = HittingSearch(made.system, made.incumbent, made.evaluator, 0)
    blocks, asked = made.system.open_blocks.size, []

    class Astray:
        at_once = 8

        def ask(self, inside):
            asked.append(inside.size)
            return Answer(core=frozenset({blocks - 1}), proof=NO_PROOF)

    inside = np.arange(blocks) < blocks - 1
    search._collect(Astray(), np.zeros(blocks), inside)
    assert len(asked) == 1


# ---------------------------------------------------------------- cores of a similar problem


def searched(pair, aggregator):
    made = start(pair, aggregator)
    return made, HittingSearch(made.system, made.incumbent, made.evaluator, 0)


def linked_together(pair, blocks, case):
    part = pair.part(np.array(sorted(blocks), dtype=np.intp))
    return optimum(part, case) == part.blocks


@pytest.mark.parametrize("case", [case for case in CASES if case.name != "mahalanobis"])
def test_sets_that_are_asked_about_are_cores_where_that_is_so(case):
    pair = make_pair(*files(0, 7, 2, noise=3.0))
    made, search = searched(pair, case.make(2))
    asked = [frozenset(blocks) for size in (1, 2, 3) for blocks in combinations(range(7), size)][::2]
    search.ask_about(asked)
    cores = [frozenset(made.system.open_blocks[sorted(core)].tolist()) for core in search.master.cores]
    assert cores
    assert not any(linked_together(pair, core, case) for core in cores)
    for blocks in asked:
        known = made.system.lost[sorted(blocks)].any() or any(core <= blocks for core in cores)
        assert linked_together(pair, blocks, case) != known


@pytest.mark.parametrize("label", ["weighted-mean", "choquet", "mahalanobis"])
def test_a_core_stays_one_when_an_attribute_is_withheld(label):
    case, (original, masked) = BY_LABEL[label], files(2, 8, 3, noise=3.0)
    made, search = searched(make_pair(original, masked), case.make(3))
    search.all_pairs(np.inf)
    search.branch(np.inf)
    cores = search.proof.excluding(made.system)
    assert cores
    for left in ([0, 1], [0, 2], [1, 2]):
        pair = make_pair(original[:, left], masked[:, left])
        assert not any(linked_together(pair, core, case) for core in cores[:6])
