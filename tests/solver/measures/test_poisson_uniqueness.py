"""Poisson uniqueness (Skinner and Shlomo 2008): sums over the population, derivatives, simulations."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import poisson

from linkrisk.solver.measures.loglinear import (
    CodedKeys,
    correct_match,
    fit,
    model_risk,
    population_unique,
    unseen_mean,
)
from linkrisk.solver.measures.population_uniqueness import uniques_risk
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError


@pytest.mark.parametrize("mean", [1e-6, 0.05, 0.5, 3.0])
@pytest.mark.parametrize("fraction", [0.01, 0.3, 1.0])
def test_probabilities_are_sums_over_what_the_population_can_be(mean, fraction):
    """P(F) P(f = 1 | F) by definition: F is Poisson, f binomial."""
    population = np.arange(1, 2000)
    weight = poisson.pmf(population, mean / fraction) * population * fraction
    weight *= np.power(1.0 - fraction, population - 1.0)
    weight /= weight.sum()
    unseen = unseen_mean(np.array([mean]), fraction)
    assert population_unique(unseen)[0] == pytest.approx(weight[0])
    assert correct_match(unseen)[0] == pytest.approx((weight / population).sum())


def test_derivatives_are_those_of_differences_and_meet_where_the_series_ends():
    x = np.array([1e-3, 0.19, 0.2, 0.21, 1.0, 8.0])
    step = 1e-4
    low, value, high = (correct_match(x + by) for by in (-step, 0.0, step))
    first, second = (correct_match(x, derivative) for derivative in (1, 2))
    np.testing.assert_allclose(first, (high - low) / (2 * step), rtol=1e-6)
    np.testing.assert_allclose(second, (high - 2 * value + low) / step**2, rtol=1e-5)
    assert [correct_match(np.zeros(1), at)[0] for at in range(3)] == pytest.approx([1.0, -1 / 2, 1 / 3])


def sampled(random, population, fraction):
    """Poisson counts of a population, those in its sample, and the sample as records."""
    size = random.poisson(population)
    count = random.binomial(size, fraction)
    cells = np.argwhere(count >= 0).repeat(count.ravel(), axis=0)
    return size, count, pd.DataFrame(cells, columns=[f"k{at}" for at in range(population.ndim)])


def independent_population(random, levels, total):
    shares = [random.dirichlet(np.ones(level)) for level in levels]
    mean = np.full(levels, float(total))
    for axis, share in enumerate(shares):
        mean = mean * np.expand_dims(share, tuple(a for a in range(len(levels)) if a != axis))
    return mean


def test_estimates_are_right_on_average_and_tests_are_near_standard_normal_where_the_model_is_true():
    random = np.random.default_rng(20)
    population = independent_population(random, (8, 7, 6, 5), 4000)
    true, found, z = [], [], []
    for _ in range(120):
        size, count, frame = sampled(random, population, 0.1)
        one = count == 1
        true.append(((size[one] == 1).sum(), (1.0 / size[one]).sum()))
        keys = CodedKeys.of(frame, list(frame.columns))
        risk = model_risk(fit(keys, (), Clock(None)), 0.1)
        found.append((risk.tau_1, risk.tau_2))
        z.append((risk.z_1, risk.z_2))
    np.testing.assert_allclose(np.mean(found, axis=0), np.mean(true, axis=0), rtol=0.08)
    assert np.abs(np.mean(z, axis=0)).max() < 0.5
    assert np.std(z, axis=0) == pytest.approx(1.0, abs=0.25)


def test_a_model_without_the_interactions_says_too_much_and_another_is_chosen():
    """Skinner and Shlomo 2008: underfitting overestimates the risk, and B shows it."""
    random = np.random.default_rng(4)
    errors = []
    for _ in range(6):
        population = independent_population(random, (8, 7, 6, 5), 8000)
        for pair in ((0, 1), (0, 2), (1, 2), (2, 3)):
            shape = [population.shape[axis] if axis in pair else 1 for axis in range(4)]
            population = population * random.gamma(0.7, 1 / 0.7, size=shape)
        size, count, frame = sampled(random, population, 0.1)
        true = (1.0 / size[count == 1]).sum()
        risk = uniques_risk(frame, list(frame.columns), 0.1)
        simple = risk.models[0]
        assert simple.interactions == ()
        assert simple.z_2 > 3.0
        assert simple.tau_2 > true
        assert risk.chosen.interactions
        assert risk.chosen.misfit == min(model.misfit for model in risk.models)
        tried = [len(model.interactions) for model in risk.models]
        assert tried[:2] == [0, 6]
        assert len(tried) == len(set(tried))
        errors.append((abs(risk.chosen.tau_2 - true), abs(simple.tau_2 - true)))
    chosen, independent = np.mean(errors, axis=0)
    assert chosen < 0.7 * independent


@pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)
def test_samples_of_a_known_population_are_assessed_rightly():
    """Adult as the population: of samples of 5 % the true numbers are known."""
    keys = ["workclass", "education", "marital-status", "occupation", "race", "sex"]
    population = pd.read_csv(Path(os.environ["LINKRISK_DATA"]) / "uci_adult_train.csv")[keys].fillna("?")
    size = population.groupby(keys).size().rename("size").reset_index()
    for seed in range(3):
        sample = population.sample(n=1628, random_state=seed)
        count = sample.groupby(keys).size().rename("count").reset_index()
        unique = count[count["count"] == 1].merge(size, on=keys)
        risk = uniques_risk(sample, keys, 0.05)
        assert risk.uniques == len(unique)
        assert risk.fits
        assert risk.chosen.tau_1 == pytest.approx((unique["size"] == 1).sum(), rel=0.15)
        assert risk.chosen.tau_2 == pytest.approx((1.0 / unique["size"]).sum(), rel=0.1)
        assert risk.models[0].tau_2 != pytest.approx((1.0 / unique["size"]).sum(), rel=0.25)


def test_a_census_has_no_doubt():
    frame = pd.DataFrame({"a": [1, 1, 2, 3], "b": [1, 1, 1, 2]})
    risk = uniques_risk(frame, ["a", "b"], 1.0)
    assert risk.chosen.tau_1 == risk.chosen.tau_2 == risk.uniques == 2
    assert risk.population_unique.tolist() == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize(("values", "uniques"), [([1, 1, 2, 2], 0), ([1, 2, 3, 4], 4), ([1, 1, 1, 1], 0)])
def test_one_key_with_no_uniques_or_with_uniques_alone(values, uniques):
    risk = uniques_risk(pd.DataFrame({"a": values}), ["a"], 0.5)
    assert risk.uniques == uniques
    # One key has its own frequencies as means: f = mu = 1, so that 1 of the population is unseen on average.
    assert risk.chosen.tau_1 == pytest.approx(uniques * np.exp(-1.0))
    assert risk.chosen.tau_2 == pytest.approx(uniques * (1.0 - np.exp(-1.0)))
    assert np.isnan(risk.correct_match).sum() == 4 - uniques


@pytest.mark.parametrize(
    ("keys", "fraction", "message"),
    [
        ([], 0.5, "population uniqueness needs a key variable and a record; give at least one of each"),
        (["a"], 0.0, "the sampling fraction is 0; it must be above 0 and at most 1"),
        (["a"], 1.5, "the sampling fraction is 1.5; it must be above 0 and at most 1"),
        (["a"], float("nan"), "the sampling fraction is nan; it must be above 0 and at most 1"),
    ],
)
def test_bad_requests(keys, fraction, message):
    with pytest.raises(UsageError) as caught:
        uniques_risk(pd.DataFrame({"a": [1, 2]}), keys, fraction)
    assert str(caught.value) == message
