"""What an aggregator writes down is exactly in its domain, and read back as what was counted."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from aggregator_cases import CERTIFIABLE, samples
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.formulations.linkage.domains import Simplex, is_semidefinite, semidefinite
from linkrisk.solver.certificates.core.claims import Claim, RejectedError
from linkrisk.solver.certificates.core.families import FAMILIES

every_case = pytest.mark.parametrize("case", CERTIFIABLE, ids=[case.label for case in CERTIFIABLE])


def read_exactly(aggregator, case, theta):
    """The parameters that the verifier reads from the JSON."""
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
