"""Certificates of small pairs prove the optimum of brute force, for every family, rule and direction."""

from __future__ import annotations

import json

import numpy as np
import pytest
from aggregator_cases import BY_LABEL, CERTIFIABLE
from certified import all_cores, certified
from pairwise import pairwise

from linkrisk.solver.certificates.core.claims import RejectedError
from linkrisk.solver.certificates.writing.build import ProvenSearch, certify
from linkrisk.solver.engines.base import CoreProof, Proof

every_case = pytest.mark.parametrize("case", CERTIFIABLE, ids=[case.label for case in CERTIFIABLE])
SIMPLEX = [case for case in CERTIFIABLE if case.label in ("weighted-mean", "owa", "2-additive")]


@pairwise(case=CERTIFIABLE, ties=["strict", "share"], direction=["original-to-masked", "masked-to-original"])
def test_cores_prove_the_optimum(case, ties, direction):
    made = certified(case, seed=3, ties=ties, direction=direction)
    verdict = made.check()
    assert float(verdict.bound) == pytest.approx(made.optimum, rel=1e-8)
    assert verdict.linked == made.fitted["linked"]


@pytest.mark.parametrize("case", SIMPLEX, ids=[case.label for case in SIMPLEX])
@pytest.mark.parametrize("ties", ["strict", "share"])
@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
def test_simplex_trees_prove_the_optimum(case, ties, direction):
    columns = 2 if case.label == "2-additive" else 3
    made = certified(case, seed=5, method="simplex-tree", ties=ties, direction=direction, columns=columns)
    verdict = made.check()
    assert float(verdict.bound) == pytest.approx(made.optimum, rel=1e-8)
    assert verdict.method in ("simplex-tree", "lost")


@pytest.mark.parametrize("standardisation", ["original", "pooled", "none"])
@every_case
def test_every_standardisation(case, standardisation):
    made = certified(case, seed=8, standardisation=standardisation, rows=5)
    assert made.check().linked == made.fitted["linked"]


def written(made, proof, bound):
    """Another certificate for the same fit."""
    problem, fitted = made.problem, made.fitted
    content = certify(
        problem.files,
        problem.describe(),
        ProvenSearch(None, made.system, bound, proof),
        fitted["parameters"],
        fitted["linked"],
        30.0,
    )
    return json.loads(json.dumps(content))


def test_a_tree_takes_the_place_of_cores_that_are_missing():
    made = certified(CERTIFIABLE[0], seed=3)
    other = written(made, Proof("hitting-set"), made.optimum)
    assert other["proof"]["method"] == "simplex-tree"
    assert made.check(certificate=other).bound == made.optimum


@every_case
def test_cores_that_prove_nothing_are_left_out(case):
    """Multipliers of every row of some blocks, which no engine would call a core."""
    made = certified(case, seed=1)
    many = len(made.system.length)
    wrong = CoreProof(np.arange(many), np.ones(many), np.zeros(0))
    nothing = CoreProof(np.arange(2), np.array([0.0, np.nan]), np.zeros(0))
    honest = all_cores(made.system, len(made.system.open_blocks))
    content = written(made, Proof("hitting-set", (wrong, nothing, *honest)), made.optimum)
    assert made.check(certificate=content).bound == made.optimum
    if case.label in ("choquet", "3-additive", "mahalanobis"):
        alone = written(made, Proof("hitting-set", (wrong, nothing)), made.optimum)
        assert alone["bound"]["linked_weight"] == made.fitted["records"] - len(alone["proof"]["lost"])


@pytest.mark.parametrize("label", ["choquet", "3-additive"])
def test_multipliers_of_the_domain_may_have_either_sign(label):
    made = certified(BY_LABEL[label], seed=1)
    cores = all_cores(made.system, len(made.system.open_blocks))
    turned = tuple(CoreProof(core.rows, core.multipliers, -core.domain) for core in cores)
    content = written(made, Proof("hitting-set", turned), made.optimum)
    assert made.check(certificate=content).bound == made.optimum


def test_rounded_multipliers_are_as_short_as_they_can_be():
    """A core with a wide margin needs sixteen bits, one that hardly holds needs more."""
    made = certified(CERTIFIABLE[0], seed=3)
    for core in made.certificate["proof"]["cores"]:
        assert max(multiplier for _, _, multiplier in core["rows"]) == 2**16


@pytest.mark.parametrize("method", ["hitting-set", "simplex-tree"])
def test_without_time_the_certificate_proves_less_and_says_so(method):
    made = certified(CERTIFIABLE[0], seed=3, method=method, seconds=0.0)
    told = made.certificate["bound"]["linked_weight"]
    if told > made.optimum:
        with pytest.raises(RejectedError, match=rf"linked_upper_bound: \d+ is claimed, .* proves {told}"):
            made.check()
    assert made.certificate["proof"] == {"lost": [], "method": "lost"}
    weaker = {**made.fitted, "linked_upper_bound": told, "lost": 0, "status": "feasible"}
    assert made.check(fitted=weaker).bound == told
