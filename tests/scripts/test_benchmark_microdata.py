"""The benchmark of masking: both ways of MDAV are timed on the same points, and a difference is an error."""

from __future__ import annotations

import microdata
import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.masking.base import standardised


@pytest.fixture
def points():
    return standardised(np.random.default_rng(5).normal(size=(300, 3)))


def test_both_ways_are_timed(points, capsys):
    assert microdata.mdav(points, plain=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines] == ["indexed", "plain"]
    assert all(line.startswith("    300 records   3 attributes") for line in lines)


def test_another_grouping_is_an_error(points, capsys, monkeypatch):
    monkeypatch.setattr(microdata, "indexed_partition", lambda points, _: [np.arange(len(points))])
    assert not microdata.mdav(points, plain=True)
    assert capsys.readouterr().out.endswith("the groups differ\n")


def test_drawn_records_are_like_those_drawn_from():
    census = pd.DataFrame(np.random.default_rng(6).normal(5, 2, size=(400, 2)), columns=["a", "b"])
    drawn = microdata.resampled(census, 5000)
    assert len(np.unique(drawn, axis=0)) == 5000
    np.testing.assert_allclose(drawn.mean(axis=0), census.mean(), atol=0.2)
    np.testing.assert_allclose(drawn.std(axis=0), census.std() * np.sqrt(1.04), rtol=0.05)
