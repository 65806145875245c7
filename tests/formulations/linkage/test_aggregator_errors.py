"""What aggregators refuse, with the exact line a user reads."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from aggregator_cases import BY_LABEL, CASES, NAMED

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.aggregators import AGGREGATORS, make_aggregator

AB = ("A", "B")


def message(call, *arguments, **options):
    with pytest.raises(FormulationError) as error:
        call(*arguments, **options)
    text = str(error.value)
    assert "\n" not in text
    return text


def test_every_aggregator_has_a_case_of_its_own():
    assert {case.label for case in CASES if not case.options} == set(AGGREGATORS)


CHOICES = f"choose one of {', '.join(AGGREGATORS)}"
MANY = tuple(f"V{k}" for k in range(13))
ADDITIVE = "the 1-additive integral is aggregator='weighted-mean'"
TWICE = (
    "two subsets of attributes are both named 'A,B': rename attributes that are the same or contain a comma"
)


@pytest.mark.parametrize(
    ("name", "attributes", "options", "said"),
    [
        ("weighted-man", AB, {}, "unknown aggregator 'weighted-man': did you mean 'weighted-mean'?"),
        ("zzz", AB, {}, f"unknown aggregator 'zzz': {CHOICES}"),
        *(
            (name, AB, {"k_additive": 2}, f"k_additive is an option of choquet, not of {name}: leave it out")
            for name in AGGREGATORS
            if name != "choquet"
        ),
        ("choquet", AB, {"k_additive": 1}, f"k_additive must be at least 2, not 1: {ADDITIVE}"),
        ("choquet", AB, {"k_additive": -3}, f"k_additive must be at least 2, not -3: {ADDITIVE}"),
        # As many attributes as have no table of the measure, whose names are checked on their own.
        *(
            ("choquet", ("A", "B", "A,B", *MANY[:more]), {"k_additive": k}, TWICE)
            for k in (2, 3)
            for more in (0, 9)
        ),
        ("choquet", MANY, {}, "a fuzzy measure on 13 attributes has 8,191 non-empty subsets; at most 12"),
        ("choquet", MANY, {"k_additive": 3}, "a 3-additive measure on 13 attributes needs 53,248"),
        *(
            (name, AB, options | {"differences": kind}, f"the {name} aggregator takes {allowed}, not {kind}")
            for name, options, kind, allowed in (
                ("owa", {}, "signed", "squared or absolute differences"),
                ("choquet", {"k_additive": 2}, "signed", "squared or absolute differences"),
                ("mahalanobis", {}, "squared", "signed or absolute differences"),
            )
        ),
    ],
)
def test_aggregators_that_are_none(name, attributes, options, said):
    assert message(make_aggregator, name, attributes, **options).startswith(said)


def test_as_many_attributes_as_there_can_be():
    assert make_aggregator("choquet", MANY[:12]).dimension == 4095
    assert make_aggregator("choquet", MANY, k_additive=2).dimension == 169


# ---------------------------------------------------------------- reading parameters

named = pytest.mark.parametrize("case", NAMED, ids=[case.label for case in NAMED])


@named
def test_parameters_without_their_key(case):
    key = case.key
    expected = f"parameters of {case.name} need the key '{key}' with one number per name"
    for parameters in ({}, {key: [0.5, 0.5]}, {"matrix": [[1]]}):
        assert message(case.make(2).encode, parameters) == expected


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
        ("2-additive", 2, {"moebius": {"A": 0.2, "B": 1.2, "A,B": -0.4}}, None),
    ],
)
def test_parameters_outside_the_domain(label, n, parameters, rule):
    case = BY_LABEL[label]
    said = f"these are not parameters of {case.name}: {rule}; take them from the JSON of a fit"
    if rule is None:
        said = "the Moebius coefficients are not those of a monotone 2-additive measure"
    assert message(case.make(n).encode, parameters) == said


@named
def test_rounded_parameters_are_put_back_into_the_domain(case):
    aggregator, key = case.make(3), case.key
    for theta in aggregator.domain.sample(20, np.random.default_rng(0)):
        written = {name: round(value, 7) for name, value in aggregator.decode(theta)[key].items()}
        again = aggregator.encode({key: written})
        assert aggregator.domain.rows.violation(again) <= 1e-9


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, "mahalanobis matrix must be finite numbers"),
        ({"matrix": [[1.0, math.nan], [0.0, 1.0]]}, "mahalanobis matrix must be finite numbers"),
        ({"matrix": [[1.0, 0.0], [0.0]]}, "mahalanobis matrix must be finite numbers"),
        ({"matrix": [[1.0]]}, "the mahalanobis matrix must have 2 rows and columns, one per attribute"),
        ({"matrix": [1.0, 0.0]}, "the mahalanobis matrix must have 2 rows and columns, one per attribute"),
        ({"matrix": [[0.5, 0.1], [0.2, 0.5]]}, "the mahalanobis matrix must be symmetric"),
        ({"matrix": [[0.5, 0.6], [0.6, 0.5]]}, "the mahalanobis matrix must be positive semidefinite"),
        ({"matrix": [[-1.0, 0.0], [0.0, 2.0]]}, "the mahalanobis matrix must be positive semidefinite"),
        ({"matrix": [[0.0, 0.0], [0.0, 0.0]]}, "the mahalanobis matrix must not be zero"),
    ],
)
def test_matrices_that_are_none(parameters, expected):
    assert message(make_aggregator("mahalanobis", AB).encode, parameters) == expected
