"""Parquet and Feather files that other programs write: types, indexes and names of theirs."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pyarrow as pa
import pytest
from format_cases import described
from pyarrow import parquet

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.column_descriptions import described_columns
from linkrisk.datasets.microdata.formats import parquet as parquet_numbers
from linkrisk.datasets.microdata.formats.registry import read_file


def write(table: pyarrow.Table, path: Path) -> Path:
    if path.suffix == ".feather":
        with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    else:
        parquet.write_table(table, path)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize(
    ("names", "said"),
    [("xx", "the column name 'x' is twice in the header; rename one"), ("y ", "column 2 has no name in the")],
)
def test_names_that_cannot_be_used(names: str, said: str, suffix: str, tmp_path: Path) -> None:
    columns = [pyarrow.array([1, None, 3]), pyarrow.array([1.0, 2.0, 3.0])]
    path = write(pyarrow.Table.from_arrays(columns, names=list(names)), tmp_path / f"x{suffix}")
    with pytest.raises(DataError) as caught:
        read_file(path)
    assert str(caught.value).startswith(f"{path}: {said}")


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_lists_and_records_are_read_as_text(suffix: str, tmp_path: Path) -> None:
    table = pyarrow.table({"x": [1, 2], "l": [["ä", None], None], "s": [{"a": 1}, {"a": 2}]})
    stored = read_file(write(table, tmp_path / f"x{suffix}"))
    assert described(stored.frame["l"]) == ("text", ['["ä", null]', None])
    assert described(stored.frame["s"]) == ("text", ['{"a": 1}', '{"a": 2}'])
    assert stored.remarks == ("lists and the like are read as text (columns l, s)",)
    assert [column.different for column in described_columns(stored.frame)] == [2, 1, 2]


def test_types_that_pyarrow_keeps_for_pandas_become_its_own(tmp_path: Path) -> None:
    moments = pd.Series(pd.to_datetime(["1985-02-13 10:11:12", None]))
    frame = pd.DataFrame(
        {
            "moment": moments.astype(pd.ArrowDtype(pyarrow.timestamp("s"))),
            "day": pd.Series([dt.date(1985, 2, 13), None], dtype=pd.ArrowDtype(pyarrow.date32())),
            "big": pd.Series([2**60 + 1, None], dtype=pd.ArrowDtype(pyarrow.int64())),
        }
    )
    frame.to_parquet(tmp_path / "x.parquet")
    back = read_file(tmp_path / "x.parquet").frame
    assert {name: described(back[name]) for name in back} == {
        "moment": ("moment", ["1985-02-13 10:11:12", None]),
        "day": ("date", [dt.date(1985, 2, 13), None]),
        "big": ("whole", [2**60 + 1, None]),
    }
    assert not any(isinstance(kind, pd.ArrowDtype) for kind in back.dtypes)


@pytest.mark.parametrize("more", [[], ["z"]])
def test_an_index_that_is_a_column_too_is_that_column(more: list[str], tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1, 2, 3], "y": [4, 5, 6], "z": [7, 8, 9]}).set_index("x", drop=False)
    (frame.set_index(more, append=True) if more else frame).to_parquet(tmp_path / "x.parquet")
    stored = read_file(tmp_path / "x.parquet")
    assert stored.labels is None
    assert {name: stored.frame[name].to_list() for name in stored.frame} == {
        "x": [1, 2, 3], "y": [4, 5, 6], "z": [7, 8, 9]
    }  # fmt: skip
    frame.assign(x=[3, 2, 1]).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(DataError, match="the column name 'x' is twice in the header; rename one"):
        read_file(tmp_path / "x.parquet")


# Parquet files of numbers are read in batches, with the same table as when they are read whole


NUMBERS = pd.DataFrame(
    {
        "whole": np.arange(10),
        "small": np.arange(10, dtype=np.int8),
        "unsigned": np.arange(10, dtype=np.uint64) + 2**63,
        "double": np.linspace(-1, 1, 10),
        "gaps": np.where(np.arange(10) % 3, 0.1, np.nan),
        "single": np.arange(10, dtype=np.float32) / 3,
    }
)
GAPS = pa.table({"a": pa.array([1, None, 2**60 + 1]), "b": [0.5, None, 1.5]})
FILES: dict[str, tuple[object, bool]] = {
    "numbers": (NUMBERS, True),
    "arrow's own": (pa.Table.from_pandas(NUMBERS, preserve_index=False).replace_schema_metadata(None), True),
    "without an index": (pa.Table.from_pandas(NUMBERS, preserve_index=False), True),
    "null doubles": (GAPS.select(["b"]), True),
    "null whole numbers": (GAPS, False),
    "text": (NUMBERS.assign(text="x"), False),
    "truth": (NUMBERS.assign(truth=True), False),
    "own types": (NUMBERS.assign(whole=NUMBERS["whole"].astype("Int64")), False),
    "labels": (NUMBERS.set_axis([f"r{at}" for at in range(10)]), False),
    "named index": (NUMBERS.rename_axis("person"), False),
    "rows from 1": (NUMBERS.set_axis(pd.RangeIndex(1, 11)), False),
    "numbered columns": (NUMBERS.set_axis(range(6), axis=1), False),
    "two of one name": (pa.table([pa.array([1, 2]), pa.array([3, 4])], names=["a", "a"]), False),
    "points in names": (NUMBERS.rename(columns={"small": "double.small"}), False),
    "no records": (NUMBERS[:0], False),
}


def outcome(path: Path) -> tuple[pd.DataFrame, object] | str:
    try:
        stored = read_file(path)
    except DataError as error:
        return str(error)
    return stored.frame, stored.labels


@pytest.mark.parametrize("name", FILES)
def test_the_same_as_read_whole(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (table, in_batches), path = FILES[name], tmp_path / "x.parquet"
    made = pa.Table.from_pandas(table) if isinstance(table, pd.DataFrame) else table
    parquet.write_table(made, path, row_group_size=4)
    monkeypatch.setattr(parquet_numbers, "_ROWS", 3)
    assert (parquet_numbers.read_numbers(path) is not None) == in_batches
    found = outcome(path)
    monkeypatch.setattr(parquet_numbers, "read_numbers", lambda _: None)
    expected = outcome(path)
    if isinstance(expected, str):
        assert found == expected
        return
    assert not isinstance(found, str)
    pd.testing.assert_frame_equal(found[0], expected[0], check_exact=True)
    assert (found[1] is None) == (expected[1] is None)
