"""Users' files: what is read, what is written, and the one line said about every file that cannot be used."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.files import read_table, write_table, write_whole


def _csv(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "in.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _message(path: Path, **options: object) -> str:
    with pytest.raises(DataError) as caught:
        read_table(path, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(path), path.name)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "in.csv is empty; it needs a header and records"),
        ("a,b\n", "in.csv has no records, only column names"),
        ("\n1,2\n", "in.csv, line 1: empty line where the column names belong; delete it"),
        ("a,b\n1,2\n3\n", "in.csv, line 3: 1 cell where the header has 2; mend or delete the line"),
        ("a,b\n1,2,3\n", "in.csv, line 2: 3 cells where the header has 2; mend or delete the line"),
        ("a,b\n1,2,3\n4,5,6\n", "in.csv, line 2: 3 cells where the header has 2; mend or delete the line"),
        ("a,b\n1,2\n\n3,4\n", "in.csv, line 3: empty line; delete it"),
        ("a\n1\n \n2\n", "in.csv, line 3: empty line; delete it"),
        ("a\n1\n2\n \t\n", "in.csv, line 4: empty line; delete it"),
        ("a,b\n1,2\n  \n3,4\n", "in.csv, line 3: empty line; delete it"),
        ("a,b,a\n1,2,3\n", "in.csv: the column name 'a' stands twice in the header; rename one"),
        (
            ",a\n0,1\n",
            "in.csv: column 1 has no name in the header; name it (an index written along with the table "
            "can be named and given as --id) or delete it",
        ),
        ("a;b\n1;2\n", "in.csv: the columns seem to be separated by semicolons; save the file with commas"),
        ("a\tb\n1\t2\n", "in.csv: the columns seem to be separated by tabs; save the file with commas"),
        (b"a,b\n1,caf\xe9\n", "in.csv, line 2: byte 0xE9 is not UTF-8; save the file as UTF-8"),
        (
            b"a,b\n1,\x00\n",
            "in.csv, line 2: a NUL byte; this is not a text file, save it as UTF-8 CSV",
        ),
        ('a,b\n1,"x\n', "in.csv, line 2: not valid CSV: unexpected end of data; mend its quotes"),
    ],
)
def test_unusable_csv_says_what_where_and_how_to_mend(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    assert _message(_csv(tmp_path, content)) == message


def test_missing_file_folder_and_unknown_suffix(tmp_path: Path) -> None:
    assert _message(tmp_path / "no.csv") == "no.csv cannot be read: there is no such file"
    (tmp_path / "folder.csv").mkdir()
    assert _message(tmp_path / "folder.csv") == "folder.csv is a folder; give a CSV file"
    (tmp_path / "x.xlsx").write_bytes(b"PK")
    assert _message(tmp_path / "x.xlsx") == (
        "x.xlsx: Excel files are not read; save it as CSV (UTF-8) under a name that ends in .csv"
    )
    assert _message(tmp_path / "plain") == (
        "plain: unknown kind of file 'without a suffix'; use one of .csv, .parquet, .pq"
    )


def test_cut_off_and_foreign_parquet(tmp_path: Path) -> None:
    whole = tmp_path / "whole.parquet"
    write_table(pd.DataFrame({"a": np.arange(100.0)}), whole)
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(whole.read_bytes()[:-50])
    expected = "cut.parquet is not a readable Parquet file (cut off or damaged?): "
    assert _message(cut).startswith(expected)
    cut.write_bytes(b"a,b\n1,2\n")
    assert _message(cut).startswith(expected)
    cut.write_bytes(b"")
    assert _message(cut) == "cut.parquet is empty; it needs a header and records"


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _csv(tmp_path, "a\n1\n")

    def refuse(self: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert _message(path) == "in.csv cannot be read: permission denied"


def test_byte_order_mark_quotes_blank_end_and_windows_line_ends(tmp_path: Path) -> None:
    path = _csv(tmp_path, b'\xef\xbb\xbfa,"b c"\r\n1,"x,\r\ny"\r\n2,z\r\n\r\n\r\n')
    frame = read_table(path)
    assert frame["a"].to_list() == [1, 2]
    assert [text.replace("\r", "") for text in frame["b c"]] == ["x,\ny", "z"]


def test_text_columns_stay_as_written(tmp_path: Path) -> None:
    frame = read_table(_csv(tmp_path, "id,a\n007,1\n7.0,2\n"), text_columns=("id", "absent"))
    assert frame["id"].to_list() == ["007", "7.0"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_numbers_come_back_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, values: list[float]
) -> None:
    path = tmp_path_factory.mktemp("bits") / f"t{suffix}"
    write_table(pd.DataFrame({"x": values, "y": values[::-1]}), path)
    back = read_table(path)
    assert back["x"].astype(float).to_list() == values
    assert back["y"].astype(float).to_list() == values[::-1]


def test_parquet_index_with_a_name_is_a_column(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1.0, 2.0]}, index=pd.Index(["x", "y"], name="id")).to_parquet(path)
    assert list(read_table(path).columns) == ["id", "a"]
    pd.DataFrame({"a": [1.0, 2.0]}, index=pd.Index([5, 6])).to_parquet(path)
    assert list(read_table(path).index) == [0, 1]


def test_written_file_replaces_the_old_one_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    write_whole(target, "new ü")
    assert target.read_bytes() == "new ü".encode()
    write_whole(target, b"\x00\x01")
    assert target.read_bytes() == b"\x00\x01"
    assert _names(tmp_path) == ["out.txt"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_device_is_written_to_not_replaced() -> None:
    write_whole("/dev/null", "text")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_full_device() -> None:
    with pytest.raises(DataError) as caught:
        write_whole("/dev/full", "text")
    assert str(caught.value) == "cannot write /dev/full: no space left on device; nothing was written"


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_full_disk_leaves_the_old_file_and_no_temporary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    elif step == "replace":
        monkeypatch.setattr(Path, "replace", full)
    else:
        opened = Path.open

        def open_full(self: Path, mode: str = "r") -> object:
            handle = opened(self, mode, buffering=0)
            handle.close()
            return _FullFile(handle)

        monkeypatch.setattr(Path, "open", open_full)
    with pytest.raises(DataError) as caught:
        write_table(pd.DataFrame({"a": [1.0]}), target)
    monkeypatch.undo()
    assert str(caught.value) == f"cannot write {target}: no space left on device; nothing was written"
    assert target.read_text() == "old"
    assert _names(tmp_path) == ["out.csv"]


class _FullFile:
    """A file on a full disk."""

    def __init__(self, handle: object) -> None:
        self.handle = handle

    def __enter__(self) -> _FullFile:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def write(self, _: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_interrupted_writing_leaves_no_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "out.csv", "x")
    assert _names(tmp_path) == []


def test_output_folder_missing_or_output_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        write_whole(tmp_path / "no" / "out.csv", "x")
    assert str(caught.value) == (
        f"cannot write {tmp_path}/no/out.csv: the folder {tmp_path}/no does not exist; create it first"
    )
    with pytest.raises(DataError) as caught:
        write_whole(tmp_path, "x")
    assert str(caught.value) == f"cannot write {tmp_path}: it is a folder; give a file name"


def test_no_permission_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError) as caught:
        write_whole(tmp_path / "out.csv", "x")
    assert str(caught.value) == f"cannot write {tmp_path}/out.csv: permission denied; nothing was written"
