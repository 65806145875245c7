"""The exact engine as a whole: it says how it ended, and what it proves is proven by its certificate."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from aggregator_cases import CASES, CERTIFIABLE, LABELS
from exact_runs import engine, files, start
from fit_runs import frames
from hunting.kinds import KINDS
from pairwise import pairwise

from linkrisk.datasets.errors import DataError
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.certificates.checking.verify import verify
from linkrisk.solver.certificates.writing.build import ProvenSearch, certify
from linkrisk.solver.engines.base import EngineOptions, Proof
from linkrisk.solver.engines.exact.cores import Answer
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.engines.exact.hitting_search import HittingSearch
from linkrisk.solver.engines.exact.polytope import PolytopeCoreFinder
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.clock import Limit, Status
from linkrisk.solver.worst_case.answers import records_table
from linkrisk.solver.worst_case.operations.fit import fit
from linkrisk.solver.worst_case.search_state import problem_system

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)


def test_one_attribute_leaves_nothing_to_choose():
    """A matrix of one entry, trace one, is the weighted mean of one attribute."""
    pair = make_pair(*files(3, 20, 1, 0.3))
    linked = {
        case.label: engine(pair, case.make(1)).incumbent for case in CASES if case.label != "2-additive"
    }
    assert len({incumbent.value for incumbent in linked.values()}) == 1
    assert all(incumbent.proven for incumbent in linked.values())


# ---------------------------------------------------------------- how it ends


@everywhere
@pytest.mark.parametrize("moment", ["before", "pairs", "cores", "hitting sets", "attack", "branch and bound"])
def test_it_stops_when_asked_to(case, moment):
    pair = make_pair(*files(7, 16, 3, 1.2))
    made = start(pair, case.make(3))

    def stop(progress):
        if progress.phase == moment:
            made.incumbent.clock.stop()

    made.incumbent.report = stop
    if moment == "before":
        made.incumbent.clock.stop()
    made.result = ExactEngine().run(made.system, made.incumbent, made.evaluator, EngineOptions())
    assert made.incumbent.value <= made.incumbent.bound
    if not made.incumbent.proven:
        assert made.incumbent.clock.stopped
        assert made.result.status is Status.INTERRUPTED
        assert made.result.limit is Limit.USER
    else:
        assert made.result.status is Status.OPTIMAL


@pytest.mark.parametrize("linked", [True, False])
def test_one_record_needs_no_search(linked):
    rival = [[5.0, 5.0]] if linked else [[0.5, 0.5]]
    pair = make_pair(
        np.zeros((1, 2)),
        np.vstack([[[1.0, 1.0]], rival]),
        np.zeros(1, int),
        standardisation=Standardisation.NONE,
    )
    for case in CASES:
        made = engine(pair, case.make(2))
        if case.name != "mahalanobis":
            assert made.result.proof.method == "lost"
        assert (made.incumbent.value, made.incumbent.bound) == (float(linked), float(linked))


def test_what_rounding_leaves_open_is_said(monkeypatch):
    monkeypatch.setattr(PolytopeCoreFinder, "ask", lambda *_: Answer())
    result = fit(*frames(8, 40, noise=0.9), aggregator="choquet", engine="exact")
    assert result.status == "feasible"
    assert result.limit is None
    assert result.details["notes"] == [
        "some records exclude each other only up to rounding, so the interval stays open; engine='milp' may "
        "close it up to its margin"
    ]


# ---------------------------------------------------------------- its certificates


def problem_of(case, original, masked, **options):
    frames = [pd.DataFrame(values, columns=list("ABCD")[: values.shape[1]]) for values in (original, masked)]
    return make_problem(*frames, ProblemOptions(aggregator=case.name, **case.options, **options))


def run_of(problem, search):
    made = start(problem.pair, problem.aggregator)
    made.system = problem_system(problem)
    if search == "engine":
        return made, ExactEngine().run(made.system, made.incumbent, made.evaluator, EngineOptions()).proof
    if not made.system.open_blocks.size:
        return made, Proof("lost")
    hitting = HittingSearch(made.system, made.incumbent, made.evaluator, 0)
    hitting.all_pairs(np.inf)
    hitting.branch(np.inf)
    return made, hitting.proof


def verdict_of(problem, made, proof):
    aggregator, incumbent = problem.aggregator, made.incumbent
    theta = aggregator.domain.exact(incumbent.solution)
    evaluation = made.evaluator.rank(aggregator.form(theta))
    fitted = {
        **problem.describe(),
        "records": problem.pair.blocks,
        "candidates": len(problem.pair.candidates),
        "parameters": aggregator.decode(theta),
        "importance": aggregator.importance(theta),
        "interaction": aggregator.interaction(theta),
        "linked": int(evaluation.linked.sum()),
        "linked_upper_bound": problem.pair.blocks,
        "lost": 0,
        "expected_links": evaluation.linked_weight,
        "expected_links_upper_bound": incumbent.bound,
        "records_table": records_table(problem.labels, evaluation).to_dict(),
    }
    content = certify(
        problem.files,
        problem.describe(),
        ProvenSearch(None, made.system, incumbent.bound, proof),
        fitted["parameters"],
        fitted["linked"],
        20.0,
    )
    fitted, content = (json.loads(json.dumps(part)) for part in (fitted, content))
    return verify(fitted, content, problem.files, ("fit", "certificate"))


@pairwise(case=CERTIFIABLE, search=["engine", "hitting sets"], ties=["strict", "share"], seed=range(2))
def test_every_bound_is_certified(case, search, ties, seed):
    original, masked = files(seed, 12, 3, 1.2)
    masked[1] = masked[0]
    problem = problem_of(case, original, masked, ties=ties)
    made, proof = run_of(problem, search)
    verdict = verdict_of(problem, made, proof)
    assert float(verdict.bound) == pytest.approx(made.incumbent.bound, rel=1e-8)
    assert float(verdict.linked_weight) == pytest.approx(made.incumbent.value, rel=1e-8)


def nasty_certificate(kind, case, seed):
    """How much weaker than the engine's bound the certificate's is; None where there is no such problem."""
    random = np.random.default_rng(seed)
    original, masked = KINDS[kind](
        random, *files(seed, int(random.integers(2, 8)), int(random.integers(2, 5)))
    )
    spread = [values.std(axis=0) / (np.abs(values.mean(axis=0)) + 1e-300) for values in (original, masked)]
    if min(share.min() for share in spread) < 1e-6:
        return None  # hardly more than rounding is left of such a deviation, and the verifier says so
    options = {"ties": str(random.choice(["strict", "share"]))}
    try:
        problem = problem_of(case, original, masked, **options)
    except (FormulationError, DataError):  # a constant attribute
        return None
    made, proof = run_of(problem, "engine")
    verdict = verdict_of(problem, made, proof)
    assert float(verdict.bound) >= made.incumbent.value - 1e-9
    return float(verdict.bound) - made.incumbent.bound


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_on_nasty_files_are_certified(kind):
    for seed in range(4):
        weaker = nasty_certificate(kind, CERTIFIABLE[(seed + len(kind)) % len(CERTIFIABLE)], seed)
        assert weaker is None or weaker <= 1e-6


@pytest.mark.parametrize(
    ("kind", "seed"), [("permuted whole numbers", 4), ("nearly duplicates", 46), ("at the tolerance", 46)]
)
def test_cores_that_prove_by_as_little_as_a_tie_are_certified(kind, seed):
    """Multipliers of a measure's inequalities need a unit of their own, or one record more is left open."""
    case = CERTIFIABLE[seed % len(CERTIFIABLE)]
    assert case.label == "3-additive"
    assert nasty_certificate(kind, case, seed) <= 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_bounds_on_nasty_files_are_certified(kind):
    for seed in range(4, 60):
        weaker = nasty_certificate(kind, CERTIFIABLE[seed % len(CERTIFIABLE)], seed)
        assert weaker is None or weaker <= 1e-6
