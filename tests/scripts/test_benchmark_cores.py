"""The benchmark of core finders runs, and both find cores."""

from __future__ import annotations

import re
import sys

import cores
import numpy as np
import pandas as pd
import pytest


@pytest.mark.parametrize("aggregator", ["choquet", "weighted-mean"])
def test_both_finders_are_measured(aggregator, tmp_path, monkeypatch, capsys):
    random = np.random.default_rng(3)
    original = random.normal(size=(40, 3))
    for side, values in (("original", original), ("masked", original + random.normal(size=(40, 3)))):
        pd.DataFrame(values, columns=["A", "B", "C"]).to_csv(tmp_path / f"own_{side}.csv", index=False)
    arguments = ["--pairs", str(tmp_path), "--pair", "own", "--aggregator", aggregator, "--seconds", "0.3"]
    monkeypatch.setattr(sys, "argv", ["cores.py", *arguments])
    cores.main()
    first, second, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith(f"own, original-to-masked, {aggregator}: ")
    assert int(second.split()[0]) > 0
    shape = r"  (\w+) +(\d+) cores +[\d.]+ ms each, of [\d.]+ blocks and [\d.]+ when shrunk; .*"
    found = [re.fullmatch(shape, line).groups() for line in lines]
    assert [name for name, _ in found] == ["LinearCoreFinder", "PolytopeCoreFinder"]
    assert all(int(cores) > 0 for _, cores in found)
