"""Fields of measures as JSON: arrays and frames at once, as each of their values by itself."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from linkrisk.solver.measures.base import jsonable
from linkrisk.solver.run.results import plain

FLOATS = [0.5, -0.0, 3.0, np.nan, np.inf, -np.inf, 1e300, 2.0**70, -7.0, 1e-9]


@pytest.mark.parametrize(
    "values",
    [
        np.array(FLOATS),
        np.array([0.5, np.nan, 3.0, -np.inf], dtype=np.float32),
        np.array(FLOATS).reshape(5, 2),
        np.array([0.25, 0.5]),
        np.array([1.0, 2.0]),
        np.array([], dtype=np.float64),
        np.arange(6).reshape(2, 3),
        np.array([True, False]),
        np.array(4.0),
        np.array(["a", None, 2.0], dtype=object),
    ],
)
def test_an_array_is_written_as_each_of_its_values(values):
    def each(value):
        return [each(one) for one in value] if isinstance(value, list) else plain(value)

    found = jsonable(values)
    assert found == each(values.tolist())
    assert json.dumps(found, allow_nan=False) == json.dumps(each(values.tolist()), allow_nan=False)


def test_a_frame_is_written_as_each_of_its_cells():
    frame = pd.DataFrame(
        {
            "a": [1.0, np.nan],
            "b": pd.array([1, None], dtype="Int64"),
            "c": ["x", None],
            "d": [True, False],
        }
    )
    assert jsonable(frame) == {
        "columns": ["a", "b", "c", "d"],
        "rows": [[1, 1, "x", True], [None, None, None, False]],
    }
