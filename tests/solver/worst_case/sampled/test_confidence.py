"""Samples: how they are drawn, and upper limits that are too low no more often than allowed."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod

import numpy as np
import pytest
from fit_runs import frames
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.sampled.confidence import Design, upper_limit, upper_limit_of_sum
from linkrisk.solver.worst_case.sampled.samples import (
    Plan,
    Stage,
    check_strata,
    draw,
    draw_samples,
    drawing_order,
    fingerprint,
)

ALPHAS = [Fraction(1, 20), Fraction(1, 100), Fraction(1, 2), Fraction(999, 1000)]


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


# ---------------------------------------------------------------- chances


def exact(design: Design, having: int) -> dict[int, Fraction]:
    """The probability of each number in the sample."""
    terms, whole = design.terms(having)
    return {number: Fraction(ways) / Fraction(whole) for number, ways in terms}


@st.composite
def drawn(draw):
    records = draw(st.integers(1, 60))
    sample = draw(st.integers(1, records))
    share = draw(st.sampled_from([None, Fraction(sample, records), Fraction(sample, 2 * records)]))
    having = draw(st.integers(0, records))
    return Design(records, sample, share), having, draw(st.integers(0, sample))


@given(drawn(), st.fractions(Fraction(1, 1000), Fraction(999, 1000)))
def test_what_is_told_of_a_count_is_true(case, alpha):
    design, having, found = case
    below = sum(chance for number, chance in exact(design, having).items() if number <= found)
    assert design.chances(having).few(found, alpha) in (None, below < alpha)


@given(drawn(), st.fractions(Fraction(1, 1000), Fraction(999, 1000)), st.fractions(0, 1))
def test_what_is_told_of_a_sum_is_true(case, alpha, part):
    design, having, found = case
    total = found + part
    chances = exact(design, having)
    contradicted = any(
        sum(chance * max(0, t - number) for number, chance in chances.items()) < alpha * (t - total)
        for t in range(design.chances(having).first + 1, max(chances) + 2)
        if t > total
    )
    assert design.chances(having).small(total, alpha) in (None, contradicted)


@given(drawn())
def test_what_is_level_is_not_told(case):
    design, having, found = case
    below = sum((chance for number, chance in exact(design, having).items() if number <= found), Fraction(0))
    if 0 < below < 1:
        assert design.chances(having).few(found, below) is None


@pytest.mark.parametrize("share", [None, Fraction(1, 2)])
def test_a_level_chance_is_decided_in_whole_numbers(share):
    """At the very chance of so few nothing is contradicted, a hair above it is."""
    design, having, found = Design(20, 10, share), 12, 3
    below = sum(chance for number, chance in exact(design, having).items() if number <= found)
    hair = Fraction(1, 10**30)
    assert upper_limit(design, found, below) >= having
    assert upper_limit(design, found, below + hair) < having


def test_large_samples_take_no_large_numbers():
    """Of a sample of a third of a million, whole numbers would take hours."""
    assert upper_limit(Design(1_000_000, 368_438), 0, Fraction(1, 20)) == 6  # (1 - 0.368)^7 is below 0.05
    half = upper_limit(Design(1_000_000, 500_000), 250_000, Fraction(1, 20))
    assert 500_500 < half < 501_000  # one standard error is 500, and 1.64 of them are allowed
    assert upper_limit_of_sum(Design(1_000_000, 500_000), Fraction(250_000), Fraction(1, 20)) > half


# ---------------------------------------------------------------- draw


FILES = hashlib.sha256(b"files").digest()


def test_the_order_by_definition():
    keys = []
    for block in range(11):
        digest = hashlib.sha256(FILES + (5).to_bytes(8, "big") + (block // 4).to_bytes(8, "big")).digest()
        keys.append(digest[8 * (block % 4) : 8 * (block % 4) + 8])
    assert drawing_order(5, FILES, 11).tolist() == sorted(range(11), key=keys.__getitem__)


def test_another_seed_or_another_value_is_another_draw():
    original, partner = np.arange(12.0).reshape(6, 2), np.arange(6)
    masked = original + 0.5
    first = fingerprint(original, masked, partner)
    assert fingerprint(original.copy(), masked, partner) == first
    assert fingerprint(np.where(original == 0.0, -0.0, original), masked, partner) == first
    changed = masked.copy()
    changed[3, 1] = np.nextafter(changed[3, 1], 9.0)
    others = {
        fingerprint(original, changed, partner),
        fingerprint(masked, original, partner),
        fingerprint(original, masked, partner[::-1]),
        fingerprint(original.reshape(4, 3), masked, partner),
    }
    assert len(others | {first}) == 5
    orders = {tuple(drawing_order(seed, files, 40)) for seed in range(3) for files in (first, FILES)}
    assert len(orders) == 6


def test_every_record_is_as_likely_as_any_other():
    often = np.zeros((20, 20))
    for seed in range(2_000):
        often[np.arange(20), drawing_order(seed, FILES, 20)] += 1
    statistic = ((often - 100.0) ** 2 / 100.0).sum()
    assert 290 < statistic < 440  # 19 x 19 degrees of freedom: 361, give or take 27


@pytest.mark.parametrize("sample", [1, 7, 30, 100])
def test_of_each_stratum_its_share_is_drawn_and_in_its_own_order(sample):
    stratum = ["north"] * 60 + ["south"] * 37 + ["isles"] * 3
    order = drawing_order(3, FILES, 100)
    made = draw(order, sample, stratum)
    taken = [stratum[block] for block in made.blocks]
    for name, size in (("north", 60), ("south", 37), ("isles", 3)):
        assert taken.count(name) == -(-sample * size // 100)
        own = [block for block in order.tolist() if stratum[block] == name]
        assert [block for block in made.blocks.tolist() if stratum[block] == name] == own[: taken.count(name)]
    shares = [Fraction(taken.count(name), stratum.count(name)) for name in set(stratum)]
    assert made.design.share == min(shares) >= Fraction(sample, 100)
    assert made.design.sample == len(taken)


def test_a_stratum_of_one_record_is_refused():
    check_strata(["a", "a", "b", "b"], "region")
    with pytest.raises(UsageError, match="stratum 'b' of region has one record: join it with another"):
        check_strata(["a", "a", "b"], "region")


# ---------------------------------------------------------------- coverage


DRAWS = 400
UNLIKELY = 1e-6
"""A run of this test is an accident with this probability, and always the same."""


def not_more_often(misses: int, draws: int, alpha: float) -> bool:
    return binomtest(misses, draws, alpha, alternative="greater").pvalue > UNLIKELY


@pytest.mark.parametrize("strata", [None, [0] * 12 + [1] * 24])
def test_of_disjoint_samples_with_bounds_of_their_own(strata):
    """Two attributes: each block is an interval of the weight, so every worst case is the largest overlap."""
    original, masked = (frame.to_numpy() for frame in frames(3, 36, 2, noise=0.5))
    intervals = intervals_of(original, masked)
    truth = overlap(intervals)
    assert 9 < truth < 36
    alpha = Fraction(1, 2)  # the slack of bounds would hide any mistake at a twentieth
    files = fingerprint(original, masked, np.arange(36))
    plan = Plan(6, (Stage(2, alpha / 2), Stage(4, alpha / 2)))
    misses = 0
    for seed in range(DRAWS):
        samples = draw_samples(plan, files, seed, 36, None if strata is None else list(map(str, strata)))
        bounds = [overlap(intervals[part]) for part in samples.parts]
        limits = [
            upper_limit(made.design, sum(bounds[: stage.samples]), stage.alpha)
            for stage, made in zip(plan.stages, samples.draws, strict=True)
        ]
        misses += min(limits) < truth
    assert not_more_often(misses, DRAWS, 0.5)


def intervals_of(original, masked):
    pair = make_pair(original, masked)
    apart = (pair.queries[:, None, :] - pair.candidates[None, :, :]) ** 2
    intervals = []
    for block, own in enumerate(pair.partner):
        low, high = 0.0, 1.0
        for rival in pair.rivals(block):
            first, second = apart[block, rival] - apart[block, own]
            root = second / (second - first)  # where the rival is as near as the partner
            if first > second:
                low = max(low, root)
            else:
                high = min(high, root)
        intervals.append((low, high))
    return np.array(intervals)


def overlap(intervals):
    low, high = intervals.T
    points = (np.append(low, 0.0) + 1e-9)[:, None]
    return int(((points > low) & (points < high)).sum(axis=1).max())
