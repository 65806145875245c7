"""PRAM: draws as its matrices say, matrices that keep expected frequencies, matrices in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.pram import (
    Pram,
    even_matrix,
    invariant_matrix,
    rarest_matrix,
)
from linkrisk.datasets.masking.transition_matrix import TransitionMatrix

FRAME = pd.DataFrame({"size": ["small", "huge", "large"], "town": ["a", "b", "a"], "age": [3, 1, 4]})


def test_pram_without_change_and_with_certain_change():
    pd.testing.assert_frame_equal(Pram(change=0, attributes=("town", "size")).apply(FRAME, 3), FRAME)
    swapped = Pram(change=1).apply(pd.DataFrame({"x": ["p", "q", "q"]}))
    assert swapped["x"].to_list() == ["q", "p", "p"]


def test_pram_draws_as_the_matrix_says():
    matrix = np.array([[0.5, 0.3, 0.2], [0.0, 1.0, 0.0], [0.1, 0.0, 0.9]])
    many = pd.DataFrame({"x": ["a"] * 20000 + ["b"] * 100 + ["c"] * 20000})
    method = Pram(matrix=(TransitionMatrix("x", ("a", "b", "c"), matrix),))
    masked = method.apply(many, 5)["x"]
    for first, last, row in ((0, 20000, matrix[0]), (20000, 20100, matrix[1]), (20100, 40100, matrix[2])):
        share = masked.iloc[first:last].value_counts(normalize=True).reindex(list("abc"), fill_value=0.0)
        assert np.abs(share.to_numpy() - row).max() < 4 * np.sqrt(0.25 / (last - first))
        assert (share.to_numpy()[row == 0] == 0).all()
    assert np.array_equal(method.recodings(many)["x"].possible, matrix > 0)
    assert method.describe(many) == "PRAM by given matrices of x"


@pytest.mark.parametrize("how", [{"change": 0.9}, {"theta": 1.0}, {"change": 0.5, "invariant": True}])
def test_a_column_without_any_value_stays_so(how):
    frame = pd.DataFrame({"a": [None, None, None], "b": ["x", "y", "x"]}, dtype=object)
    masked = Pram(attributes=("a", "b"), **how).apply(frame, 1)
    assert masked["a"].isna().all()
    assert set(masked["b"]) <= {"x", "y"}


def test_a_matrix_may_know_more_categories_in_another_order():
    matrix = np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    method = Pram(matrix=(TransitionMatrix("x", ("c", "new", "a"), matrix),))
    assert method.apply(pd.DataFrame({"x": ["a", "c", "a"]}), 0)["x"].to_list() == ["c", "new", "c"]


frequencies = st.lists(st.integers(0, 50), min_size=2, max_size=7).filter(lambda counts: sum(counts) > 0)


@settings(max_examples=60, deadline=None)
@given(frequencies, st.floats(0.0, 1.0), st.integers(0, 1000))
def test_invariant_matrices_keep_expected_frequencies(counts, share, seed):
    frequency = np.array(counts)
    drawn = np.random.default_rng(seed).dirichlet(np.full(len(counts), 0.4), len(counts))
    for matrix in (
        rarest_matrix(frequency, share),
        invariant_matrix(even_matrix(len(counts), share), frequency),
        invariant_matrix(drawn, frequency),
    ):
        assert (matrix >= 0).all()
        assert np.allclose(matrix.sum(axis=1), 1.0, rtol=0, atol=1e-12)
        assert np.allclose(frequency @ matrix, frequency, rtol=1e-9, atol=1e-9)


def test_the_rarest_matrix_by_hand():
    assert np.allclose(
        rarest_matrix(np.array([10, 0, 5]), 0.4), [[0.8, 0.0, 0.2], [0.0, 1.0, 0.0], [0.4, 0.0, 0.6]]
    )
    assert np.array_equal(rarest_matrix(np.array([0, 7]), 0.9), np.eye(2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x,a,b\na,0.5,0.5\nb,0.3,0.6\n",
            "the transition matrix of 'x', row 'b': it sums to 0.9; it must sum to 1",
        ),
        ("x,a,b\na,0.5,half\nb,0.3,0.7\n", "m.csv, row 'a': an entry is not a number"),
        (
            "x,a,c\na,0.5,0.5\nb,0.3,0.7\n",
            "m.csv: the rows are a, b and the columns a, c; they must be the same categories in the same "
            "order",
        ),
    ],
)  # fmt: skip
def test_bad_matrix_files(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    Path("m.csv").write_text(text)
    with pytest.raises(DataError) as caught:
        TransitionMatrix.parse("x=m.csv")
    assert str(caught.value) == message
    Path("m.csv").write_text("x,1,2\n1,0.25,0.75\n2,0.5,0.5\n")
    assert TransitionMatrix.parse("x=m.csv").probability.tolist() == [[0.25, 0.75], [0.5, 0.5]]
