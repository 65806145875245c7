"""Blocks that are shared out: the answers of one evaluator, record for record, in however many tasks."""

from __future__ import annotations

import numpy as np
import pytest
from box_cases import FILES, FORMS, MANY, pair_of
from pairwise import pairwise

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.pair import Ties
from linkrisk.formulations.linkage.rows import lost_blocks
from linkrisk.solver.engines.growing_rows import GrowingRows
from linkrisk.solver.linkage import shared_counts
from linkrisk.solver.linkage.evaluator import Evaluator, Lost, marked
from linkrisk.solver.linkage.lexicographic import InOrder, best_order
from linkrisk.solver.linkage.shared_counts import WholeCounts, itself
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.workers import Sequential

FIELDS = ("linked", "rank", "ties", "distance", "nearest_other", "rival", "settled")
DECIDED = ("linked", "distance", "nearest_other", "rival", "settled")
"""What is complete where only the nearest rival is looked for."""


@pytest.fixture(autouse=True)
def all_is_shared_out(monkeypatch):
    monkeypatch.setattr(shared_counts, "WORTH", 1)
    monkeypatch.setattr(shared_counts, "STOPS_SOONER", 1)
    monkeypatch.setattr(shared_counts, "FEWEST", 20)


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


@pairwise(form=list(FORMS), files=list(FILES), ties=list(Ties), most=[40, 1000])
def test_every_record_is_what_one_evaluator_says(form, files, ties, most):
    pair = pair_of(files, MANY, 4, ties=ties)
    distance = FORMS[form](np.random.default_rng(4), False)
    alone, shared = Evaluator(pair, 1), Evaluator(pair, 1, workers=spread(pair, most=most))
    for ask, fields in (("rank", FIELDS), ("nearest", DECIDED), ("count", ("linked", "settled"))):
        expected, found = getattr(alone, ask)(distance), getattr(shared, ask)(distance)
        for name in fields:
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    some = np.random.default_rng(5).permutation(MANY)[:90]
    np.testing.assert_array_equal(shared.count(distance, some).linked, alone.count(distance, some).linked)


@pytest.mark.parametrize("files", list(FILES))
@pytest.mark.parametrize("name", ["weighted-mean", "owa", "choquet", "mahalanobis"])
def test_lost_blocks_are_those_of_one_process(files, name):
    pair = pair_of(files, MANY, 5)
    aggregator = make_aggregator(name, pair.attributes)
    expected = lost_blocks(pair, aggregator, lambda: False)
    np.testing.assert_array_equal(marked(Lost(aggregator), pair, lambda: False, spread(pair)), expected)


@pytest.mark.parametrize("files", list(FILES))
@pytest.mark.parametrize("ranked", [False, True])
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
    systems = []
    for workers in (None, spread(pair)):
        rows = GrowingRows(pair, aggregator, Clock(None), 0, workers=workers)
        weights = [rows.weight(aggregator.form(theta)) for theta in thetas]
        systems.append((weights, rows.system()))
    (weights, alone), (same, shared) = systems
    assert same == weights
    assert shared.rows == alone.rows > 0
    np.testing.assert_array_equal(shared.lost, alone.lost)
    np.testing.assert_array_equal(shared.block, alone.block)
    np.testing.assert_array_equal(shared.rival, alone.rival)


def test_nothing_is_looked_at_when_it_is_time_to_stop():
    pair = pair_of("numbers", MANY, 8)
    distance = FORMS["weighted-mean"](np.random.default_rng(8), False)
    found = spread(pair).found(distance, 0, np.arange(MANY), lambda: True)
    assert not found.rank.any()
    assert not spread(pair).marked(InOrder((0,), False), lambda: True).any()


def test_progress_is_told_task_by_task():
    pair, said = pair_of("numbers", MANY, 9), []
    spread(pair, said.append, most=MANY).marked(InOrder((0,), False), lambda: False)
    assert said == [f"{k} of 4 tasks" for k in range(1, 5)]
