"""Cores of one and two blocks: each is one, each has a proof, and none is left out."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from aggregator_cases import BY_LABEL
from exact_runs import files, start

from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.exact.pairs import SmallCores
from linkrisk.solver.engines.exact.polytope import PolytopeCoreFinder
from linkrisk.solver.engines.steering import PairSteering

SIMPLEX = ("weighted-mean", "owa")


def search_of(label, seed, records=25, attributes=3, **steering):
    """A search for small cores, the answers it has learned from, and a finder."""
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
    """Cores that contain no other."""
    found = {answer.core for answer in learned if answer.core is not None}
    return {core for core in found if not any(other < core for other in found)}


def truth(finder, blocks):
    """Single blocks and pairs that cannot be linked, by asking about each."""
    singles = {frozenset({b}) for b in range(blocks) if finder.ask(np.array([b])).core is not None}
    lost = set().union(*singles) if singles else set()
    able = [b for b in range(blocks) if b not in lost]
    pairs = {frozenset(two) for two in combinations(able, 2) if finder.ask(np.array(two)).core is not None}
    return singles, pairs


@pytest.mark.parametrize("label", SIMPLEX)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sampled", [True, False])
def test_pairs_of_rows_are_cores_with_a_proof(label, seed, sampled):
    made, search, learned, finder = search_of(label, seed)
    if sampled:
        search.sample(made.incumbent.solution)
    search.two_rows(np.inf)
    assert learned
    singles, pairs = truth(finder, made.system.open_blocks.size)
    for answer in learned:
        assert answer.core in pairs or any(single < answer.core for single in singles)
        combined = answer.proof.multipliers @ made.system.values[answer.proof.rows]
        assert combined.max() < -1e-14
        assert set(made.system.row_open[answer.proof.rows].tolist()) == set(answer.core)


@pytest.mark.parametrize("label", SIMPLEX)
@pytest.mark.parametrize("seed", range(4))
def test_two_attributes_need_no_more_than_two_rows(label, seed):
    """On an interval two rows are always enough, so that nothing is left to ask."""
    made, search, learned, finder = search_of(label, seed, attributes=2)
    search.two_rows(np.inf)
    singles, pairs = truth(finder, made.system.open_blocks.size)
    assert pairs <= cores_of(learned)
    search.ask([finder], np.inf)
    assert cores_of(learned) == pairs | singles


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


def test_what_is_seen_together_is_linked_together():
    made, search, _, finder = search_of("weighted-mean", 7)
    search.sample(made.incumbent.solution)
    for two in combinations(range(made.system.open_blocks.size), 2):
        if search.together[two]:
            assert finder.ask(np.array(two)).theta is not None


def test_there_is_an_end_when_the_time_is_over():
    _, search, learned, finder = search_of("choquet", 5)
    search.two_rows(-1.0)
    search.ask([finder], -1.0)
    assert not learned
