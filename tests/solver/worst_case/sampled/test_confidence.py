"""Upper limits from samples: by definition, monotone, and never too low more often than allowed."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.solver.worst_case.sampled.confidence import Design, upper_limit, upper_limit_of_sum

ALPHAS = [Fraction(1, 20), Fraction(1, 100), Fraction(1, 2), Fraction(999, 1000)]
EDGES = [(1, 1), (12, 1), (12, 5), (12, 11), (12, 12), (30, 7)]


def probability(n: int, m: int, u: int, w: int) -> Fraction:
    ways = sum(comb(w, k) * comb(n - w, m - k) for k in range(min(u, m) + 1))
    return Fraction(ways, comb(n, m))


@given(st.data(), st.integers(1, 40), st.sampled_from(ALPHAS))
@settings(derandomize=True, deadline=None)
def test_a_count_is_the_largest_that_the_sample_does_not_contradict(data, n, alpha):
    m = data.draw(st.integers(0, n))
    u = data.draw(st.integers(0, m))
    largest = max(w for w in range(n + 1) if probability(n, m, u, w) >= alpha)
    assert upper_limit(Design(n, m), u, alpha) == largest


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("n", "m"), EDGES)
def test_whatever_the_truth_it_is_missed_no_more_often_than_allowed(n, m, alpha):
    """Not by drawing but by adding up: the probability that the limit is below the truth, for every truth."""
    limits = [upper_limit(Design(n, m), u, alpha) for u in range(m + 1)]
    assert limits == sorted(limits)
    assert limits[m] == n
    for w in range(n + 1):
        ways = sum(comb(w, k) * comb(n - w, m - k) for k in range(m + 1) if limits[k] < w)
        assert Fraction(ways, comb(n, m)) <= alpha


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("sizes", "drawn"), [((6, 4), (3, 2)), ((9, 3, 1), (3, 1, 1)), ((5, 5), (1, 2))])
def test_of_strata_it_is_missed_no_more_often_than_allowed(sizes, drawn, alpha):
    """However those with the property are spread over the strata."""
    share = min(Fraction(m, n) for n, m in zip(sizes, drawn, strict=True))
    design = Design(sum(sizes), sum(drawn), share)
    limits = [upper_limit(design, u, alpha) for u in range(sum(drawn) + 1)]
    assert limits == sorted(limits)
    for having in product(*(range(n + 1) for n in sizes)):
        missed = Fraction(0)
        for found in product(*(range(m + 1) for m in drawn)):
            ways = prod(
                comb(w, x) * comb(n - w, m - x)
                for n, m, w, x in zip(sizes, drawn, having, found, strict=True)
            )
            if limits[sum(found)] < sum(having):
                missed += Fraction(ways, prod(comb(n, m) for n, m in zip(sizes, drawn, strict=True)))
        assert missed <= alpha


values = st.lists(st.fractions(0, 1, max_denominator=6), min_size=2, max_size=9)


@given(st.data(), values, st.sampled_from(ALPHAS))
@settings(derandomize=True, deadline=None)
def test_a_sum_of_values_is_missed_no_more_often_than_allowed(data, own, alpha):
    """Of every sample there is."""
    m = data.draw(st.integers(1, len(own)))
    design, total = Design(len(own), m), sum(own)
    limits = [upper_limit_of_sum(design, sum(drawn), alpha) for drawn in combinations(own, m)]
    assert sum(limit < total for limit in limits) <= alpha * len(limits)


@given(st.lists(values, min_size=2, max_size=2), st.sampled_from(ALPHAS))
@settings(derandomize=True, deadline=None, max_examples=50)
def test_nor_is_one_of_strata(strata, alpha):
    drawn = [-(-len(own) // 3) for own in strata]
    n = sum(map(len, strata))
    share = min(Fraction(m, len(own)) for m, own in zip(drawn, strata, strict=True))
    design, total = Design(n, sum(drawn), share), sum(map(sum, strata))
    sums = [
        sum(map(sum, parts))
        for parts in product(*(combinations(own, m) for own, m in zip(strata, drawn, strict=True)))
    ]
    limit = {found: upper_limit_of_sum(design, found, alpha) for found in set(sums)}
    assert sum(limit[found] < total for found in sums) <= alpha * len(sums)


@pytest.mark.parametrize("alpha", ALPHAS[:3])
@pytest.mark.parametrize("share", [None, Fraction(7, 30)])
@pytest.mark.parametrize(("n", "m"), [(30, 7), (60, 14)])
def test_limits_of_sums_are_monotone_and_not_below_those_of_counts(n, m, share, alpha):
    design = Design(n, m, share)
    sums = [upper_limit_of_sum(design, Fraction(u, 2), alpha) for u in range(2 * m + 1)]
    assert sums == sorted(sums)
    counts = [upper_limit(design, u, alpha) for u in range(m + 1)]
    assert all(sums[2 * u] >= counts[u] for u in range(m + 1))
    assert sums[-1] == counts[-1] == n


def test_the_whole_file_as_its_own_sample_says_it_all():
    assert [upper_limit(Design(50, 50), u, ALPHAS[0]) for u in (0, 7, 50)] == [0, 7, 50]
    assert upper_limit_of_sum(Design(50, 50), Fraction(7, 2), ALPHAS[0]) == 4


@pytest.mark.parametrize(
    ("n", "m", "u"), [(10_000, 1000, 295), (10_000, 1000, 326), (5000, 300, 298), (10**7, 2000, 1500)]
)
def test_large_files_agree_with_the_distribution_of_scipy(n, m, u):
    from scipy.stats import binom, hypergeom

    found = upper_limit(Design(n, m), u, ALPHAS[0])
    assert hypergeom.cdf(u, n, found, m) >= 0.05 - 1e-9
    assert hypergeom.cdf(u, n, found + 1, m) < 0.05 + 1e-9
    # Strata cost what the finite file was worth, values of between 0 and 1 about half a point more.
    share = Fraction(m, n)
    of_strata = upper_limit(Design(n, m, share), u, ALPHAS[0])
    assert binom.cdf(u, m, (of_strata + 1) / n) < 0.05 + 1e-9
    assert found <= of_strata <= n - (m - u)
    assert found <= upper_limit_of_sum(Design(n, m), Fraction(u), ALPHAS[0]) <= found + 0.02 * n
