"""The cell-key method: published perturbation tables, unbiased noise, and the same noise everywhere."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.cell_key import NoiseDesign, PerturbationTable, cell_keys
from linkrisk.formulations.tables.following_keys import next_keys, turned_keys
from linkrisk.formulations.tables.magnitude_cells import SummedCells, perturbed_sums
from linkrisk.formulations.tables.magnitude_noise import MagnitudeDesign, MagnitudeTable, Multiplier, Noise
from linkrisk.solver.tables.operations.figures import count_changes
from linkrisk.solver.tables.perturbation.maximum_entropy_noise import magnitude_table, perturbation_table


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
    # Of the R package experimentalRpackage: `round(Pmatrix(D = 2, js = 0), 2)`, without a limit of variance.
    table = perturbation_table(NoiseDesign(2, 3.0))
    assert np.round(np.cumsum(table.probability[2]), 2).tolist() == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert np.round(np.cumsum(table.probability[1]), 2).tolist() == [0.0, 0.37, 0.73, 0.9, 1.0]
    # With whole steps a level of sums is a count.
    found = magnitude_table(MagnitudeDesign(2, 1.0, 1))
    assert found.levels.tolist() == [0, 1, 2]
    assert np.round(found.probability[1], 4).tolist() == [0.0, 0.3665, 0.3665, 0.1676, 0.0995]
    assert np.round(found.variance, 3).tolist() == [0.0, 0.932, 1.0]


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
    # Or the variance is not reached:
    assert perturbation_table(NoiseDesign(2, 3.0, stay=0.5)).probability[-1, 2] < 0.5


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


DRAWS = 200_000


@functools.cache
def table(*design):
    return magnitude_table(MagnitudeDesign(*design))


def usual():
    return table(5, 2.0, 1, (1, 3, 5))


def moved(value, largest, multiplier, noise, draws=DRAWS, extra=0.0, **options):
    keys = np.random.default_rng(3).random(draws)
    cells = SummedCells(
        np.full(draws, float(value)),
        np.tile(np.atleast_1d(np.asarray(largest, dtype=float)), (draws, 1)),
        keys,
        np.full(draws, options.pop("odd", 0)),
        np.full(draws, extra),
    )
    return perturbed_sums(cells, multiplier, noise, **options)


@pytest.mark.parametrize("steps", [1, 2])
def test_designs_are_met_in_steps(steps):
    found = table(4, 2.0, steps, (1, 3, 4))
    assert found.probability @ found.noise == pytest.approx(0.0, abs=1e-8)
    assert found.variance[2:] == pytest.approx(2.0, abs=1e-3)
    assert found.noise[1] - found.noise[0] == 1 / steps
    assert not found.probability[1][found.noise < -1].any()


def test_the_flex_function_and_the_separation_point():
    """It starts at p_s, has it at the flex point, and goes to p_l; at 3 f with q = 2 by hand."""
    share = Multiplier(0.2, 0.03, 1000.0, 2.0)
    assert share(np.array([1.0, 1000.0])) == pytest.approx(0.2)
    by_hand = 0.03 * (1 + (0.2 * 3000 - 0.03 * 1000) / (0.03 * 1000) * (2 * 1000 / 4000) ** 2)
    assert share(np.array([3000.0])) == pytest.approx(by_hand)
    assert share(np.array([1e12])) == pytest.approx(0.03, rel=1e-3)
    above = share(np.linspace(1000, 1e6, 5000))
    assert (np.diff(above[2:]) <= 0).all()
    assert above.max() == pytest.approx(0.2037, abs=1e-4)  # right after the flex point it rises a bit
    assert Multiplier(0.1)(np.array([7.0])) == pytest.approx(0.1)

    # The separation point, s = m_1 / (sqrt(E) p): there relative and fixed variance meet.
    small = table(2, 1.0, 1)
    share = Multiplier(0.2, factors=(1.0, 0.5, 0.2))
    point = share.separation_point(small)
    assert point == pytest.approx(np.sqrt(small.variance[-1]) / (np.sqrt(1.29) * 0.2))
    assert share.separation_point(None) == 0.0


@pytest.mark.parametrize(
    ("value", "largest", "multiplier"),
    [
        (1000.0, [300.0], Multiplier(0.1)),
        (1000.0, [300.0, 200.0, 100.0], Multiplier(0.1, factors=(1.0, 0.5, 0.3))),
        (90_000.0, [5000.0, 4000.0], Multiplier(0.2, 0.03, 1000.0, 2.0, (1.0, 0.6))),
        (-1000.0, [-300.0, 50.0], Multiplier(0.1, factors=(1.0, 0.5))),
    ],
)
def test_noise_is_unbiased_and_of_the_variance_that_was_asked_for(value, largest, multiplier):
    found = moved(value, largest, multiplier, Noise(usual()))
    size = np.abs(largest)
    step = np.array(multiplier.factors) * multiplier(size) * size
    variance = float((step**2).sum() * usual().variance[-1])
    assert abs(found.mean() - value) < 5 * np.sqrt(variance / DRAWS)
    assert found.var() == pytest.approx(variance, rel=0.03)
    assert np.abs(found - value).max() <= step.sum() * 5 + 1e-9


def test_between_levels_noise_is_unbiased_and_keeps_the_sign():
    """A value is less than D times the share of its largest, so that levels are interpolated."""
    for value in (3.0, 25.0, 60.0, 110.0):
        found = moved(value, [300.0], Multiplier(0.1), Noise(usual()))
        assert abs(found.mean() - value) < 5 * found.std() / np.sqrt(DRAWS)
        assert found.min() >= 0
        assert found.std() > 0
    found = moved(10_000.0, [100.0], Multiplier(0.1), Noise(usual()), extra=2.0)  # of a sensitive cell
    assert np.abs(found - 10_000).min() >= 20 - 1e-9
    assert abs(found.mean() - 10_000) < 5 * found.std() / np.sqrt(DRAWS)


def test_what_is_small_has_noise_of_fixed_variance_once_and_what_is_odd_its_own_table():
    noise, share = Noise(usual(), small=table(2, 1.0, 1)), Multiplier(0.2, factors=(1.0, 0.5))
    found = moved(12.0, [2.0, 1.0], share, noise)
    assert set(np.unique(found - 12)) == {-2.0, -1.0, 0.0, 1.0, 2.0}
    assert found.var() == pytest.approx(1.0, rel=0.03)
    one = moved(4.0, [0.0], Multiplier(0.2), noise)  # a range of nothing, of one record
    assert one.std() > 0

    # Odd numbers of records have their own table.
    noise = Noise(usual(), odd=table(2, 1.0, 1))
    found = [moved(1000.0, [100.0], Multiplier(0.1), noise, odd=odd).var() for odd in (0, 1)]
    assert found == pytest.approx([200.0, 100.0], rel=0.03)


def test_followers_of_keys_are_even_and_apart():
    keys = np.random.default_rng(0).random(100_000)
    second, third = next_keys(keys, 1), next_keys(keys, 2)
    for one in (second, third):
        assert np.histogram(one, 20, (0, 1))[0] == pytest.approx(5000, abs=350)
    assert np.abs(np.corrcoef([keys, second, third]) - np.eye(3)).max() < 0.02
    assert np.abs(second[keys < 0.05].mean() - 0.5) < 0.02
    assert (second == next_keys(keys, 1)).all()
    other = moved(1000.0, [100.0], Multiplier(0.1), Noise(usual()), draws=100, same_key=False)
    same = moved(1000.0, [100.0], Multiplier(0.1), Noise(usual()), draws=100)
    assert (other != same).any()


@settings(max_examples=60, deadline=None)
@given(
    value=st.floats(-1e6, 1e6),
    largest=st.lists(st.floats(-1e5, 1e5), min_size=3, max_size=3),
    key=st.floats(0, 1, exclude_max=True),
    extra=st.floats(0, 3),
    small=st.booleans(),
)
@example(value=83037.0, largest=[0.0, 3.1e-303, 0.0], key=0.0, extra=0.0, small=False)
def test_no_sum_changes_its_sign_and_the_same_cell_is_moved_alike(value, largest, key, extra, small):
    noise = Noise(usual(), small=table(2, 1.0, 1) if small else None)
    share = Multiplier(0.3, 0.05, 100.0, 2.0, (1.0, 0.5, 0.0))
    arguments = (np.array([largest] * 2), np.array([key] * 2), np.array([0, 0]), np.array([extra] * 2))
    found = perturbed_sums(SummedCells(np.array([value, value]), *arguments), share, noise)
    assert found[0] == found[1]
    assert np.isfinite(found).all()
    assert found[0] * value >= 0
    mirrored = perturbed_sums(SummedCells(np.array([-value, -value]), *arguments), share, noise)
    assert mirrored[0] == -found[0]


def test_digits_of_keys_are_turned_round():
    keys = np.array([0.1234, 0.05, 0.0, 0.99996])
    assert turned_keys(keys, 1, 4).tolist() == [0.2341, 0.5, 0.0, 0.0]
    assert turned_keys(keys, 2, 4).tolist() == [0.3412, 0.0005, 0.0, 0.0]
    assert turned_keys(keys[:3], 4, 4).tolist() == keys[:3].tolist()
    assert turned_keys(keys[:1], 1, 15).tolist() == [0.234000000000001]
    one, other = (
        moved(1000.0, [100.0], Multiplier(0.1), Noise(usual()), same_key=False, digits=at) for at in (3, None)
    )
    assert one.mean() == pytest.approx(1000.0, abs=0.2)
    assert (one != other).any()


# Refusals


def of_counts(*rows):
    return PerturbationTable(np.array(rows, dtype=float))


def of_sums(levels, *rows):
    return MagnitudeTable(np.array(levels, dtype=float), np.array([-1.0, 0, 1]), np.array(rows, dtype=float))


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: NoiseDesign(0, 1.0), "the largest noise is 1 to 20, not 0"),
        (lambda: NoiseDesign(2, 0.0), "the variance of noise is above 0, not 0"),
        (lambda: NoiseDesign(2, 1.0, -1), r"small counts are none \(0\) or 1 to N, not -1"),
        (lambda: NoiseDesign(2, 1.0, 0, 1.5), "no noise is from 0 to less than 1, not 1.5"),
        (lambda: perturbation_table(NoiseDesign(3, 0.5, 3)), "no noise of at most 3 with variance 0.5 is"),
        (lambda: of_counts([0, 1, 0], [0.5, 0.6, 0]), "a count of 1 has probabilities that sum to 1.1"),
        (lambda: of_counts([0, 1, 0], [0.5, 0.2, 0.3]), "a count of 1 has noise of mean -0.2, which makes"),
        (lambda: of_counts([0.5, 0, 0.5]), "a count of 0 can become negative"),
        (lambda: of_counts([0, 1, 0], [-0.5, 2, -0.5]), "a count of 1 has a probability below 0"),
        (lambda: MagnitudeDesign(0, 1.0), "the largest noise is at least 1, not 0"),
        (lambda: MagnitudeDesign(2, 0.0), "the variance of noise is above 0, not 0"),
        (lambda: MagnitudeDesign(20, 1.0, 6), "the largest noise has 1 to 100 steps, not 120"),
        (lambda: MagnitudeDesign(5, 1.0, 1, (1, 3)), "levels start from 1 and end with the largest noise, 5"),
        (lambda: MagnitudeDesign(5, 1.0, 1, (1, 1, 5)), "levels rise"),
        (lambda: MagnitudeDesign(5, 1.0, 1, (), 1.0), "the probability of no noise is 0 to 1, not 1.0"),
        (lambda: Multiplier(0.0), "the share is above 0 and at most 1, not 0"),
        (lambda: Multiplier(0.1, 0.01), "a share that falls has both, the least share and the flex point"),
        (lambda: Multiplier(0.1, 0.2, 9.0), "the least share is above 0 and at most 0.1, not 0.2"),
        (lambda: Multiplier(0.1, 0.1, 0.0), "the flex point is above 0, not 0.0"),
        (lambda: Multiplier(0.1, power=0.5), "the power is at least 1, not 0.5"),
        (lambda: Multiplier(0.1, factors=(0.5,)), "factors start with 1, do not rise, and are not negative"),
        (lambda: Multiplier(0.1, factors=(1.0,) * 7), "there are 1 to 6 factors, not 7"),
        (lambda: of_sums([1], [0, 1, 0]), "there is a row for 0, and at least one more"),
        (lambda: of_sums([0, 1], [0, 1, 0], [0.5, 0.6, 0]), "level 1 has probabilities that sum to 1.1"),
        (lambda: of_sums([0, 1], [0, 1, 0], [0.5, 0.2, 0.3]), "level 1 has noise of mean -0.2, which makes"),
        (lambda: of_sums([0, 0.5], [0, 1, 0], [0.5, 0, 0.5]), "level 0.5 can change its sign"),
        (lambda: of_sums([0, 1], [0.5, 0, 0.5], [0, 1, 0]), "level 0 can change its sign"),
        (lambda: of_sums([0, 1], [0, 1, 0], [-0.5, 2, -0.5]), "level 1 has a probability below 0"),
        (lambda: turned_keys(np.array([0.1]), 1, 0), "keys have 1 to 15 digits that are turned, not 0"),
    ],
)
def test_what_is_refused(made, why):
    with pytest.raises(FormulationError, match=why):
        made()
