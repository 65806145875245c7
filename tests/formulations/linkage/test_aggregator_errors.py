"""What aggregators refuse, with the exact line a user reads."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from aggregator_cases import BY_LABEL, CASES, NAMED

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.aggregators import AGGREGATORS, make_aggregator
from linkrisk.formulations.linkage.block_system import IndicatorOptions

AB = ("A", "B")


def message(call, *arguments, **options):
    with pytest.raises(FormulationError) as error:
        call(*arguments, **options)
    text = str(error.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("weighted-man", "did you mean 'weighted-mean'?"),
        ("choquett", "did you mean 'choquet'?"),
        ("mahalanobi", "did you mean 'mahalanobis'?"),
        ("OWA ", f"choose one of {', '.join(AGGREGATORS)}"),
        ("zzz", f"choose one of {', '.join(AGGREGATORS)}"),
    ],
)
def test_unknown_aggregators(name, hint):
    assert message(make_aggregator, name, AB) == f"unknown aggregator '{name}': {hint}"


def test_every_aggregator_has_a_case_of_its_own():
    assert {case.label for case in CASES if not case.options} == set(AGGREGATORS)


@pytest.mark.parametrize("name", [name for name in AGGREGATORS if name != "choquet"])
def test_k_additivity_belongs_to_the_choquet_integral(name):
    expected = f"k_additive is an option of choquet, not of {name}: leave it out"
    assert message(make_aggregator, name, AB, k_additive=2) == expected


@pytest.mark.parametrize("k", [1, 0, -3])
def test_k_additivity_below_two(k):
    assert message(make_aggregator, "choquet", AB, k_additive=k) == (
        f"k_additive must be at least 2, not {k}: the 1-additive integral is aggregator='weighted-mean'"
    )


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("more", [0, 9])
def test_k_additive_subsets_with_the_same_name(k, more):
    """As many attributes as have no table of the measure, whose names are checked on their own."""
    names = ("A", "B", "A,B", *(f"V{at}" for at in range(more)))
    assert message(make_aggregator, "choquet", names, k_additive=k) == (
        "two subsets of attributes are both named 'A,B': rename attributes that are the same or contain "
        "a comma"
    )


def test_too_many_attributes_for_an_unconstrained_measure():
    names = tuple(f"V{k}" for k in range(13))
    assert message(make_aggregator, "choquet", names) == (
        "a fuzzy measure on 13 attributes has 8,191 non-empty subsets; at most 12 attributes are possible: "
        "choose fewer with attributes, or use k_additive=2"
    )
    assert make_aggregator("choquet", names[:12]).dimension == 4095


def test_too_many_attributes_for_a_three_additive_measure():
    names = tuple(f"V{k}" for k in range(13))
    assert message(make_aggregator, "choquet", names, k_additive=3) == (
        "a 3-additive measure on 13 attributes needs 53,248 monotonicity rows; at most 12 attributes are "
        "possible: choose fewer with attributes, or use k_additive=2"
    )
    assert make_aggregator("choquet", names, k_additive=2).dimension == 169


@pytest.mark.parametrize(
    ("name", "options", "kind", "allowed"),
    [
        ("weighted-mean", {}, "signed", "squared or absolute"),
        ("owa", {}, "signed", "squared or absolute"),
        ("choquet", {}, "signed", "squared or absolute"),
        ("choquet", {"k_additive": 2}, "signed", "squared or absolute"),
        ("choquet", {"k_additive": 3}, "signed", "squared or absolute"),
        ("mahalanobis", {}, "squared", "signed or absolute"),
    ],
)
def test_differences_that_do_not_fit(name, options, kind, allowed):
    assert message(make_aggregator, name, AB, differences=kind, **options) == (
        f"the {name} aggregator takes {allowed} differences, not {kind}"
    )


# ---------------------------------------------------------------- reading parameters

named = pytest.mark.parametrize("case", NAMED, ids=[case.label for case in NAMED])


@named
def test_parameters_without_their_key(case):
    key = case.key
    expected = f"parameters of {case.name} need the key '{key}' with one number per name"
    aggregator = case.make(2)
    assert message(aggregator.encode, {}) == expected
    assert message(aggregator.encode, {key: [0.5, 0.5]}) == expected
    assert message(aggregator.encode, {"matrix": [[1]]}) == expected


@named
def test_parameters_of_other_attributes(case):
    aggregator, key = case.make(2), case.key
    good = aggregator.decode(aggregator.equal())[key]
    first = next(iter(good))
    less = {name: value for name, value in good.items() if name != first}
    assert message(aggregator.encode, {key: less}) == (
        f"parameters of {case.name} have no '{first}': they were learned on other attributes "
        f"({key}: {', '.join(less)})"
    )
    more = {**good, "age": 0.0}
    assert message(aggregator.encode, {key: more}) == (
        f"parameters of {case.name} have the unknown name 'age': they were learned on other attributes "
        f"({key}: {', '.join(more)})"
    )


@named
@pytest.mark.parametrize("value", ["much", None, math.nan, math.inf, [0.5]])
def test_parameters_that_are_no_numbers(case, value):
    aggregator, key = case.make(2), case.key
    parameters = copy.deepcopy(aggregator.decode(aggregator.equal()))
    parameters[key][next(iter(parameters[key]))] = value
    assert message(aggregator.encode, parameters) == f"{case.name} {key} must be finite numbers"


@pytest.mark.parametrize(
    ("label", "n", "parameters", "rule"),
    [
        ("weighted-mean", 2, {"weights": {"A": 1.2, "B": -0.3}}, "p_B is -0.3, below 0"),
        ("weighted-mean", 2, {"weights": {"A": 0.5, "B": 0.7}}, "sum_to_one is 1.2, above 1"),
        ("owa", 2, {"weights": {"1": -0.2, "2": 1.1}}, "w_1 is -0.2, below 0"),
        ("owa", 2, {"weights": {"1": 0.0, "2": 0.0}}, "sum_to_one is 0, below 1"),
        ("choquet", 2, {"measure": {"A": 1.2, "B": 0.5, "A,B": 1.0}}, "mu_A is 1.2, above 1"),
        ("choquet", 2, {"measure": {"A": 0.2, "B": 0.5, "A,B": 0.9}}, "mu_A+B is 0.9, below 1"),
        (
            "choquet",
            3,
            {"measure": {"A": 0.6, "B": 0.1, "C": 0.1, "A,B": 0.5, "A,C": 0.7, "B,C": 0.3, "A,B,C": 1.0}},
            "monotone_mu_A_mu_A+B is -0.1, below 0",
        ),
        (
            "3-additive",
            3,
            {"moebius": {"A": 0.6, "B": 0.1, "C": 0.1, "A,B": -0.2, "A,C": 0.0, "B,C": 0.0, "A,B,C": 0.4}},
            "monotone_B_in_11 is -0.1, below 0",
        ),
        ("2-additive", 2, {"moebius": {"A": 0.6, "B": 0.6, "A,B": 0.1}}, "sum_to_one is 1.3, above 1"),
    ],
)
def test_parameters_outside_the_domain(label, n, parameters, rule):
    case = BY_LABEL[label]
    assert message(case.make(n).encode, parameters) == (
        f"these are not parameters of {case.name}: {rule}; take them from the JSON of a fit"
    )


def test_two_additive_coefficients_that_are_not_monotone():
    aggregator = make_aggregator("choquet", AB, k_additive=2)
    assert message(aggregator.encode, {"moebius": {"A": 0.2, "B": 1.2, "A,B": -0.4}}) == (
        "the Moebius coefficients are not those of a monotone 2-additive measure"
    )


@named
def test_rounded_parameters_are_put_back_into_the_domain(case):
    """Six digits, as a person would copy them, are good enough."""
    aggregator, key = case.make(3), case.key
    for theta in aggregator.domain.sample(20, np.random.default_rng(0)):
        written = {name: round(value, 7) for name, value in aggregator.decode(theta)[key].items()}
        again = aggregator.encode({key: written})
        assert aggregator.domain.rows.violation(again) <= 1e-9


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, "mahalanobis matrix must be finite numbers"),
        ({"matrix": "no"}, "mahalanobis matrix must be finite numbers"),
        ({"matrix": [[1.0, math.nan], [0.0, 1.0]]}, "mahalanobis matrix must be finite numbers"),
        ({"matrix": [[1.0, 0.0], [0.0]]}, "mahalanobis matrix must be finite numbers"),
        ({"matrix": [[1.0]]}, "the mahalanobis matrix must have 2 rows and columns, one per attribute"),
        ({"matrix": [1.0, 0.0]}, "the mahalanobis matrix must have 2 rows and columns, one per attribute"),
        ({"matrix": [[0.5, 0.1], [0.2, 0.5]]}, "the mahalanobis matrix must be symmetric"),
        ({"matrix": [[0.5, 0.6], [0.6, 0.5]]}, "the mahalanobis matrix must be positive semidefinite"),
        ({"matrix": [[-1.0, 0.0], [0.0, 2.0]]}, "the mahalanobis matrix must be positive semidefinite"),
    ],
)
def test_matrices_that_are_none(parameters, expected):
    assert message(make_aggregator("mahalanobis", AB).encode, parameters) == expected


def test_a_matrix_of_zeros_is_no_distance():
    aggregator = make_aggregator("mahalanobis", AB)
    assert message(aggregator.encode, {"matrix": [[0.0, 0.0], [0.0, 0.0]]}) == (
        "the mahalanobis matrix must not be zero"
    )


@pytest.mark.parametrize("margin", [0.0, 1.0, -1e-5, 2.0])
def test_margins_that_mean_nothing(margin):
    assert message(IndicatorOptions, margin=margin) == (
        f"the margin must be above 0 and below 1, not {margin}"
    )


@pytest.mark.parametrize("big_c", [0.0, -1.0, math.inf])
def test_constants_that_mean_nothing(big_c):
    assert message(IndicatorOptions, big_c=big_c) == (
        f"the constant C must be positive and finite, not {big_c}"
    )
