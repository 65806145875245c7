"""The upper limit of a sample without replacement: by definition, monotone, and never too low too often."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.solver.worst_case.sampled.hypergeometric import upper_limit

ALPHAS = [Fraction(1, 20), Fraction(1, 100), Fraction(1, 2), Fraction(999, 1000)]


def probability(n: int, m: int, u: int, w: int) -> Fraction:
    ways = sum(comb(w, k) * comb(n - w, m - k) for k in range(min(u, m) + 1))
    return Fraction(ways, comb(n, m))


@given(st.data(), st.integers(1, 40), st.sampled_from(ALPHAS))
def test_it_is_the_largest_number_that_the_sample_does_not_contradict(data, n, alpha):
    m = data.draw(st.integers(0, n))
    u = data.draw(st.integers(0, m))
    assert upper_limit(n, m, u, alpha) == max(w for w in range(n + 1) if probability(n, m, u, w) >= alpha)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (12, 1), (12, 5), (12, 11), (12, 12), (30, 7)])
def test_whatever_the_truth_it_is_missed_no_more_often_than_allowed(n, m, alpha):
    """Not by drawing but by adding up: the probability that the limit is below the truth, for every truth."""
    limits = [upper_limit(n, m, u, alpha) for u in range(m + 1)]
    assert limits == sorted(limits)
    assert limits[m] == n
    for w in range(n + 1):
        ways = sum(comb(w, k) * comb(n - w, m - k) for k in range(m + 1) if limits[k] < w)
        assert Fraction(ways, comb(n, m)) <= alpha


def test_the_whole_file_as_its_own_sample_says_it_all():
    assert [upper_limit(50, 50, u, ALPHAS[0]) for u in (0, 7, 50)] == [0, 7, 50]


@pytest.mark.parametrize(
    ("n", "m", "u"), [(10_000, 1000, 295), (10_000, 1000, 326), (5000, 300, 298), (10**7, 2000, 1500)]
)
def test_large_files_agree_with_the_distribution_of_scipy(n, m, u):
    from scipy.stats import hypergeom

    found = upper_limit(n, m, u, ALPHAS[0])
    assert hypergeom.cdf(u, n, found, m) >= 0.05 - 1e-9
    assert hypergeom.cdf(u, n, found + 1, m) < 0.05 + 1e-9
