"""The cell-key method: published perturbation tables, what noise is like, and the same noise everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.cell_key import NoiseDesign, PerturbationTable, cell_keys
from linkrisk.solver.tables.operations.figures import count_changes
from linkrisk.solver.tables.operations.noise_designs import perturbation_table


def test_the_published_table_of_ptable():
    """Vignette of the R package ptable 1.0.0: `create_cnt_ptable(D = 2, V = 1)`."""
    table = perturbation_table(NoiseDesign(2, 1.0))
    assert np.round(table.probability[1], 4).tolist() == [0.0, 0.3665, 0.3665, 0.1676, 0.0995]
    assert round(table.probability[2, 0], 4) == 0.0638
    assert round(table.probability[2, 2], 3) == 0.383
    assert np.round(table.variance, 3).tolist() == [0.0, 0.932, 1.0]
    low, high = table.intervals()
    assert np.round(low[1, 1:], 3).tolist() == [0.0, 0.366, 0.733, 0.901]
    assert high[1, -1] == 1.0


def test_the_published_table_without_a_limit_of_variance():
    """Of the R package experimentalRpackage: `round(Pmatrix(D = 2, js = 0), 2)`, which is cumulative."""
    table = perturbation_table(NoiseDesign(2, 3.0))
    assert np.round(np.cumsum(table.probability[2]), 2).tolist() == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert np.round(np.cumsum(table.probability[1]), 2).tolist() == [0.0, 0.37, 0.73, 0.9, 1.0]


@settings(max_examples=25, deadline=None)
@given(
    most=st.integers(1, 6),
    share=st.floats(0.2, 0.9),
    small=st.integers(0, 2),
    stay=st.sampled_from([None, 0.3]),
    monotone=st.booleans(),
)
def test_noise_is_as_it_was_asked_for(most, share, small, stay, monotone):
    variance = share * most * (most + 1) / 2
    try:
        table = perturbation_table(NoiseDesign(most, variance, small, stay, monotone))
    except FormulationError:
        assert small > 0 or variance < 1
        return
    p, noise = table.probability, table.noise
    assert (p >= 0).all()
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert p @ noise == pytest.approx(0.0, abs=1e-8)
    assert (p @ noise**2 <= variance * (1 + 1e-6)).all()
    after = np.arange(len(p))[:, None] + noise
    assert not p[(after < 0) | ((after >= 1) & (after <= small))].any()
    assert p[0, most] == 1.0
    if monotone and small == 0:
        assert (np.diff(p[:, : most + 1], axis=1) >= -1e-6).all()
    low, high = table.intervals()
    assert high - low == pytest.approx(p, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(most=st.integers(1, 4), share=st.floats(0.3, 0.9), seed=st.integers(0, 9))
def test_no_other_noise_has_more_entropy(most, share, seed):
    """Moving along what keeps sum, mean and variance only loses entropy."""
    table = perturbation_table(NoiseDesign(most, share * most**2, monotone=False))
    p, noise = table.probability[-1], table.noise.astype(float)
    sums = np.array([np.ones(noise.size), noise, noise**2])
    free = np.random.default_rng(seed).normal(size=noise.size)
    free -= sums.T @ np.linalg.lstsq(sums @ sums.T, sums @ free, rcond=None)[0]
    entropy = lambda q: -np.sum(q[q > 0] * np.log2(q[q > 0]))  # noqa: E731
    for step in (1e-3, -1e-3):
        other = p + step * free
        if (other > 0).all():
            assert entropy(other) <= entropy(p) + 1e-7


def test_the_probability_to_stay():
    high, low = (perturbation_table(NoiseDesign(3, 1.0, stay=stay)) for stay in (0.6, None))
    assert high.probability[-1, 3] >= 0.6 - 1e-9
    assert low.probability[-1, 3] < 0.6
    assert high.variance[-1] == pytest.approx(1.0, abs=1e-3)
    assert (
        perturbation_table(NoiseDesign(2, 3.0, stay=0.5)).probability[-1, 2] < 0.5
    )  # or the variance is not reached


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ((0, 1.0), "the largest noise is 1 to 20, not 0"),
        ((2, 0.0), "the variance of noise is above 0, not 0"),
        ((2, 1.0, -1), r"small counts are none \(0\) or 1 to N, not -1"),
        ((2, 1.0, 0, 1.5), "the probability of no noise is from 0 to less than 1, not 1.5"),
        (
            (3, 0.5, 3),
            "no noise of at most 3 with variance 0.5 is unbiased for a count of 1; raise the variance",
        ),
    ],
)
def test_noise_that_there_is_not(asked, why):
    with pytest.raises(FormulationError, match=why):
        perturbation_table(NoiseDesign(*asked))


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([[0, 1, 0], [0.5, 0.6, 0]], "a count of 1 has probabilities that sum to 1.1"),
        ([[0, 1, 0], [0.5, 0.2, 0.3]], "a count of 1 has noise of mean -0.2, which makes tables biased"),
        ([[0.5, 0, 0.5]], "a count of 0 can become negative"),
        ([[0, 1, 0], [-0.5, 2, -0.5]], "a count of 1 has a probability below 0"),
    ],
)
def test_designs_that_are_none(rows, why):
    with pytest.raises(FormulationError, match=why):
        PerturbationTable(np.array(rows, dtype=float))


def test_noise_is_looked_up_by_intervals():
    table = PerturbationTable(np.array([[0, 0, 1, 0, 0], [0, 0.25, 0.5, 0.25, 0]], dtype=float))
    keys = np.array([0.0, 0.2499, 0.25, 0.7499, 0.75, 0.9999])
    assert table.look_up(np.full(6, 7), keys).tolist() == [-1, -1, 0, 0, 1, 1]
    assert not table.look_up(np.zeros(6, dtype=np.int64), keys).any()


@settings(max_examples=50, deadline=None)
@given(keys=st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=40), seed=st.integers(0, 5))
def test_the_same_records_have_the_same_key_in_any_order(keys, seed):
    keys = np.array(keys)
    order = np.random.default_rng(seed).permutation(keys.size)
    none = np.zeros(keys.size, dtype=np.int64)
    first, second = (cell_keys(keys, none, one, 1) for one in (np.arange(keys.size), order))
    assert first == second
    assert 0 <= first[0] < 1
    apart = abs(first[0] - np.sum(keys) % 1.0)
    assert min(apart, 1 - apart) < 1e-9


def test_noise_comes_as_often_as_it_should():
    table = perturbation_table(NoiseDesign(3, 2.0, 1))
    keys = np.random.default_rng(0).random(200_000)
    for count in (1, 2, 9):
        noise = table.look_up(np.full(keys.size, count), keys)
        shares = np.bincount(noise + 3, minlength=7) / keys.size
        assert shares == pytest.approx(table.probability[min(count, 4)], abs=0.005)


def test_distances():
    before = np.array([0, 1, 4, 9, 16])
    found = count_changes(before, np.array([0, 0, 4, 16, 9]))
    assert found["absolute"]["mean"] == 3.0
    assert found["relative"]["max"] == 1.0
    assert found["roots"]["q50"] == 1.0
    assert (found["false_zeros"], found["false_positives"]) == (1, 0)
