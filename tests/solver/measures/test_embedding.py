"""Parameters of some attributes among more: the same distance, whatever the others are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.solver.measures.release_sequences import embedded


@pytest.mark.parametrize("name", ["weighted-mean", "choquet", "mahalanobis"])
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_distance_stays(name, seed):
    random = np.random.default_rng(seed)
    n, m = sorted(random.integers(1, 6, 2).tolist())
    positions = random.permutation(m)[:n].tolist()
    smaller, larger = (make_aggregator(name, tuple("ABCDEF"[:size])) for size in (n, m))
    theta = smaller.domain.sample(1, random)[0]
    found = embedded(smaller, larger, positions, theta)
    differences = np.abs(random.normal(size=(7, m)))
    distances = smaller.form(theta)(differences[:, positions]), larger.form(found)(differences)
    np.testing.assert_allclose(distances[0], distances[1], atol=1e-12)
    np.testing.assert_allclose(larger.domain.exact(found), found, atol=1e-12)


def test_families_that_have_no_such_distance():
    owa = [make_aggregator("owa", names) for names in (("A",), ("A", "B"))]
    assert embedded(*owa, [0], np.ones(1)) is None
    additive = [make_aggregator("choquet", tuple("ABC")[:n], k_additive=2) for n in (2, 3)]
    assert embedded(*additive, [0, 1], additive[0].equal()) is None
    other = make_aggregator("weighted-mean", ("A",)), make_aggregator("choquet", ("A", "B"))
    assert embedded(*other, [0], np.ones(1)) is None
