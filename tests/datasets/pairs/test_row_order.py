"""Rows out of order: which pairs are refused, with the exact line, and which swapped columns are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from table_pairs import make_table_pair

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.rank_swapping import RankSwapping
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.writing import write_table
from linkrisk.datasets.pairs.row_order import displaced
from linkrisk.datasets.public.embedded import load_wdbc

RECORDS = 60
ANYWAY = "(row_by_row=True takes the rows as they are)"
BY_ID = f"original and masked have the same values in column 'id' in different orders; align the records with id='id' {ANYWAY}"  # noqa: E501


def people(records: int = RECORDS, seed: int = 3) -> pd.DataFrame:
    """Ages, and incomes that grow with them."""
    random = np.random.default_rng(seed)
    age = random.integers(18, 90, records)
    return pd.DataFrame(
        {
            "id": random.permutation(records) + 1000,
            "age": age,
            "income": 400.0 * age + random.normal(0, 3000, records).round(2),
            "town": random.choice(["A", "B", "C"], records),
        }
    )


def noisy(frame: pd.DataFrame, seed: int = 4) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    income = frame["income"] + random.normal(0, 4000, len(frame)).round(2)
    return frame.assign(age=frame["age"] + random.integers(-8, 9, len(frame)), income=income)


def shuffled(frame: pd.DataFrame, seed: int = 5) -> pd.DataFrame:
    order = np.random.default_rng(seed).permutation(len(frame))
    return frame.iloc[order].reset_index(drop=True)


def exchanged(frame: pd.DataFrame, first: int, second: int) -> pd.DataFrame:
    """Two rows in each other's place."""
    order = np.arange(len(frame))
    order[[first, second]] = order[[second, first]]
    return frame.iloc[order].reset_index(drop=True)


def refusal(original: object, masked: object) -> str:
    with pytest.raises(DataError) as caught:
        make_table_pair(original, masked)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def is_read(original: object, masked: object, *exchanged: str) -> bool:
    """Row by row, with a note on exchanged columns that might as well say who is who."""
    pair = make_table_pair(original, masked)
    told = [f"column {name} has" for name in exchanged[:1]]
    if len(exchanged) > 1:
        told = [f"columns {shown_names(exchanged, most=4)} have"]
    told = [
        f"{start} the same values in both files in different orders, which is taken for" for start in told
    ]
    said = [note[: len(start)] for note, start in zip(pair.notes, told, strict=True)]
    return pair.alignment == "row by row" and said == told


def days(ids: pd.Series) -> pd.Series:
    return pd.to_datetime(ids, unit="D")


ID_KINDS = {
    "whole numbers": (lambda ids: ids, lambda ids: ids),
    "doubles": (lambda ids: ids + 0.5, lambda ids: ids + 0.5),
    "text": (lambda ids: "P" + ids.astype(str), lambda ids: "P" + ids.astype(str)),
    "leading zeros": (lambda ids: "00" + ids.astype(str), lambda ids: "00" + ids.astype(str)),
    "numbers and text": (lambda ids: ids, lambda ids: ids.astype(str)),
    "doubles and text": (lambda ids: ids.astype(float).astype(str), lambda ids: ids),
    "beyond 2**53": (lambda ids: ids + 2**60, lambda ids: ids + 2**60),
}


@pytest.mark.parametrize("kind", ID_KINDS)
@pytest.mark.parametrize("mask", [noisy, lambda frame: frame], ids=["noise", "nothing"])
def test_a_shuffled_file_with_an_id_is_refused(kind, mask):
    before, after = ID_KINDS[kind]
    original = people()
    masked = shuffled(mask(original))
    original, masked = (
        frame.assign(id=change(frame["id"])) for frame, change in ((original, before), (masked, after))
    )
    assert refusal(original, masked) == BY_ID
    assert make_table_pair(original, masked, id="id").alignment == "id id"
    assert make_table_pair(original, masked, row_by_row=True).alignment == "row by row"


@pytest.mark.parametrize("many", [1, 2, 5])
def test_a_few_rows_out_of_order_are_enough(many):
    original = people()
    masked = noisy(original)
    for pair in range(many):
        masked = exchanged(masked, 2 * pair, 2 * pair + 1)
    assert refusal(original, masked) == BY_ID
    assert displaced(np.array([1, 0, -1, 3])).tolist() == [0, 1]


@pytest.mark.parametrize("kept", [59, 57, 54, 35])
def test_not_all_ids_need_to_be_shared(kept):
    """Nearly all are enough by themselves; of fewer, down to half, the other columns decide."""
    original = people()
    masked = noisy(original)
    masked.loc[kept:, "id"] = 9000 + np.arange(RECORDS - kept)
    assert is_read(original, masked)
    assert refusal(original, shuffled(masked)) == BY_ID
    if kept >= 54:
        assert refusal(original[["id"]], shuffled(masked)[["id"]]) == BY_ID
    else:
        assert is_read(original[["id"]], shuffled(masked)[["id"]])


def test_an_id_that_stands_twice_is_named_all_the_same():
    original = people()
    masked = noisy(original)
    masked.loc[1, "id"] = masked.loc[0, "id"]
    assert refusal(original, shuffled(masked)) == (
        "original and masked have the same values in column id in different orders; sort both files alike, "
        f"or add a column that identifies the records and name it with id {ANYWAY}"
    )


def test_ids_under_different_names():
    original = people()
    masked = shuffled(noisy(original)).rename(columns={"id": "person"})
    assert refusal(original, masked) == (
        "column 'id' of original and column 'person' of masked have the same values in different orders; "
        f"give both the same name and align the records with id {ANYWAY}"
    )
    assert is_read(original, noisy(original).rename(columns={"id": "person"}))


def test_files_without_an_id_that_are_the_same_in_another_order():
    """No column has each value once, and their rows are the same all the same."""
    random = np.random.default_rng(8)
    original = pd.DataFrame({name: random.integers(0, 8, 200) for name in "ABC"})
    message = (
        "original and masked have the same values in columns A, B, C in different orders; sort both files "
        f"alike, or add a column that identifies the records and name it with id {ANYWAY}"
    )
    assert refusal(original, shuffled(original)) == message
    texts = original.astype(str)
    assert refusal(texts, shuffled(texts)) == message
    # Each column exchanged by itself makes other rows.
    assert is_read(original, original.apply(lambda column: random.permutation(column.to_numpy())))


def test_rows_sorted_anew_without_an_id_are_seen_by_what_was_not_masked():
    original = people(400).drop(columns="id")
    original["town"] = "T" + (original["age"] // 20).astype(str)
    masked = noisy(original).sort_values("income").reset_index(drop=True)
    assert refusal(original, masked) == (
        "original and masked have the same values in column town in different orders; sort both files alike, "
        f"or add a column that identifies the records and name it with id {ANYWAY}"
    )


WRITTEN = {
    "digits cut off": (lambda ids: ids / 7.0, lambda ids: (ids / 7.0).map("{:.15g}".format).astype(float)),
    "small letters": (lambda ids: "P " + ids.astype(str), lambda ids: "p\u00a0" + ids.astype(str)),
    "midnight": (lambda ids: days(ids).dt.date.astype(str), lambda ids: days(ids).astype(str) + " 00:00:00"),
    "thousands": (lambda ids: ids, lambda ids: ids.map("{:,}".format)),
    "letters before numbers": (lambda ids: ids, lambda ids: "P" + ids.astype(str)),
    "letters and zeros": (lambda ids: ids - 990, lambda ids: (ids - 990).map("ID_{:05d}".format)),
    "day first": (lambda ids: days(ids).dt.strftime("%d/%m/%Y"), lambda ids: days(ids).dt.date.astype(str)),
    "month first": (lambda ids: days(ids).dt.date.astype(str), lambda ids: days(ids).dt.strftime("%m/%d/%Y")),
    "both first": (
        lambda ids: days(ids).dt.strftime("%m/%d/%Y"),
        lambda ids: days(ids).dt.strftime("%d.%m.%Y 0:00"),
    ),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_ids_that_two_programs_write_differently(kind):
    first, second = WRITTEN[kind]
    original = people(60)
    masked = shuffled(noisy(original))
    pair = [frame.assign(id=write(frame["id"])) for frame, write in ((original, first), (masked, second))]
    said = refusal(*pair)
    assert said.startswith(f"{BY_ID.partition('; align')[0]}, written differently (")
    assert "); write them alike and align the records with id='id' (" in said


def test_dates_with_two_meanings_have_the_one_that_names_the_same_days():
    """No day is above 12, so that all of them can be read in two ways."""
    ids = pd.Series([f"2000-{month:02d}-{day:02d}" for month in range(1, 13) for day in range(1, 6)])
    original = people(60).assign(id=ids)
    for order in (r"\3/\2/\1", r"\2/\3/\1"):
        written = original["id"].str.replace(r"(\d+)-(\d+)-(\d+)", order, regex=True)
        masked = noisy(original).assign(id=written)
        assert is_read(original, masked)
        said = refusal(original, shuffled(masked))
        assert "the same values in column 'id' in different orders, written differently ('2000-" in said


def test_ids_that_have_only_their_letters_in_common_are_other_ids():
    original = people(60)
    masked = shuffled(noisy(original)).assign(id=[f"P{7 * k}" for k in range(60)])
    assert is_read(original.assign(id="P" + original["id"].astype(str)), masked)
    # Without the zeros, 007 and 7 would be one record.
    zeros = [f"{k // 2 + 1000:0{4 + k % 2}d}" for k in range(60)]
    assert is_read(original.assign(id=zeros), masked.assign(id=np.arange(60) // 2 + 1000))


def test_values_at_the_ends_of_the_range_of_doubles_are_read():
    """Rounding them to some digits must not leave that range."""
    original = people(60)
    for factor in (1e-312, 1e-300, 1e303):
        both = [frame.assign(tiny=frame["income"] * factor) for frame in (original, noisy(original))]
        assert is_read(*both)
        assert refusal(both[0], shuffled(both[1])) == BY_ID


@pytest.mark.parametrize(
    "ids",
    [
        lambda n: np.arange(n) + 1000,
        lambda n: [f"P{k}" for k in range(n)],
        lambda n: np.random.default_rng(5).choice(100_000, n, replace=False),
    ],
)
@pytest.mark.parametrize("by", [["income"], ["town", "income"]])
def test_files_sorted_by_a_masked_column_that_others_follow(ids, by):
    """Every column but the ids says that the rows stand in place, because all of them follow the order."""
    original = people(200).assign(id=ids(200))
    masked = noisy(original)
    pair = [
        frame.assign(tax=(0.3 * frame["income"]).round()).sort_values(by, ascending=False)
        for frame in (original, masked)
    ]
    assert refusal(*(frame.reset_index(drop=True) for frame in pair)) == BY_ID


def test_columns_all_swapped_each_by_itself_are_read():
    """Six columns of real records and nothing else, also a hundred of them, also when some are exchanged."""
    names = ("radius_mean", "texture_mean", "area_mean", "smoothness_mean", "symmetry_mean", "area_worst")
    real = load_wdbc()[list(names)]
    real += np.random.default_rng(0).normal(0, 1e-9, real.shape)  # all values differ
    for records, percent in ((100, 2), (100, 15), (len(real), 5)):
        original = real.head(records)
        masked = RankSwapping(attributes=names, percent=percent).apply(original, 0)
        assert is_read(original, masked, *names)
        with_id = original.assign(id=np.arange(records)), masked.assign(id=np.arange(records))
        assert is_read(*with_id)
        assert refusal(with_id[0], shuffled(with_id[1])) == BY_ID


def test_suppressed_cells_speak_for_no_order():
    original = people(200)
    masked = RankSwapping(attributes=("income",), percent=10).apply(original, 1)
    random = np.random.default_rng(2)
    for name in ("age", "town"):
        masked[name] = masked[name].astype(object).where(random.random(200) < 0.3, None)
    assert is_read(original.drop(columns="id"), masked.drop(columns="id"), "income")


def test_files_are_judged_as_frames_are(tmp_path: Path):
    original = people()
    masked = shuffled(noisy(original))
    for suffix in ("csv", "parquet"):
        paths = [tmp_path / f"{name}.{suffix}" for name in ("o", "m")]
        for frame, path in zip((original, masked), paths, strict=True):
            write_table(frame, path)
        assert refusal(*paths) == BY_ID.replace("original", str(paths[0])).replace("masked", str(paths[1]))
        assert make_table_pair(*paths, id="id").partner.tolist() == [
            masked["id"].tolist().index(identifier) for identifier in original["id"]
        ]
