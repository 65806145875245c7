"""The big-C engine: exact on tiny pairs on every backend, and honest about what its bound is worth."""

from __future__ import annotations

import brute_force as plain
import brute_optimum
import numpy as np
import pandas as pd
import pytest
from aggregator_cases import BY_LABEL, CASES, LABELS
from backend_problems import solve_here
from exact_runs import files
from pairwise import pairwise

from linkrisk.formulations.linkage.block_system import block_system, indicator_model, paper_options
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair
from linkrisk.solver.backends.base import BackendProgress, BackendResult
from linkrisk.solver.backends.registry import available_backends
from linkrisk.solver.engines import milp as milp_module
from linkrisk.solver.engines.attacks.search import attack
from linkrisk.solver.engines.base import EngineOptions, rounded_bound
from linkrisk.solver.engines.milp import MilpEngine
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Clock, Limit, Status
from linkrisk.solver.run.incumbent import Incumbent
from linkrisk.solver.worst_case.operations.fit import fit

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)


def pair_of(seed, n=6, attributes=3, noise=0.8, **options):
    original, masked = files(seed, n, attributes, noise)
    if options.get("ties") is Ties.SHARE:
        masked[1] = masked[0]
    return make_pair(original, masked, **options)


def run(pair, aggregator, *, attacked=False, seconds=None, reduce=True, **options):
    system = block_system(pair, aggregator, reduce=reduce)
    evaluator = Evaluator(pair, 1)
    theta = aggregator.equal()
    linked = evaluator.count(aggregator.form(theta)).linked_weight
    incumbent = Incumbent(Clock(seconds), theta, linked, system.total_weight - system.lost_weight)
    if attacked:
        attack(system, incumbent, evaluator, 0)
    result = MilpEngine().run(system, incumbent, evaluator, EngineOptions(**options))
    assert incumbent.value == pytest.approx(
        evaluator.count(aggregator.form(incumbent.solution)).linked_weight
    )
    assert incumbent.value <= incumbent.bound + 1e-9
    assert aggregator.domain.rows.violation(incumbent.solution) <= 1e-9
    return incumbent, result


def exact(pair, case, margin=1e-9):
    reference = plain.of_pair(pair)
    return brute_optimum.optimum(reference, case.family(pair.queries.shape[1]), margin)


# ---------------------------------------------------------------- the exact optimum


@pairwise(case=CASES, direction=list(Direction), ties=list(Ties), seed=range(4))
def test_proven_means_the_exact_optimum(case, direction, ties, seed):
    attributes = 2 + seed % 2
    pair = pair_of(seed, 7, attributes, noise=1.4, direction=direction, ties=ties)
    incumbent, result = run(pair, case.make(attributes))
    assert result.status is Status.OPTIMAL
    assert result.limit is None
    assert incumbent.proven
    best = exact(pair, case)
    assert best == pytest.approx(exact(pair, case, 1e-4))  # no margin decides
    assert incumbent.value == pytest.approx(best)
    assert incumbent.bound == pytest.approx(best)
    if case.name == "mahalanobis":
        assert np.linalg.eigvalsh(case.make(attributes).domain.matrix(incumbent.solution))[0] >= 0.0


@pytest.mark.parametrize("backend", available_backends())
@everywhere
def test_every_backend_finds_the_exact_optimum(case, backend, monkeypatch):
    # In this process: what is asked here is the model and the reading of its answer.
    monkeypatch.setattr(milp_module, "solve_isolated", solve_here)
    pair = pair_of(21, 7, 3, noise=2.0)
    incumbent, result = run(pair, case.make(3), backend=backend)
    assert result.status is Status.OPTIMAL
    assert incumbent.value == incumbent.bound == exact(pair, case)
    assert list(result.versions) == [backend]
    assert set(result.phases) == {"build", "solve"}
    assert result.model["columns"] > case.make(3).dimension


def test_the_bilinear_relaxation_is_cut_until_the_matrix_is_semidefinite():
    """Somewhere among these pairs the relaxation alone would link more than any semidefinite matrix."""
    case = BY_LABEL["mahalanobis"]
    rounds = []
    for seed in range(5):
        pair = pair_of(seed + 40, 6, 3, noise=1.5)
        incumbent, result = run(pair, case.make(3))
        best = exact(pair, case)
        assert incumbent.value <= best + 1e-9 <= incumbent.bound + 2e-9
        rounds.append(result.model["rows"] - block_rows_of(pair, case))
    assert max(rounds) > 0


def block_rows_of(pair, case):
    return indicator_model(block_system(pair, case.make(3))).milp.shape[0]


# ---------------------------------------------------------------- what the bound is worth


def unscaled_pair():
    """Values in the tens and no standardisation: rows need a constant far above 10."""
    random = np.random.default_rng(5)
    original = 20 * random.normal(size=(12, 2))
    masked = original + 16 * random.normal(size=(12, 2))
    return make_pair(original, masked, standardisation=Standardisation.NONE)


def test_a_constant_that_is_too_small_gives_no_bound():
    aggregator = BY_LABEL["weighted-mean"].make(2)
    incumbent, result = run(unscaled_pair(), aggregator, big_c=10.0, reduce=False)
    needed = indicator_model(
        block_system(unscaled_pair(), aggregator, reduce=False), paper_options()
    ).needed_c
    assert result.notes == (
        f"the constant C = 10 cuts off parameters of this aggregator (C must be at least {needed:.4g} here), "
        "so the model's bound is not an upper bound and is left out",
    )
    assert result.status is Status.FEASIBLE
    tight, proof = run(unscaled_pair(), aggregator)
    assert proof.notes == ()
    assert proof.status is Status.OPTIMAL
    assert incumbent.value <= tight.value <= incumbent.bound
    large, large_proof = run(unscaled_pair(), aggregator, big_c=1e5, reduce=False)
    assert large_proof.notes == ()
    assert large.bound == tight.bound


NOTE = (
    "the attack links more than the model allows, by a margin below the model's: the bound is left out; run "
    "again with a smaller margin"
)


@pytest.mark.parametrize("attacked", [False, True])
@pytest.mark.parametrize("label", ["weighted-mean", "choquet"])
def test_an_attack_within_the_margin_refutes_the_bound_of_the_model(label, attacked):
    seen = 0
    for seed in range(2):
        pair = pair_of(seed, 10)
        case = BY_LABEL[label]
        true, _ = run(pair, case.make(3), attacked=True)
        incumbent, result = run(pair, case.make(3), attacked=attacked, margin=0.3)
        assert incumbent.value <= true.value
        assert result.margin == 0.3
        if NOTE in result.notes:
            seen += 1
            assert incumbent.bound >= true.value
    assert seen > 0


FEWER = (
    "the backend's answer links fewer records on recount than its bound: its tolerance is 1e-6, so a "
    "margin below that proves little"
)


class Answering:
    """A backend whose answer is at hand: parameters, and how many blocks they give up."""

    name, takes_watcher = "answering", True

    def __init__(self, theta, bound, status=Status.OPTIMAL, limit=None, *, tells=False):
        self.theta, self.bound, self.tells = theta, float(bound), tells
        self.status, self.limit = status, limit

    def solve(self, model, options, *, starts, watch):
        del options, starts
        if self.tells:
            watch(BackendProgress(self.bound, self.bound))
        kept = None if self.theta is None else self.bound
        values = None
        if self.theta is not None:
            values = np.concatenate([self.theta, np.zeros(model.shape[1] - len(self.theta))])
        return BackendResult(self.status, self.limit, kept, self.bound, values, 0.0, 0.0, "answering", "1")


@pytest.fixture
def answered(monkeypatch):
    """Run with a backend whose answer is at hand."""

    def run_with(pair, aggregator, *answer, tells=False, **options):
        backend = Answering(*answer, tells=tells)
        with monkeypatch.context() as patch:
            patch.setattr(milp_module, "get_backend", lambda _: backend)
            return run(pair, aggregator, **options)

    return run_with


@pytest.mark.parametrize(
    ("status", "limit", "notes"), [(Status.OPTIMAL, None, (FEWER,)), (Status.FEASIBLE, Limit.TIME, ())]
)
def test_an_optimum_that_the_recount_does_not_confirm_is_explained(answered, status, limit, notes):
    aggregator = BY_LABEL["weighted-mean"].make(3)
    incumbent, result = answered(pair_of(3, 8), aggregator, np.full(3, 1 / 3), 0, status, limit, margin=1e-8)
    assert incumbent.value < incumbent.bound
    assert (result.status, result.notes) == (Status.FEASIBLE, notes)


@pytest.mark.parametrize(("margin", "advised"), [(1e-5, True), (1e-6, False), (1e-8, False)])
def test_a_smaller_margin_is_advised_only_where_it_can_help(answered, margin, advised):
    pair, aggregator = pair_of(2, 12), BY_LABEL["weighted-mean"].make(3)
    best, _ = run(pair, aggregator, attacked=True)
    # A bound of no links at all.
    incumbent, result = answered(pair, aggregator, best.solution, pair.blocks, margin=margin)
    assert incumbent.value == best.value
    assert result.notes == (NOTE if advised else NOTE.removesuffix("; run again with a smaller margin"),)


def test_a_bound_told_before_it_was_refuted_is_taken_back(answered):
    """A backend tells its bound while solving; its final answer links more, by less than the margin."""
    pair, aggregator = pair_of(2, 12), BY_LABEL["weighted-mean"].make(3)
    best, _ = run(pair, aggregator, attacked=True)
    bound = pair.blocks - best.value + 1.0
    incumbent, result = answered(pair, aggregator, best.solution, bound, tells=True)
    assert incumbent.value == best.value <= incumbent.bound
    assert result.status is Status.FEASIBLE
    assert NOTE in result.notes


@pytest.mark.parametrize(
    ("status", "limit"), [(Status.NO_SOLUTION, Limit.TIME), (Status.INTERRUPTED, Limit.USER)]
)
def test_a_backend_without_an_answer_leaves_the_attack_standing(answered, status, limit):
    pair, aggregator = pair_of(4, 10), BY_LABEL["choquet"].make(3)
    incumbent, result = answered(pair, aggregator, None, -np.inf, status, limit)
    assert incumbent.value >= Evaluator(pair).count(aggregator.form(aggregator.equal())).linked_weight
    interrupted = status is Status.INTERRUPTED
    assert result.status is (Status.INTERRUPTED if interrupted else Status.FEASIBLE)
    assert result.limit is (Limit.USER if interrupted else None)
    assert result.margin == 1e-5


# ---------------------------------------------------------------- ends of a run


@everywhere
def test_a_pair_without_open_blocks_is_proven_at_once(case):
    original = np.array([[0.0, 0.0], [10.0, 90.0], [50.0, 20.0]])
    pair = make_pair(original, np.repeat(original[:1], 3, axis=0) + 1.0, standardisation=Standardisation.NONE)
    incumbent, result = run(pair, case.make(2))
    assert (incumbent.value, incumbent.bound) == (0.0, 0.0)
    assert result.status is Status.OPTIMAL
    assert result.model is None


# ---------------------------------------------------------------- small parts


def test_bounds_are_rounded_down_to_whole_blocks_when_blocks_weigh_one():
    assert rounded_bound(7.9999, np.ones(9)) == 7.0
    assert rounded_bound(7.9999999, np.ones(9)) == 8.0  # solver noise
    assert rounded_bound(7.25, np.full(9, 0.5)) == 7.25


def test_a_backend_that_fails_leaves_the_attack(monkeypatch):
    """Hours of attack must not be lost because an optimiser died."""

    def fail(*_, **__):
        raise RuntimeError("HiGHS failed with model status kSolveError")

    monkeypatch.setattr("linkrisk.solver.backends.highs.HighsBackend.solve", fail)
    random = np.random.default_rng(5)
    original = pd.DataFrame(random.normal(size=(40, 2)), columns=["a", "b"])
    masked = original + random.normal(scale=0.8, size=(40, 2))
    result = fit(original, masked, attributes=["a", "b"], engine="milp")
    assert result.status == "feasible"
    assert 0 < result.linked < result.linked_upper_bound <= 40
    assert result.details["notes"] == [
        "the backend failed (HiGHS failed with model status kSolveError): only the attack remains"
    ]
