"""Membership: the worst case in the population, and claims by distance."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from fit_runs import frames
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_runs import pair_task, task_of
from scipy.stats import chi2

from linkrisk import risk
from linkrisk.solver.measures.base import Kind
from linkrisk.solver.measures.membership import Members, Membership, claimed_outside, claims_by_distance
from linkrisk.solver.measures.population_uniqueness import TOO_SMALL, unknown
from linkrisk.solver.measures.simple_attacks import SimpleAttacksMeasure
from linkrisk.solver.measures.task import MeasureChoices
from linkrisk.solver.measures.verdict_findings import Known, verdict_of
from linkrisk.solver.report.page import document_of
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import percent

INF = np.inf


def members(right, own, other, absent):
    return Members(*(np.array(each, dtype=np.float64) for each in (right, own, other, absent)))


def by_hand():
    """Three right links, one wrong one, one record that is far from all."""
    return members([1, 1, 1, 0, 0], [1, 2, 4, 3, 9], [3, 5, 6, 2, 8], [9, 9, 19, 9, 4])


def test_by_hand():
    found = claims_by_distance(by_hand(), (0.3, 0.5, 1.0))
    assert found.distance.tolist() == [1.0, 2.0, 4.0, INF]
    assert found.kept.tolist() == pytest.approx([1 / 3, 2 / 3, 1.0, 1.0])
    assert found.right.tolist() == [1.0, 2.0, 3.0, 3.0]
    assert found.wrong_inside.tolist() == [0.0, 1.0, 1.0, 2.0]
    assert found.wrong_outside.tolist() == [0.0, 9.0, 18.0, 50.0]
    assert found.share.tolist() == pytest.approx([1.0, 2 / 12, 3 / 22, 3 / 55])
    assert (found.low <= found.share).all()
    assert (found.share <= found.high).all()
    assert (found.high_outside <= 50.0).all()
    assert list(found.to_frame()) == [
        "kept", "distance", "right", "wrong_inside", "wrong_outside", "low_outside", "high_outside", "share",
        "low", "high",
    ]  # fmt: skip


def test_the_interval_where_nothing_is_claimed_outside():
    """Fay and Feuer: the limit of Poisson for no event, 3.69, times the largest weight."""
    value, low, high = claimed_outside(members([1] * 9, [1] * 9, [5] * 9, [9] * 9), 2.0)
    assert (value, low) == (0.0, 0.0)
    assert high == pytest.approx(10.0 * chi2.ppf(0.975, 2) / 2.0)


@settings(max_examples=6)
@given(st.integers(0, 10**6))
def test_the_estimate_is_unbiased_over_all_samples(seed):
    """Every sample of a small population, with its probability under Poisson sampling; Horvitz-Thompson."""
    random, count = np.random.default_rng(seed), 7
    true = random.random(count)
    masked = true + random.normal(0.0, 0.1, count)
    chance, limit = random.uniform(0.2, 0.9, count), random.uniform(0.02, 0.3)
    distance = np.abs(true[:, None] - masked)
    estimated = happened = 0.0
    for bits in itertools.product([False, True], repeat=count):
        inside = np.array(bits)
        if not inside.any():  # no file, no claim
            continue
        probability, here = np.where(inside, chance, 1.0 - chance).prod(), np.flatnonzero(inside)
        nearest = (distance[np.ix_(here, here)] + np.diag(np.full(here.size, INF))).min(axis=1)
        own = distance[here, here]
        sample = members(own < nearest, own, nearest, 1.0 / chance[here] - 1.0)
        estimated += probability * claimed_outside(sample, limit)[0]
        happened += probability * (distance[np.ix_(~inside, here)].min(axis=1) <= limit).sum()
    assert estimated == pytest.approx(happened)


def test_the_interval_covers_what_it_estimates():
    """Claims outside the file that do not depend on who is in it; 95 % of 800 samples, within five errors."""
    random, near = np.random.default_rng(1), np.random.default_rng(2).random(3000) < 0.03
    chance, covered = np.where(np.arange(3000) % 2, 0.05, 0.2), 0
    for _ in range(800):
        inside = random.random(3000) < chance
        ones = np.ones(inside.sum())
        sample = members(ones, ones, np.where(near[inside], 0.5, 2.0), 1.0 / chance[inside] - 1.0)
        _, low, high = claimed_outside(sample, 1.0)
        covered += low <= near[~inside].sum() <= high
    assert covered / 800 > 0.95 - 5.0 * np.sqrt(0.05 * 0.95 / 800)


ROLES = {"A": "key", "B": "key", "w": "weight"}
WEIGHTED = {"attributes": [{"name": name, "role": role} for name, role in ROLES.items()]}


def noisy(seed=8, records=40, noise=0.3, **options):
    return frames(seed, records, attributes=2, noise=noise, **options)


def measured(files, *, weight=None, fraction=None, **options):
    original, masked = files
    if weight is not None:
        original = original.assign(w=weight)
        options["schema"] = WEIGHTED
    task = task_of((original, masked), choices=MeasureChoices(fraction=fraction), **options)
    assert Membership().lacking(task) is None
    return task, Membership().take(task, Clock(None))


def finding(result, key):
    return next(found for found in result.findings if found.key == key)


def test_a_fraction_is_the_weight_that_all_records_have():
    files = noisy(4, 20, 0.4)
    task, by_fraction = measured(files, fraction=0.1)
    _, by_weight = measured(files, weight=10.0)
    for found in (by_fraction, by_weight):
        assert (found.linked, found.most) == (task.worst.linked, task.worst.linked_upper_bound)
        assert found.persons == 10.0 * found.linked
        assert (found.population, found.highest) == (200.0, 0.1)
    assert "of targets of the population of 200" in by_fraction.paragraph
    pd.testing.assert_frame_equal(by_fraction.to_frame(), by_weight.to_frame())
    prosecutor, journalist = finding(by_fraction, "prosecutor"), finding(by_fraction, "journalist")
    assert prosecutor.value == by_fraction.linked / 20
    assert journalist.value == pytest.approx(prosecutor.value * 0.1)
    assert (prosecutor.kind, prosecutor.low, prosecutor.high) == (Kind.CERTAIN, *[prosecutor.value] * 2)


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.booleans())
def test_no_weights_of_a_fine_grid_link_more_than_is_certified(seed, shared):
    random = np.random.default_rng(seed)
    original, masked = frames(seed, 12, attributes=2, noise=0.8, twins=True)
    weight = random.integers(1, 40, 12).astype(float)
    ties = "share" if shared else "strict"
    task, found = measured((original, masked), weight=weight, ties=ties)
    pair = task.first.pair
    c = (pair.queries[:, None] - pair.candidates[None]) ** 2
    twins = (pair.candidates[:, None] == pair.candidates[None]).all(axis=2)
    value = 1.0 / twins.sum(axis=1)[pair.partner] if shared else np.ones(12)
    rivals = ~twins[pair.partner] if shared else np.arange(12) != pair.partner[:, None]
    for w in np.linspace(0.0, 1.0, 201):
        d = c @ [w, 1.0 - w]
        linked = (np.where(rivals, d, np.inf) > d[np.arange(12), pair.partner][:, None] + 1e-9).all(axis=1)
        assert value[linked].sum() <= found.most + 1e-9
        assert (value * weight)[linked].sum() <= found.most_persons * (1 + 1e-9)
    assert found.linked <= found.most
    assert found.persons <= found.most_persons
    assert finding(found, "journalist").value == found.linked / weight.sum()
    assert found.claims.right[-1] == pytest.approx(found.linked)
    assert found.claims.share[-1] == pytest.approx(found.linked / weight.sum())


def test_nothing_linked_at_all():
    original, _ = frames(2, 12, attributes=1)
    masked = pd.DataFrame({"A": np.where(np.arange(12) % 2, 5.0, 7.0)})  # everybody has twins
    _, found = measured((original, masked), fraction=0.5)
    assert found.linked == found.most == found.highest == 0.0
    keys = ["prosecutor", "journalist", "highest_journalist", "persons"]
    assert [each.key for each in found.findings] == keys
    assert "claims only" not in found.paragraph


def test_missing_values_and_records_without_a_partner():
    original, masked = frames(6, 10, attributes=2)
    masked.iloc[3, 0] = np.nan
    original["id"], masked["id"] = range(10), range(10)
    options = {"id": "id", "attributes": ["A", "B"], "aggregator": "weighted-mean", "time_limit": None}
    found = risk(original, masked.iloc[:8], measures="membership", fraction=0.1, **options)["membership"]
    assert (found.records, found.population) == (8, 100.0)
    last = found.to_frame().iloc[-1]
    assert last["right"] + last["wrong_inside"] == 8
    assert last["wrong_outside"] == pytest.approx(92.0)


def test_no_verdict_is_below_the_share_of_records_that_the_same_page_has():
    """Who is linked stands for few: what they stand for is tolerated, and their number is not."""
    files = noisy()
    linked, _ = measured(files, fraction=0.5)
    by_all = np.logical_or.reduce([family.counted.linked for family in linked.worst.families])
    task, found = measured(files, weight=np.where(by_all, 4.0, 20.0))
    share, low, high = found.linked / 40, *(end / task.total for end in task.worst.interval)
    assert high < share
    for measures in ({}, {"membership": found}):
        made = verdict_of(Known(task, measures, {}, (high + share) / 2))
        assert (made.answer, made.low) == ("above", pytest.approx(share))
        assert "of the records, unweighted (" in made.sentence
        assert percent(low) in made.sentence
    within = verdict_of(Known(task, {"membership": found}, {}, 1.0))
    assert (within.answer, within.high) == ("below", pytest.approx(found.most / 40))


def test_shares_are_whole_persons_one_where_weights_are_equal_and_none_below_one():
    original, masked = noisy()
    weight = np.where(np.arange(40) % 3, 4.25, 20.1)
    task = task_of((original.assign(w=weight), masked), ("weighted-mean",), schema=WEIGHTED)
    linked = [one for one in SimpleAttacksMeasure().take(task, Clock(None)).attacks if one.linked]
    assert len(linked) > 2
    assert all(one.linked == round(one.share * weight.sum()) for one in linked)
    options = {"aggregator": "weighted-mean", "measures": "worst-case,simple-attacks", "time_limit": None}
    found = risk(original.assign(w=3.0), masked, row_by_row=True, schema=WEIGHTED, **options)
    assert not [one for one in found.verdict.findings if one.key.endswith("_unweighted")]
    _, found = measured(noisy(4, 10, 0.2), weight=[0.5] * 2 + [3.0] * 8)
    assert found.notes == ("membership: 2 sampling weights are below 1 and stand for nobody else",)
    assert found.highest <= 1.0


def test_no_verdict_is_below_any_attack_in_records_either():
    """Whom an attack links stand for few, so that a search by weights has little reason to link them."""
    draw = np.random.default_rng(3)
    original = draw.normal(size=(20, 2))
    masked = original + draw.normal(size=(20, 2)) * 0.4
    first, second = ((one - one.mean(0)) / one.std(0) for one in (original, masked))
    right = ((first[:, None] - second[None]) ** 2).sum(-1).argmin(1) == np.arange(20)
    frames = [pd.DataFrame(one, columns=["a", "b"]) for one in (original, masked)]
    frames[0]["w"] = np.where(right, 2.0, 60.0)
    options = {
        "schema": {"attributes": [{"name": "w", "role": "weight"}]}, "row_by_row": True, "seed": 1,
        "attributes": ["a", "b"], "time_limit": None, "aggregator": "weighted-mean", "tolerated": 0.2,
    }  # fmt: skip
    measures = "worst-case,simple-attacks,reidentification"
    found = risk(*frames, measures=measures, masking=["noise percent=40"], **options)
    by_key = {one.key: one for one in found.verdict.findings}
    simple = by_key["attack_equal_weights_unweighted"]
    assert simple.low == pytest.approx(right.mean()) == simple.high
    assert by_key["attack_equal_weights"].low < 0.2 < simple.low
    said = f"equal weights re-identifies {percent(right.mean())} of the records, unweighted"
    assert (simple.sentence, found.verdict.answer) == (said, "above")
    attacks = [one for name in measures.split(",") for one in found[name].counted_attacks]
    told = {"equal_weights", "known_masking", "nearest_weighted_mean", "likelihood"}
    assert told <= {one.key for one in attacks}
    for attack in attacks:
        assert by_key[f"attack_{attack.key}"].low <= found.verdict.low
        known = {one.low for one in found.verdict.findings if one.key == f"attack_{attack.key}_unweighted"}
        assert attack.unweighted in known
        assert attack.unweighted <= found.verdict.low
    bare = risk(*frames, measures="worst-case", **options).verdict
    assert right.mean() in [one.low for one in bare.findings if one.key == simple.key]


def test_of_equals_a_bound_on_weights_counts_their_parts():
    """All weights but one are the same, so that a bound on them is nearly one on records, also of equals."""
    weight = np.where(np.arange(40), 5.0, 5.5)
    task, found = measured(noisy(twins=True), weight=weight, ties="share")
    made = verdict_of(Known(task, {}, {}, 0.05))
    alike = next(one for one in made.findings if one.key == "worst_case_unweighted")
    assert found.linked / 40 <= alike.low + 1e-9 <= alike.high + 2e-9
    assert found.most / 40 <= alike.high + 1e-9
    assert alike.high <= task.worst.interval[1] / 5.0 / 40 + 1e-6 < 1.0


def test_every_table_of_shares_of_a_weighted_page_names_its_unit():
    original, masked = noisy()
    original = original.assign(sex=["f", "m"] * 20, w=np.where(np.arange(40) % 3, 4.0, 20.0))
    sexes = {"name": "sex", "role": "stratum", "scale": "nominal"}
    found = risk(
        original, masked, schema={"attributes": [*WEIGHTED["attributes"], sexes]}, row_by_row=True,
        aggregator="weighted-mean", measures="worst-case,records,membership,simple-attacks", time_limit=None,
    )  # fmt: skip
    tables = list(tables_of(document_of(found.to_dict()).to_dict()["sections"]))
    assert len(tables) > 5
    assert all("what records stand for" in said or "unweighted" in said for said in tables)


def tables_of(content, title=""):
    """Titles of everything with a column of shares, or with findings."""
    if isinstance(content, list):
        for one in content:
            yield from tables_of(one, title)
    elif isinstance(content, dict):
        title = f"{title} {content.get('title') or content.get('caption') or ''}"
        columns = content.get("columns")
        columns = columns if isinstance(columns, list) else []
        if any(column["of"] == "share" for column in columns):
            yield " ".join([title, *(column["title"] for column in columns)])
        for one in content.values():
            yield from tables_of(one, title)


def test_what_is_lacking():
    original, masked = frames(4, 10, attributes=2)
    measure = Membership()
    assert measure.lacking(pair_task(original, masked)) == unknown()
    weighted = pair_task(original.assign(w=0.5), masked, schema=WEIGHTED)
    assert measure.lacking(weighted) == TOO_SMALL
    turned = pair_task(original, masked, direction="masked-to-original", choices=MeasureChoices(fraction=0.1))
    assert measure.lacking(turned) == (
        "its targets are original records, each linked to a masked one; leave "
        "direction='masked-to-original' out"
    )


def test_ends_have_the_confidence_of_samples():
    original, masked = noisy()
    original["w"] = np.where(np.arange(40) % 2, 4.0, 20.0)
    options = {"aggregator": "weighted-mean", "schema": WEIGHTED, "row_by_row": True, "time_limit": None}
    found = risk(original, masked, measures="membership", sample=10, samples=2, **options)["membership"]
    assert found.confidence == 0.95
    kinds = {each.key: each.kind for each in found.findings}
    assert kinds["prosecutor"] == kinds["persons"] == Kind.CONFIDENCE
    assert found.linked <= found.most <= 40
    assert found.persons <= found.most_persons <= found.population == 480.0


def test_without_time_the_bound_follows_from_that_of_the_weights():
    """As many records as the lightest that weigh no more; with time, no more than that."""
    weight = np.where(np.arange(40) % 2, 4.0, 20.0)
    task, found = measured(noisy(noise=0.8), weight=weight)
    assert "of the weighted records" in verdict_of(Known(task, {}, {}, 0.05)).sentence
    wide = Membership().take(task, Clock(0.0))
    assert wide.most == task.worst.linked_upper_bound
    assert found.linked <= found.most < wide.most
    assert wide.persons == found.persons
