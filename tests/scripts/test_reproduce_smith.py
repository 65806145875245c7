"""The script of Smith's Table 4: samples, figures within reach of the published ones, curves as points."""

from __future__ import annotations

import os
import sys

import numpy as np
import pandas as pd
import pytest
import smith as script
from smith import AGREEMENT, ClassicalLinkage

from linkrisk.datasets.microdata.schema import Schema
from linkrisk.solver.linkage.linker import LinkageTask
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic

with_data = pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)

LONG = {("dermatology", 100), ("ionosphere", 100)}
"""Cells of the table that take more than a few seconds."""

FRAME = pd.DataFrame(
    {
        "a": np.arange(20.0),
        "b": np.arange(20.0) ** 2,
        "c": np.tile([0.0, 1.0, 1.0, 0.0], 5),
        "kind": ["x", "y"] * 10,
        "e": np.arange(20.0)[::-1],
    }
)


def test_a_sample_hides_who_is_who_and_learns_from_others():
    for seed in range(5):
        task, truth = script.sampled(FRAME, 6, seed)
        first, second = task.query_attributes, task.candidate_attributes
        assert sorted(first + second) == sorted(FRAME.columns)
        assert abs(len(first) - len(second)) == 1
        assert (task.queries.index == task.candidates.index[truth.partner]).all()
        assert set(task.queries.index) | set(task.training.index) == set(range(20))
        assert len(task.training) == 14
        again, _ = script.sampled(FRAME, 6, seed)
        assert (again.candidates.index == task.candidates.index).all()
    partners = [script.sampled(FRAME, 6, seed)[1].partner.tolist() for seed in range(5)]
    assert any(partner != sorted(partner) for partner in partners)


def test_attributes_without_a_related_one_are_left_out():
    task, _ = script.sampled(script.as_numbers(FRAME), 6, 0)
    task = script.replace(task, query_attributes=("a",), candidate_attributes=("b", "c", "kind", "e"))
    assert script.related(task, 0.7) == ("b",)
    assert script.related(task, 2.0) == ("b", "c", "kind", "e")


def test_text_becomes_whole_numbers():
    assert script.as_numbers(FRAME)["kind"].tolist() == [0, 1] * 10


@with_data
def test_the_attributes_are_as_many_as_in_table_1():
    shapes = {name: script.prepared(name).shape for name in script.DATA_SETS}
    assert {name: columns for name, (_, columns) in shapes.items()} == {
        "abalone": 9, "dermatology": 35, "boston-housing": 14, "ionosphere": 34
    }  # fmt: skip
    assert shapes["dermatology"][0] == 366 - 8


@with_data
@pytest.mark.parametrize(
    ("name", "records"),
    [
        pytest.param(name, records, marks=[pytest.mark.slow] if (name, records) in LONG else [])
        for name, records in script.PUBLISHED
    ],
)
def test_at_least_85_percent_of_the_published_mean(name, records):
    repetitions = {"abalone": 30, "dermatology": 8, "boston-housing": 15, "ionosphere": 8}[name]
    found = script.outcomes(script.METHODS["Bayes"], name, records, repetitions)
    matched = np.array([each.matched for each in found])
    # So few samples know the mean up to about two standard errors; the script takes a hundred.
    error = matched.std(ddof=1) / np.sqrt(repetitions)
    assert matched.mean() + 2 * error >= 0.85 * script.PUBLISHED[name, records][-1]
    assert matched.mean() >= 0.7 * script.PUBLISHED[name, records][-1]


@with_data
def test_the_table_and_the_curves(tmp_path, monkeypatch, capsys):
    path = tmp_path / "curves.csv"
    argv = "reproduce_smith.py --repetitions 3 --data boston-housing --records 30 --points 20 --curves"
    monkeypatch.setattr(sys, "argv", [*argv.split(), str(path)])
    script.main()
    row = capsys.readouterr().out.splitlines()[-1].split("|")[1:-1]
    assert [cell.strip() for cell in row[:3]] == ["boston-housing", "30", "Bayes"]
    assert row[5].strip() == "17.79"
    assert row[-3].endswith("[0.83] ")
    assert len(row) == len(script.TITLES)
    assert all(0 < float(share) <= 1 for share in row[-2].split(","))
    points = pd.read_csv(path)
    assert list(points) == ["data", "records", "method", "pairs", "score", "recall", "precision"]
    assert set(points["method"]) == set(script.METHODS) == set(script.NAMES)
    for (_, kind), curve in points.groupby(["method", "pairs"]):
        assert kind in {"all pairs", "single claims"}
        assert len(curve) <= 20
        assert curve["recall"].is_monotonic_increasing
        assert curve["score"].is_monotonic_decreasing
        assert curve["recall"].iloc[-1] == 1.0
    # No worse than claiming all pairs, of which one in thirty is right: the paper's broken line.
    bayes = points[points["method"] == "Bayes"]
    assert bayes["precision"].min() >= 1 / 30


def test_weights_fall_from_equal_values_on():
    """m and u are those of agreement within 0.05; the weight is a straight line from 0 to 1."""
    values = np.linspace(0.0, 1.0, 11)
    frame = pd.DataFrame({"r": values})
    task = LinkageTask(frame, frame, ("r",), ("r",), Schema.from_frame(frame), bijection=True)
    learned = ClassicalLinkage().learn(task)
    cut = Probabilistic(compare=(("r", AGREEMENT),)).learn(task)
    (row,), (plain,) = (each.parameters["attributes"] for each in (learned, cut))
    assert (row["m"], row["u"]) == (plain["m"], plain["u"])
    disagree, agree = plain["weights"]
    expected = agree + (disagree - agree) * np.abs(values[:, None] - values)
    np.testing.assert_allclose(learned.scores(np.arange(11)), expected, atol=1e-9)
