"""Methods for categories: coding and recoding by hand, properties of all of them, what may become what."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import CategoricalMethod, recodings_of
from linkrisk.datasets.masking.pram import Pram, even_matrix, invariant_matrix, rarest_matrix
from linkrisk.datasets.masking.recoding import BottomCoding, GlobalRecoding, Hierarchy, TopCoding
from linkrisk.datasets.masking.transition_matrix import TransitionMatrix
from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema

ORDINAL = Schema(
    (
        Attribute("size", scale=Scale.ORDINAL, categories=("small", "middle", "large", "huge")),
        Attribute("town", scale=Scale.NOMINAL),
    )
)
FRAME = pd.DataFrame(
    {
        "size": ["small", "huge", "large", "middle", "large", "huge", "small"],
        "town": ["a", "b", "a", "c", "a", "b", "d"],
        "age": [3, 1, 4, 1, 5, 9, 2],
    }
)


def apply(method: CategoricalMethod, frame=FRAME, seed=0):
    masked = method.apply(frame, seed)
    assert list(masked.columns) == list(frame.columns)
    return {name: masked[name].to_list() for name in method.masked_attributes(frame)}


def test_top_coding_by_hand():
    method = TopCoding(categories=3, attributes=("size", "age"), schema=ORDINAL)
    assert apply(method) == {
        "size": ["small", "middle", "middle", "middle", "middle", "middle", "small"],
        "age": [3, 1, 4, 1, 4, 4, 2],
    }
    assert method.apply(FRAME)["age"].dtype == FRAME["age"].dtype
    assert method.describe(FRAME) == "top coding of 3 categories of size, age"


def test_bottom_coding_by_hand():
    method = BottomCoding(percent=50, attributes=("size", "age"), schema=ORDINAL)
    assert apply(method) == {
        "size": ["middle", "huge", "large", "middle", "large", "huge", "middle"],
        "age": [3, 3, 4, 3, 5, 9, 3],
    }
    assert method.describe(FRAME) == "bottom coding of 50 % of the categories of size, age"


def test_nominal_attributes_follow_the_order_of_their_codes():
    assert apply(TopCoding(categories=2, attributes=("town",)))["town"] == ["a", "b", "a", "c", "a", "b", "c"]
    codes = pd.DataFrame({"code": ["10", "9", "100"]})
    assert apply(TopCoding(categories=2, attributes=("code",)), codes)["code"] == ["10", "9", "10"]


def test_the_rarest_categories_get_a_label():
    method = GlobalRecoding(categories=2, label="other", attributes=("town",))
    assert apply(method)["town"] == ["a", "b", "a", "other", "a", "b", "other"]
    recoding = method.recodings(FRAME)["town"]
    assert (recoding.before, recoding.after) == (("a", "b", "c", "d"), ("a", "b", "other"))
    assert np.argwhere(recoding.possible).tolist() == [[0, 0], [1, 1], [2, 2], [3, 2]]


def test_global_recoding_by_a_hierarchy(tmp_path):
    path = tmp_path / "towns.csv"
    path.write_text("town,region,all\na,north,*\nb,north,*\nc,south,*\nd,south,*\n")
    hierarchy = Hierarchy.parse(f"town={path}")
    assert apply(GlobalRecoding(hierarchy=(hierarchy,)))["town"] == [
        *("north", "north", "north", "south", "north", "north", "south")
    ]
    assert set(apply(GlobalRecoding(hierarchy=(hierarchy,), level=2))["town"]) == {"*"}
    same = GlobalRecoding(hierarchy=(hierarchy,), level=0)
    pd.testing.assert_frame_equal(same.apply(FRAME), FRAME)
    assert same.describe(FRAME) == "global recoding to level 0 of town"
    possible = GlobalRecoding(hierarchy=(hierarchy,)).recodings(FRAME)["town"].possible
    assert np.argwhere(possible).tolist() == [[0, 0], [1, 0], [2, 1], [3, 1]]


METHODS: tuple[CategoricalMethod, ...] = (
    TopCoding(categories=2, attributes=("x",)),
    BottomCoding(percent=40, attributes=("x",)),
    GlobalRecoding(categories=3, attributes=("x",)),
    GlobalRecoding(categories=2, label="other", attributes=("x",)),
    Pram(change=0.4, attributes=("x",)),
    Pram(theta=0.8, invariant=True, attributes=("x",)),
)

cells = st.lists(
    st.one_of(st.sampled_from(["a", "b", "c", "d e", "7"]), st.none()), min_size=1, max_size=20
).filter(lambda values: any(value is not None for value in values))


@settings(max_examples=25, deadline=None)
@given(cells, st.integers(0, 99))
def test_masked_values_are_possible_and_missing_ones_stay(values, seed):
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    for method in METHODS:
        masked = method.apply(frame, seed)["x"]
        recoding = method.recodings(frame)["x"]
        pd.testing.assert_series_equal(masked, method.apply(frame, seed)["x"])
        assert masked.isna().tolist() == frame["x"].isna().tolist()
        for before, after in zip(frame["x"], masked, strict=True):
            if before is not None:
                assert recoding.possible[recoding.before.index(before), recoding.after.index(after)]


def test_the_nine_parameters_distort_more_and_more():
    generator = np.random.default_rng(1)
    frame = pd.DataFrame({"x": generator.choice(list("abcdefghijkl"), 400, p=np.arange(1, 13) / 78)})
    for kind in (TopCoding, BottomCoding, GlobalRecoding):
        left = [kind.paper_parameter(p).apply(frame)["x"].nunique() for p in range(1, 10)]
        assert left == [12 - p for p in range(1, 10)]
    changes = [(Pram.paper_parameter(p).apply(frame, 4)["x"] != frame["x"]).sum() for p in range(1, 10)]
    assert changes == sorted(changes)
    assert changes[0] < changes[-1]


def test_columns_keep_their_kind():
    ordered = pd.CategoricalDtype(["low", "high", "top"], ordered=True)
    frame = pd.DataFrame(
        {
            "level": pd.Categorical(["high", "top", "low"], dtype=ordered),
            "number": [1.5, np.nan, 2.0],
            "yes": [True, False, True],
        }
    )
    masked = TopCoding(categories=2, attributes=tuple(frame)).apply(frame)
    assert masked["level"].to_list() == ["high", "high", "low"]
    assert masked["level"].cat.ordered
    assert masked["number"].dtype == np.float64
    assert masked["yes"].to_list() == [False, False, False]


FEW = Schema((Attribute("town", scale=Scale.NOMINAL, categories=("a", "b")),))


def tree(codes):
    return Hierarchy("town", (tuple(codes), tuple("nnss"[: len(codes)])))


def matrix(codes, entries):
    return TransitionMatrix("town", tuple(codes), np.array(entries, dtype=float))


BAD: list[tuple[Any, str]] = [
    (lambda: TopCoding(), "give either categories or percent: how many categories to merge"),
    (lambda: TopCoding.paper_parameter(10), "p is 10; it must be a whole number from 1 to 9"),
    (lambda: GlobalRecoding(), "give either categories or hierarchy: which categories to merge"),
    (lambda: GlobalRecoding(categories=2, level=1), "level has no effect without hierarchy; leave it"),
    (lambda: GlobalRecoding(categories=2, label="a", attributes=("town",)), "the label 'a' is a category"),
    (lambda: GlobalRecoding(categories=2).apply(FRAME[["age"]]), "the table has no attribute with"),
    (lambda: Hierarchy("town", (("a", "b"), ("n", "n"), ("x", "y"))), "level 2 puts 'n' into 'x' and into"),
    (lambda: GlobalRecoding(hierarchy=(tree("a"),)), "the hierarchy of 'town' has no category 'b'; there"),
    (lambda: GlobalRecoding(hierarchy=(tree("abcd"),), level=4), "'town' has no level 4; its last is 1"),
    (lambda: GlobalRecoding(hierarchy=(tree("abcd"),), attributes=("size",)), "'size' has no hierarchy;"),
    (lambda: TransitionMatrix.parse("town="), "'town=' is not a transition matrix; write ATTRIBUTE=FILE"),
    (lambda: Pram(), "give one of change, theta and matrix: with what probability values change"),
    (lambda: Pram(change=1.5), "change is 1.5; it must be from 0 to 1"),
    (lambda: matrix("ab", [[1.5, -0.5], [0.5, 0.5]]), "of 'town', row 'a': an entry is not a probability;"),
    (lambda: matrix("ab", [[1, 1]]), "the transition matrix of 'town' has 1 rows and 2 columns for 2"),
    (lambda: Pram(matrix=(matrix("a", [[1]]),)), "the transition matrix of 'town' has no category 'b'"),
    (lambda: Pram(matrix=(matrix("a", [[1]]),), attributes=("size",)), "'size' has no transition matrix;"),
    (lambda: recodings_of((TopCoding(categories=2), BottomCoding(categories=2)), FRAME), "two masking"),
    (lambda: TopCoding(categories=2, attributes=("town",), schema=FEW), "row 4: 'c' is not a category;"),
]


@pytest.mark.parametrize(("make", "message"), BAD, ids=[message[:50] for _, message in BAD])
def test_bad_requests(make: Any, message):
    with pytest.raises(DataError) as caught:
        make().apply(FRAME)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("method", "digest"),
    [
        (Pram(change=0.3), "74de894845b0cac06e7c8c03e5e414f25cfb0202734f37e2c799c9726f71d0fe"),
        (
            Pram(change=0.3, invariant=True),
            "8590be3c85aa2376692da0345d7086def25e02dc85739fa49efffda8444a15e7",
        ),
        (Pram(theta=0.9), "1bf85c0a4f6df012e23c2c1fcb52620cca9b19f1cbbc6737c9664ebb8100bb54"),
        (GlobalRecoding(categories=4), "1b979abdfedca1ef72522a630abd8e0d94e2953ee22d12b9c6ee34d4774410c4"),
    ],
    ids=["even", "invariant", "theta", "rarest"],
)
def test_the_same_file_on_every_machine(method: CategoricalMethod, digest):
    rows = np.arange(500)
    frame = pd.DataFrame(
        {
            "x": [f"c{row}" for row in (rows * rows % 97 * 3 % 11).tolist()],
            "y": [f"d{row}" for row in (rows * 7 % 23).tolist()],
        }
    )
    content = method.apply(frame, seed=2024).to_csv(index=False, lineterminator="\n").encode()
    assert hashlib.sha256(content).hexdigest() == digest


# PRAM: draws as its matrices say, matrices that keep expected frequencies, matrices in files


TOWNS = pd.DataFrame({"size": ["small", "huge", "large"], "town": ["a", "b", "a"], "age": [3, 1, 4]})


def test_pram_without_change_and_with_certain_change():
    pd.testing.assert_frame_equal(Pram(change=0, attributes=("town", "size")).apply(TOWNS, 3), TOWNS)
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
        ("x,a,b\na,0.5,0.5\nb,0.3,0.6\n", "the transition matrix of 'x', row 'b': it sums to 0.9; it must"),
        ("x,a,b\na,0.5,half\nb,0.3,0.7\n", "m.csv, row 'a': an entry is not a number"),
        ("x,a,c\na,0.5,0.5\nb,0.3,0.7\n", "m.csv: the rows are a, b and the columns a, c; they must be the"),
    ],
)  # fmt: skip
def test_bad_matrix_files(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    Path("m.csv").write_text(text)
    with pytest.raises(DataError) as caught:
        TransitionMatrix.parse("x=m.csv")
    assert message in str(caught.value)
    Path("m.csv").write_text("x,1,2\n1,0.25,0.75\n2,0.5,0.5\n")
    assert TransitionMatrix.parse("x=m.csv").probability.tolist() == [[0.25, 0.75], [0.5, 0.5]]
