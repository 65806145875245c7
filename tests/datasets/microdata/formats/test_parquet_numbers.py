"""Parquet files of numbers are read in batches, with the same table as when they are read whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats import parquet as parquet_numbers
from linkrisk.datasets.microdata.formats.registry import read_file

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


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_cut_off(share: float, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    NUMBERS.to_parquet(path)
    content = path.read_bytes()
    path.write_bytes(content[: 8 + int(share * (len(content) - 8))])
    with pytest.raises(
        DataError, match=r"^.*x\.parquet is not a readable Parquet file \(cut off or damaged\?\): "
    ):
        read_file(path)
    damaged = bytearray(content)
    damaged[len(content) // 4 : len(content) // 2] = b"\xff" * (len(content) // 2 - len(content) // 4)
    path.write_bytes(damaged)
    with pytest.raises(DataError) as caught:
        read_file(path)
    assert "\n" not in str(caught.value)
