"""The benchmark of linkers: what its parts print, and what becomes of missing data."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest
from linkers import accuracy, bayes, drawn_categories, errors, febrl4, prl_size


def test_sizes_are_measured():
    lines = list(prl_size(300, 6))
    assert lines[0] == "300 x 300 records, 6 attributes: categories compared by equality"
    assert any("numbers compared as usual" in line for line in lines)
    assert sum("counting and EM" in line for line in lines) == 2
    linked = [int(line.split(": ")[1].split()[0]) for line in lines if line.endswith("linked")]
    assert all(number > 150 for number in linked)


def test_drawn_categories_agree_as_often_as_they_should():
    first, second = drawn_categories(4000, 7)
    agree = [
        float((first[name] == second[name])[first[name].notna() & second[name].notna()].mean())
        for name in first
    ]
    assert errors({"attributes": [{"m": [1 - m, m], "u": [0, 0]} for m in agree]})[0] < 0.02


def test_accuracy_counts_claims_only():
    assert accuracy(np.array([0, -1, 1]), np.array([0, 1, 2])) == "1 of 3 links found, precision 0.5000"


def test_missing_files_are_said(tmp_path):
    assert next(febrl4(tmp_path, sys.executable)).startswith("left out: no febrl4a.csv")


@pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)
def test_bayes_prints_its_seconds_and_links():
    title, times, linked = bayes(records=100, samples=2)
    assert title.startswith("100 x 100 records of ionosphere, 34 attributes, 2 samples")
    learning, scoring = (float(word) for word in times.split() if word[0].isdigit())
    assert learning > 0
    assert scoring > 0
    assert float(linked.split()[1]) > 5
