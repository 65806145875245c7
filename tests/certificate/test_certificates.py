"""Certificates of small pairs prove the optimum of brute force, for every family, rule and direction."""

from __future__ import annotations

import pytest
from aggregator_cases import CASES
from certified import certified

from solver.verification.rejection import RejectedError

every_case = pytest.mark.parametrize("case", CASES, ids=[case.label for case in CASES])
SIMPLEX = [case for case in CASES if case.label in ("weighted-mean", "owa", "2-additive")]


@every_case
@pytest.mark.parametrize("ties", ["strict", "share"])
@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
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


@pytest.mark.parametrize("method", ["hitting-set", "simplex-tree"])
def test_without_time_the_certificate_proves_less_and_says_so(method):
    made = certified(CASES[0], seed=3, method=method, seconds=0.0)
    told = made.certificate["bound"]["linked_weight"]
    if told > made.optimum:
        with pytest.raises(RejectedError, match=rf"linked_upper_bound: \d+ is claimed, .* proves {told}"):
            made.check()
    weaker = {**made.fitted, "linked_upper_bound": told}
    assert made.check(fitted=weaker).bound == told
