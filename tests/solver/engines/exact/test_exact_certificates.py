"""What the exact engine proves is proven exactly by its certificate; less is done for unknown domains."""

from __future__ import annotations

import json
from functools import cached_property

import numpy as np
import pandas as pd
import pytest
from aggregator_cases import CERTIFIABLE
from exact_runs import engine, files, start
from hunting.kinds import KINDS
from pairwise import pairwise

from linkrisk.datasets.errors import DataError
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.domains import Domain, Polytope, Simplex
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.certificates.checking.verify import verify
from linkrisk.solver.certificates.writing.build import ProvenSearch, certify
from linkrisk.solver.engines.base import EngineOptions, Proof
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.engines.exact.hitting_search import HittingSearch
from linkrisk.solver.engines.exact.treatments import TREATMENTS, treatment
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.worst_case.answers import records_table
from linkrisk.solver.worst_case.search_state import problem_system

everywhere = pytest.mark.parametrize("case", CERTIFIABLE, ids=[case.label for case in CERTIFIABLE])


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


# ---------------------------------------------------------------- treatments


class _SameAsSimplex:
    def __init__(self, dimension):
        self.dimension, self.simplex = dimension, Simplex(dimension)

    @property
    def rows(self):
        return self.simplex.rows

    def chord(self, theta, direction):
        return self.simplex.chord(theta, direction)

    def cuts(self, theta):
        return self.simplex.cuts(theta)

    def repair(self, theta):
        return self.simplex.repair(theta)

    def exact(self, theta):
        return self.simplex.exact(theta)

    def sample(self, count, generator):
        return self.simplex.sample(count, generator)


class SomeDomain(_SameAsSimplex, Domain):
    """Of which no more is known than that it is one."""


class SomePolytope(_SameAsSimplex, Polytope):
    """Of which no more is known than its rows."""


@pytest.mark.parametrize("kind", [SomeDomain, SomePolytope])
@pytest.mark.parametrize("seed", range(3))
def test_a_type_of_which_less_is_known_is_searched_with_less_and_ends_alike(kind, seed):
    class Plain(WeightedMean):
        @cached_property
        def domain(self):
            return kind(self.dimension)

    pair = make_pair(*files(seed, n=9))
    usual, plain = (engine(pair, make(("A", "B", "C"))) for make in (WeightedMean, Plain))
    found = treatment(kind(3))
    assert found is TREATMENTS[Domain if kind is SomeDomain else Polytope]
    assert found.tree is None
    assert (plain.incumbent.value, plain.incumbent.bound) == (usual.incumbent.value, usual.incumbent.bound)
    assert plain.incumbent.proven
