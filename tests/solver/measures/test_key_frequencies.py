"""Frequencies of keys: the tables of the IHSN's guide, and counting by definition on small files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from key_tasks import GUIDE_KEYS, key_file, practice_guide

from linkrisk.solver.measures import keys as frequencies
from linkrisk.solver.measures.keys import MISSING, column_codes, groups_of, sums, wildcard_sums

small_codes = st.tuples(st.integers(1, 12), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(MISSING, 2))
)


def test_the_guide_counts_who_shares_a_key():
    """Tables 4.1: f_k, and the sums of weights F_k."""
    file = practice_guide()
    groups = groups_of(key_file(file[GUIDE_KEYS]).codes)
    assert sums(groups).tolist() == [2, 2, 1, 2, 1, 2, 1, 1, 2, 2]
    weighted = sums(groups, file["weight"].to_numpy(float))
    assert weighted.tolist() == [360, 360, 215, 152, 186, 152, 180, 215, 262, 262]


def test_a_missing_value_fits_any_as_in_the_guide():
    """Table 4.2."""
    file = pd.DataFrame(
        {
            "gender": ["Male"] * 3,
            "education": ["Secondary complete", "Secondary incomplete", None],
            "labor": ["Employed"] * 3,
        }
    )
    codes = key_file(file).codes
    assert sums(groups_of(codes)).tolist() == [1, 1, 1]
    fitting = wildcard_sums(codes, (None,))
    assert fitting is not None
    assert fitting[0].tolist() == [2, 2, 3]


@given(small_codes)
def test_frequencies_are_those_of_the_definition(codes):
    weight = np.arange(1.0, len(codes) + 1.0)
    same = (codes[:, None] == codes[None]).all(axis=2)
    groups = groups_of(codes)
    assert np.array_equal(sums(groups), same.sum(axis=1))
    assert np.array_equal(sums(groups, weight), same @ weight)
    fits = ((codes[:, None] == codes[None]) | (codes[:, None] == MISSING) | (codes[None] == MISSING)).all(
        axis=2
    )
    found = wildcard_sums(codes, (None, weight))
    assert found is not None
    assert np.array_equal(found[0], fits.sum(axis=1))
    assert np.array_equal(found[1], fits @ weight)


def test_too_many_patterns_of_missing_values_are_not_counted(monkeypatch):
    monkeypatch.setattr(frequencies, "MOST_WORK", 3)
    assert wildcard_sums(np.array([[0, 1], [MISSING, 1]]), (None,)) is None
    assert wildcard_sums(np.array([[0, 1], [1, 1]]), (None,)) is not None


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1.0, 1, 2, None]),
        pd.Series(["a", "a", "b", None]),
        pd.Series([1, 1, 2, None], dtype="Int64"),
    ],
)
def test_columns_of_any_kind_become_codes(column):
    assert column_codes(column).tolist() == [0, 0, 1, MISSING]
    assert column_codes(column.astype("category")).tolist() == [0, 0, 1, MISSING]
