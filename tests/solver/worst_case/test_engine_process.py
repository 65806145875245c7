"""The exact engine in a process of its own: the same answer as here, progress, and stopping from outside."""

from __future__ import annotations

import numpy as np
import pytest

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.block_system import BlockSystem, block_system
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.backends import guard
from linkrisk.solver.backends.base import BackendProgress
from linkrisk.solver.backends.guard import run_isolated
from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Clock, Limit, Status
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.worst_case.contest import EngineJob


def noisy_system(records: int, attributes: int, noise: float, aggregator: str) -> BlockSystem:
    generator = np.random.default_rng(5)
    original = generator.standard_normal((records, attributes))
    pair = make_pair(original, original + noise * generator.standard_normal(original.shape))
    return block_system(pair, make_aggregator(aggregator, pair.attributes))


def job(system: BlockSystem, time_limit: float | None) -> EngineJob:
    theta = system.aggregator.equal()
    linked = Evaluator(system.pair).count(system.aggregator.form(theta)).linked_weight
    return EngineJob(system, (theta, linked), EngineOptions(), time_limit)


@pytest.mark.parametrize("aggregator", ["weighted-mean", "choquet", "mahalanobis"])
def test_the_same_interval_as_in_this_process(aggregator):
    system = noisy_system(25, 3, 0.3, aggregator)
    task = job(system, None)
    answer = run_isolated(task)
    evaluator = Evaluator(system.pair)
    theta = system.aggregator.equal()
    linked = evaluator.count(system.aggregator.form(theta)).linked_weight
    incumbent = Incumbent(Clock(None), theta, linked, system.total_weight - system.lost_weight)
    status = ExactEngine().run(system, incumbent, evaluator, EngineOptions()).status
    result = answer.result
    assert result.status is status
    assert result.limit is None
    assert (result.objective, result.bound) == (25 - incumbent.value, 25 - incumbent.bound)
    assert 25 - evaluator.count(system.aggregator.form(result.values)).linked_weight == result.objective
    assert result.solve_seconds > 0
    assert 50e6 < answer.peak_memory_bytes < 1e9


def test_stopping_from_outside_keeps_the_interval(monkeypatch):
    monkeypatch.setattr(guard, "STOP_GRACE", 600.0)  # a slow machine may need long to end a step
    system = noisy_system(300, 6, 0.6, "choquet")
    seen: list[BackendProgress] = []

    def watch(progress: BackendProgress) -> bool:
        seen.append(progress)
        return progress.objective < np.inf and len(seen) > 5

    result = run_isolated(job(system, None), watch).result
    assert (result.status, result.limit) == (Status.INTERRUPTED, Limit.USER)
    last = seen[-1]
    assert 0 <= last.bound <= last.objective <= 300
    assert result.values is not None
    assert last.bound <= result.bound <= result.objective <= last.objective
