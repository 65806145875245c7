"""What is far out in one attribute takes no link away from the others: ties belong to attributes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from aggregator_cases import BY_LABEL
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk import fit
from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.distances import Differences, Standardisation
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair
from linkrisk.formulations.linkage.tie_tolerance import grain, table_grain, tied_distances, value_rounding
from linkrisk.solver.linkage.evaluator import Evaluator

NAMES = ("income", "age", "height")
NESTED = [BY_LABEL[label] for label in ("weighted-mean", "choquet", "mahalanobis")]


def survey(seed: int, code: float, records: int = 36) -> tuple[np.ndarray, np.ndarray]:
    """Ages that say who is who, two columns that say little, and two ages that stand for missing ones."""
    random = np.random.default_rng(seed)
    original = random.normal(size=(records, 3)) * [1.0, 20.0, 10.0] + [0.0, 50.0, 170.0]
    masked = original + random.normal(size=(records, 3)) * [1.0, 0.2, 8.0]
    original, masked = np.round(original, 1), np.round(masked, 1)
    for values in (original, masked):
        values[[3, 9], 1] = code
    return original, masked


def units_apart(seed: int) -> tuple[np.ndarray, np.ndarray]:
    original, masked = survey(seed, 40.0)
    return original * [1e9, 1e-3, 1.0], masked * [1e9, 1e-3, 1.0]


FILES = {
    "99999999": (lambda seed: survey(seed, 99999999.0), Standardisation.OWN),
    "1e13": (lambda seed: survey(seed, 1e13), Standardisation.OWN),
    "as it is": (lambda seed: survey(seed, 99999999.0), Standardisation.NONE),
    "units apart": (units_apart, Standardisation.NONE),
}


def lifted(case, theta):
    """The same distance, beside a first attribute that counts nothing."""
    small, large = case.make(2), case.make(3)
    parameters = small.decode(theta)
    if case.name == "mahalanobis":
        return large.encode({"matrix": np.pad(parameters["matrix"], ((1, 0), (1, 0))).tolist()})
    first, *others = large.attributes
    names = dict(zip(small.attributes, others, strict=True))
    kind = "weights" if case.name == "weighted-mean" else "measure"
    table = {
        ",".join(names[name] for name in key.split(",")): value for key, value in parameters[kind].items()
    }
    joined = {f"{first},{key}": value for key, value in table.items()} if kind == "measure" else {}
    return large.encode({kind: table | joined | {first: 0.0}})


@pytest.mark.parametrize("case", NESTED, ids=[case.label for case in NESTED])
@pytest.mark.parametrize("kind", FILES)
@settings(derandomize=True, max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 1000), direction=st.sampled_from(list(Direction)), ties=st.sampled_from(list(Ties))
)
def test_a_distance_links_the_same_beside_an_attribute_without_weight(case, kind, seed, direction, ties):
    """Once 26 of 200, proven and verified, where the ages alone linked 164."""
    make, standardisation = FILES[kind]
    original, masked = make(seed)
    options = {"direction": direction, "ties": ties, "standardisation": standardisation}
    few = make_pair(original[:, 1:], masked[:, 1:], **options)
    all_of_them = make_pair(original, masked, **options)
    for theta in case.make(2).domain.sample(6, np.random.default_rng(seed)):
        exact = case.make(2).domain.exact(theta)
        alone = Evaluator(few, 1).count(case.make(2).form(exact)).linked
        beside = Evaluator(all_of_them, 1).count(case.make(3).form(lifted(case, exact))).linked
        # Strangers with the partner's values of two attributes may have others of the third: fewer twins.
        if ties is Ties.STRICT:
            np.testing.assert_array_equal(beside, alone)
        else:
            assert not (alone & ~few_twins(few) & ~beside).any()


def few_twins(pair):
    """Blocks whose partner has a twin."""
    return (np.bincount(pair.twin_group) > 1)[pair.twin_group[pair.partner]]


@pytest.mark.parametrize(
    ("kind", "aggregator"),
    [("99999999", "choquet"), ("as it is", "weighted-mean"), ("units apart", "mahalanobis")],
)
def test_the_worst_case_of_more_attributes_is_not_below_that_of_one(aggregator, kind):
    make, standardisation = FILES[kind]
    original, masked = (pd.DataFrame(values, columns=NAMES) for values in make(0))
    options = {"standardisation": standardisation.value, "aggregator": aggregator, "time_limit": 0.5}
    everything = fit(original, masked, **options)
    for name in NAMES:
        alone = fit(original, masked, attributes=[name], **options)
        assert everything.linked >= alone.linked
        assert everything.linked_upper_bound >= alone.linked_upper_bound or not alone.proven


def test_a_form_ties_no_more_than_the_mean_that_it_contains():
    original, masked = survey(1, 99999999.0)
    pair = make_pair(original, masked)
    mean, form = make_aggregator("weighted-mean", NAMES), make_aggregator("mahalanobis", NAMES)
    for theta in mean.domain.sample(20, np.random.default_rng(0)):
        diagonal = form.form(form.lift(theta))
        np.testing.assert_array_equal(
            Evaluator(pair, 1).count(diagonal).linked, Evaluator(pair, 1).count(mean.form(theta)).linked
        )


# ---------------------------------------------------------------- what a tie is made of


def test_rounding_is_a_power_of_two_above_sixteen_units_in_the_last_place():
    random = np.random.default_rng(0)
    first, second = random.normal(size=(2, 50, 2)) * [1.0, 1e-8]
    moved = value_rounding(first, second, np.array([0.0, 3.0]))
    size = np.abs(first) + np.abs(second) + [0.0, 3.0]
    assert (moved > 2.0**-49 * size).all()
    assert (moved <= 2.0**-48 * size).all()
    assert (np.frexp(moved)[0] == 0.5).all()
    assert value_rounding(np.zeros((1, 2)), np.zeros((1, 2)), np.zeros(2)).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("mean", [0.0, 1e6, 1e9])
def test_what_is_equal_on_paper_ties_however_far_from_zero(mean):
    """Masked records that lie on either side of the original one, by as much."""
    random = np.random.default_rng(3)
    original = mean + np.round(random.normal(size=(40, 2)), 2)
    step = np.array([0.25, 0.5])
    masked = np.vstack([original + step, original - step])
    pair = make_pair(original, masked, np.arange(40), standardisation=Standardisation.POOLED)
    weights = make_aggregator("weighted-mean", ("A", "B"))
    for theta in weights.domain.sample(10, random):
        assert not Evaluator(pair, 1).count(weights.form(theta)).linked.any()


def test_a_grain_is_far_below_spread_and_differences():
    values = np.array([[0.0, 7.0], [1.0, 7.0], [3.0, 7.0]])
    assert grain(values, values, np.zeros(2)).tolist() == [2.0**-18, 0.0]
    # A code far out leaves the ages their own grain, a sixteenth of the smallest difference at most.
    ages = np.array([[20.0], [20.5], [70.0], [1e13]])
    assert grain(ages, ages, np.zeros(1)).tolist() == [2.0**-5]
    assert grain(ages * 8.0, ages * 8.0, np.zeros(1)).tolist() == [2.0**-2]
    # Differences that are rounding do not count.
    noisy = np.vstack([ages[:3], ages[:3] * (1.0 + 2.0**-52)])
    assert grain(noisy, ages[:3], np.zeros(1)).tolist() == grain(ages[:3], ages[:3], np.zeros(1)).tolist()
    assert table_grain(np.array([[0.0, 1.0], [np.inf, 0.25]])) == 2.0**-18
    assert table_grain(np.zeros((2, 2))) == 0.0


def test_ties_widen_squares_and_absolute_differences():
    away, moved, grains = np.array([[3.0, 0.0]]), np.array([[2.0**-40, 2.0**-45]]), np.array([0.5, 2.0**-20])
    squares = tied_distances(away, moved, grains, Differences.SQUARED)
    lengths = tied_distances(away, moved, grains, Differences.ABSOLUTE)
    tie = 1.0 + 2.0**-36
    np.testing.assert_allclose(
        squares, [[((3 + 2.0**-40) ** 2 + 0.25) * tie, (2.0**-90 + 2.0**-40) * tie]], rtol=1e-15
    )
    np.testing.assert_allclose(
        lengths, [[(3 + 2.0**-40 + 2.0**-19) * tie, (2.0**-45 + 2.0**-38) * tie]], rtol=1e-15
    )
