"""Candidates in partitions: what one evaluator finds among all of them, bit for bit."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from box_cases import FEW, FILES, FORMS, MANY, pair_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise import pairwise

from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import Ties, make_pair
from linkrisk.solver.linkage import shared_counts
from linkrisk.solver.linkage.distance_kernels import Found
from linkrisk.solver.linkage.distance_ranks import COUNTING, NEAREST, RANKING
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.shared_counts import (
    PartedCounts,
    PartedPair,
    WholeCounts,
    counting_by,
    partitions_of,
    settle_part,
)
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.pool import PoolChoice, WorkerPool
from linkrisk.solver.run.remote import Deferred
from linkrisk.solver.run.workers import Sequential

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


class Lost(Sent):
    """Does nothing of what it is asked."""

    def __init__(self, parts):
        super().__init__(parts)
        self.given = parts
        self.asked = []

    def each(self, do, tasks, clock, share):
        del do, clock, share
        self.asked += tasks
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


@pairwise(form=list(FORMS), files=list(FILES), ties=list(Ties), many=[1, 2, 3, 7], size=[FEW, MANY])
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
@settings(max_examples=60, deadline=None)
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
    sizes = [len(parts[k].number) for k in range(7)]
    assert sizes == [100] * 7
    np.testing.assert_array_equal(np.sort(np.concatenate([parts[k].number for k in range(7)])), range(700))
    beyond = sum(len(pickle.dumps(each)) for each in (pair.tables, pair.grains, pair.offset, pair.attributes))
    assert len(pickle.dumps(parts[3])) < len(pickle.dumps(pair)) / 7 + 2 * beyond + 4000
    workers = Lost(parts)
    PartedCounts(workers, parts).found(
        FORMS["owa"](np.random.default_rng(8), False), RANKING, np.arange(70), None
    )
    sizes = [len(sent(task).blocks.made().pair.candidates) for task in workers.asked]
    assert max(sizes) <= 20
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
    distance = FORMS["weighted-mean"](np.random.default_rng(8), False)
    answered = []
    parted = counts(pair, 3, answered.append)
    whole = parted.found(distance, RANKING, np.arange(MANY), None)
    tasks = len(answered)
    answered.clear()
    early = parted.found(distance, RANKING, np.arange(MANY), lambda: len(answered) >= tasks - 2)
    known = early.rank > 0
    assert 0 < known.sum() < MANY
    for found, expected in zip(early[:5], whole[:5], strict=True):
        np.testing.assert_array_equal(found[known], expected[known])
    assert np.isnan(early.distance[~known]).all()
    assert np.isnan(early.nearest_other[~known]).all()
    assert (early.rival[~known] == -1).all()
    assert not parted.found(distance, RANKING, np.arange(MANY), lambda: True).rank.any()


def test_tasks_that_their_workers_lose_are_done_here():
    pair = pair_of("numbers", MANY, 3)
    distance = FORMS["choquet"](np.random.default_rng(3), False)
    parts = PartedPair(pair, 3)
    parted = PartedCounts(Lost(parts), parts)
    found, expected = (
        parted.found(distance, RANKING, np.arange(MANY), None),
        Evaluator(pair, 1).found(distance, RANKING, np.arange(MANY)),
    )
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(own, other)


def test_progress_is_told_task_by_task():
    pair, said = pair_of("numbers", 80, 9), []
    counts(pair, 2, said.append).found(FORMS["owa"](np.random.default_rng(9), False), 0, np.arange(80), None)
    assert said == [f"{k} of {len(said)} tasks" for k in range(1, len(said) + 1)]


def test_candidates_are_parted_where_they_are_too_large_and_on_other_machines_alone(monkeypatch):
    pair = pair_of("numbers", FEW, 2)
    assert partitions_of(pair) == 1
    monkeypatch.setattr(shared_counts, "MOST_BYTES", pair.candidates.nbytes // 2 - 1)
    assert partitions_of(pair) == 3
    pool = WorkerPool(PoolChoice(workers=1))
    assert isinstance(counting_by(pool, pair), WholeCounts)
    assert counting_by(WorkerPool(), pair) is None
    pool.close()


def test_one_partition_is_all():
    pair = pair_of("numbers", FEW, 2)
    parts = PartedPair(pair, 1)
    form, blocks = FORMS["owa"](np.random.default_rng(2), False), np.arange(5)
    task = shared_counts.PartTask(0, Deferred(parts.blocks, blocks, np.full(5, np.inf)))
    found = settle_part(form, RANKING, parts[0], task, Clock(None))
    assert isinstance(found, Found)
    for own, other in zip(found, Evaluator(pair, 1).found(form, RANKING, blocks), strict=True):
        np.testing.assert_array_equal(own, other)
