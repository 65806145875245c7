"""Interval disclosure and attribute disclosure: by hand, by brute force, by sdcMicro's formulas."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from measure_runs import attribute, released_table

from linkrisk.datasets.microdata.roles import Scale
from linkrisk.solver.measures.attribute_disclosure import EQUAL, guessed_categories, guessed_numbers
from linkrisk.solver.measures.held_out import wilson
from linkrisk.solver.measures.interval_disclosure import (
    PERCENT,
    RMD_WIDTH,
    RankedValues,
    deviation,
    inside,
    interval_disclosure,
    robust_disclosure,
)
from linkrisk.solver.measures.risk import risk


@settings(max_examples=60, deadline=None)
@given(arrays(np.float64, 12, elements=st.integers(0, 6).map(float)), st.integers(1, 60))
def test_rank_intervals_by_brute_force(values, percent):
    ranks = [(values < v).sum() + ((values == v).sum() + 1) / 2.0 for v in values]
    low, high = RankedValues.of(values).around(percent)
    for at, rank in enumerate(ranks):
        near = [v for v, other in zip(values, ranks, strict=True) if abs(other - rank) < percent * 12 / 100]
        assert (low[at], high[at]) == (min(near), max(near))


def test_deviations_by_hand():
    """Masked 1, 2, 3 have deviation 1: half of it on either side, ends included."""
    masked = np.array([1.0, 2.0, 3.0])
    width = 0.5 * deviation(masked)
    assert inside(np.array([0.5, 2.6, 3.4]), masked - width, masked + width).tolist() == [1.0, 0.0, 1.0]
    found = interval_disclosure([attribute("a", [1.0, 2.05, 3.08], [1, 2, 3])])
    # Of the intervals of 1 to 10 % of the deviation, one value is in all, one from 5 %, one from 8 %.
    np.testing.assert_allclose(found.deviations.each[:, 0], np.array([1, 1, 1, 1, 2, 2, 2, 3, 3, 3]) / 3.0)


def test_suppression_discloses_nothing_and_unknown_originals_do_not_count():
    found = interval_disclosure([attribute("a", [1, 2, np.nan, 4], [np.nan, 2, 3, 4])])
    assert found.ranks.each[-1, 0] == pytest.approx(2.0 / 3.0)
    assert found.ranks.jointly[-1] == 0.75
    # Ordinal attributes have ranks and no deviations, and only masked ones count.
    found = interval_disclosure([attribute("o", [0, 1, 2], [0, 2, 2], Scale.ORDINAL, "xyz")])
    assert found.ranks.each[-1, 0] == pytest.approx(2.0 / 3.0)
    assert (found.deviations, found.robust) == (None, None)
    found = interval_disclosure([attribute("a", [1, 2, 3], [9, 8, 7]), attribute("b", [1, 2, 3], [1, 2, 3])])
    assert found.ranks.attributes == ("a",)
    assert found.notes == ("interval disclosure is that of masked attributes; released as they are: b",)


def test_jointly_and_but_one_as_counts_of_values_outside():
    """sdcMicro's dRisk counts records with at most one value outside (rowSums(...) %in% 0:1)."""
    one = attribute("a", [1, 2, 3, 4], [1, 2, 9, 9])
    two = attribute("b", [1, 2, 3, 4], [1, 9, 3, 9])
    found = interval_disclosure([one, two])
    at = PERCENT.index(5)
    assert found.deviations.jointly[at] == 0.25
    assert found.deviations.but_one[at] == 0.75
    assert "sdcmicro_drisk" in {finding.key for finding in found.findings}
    assert "sdcmicro_drisk" not in {finding.key for finding in interval_disclosure([one]).findings}


def test_rmdid_with_sdcmicros_steps_written_out():
    """dRiskRMD of sdcMicro: scale both, distances, any value within k * 0.05 * d, nearest other beyond k2."""
    from sklearn.covariance import MinCovDet

    random, k = np.random.default_rng(3), 0.1
    original = random.normal(size=(40, 2))
    original[:8] = original[8:16] + 0.01
    masked = original + 0.01 * random.normal(size=(40, 2))
    x, xm = ((v - v.mean(axis=0)) / v.std(axis=0, ddof=1) for v in (original, masked))
    order = np.lexsort((x[:, 0], x[:, 1]))
    inverse = np.linalg.inv(MinCovDet(random_state=0).fit(x[order]).covariance_)
    d = np.sqrt(np.einsum("ij,jk,ik->i", x, inverse, x))
    unsafe = (np.abs(xm - x) < k * RMD_WIDTH * d[:, None]).any(axis=1)
    apart = np.linalg.norm(xm[:, None] - xm, axis=2) + np.diag(np.full(40, np.inf))
    alone = unsafe & (apart.min(axis=1) > 0.05)
    found = robust_disclosure(original, masked, k, 0)
    assert found.unsafe.tolist() == unsafe.tolist()
    assert found.alone.tolist() == alone.tolist()
    assert 0 < alone.sum() < unsafe.sum() < 40
    weight = found.distance[found.unsafe].sum() / found.distance.sum()
    assert found.shares == pytest.approx((unsafe.mean(), weight, alone.mean()))


def test_no_robust_distances_of_records_on_a_line():
    values = np.repeat(np.arange(20.0)[:, None], 2, axis=1)
    assert robust_disclosure(values, values + 1.0, 0.01, 0) is None
    assert robust_disclosure(values[:4], values[:4], 0.01, 0) is None
    assert robust_disclosure(np.ones((9, 1)), np.arange(9.0)[:, None], 0.01, 0) is None


def test_nothing_masked_discloses_everything():
    values = np.random.default_rng(1).normal(size=(30, 2))
    found = interval_disclosure(released_table(values, values))
    assert {finding.value for finding in found.findings if finding.key != "rmdid2"} == {1.0}
    assert found.notes == ()
    assert repr(found).startswith(
        "interval-disclosure: within 1 to 10 % of the ranks around the masked value lie 100.0 %"
    )


@pytest.mark.parametrize("original", [[0, -1, 3, 0], [0] * 21 + list(range(1, 15))])
def test_there_is_none_where_half_of_the_values_of_one_attribute_are_equal(original):
    found = interval_disclosure([attribute("a", original, range(len(original)))])
    assert found.robust is None
    assert found.notes == (
        "there is no RMDID: an attribute is constant, or half of the records lie on a plane",
    )


def test_what_there_was_no_time_for_is_said(monkeypatch):
    table = released_table(*np.random.default_rng(1).normal(size=(2, 60, 2)))
    assert interval_disclosure(table, late=lambda: True).robust is not None  # it is a moment
    monkeypatch.setattr("linkrisk.solver.measures.interval_disclosure.MOST_SCATTERED", 10)
    cut = interval_disclosure(table, late=lambda: True)
    assert (cut.late, cut.robust) == (True, None)
    assert cut.deviations is not None
    assert cut.notes == ("no time was left for RMDID; a longer time_limit would take it too",)
    assert not interval_disclosure(table, late=lambda: False).late
    with pytest.raises(TimeoutError):
        robust_disclosure(*np.random.default_rng(1).normal(size=(2, 400, 2)), 1.0, 0, lambda: True)


QUICK = {"aggregator": "weighted-mean", "work_limit": 5, "row_by_row": True}


ROLES = {"age": "key", "size": "key", "illness": "confidential", "debt": "confidential"}


SCHEMA = {"attributes": [{"name": name, "role": role} for name, role in ROLES.items()]}
SCHEMA["attributes"][2]["scale"] = "nominal"


def measured(original, masked, schema=SCHEMA, **options):
    return risk(original, masked, schema=schema, measures="attribute-disclosure", **QUICK, **options)


def people(records=40, seed=1):
    random = np.random.default_rng(seed)
    numbers = {name: random.normal(size=records) for name in ("age", "size", "debt")}
    return pd.DataFrame(
        {**numbers, "illness": random.choice(["none", "flu", "gout"], records, p=[0.6, 0.2, 0.2])}
    )


def test_categories_by_hand():
    """Truth 0 0 0 1 1: the mode is right for 3 of 5, these guesses for 4: (4/5 - 3/5) / (2/5) = 1/2."""
    found = guessed_categories(np.array([0.0, 0, 0, 1, 1, np.nan]), np.array([0.0, 0, np.nan, 1, 0, 1]))
    assert (found.records, found.learned, found.baseline) == (5, 0.8, 0.6)
    assert found.risk == pytest.approx(0.5)
    ends = [(end - 0.6) / 0.4 for end in wilson(4 / 5, 5)]
    assert [found.risk_low, found.risk_high] == pytest.approx(ends)
    assert guessed_categories(np.zeros(3), np.ones(3)).risk is None
    assert guessed_categories(np.full(3, np.nan), np.ones(3)).learned is None


def test_numbers_by_hand():
    """Truth 1, 2, 3 has errors sqrt(2/3) by the mean; guesses 1, 2, 4 have sqrt(1/3): risk 1 - sqrt(1/2)."""
    found = guessed_numbers(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    assert [found.learned, found.baseline] == pytest.approx([math.sqrt(1.0 / 3.0), math.sqrt(2.0 / 3.0)])
    assert found.risk == pytest.approx(1.0 - math.sqrt(0.5))
    assert found.risk_low < found.risk < found.risk_high
    assert guessed_numbers(np.full(3, 0.1), np.ones(3)).risk is None
    assert guessed_numbers(np.arange(3.0), np.arange(3.0)).risk == 1.0


def test_the_interval_of_errors_against_the_bootstrap():
    random = np.random.default_rng(7)
    truth = random.normal(size=400)
    guess = truth + 0.6 * random.normal(size=400)
    found = guessed_numbers(truth, guess)
    draws = random.integers(400, size=(2000, 400))
    own, best = ((guess - truth) ** 2)[draws].mean(axis=1), ((truth - truth.mean()) ** 2)[draws].mean(axis=1)
    low, high = np.quantile(1.0 - np.sqrt(own / best), [0.025, 0.975])
    assert (found.risk_low, found.risk_high) == pytest.approx((low, high), abs=0.1 * (high - low))


@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
def test_without_masking_all_is_learned(direction):
    original = people()
    found = measured(original, original.copy(), direction=direction)["attribute-disclosure"]
    assert [each.guesses.risk for each in found.learned] == pytest.approx([1.0] * 4)
    assert [finding.value for finding in found.findings] == pytest.approx([1.0] * 4)
    assert "100.0 % of what there is to learn" in found.paragraph


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
    assert found.paragraph.startswith("the record one links to teaches no more")


def test_compared_attributes_are_known_before_and_results_are_json():
    original = people()
    result = measured(original, original.assign(age=original["age"] + 0.1), attributes=["age", "debt"])
    found = result["attribute-disclosure"]
    assert {each.attribute for each in found.learned} == {"illness"}
    assert found.notes == ("compared, and so no matter of attribute disclosure: debt",)
    told = json.loads(result.to_json())["measures"]["attribute-disclosure"]
    assert told["learned"][0]["guesses"]["records"] == 40


def test_what_they_need():
    original, name = people(), "attribute-disclosure"
    keys = original[["age", "size"]]
    unnamed = {"attributes": SCHEMA["attributes"][:2]}
    reason = "needs a schema that gives an attribute the role confidential"
    assert measured(keys, keys + 0.1, unnamed).not_measured == {name: reason}
    found = measured(original, keys + 0.1, attributes=["age", "size"])
    reason = "no confidential attribute is both in the masked file and not compared"
    assert found.not_measured == {name: reason}
    nominal = pd.DataFrame({"a": ["x", "y"] * 6, "b": ["u", "v", "w"] * 4})
    turned = nominal.iloc[::-1].reset_index(drop=True)
    found = risk(nominal, turned, measures="interval-disclosure", **QUICK).not_measured["interval-disclosure"]
    assert found == "needs a numeric or an ordinal attribute: nominal categories have no order"


@pytest.mark.parametrize(("seed", "upside_down"), [(0, False), (1, True)])
def test_of_equally_near_candidates_that_are_not_equal_one_is_taken_by_lot(seed, upside_down):
    """Every original differs from all 40 masked records in one of two attributes: half of these say ill."""
    original = pd.DataFrame({"A": ["p"] * 40, "B": ["q"] * 40, "C": ["ill"] * 30 + ["well"] * 10})
    half = {"A": ["x"] * 20 + ["p"] * 20, "B": ["q"] * 20 + ["y"] * 20, "C": ["ill"] * 20 + ["well"] * 20}
    roles = {"A": "key", "B": "key", "C": "confidential"}
    schema = {"attributes": [{"name": name, "role": roles[name], "scale": "nominal"} for name in "ABC"]}
    step = -1 if upside_down else 1
    files = (frame.iloc[::step].reset_index(drop=True) for frame in (original, pd.DataFrame(half)))
    frame = measured(*files, schema=schema, seed=seed)["attribute-disclosure"].to_frame()
    assert frame[frame.attack == EQUAL].learned.item() == pytest.approx(0.5, abs=0.16)
