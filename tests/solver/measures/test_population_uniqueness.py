"""Population uniqueness of files with misclassified keys, and the log-linear models that estimate it."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_runs import pair_task
from refusals import refusal
from scipy.optimize import minimize
from scipy.stats import poisson

from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.solver.masking.mask import mask
from linkrisk.solver.measures.loglinear import (
    CodedKeys,
    correct_match,
    fit,
    model_risk,
    population_unique,
    possible_cells,
    unseen_mean,
)
from linkrisk.solver.measures.population_uniqueness import (
    PopulationUniques,
    Source,
    correct_match_probability,
    key_changes,
    uniques_risk,
)
from linkrisk.solver.run.clock import Clock

needs_data = pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)
ADULT = ["workclass", "education", "marital-status", "occupation", "race", "sex"]


def adult():
    """A population, and how many have the keys of each."""
    file = Path(os.environ["LINKRISK_DATA"]) / "uci_adult_train.csv"
    population = pd.read_csv(file)[ADULT].fillna("?")
    return population, population.groupby(ADULT).size()


def by_all_outcomes(population, into, own, fraction):
    """Given that one record is released as j: the probability that it is a certain unit of category j."""
    units = np.repeat(np.arange(len(population)), population)
    released_as_j = fraction * np.asarray(into)[units]
    target = int(np.flatnonzero(units == own)[0])
    alone = target_alone = 0.0
    for outcome in itertools.product((False, True), repeat=units.size):
        if sum(outcome) == 1:
            probability = float(np.prod(np.where(outcome, released_as_j, 1.0 - released_as_j)))
            alone += probability
            target_alone += probability * outcome[target]
    return target_alone / alone


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.lists(st.floats(0.05, 0.95), min_size=3, max_size=3),
    st.floats(0.05, 0.95),
    st.integers(0, 2),
)
def test_the_formula_of_shlomo_and_skinner_is_the_sum_over_all_outcomes(population, into, fraction, own):
    into, own = into[: len(population)], own % len(population)
    expected = by_all_outcomes(population, into, own, fraction)
    assert correct_match_probability(population, into, own, fraction) == pytest.approx(expected)


def pair(before, after, masking=()):
    frames = [pd.DataFrame({"town": town, "x": range(len(before))}) for town in (before, after)]
    return make_file_pair(*frames, nominal=["town"], masking=masking, row_by_row=True)


BEFORE = ["a"] * 4 + ["b"] * 2 + ["c"] * 2
AFTER = ["a", "a", "a", "b", "b", "a", "c", "c"]


def test_unknown_masking_is_estimated_for_each_category():
    (change,) = key_changes(pair(BEFORE, AFTER), ["town"], ())
    assert (change.source, change.stays) == (Source.ESTIMATED, 6 / 8)
    by_category = {"a": 3 / 4, "b": 1 / 2, "c": 1.0}
    assert change.of_record.tolist() == [by_category[town] for town in AFTER]
    # A category that only masking makes is never the true one.
    (change,) = key_changes(pair(BEFORE, ["d", "a", *AFTER[2:]]), ["town"], ())
    assert change.of_record[0] == 0.0


SCHEMA = {
    "attributes": [
        *({"name": name, "role": "key", "scale": "nominal"} for name in ("town", "job", "sex")),
        {"name": "income", "role": "key", "scale": "numeric"},
        {"name": "weight", "role": "weight"},
    ]
}
CATEGORIES = {"town": "abcdef", "job": "uvwxyz", "sex": "mf"}


def survey(records=60, seed=1):
    random = np.random.default_rng(seed)
    columns = {name: random.choice(list(values), records) for name, values in CATEGORIES.items()}
    return pd.DataFrame({**columns, "income": random.integers(10, 99, records), "weight": 20.0})


def pram(frame, change, seed=2):
    random, masked = np.random.default_rng(seed), frame.copy()
    masked["income"] += random.integers(-3, 4, len(frame))
    for name, values in CATEGORIES.items():
        other = [random.choice([v for v in values if v != value]) for value in frame[name]]
        masked[name] = np.where(random.random(len(frame)) < change, other, frame[name])
    return masked


def measured(original, masked, schema=SCHEMA, **options):
    task, measure = pair_task(original, masked, schema=schema, **options), PopulationUniques()
    assert measure.lacking(task) is None
    return measure.take(task, Clock(None))


def test_keys_that_were_not_masked_have_the_same_risk_released():
    original = survey()
    found = measured(original, pram(original, 0.0))
    alone = uniques_risk(original, ["town", "job", "sex"], 1 / 20)
    assert found.original.chosen == found.released.chosen == alone.chosen
    assert found.expected_right == pytest.approx(found.original.chosen.tau_2)
    assert found.left_out == ("income",)
    assert "were not masked" in found.paragraph


@pytest.mark.parametrize("known", [True, False])
def test_changed_keys_multiply_what_the_masked_file_says_by_their_probability(known):
    original = survey()
    masked = pram(original, 0.25)
    masking = [f"pram change=0.25 attributes={name}" for name in CATEGORIES] if known else []
    found = measured(original, masked, masking=masking)
    alone = uniques_risk(masked, ["town", "job", "sex"], 1 / 20)
    stays = np.ones(len(masked))
    for name in CATEGORIES:
        kept = (original[name] == masked[name]).groupby(original[name]).mean()
        stays *= 0.75 if known else masked[name].map(kept).to_numpy()
    np.testing.assert_allclose(found.right, alone.correct_match * stays)
    own = original[list(CATEGORIES)].apply(tuple, axis=1)
    here = masked[list(CATEGORIES)].apply(tuple, axis=1).isin(set(own)).to_numpy()
    assert (found.occupied[here] == 1.0).all()
    assert (found.occupied[~here] < 1.0).all()
    assert found.expected_right == pytest.approx(np.nansum(found.right * found.occupied))
    assert any(("known from" if known else "estimated as") in note for note in found.notes)


def test_an_intruder_recodes_what_he_knows():
    """The release is that of a survey that had asked for the coarser categories."""
    original = survey()
    masked = original.assign(town=original["town"].map(dict(zip("abcdef", "pppqqr", strict=True))))
    found = measured(original, masked)
    coarse = uniques_risk(masked, ["town", "job", "sex"], 1 / 20)
    assert 0 < coarse.uniques < found.original.uniques
    assert (found.occupied == 1.0).all()
    assert found.expected_right == pytest.approx(coarse.chosen.tau_2)


@pytest.mark.parametrize(
    ("left_out", "values", "reason"),
    [
        ({"town", "job", "sex"}, 20.0, "no key variable is categorical; name those that an intruder knows"),
        ({"weight"}, 20.0, "without sampling weights or fraction it is not known how large the population"),
        (set(), 0.5, "the sampling weights sum to less than the number of records; they must count the"),
    ],
)
def test_what_the_files_lack_is_said(left_out, values, reason):
    original = survey().assign(weight=values).drop(columns=list(left_out))
    schema = {"attributes": [item for item in SCHEMA["attributes"] if item["name"] not in left_out]}
    assert PopulationUniques().lacking(pair_task(original, original, schema=schema)).startswith(reason)
    table = pd.DataFrame({"a": [1, 2]})
    assert refusal(lambda: uniques_risk(table, [], 0.5)) == (
        "population uniqueness needs a key variable and a record; give at least one of each"
    )
    message = "the sampling fraction is 0; it must be above 0 and at most 1"
    assert refusal(lambda: uniques_risk(table, ["a"], 0.0)) == message


@needs_data
def test_right_links_as_released_are_near_those_of_a_known_population():
    """Adult as the population: links of released uniques to one of those who have their keys, by chance."""
    population, size = adult()
    masking = f"pram change=0.1 attributes={','.join(ADULT)}"
    keys = [{"name": key, "role": "key", "scale": "nominal"} for key in ADULT]
    schema = {"attributes": [*keys, {"name": "weight", "role": "weight"}]}
    true, estimated = [], []
    for seed in range(2):
        sample = population.sample(n=1628, random_state=seed).reset_index(drop=True).assign(weight=20.0)
        masked = mask(sample, masking, seed=seed + 1).table
        unique = ~masked.duplicated(ADULT, keep=False) & (masked[ADULT] == sample[ADULT]).all(axis=1)
        true.append((1.0 / size.reindex(pd.MultiIndex.from_frame(sample.loc[unique, ADULT]))).sum())
        estimated.append(measured(sample, masked, schema).expected_right)
    assert np.mean(estimated) == pytest.approx(np.mean(true), rel=0.2)


def keys_of(codes):
    names = [f"k{at}" for at in range(np.shape(codes)[1])]
    return CodedKeys.of(pd.DataFrame(np.asarray(codes), columns=names), names)


def drawn(seed, records, levels):
    """Records whose keys depend on each other."""
    random = np.random.default_rng(seed)
    first = random.integers(0, levels[0], records)
    columns = [first]
    for count in levels[1:]:
        moved = (columns[-1] + random.integers(0, 2, records)) % count
        columns.append(np.where(random.random(records) < 0.5, moved, random.integers(0, count, records)))
    return np.stack(columns, axis=1)


def all_pairs(levels):
    return tuple(itertools.combinations(range(len(levels)), 2))


def dense_design(levels, pairs):
    """Indicators of all categories, and of those of pairs of keys, of every cell of the whole table."""
    cells = np.array(list(itertools.product(*map(range, levels))))
    columns = [np.ones(len(cells))]
    for chosen in (*((key,) for key in range(len(levels))), *pairs):
        categories = itertools.product(*(range(1, levels[key]) for key in chosen))
        columns += [(cells[:, chosen] == values).all(axis=1).astype(float) for values in categories]
    return cells, np.stack(columns, axis=1)


def maximised(design, count):
    """Means that maximise the Poisson likelihood ``sum f log mu - mu``."""

    def loss(beta):
        mean = np.exp(design @ beta)
        return float((mean - count * (design @ beta)).sum()), design.T @ (mean - count)

    start = np.zeros(design.shape[1])
    start[0] = np.log(count.mean())
    found = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 5000})
    return np.exp(design @ found.x)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("levels", [(3, 4), (3, 2, 4), (2, 3, 2, 3)])
def test_fit_is_that_of_the_likelihood_maximised_directly(share, levels):
    codes = drawn(3, 400, levels)
    pairs = keys_of(codes).pairs
    pairs = pairs[: round(share * len(pairs))]
    fitted = fit(keys_of(codes), pairs, Clock(None), tolerance=1e-8)
    cells, design = dense_design(levels, pairs)
    count = np.array([(codes == cell).all(axis=1).sum() for cell in cells], dtype=float)
    assert fitted.whole
    assert fitted.mean.size == count.size  # no pair is missing, so all cells are there, in the same order
    np.testing.assert_array_equal(fitted.count, count)
    np.testing.assert_allclose(fitted.mean, maximised(design, count), atol=1e-5)


def test_margins_of_the_fit_are_those_of_the_sample_where_pairs_are_missing(virtual_time):
    del virtual_time
    keys = keys_of(drawn(8, 40, (6, 6, 6, 3)))
    fitted = fit(keys, all_pairs(range(4)), Clock(None))
    assert fitted.mean.size < 6 * 6 * 6 * 3
    for group in fitted.groups:
        margins = [np.bincount(group, weights=each) for each in (fitted.mean, fitted.count)]
        np.testing.assert_allclose(*margins, atol=0.01)
    # A clock that has run out ends it early.
    keys = keys_of(drawn(8, 200, (6, 6, 6, 3)))
    assert fit(keys, keys.pairs, Clock(0.0)).gap > fit(keys, keys.pairs, Clock(None)).gap


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31 - 1), st.integers(1, 30), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_possible_cells_are_those_of_the_dense_table(seed, records, levels):
    keys = keys_of(np.random.default_rng(seed).integers(0, levels, (records, len(levels))))
    table = np.zeros(keys.levels)
    np.add.at(table, tuple(keys.codes.T), 1.0)
    possible = np.ones(keys.levels, dtype=bool)
    for pair in itertools.combinations(range(len(levels)), 2):
        others = tuple(key for key in range(len(levels)) if key not in pair)
        possible &= table.sum(axis=others, keepdims=True) > 0
    np.testing.assert_array_equal(possible_cells(keys, all_pairs(levels), 10**6), np.argwhere(possible))
    assert len(possible_cells(keys, (), 10**6)) == table.size


def test_a_census_has_no_doubt_and_one_key_has_its_own_frequencies_as_means():
    frame = pd.DataFrame({"a": [1, 1, 2, 3], "b": [1, 1, 1, 2]})
    risk = uniques_risk(frame, ["a", "b"], 1.0)
    assert risk.chosen.tau_1 == risk.chosen.tau_2 == risk.uniques == 2
    assert risk.population_unique.tolist() == [0.0, 0.0, 1.0, 1.0]
    for values, uniques in (([1, 1, 2, 2], 0), ([1, 2, 3, 4], 4), ([1, 1, 1, 1], 0)):
        risk = uniques_risk(pd.DataFrame({"a": values}), ["a"], 0.5)
        assert risk.uniques == uniques
        # f = mu = 1, so that 1 of the population is unseen on average.
        assert risk.chosen.tau_1 == pytest.approx(uniques * np.exp(-1.0))
        assert risk.chosen.tau_2 == pytest.approx(uniques * (1.0 - np.exp(-1.0)))
        assert np.isnan(risk.correct_match).sum() == 4 - uniques


def test_interactions_come_by_how_much_keys_depend_on_each_other():
    random = np.random.default_rng(2)
    first, second, third = (random.integers(0, 4, 500) for _ in range(3))
    copy = np.where(random.random(500) < 0.9, first, second)
    close = np.where(random.random(500) < 0.4, third, second)
    pairs = keys_of(np.stack([first, third, copy, close], axis=1)).pairs
    assert pairs[:2] == ((0, 2), (1, 3))
    assert sorted(pairs) == list(all_pairs(range(4)))


@pytest.mark.parametrize("most", [10**6, 5])
def test_cells_of_other_records_are_found_by_their_categories(most):
    names = ["a", "b", "c"]
    sample = pd.DataFrame({"a": ["x", "x", "y"], "b": [1.0, 2.0, None], "c": ["u", "v", "u"]})
    others = pd.DataFrame({"a": ["x", "y", "z", "x"], "b": [2.0, None, 1.0, None], "c": ["v", "u", "u", "u"]})
    keys = CodedKeys.of(sample, names)
    count, mean = fit(keys, (), Clock(None), most=most).at(keys.codes_of(others))
    assert count.tolist() == [1, 1, 0, 0]
    assert mean[:3] == pytest.approx([3 * (2 / 3) * (1 / 3) * (1 / 3), 3 * (1 / 3) * (1 / 3) * (2 / 3), 0.0])
    assert mean[3] == pytest.approx(3 * (2 / 3) * (1 / 3) * (2 / 3) if most > 5 else 0.0)


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
    random, errors = np.random.default_rng(4), []
    for _ in range(6):
        population = independent_population(random, (8, 7, 6, 5), 8000)
        for pair in ((0, 1), (0, 2), (1, 2), (2, 3)):
            shape = [population.shape[axis] if axis in pair else 1 for axis in range(4)]
            population = population * random.gamma(0.7, 1 / 0.7, size=shape)
        size, count, frame = sampled(random, population, 0.1)
        true = (1.0 / size[count == 1]).sum()
        risk = uniques_risk(frame, list(frame.columns), 0.1)
        simple, chosen = risk.models[0], risk.chosen
        assert simple.interactions == ()
        assert simple.z_2 > 3.0
        assert simple.tau_2 > true
        assert chosen.interactions
        assert chosen.misfit == min(model.misfit for model in risk.models)
        tried = [len(model.interactions) for model in risk.models]
        assert (tried[:2], len(tried)) == ([0, 6], len(set(tried)))
        errors.append((abs(chosen.tau_2 - true), abs(simple.tau_2 - true)))
    better, independent = np.mean(errors, axis=0)
    assert better < 0.7 * independent


@needs_data
def test_samples_of_a_known_population_are_assessed_rightly():
    """Adult as the population: of samples of 5 % the true numbers are known."""
    population, size = adult()
    for seed in range(2):
        sample = population.sample(n=1628, random_state=seed)
        count = sample.groupby(ADULT).size()
        unique = size.reindex(count[count == 1].index)
        risk = uniques_risk(sample, ADULT, 0.05)
        assert risk.uniques == len(unique)
        assert risk.fits
        assert risk.chosen.tau_1 == pytest.approx((unique == 1).sum(), rel=0.15)
        assert risk.chosen.tau_2 == pytest.approx((1.0 / unique).sum(), rel=0.1)
        assert risk.models[0].tau_2 != pytest.approx((1.0 / unique).sum(), rel=0.25)
