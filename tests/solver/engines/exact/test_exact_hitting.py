"""Hitting sets against brute force over all sets: program, branch and cut, small cores, the search."""

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
from linkrisk.solver.engines.exact.branching import BranchAndCut, Gains, Worker
from linkrisk.solver.engines.exact.cores import Answer
from linkrisk.solver.engines.exact.hitting_search import HittingSearch, SwapSearch
from linkrisk.solver.engines.exact.hitting_set import CoveringProgram, HittingSet
from linkrisk.solver.engines.exact.pairs import SmallCores
from linkrisk.solver.engines.exact.polytope import PolytopeCoreFinder
from linkrisk.solver.engines.steering import HittingSteering, PairSteering

NO_PROOF = CoreProof(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0))
everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)
quickly = settings(derandomize=True, max_examples=60, deadline=None)


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


@given(masters(), st.data())
@quickly
def test_the_relaxation_with_fixed_blocks(made, data):
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


# ---------------------------------------------------------------- gains


@pytest.fixture
def program():
    """A cycle of five pairs, and one of seven that hangs on block 5."""
    master = HittingSet(np.ones(12))
    five = [{at, (at + 1) % 5} for at in range(5)]
    seven = [{5 + at, 5 + (at + 1) % 7} for at in range(7)]
    for core in five + seven:
        master.add(frozenset(core), NO_PROOF)
    return CoveringProgram(master)


def test_unknown_blocks_are_tried(program):
    """Half of every block; giving one up or keeping it makes its cycle whole, a gain of one half each."""
    point, value = program.solve()
    assert value == pytest.approx(6.0)
    gains = Gains(12)
    block = gains.best(point, np.arange(12), {}, value, program)
    assert 0 <= block < 12
    program.fix({block: True})
    up = program.solve()[1]
    program.fix({block: False})
    kept = program.solve()[1]
    assert up - value == pytest.approx(0.5)
    assert kept - value == pytest.approx(0.5)


def test_what_gained_most_in_both_children_is_branched_on_again(program):
    """Enough is learned of each to be believed without a try; where nothing is left, the gain is large."""
    point, value = program.solve()
    gains = Gains(12)
    learned = dict.fromkeys(range(12), (0.1, 1.0)) | {8: (1.0, 1.0), 3: (4.0, 0.0), 0: (np.inf, 1.0)}
    for block, both in learned.items():
        for gain, given_up in zip(both, (True, False), strict=True):
            for _ in range(4):
                gains.learn(block, given_up, 0.5, gain)
    for blocks, best in ((range(12), 0), (range(1, 12), 8), ((1, 2), 1), ((3, 4), 4)):
        assert gains.best(point, np.array(blocks), {}, value, program) == best


# ---------------------------------------------------------------- pairs


SIMPLEX = ("weighted-mean", "owa")


def search_of(label, seed, records=25, attributes=3, **steering):
    made = start(make_pair(*files(seed, records, attributes, 1.0)), BY_LABEL[label].make(attributes))
    scorer = Scorer(made.system)
    learned = []
    search = SmallCores(
        made.system,
        scorer,
        made.incumbent.clock,
        learned.append,
        np.random.default_rng(seed),
        PairSteering(**steering),
    )
    return made, search, learned, PolytopeCoreFinder(made.system, scorer, made.incumbent.clock)


def cores_of(learned):
    found = {answer.core for answer in learned if answer.core is not None}
    return {core for core in found if not any(other < core for other in found)}


def truth(finder, blocks):
    singles = {frozenset({b}) for b in range(blocks) if finder.ask(np.array([b])).core is not None}
    lost = set().union(*singles) if singles else set()
    able = [b for b in range(blocks) if b not in lost]
    pairs = {frozenset(two) for two in combinations(able, 2) if finder.ask(np.array(two)).core is not None}
    return singles, pairs


@pytest.mark.parametrize("label", ["weighted-mean", "owa", "choquet"])
@pytest.mark.parametrize("first", ["sample", "rows", "nothing"])
@pytest.mark.parametrize("threads", [1, 3])
def test_asking_leaves_no_pair_out(label, first, threads):
    made, search, learned, finder = search_of(label, 5)
    if first == "sample":
        search.sample(made.incumbent.solution)
        assert search.together.any()
        assert not search.together.all()
    elif first == "rows" and label in SIMPLEX:
        search.two_rows(np.inf)
    finders = [
        PolytopeCoreFinder(made.system, Scorer(made.system), made.incumbent.clock) for _ in range(threads)
    ]
    search.ask(finders, np.inf)
    singles, pairs = truth(finder, made.system.open_blocks.size)
    assert pairs
    assert cores_of(learned) == singles | pairs


def test_of_very_many_blocks_the_pairs_of_some_are_asked():
    """By lot, as memory is quadratic in them; every single block is asked about all the same."""
    made, search, learned, finder = search_of("choquet", 3, most_blocks=12)
    assert search.together.shape == (12, 12)
    search.sample(made.incumbent.solution)
    search.ask([finder], np.inf)
    singles, pairs = truth(finder, made.system.open_blocks.size)
    chosen = set(search._some.tolist())
    assert cores_of(learned) == singles | {pair for pair in pairs if pair <= chosen}
    assert not pairs <= cores_of(learned)


def test_of_very_many_pairs_some_are_asked():
    made, search, learned, finder = search_of("choquet", 3, most_pairs=30)
    search.ask([finder], np.inf)
    singles, pairs = truth(finder, made.system.open_blocks.size)
    assert singles <= cores_of(learned) <= singles | pairs
    assert 0 < len(cores_of(learned) & pairs) < len(pairs)
