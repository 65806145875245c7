"""Population uniqueness of files, with misclassified keys."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_runs import pair_task

from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.solver.masking.mask import mask
from linkrisk.solver.measures.population_uniqueness import (
    PopulationUniques,
    Source,
    correct_match_probability,
    key_changes,
    uniques_risk,
)
from linkrisk.solver.measures.risk import risk
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError


def by_all_outcomes(population, into, own, fraction):
    """Given that one record is released as j: the probability that it is a certain unit of category j."""
    units = np.repeat(np.arange(len(population)), population)
    released_as_j = fraction * np.asarray(into)[units]
    target = int(np.flatnonzero(units == own)[0])
    alone = target_alone = 0.0
    for outcome in itertools.product((False, True), repeat=units.size):
        if sum(outcome) == 1:
            probability = float(np.prod(np.where(outcome, released_as_j, 1.0 - released_as_j)))
            alone += probability
            target_alone += probability * outcome[target]
    return target_alone / alone


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.lists(st.floats(0.05, 0.95), min_size=3, max_size=3),
    st.floats(0.05, 0.95),
    st.integers(0, 2),
)
def test_the_formula_of_shlomo_and_skinner_is_the_sum_over_all_outcomes(population, into, fraction, own):
    into, own = into[: len(population)], own % len(population)
    expected = by_all_outcomes(population, into, own, fraction)
    assert correct_match_probability(population, into, own, fraction) == pytest.approx(expected)


def test_without_misclassification_it_is_one_in_the_population():
    assert correct_match_probability([4, 9], [1.0, 0.0], 0, 0.3) == pytest.approx(1 / 4)


def test_for_a_small_fraction_it_is_that_of_the_misclassified_population():
    population, into = [5, 40, 7], [0.8, 0.05, 0.1]
    approximate = 0.8 / float(np.dot(population, into))
    assert correct_match_probability(population, into, 0, 1e-6) == pytest.approx(approximate, rel=1e-5)


def pair(before, after, masking=()):
    frames = [pd.DataFrame({"town": town, "x": range(len(before))}) for town in (before, after)]
    return make_file_pair(*frames, nominal=["town"], masking=masking, row_by_row=True)


BEFORE = ["a"] * 4 + ["b"] * 2 + ["c"] * 2
AFTER = ["a", "a", "a", "b", "b", "a", "c", "c"]


def test_unknown_masking_is_estimated_for_each_category():
    (change,) = key_changes(pair(BEFORE, AFTER), ["town"], ())
    assert change.source is Source.ESTIMATED
    assert change.stays == 6 / 8
    by_category = {"a": 3 / 4, "b": 1 / 2, "c": 1.0}
    assert change.of_record.tolist() == [by_category[town] for town in AFTER]


def test_known_masking_says_it():
    masking = ("pram change=0.3 attributes=town",)
    (change,) = key_changes(pair(BEFORE, AFTER, masking), ["town"], masking)
    assert change.source is Source.KNOWN
    assert change.of_record.tolist() == pytest.approx([0.7] * 8)


def test_a_recoding_is_done_by_the_intruder_too():
    (change,) = key_changes(pair(BEFORE, ["ab"] * 6 + ["c"] * 2), ["town"], ())
    assert change.source is Source.RECODED
    assert (change.of_record == 1.0).all()


def test_keys_that_are_the_same_are_certain():
    (change,) = key_changes(pair(BEFORE, BEFORE), ["town"], ())
    assert change.source is Source.UNCHANGED
    assert (change.of_record == 1.0).all()


def test_a_category_that_only_masking_makes_is_never_the_true_one():
    (change,) = key_changes(pair(BEFORE, ["d", "a", *AFTER[2:]]), ["town"], ())
    assert change.of_record[0] == 0.0


SCHEMA = {
    "attributes": [
        {"name": "town", "role": "key", "scale": "nominal"},
        {"name": "job", "role": "key", "scale": "nominal"},
        {"name": "sex", "role": "key", "scale": "nominal"},
        {"name": "income", "role": "key", "scale": "numeric"},
        {"name": "weight", "role": "weight"},
    ]
}
CATEGORIES = {"town": "abcdef", "job": "uvwxyz", "sex": "mf"}


def survey(records=60, seed=1):
    random = np.random.default_rng(seed)
    columns = {name: random.choice(list(values), records) for name, values in CATEGORIES.items()}
    return pd.DataFrame({**columns, "income": random.integers(10, 99, records), "weight": 20.0})


def pram(frame, change, seed=2):
    random, masked = np.random.default_rng(seed), frame.copy()
    masked["income"] += random.integers(-3, 4, len(frame))
    for name, values in CATEGORIES.items():
        other = [random.choice([v for v in values if v != value]) for value in frame[name]]
        masked[name] = np.where(random.random(len(frame)) < change, other, frame[name])
    return masked


def measured(original, masked, schema=SCHEMA, **options):
    task, measure = pair_task(original, masked, schema=schema, **options), PopulationUniques()
    assert measure.lacking(task) is None
    return measure.take(task, Clock(None))


def test_keys_that_were_not_masked_have_the_same_risk_released():
    original = survey()
    found = measured(original, pram(original, 0.0))
    alone = uniques_risk(original, ["town", "job", "sex"], 1 / 20)
    assert found.original.chosen == found.released.chosen == alone.chosen
    assert found.expected_right == pytest.approx(found.original.chosen.tau_2)
    assert found.left_out == ("income",)
    assert "were not masked" in found.paragraph


@pytest.mark.parametrize("known", [True, False])
def test_changed_keys_multiply_what_the_masked_file_says_by_their_probability(known):
    original = survey()
    masked = pram(original, 0.25)
    masking = [f"pram change=0.25 attributes={name}" for name in CATEGORIES] if known else []
    found = measured(original, masked, masking=masking)
    alone = uniques_risk(masked, ["town", "job", "sex"], 1 / 20)
    stays = np.ones(len(masked))
    for name in CATEGORIES:
        kept = (original[name] == masked[name]).groupby(original[name]).mean()
        stays *= 0.75 if known else masked[name].map(kept).to_numpy()
    np.testing.assert_allclose(found.right, alone.correct_match * stays)
    own = original[list(CATEGORIES)].apply(tuple, axis=1)
    here = masked[list(CATEGORIES)].apply(tuple, axis=1).isin(set(own)).to_numpy()
    assert (found.occupied[here] == 1.0).all()
    assert (found.occupied[~here] < 1.0).all()
    assert found.expected_right == pytest.approx(np.nansum(found.right * found.occupied))
    assert any(("known from" if known else "estimated as") in note for note in found.notes)


def test_an_intruder_recodes_what_he_knows():
    """The release is that of a survey that had asked for the coarser categories."""
    original = survey()
    masked = original.assign(town=original["town"].map(dict(zip("abcdef", "pppqqr", strict=True))))
    found = measured(original, masked)
    coarse = uniques_risk(masked, ["town", "job", "sex"], 1 / 20)
    assert 0 < coarse.uniques < found.original.uniques
    assert (found.occupied == 1.0).all()
    assert found.expected_right == pytest.approx(coarse.chosen.tau_2)


def test_the_result_is_a_table_and_json():
    original = survey()
    found = measured(original, pram(original, 0.2))
    frame = found.to_frame()
    assert len(frame) == len(original)
    unique = frame["sample_count"] == 1
    assert frame.loc[unique, "correct_match"].sum() == pytest.approx(found.original.chosen.tau_2)
    assert frame["population_unique"].sum() == pytest.approx(found.original.chosen.tau_1)
    assert frame["released_right"].sum() == pytest.approx(np.nansum(found.right))
    read = json.loads(found.to_json())
    assert [finding["key"] for finding in read["findings"]][:3] == ["sample_uniques", "tau_1", "tau_2"]
    assert repr(found).startswith("population-uniqueness: ")


def test_missing_values_and_one_key():
    original = survey()
    original.loc[:4, "town"] = None
    schema = {"attributes": [SCHEMA["attributes"][0], *SCHEMA["attributes"][3:]]}
    found = measured(original, pram(original, 0.0), schema)
    assert found.keys == ("town",)
    assert found.original.count[:5].tolist() == [5] * 5
    assert found.expected_right == found.original.chosen.tau_2


@pytest.mark.parametrize(
    ("left_out", "values", "reason"),
    [
        (
            {"town", "job", "sex"},
            20.0,
            "no key variable is categorical; name those that an intruder knows exactly in nominal, "
            "ordinal or the schema",
        ),
        (
            {"weight"},
            20.0,
            "without sampling weights or fraction it is not known how large the population is; give a "
            "column of the schema the role weight",
        ),
        (
            set(),
            0.5,
            "the sampling weights sum to less than the number of records; they must count the population",
        ),
    ],
)
def test_what_the_files_lack_is_said(left_out, values, reason):
    original = survey().assign(weight=values).drop(columns=list(left_out))
    schema = {"attributes": [item for item in SCHEMA["attributes"] if item["name"] not in left_out]}
    assert PopulationUniques().lacking(pair_task(original, original, schema=schema)) == reason


def test_it_is_a_measure_of_risk():
    original = survey(records=12)
    result = risk(
        original,
        pram(original, 0.2),
        measures="population-uniqueness",
        aggregator="weighted-mean",
        schema=SCHEMA,
        row_by_row=True,
        time_limit=None,
    )
    assert list(result.measures) == ["population-uniqueness"]
    assert set(result.to_frame()["key"]) == {"sample_uniques", "tau_1", "tau_2", "tau_2_released", "misfit"}


def test_an_unknown_measure_is_refused():
    with pytest.raises(UsageError, match="unknown measures 'unique'"):
        risk(survey(), survey(), measures="unique")


@pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)
@pytest.mark.parametrize("known", [True, False])
def test_right_links_as_released_are_near_those_of_a_known_population(known):
    """Adult as the population: links of released uniques to one of those who have their keys, by chance."""
    keys = ["workclass", "education", "marital-status", "occupation", "race", "sex"]
    population = pd.read_csv(Path(os.environ["LINKRISK_DATA"]) / "uci_adult_train.csv")[keys].fillna("?")
    size = population.groupby(keys).size()
    masking = f"pram change=0.1 attributes={','.join(keys)}"
    schema = {
        "attributes": [
            *({"name": key, "role": "key", "scale": "nominal"} for key in keys),
            {"name": "weight", "role": "weight"},
        ]
    }
    true, estimated = [], []
    for seed in range(3):
        sample = population.sample(n=1628, random_state=seed).reset_index(drop=True).assign(weight=20.0)
        masked = mask(sample, masking, seed=seed + 1).table
        found = measured(sample, masked, schema, masking=[masking] if known else [])
        unique = ~masked.duplicated(keys, keep=False) & (masked[keys] == sample[keys]).all(axis=1)
        true.append((1.0 / size.reindex(pd.MultiIndex.from_frame(sample.loc[unique, keys]))).sum())
        estimated.append(found.expected_right)
    assert np.mean(estimated) == pytest.approx(np.mean(true), rel=0.2)
