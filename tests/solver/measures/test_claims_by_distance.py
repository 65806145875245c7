"""Claims of targets who may not be in the file: by hand, by all samples of a population, by simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from linkrisk.solver.measures.membership import (
    Members,
    claimed_outside,
    claims_by_distance,
)

INF = np.inf


def members(right, own, other, absent):
    return Members(*(np.array(each, dtype=np.float64) for each in (right, own, other, absent)))


def by_hand():
    """Three right links, one wrong one, one record that is far from all."""
    return members([1, 1, 1, 0, 0], [1, 2, 4, 3, 9], [3, 5, 6, 2, 8], [9, 9, 19, 9, 4])


def test_by_hand():
    found = claims_by_distance(by_hand(), (0.3, 0.5, 1.0))
    assert found.distance.tolist() == [1.0, 2.0, 4.0, INF]
    assert found.kept.tolist() == pytest.approx([1 / 3, 2 / 3, 1.0, 1.0])
    assert found.right.tolist() == [1.0, 2.0, 3.0, 3.0]
    assert found.wrong_inside.tolist() == [0.0, 1.0, 1.0, 2.0]
    assert found.wrong_outside.tolist() == [0.0, 9.0, 18.0, 50.0]
    assert found.share.tolist() == pytest.approx([1.0, 2 / 12, 3 / 22, 3 / 55])
    assert (found.low <= found.share).all()
    assert (found.share <= found.high).all()
    assert (found.high_outside <= 50.0).all()
    assert list(found.to_frame()) == [
        "kept", "distance", "right", "wrong_inside", "wrong_outside", "low_outside", "high_outside", "share",
        "low", "high",
    ]  # fmt: skip


def test_every_claim_of_all_targets_is_one_of_the_population():
    found, given_members = claims_by_distance(by_hand()), by_hand()
    everybody = given_members.right.size + given_members.absent.sum()
    assert found.right[-1] + found.wrong_inside[-1] + found.wrong_outside[-1] == everybody


def test_a_file_that_is_the_population_has_nobody_outside():
    found = claims_by_distance(members([1, 1, 0], [1, 2, 3], [4, 5, 2], [0, 0, 0]))
    assert found.wrong_outside.tolist() == found.high_outside.tolist() == [0.0] * found.kept.size
    assert found.share[-1] == pytest.approx(2 / 3)


def test_nothing_linked():
    found = claims_by_distance(members([0, 0], [1, 2], [0.5, 0.5], [4, 4]))
    assert found.distance.tolist() == [INF]
    assert (found.right[0], found.wrong_inside[0], found.share[0]) == (0.0, 2.0, 0.0)


def test_shared_ties_count_their_part():
    found = claims_by_distance(members([0.5, 0.5, 1.0], [1, 1, 2], [1, 1, 3], [1, 1, 1]), (0.5, 1.0))
    assert found.right.tolist() == [1.0, 2.0, 2.0]
    assert found.wrong_inside.tolist() == [1.0, 1.0, 1.0]


def test_the_interval_where_nothing_is_claimed_outside():
    """Fay and Feuer: the limit of Poisson for no event, 3.69, times the largest weight."""
    value, low, high = claimed_outside(members([1] * 9, [1] * 9, [5] * 9, [9] * 9), 2.0)
    assert (value, low) == (0.0, 0.0)
    assert high == pytest.approx(10.0 * chi2.ppf(0.975, 2) / 2.0)


@settings(max_examples=6)
@given(st.integers(0, 10**6))
def test_the_estimate_is_unbiased_over_all_samples(seed):
    """Every sample of a small population, with its probability under Poisson sampling; Horvitz-Thompson."""
    random, count = np.random.default_rng(seed), 7
    true = random.random(count)
    masked = true + random.normal(0.0, 0.1, count)
    chance = random.uniform(0.2, 0.9, count)
    distance, limit = np.abs(true[:, None] - masked), random.uniform(0.02, 0.3)
    estimated = happened = 0.0
    for bits in itertools.product([False, True], repeat=count):
        inside = np.array(bits)
        if not inside.any():  # no file, no claim
            continue
        probability = np.where(inside, chance, 1.0 - chance).prod()
        here = np.flatnonzero(inside)
        others = distance[np.ix_(here, here)] + np.diag(np.full(here.size, INF))
        nearest = others.min(axis=1)
        own = distance[here, here]
        sample = members(own < nearest, own, nearest, 1.0 / chance[here] - 1.0)
        estimated += probability * claimed_outside(sample, limit)[0]
        happened += probability * (distance[np.ix_(~inside, here)].min(axis=1) <= limit).sum()
    assert estimated == pytest.approx(happened)


def test_the_interval_covers_what_it_estimates():
    """Claims outside the file that do not depend on who is in it; 95 % of 800 samples, within five errors."""
    random, near = np.random.default_rng(1), np.random.default_rng(2).random(3000) < 0.03
    chance = np.where(np.arange(3000) % 2, 0.05, 0.2)
    covered = 0
    for _ in range(800):
        inside = random.random(3000) < chance
        sample = members(
            np.ones(inside.sum()), np.ones(inside.sum()), np.where(near[inside], 0.5, 2.0),
            1.0 / chance[inside] - 1.0,
        )  # fmt: skip
        _, low, high = claimed_outside(sample, 1.0)
        covered += low <= near[~inside].sum() <= high
    assert covered / 800 > 0.95 - 5.0 * np.sqrt(0.05 * 0.95 / 800)
