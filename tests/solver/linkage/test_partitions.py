"""Blocks and candidates that are shared out: what one evaluator finds, bit for bit."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from box_cases import FEW, FILES, FORMS, MANY, pair_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise import pairwise

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import Ties, make_pair
from linkrisk.formulations.linkage.rows import lost_blocks
from linkrisk.solver.engines.growing_rows import GrowingRows
from linkrisk.solver.linkage import shared_counts
from linkrisk.solver.linkage.distance_ranks import COUNTING, NEAREST, RANKING
from linkrisk.solver.linkage.evaluator import Evaluator, Lost, marked
from linkrisk.solver.linkage.lexicographic import InOrder, best_order
from linkrisk.solver.linkage.shared_counts import (
    PartedCounts,
    PartedPair,
    WholeCounts,
    counting_by,
    itself,
    partitions_of,
)
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.pool import PoolChoice, WorkerPool
from linkrisk.solver.run.workers import Sequential

SOME = ["corner", "choquet", "singular"]
"""Forms of which few, many or no candidates can be left out."""
COMPLETE = {
    RANKING: ("rank", "ties", "distance", "nearest_other", "rival"),
    NEAREST: ("distance", "nearest_other", "rival"),
    COUNTING: ("distance",),
}
"""What a look finds, whatever it looks at first; of the others it says only whether a rival is in the way."""


@pytest.fixture(autouse=True)
def all_is_shared_out(monkeypatch):
    monkeypatch.setattr(shared_counts, "WORTH", 1)
    monkeypatch.setattr(shared_counts, "STOPS_SOONER", 1)
    monkeypatch.setattr(shared_counts, "FEWEST", 20)


class Sent(Sequential):
    """All is done here; parts and tasks go the way that they go to another machine."""

    def __init__(self, parts):
        super().__init__(Copies(parts), parted=True)

    def each(self, do, tasks, clock, share):
        return super().each(do, sent(tasks), clock, share)


class Losing(Sent):
    """Does nothing of what it is asked."""

    asked = ()

    def each(self, do, tasks, clock, share):
        del do, clock, share
        self.asked = [*self.asked, *tasks]
        return iter(())


class Copies:
    def __init__(self, parts):
        self.parts = parts

    def __getitem__(self, number):
        return sent(self.parts[number])


def sent(something):
    return pickle.loads(pickle.dumps(something))


def counts(pair, many, told=None):
    parts = PartedPair(pair, many)
    return PartedCounts(Sent(parts), parts, told)


def the_same(pair, form, many, blocks=None):
    blocks = np.arange(pair.blocks) if blocks is None else blocks
    alone, parted = Evaluator(pair, 1), counts(pair, many)
    for purpose, complete in COMPLETE.items():
        expected, found = alone.found(form, purpose, blocks), parted.found(form, purpose, blocks, None)
        for name in complete:
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), strict=True)
        for each in (found, expected):
            assert (each.rank > 0).all()
        free = [(each.rank == 1) & (each.ties == 0) for each in (found, expected)]
        np.testing.assert_array_equal(*free)


@pairwise(form=SOME, files=list(FILES), ties=list(Ties), many=[1, 7], size=[FEW, MANY])
def test_every_record_is_what_one_evaluator_says(form, files, ties, many, size):
    pair = pair_of(files, size, 4, ties=ties)
    distance = FORMS[form](np.random.default_rng(4), False)
    the_same(pair, distance, many)
    the_same(pair, distance, many, np.random.default_rng(5).permutation(size)[: size // 3])


@pytest.mark.parametrize("ties", Ties)
def test_rivals_and_partners_that_are_twins_across_partitions(ties):
    random = np.random.default_rng(1)
    masked = random.integers(3, size=(240, 4)).astype(float)
    pair = make_pair(masked[random.permutation(240)], masked, ties=ties)
    parts = PartedPair(pair, 7)
    among = [set(parts[k].pair.by_candidate.candidates.view("V32")[:, 0].tolist()) for k in range(7)]
    assert any(first & second for k, first in enumerate(among) for second in among[:k])
    for form in FORMS.values():
        the_same(pair, form(random, False), 7)


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_tiny_files(data):
    n, m = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 9))
    value = st.integers(0, 2) if data.draw(st.booleans()) else st.floats(-3, 3, width=16)
    draw = [data.draw(st.lists(value, min_size=4 * k, max_size=4 * k)) for k in (n, m)]
    original, masked = (np.array(each, dtype=float).reshape(-1, 4) for each in draw)
    partner = np.array(data.draw(st.lists(st.integers(-1, m - 1), min_size=n, max_size=n)))
    partner[0] = max(partner[0], 0)
    weight = np.arange(1.0, n + 1)
    ties = data.draw(st.sampled_from(list(Ties)))
    units = Standardisation.NONE
    pair = make_pair(original, masked, partner, ties=ties, weight=weight, standardisation=units)
    form = FORMS[data.draw(st.sampled_from(list(FORMS)))](np.random.default_rng(0), False)
    the_same(pair, form, data.draw(st.integers(1, 10)))


@pytest.mark.parametrize("files", ["numbers", "mixed"])
def test_an_evaluator_counts_with_weights_and_lost_blocks(files):
    random = np.random.default_rng(7)
    pair = pair_of(files, MANY, 7)
    pair = replace(pair, weight=random.uniform(1.0, 9.0, MANY))
    distance, lost = FORMS["owa"](random, False), random.random(MANY) < 0.2
    alone, parted = Evaluator(pair, 1), Evaluator(pair, 1, workers=counts(pair, 3))
    for each in (alone, parted):
        each.mark_lost(lost)
    assert parted.count(distance).linked_weight == alone.count(distance).linked_weight > 0.0
    assert not (~pair.reachable & parted.count(distance).linked).any()
    some = random.permutation(MANY)[:50]
    np.testing.assert_array_equal(parted.count(distance, some).linked, alone.count(distance, some).linked)


def test_nobody_holds_more_than_a_partition_and_the_blocks():
    pair = pair_of("mixed", 700, 8)
    parts = PartedPair(pair, 7)
    numbers = [parts[k].number for k in range(7)]
    assert [len(each) for each in numbers] == [100] * 7
    np.testing.assert_array_equal(np.sort(np.concatenate(numbers)), range(700))
    beyond = sum(len(pickle.dumps(each)) for each in (pair.tables, pair.grains, pair.offset, pair.attributes))
    assert len(pickle.dumps(parts[3])) < len(pickle.dumps(pair)) / 7 + 2 * beyond + 4000
    workers, form = Losing(parts), FORMS["owa"](np.random.default_rng(8), False)
    PartedCounts(workers, parts).found(form, RANKING, np.arange(70), None)
    assert max(len(sent(task).blocks.made().pair.candidates) for task in workers.asked) <= 20
    assert all(len(pickle.dumps(task)) < 20 * 4 * 8 * 8 + 3000 for task in workers.asked)


def test_a_count_goes_on_with_the_blocks_that_are_still_open():
    pair, looked = pair_of("groups", MANY, 9), []
    parts = PartedPair(pair, 4)
    parted = PartedCounts(Sent(parts), parts)
    each = parted._workers.each

    def watched(do, tasks, clock, share):
        looked.append(sum(task.blocks.made().known.size for task in tasks))
        return each(do, tasks, clock, share)

    parted._workers.each = watched
    parted.found(FORMS["weighted-mean"](np.random.default_rng(9), False), COUNTING, np.arange(MANY), None)
    assert MANY == looked[0] > 4 * looked[1] >= 4 * looked[2]


def test_nothing_is_said_of_blocks_that_were_not_looked_at_everywhere():
    pair = pair_of("numbers", MANY, 8)
    distance, answered = FORMS["weighted-mean"](np.random.default_rng(8), False), []
    parted = counts(pair, 3, answered.append)
    whole = parted.found(distance, RANKING, np.arange(MANY), None)
    tasks = len(answered)
    answered.clear()
    early = parted.found(distance, RANKING, np.arange(MANY), lambda: len(answered) >= tasks - 2)
    known = early.rank > 0
    assert 0 < known.sum() < MANY
    for found, expected in zip(early[:5], whole[:5], strict=True):
        np.testing.assert_array_equal(found[known], expected[known])
    for unknown in (early.distance, early.nearest_other):
        assert np.isnan(unknown[~known]).all()
    assert (early.rival[~known] == -1).all()
    for workers in (parted, spread(pair)):
        assert not workers.found(distance, RANKING, np.arange(MANY), lambda: True).rank.any()
    assert not spread(pair).marked(InOrder((0,), False), lambda: True).any()


def test_tasks_that_their_workers_lose_are_done_here():
    pair = pair_of("numbers", MANY, 3)
    distance, parts = FORMS["choquet"](np.random.default_rng(3), False), PartedPair(pair, 3)
    found = PartedCounts(Losing(parts), parts).found(distance, RANKING, np.arange(MANY), None)
    for own, other in zip(found, Evaluator(pair, 1).found(distance, RANKING, np.arange(MANY)), strict=True):
        np.testing.assert_array_equal(own, other)


def test_candidates_are_parted_where_they_are_too_large_and_on_other_machines_alone(monkeypatch):
    pair = pair_of("numbers", FEW, 2)
    assert partitions_of(pair) == 1
    monkeypatch.setattr(shared_counts, "MOST_BYTES", pair.candidates.nbytes // 2 - 1)
    assert partitions_of(pair) == 3
    pool = WorkerPool(PoolChoice(workers=1))
    assert isinstance(counting_by(pool, pair), WholeCounts)
    assert counting_by(WorkerPool(), pair) is None
    pool.close()


FIELDS = ("linked", "rank", "ties", "distance", "nearest_other", "rival", "settled")
DECIDED = ("linked", "distance", "nearest_other", "rival", "settled")
"""What is complete where only the nearest rival is looked for."""


class InTasks(Sequential):
    """All is done here, by as many as a task of at most so many blocks for each makes four of."""

    def __init__(self, pair, most):
        super().__init__(pair)
        self._many = max(1, pair.blocks // (4 * most))

    @property
    def slots(self):
        return self._many


def spread(pair, told=None, most=40):
    return WholeCounts(InTasks(pair, most), pair, itself, told)


@pairwise(form=SOME, files=list(FILES), ties=list(Ties), most=[40, 1000])
def test_blocks_that_are_shared_out_are_what_one_evaluator_says(form, files, ties, most):
    pair = pair_of(files, MANY, 4, ties=ties)
    distance = FORMS[form](np.random.default_rng(4), False)
    alone, shared = Evaluator(pair, 1), Evaluator(pair, 1, workers=spread(pair, most=most))
    for ask, fields in (("rank", FIELDS), ("nearest", DECIDED), ("count", ("linked", "settled"))):
        expected, found = getattr(alone, ask)(distance), getattr(shared, ask)(distance)
        for name in fields:
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    some = np.random.default_rng(5).permutation(MANY)[:90]
    np.testing.assert_array_equal(shared.count(distance, some).linked, alone.count(distance, some).linked)


@pairwise(files=list(FILES), name=["weighted-mean", "mahalanobis"])
def test_lost_blocks_are_those_of_one_process(files, name):
    pair = pair_of(files, MANY, 5)
    aggregator = make_aggregator(name, pair.attributes)
    expected = lost_blocks(pair, aggregator, lambda: False)
    np.testing.assert_array_equal(marked(Lost(aggregator), pair, lambda: False, spread(pair)), expected)


@pytest.mark.parametrize(("files", "ranked"), [("numbers", True), ("mixed", False), ("missing-whole", True)])
def test_orders_link_whom_they_link_in_one_process(files, ranked):
    pair = pair_of(files, MANY, 6)
    order = InOrder((1, 0), ranked)
    expected = order(pair, lambda: False)
    np.testing.assert_array_equal(marked(order, pair, lambda: False, spread(pair)), expected)
    alone, shared = (best_order(pair, ranked=ranked, workers=way) for way in (None, spread(pair)))
    assert (shared.order, shared.weight) == (alone.order, alone.weight)
    np.testing.assert_array_equal(shared.linked, alone.linked)


@pytest.mark.parametrize("files", ["numbers", "mixed"])
def test_rows_grow_as_they_do_in_one_process(files):
    pair = pair_of(files, MANY, 7)
    aggregator = make_aggregator("weighted-mean", pair.attributes)
    thetas = aggregator.domain.sample(3, np.random.default_rng(7))
    growing = [GrowingRows(pair, aggregator, Clock(None), 0, workers=way) for way in (None, spread(pair))]
    weights = [[rows.weight(aggregator.form(theta)) for theta in thetas] for rows in growing]
    alone, shared = (rows.system() for rows in growing)
    assert weights[0] == weights[1]
    assert shared.rows == alone.rows > 0
    for name in ("lost", "block", "rival"):
        np.testing.assert_array_equal(getattr(shared, name), getattr(alone, name))
