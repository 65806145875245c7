"""The benchmark of measures: what it prints for a few records of keys."""

from __future__ import annotations

import os

import pytest
from benchmark_risk import KEY_MEASURES, adult, key_measure, one_key_measure

pytestmark = pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)


def test_adult_has_its_complete_records():
    """As the README of the data says."""
    file = adult()
    assert len(file) == 30_162
    assert key_measure("uniqueness", file).endswith(" sample uniques")
    assert adult(50).equals(adult(50))
    assert adult(50, apart=True).shape == adult(50).shape


@pytest.mark.parametrize("name", KEY_MEASURES)
def test_every_measure_is_printed(name, capsys):
    one_key_measure(name, 300)
    line = capsys.readouterr().out
    assert line.split()[:2] == [name, "300"]
