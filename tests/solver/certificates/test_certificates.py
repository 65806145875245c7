"""Certificates of small pairs prove the optimum of brute force; what cannot be certified."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from aggregator_cases import BY_LABEL, CERTIFIABLE, samples
from certified import all_cores, certified, frames
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise import pairwise

from linkrisk.formulations.linkage.domains import Simplex, is_semidefinite, semidefinite
from linkrisk.solver.certificates.core.claims import Claim, RejectedError
from linkrisk.solver.certificates.core.families import FAMILIES, Choquet, KAdditive
from linkrisk.solver.certificates.core.linkage import Linkage
from linkrisk.solver.certificates.writing.build import ProvenSearch, certify
from linkrisk.solver.certificates.writing.certifiable import CertificateError
from linkrisk.solver.certificates.writing.cores import best_total, finer_steps, inequalities, remaining
from linkrisk.solver.engines.base import CoreProof, Proof
from linkrisk.solver.inputs.reading import make_problem

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


def written(made, proof, bound):
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


@pytest.mark.parametrize("label", ["weighted-mean", "choquet", "mahalanobis"])
def test_cores_that_prove_nothing_are_left_out(label):
    """Multipliers of every row of some blocks, which no engine would call a core."""
    made = certified(BY_LABEL[label], seed=1)
    many = len(made.system.length)
    wrong = CoreProof(np.arange(many), np.ones(many), np.zeros(0))
    nothing = CoreProof(np.arange(2), np.array([0.0, np.nan]), np.zeros(0))
    honest = all_cores(made.system, len(made.system.open_blocks))
    content = written(made, Proof("hitting-set", (wrong, nothing, *honest)), made.optimum)
    assert made.check(certificate=content).bound == made.optimum
    if label != "weighted-mean":
        alone = written(made, Proof("hitting-set", (wrong, nothing)), made.optimum)
        assert alone["bound"]["linked_weight"] == made.fitted["records"] - len(alone["proof"]["lost"])


@pytest.mark.parametrize("label", ["choquet", "3-additive"])
def test_multipliers_of_the_domain_may_have_either_sign(label):
    made = certified(BY_LABEL[label], seed=1)
    cores = all_cores(made.system, len(made.system.open_blocks))
    turned = tuple(CoreProof(core.rows, core.multipliers, -core.domain) for core in cores)
    content = written(made, Proof("hitting-set", turned), made.optimum)
    assert made.check(certificate=content).bound == made.optimum


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


# ---------------------------------------------------------------- certifiable


every_case = pytest.mark.parametrize("case", CERTIFIABLE, ids=[case.label for case in CERTIFIABLE])


def test_whatever_the_reason_it_is_one_exception():
    made = certified(CERTIFIABLE[0], seed=3)
    other = make_problem(*frames(4))
    searched = ProvenSearch(None, made.system, made.optimum, Proof("lost"))
    claim = (searched, made.fitted["parameters"], made.fitted["linked"], 1.0)
    with pytest.raises(CertificateError, match="not be those of the engine"):
        certify(other.files, other.describe(), *claim)
    unknown = {**made.problem.describe(), "aggregator": "nobody-knows"}
    with pytest.raises(CertificateError, match="verify does not support"):
        certify(made.problem.files, unknown, *claim)


# ---------------------------------------------------------------- parameters


def read_exactly(aggregator, case, theta):
    written = json.loads(json.dumps({"parameters": aggregator.decode(theta)}))
    family = FAMILIES[case.name].of(aggregator.attributes, aggregator.options)
    return family.parameters(Claim(written, "fit").inner("parameters")), written


def points(aggregator, seed):
    """Points of the domain and of its ends, some moved out of it by a rounding."""
    random = np.random.default_rng(seed)
    found = [samples(aggregator, 5, seed)]
    if isinstance(aggregator.domain, Simplex):
        found[0] = np.vstack([found[0], np.eye(aggregator.dimension)])
    for size in (1e-16, 1e-14, 1e-12):
        moved = found[0] + size * random.normal(size=found[0].shape)
        found.append(np.array([aggregator.domain.repair(point) for point in moved]))
        found.append(moved)
    return np.vstack(found)


@every_case
@pytest.mark.parametrize("n", [2, 3, 5])
def test_what_is_written_is_exactly_in_the_domain(case, n):
    aggregator = case.make(n)
    refused = 0
    for theta in points(aggregator, seed=n):
        exact = aggregator.domain.exact(theta)
        read_exactly(aggregator, case, exact)
        assert np.abs(aggregator.features(np.eye(n) + 1) @ (exact - theta)).max() < 1e-10
        try:
            read_exactly(aggregator, case, theta)
        except RejectedError:
            refused += 1
    assert refused > 0  # or nothing would have been moved


@every_case
@pytest.mark.parametrize("n", [2, 4])
def test_what_is_written_is_read_back_as_what_was_counted(case, n):
    aggregator = case.make(n)
    for theta in samples(aggregator, 10, seed=7):
        exact = aggregator.domain.exact(theta)
        again = aggregator.encode(aggregator.decode(exact))
        assert aggregator.decode(again) == aggregator.decode(exact)
        here, there = aggregator.form(again), aggregator.form(exact)
        np.testing.assert_array_equal(here.parameters, there.parameters)
        np.testing.assert_array_equal(aggregator.domain.exact(exact), exact)


@given(st.integers(1, 5), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-16, 1e-12]))
@settings(derandomize=True, max_examples=100, deadline=None)
def test_semidefinite_matrices_by_their_minors(n, seed, noise):
    """Of rank one and moved a little: definite or not is a matter of the last digit."""
    random = np.random.default_rng(seed)
    vector = np.round(random.normal(size=n), random.integers(1, 17))
    matrix = np.outer(vector, vector) + noise * np.diag(random.normal(size=n))
    matrix[0, 0] += 1e-3
    lifted = semidefinite(matrix)
    assert is_semidefinite(lifted)
    assert np.abs(lifted - matrix).max() <= 4 * noise * n + 1e-13 * np.trace(matrix)
    if n == 2:
        exact = [[Fraction(value) for value in row] for row in matrix.tolist()]
        minor = exact[0][0] * exact[1][1] - exact[0][1] ** 2
        assert is_semidefinite(matrix) == (minor >= 0 and exact[0][0] >= 0 and exact[1][1] >= 0)


# ---------------------------------------------------------------- refinement


MEASURES = [Choquet("ABC"), Choquet("ABCD"), KAdditive("ABCD", 3), KAdditive("ABC", 3)]


@pytest.mark.parametrize("family", MEASURES, ids=["choquet-3", "choquet-4", "3-of-4", "3-of-3"])
@pytest.mark.parametrize("seed", range(5))
def test_what_inequalities_can_cover_is_covered(family, seed):
    """A row that is minus some inequalities and a trifle, beside entries 10^12 times as large."""
    random, steps = np.random.default_rng(seed), inequalities(family)
    everyone = 2**family.n - 1  # what is beside it counts whatever else there is
    smaller = [step for step in steps if step[0] | 1 << step[1] != everyone]
    covered = [(*smaller[at], -int(random.integers(1, 10**6))) for at in random.choice(len(smaller), 3)]
    row = [value - 1 for value in remaining(family, [0] * family.dimension, covered)]
    untouched = [at for at, value in enumerate(row[:-1]) if value == -1]
    for at in untouched[:1]:
        row[at] -= 10**18
    rows = Linkage(None, family)
    assert not family.nowhere_positive(row, (), best_total(rows, row, []))
    found: list[tuple[int, int, int]] = []
    for _ in range(3):
        found += finer_steps(family, remaining(family, row, found), steps)
    assert family.nowhere_positive(row, found, best_total(rows, row, found))


def test_nothing_is_added_where_nothing_helps():
    """All attributes together always count one: a row that is positive there is positive."""
    family = Choquet("AB")
    assert finer_steps(family, [0, 0, 5], inequalities(family)) == []
    assert not family.nowhere_positive([0, 0, 5], (), 0)
