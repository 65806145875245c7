"""Parquet and Feather files that other programs write: types, indexes and names of theirs."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pandas as pd
import pyarrow
import pytest
from format_cases import described
from pyarrow import parquet

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.column_descriptions import described_columns
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
    [
        (("x", "x"), "the column name 'x' is twice in the header; rename one"),
        (
            ("y", " "),
            "column 2 has no name in the header; name it (an index written along with the table can be named "
            "and given as id) or delete it",
        ),
    ],
)
def test_names_that_cannot_be_used(names: tuple[str, ...], said: str, suffix: str, tmp_path: Path) -> None:
    columns = [pyarrow.array([1, None, 3]), pyarrow.array([1.0, 2.0, 3.0])]
    path = write(pyarrow.Table.from_arrays(columns, names=list(names)), tmp_path / f"x{suffix}")
    with pytest.raises(DataError) as caught:
        read_file(path)
    assert str(caught.value) == f"{path}: {said}"


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
