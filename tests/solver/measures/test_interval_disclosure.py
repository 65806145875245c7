"""Interval disclosure: by hand on ten records, by brute force, and sdcMicro's formulas written out."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from measure_runs import attribute, released_table

from linkrisk.datasets.microdata.roles import Scale
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

MASKED = np.arange(10.0, 101.0, 10.0)
ORIGINAL = np.array([5.0, 10.0, 45.0, 45.0, 45.0, 75.0, 95.0, 70.0, 100.0, 100.0])


@pytest.mark.parametrize(
    ("percent", "within"),
    [
        # Ranks must differ by less than 1, 2, 2.1 and 10: own value, neighbours, two on each side, all.
        (10, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        (20, [0, 1, 0, 1, 1, 0, 0, 1, 1, 1]),
        (21, [0, 1, 1, 1, 1, 1, 0, 1, 1, 1]),
        (100, [0, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_definition_1_on_ten_records_by_hand(percent, within):
    """D11.2, definition 1."""
    assert inside(ORIGINAL, *RankedValues.of(MASKED).around(percent)).tolist() == within


def test_equal_values_share_the_mean_of_their_ranks():
    """Of 1, 1, 2, 3, ... the first two have rank 1.5: rank 3 differs by less than 2, rank 4 does not."""
    low, high = RankedValues.of(np.array([1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])).around(20)
    assert (low[0], high[0], low[2], high[2], low[3], high[3]) == (1.0, 2.0, 1.0, 3.0, 2.0, 4.0)


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


def test_ordinal_attributes_have_ranks_and_no_deviations():
    found = interval_disclosure([attribute("o", [0, 1, 2], [0, 2, 2], Scale.ORDINAL, "xyz")])
    assert found.ranks.each[-1, 0] == pytest.approx(2.0 / 3.0)
    assert (found.deviations, found.robust) == (None, None)


def test_rmdid_with_sdcmicros_steps_written_out():
    """dRiskRMD of sdcMicro: scale both, distances, any value within k * 0.05 * d, nearest other beyond k2."""
    from sklearn.covariance import MinCovDet

    random = np.random.default_rng(3)
    original = random.normal(size=(40, 2))
    original[:8] = original[8:16] + 0.01
    masked = original + 0.01 * random.normal(size=(40, 2))
    k = 0.1
    x, xm = ((v - v.mean(axis=0)) / v.std(axis=0, ddof=1) for v in (original, masked))
    order = sorted(range(40), key=lambda i: (x[i, 1], x[i, 0]))
    inverse = np.linalg.inv(MinCovDet(random_state=0).fit(x[order]).covariance_)
    unsafe, alone = [], []
    for i in range(40):
        d = np.sqrt(x[i] @ inverse @ x[i])
        unsafe.append(any(abs(xm[i, j] - x[i, j]) < k * RMD_WIDTH * d for j in range(2)))
        others = [np.linalg.norm(xm[i] - xm[j]) for j in range(40) if j != i]
        alone.append(unsafe[-1] and min(others) > 0.05)
    found = robust_disclosure(original, masked, k, 0)
    assert found.unsafe.tolist() == unsafe
    assert found.alone.tolist() == alone
    assert 0 < sum(alone) < sum(unsafe) < 40
    weight = found.distance[found.unsafe].sum() / found.distance.sum()
    assert found.shares == pytest.approx((sum(unsafe) / 40, weight, sum(alone) / 40))


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


def test_only_masked_attributes_count():
    found = interval_disclosure([attribute("a", [1, 2, 3], [9, 8, 7]), attribute("b", [1, 2, 3], [1, 2, 3])])
    assert found.ranks.attributes == ("a",)
    assert found.notes == ("interval disclosure is that of masked attributes; released as they are: b",)


def test_why_there_is_no_rmdid():
    found = interval_disclosure([attribute("a", [1, 1, 1, 1], [1, 2, 3, 4])])
    assert found.notes == (
        "there is no RMDID: an attribute is constant, or half of the records lie on a plane",
    )
    assert found.deviations.each[-1, 0] == 0.25


@pytest.mark.parametrize("original", [[0, -1, 3, 0], [0] * 21 + list(range(1, 15))])
def test_there_is_none_where_half_of_the_values_of_one_attribute_are_equal(original):
    found = interval_disclosure([attribute("a", original, range(len(original)))])
    assert found.robust is None
    assert found.notes == (
        "there is no RMDID: an attribute is constant, or half of the records lie on a plane",
    )


@settings(max_examples=30, deadline=None)
@given(
    arrays(np.float64, (14, 2), elements=st.integers(-9, 9).map(float)),
    arrays(np.float64, (14, 2), elements=st.integers(-9, 9).map(float)),
    st.randoms(use_true_random=False),
    st.sampled_from([0.5, 2.0, 4.0]),
)
def test_neither_order_nor_units_matter(original, masked, random, factor):
    """Powers of two, so that values on the end of an interval stay there."""
    rows = list(range(14))
    random.shuffle(rows)
    plain = interval_disclosure(released_table(original, masked))
    other = interval_disclosure(released_table(factor * original[rows], factor * masked[rows]))
    assert [each.value for each in plain.findings] == pytest.approx([each.value for each in other.findings])
    frame = plain.to_frame()
    pd.testing.assert_frame_equal(frame, other.to_frame())
    wider = frame[frame["attribute"] == "(all)"].groupby("kind")["share"]
    assert all(shares.is_monotonic_increasing for _, shares in wider)


def test_as_a_measure():
    random = np.random.default_rng(4)
    original = pd.DataFrame(random.normal(size=(30, 2)), columns=["a", "b"])
    found = risk(
        original,
        original + 0.1 * random.normal(size=(30, 2)),
        measures="interval-disclosure",
        aggregator="weighted-mean",
        work_limit=5,
    )
    told = json.loads(found.to_json())["measures"]["interval-disclosure"]
    assert told["ranks"]["attributes"] == ["a", "b"]
    assert len(found["interval-disclosure"].to_frame()) == 2 * len(PERCENT) * 4


def test_nominal_attributes_alone_are_refused():
    original = pd.DataFrame({"a": ["x", "y"] * 6, "b": ["u", "v", "w"] * 4})
    masked = original.iloc[::-1].reset_index(drop=True)
    found = risk(
        original,
        masked,
        measures="interval-disclosure",
        aggregator="weighted-mean",
        work_limit=5,
        row_by_row=True,
    )
    assert found.not_measured == {
        "interval-disclosure": "needs a numeric or an ordinal attribute: nominal categories have no order"
    }


def test_neighbours_by_brute_force_and_when_it_is_late():
    """RMDID2 asks who has another record within 0.05 standard deviations; it may be too late to ask."""
    random = np.random.default_rng(0)
    values = random.normal(size=(400, 2))
    masked = values + random.normal(scale=1e-3, size=values.shape)
    masked[7] = masked[3]
    found = robust_disclosure(values, masked, 1.0, 0)
    scaled = (masked - masked.mean(axis=0)) / masked.std(axis=0, ddof=1)
    apart = np.sqrt(((scaled[:, None] - scaled[None]) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    assert found.alone.tolist() == (found.unsafe & (apart.min(axis=1) > 0.05)).tolist()
    assert 0 < found.alone.sum() < found.unsafe.sum()
    with pytest.raises(TimeoutError):
        robust_disclosure(values, masked, 1.0, 0, lambda: True)


def test_what_there_was_no_time_for_is_said(monkeypatch):
    original, masked = np.random.default_rng(1).normal(size=(2, 60, 2))
    assert (
        interval_disclosure(released_table(original, masked), late=lambda: True).robust is not None
    )  # it is a moment
    monkeypatch.setattr("linkrisk.solver.measures.interval_disclosure.MOST_SCATTERED", 10)
    cut = interval_disclosure(released_table(original, masked), late=lambda: True)
    assert (cut.late, cut.robust) == (True, None)
    assert cut.deviations is not None
    assert cut.notes == ("no time was left for RMDID; a longer time_limit would take it too",)
    assert not interval_disclosure(released_table(original, masked), late=lambda: False).late
