"""What was changed, column by column, on a file where it can be counted by hand."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from measure_runs import pair_task

from linkrisk.solver.measures.released import ChangesOfColumns
from linkrisk.solver.run.clock import Clock

ORIGINAL = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "age": [10.0, 20.0, 30.0, 40.0],
        "sex": ["m", "f", "f", "m"],
        "town": ["X", "X", "X", "Z"],
        "left": [1.0, 2.0, 3.0, 4.0],
        "gone": [1.0, 1.0, 2.0, 3.0],
    }
)
MASKED = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "age": [12.0, 22.0, 32.0, np.nan],
        "sex": ["m", "m", "m", "m"],
        "town": ["X", "X", "X", "Z"],
        "left": [1.0, 2.0, 3.0, 4.0],
        "new": [0.0, 0.0, 0.0, 1.0],
    }
)
SCHEMA = {
    "attributes": [
        {"name": "id", "role": "record-id"},
        {"name": "age", "role": "key"},
        {"name": "sex", "role": "key", "scale": "nominal"},
        {"name": "left", "role": "key"},
        {"name": "town", "role": "ignored"},
        {"name": "new", "role": "ignored"},
        {"name": "gone", "role": "ignored"},
    ]
}


@pytest.fixture(scope="module")
def found():
    task = pair_task(ORIGINAL, MASKED, schema=SCHEMA)
    return ChangesOfColumns().take(task, Clock(None))


def test_every_column_of_both_files_is_listed_once(found):
    names = [one.column for one in found.columns]
    assert names == [*ORIGINAL.columns, "new"]
    compared = [one.column for one in found.columns if one.compared]
    assert compared == ["age", "sex", "left"]


def test_changes_are_those_that_one_counts(found):
    of = {one.column: one for one in found.columns}
    deviation = np.std([10.0, 20.0, 30.0], ddof=1)
    assert (of["age"].changed, of["age"].missing) == (1.0, 0.25)
    assert of["age"].shift == pytest.approx(2.0 / deviation)
    assert (of["sex"].changed, of["sex"].missing, of["sex"].shift) == (0.5, 0.0, None)
    assert of["sex"].most_frequent == "f to m (2 records)"
    assert (of["left"].changed, of["left"].shift) == (0.0, 0.0)
    assert of["town"].changed == 0.0
    assert of["id"].note == "names records"
    assert (of["gone"].note, of["new"].note) == ("in the original file only", "in the masked file only")
    assert of["gone"].changed is None
    assert of["age"].role == "key"


def test_what_was_left_as_it_is_is_named(found):
    assert found.unchanged == ("left",)
    assert [finding.key for finding in found.findings] == ["values_changed", "left_alone"]
    assert found.findings[0].value == pytest.approx(0.5)
    assert found.findings[1].value == 1.0
    assert "2 of 4 columns were changed, most of all age (100.0 % of the values)." in found.paragraph
    assert "left exactly as they are: left." in found.paragraph


def test_json_and_frame_have_all(found):
    read = json.loads(found.to_json())
    assert [one["column"] for one in read["columns"]] == found.to_frame()["column"].tolist()


def test_nothing_changed():
    frame = pd.DataFrame({"A": [1.0, 2.0, 3.0]})
    same = ChangesOfColumns().take(pair_task(frame, frame), Clock(None))
    assert same.paragraph == "nothing was changed in any of 1 columns."
    assert same.columns[0].shift == 0.0
