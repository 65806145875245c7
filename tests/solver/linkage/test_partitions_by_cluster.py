"""Candidates in partitions at the workers of a scheduler, of which one dies."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from box_cases import FORMS, pair_of
from clusters import small_cluster

from linkrisk.solver.linkage import shared_counts
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.shared_counts import PartedCounts, counting_by
from linkrisk.solver.run.pool import PoolChoice, WorkerPool

pytest.importorskip("distributed", reason="needs Dask: pip install 'linkrisk[dask]'")


@pytest.fixture(scope="module")
def address():
    with small_cluster() as found:
        yield found


@pytest.fixture
def parted(address, monkeypatch):
    """A pair, and who counts it in five partitions."""
    monkeypatch.setattr(shared_counts, "WORTH", 1)
    monkeypatch.setattr(shared_counts, "STOPS_SOONER", 1)
    monkeypatch.setattr(shared_counts, "FEWEST", 100)
    pair = pair_of("mixed", 600, 3)
    monkeypatch.setattr(shared_counts, "MOST_BYTES", pair.candidates.nbytes // 5)
    pool = WorkerPool(PoolChoice(scheduler=address))
    workers = counting_by(pool, pair)
    assert isinstance(workers, PartedCounts)
    yield pair, workers
    pool.close()


def test_an_evaluator_counts_by_workers(parted):
    pair, workers = parted
    form = FORMS["mahalanobis"](np.random.default_rng(3), False)
    expected, found = (Evaluator(pair, 1, workers=who).rank(form) for who in (None, workers))
    np.testing.assert_array_equal(found.linked, expected.linked)
    np.testing.assert_array_equal(found.distance, expected.distance)


def test_no_record_is_lost_with_a_worker(parted):
    pair, workers = parted
    client, killed = workers._workers.connection.client, []

    def kill(_work):
        if not killed:
            killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)

    form, blocks = FORMS["choquet"](np.random.default_rng(3), False), np.arange(600)
    expected = Evaluator(pair, 1).found(form, 0, blocks)
    for told in (lambda _: None, kill, lambda _: None):
        workers.listen(told)
        for own, other in zip(workers.found(form, 0, blocks, None), expected, strict=True):
            np.testing.assert_array_equal(own, other)
    assert killed
