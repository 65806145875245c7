"""The benchmark of measures of risk: what it prints of population uniqueness and link reliability."""

from __future__ import annotations

import benchmark_population
import numpy as np
import pandas as pd


def test_models_of_population_uniqueness_are_printed(capsys):
    random = np.random.default_rng(1)
    frame = pd.DataFrame({name: random.integers(0, 5, 200) for name in "abc"})
    risk = benchmark_population.uniqueness("drawn", frame, ("a", "b", "c"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("population uniqueness, 3 keys, drawn: ")
    assert len(lines) == 1 + len(risk.models)


def test_link_reliability_is_printed(capsys):
    census = pd.DataFrame(np.random.default_rng(2).normal(size=(80, 3)), columns=["a", "b", "c"])
    found = benchmark_population.reliability(census)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("link reliability, 80 records: ")
    assert lines[1].strip() == found.paragraph
