"""Columns that say who is who and were not named: what the errors offer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from table_pairs import make_table_pair

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.writing import write_table
from linkrisk.datasets.pairs.alignment import TablePair
from linkrisk.datasets.pairs.file_pair import make_file_pair

RECORDS = 40
OUT_OF_ORDER = (
    "original and masked have the same values in column 'id' in different orders; align the records with "
    "id='id' (row_by_row=True takes the rows as they are)"
)


def people() -> pd.DataFrame:
    random = np.random.default_rng(3)
    age = random.integers(18, 90, RECORDS)
    return pd.DataFrame(
        {
            "id": [f"P{number}" for number in random.permutation(RECORDS)],
            "age": age,
            "income": 400.0 * age + random.normal(0, 3000, RECORDS),
        }
    )


def noisy(frame: pd.DataFrame) -> pd.DataFrame:
    random = np.random.default_rng(4)
    return frame.assign(income=frame["income"] + random.normal(0, 4000, len(frame)))


def shuffled(frame: pd.DataFrame) -> pd.DataFrame:
    order = np.random.default_rng(5).permutation(len(frame))
    return frame.iloc[order].reset_index(drop=True)


def message(original: object, masked: object, **options: object) -> str:
    with pytest.raises(DataError) as caught:
        make_file_pair(original, masked, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def no_category(cell: str) -> str:
    return (
        f"original, column 'id', row 1: {cell!r} is not a number, and with {RECORDS} different values in "
        f"{RECORDS} records the column is not treated as categorical; declare it with nominal or schema, "
        "or choose other attributes"
    )


def test_an_id_is_left_out_and_offered_where_the_rows_are_out_of_order():
    original = people()
    pair = make_file_pair(original, noisy(original))
    assert pair.attributes == ("age", "income")
    assert pair.notes[0] == "not compared: id (the record id by its name); attributes or schema compares them"
    assert message(original, shuffled(noisy(original))) == OUT_OF_ORDER
    assert message(original, noisy(original).iloc[3:]).endswith("with id")
    for change in (shuffled, lambda frame: frame.iloc[3:]):
        pair = make_file_pair(original, change(noisy(original)), id="id")
        assert pair.attributes == ("age", "income")
        assert not any("not compared" in note for note in pair.notes)


def test_a_name_that_a_shell_would_split_is_quoted():
    original = people().rename(columns={"id": "the id"})
    assert message(original, shuffled(original)).endswith(
        "align the records with id='the id' (row_by_row=True takes the rows as they are)"
    )


def test_no_id_is_offered_where_none_is_shared_or_the_user_has_chosen():
    original = people()
    masked = shuffled(noisy(original))
    line = no_category(original["id"][0])
    twice = masked.assign(id=[masked["id"][1], *masked["id"][1:]])
    others = masked.assign(id="Q" + masked["age"].astype(str) + masked["id"])
    lacking = masked.assign(id=[None, *masked["id"][1:]])
    for frame in (twice, lacking):
        assert "id='id'" not in message(original, frame)
    assert make_file_pair(original, others).alignment == "row by row"  # ids of its own say nothing
    assert message(original, masked, attributes=["id", "age"]) == line
    assert make_file_pair(original, masked, row_by_row=True).attributes == ("age", "income")
    # A number that is wrongly written makes no id of its column.
    spelled = original.drop(columns="id").astype(str)
    spelled.loc[0, "income"] = "1.234,5"
    unread = "original, column 'income', row 1: '1.234,5' is not a number; fix it or choose other attributes"
    assert message(spelled, spelled) == unread  # no options read both this cell and the others
    spelled["income"] = ["1.234,5", *original["income"][1:].round().astype(int).astype(str)]
    assert message(spelled, spelled) == f"{unread}; decimal=',' thousands='.' reads it as a number"


def old_labels(name: str, what: str = "row numbers, from 0,") -> str:
    return (
        f"column {name!r} of masked has the {what} of original in another order, as after reset_index; give "
        f"original a column {name!r} with them too, and align the records with "
        f"id={name!r} (row_by_row=True takes the rows as they are)"
    )


def refused(original: object, masked: object) -> str:
    with pytest.raises(DataError) as caught:
        make_table_pair(original, masked)
    return str(caught.value)


def by_chance(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sample(frac=1, random_state=2)


def by_income(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values("income")


@pytest.mark.parametrize("order", [by_chance, by_income])
@pytest.mark.parametrize("columns", [["age", "income"], ["income"]])
def test_an_index_that_reset_index_left_behind(order, columns):
    original = people()[columns]
    masked = order(noisy(original)).reset_index()
    assert refused(original, masked) == old_labels("index")
    assert message(original, masked, attributes=columns) == old_labels("index")
    pair = make_table_pair(original.reset_index(), masked, id="index")
    assert masked["index"].to_numpy()[pair.partner].tolist() == list(range(RECORDS))
    assert make_table_pair(original, masked, row_by_row=True).alignment == "row by row"
    turned = old_labels("index").replace("masked", "?").replace("original", "masked").replace("?", "original")
    assert refused(masked, original) == turned


def test_an_index_that_was_written_to_a_file(tmp_path: Path):
    original = people()[["age", "income"]]
    masked = by_chance(noisy(original)).reset_index()
    paths = [tmp_path / f"{name}.csv" for name in ("original", "masked")]
    for frame, path in zip((original, masked), paths, strict=True):
        write_table(frame, path)
    for given in (original, paths[0]):
        assert refused(given, paths[1]).startswith(f"column 'index' of {paths[1]} has the row numbers, from")
    unnamed = masked.rename(columns={"index": "Unnamed: 0"})
    assert refused(original, unnamed) == old_labels("Unnamed: 0")


def test_labels_that_are_no_row_numbers():
    original = by_chance(people()[["age", "income"]])
    masked = by_income(noisy(original)).reset_index()
    assert refused(original, masked) == old_labels("index", "row labels")


# Frames whose rows have labels: aligned by them, or refused, and what is said about it


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
