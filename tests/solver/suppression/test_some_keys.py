"""Recount of all combinations of at most D keys, against counts of pandas."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk import suppress
from linkrisk.formulations.errors import FormulationError
from linkrisk.solver.run.errors import UsageError

KEYS = list("abcd")


def least_frequent(frame, dimension, *, anything):
    """How many records the rarest combination of a record has."""
    least = len(frame)
    for size in range(1, dimension + 1):
        for some in map(list, combinations(KEYS, size)):
            part = frame[some]
            if anything:
                codes = part.fillna(-1).to_numpy(dtype=int)
                like = [((codes == row) | (codes < 0) | (row < 0)).all(axis=1).sum() for row in codes]
                least = min(least, *like)
            else:
                least = min(least, int(part.groupby(some, dropna=False).size().min()))
    return least


@pytest.mark.parametrize("missing", ["own-category", "matches-anything"])
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), k=st.integers(2, 4), dimension=st.integers(1, 3))
def test_every_combination_of_so_many_keys_has_k_records(missing, seed, k, dimension):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.integers(0, 4, (25, 4)), columns=KEYS).astype("Int64")
    frame = frame.mask(random.random(frame.shape) < 0.05)
    found = suppress(
        frame, keys=KEYS, k=k, dimension=dimension, problem="recount", missing=missing, time_limit=None
    )
    assert least_frequent(found.table, dimension, anything=missing != "own-category") >= k
    assert found.recounted == 0
    gone = found.table.isna() & frame.notna()
    assert found.cells == int(gone.to_numpy().sum())
    assert found.table.mask(gone, frame).equals(frame)
    assert found.bound <= found.cost
    assert found.proven == (found.bound == found.cost)


def test_parts_of_a_file_that_has_k_of_the_largest_sets_only():
    """Pairs of keys are what is asked: all four would cost more."""
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 3, (60, 4)), columns=KEYS)
    pairs = suppress(frame, keys=KEYS, k=3, dimension=2, problem="recount")
    everything = suppress(frame, keys=KEYS, k=3, problem="recount", time_limit=5)
    assert pairs.cells < everything.cells
    same = suppress(frame, keys=KEYS, k=3, dimension=4, problem="recount", time_limit=5)
    assert same.recounted == 0
    assert same.details["dimension"] == 4


def test_a_threshold_for_all_tables_may_be_said_as_k():
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 3, (60, 4)), columns=KEYS)
    asked = suppress(frame, keys=KEYS, k=3, dimension=2, missing="safe")
    said = suppress(frame, keys=KEYS, dimension=2, threshold=2)
    assert asked.table.equals(said.table)


def test_what_is_refused():
    frame = pd.DataFrame({"a": [1, 1, 2], "b": [1, 1, 2]})
    with pytest.raises(FormulationError, match="fewer than 5 records"):
        suppress(frame, keys=["a", "b"], k=5, dimension=1, problem="recount")
    with pytest.raises(FormulationError, match="not to be touched"):
        suppress(frame, keys=["a", "b"], k=2, dimension=1, problem="recount", untouched=["a"])
    with pytest.raises(UsageError, match="'joint' is about all key variables: leave the dimension out"):
        suppress(frame, keys=["a", "b"], k=2, dimension=1, problem="joint")
