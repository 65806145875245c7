"""The linker bayes: categories, learning, restored parameters, and bad input."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refusal

from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.solver.linkage import bayesian as linker_module
from linkrisk.solver.linkage.bayesian import Bayesian, estimated_match_share
from linkrisk.solver.linkage.bayesian_parameters import (
    UNKNOWN,
    Intervals,
    Labels,
    equal_frequency,
    learn_categories,
    read_categories,
)
from linkrisk.solver.linkage.judging import judge, most_probable_claim
from linkrisk.solver.linkage.linker import LinkageTask, Truth
from linkrisk.solver.run.errors import UsageError

quick = settings(max_examples=100, deadline=None, derandomize=True)
numbers = st.lists(st.integers(-20, 20), min_size=1, max_size=40).map(lambda v: np.array(v, dtype=float))


@quick
@given(numbers, st.integers(2, 9))
def test_classes_by_their_properties(values, classes):
    cuts = equal_frequency(values, classes)
    distinct = np.unique(values)
    assert list(cuts) == sorted(set(cuts))
    codes = Intervals(cuts).codes(pd.Series(values))
    # Every class has a record, equal values share one, and the order stays.
    assert set(codes) == set(range(len(cuts) + 1))
    assert len(cuts) + 1 <= classes
    for value in distinct:
        assert len(set(codes[values == value])) == 1
    assert (np.diff(codes[np.argsort(values)]) >= 0).all()
    if distinct.size <= classes:
        assert len(cuts) + 1 == distinct.size


@quick
@given(numbers, st.integers(2, 9), st.floats(-30, 30))
def test_an_unseen_number_falls_into_the_class_of_the_nearest(values, classes, unseen):
    made = Intervals(equal_frequency(values, classes))
    apart = np.abs(values - unseen)
    nearest = values[apart == apart.min()]
    assert made.codes(pd.Series([unseen]))[0] in made.codes(pd.Series(nearest))


def test_numbers_next_to_each_other_are_kept_apart():
    for low, high in ((1.0, np.nextafter(1.0, 2.0)), (-1e308, 1.7e308), (5e-324, 1e-323)):
        made = learn_categories(pd.Series([low, high]), Scale.NUMERIC, 8)
        assert made.codes(pd.Series([low, high])).tolist() == [0, 1]


@pytest.mark.parametrize("scale", [Scale.NOMINAL, Scale.ORDINAL])
def test_missing_and_unseen_values_are_unknown(scale):
    made = learn_categories(pd.Series(["b", "a", "b"]), scale, 8)
    assert (made, made.size) == (Labels(("a", "b")), 2)
    column = pd.Series(["b", None, "c", "a"], dtype=object)
    assert made.codes(column).tolist() == [1, UNKNOWN, UNKNOWN, 0]
    numbers = Intervals((0.5,))
    assert numbers.codes(pd.Series([0.0, np.nan, 1.0])).tolist() == [0, UNKNOWN, 1]
    assert numbers.codes(pd.Series([0, None, 1], dtype="Int64")).tolist() == [0, UNKNOWN, 1]


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"cuts": [2.0, 1.0]},
        {"cuts": ["1"]},
        {"cuts": [1.0], "categories": ["a"]},
        {"categories": ["a", "a"]},
    ],
)
def test_what_is_no_json_of_categories(entry):
    assert refusal(lambda: read_categories(entry, "age")) == (
        'parameters of bayes: attribute \'age\' needs ascending "cuts" or different "categories"; '
        "use parameters as they were written"
    )


ROWS = np.arange(40)


def people(records, seed):
    """Four numbers and a colour that share one hidden number."""
    random = np.random.default_rng(seed)
    hidden = random.normal(size=records)
    frame = pd.DataFrame({name: hidden + 0.3 * random.normal(size=records) for name in "abcd"})
    shade = np.digitize(hidden + 0.3 * random.normal(size=records), [-0.5, 0.5])
    return frame.assign(colour=np.array(["red", "green", "blue"])[shade])


SCHEMA = Schema(
    (
        *(Attribute(name, scale=Scale.NUMERIC) for name in "abcd"),
        Attribute("colour", scale=Scale.NOMINAL, categories=("blue", "green", "red", "white")),
    )
)


def task_of(**changes):
    attacked = people(40, 1)
    given = LinkageTask(
        queries=attacked[["a", "b"]],
        candidates=attacked[["c", "d", "colour"]].iloc[::-1],
        query_attributes=("a", "b"),
        candidate_attributes=("c", "d", "colour"),
        schema=SCHEMA,
        bijection=True,
        training=people(400, 2),
    )
    return replace(given, **changes)


TRUTH = Truth.of(ROWS[::-1].copy(), 40)


def test_part_of_the_attributes_can_be_used_later():
    learned = Bayesian().learn(task_of())
    fewer = Bayesian.restored(learned.parameters, task_of(candidate_attributes=("colour",)))
    blind = task_of()
    blind = replace(blind, candidates=blind.candidates.assign(c=np.nan, d=np.nan))
    unseen = Bayesian.restored(learned.parameters, blind)
    np.testing.assert_array_equal(fewer.scores(ROWS), unseen.scores(ROWS))


def test_missing_and_unseen_values_are_no_evidence():
    task = task_of()
    queries = task.queries.copy()
    queries.loc[0] = np.nan
    colours = task.candidates["colour"].to_list()
    white, missing = (task.candidates.assign(colour=[colour, *colours[1:]]) for colour in ("white", None))
    learned = Bayesian().learn(replace(task, queries=queries, candidates=white))
    assert (learned.scores(ROWS)[0] == 0.0).all()
    assert learned.notes == ("1 values of 'colour' are in no training record and count as missing",)
    same = Bayesian().learn(replace(task, queries=queries, candidates=missing))
    np.testing.assert_array_equal(learned.scores(ROWS), same.scores(ROWS))
    assert same.notes == ()


def test_independent_files_score_zero_and_say_so():
    random = np.random.default_rng(4)
    training = people(400, 2).assign(c=random.normal(size=400), d=random.normal(size=400))
    learned = Bayesian().learn(task_of(training=training, candidate_attributes=("c", "d"), bijection=False))
    assert (learned.scores(ROWS) == 0.0).all()
    assert learned.match_share == 0.0
    assert learned.notes == (
        "no attribute of one file depends on any of the other: all pairs score alike",
        "the estimate of the share of matches is 0, an end of its range",
    )
    assert judge(learned, TRUTH).count == 0


def test_training_records_with_missing_values_are_left_out():
    training = people(400, 2)
    holes = training.copy()
    holes.loc[:9, "a"] = np.nan
    holes.loc[5:14, "colour"] = None
    with_holes = Bayesian().learn(task_of(training=holes))
    without = Bayesian().learn(task_of(training=training.iloc[15:]))
    assert with_holes.parameters == without.parameters
    assert with_holes.notes == ("15 training records with missing values were left out",)


def test_the_share_of_matches_is_estimated_from_all_pairs_unless_it_is_known(monkeypatch):
    learned = Bayesian().learn(task_of(bijection=False))
    assert learned.match_share == estimated_match_share(learned.scores(ROWS))
    assert 1 / 120 < learned.match_share < 1 / 15
    assert Bayesian(match_share=0.3).learn(task_of()).match_share == 0.3
    monkeypatch.setattr(linker_module, "_MOST_PAIRS", 800)
    part = Bayesian().learn(task_of(bijection=False))
    rows = np.sort(np.random.default_rng(0).choice(40, size=20, replace=False))
    assert part.match_share == estimated_match_share(learned.scores(rows))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"classes": 1}, "classes is 1; a numeric attribute needs at least 2"),
        ({"prior_weight": 0.0}, "prior_weight is 0; it must be above 0"),
        ({"match_share": 1.0}, "match_share is 1; it must be between 0 and 1"),
    ],
)
def test_bad_settings(settings, message):
    assert refusal(lambda: Bayesian(**settings)) == message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training": None}, "bayes learns from records of which all attributes are known: give training"),
        ({"training": people(20, 1).drop(columns="d")}, "the training records have no attribute 'd'; they"),
        ({"training": people(20, 1).assign(b="many")}, "the training records have text in 'b', which is"),
        (
            {"training": people(20, 1).assign(b=[1.0] + [np.nan] * 19)},
            "1 of 20 training records have no missing value; bayes needs at least two",
        ),
        ({"candidate_attributes": ("c", "b")}, "bayes links files without attributes in common, and both"),
        ({"query_attributes": ()}, "bayes needs at least one attribute of each file"),
    ],
)
def test_bad_tasks(changes, message):
    assert refusal(lambda: Bayesian().learn(task_of(**changes))).startswith(message)


def broken(**changes):
    parameters = json.loads(json.dumps(Bayesian(classes=2).learn(task_of()).parameters))
    parameters.update(changes)
    return parameters


def with_clique(at=0, **changes):
    parameters = broken()
    parameters["cliques"][at].update(changes)
    return parameters


def table_of(*names):
    return {"attributes": list(names), "cells": [0], "counts": [400]}


NOT_SOUND = "a clique has no valid table of counts"
NOT_A_GRAPH = "the cliques are not those of a decomposable graph"
DISAGREE = "two cliques do not agree on what they share"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: broken(p=None), '"p" is missing or of the wrong type'),
        (lambda: broken(p=1.5), '"p" is 1.5, which is not a probability'),
        (lambda: broken(prior_weight=-1), '"prior_weight" is -1, but must be above 0'),
        (lambda: broken(attributes=[]), '"attributes" is missing or of the wrong type'),
        (lambda: broken(cliques=[]), NOT_A_GRAPH),
        (lambda: broken(cliques=[*broken()["cliques"], table_of("a")]), NOT_A_GRAPH),
        (lambda: broken(cliques=[table_of(*pair) for pair in ("ab", "bc", "cd", "da")]), NOT_SOUND),
        (lambda: broken(cliques=[table_of(*pair) for pair in ("ab", "bc", "cd", "ad")]), NOT_A_GRAPH),
        (lambda: with_clique(attributes=["a", "z"]), NOT_SOUND),
        (lambda: with_clique(cells=[0, 0], counts=[1, 1]), NOT_SOUND),
        (lambda: with_clique(cells=[99], counts=[1]), NOT_SOUND),
        (lambda: with_clique(at=-1, cells=[0], counts=[400]), DISAGREE),
        (lambda: with_clique(at=-1, cells=[0], counts=[7]), DISAGREE),
    ],
)
def test_bad_parameters(make, message):
    assert (
        refusal(lambda: Bayesian.restored(make(), task_of()))
        == f"parameters of bayes: {message}; use parameters as they were written"
    )


def test_parameters_of_other_attributes():
    parameters = Bayesian().learn(task_of(candidate_attributes=("c", "d"))).parameters
    with pytest.raises(UsageError, match="nothing was learned about 'colour'; leave it out"):
        Bayesian.restored(parameters, task_of())


def test_it_links_more_than_chance_and_comes_back_from_json():
    learned = Bayesian(classes=5, prior_weight=2.5).learn(task_of())
    scores = learned.scores(ROWS)
    assert np.isfinite(scores).all()
    assert learned.notes == ()
    assert judge(learned, TRUTH).rank.mean() < 10
    assert learned.parameters["p"] == learned.match_share == 1 / 40
    claim = most_probable_claim(learned, TRUTH)
    assert claim.probability == pytest.approx(2**claim.score / 40 / (2**claim.score / 40 + 39 / 40), rel=1e-9)
    parameters = json.loads(json.dumps(learned.parameters))
    restored = Bayesian.restored(parameters, task_of(training=None, bijection=False))
    np.testing.assert_array_equal(restored.scores(ROWS), scores)
    assert (restored.parameters, restored.match_share) == (learned.parameters, learned.match_share)
