"""Attribute disclosure: intervals against other computations, links by hand, both directions."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from linkrisk.solver.measures.attribute_disclosure import EQUAL, guessed_categories, guessed_numbers
from linkrisk.solver.measures.held_out import wilson
from linkrisk.solver.measures.risk import risk

SCHEMA = {
    "attributes": [
        {"name": "age", "role": "key"},
        {"name": "size", "role": "key"},
        {"name": "illness", "role": "confidential", "scale": "nominal"},
        {"name": "debt", "role": "confidential"},
    ]
}


def measured(original, masked, schema=SCHEMA, **options):
    return risk(
        original,
        masked,
        schema=schema,
        measures="attribute-disclosure",
        aggregator="weighted-mean",
        work_limit=5,
        row_by_row=True,
        **options,
    )


def people(records=40, seed=1):
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": random.normal(size=records),
            "size": random.normal(size=records),
            "illness": random.choice(["none", "flu", "gout"], records, p=[0.6, 0.2, 0.2]),
            "debt": random.normal(size=records),
        }
    )


@pytest.mark.parametrize(("right", "records"), [(0, 7), (3, 7), (62, 100), (9, 9)])
def test_wilson_against_scipy(right, records):
    expected = binomtest(right, records).proportion_ci(method="wilson")
    assert wilson(right / records, records) == pytest.approx((expected.low, expected.high))


def test_categories_by_hand():
    """Truth 0 0 0 1 1: the mode is right for 3 of 5, these guesses for 4: (4/5 - 3/5) / (2/5) = 1/2."""
    found = guessed_categories(np.array([0.0, 0, 0, 1, 1, np.nan]), np.array([0.0, 0, np.nan, 1, 0, 1]))
    assert (found.records, found.learned, found.baseline) == (5, 0.8, 0.6)
    assert found.risk == pytest.approx(0.5)
    assert (found.risk_low, found.risk_high) == pytest.approx(
        tuple((end - 0.6) / 0.4 for end in wilson(4 / 5, 5))
    )


def test_numbers_by_hand():
    """Truth 1, 2, 3 has errors sqrt(2/3) by the mean; guesses 1, 2, 4 have sqrt(1/3): risk 1 - sqrt(1/2)."""
    found = guessed_numbers(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    assert found.learned == pytest.approx(math.sqrt(1.0 / 3.0))
    assert found.baseline == pytest.approx(math.sqrt(2.0 / 3.0))
    assert found.risk == pytest.approx(1.0 - math.sqrt(0.5))
    assert found.risk_low < found.risk < found.risk_high


def test_the_interval_of_errors_against_the_bootstrap():
    random = np.random.default_rng(7)
    truth = random.normal(size=400)
    guess = truth + 0.6 * random.normal(size=400)
    found = guessed_numbers(truth, guess)
    draws = random.integers(400, size=(2000, 400))
    own, best = ((guess - truth) ** 2)[draws].mean(axis=1), ((truth - truth.mean()) ** 2)[draws].mean(axis=1)
    low, high = np.quantile(1.0 - np.sqrt(own / best), [0.025, 0.975])
    assert (found.risk_low, found.risk_high) == pytest.approx((low, high), abs=0.1 * (high - low))


def test_constant_unknown_and_exact():
    assert guessed_categories(np.zeros(3), np.ones(3)).risk is None
    assert guessed_numbers(np.full(3, 0.1), np.ones(3)).risk is None
    assert guessed_numbers(np.arange(3.0), np.arange(3.0)).risk == 1.0
    assert guessed_categories(np.full(3, np.nan), np.ones(3)).learned is None


@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
def test_without_masking_all_is_learned(direction):
    original = people()
    found = measured(original, original.copy(), direction=direction)["attribute-disclosure"]
    assert [each.guesses.risk for each in found.learned] == pytest.approx([1.0] * 4)
    assert [finding.value for finding in found.findings] == pytest.approx([1.0] * 4)
    assert "100.0 % of what there is to learn" in found.paragraph


def test_shuffled_keys_teach_nothing():
    """One links to a record at random: the error is sqrt(2) times that of the mean, whatever the attack."""
    original = people(records=300)
    order = np.random.default_rng(2).permutation(300)
    masked = original.copy()
    masked[["age", "size"]] = original[["age", "size"]].to_numpy()[order]
    found = measured(original, masked)["attribute-disclosure"]
    frame = found.to_frame().set_index(["attribute", "attack"])
    # With (40, 40) and (0.6, 0.2, 0.2) shares a random record is right for 0.44, the mode for 0.6.
    assert frame.loc[("illness", EQUAL), "risk"] < 0.0
    assert frame.loc[("debt", EQUAL), "learned"] == pytest.approx(
        math.sqrt(2.0) * found_sd(original), rel=0.15
    )
    assert found.paragraph.startswith("the record one links to teaches no more")


def found_sd(frame):
    return float(frame["debt"].std(ddof=0))


def test_links_by_hand():
    """Masked keys move record 0 onto record 1: it is told the illness of record 1, and so is record 1."""
    original = pd.DataFrame(
        {"age": [0.0, 10.0, 20.0, 40.0], "illness": ["a", "b", "a", "c"], "size": [1.0, 2.0, 4.0, 3.0]}
    )
    masked = original.copy()
    masked[["age", "size"]] = original[["age", "size"]].iloc[[1, 0, 2, 3]].to_numpy()
    found = measured(original, masked)["attribute-disclosure"]
    equal = found.learned[0]
    assert (equal.attack, equal.guesses.learned, equal.guesses.baseline) == (EQUAL, 0.5, 0.5)


@pytest.mark.parametrize("ties", ["strict", "share"])
def test_of_identical_records_one_is_taken_at_random(ties):
    """Pairs with the same masked keys and other illnesses: half of the guesses are right, not none or all."""
    random = np.random.default_rng(6)
    values = np.repeat(random.normal(size=(150, 2)), 2, axis=0)
    original = pd.DataFrame(values + 1e-3 * random.normal(size=values.shape), columns=["age", "size"])
    original["illness"] = ["a", "b"] * 150
    masked = original.assign(age=values[:, 0], size=values[:, 1])
    found = measured(original, masked, ties=ties)["attribute-disclosure"]
    for each in found.learned:
        assert each.guesses.low < 0.5 < each.guesses.high


def test_what_is_suppressed_is_guessed_as_without_the_release():
    original = people()
    found = measured(original, original.assign(illness=None, debt=np.nan))["attribute-disclosure"]
    assert [each.guesses.risk for each in found.learned] == pytest.approx([0.0] * 4)


def test_what_it_needs():
    original = people()
    keys = original[["age", "size"]]
    name = "attribute-disclosure"
    unnamed = {"attributes": SCHEMA["attributes"][:2]}
    assert measured(keys, keys + 0.1, unnamed).not_measured == {
        name: "needs a schema that gives an attribute the role confidential"
    }
    found = measured(original, keys + 0.1, attributes=["age", "size"])
    assert found.not_measured == {
        name: "no confidential attribute is both in the masked file and not compared"
    }


def test_compared_attributes_are_known_before_and_results_are_json():
    original = people()
    result = measured(original, original.assign(age=original["age"] + 0.1), attributes=["age", "debt"])
    found = result["attribute-disclosure"]
    assert {each.attribute for each in found.learned} == {"illness"}
    assert found.notes == ("compared, and so no matter of attribute disclosure: debt",)
    told = json.loads(result.to_json())["measures"]["attribute-disclosure"]
    assert told["learned"][0]["guesses"]["records"] == 40


@pytest.mark.parametrize("upside_down", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_of_equally_near_candidates_that_are_not_equal_one_is_taken_by_lot(seed, upside_down):
    """Every original differs from all 40 masked records in one of two attributes: half of these say ill."""
    original = pd.DataFrame({"A": ["p"] * 40, "B": ["q"] * 40, "C": ["ill"] * 30 + ["well"] * 10})
    masked = pd.DataFrame(
        {"A": ["x"] * 20 + ["p"] * 20, "B": ["q"] * 20 + ["y"] * 20, "C": ["ill"] * 20 + ["well"] * 20}
    )
    roles = {"A": "key", "B": "key", "C": "confidential"}
    schema = {"attributes": [{"name": name, "role": roles[name], "scale": "nominal"} for name in "ABC"]}
    step = -1 if upside_down else 1
    files = (frame.iloc[::step].reset_index(drop=True) for frame in (original, masked))
    frame = measured(*files, schema=schema, seed=seed)["attribute-disclosure"].to_frame()
    assert frame[frame.attack == EQUAL].learned.item() == pytest.approx(0.5, abs=0.16)
