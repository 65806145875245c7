"""Who leaks: importances, ranges against enumeration, worst cases without an attribute, records at risk."""

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
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.forms import FormKind
from linkrisk.solver.charts.gallery import draw
from linkrisk.solver.measures import attributes as attributes_module
from linkrisk.solver.measures import records
from linkrisk.solver.measures import task as task_module
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
from linkrisk.solver.measures.records import (
    MISSING,
    OTHERS,
    Records,
    contributions,
    near_rivals,
)
from linkrisk.solver.measures.task import MeasureChoices
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


def records_of(files, names=("weighted-mean",), columns=None, clock=None, **options):
    task = task_of(files, names, choices=MeasureChoices(columns), **options)
    return task, Records().take(task, clock or Clock(None))


def test_of_equal_candidates_records_count_what_guessing_is_right_about():
    """Who has a twin in the masked file is found by a coin: as often as the verdict of the same page says."""
    original = pd.DataFrame({"A": [0.0, 0.0, 5.0, 9.0], "B": [0.0, 0.0, 1.0, 3.0]})
    _, result = records_of((original, original), ties="share")
    right = (0.5 + 0.5 + 1.0 + 1.0) / 4
    by_key = {one.key: one for one in result.findings}
    assert (by_key["linked_by_any"].value, by_key["linked_by_all"].value) == (right, right)
    assert result.paragraph.startswith(
        "3 of 4 records are re-identified by at least one of 3 attacks and 3 by "
    )
    assert "all of them, expected where equal candidates are guessed among; 0 provably" in result.paragraph
    _, strict = records_of((original, original), ties="strict")
    assert strict.findings[0].value == 0.5
    assert strict.worth is None
    assert "guessed" not in strict.paragraph


@given(st.sampled_from([*AGGREGATORS.values(), TwoAdditiveChoquet]), st.integers(0, 10**6), st.integers(2, 5))
def test_parts_add_up_to_the_distance(kind, seed, count):
    random = np.random.default_rng(seed)
    aggregator = kind(tuple("ABCDE"[:count]))
    form = aggregator.form(aggregator.domain.sample(1, random)[0])
    c = random.normal(size=(8, count))
    c[0] = c[0, 0]  # equal distances
    c[1, 0] = 0.0
    c = c if form.differences is Differences.SIGNED else np.abs(c)
    parts = contributions(form, c)
    np.testing.assert_allclose(parts.sum(axis=1), form(c), rtol=1e-9, atol=1e-12)
    if aggregator.monotone:
        assert (parts >= -1e-9).all()
    np.testing.assert_array_equal(parts[c == 0.0], 0.0)


@given(st.sampled_from([*AGGREGATORS.values(), TwoAdditiveChoquet]), st.integers(0, 10**6))
def test_parts_are_slopes_times_distances(kind, seed):
    """Euler's theorem: the derivative by difference quotients, away from equal distances."""
    random = np.random.default_rng(seed)
    aggregator = kind(("A", "B", "C"))
    form = aggregator.form(aggregator.domain.sample(1, random)[0])
    c = random.permutation([1.0, 2.0, 3.0])[None, :] + 0.3 * random.random(3)
    degree = 2.0 if form.kind is FormKind.QUADRATIC else 1.0
    slope = [(form(c + step) - form(c - step))[0] / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(contributions(form, c)[0], c[0] * slope / degree, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["weighted-mean", "mahalanobis"])
@pytest.mark.parametrize("ties", ["strict", "share"])
def test_near_rivals_are_those_of_brute_force(name, ties):
    task = task_of(frames(3, 20, twins=True), (name,), ties=ties)
    pair, aggregator = task.first.pair, task.problems[name].aggregator
    lengths = np.linalg.norm(pair.queries[:, None] - pair.candidates[None], axis=2) / np.sqrt(3)
    form = aggregator.form(aggregator.equal())
    found = near_rivals(pair, form, lambda: False)
    twins = (pair.candidates[:, None] == pair.candidates[None]).all(axis=2) if ties == "share" else np.eye(20)
    own = lengths[np.arange(20), pair.partner][:, None]
    near = (lengths <= 1.1 * own + 1e-9) & ~twins[pair.partner].astype(bool)
    np.testing.assert_array_equal(found, near.sum(axis=1))
    assert np.isnan(near_rivals(pair, form, lambda: True)).all()


@settings(max_examples=8)
@given(st.integers(0, 1000), st.booleans())
def test_attacks_are_those_of_the_worst_cases(seed, masked_first):
    direction = "masked-to-original" if masked_first else "original-to-masked"
    task, result = records_of(frames(seed, 10), ("weighted-mean", "owa"), direction=direction)
    assert {attack.attack for attack in result.attacks} == {
        "weighted-mean", "owa", "equal-weights", "classical-mahalanobis"
    }  # fmt: skip
    for attack in result.attacks:
        if attack.attack in task.worst.results:
            table = task.worst.results[attack.attack].table
            np.testing.assert_array_equal(attack.linked, table.linked)
            np.testing.assert_array_equal(attack.rank, table.rank)
            np.testing.assert_allclose(attack.margin, table.margin)
            np.testing.assert_allclose(attack.to_partner.sum(axis=1), table.distance, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(attack.to_rival.sum(axis=1), table.nearest_other, rtol=1e-9)
        assert not (attack.linked & (attack.near < attack.rank - 1)).any()
    linked = np.array([attack.linked for attack in result.attacks])
    np.testing.assert_array_equal(result.linked_by, linked.sum(axis=0))
    assert not (result.out_of_reach["weighted-mean"] & linked[:2].any(axis=0) & result.never).any()


@settings(max_examples=8)
@given(st.integers(0, 1000))
def test_records_out_of_reach_are_linked_by_no_weights(seed):
    task, result = records_of(frames(seed, 9, attributes=2, noise=2.0))
    pair = task.first.pair
    c = (pair.queries[:, None] - pair.candidates[None]) ** 2
    grid = np.linspace(0.0, 1.0, 400)
    linked = [((c @ [w, 1.0 - w]).argmin(axis=1) == pair.partner) for w in grid]
    assert not (np.any(linked, axis=0) & result.out_of_reach["weighted-mean"]).any()
    # Exactly the records with a rival that is at least as near in both attributes.
    own = c[np.arange(9), pair.partner][:, None]
    nearer = (c <= own).all(axis=2) & (np.arange(9) != pair.partner[:, None])
    np.testing.assert_array_equal(result.never, nearer.any(axis=1))
    assert f"; {nearer.any(axis=1).sum()} provably by no parameters" in result.paragraph


def test_groups_count_every_record_once_per_column():
    original, masked = frames(5, 30, noise=0.5)
    original["region"] = ["north", "south", None] * 10
    original["number"] = np.arange(30) % 15
    original.loc[0, "number"] = np.nan
    _, result = records_of((original, masked), columns=("region", "number"), attributes=["A", "B", "C"])
    table = result.to_groups()
    assert table.groupby("column")["records"].sum().to_dict() == {"region": 30, "number": 30}
    assert table.groupby("column")["linked"].sum().nunique() == 1
    category = table.set_index("column")["category"]
    assert set(category["region"]) == {"north", "south", MISSING}
    assert len(category["number"]) == 13  # eleven, all others, and what is missing
    assert {OTHERS, MISSING} <= set(category["number"])
    assert not any("." in name for name in category["number"])  # although they were read as floats
    linked, row = result.attacks[0].linked[::3], table[table["category"] == "north"].iloc[0]
    assert (row["linked"], row["share"]) == (linked.sum(), pytest.approx(linked.mean()))


def schema_of(**roles):
    return {"attributes": [{"name": name, "role": role} for name, role in roles.items()]}


def test_columns_are_those_of_the_schema():
    original, masked = frames(5, 30, attributes=2)
    original["sex"] = masked["sex"] = ["f", "m"] * 15
    original["area"] = masked["area"] = np.arange(30) // 2
    schema = schema_of(A="key", B="confidential", sex="key", area="stratum")
    schema["attributes"][2]["scale"] = "nominal"
    table = records_of((original, masked), schema=schema)[1].to_groups()
    assert list(table["column"].unique()) == ["area", "sex"]
    area = table[table["column"] == "area"]  # which has categories however many codes there are
    assert area["records"].tolist() == [8] + 11 * [2]
    assert area["category"][0] == OTHERS


def test_groups_have_the_labels_of_their_columns_and_what_is_guessed_right_among_equals():
    original, masked = frames(5, 12, attributes=1)
    original["area"], original["A"] = [1, 2] * 6, np.arange(12) // 2
    masked["area"], masked["A"] = original["area"], original["A"] // 2
    schema = schema_of(A="key", area="stratum")
    schema["attributes"][1] |= {"label": "Bundesland", "labels": {"1": "Wien"}}
    task, result = records_of((original, masked), columns=("area",), schema=schema, ties="share")
    assert [(one.column, one.category) for one in result.groups] == [("area", "1"), ("area", "2")]
    assert [one.words for one in result.groups] == ["Bundesland: Wien (1)", "Bundesland: 2"]
    right = sum(one.share * one.population for one in result.groups)
    assert right == pytest.approx(task.first.pair.weight[result.attacks[0].linked].sum()) != 0.0
    assert all(abs(one.linked - one.share * one.records) <= 0.5 for one in result.groups)


def test_one_attribute_missing_values_and_no_time():
    original, masked = frames(6, 10, attributes=1)
    masked.iloc[3, 0] = np.nan
    _, result = records_of((original, masked), clock=Clock(0.0))
    assert result.notes == ("records: there was no time to count all near rivals",)
    frame = result.to_frame()
    assert list(frame)[:3] == ["record", "linked_by", "never"]
    assert len(frame) == 10
    assert len(result.to_contributions()) == 10 * len(result.attacks)


@pytest.mark.parametrize(("most", "listed"), [("_MOST_PARTS", True), ("MOST_ROWS", False)])
def test_many_records_make_no_long_json(monkeypatch, most, listed):
    monkeypatch.setattr(records, "_MOST_PARTS", 5)
    monkeypatch.setattr(records, most, 5)
    _, result = records_of(frames(6, 10))
    content = result.to_dict()
    assert ("attacks" in content) == listed
    if listed:
        assert content["attacks"][0]["to_partner"] == []
        assert len(content["attacks"][0]["rank"]) == 10
    assert len(result.notes) == 1
    assert len(result.to_contributions()) == 10 * 3 * 3


def test_small_files_are_counted_whatever_the_time_and_large_ones_as_far_as_it_lasts(monkeypatch):
    task = task_of(frames(3, 20))
    known = task.worst.families[0]
    cut = replace(known.counted, rank=np.zeros_like(known.counted.rank))
    task.worst = replace(task.worst, families=(replace(known, counted=cut),))
    assert task.attack("weighted-mean").evaluation.rank.all()
    assert task.baseline("euclid", Clock(0.0)).settled.all()
    monkeypatch.setattr(task_module, "MOMENT", 1)
    late = task_of(frames(3, 20))
    assert not late.baseline("euclid", Clock(0.0)).settled.any()
    result = Records().take(late, Clock(0.0))
    assert any(note.startswith("records: there was no time to look at all of them") for note in result.notes)
    assert late.baseline("euclid", Clock(None)).settled.all()  # looked at again
