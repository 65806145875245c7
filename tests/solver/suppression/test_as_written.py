"""Gaps and codes that are declared missing: every count of k-anonymity tells them apart, as readers do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from linkrisk import mask, risk, suppress, unsafe
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.hierarchies import Hierarchy

KEYS = ["town", "status"]
CODED = {
    "attributes": [
        {"name": "town", "role": "key", "scale": "nominal"},
        {"name": "status", "role": "key", "scale": "nominal", "missing": ["-1", "-2"]},
    ]
}


def towns():
    """The only A with status 2 finds like records where it loses its status, and another one does."""
    rows = [*[("A", 1)] * 2, *[("A", -1)] * 3, ("A", 2), *[("B", 1)] * 2, *[("B", 2)] * 2, *[("B", -1)] * 2]
    return pd.DataFrame(rows, columns=KEYS).astype({"status": str})


def survey(tmp_path):
    """An SPSS file with two missing codes and gaps."""
    random, n = np.random.default_rng(2), 200
    status = random.choice([1.0, 2.0, -1.0, -2.0, np.nan], n, p=[0.4, 0.3, 0.1, 0.1, 0.1])
    frame = pd.DataFrame({"town": random.integers(1, 9, n).astype(float), "status": status})
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(frame, path, missing_ranges={"status": [-1, -2]})
    return frame, str(path)


def rare(frame, k, keys=KEYS):
    """What a reader of the file counts, who sees a gap and every code."""
    size = frame.astype(object).fillna("gap").groupby(keys)[keys[0]].transform("size")
    return int((size < k).sum())


@pytest.mark.parametrize("problem", ["recount", "joint"])
def test_a_gap_is_not_a_declared_code(problem, tmp_path):
    frame = towns()
    frame.to_csv(tmp_path / "towns.csv", index=False)
    hierarchy = Hierarchy("status", (("1", "2"), ("any", "any")))
    more = {"hierarchies": [hierarchy], "untouched": ["town"]} if problem == "joint" else {}
    found = suppress(str(tmp_path / "towns.csv"), schema=CODED, k=2, problem=problem, **more)
    found.write(tmp_path / "safe.csv")
    assert (found.cells, found.proven, found.recounted, found.after["own-category"]) == (2, True, 0, 0)
    assert rare(pd.read_csv(tmp_path / "safe.csv"), 2) == 0


def test_declared_codes_stay_at_every_level():
    frame = pd.DataFrame({"town": ["A"] * 8, "status": [*"1234", "-1", "-1", "-2", "-2"]})
    hierarchy = Hierarchy("status", (("1", "2", "3", "4"), ("low", "low", "high", "high")))
    found = suppress(frame, schema=CODED, k=2, problem="joint", hierarchies=[hierarchy])
    assert found.levels == {"town": 0, "status": 1}
    assert found.table.status.tolist() == ["low", "low", "high", "high", "-1", "-1", "-2", "-2"]
    at = unsafe(frame, schema=CODED, k=2, hierarchies=[hierarchy]).levels
    assert [(one.variable, one.level, one.records) for one in at] == [("status", 0, 4), ("status", 1, 0)]


@pytest.mark.parametrize("missing", ["own-category", "matches-anything"])
def test_the_codes_of_an_spss_file(tmp_path, missing):
    frame, path = survey(tmp_path)
    found = suppress(path, keys=KEYS, k=3, problem="recount", missing=missing, time_limit=None)
    found.write(tmp_path / "safe.sav")
    safe, meta = pyreadstat.read_sav(tmp_path / "safe.sav", user_missing=True)
    assert meta.missing_ranges["status"] == [{"lo": -1.0, "hi": -1.0}, {"lo": -2.0, "hi": -2.0}]
    gone = safe.isna() & frame.notna()
    assert int(gone.to_numpy().sum()) == found.cells
    assert safe.mask(gone, frame).equals(frame)
    if missing == "own-category":
        assert rare(frame, 3) > rare(safe, 3) == 0
        assert unsafe(path, keys=KEYS, k=3).before.records == rare(frame, 3)
    else:
        like = [((safe == row) | safe.isna() | row.isna()).all(axis=1).sum() for _, row in safe.iterrows()]
        assert min(like) >= 3


def test_measures_of_keys_count_codes_as_they_are_written(tmp_path):
    frame, path = survey(tmp_path)
    measured = risk(
        path, path, row_by_row=True, nominal=KEYS,
        measures="uniqueness", aggregator="weighted-mean", work_limit=1,
    )["uniqueness"]  # fmt: skip
    size = frame.fillna(99.0).groupby(KEYS)["town"].transform("size").to_numpy()
    np.testing.assert_array_equal(measured.to_frame().frequency.to_numpy(), size)


def test_local_suppression_of_an_spss_file_may_take_a_code_out(tmp_path):
    frame, path = survey(tmp_path)
    made = mask(path, "local-suppression k=4 attributes=town,status importance=town").table
    assert ((made == frame) | made.isna()).to_numpy().all()
    like = [((made == row) | made.isna() | row.isna()).all(axis=1).sum() for _, row in made.iterrows()]
    assert min(like) >= 4
    assert (made.status.isna() & (frame.status < 0)).any()


# A code that is written


@pytest.mark.parametrize(("code", "cells"), [("-1", 1), ("-9", 2), ("ZZ", 2)])
def test_what_is_taken_out_can_be_written_as_a_code(code, cells, tmp_path):
    towns().to_csv(tmp_path / "towns.csv", index=False)
    path = str(tmp_path / "towns.csv")
    found = suppress(path, schema=CODED, k=2, problem="recount", missing=f"code={code}")
    found.write(tmp_path / "safe.csv")
    safe = pd.read_csv(tmp_path / "safe.csv", dtype=str)
    assert (found.cells, found.proven, found.recounted) == (cells, True, 0)
    assert (safe.status == code).sum() == (towns().status == code).sum() + cells
    assert not safe.isna().any(axis=None)
    assert rare(safe, 2) == 0


def test_a_gap_is_a_category_beside_the_code():
    """The gap of the input is alone, and its record is alike to others once it is the code."""
    frame = pd.DataFrame({"a": [1.0, 1.0, 9.0, 9.0, np.nan]})
    found = suppress(frame, keys=["a"], k=2, problem="recount", missing="code=9")
    assert found.table["a"].tolist() == [1.0, 1.0, 9.0, 9.0, 9.0]
    assert (found.cells, found.recounted) == (1, 0)


def test_a_column_of_numbers_takes_no_other_code():
    frame = pd.DataFrame({"a": [1, 1, 2]})
    with pytest.raises(DataError, match="column 'a' has numbers, and no place for the code 'X': give one"):
        suppress(frame, keys=["a"], k=2, problem="recount", missing="code=X")
