"""Frames whose rows have labels: aligned by them, or refused, and what is said about it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from table_pairs import make_table_pair

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.pairs.alignment import TablePair

NOTE = (
    "records were aligned by the labels of the two indexes, which hold the same ones in different orders; "
    "row_by_row=True takes the rows as they are"
)
REFUSAL = (
    "the indexes of original and masked do not hold the same labels, each once; name the column that "
    "identifies the records as id, take the rows as they are with row_by_row=True, or renumber them "
    "with reset_index"
)
ORIGINAL = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [5.0, 4.0, 4.5, 7.0]})
MASKED = ORIGINAL + 0.25
ORDER = [2, 0, 3, 1]


def aligned(original: object, masked: object, **options: object) -> TablePair:
    return make_table_pair(original, masked, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 2, 3],
        [10, 20, 30, 40],
        ["w", "x", "y", "z"],
        [1.5, 2.5, 3.5, 4.5],
        [("a", 1), ("a", 2), ("b", 1), ("b", 2)],
    ],
)
def test_the_same_labels_in_another_order_align(labels):
    index = pd.MultiIndex.from_tuples(labels) if isinstance(labels[0], tuple) else pd.Index(labels)
    original, masked = ORIGINAL.set_axis(index), MASKED.set_axis(index).iloc[ORDER]
    pair = aligned(original, masked)
    assert (pair.alignment, pair.notes) == ("index labels", (NOTE,))
    assert pair.partner.tolist() == [1, 3, 0, 2]
    assert pair.masked.frame["a"].to_numpy()[pair.partner].tolist() == MASKED["a"].tolist()
    assert pair.original_labels == tuple(str(label) for label in labels)
    assert pair.masked_labels == tuple(str(labels[at]) for at in ORDER)
    stands = aligned(original, masked, row_by_row=True)
    assert (stands.alignment, stands.notes, stands.partner.tolist()) == ("row by row", (), [0, 1, 2, 3])


def test_the_same_labels_in_the_same_order_are_rows():
    labelled = [frame.set_axis(["p", "q", "r", "s"]) for frame in (ORIGINAL, MASKED)]
    pair = aligned(*labelled)
    assert (pair.alignment, pair.notes, pair.original_labels) == ("row by row", (), ("1", "2", "3", "4"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([0, 1, 2, 3], [1, 2, 3, 4]),
        ([5, 6, 7, 8], [0, 1, 2, 3]),
        (["a", "b", "c", "d"], ["a", "b", "c", "e"]),
        ([1, 1, 2, 3], [1, 2, 1, 3]),
        ([1, 2, 3, 4], ["1", "2", "3", "4"]),
    ],
)
def test_other_labels_are_refused(first, second):
    original, masked = ORIGINAL.set_axis(first), MASKED.set_axis(second)
    with pytest.raises(DataError) as caught:
        aligned(original, masked)
    assert str(caught.value) == REFUSAL
    assert aligned(original, masked, row_by_row=True).partner.tolist() == [0, 1, 2, 3]
    reset = [frame.reset_index(drop=True) for frame in (original, masked)]
    assert aligned(*reset).alignment == "row by row"
    with_id = [frame.assign(id=["p", "q", "r", "s"]) for frame in (original, masked)]
    assert aligned(*with_id, id="id").alignment == "id id"


def test_labels_are_compared_with_what_columns_say():
    """An index numbered anew before the other file was sorted: the id says otherwise."""
    random = np.random.default_rng(1)
    original = pd.DataFrame({"id": random.permutation(50), "a": random.normal(size=50)})
    masked = original.sort_values("a").reset_index(drop=True).sample(frac=1, random_state=0)
    with pytest.raises(DataError, match="the same values in column 'id' in different orders"):
        aligned(original, masked)


def test_frames_without_an_index_are_rows(tmp_path):
    random = np.random.default_rng(2)
    original = pd.DataFrame({"a": random.normal(size=20)})
    masked = original + random.normal(size=(20, 1))
    for other in (pl.DataFrame(masked.to_dict("list")), pl.DataFrame(masked.to_dict("list")).to_arrow()):
        assert aligned(original.set_axis(range(5, 25)), other).alignment == "row by row"
        assert aligned(other, original).alignment == "row by row"
    masked.to_csv(tmp_path / "m.csv", index=False)
    assert aligned(original.set_axis(range(5, 25)), tmp_path / "m.csv").alignment == "row by row"
    # A frame read from the original file and then sorted still says which row of it each record was.
    assert aligned(original, tmp_path / "m.csv").partner.tolist() == list(range(20))
    assert aligned(original.iloc[::-1], tmp_path / "m.csv").partner.tolist() == list(range(20))[::-1]


def test_unnamed_labels_in_a_parquet_file(tmp_path):
    paths = [tmp_path / "o.parquet", tmp_path / "m.parquet"]
    ORIGINAL.to_parquet(paths[0])
    MASKED.iloc[ORDER].to_parquet(paths[1])
    pair = aligned(*paths)
    assert (pair.alignment, pair.partner.tolist()) == ("index labels", [1, 3, 0, 2])


def test_lengths_come_before_labels():
    with pytest.raises(DataError) as caught:
        aligned(ORIGINAL, MASKED.iloc[:3])
    assert str(caught.value) == (
        "original has 4 records and masked has 3; name the column that identifies the records with id"
    )


def test_two_ways_to_say_who_is_who():
    with pytest.raises(DataError) as caught:
        aligned(ORIGINAL, MASKED, id="a", row_by_row=True)
    assert str(caught.value) == "id and row_by_row are two ways to align the records; give one of them"
