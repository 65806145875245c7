"""From what an optimiser says to what we report."""

from __future__ import annotations

import math

import numpy as np
import pytest
from backend_problems import INF, knapsack, make

from linkrisk.solver.backends.base import BackendResult, SolveOptions
from linkrisk.solver.backends.pulp import last_bound
from linkrisk.solver.backends.template import Ending, Outcome, drop_idle_rows, judge, refute
from linkrisk.solver.run.clock import Limit, Status

POINT = np.array([1.0, 1.0, 0.0, 0.0])  # worth -23, the optimum
WORSE = np.array([0.0, 0.0, 1.0, 1.0])  # worth -15


def judged(outcome: Outcome, absolute_gap: float = 1e-6) -> BackendResult:
    return judge(outcome, knapsack(), SolveOptions(absolute_gap=absolute_gap), (0.0, 0.0), "b", "1")


@pytest.mark.parametrize(
    ("outcome", "status", "limit"),
    [
        (Outcome(Ending.COMPLETE, POINT, -23.0), Status.OPTIMAL, None),
        (Outcome(Ending.COMPLETE, POINT, -23.0 - 2e-6), Status.FEASIBLE, None),
        (Outcome(Ending.COMPLETE, WORSE, -23.0), Status.FEASIBLE, None),
        (Outcome(Ending.TIME, POINT, -23.0), Status.OPTIMAL, None),
        (Outcome(Ending.TIME, POINT, -24.0), Status.FEASIBLE, Limit.TIME),
        (Outcome(Ending.TIME, POINT), Status.FEASIBLE, Limit.TIME),
        (Outcome(Ending.TIME, None, -24.0), Status.NO_SOLUTION, Limit.TIME),
        (Outcome(Ending.MEMORY, None, -24.0), Status.NO_SOLUTION, Limit.MEMORY),
        (Outcome(Ending.MEMORY, POINT, -24.0), Status.FEASIBLE, Limit.MEMORY),
        (Outcome(Ending.USER, POINT, -24.0), Status.INTERRUPTED, Limit.USER),
        (Outcome(Ending.USER), Status.INTERRUPTED, Limit.USER),
        (Outcome(Ending.INFEASIBLE), Status.INFEASIBLE, None),
    ],
)
def test_status_follows_from_objective_and_bound(outcome, status, limit):
    result = judged(outcome)
    assert (result.status, result.limit) == (status, limit)
    assert result.objective == (None if outcome.values is None else knapsack().value(outcome.values))
    assert result.bound == (math.inf if outcome.ending is Ending.INFEASIBLE else outcome.bound)


@pytest.mark.parametrize(
    ("gap", "status"), [(0.999, Status.OPTIMAL), (0.9, Status.FEASIBLE)], ids=["within", "beyond"]
)
def test_absolute_gap(gap, status):
    assert judged(Outcome(Ending.COMPLETE, POINT, -23.95), absolute_gap=gap).status is status


@pytest.mark.parametrize(
    "claim",
    [Outcome(Ending.INFEASIBLE), Outcome(Ending.COMPLETE, WORSE, -15.0), Outcome(Ending.TIME, None, -22.0)],
    ids=["infeasible", "false proof", "false bound"],
)
def test_a_feasible_start_refutes_false_claims(claim):
    outcome = refute(claim, knapsack(), POINT)
    result = judged(outcome)
    assert result.status is Status.FEASIBLE
    assert result.bound == -math.inf
    np.testing.assert_array_equal(result.values, POINT)


def test_claims_that_a_start_does_not_refute():
    claim = Outcome(Ending.COMPLETE, POINT, -23.0)
    assert refute(claim, knapsack(), None) is claim
    assert refute(claim, knapsack(), WORSE) is claim
    assert refute(claim, knapsack(), POINT) is claim
    assert refute(claim, knapsack(), np.ones(4)) is claim  # infeasible: worth nothing


def test_idle_rows_are_dropped_and_others_kept():
    rows = [([0.0, 0.0], -1.0, 0.0), ([1.0, 0.0], -INF, INF), ([1.0, 2.0], -INF, 2.0), ([0.0, 1.0], 0.5, INF)]
    reduced = drop_idle_rows(make([1, 1], rows))
    assert reduced is not None
    np.testing.assert_array_equal(reduced.matrix.toarray(), [[1, 2], [0, 1]])
    np.testing.assert_array_equal(reduced.row_lower, [-INF, 0.5])
    np.testing.assert_array_equal(reduced.row_upper, [2.0, INF])
    model = make([1, 1], rows[2:])
    assert drop_idle_rows(model) is model


@pytest.mark.parametrize(
    "model",
    [
        make([1, 1], [([0.0, 0.0], 1.0, INF)]),
        make([1, 1], [([0.0, 0.0], -INF, -1.0)]),
        make([1, 1], [([1.0, 0.0], 1.0, 0.5)]),
        make([1, 1], lower=[0, 2], upper=[1, 1]),
    ],
)
def test_models_that_cannot_hold_as_they_stand(model):
    assert drop_idle_rows(model) is None


CBC_LOG = """\
Cbc0010I After 0 nodes, 1 on tree, 28 best solution, best possible 0.5 (0.10 seconds)
Cbc0010I After 2000 nodes, 137 on tree, 6 best solution, best possible 1911366.5 (2.64 seconds)
Cbc0020I Exiting on maximum time
Cbc0005I Partial search - best objective 1944379 (best possible 1911370.25), took 17987 iterations
"""


def test_bound_of_a_cbc_log_is_the_last_one_rounded_down():
    bound = last_bound(CBC_LOG)
    assert bound < 1911370.25
    assert bound == pytest.approx(1911370.25, rel=1e-6)
    assert last_bound("nothing here") == -math.inf
    assert last_bound("(best possible -1e+50), took") == -math.inf
