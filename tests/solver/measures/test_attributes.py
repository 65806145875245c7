"""Who leaks: textbook importances, ranges against enumeration, and worst cases without an attribute."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fit_runs import frames
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_runs import task_of

from linkrisk import fit
from linkrisk.formulations.linkage.aggregators import AGGREGATORS
from linkrisk.formulations.linkage.aggregators.k_additive import KAdditiveChoquet, TwoAdditiveChoquet
from linkrisk.formulations.linkage.aggregators.mahalanobis import Mahalanobis
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.solver.charts.gallery import draw
from linkrisk.solver.measures import attributes as attributes_module
from linkrisk.solver.measures.attributes import (
    Attributes,
    LeakingAttributes,
    WithheldAttribute,
    contained,
    directions_of,
    forced_range,
    importances,
    withheld,
)
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.interruption import Cancel

ALL = tuple(AGGREGATORS)


def taken(files, names=("weighted-mean",), clock=None, **options):
    task = task_of(files, names, **options)
    return task, Attributes().take(task, clock or Clock(None))


@pytest.mark.parametrize("kind", [*AGGREGATORS.values(), TwoAdditiveChoquet, KAdditiveChoquet])
def test_importances_are_linear_and_sum_to_one(kind):
    names = ("A", "B", "C", "D")
    aggregator = kind(names, 3) if kind is KAdditiveChoquet else kind(names)
    found = importances(aggregator)
    for theta in aggregator.domain.sample(20, np.random.default_rng(0)):
        shares = found.matrix @ theta
        assert shares.sum() == pytest.approx(1.0)
        own = aggregator.importance(theta)
        if own is not None:
            np.testing.assert_allclose(shares, list(own.values()), atol=1e-9)
    if aggregator.name == "owa":
        assert found.owners == ("rank 1", "rank 2", "rank 3", "rank 4")


def test_directions_add_up_to_the_quadratic_form_and_are_words():
    aggregator = Mahalanobis(("income", "tax", "age"))
    for theta in aggregator.domain.sample(20, np.random.default_rng(1)):
        matrix = aggregator.form(theta).parameters
        found = directions_of(aggregator, theta)
        again = sum(each.share * np.outer(each.coefficients, each.coefficients) for each in found)
        np.testing.assert_allclose(again * np.trace(matrix), matrix, atol=1e-9)
        assert [each.share for each in found] == sorted((each.share for each in found), reverse=True)
    assert directions_of(WeightedMean(("A", "B")), np.array([0.5, 0.5])) == ()
    theta = aggregator.encode({"matrix": [[0.5, -0.5, 0.0], [-0.5, 0.5, 0.0], [0.0, 0.0, 0.25]]})
    first, second = directions_of(aggregator, theta)
    assert first.words in ("0.71 income - 0.71 tax", "0.71 tax - 0.71 income")
    assert second.words == "1.00 age"
    assert (first.share, second.share) == (pytest.approx(0.8), pytest.approx(0.2))


@settings(max_examples=8)
@given(st.integers(0, 1000))
def test_the_range_of_two_weights_is_the_interval_of_brute_force(seed):
    task = task_of(frames(seed, 8, attributes=2))
    attack, pair = task.attack("weighted-mean"), task.first.pair
    linked = attack.evaluation.linked
    found = forced_range(pair, attack.problem.aggregator, attack.theta, linked, lambda: False)
    c = (pair.queries[:, None] - pair.candidates[None]) ** 2
    gaps = c - c[np.arange(8), pair.partner][:, None]
    low, high = 0.0, 1.0
    for block in np.flatnonzero(linked):
        for first, second in np.delete(
            gaps[block], pair.partner[block], axis=0
        ):  # w first + (1 - w) second >= 0
            if first > second:
                low = max(low, -second / (first - second))
            elif first < second:
                high = min(high, second / (second - first))
    assert found.low == pytest.approx([low, 1.0 - high], abs=1e-7)
    assert found.high[0] == pytest.approx(high, abs=1e-7)
    assert not found.outer


@settings(max_examples=4)
@given(st.integers(0, 1000), st.sampled_from(ALL))
def test_parameters_that_keep_the_records_linked_are_within_the_range(seed, name):
    task = task_of(frames(seed, 8), (name,))
    attack, random = task.attack(name), np.random.default_rng(seed)
    aggregator, linked = attack.problem.aggregator, attack.evaluation.linked
    found = forced_range(task.first.pair, aggregator, attack.theta, linked, lambda: False)
    matrix = importances(aggregator).matrix
    assert found.outer == (name == "mahalanobis")
    for point in aggregator.domain.sample(200, random):
        theta = aggregator.domain.repair(attack.theta + 0.2 * random.random() * (point - attack.theta))
        if task.evaluator.count(aggregator.form(theta)).linked[linked].all():
            assert (matrix @ theta >= found.low - 1e-7).all()
            assert (matrix @ theta <= found.high + 1e-7).all()


def test_there_may_be_no_time_and_too_many_records(monkeypatch):
    task = task_of(frames(4, 8))
    attack = task.attack("weighted-mean")
    arguments = task.first.pair, attack.problem.aggregator, attack.theta, attack.evaluation.linked
    assert np.isnan(forced_range(*arguments, lambda: True).low).all()
    monkeypatch.setattr(attributes_module, "MOST_PAIRS", 1)
    assert np.isnan(forced_range(*arguments, lambda: False).high).all()


@settings(max_examples=4)
@given(st.integers(0, 1000), st.sampled_from(ALL))
def test_worst_cases_without_an_attribute_are_those_of_fit(seed, name):
    original, masked = frames(seed, 8)
    task = task_of((original, masked), (name,))
    attack = task.attack(name)
    for attribute in original:
        found = withheld(attack, attribute, task.request, Clock(None))
        kept = [other for other in original if other != attribute]
        expected = fit(original[kept], masked[kept], aggregator=name, row_by_row=True, time_limit=None)
        assert found.linked == found.most == expected.linked
        assert found.fall_low <= found.fall <= found.fall_high
        assert found.fall == attack.result.linked - expected.linked
        if contained(attack.problem):
            assert found.fall_low >= 0.0
            assert found.most <= attack.result.linked_upper_bound
        # Whatever is said to be a core: it is asked about.
        wrong = replace(attack, cores=tuple(frozenset({block, block + 1}) for block in range(7)))
        assert withheld(wrong, attribute, task.request, Clock(None)) == found


@pytest.mark.parametrize("name", ["weighted-mean", "owa"])
def test_without_a_bound_in_time_nothing_is_certain(name):
    """Of no bound that rules anything out nothing follows, but that what is contained links no more."""
    original, masked = frames(4, 10)
    task = task_of((original, masked), (name,))
    attack, token = task.attack(name), Cancel()
    total, low = attack.result.total, attack.result.linked
    endless = replace(attack, result=replace(attack.result, linked_upper_bound=int(total)))
    token.cancel()
    ended = Clock(None, cancel=token)
    inside = 0.0 if contained(attack.problem) else None
    assert low < total
    for attribute in original:
        one = withheld(endless, attribute, task.request, ended)
        assert (one.fall, one.fall_high) == (low - one.linked, None)
        assert one.most is not None or one.fall_low == inside
    one = WithheldAttribute(name, "A", 2.0, None, 1.0, inside, None)
    some = LeakingAttributes(total, taken((original, masked), (name,))[1].families, (one,), 1)
    (_, fall) = some.findings
    assert (fall.words, fall.low, fall.high) == (f"fall without A, {name}, no bound in time", None, None)
    for changes, said in (
        ({}, "; how far the worst case falls is open, as no bound was found in time."),
        (
            {"most": 2.0, "fall_low": 1.0},
            "falls by at least 10.0 %, and no bound in time says how far at most.",
        ),
        ({"fall_low": None, "fall_high": 3.0}, "the worst case falls by at most 30.0 %, for certain."),
    ):
        assert replace(some, withheld=(replace(one, **changes),)).paragraph.endswith(said)
    content = {"measures": {"attributes": json.loads(some.to_json())}}
    assert content["measures"]["attributes"]["withheld"][0]["most"] is None
    chart = draw("withheld", content)
    assert chart.table.rows[0][1:] == [2, None, 0.1, inside, None]
    assert "10.0 points (no bound in time)" in chart.description


def test_with_shared_ties_an_attribute_can_keep_links_away():
    """Twins share a link until an attribute tells them apart the wrong way round: no bound carries over."""
    original = pd.DataFrame({"A": [0.0, 0.0, 9.0, 9.0], "B": [0.0, 1.0, 0.0, 1.0]})
    masked = pd.DataFrame({"A": [0.0, 0.0, 9.0, 9.0], "B": [1.0, 0.0, 1.0, 0.0]})
    task, result = taken((original, masked), ties="share")
    one = next(one for one in result.withheld if one.attribute == "B")
    assert (task.worst.interval, one.linked, one.most) == ((0.0, 0.0), 2.0, 2.0)
    assert one.fall_low == one.fall == one.fall_high == -2.0


def test_where_nobody_is_linked_no_attribute_leaks():
    original, masked = frames(3, 4)
    twins = pd.concat([original] * 2, ignore_index=True), pd.concat([masked] * 2, ignore_index=True)
    _, result = taken(twins)
    assert [finding.value for finding in result.findings] == [None]
    assert result.paragraph == "no record is linked, so that importances are those of arbitrary parameters."
