"""The exact engine as a whole: its proofs are the exact optimum, and it says how it ended."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from aggregator_cases import BY_LABEL, CASES, LABELS
from exact_runs import engine, files, optimum, start
from pairwise import pairwise

from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair
from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.engines.exact.cores import Answer
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.engines.exact.polytope import PolytopeCoreFinder
from linkrisk.solver.run.clock import Limit, Status
from linkrisk.solver.worst_case.operations.fit import fit

everywhere = pytest.mark.parametrize("case", CASES, ids=LABELS)


@pairwise(case=CASES, direction=list(Direction), ties=list(Ties), seed=range(4))
def test_proven_means_the_exact_optimum(case, direction, ties, seed):
    attributes = 2 + seed % 2
    original, masked = files(seed, attributes=attributes)
    if ties is Ties.SHARE:
        masked[1] = masked[0]
    pair = make_pair(original, masked, direction=direction, ties=ties)
    made = engine(pair, case.make(attributes))
    assert made.result.status is Status.OPTIMAL
    assert made.result.limit is None
    best = optimum(pair, case)
    assert made.incumbent.value == pytest.approx(best)
    assert made.incumbent.bound == pytest.approx(best)
    if case.name == "mahalanobis":
        assert np.linalg.eigvalsh(case.make(attributes).domain.matrix(made.incumbent.solution))[0] >= 0.0


# ---------------------------------------------------------------- orders that must hold


@pytest.mark.parametrize("seed", range(2))
def test_what_a_family_holds_it_links(seed):
    pair = make_pair(*files(seed, 16, 3, 1.0))
    labels = ("weighted-mean", "2-additive", "choquet", "mahalanobis")
    mean, additive, choquet, matrix = (engine(pair, BY_LABEL[label].make(3)).incumbent for label in labels)
    assert mean.value <= additive.bound
    assert additive.value <= choquet.bound
    assert mean.value <= matrix.bound
    assert engine(pair, BY_LABEL["owa"].make(3)).incumbent.value <= choquet.bound


def test_one_attribute_leaves_nothing_to_choose():
    """A matrix of one entry, trace one, is the weighted mean of one attribute."""
    pair = make_pair(*files(3, 20, 1, 0.3))
    linked = {
        case.label: engine(pair, case.make(1)).incumbent for case in CASES if case.label != "2-additive"
    }
    assert len({incumbent.value for incumbent in linked.values()}) == 1
    assert all(incumbent.proven for incumbent in linked.values())


@pytest.mark.parametrize("label", ["weighted-mean", "choquet", "mahalanobis"])
def test_one_more_candidate_never_raises_the_optimum(label):
    original, masked = files(3, 16, 3, 0.6)
    random = np.random.default_rng(0)
    last = np.inf
    for _ in range(4):
        pair = make_pair(original, masked, np.arange(16), standardisation=Standardisation.NONE)
        incumbent = engine(pair, BY_LABEL[label].make(3)).incumbent
        assert incumbent.proven
        assert incumbent.value <= last
        last = incumbent.value
        masked = np.vstack([masked, random.normal(size=(1, 3))])


# ---------------------------------------------------------------- how it ends


def frames(seed, n, attributes, noise=0.9):
    return [
        pd.DataFrame(values, columns=list("abcdef")[:attributes])
        for values in files(seed, n, attributes, noise)
    ]


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
    result = fit(*frames(8, 40, 3), aggregator="choquet", engine="exact")
    assert result.status == "feasible"
    assert result.limit is None
    assert result.details["notes"] == [
        "some records exclude each other only up to rounding, so the interval stays open; engine='milp' may "
        "close it up to its margin"
    ]
