"""How often the limit is below the truth: on files whose worst case is known, by thousands of draws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from fit_runs import frames
from scipy.stats import binomtest

from linkrisk import fit
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.worst_case.sampled.confidence import upper_limit
from linkrisk.solver.worst_case.sampled.samples import (
    Plan,
    Stage,
    draw,
    draw_samples,
    drawing_order,
    fingerprint,
)

DRAWS = 3_000
UNLIKELY = 1e-6
"""A run of this test is an accident with this probability, and always the same."""


def not_more_often(misses: int, draws: int, alpha: float) -> bool:
    return binomtest(misses, draws, alpha, alternative="greater").pvalue > UNLIKELY


@pytest.mark.parametrize("alpha", [Fraction(1, 20), Fraction(1, 2)])
@pytest.mark.parametrize(("n", "m"), [(2, 1), (9, 3), (9, 8), (40, 12), (300, 290)])
def test_of_what_is_linked_in_the_sample(n, m, alpha):
    """Without the slack that a bound has: the sample says exactly how many of the W it holds."""
    files = fingerprint(np.zeros((n, 1)), np.zeros((n, 1)), np.arange(n))
    draws = [draw(drawing_order(seed, files, n), m) for seed in range(DRAWS)]
    limits = [upper_limit(draws[0].design, found, alpha) for found in range(m + 1)]
    for linked in sorted({0, 1, n // 2, n - 1, n}):
        misses = sum(limits[int((made.blocks < linked).sum())] < linked for made in draws)
        assert not_more_often(misses, DRAWS, float(alpha))


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


def test_of_fit_itself():
    files = frames(3, 36, 2, noise=0.5)
    whole = fit(*files, time_limit=None)
    assert whole.proven
    assert whole.linked == overlap(intervals_of(*(frame.to_numpy() for frame in files)))
    found = [
        fit(*files, sample=6, samples=2, confidence=0.5, seed=seed, time_limit=None) for seed in range(20)
    ]
    misses = sum((result.linked_confidence_limit or 0) < whole.linked for result in found)
    assert not_more_often(misses, len(found), 0.5)
    assert len({result.linked_confidence_limit for result in found}) > 1


def intervals_of(original, masked):
    """Where each block is linked: the weights of the first attribute between two ends."""
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
    """The most intervals that overlap in a point."""
    low, high = intervals.T
    points = (np.append(low, 0.0) + 1e-9)[:, None]
    return int(((points > low) & (points < high)).sum(axis=1).max())
