"""Matching at random, against all matchings one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from linkrisk.solver.measures.references import chance_matches


@pytest.mark.parametrize(("records", "candidates"), [(1, 1), (1, 4), (3, 3), (4, 6), (6, 6), (2, 7)])
def test_as_all_matchings_one_by_one(records, candidates):
    counts = np.zeros(records + 1)
    for matching in itertools.permutations(range(candidates), records):
        counts[sum(at == found for at, found in enumerate(matching))] += 1
    found = chance_matches(records, candidates)
    np.testing.assert_allclose(found.probability, counts / counts.sum(), atol=1e-15)
    assert found.mean == pytest.approx(records / candidates)


def test_derangements():
    """The share of permutations without a fixed point is the nearest whole number to n!/e, over n!."""
    for records in range(2, 15):
        assert chance_matches(records, records).probability[0] == pytest.approx(
            round(math.factorial(records) / math.e) / math.factorial(records), rel=1e-12
        )


@pytest.mark.parametrize(("records", "candidates"), [(10**6, 10**6), (10**6, 2 * 10**6), (400, 401)])
def test_of_large_files_it_is_nearly_poisson(records, candidates):
    found, mean = chance_matches(records, candidates), records / candidates
    poisson = [math.exp(-mean) * mean**k / math.factorial(k) for k in range(8)]
    np.testing.assert_allclose(found.probability[:8], poisson, atol=2.0 / records)
    assert found.probability.sum() == pytest.approx(1.0, abs=1e-14)
    assert np.arange(found.probability.size) @ found.probability == pytest.approx(mean, abs=1e-12)


def test_quantiles_hold_their_share():
    found = chance_matches(400, 400)
    assert [found.quantile(share) for share in (0.3, 0.5, 0.9, 0.95, 0.99)] == [0, 1, 2, 3, 4]
    assert found.quantile(0.0) == 0
