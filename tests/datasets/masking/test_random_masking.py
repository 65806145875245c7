"""Noise and rank swapping: distribution, windows, the same file from the same seed, bad parameters."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import MaskingMethod, random_generator
from linkrisk.datasets.masking.microaggregation import Microaggregation, OptimalMicroaggregation
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.rank_swapping import RankSwapping, swap_partners, window_size
from linkrisk.datasets.public.embedded import load_wdbc

METHODS = [
    Microaggregation(k=3),
    OptimalMicroaggregation(k=4),
    AdditiveNoise(percent=15),
    AdditiveNoise(percent=15, correlated=True),
    RankSwapping(percent=7),
]


def _sample(records=20_000):
    rng = np.random.default_rng(3)
    base = rng.normal(size=(records, 3))
    a, b = 100 + 5 * base[:, 0], 3 * base[:, 0] + 4 * base[:, 1]
    return pd.DataFrame({"a": a, "b": b, "c": np.exp(base[:, 2])})


@pytest.mark.parametrize("correlated", [False, True])
def test_noise_has_mean_zero_and_the_asked_standard_deviation(correlated):
    frame = _sample()
    noise = AdditiveNoise(percent=20, correlated=correlated).apply(frame, 1) - frame
    share = noise.std() / frame.std()
    # Of 20,000 draws the standard error of a standard deviation is 0.5 % of it, that of a mean 0.7 %.
    np.testing.assert_allclose(share, 0.2, rtol=0.02)
    assert (noise.mean().abs() < 0.2 * 0.03 * frame.std()).all()


def test_correlated_noise_keeps_exact_sums():
    frame = _sample(500).assign(total=lambda data: data["a"] + data["b"], zero=1.0)
    masked = AdditiveNoise(percent=30, correlated=True).apply(frame, 4)
    np.testing.assert_allclose(masked["total"], masked["a"] + masked["b"], rtol=1e-9)
    assert masked["zero"].to_list() == [1.0] * 500
    assert (masked["a"] != frame["a"]).all()


def _literal_swaps(records, window, generator: np.random.Generator):
    """Rank swapping word for word, in plain Python."""
    partner, free = list(range(records)), set(range(records))
    for rank in range(records):
        if rank in free:
            free.remove(rank)
            candidates = [other for other in range(rank + 1, rank + 1 + window) if other in free]
            if candidates:
                other = candidates[generator.integers(len(candidates))]
                free.remove(other)
                partner[rank], partner[other] = other, rank
    return partner


@given(st.integers(2, 80), st.integers(1, 79), st.integers(0, 1000))
@settings(max_examples=120, deadline=None, derandomize=True)
def test_rank_swapping_draws_as_it_is_defined(records, window, seed):
    window = min(window, records - 1)
    expected = _literal_swaps(records, window, random_generator(seed))
    assert swap_partners(records, window, random_generator(seed)).tolist() == expected


@given(st.lists(st.integers(0, 5), min_size=4, max_size=60), st.integers(0, 50))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_rank_swapping_keeps_the_values_of_every_attribute(values, seed):
    frame = pd.DataFrame({"a": values, "b": np.sin(np.arange(len(values)))})
    masked = RankSwapping(percent=50).apply(frame, seed)
    for name in ("a", "b"):
        assert sorted(masked[name]) == sorted(frame[name].astype(float))
    ranks = frame["b"].rank()
    moved = masked["b"].map(dict(zip(frame["b"], ranks, strict=True))) - ranks
    assert moved.abs().max() <= len(values) * 0.5


@pytest.mark.parametrize(
    ("records", "percent", "window"),
    [(400, 5, 20), (100, 7, 7), (150, 1, 1), (199, 1, 1), (99, 1, 0), (5, 100, 4)],
)
def test_window_is_rounded_down(records, percent, window):
    assert window_size(records, percent) == window


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_same_seed_same_table_and_everything_else_as_it_was(method: MaskingMethod):
    frame = load_wdbc().iloc[100:160, :6].sample(frac=1, random_state=1)
    before = frame.copy()
    method = replace(method, attributes=("radius_mean", "area_mean"))  # type: ignore[type-var]
    masked = method.apply(frame, 9)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(method.apply(frame, 9), masked)
    assert masked.index.tolist() == frame.index.tolist()
    assert masked.columns.tolist() == frame.columns.tolist()
    others = ["diagnosis", "texture_mean", "perimeter_mean", "smoothness_mean"]
    pd.testing.assert_frame_equal(masked[others], frame[others])
    assert (masked["radius_mean"] != frame["radius_mean"]).any()
    assert method.masked_attributes(frame) == ("radius_mean", "area_mean")


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_only_chance_makes_another_table(method: MaskingMethod):
    frame = load_wdbc().iloc[:50, 1:3]
    tables = [method.apply(frame, seed) for seed in (None, None, 1, 2)]
    same = [one.equals(other) for one, other in itertools.combinations(tables, 2)]
    assert not any(same) if method.chance else all(same)
    assert method.chance == (method in METHODS[2:])


@pytest.mark.parametrize(
    ("method", "digest"),
    [
        (METHODS[0], "90047e6b96500a1ec88b269bec678dbeaa0b08ccbcb72c5216052fca2a980f13"),
        (METHODS[1], "d0c444cba641f45a36305e7cd75b4334d86da689d0c0b4623ab34eb9d07c8e91"),
        (METHODS[2], "ed1b5d10fe16b7c620f520405e693851118da42ab12e86a566cda99232a95e2b"),
        (METHODS[3], "a6fd48f118c03c6491c643ba1c9b7e210c3ce2a90cf11da6946929e6f2eb1493"),
        (METHODS[4], "65a0cb2bd13dca5e0e69c94b06d7b2ccd05b4935f0deba51866bbc31ac9a6d83"),
    ],
    ids=["mdav", "optimal", "noise", "correlated-noise", "rank-swapping"],
)
def test_the_same_file_on_every_machine(method: MaskingMethod, digest):
    masked = method.apply(load_wdbc().iloc[:200, 1:7], seed=2024)
    content = masked.to_csv(index=False, lineterminator="\n").encode()
    assert hashlib.sha256(content).hexdigest() == digest


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AdditiveNoise(percent=0), "percent is 0; it must be above 0"),
        (lambda: RankSwapping(percent=-3), "percent is -3; it must be above 0 and at most 100"),
        (lambda: RankSwapping(percent=1).apply(_sample(50)), "the table, column 'a': percent is 1, less"),
        (lambda: AdditiveNoise(percent=5).apply(_sample(5), -2), "the seed -2 is negative; give a whole"),
        (lambda: AdditiveNoise(percent=5).apply(_sample(5)[:0]), "the table has no records; there is"),
        (
            lambda: AdditiveNoise(percent=5).apply(_sample(5).rename(columns={"b": 1})),
            "column 2 of the table needs a unique name instead of 1",
        ),
    ],
)
def test_bad_parameters(make: Any, message):
    with pytest.raises(DataError) as caught:
        make()
    assert message in str(caught.value)
