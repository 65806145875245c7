"""A wrong proof is the worst bug there could be: bounds on nasty files against brute force and attacks."""

from __future__ import annotations

import numpy as np
import pytest
from aggregator_cases import CASES
from exact_runs import every_search, nasty_pair, optimum
from hunting.kinds import KINDS

from linkrisk.formulations.errors import FormulationError
from linkrisk.solver.linkage.evaluator import Evaluator

QUICK = 2
LONG = 60


def hunt(kind, seed):
    case = CASES[seed % len(CASES)]
    try:
        pair = nasty_pair(kind, 1000 * list(KINDS).index(kind) + seed)
    except FormulationError:  # a constant attribute, or nobody with a partner
        return False
    aggregator = case.make(pair.queries.shape[1])
    evaluator = Evaluator(pair, 1)
    points = aggregator.domain.sample(50, np.random.default_rng(seed))
    reached = [
        evaluator.count(aggregator.form(aggregator.domain.repair(point))).linked_weight for point in points
    ]
    runs = every_search(pair, aggregator)
    reached += [made.incumbent.value for made in runs.values()]
    try:
        reached.append(optimum(pair, case))
    except AssertionError:  # the oracle's own linear program gave up
        assert case.name == "mahalanobis"
    for search, made in runs.items():
        assert made.incumbent.bound >= max(reached) - 1e-9, (kind, seed, case.label, search)
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_no_search_proves_too_much(kind):
    assert sum(hunt(kind, seed) for seed in range(QUICK)) >= QUICK // 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_search_proves_too_much_in_a_long_hunt(kind):
    assert sum(hunt(kind, seed) for seed in range(QUICK, LONG)) >= LONG // 2
