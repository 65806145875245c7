"""Suppression by a threshold of individual risk."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk import suppress, unsafe
from linkrisk.formulations.suppression.posterior_risk import posterior_risk

DATA = os.environ.get("LINKRISK_DATA")
KEYS = ["a", "b", "c"]
rows = st.tuples(*[st.integers(0, 1)] * 3, st.integers(1, 40))


def risk_of(frame, part):
    groups = frame.groupby(list(part))["w"]
    f, total = groups.transform("size").to_numpy(float), groups.transform("sum").to_numpy(float)
    return posterior_risk(f, total)


@settings(max_examples=30, deadline=None)
@given(records=st.lists(rows, min_size=1, max_size=9), threshold=st.sampled_from([0.05, 0.1, 0.2, 0.5]))
def test_the_fewest_values_by_the_definition(records, threshold):
    """Every part of a record that is riskier loses a value, and no fewer values would do."""
    frame = pd.DataFrame(records, columns=[*KEYS, "w"])
    parts = [part for size in (1, 2, 3) for part in combinations(KEYS, size)]
    risky = {part: risk_of(frame, part) > threshold for part in parts}
    fewest = 0
    for row in range(len(frame)):
        sets = [part for part in parts if risky[part][row]]
        fewest += next(
            size
            for size in range(4)
            for some in combinations(KEYS, size)
            if all(set(some) & set(part) for part in sets)
        )
    result = suppress(frame, keys=KEYS, risk=threshold, weight="w")
    assert (result.cells, result.bound, result.proven, result.recounted) == (fewest, fewest, True, 0)
    assert result.unsafe == int(np.any(list(risky.values()), axis=0).sum())


def test_without_weights_the_file_is_the_population():
    """The risk is 1/f, so that riskier than 1/3 is fewer than three."""
    frame = pd.DataFrame({"a": [1, 1, 1, 2, 2, 3], "b": list("xxxyyz")})
    by_risk = suppress(frame, keys=["a", "b"], risk=0.34)
    by_count = suppress(frame, keys=["a", "b"], k=3, missing="safe")
    assert by_risk.table.equals(by_count.table)
    assert unsafe(frame, keys=["a", "b"], risk=0.34).to_dict()["risk"] == 0.34


@pytest.mark.skipif(DATA is None, reason="needs public data: set LINKRISK_DATA to its folder")
def test_francdat():
    """Records of the published example: riskier than 0.1 are those whose published risk is."""
    frame = pd.read_csv(Path(str(DATA)) / "casc_francdat.csv")
    keys = ["Key1", "Key2", "Key3", "Key4"]
    counts = unsafe(frame, keys=keys, risk=0.01, weight="w")
    result = suppress(frame, keys=keys, risk=0.01, weight="w")
    assert (result.proven, result.recounted) == (True, 0)
    assert counts.checked[0].records == int((risk_of(frame, keys) > 0.01).sum()) > 0
