"""The benchmark of measures: what it prints for a few records."""

from __future__ import annotations

import os

import measures
import numpy as np
import pandas as pd
import pytest
from measures import KEY_MEASURES, adult, key_measure, one_key_measure

with_data = pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)


@with_data
def test_adult_has_its_complete_records():
    """As the README of the data says."""
    file = adult()
    assert len(file) == 30_162
    assert key_measure("uniqueness", file).endswith(" sample uniques")
    assert adult(50).equals(adult(50))
    assert adult(50, apart=True).shape == adult(50).shape


@with_data
@pytest.mark.parametrize("name", KEY_MEASURES)
def test_every_measure_is_printed(name):
    assert one_key_measure(name, 300).split()[:2] == [name, "300"]


def test_models_of_population_uniqueness_are_printed(capsys):
    random = np.random.default_rng(1)
    frame = pd.DataFrame({name: random.integers(0, 5, 200) for name in "abc"})
    risk = measures.uniqueness("drawn", frame, ("a", "b", "c"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("population uniqueness, 3 keys, drawn: ")
    assert len(lines) == 1 + len(risk.models)


def test_link_reliability_is_printed(capsys):
    census = pd.DataFrame(np.random.default_rng(2).normal(size=(80, 3)), columns=["a", "b", "c"])
    found = measures.reliability(census)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("link reliability, 80 records: ")
    assert lines[1].strip() == found.paragraph
