"""What is read of results: worst cases, sweeps, what was learned for other files."""

from __future__ import annotations

import pytest

from linkrisk.solver.charts.theme import worst_said
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.schemas.reading import (
    Interval,
    held_out_of,
    learned_options,
    tolerated_of,
    upper_end,
    worst_cases,
)

FIT = {"aggregator": "owa", "records": 40, "linked": 10, "linked_upper_bound": 20, "parameters": {}}
GIVE = "give the file that `fit --json` or `link --json` wrote"


@pytest.mark.parametrize(
    ("worst", "said", "upper"),
    [
        (Interval(10, 20, 40), "25.0 to 50.0 %", 0.5),
        (Interval(10, 10, 40, comparable=False), "25.0 %", 0.25),
        (Interval(10, 40, 40), "25.0 % or more, no bound in time", None),
        (Interval(10, 20, 40, confidence=0.95), "25.0 to 50.0 %, 95 % sure", 0.5),
        (None, "no result", None),
    ],
)
def test_a_worst_case_in_words(worst, said, upper):
    assert worst_said(worst) == said
    assert worst is None or worst.upper == upper


def test_the_worst_case_of_every_family():
    nothing = {"aggregator": "choquet", "reason": "too many attributes"}
    found = worst_cases({"worst_case": {"families": [FIT, nothing]}})
    assert found == {"owa": Interval(10, 20, 40), "choquet": None}
    assert worst_cases(FIT) == {"owa": Interval(10, 20, 40)}
    assert worst_cases({"runs": [], "families": [FIT]}) == {}
    assert (upper_end(0.2, 0.3), upper_end(0.2, 1.0), upper_end(None, None)) == (0.3, None, None)


def test_what_is_read_of_a_masking_of_a_sweep():
    rates = {"held_out_equal_weights": 0.9, "held_out_owa": 0.4, "held_out_choquet": None, "one_to_one": 0.8}
    found = [{"key": key, "value": value} for key, value in rates.items()]
    assert held_out_of({"findings": {"held-out": found}}) == 0.4
    assert held_out_of({"findings": {"held-out": found[:1]}}) == 0.9
    assert held_out_of({"findings": {}}) is None
    assert tolerated_of({"runs": [{"verdict": None}, {"verdict": {"tolerated": 0.05}}]}) == 0.05
    assert tolerated_of({"runs": []}) is None


def test_options_under_which_parameters_were_learned():
    categories = {"name": "region", "scale": "nominal", "categories": ["north", "south"]}
    learned = {
        **FIT, "ties": None, "direction": "original-to-masked", "attributes": ["region", "age"],
        "schema": {"attributes": [categories]}, "aggregator_options": {"k_additive": 2}, "new": 1,
    }  # fmt: skip
    found = learned_options(learned)
    scales = {row["name"]: (row["scale"], "categories" in row) for row in found.pop("schema")["attributes"]}
    assert scales == {"region": ("nominal", False), "age": ("numeric", False)}
    assert found == {
        "aggregator": "owa",
        "direction": "original-to-masked",
        "attributes": ["region", "age"],
        "k_additive": 2,
    }
    assert learned_options({"parameters": {}}) == {}
    assert learned_options({"parameters": {}, "precision_recall": None}) == {"curve": False}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "it lacks 'parameters'"),
        ({"parameters": {"blocking": "age"}}, "parameters: blocking is 'age', and no array"),
        ({"parameters": {"passes": [1]}}, "parameters: passes, 1 is '1', and no string"),
        ({"parameters": {}, "attributes": ["a", 1]}, "attributes, 2 is '1', and no string"),
        ({"parameters": {}, "ties": "any"}, "ties is 'any', and none of strict, share, None"),
    ],
)
def test_what_was_learned_has_to_be_of_its_kind(given, message):
    with pytest.raises(UsageError) as refused:
        learned_options(given)
    assert str(refused.value) == f"{message}; {GIVE}"
