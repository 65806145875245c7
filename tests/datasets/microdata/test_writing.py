"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.writing import together, write_all, write_table, write_whole


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


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


@pytest.mark.parametrize("at", [0, 1])
def test_several_files_are_written_all_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    one, two = tmp_path / "a.asc", tmp_path / "a.rda"
    one.write_text("old")
    write_all({one: b"1", two: b"2"})
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    synced: list[int] = []

    def full(_: int) -> None:
        synced.append(1)
        if len(synced) > at:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError) as caught:
        write_all({one: b"3", two: b"4"})
    assert str(caught.value) == (
        f"cannot write {(one, two)[at]}: no space left on device; nothing was written"
    )
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    assert _names(tmp_path) == ["a.asc", "a.rda"]
    with pytest.raises(DataError, match="does not exist; create it first"):
        write_all({one: b"5", tmp_path / "no" / "b.rda": b"6"})
    assert one.read_bytes() == b"1"


def test_files_of_a_block_take_their_names_at_its_end(tmp_path: Path) -> None:
    old, table = tmp_path / "a.json", tmp_path / "b.csv"
    old.write_text("old")
    with together():
        write_whole(old, "new", mode=0o600)
        with together():
            write_table(pd.DataFrame({"a": [1]}), table)
        assert old.read_text() == "old"
        assert not table.exists()
    assert (old.read_text(), table.read_text()) == ("new", "a\n1\n")
    assert stat.S_IMODE(old.stat().st_mode) == 0o600
    assert _names(tmp_path) == ["a.json", "b.csv"]


def test_a_block_that_fails_writes_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("old")
    with pytest.raises(DataError, match="does not exist; create it first"), together():  # noqa: PT012
        write_all({kept: b"new", tmp_path / "new.txt": b"new"})
        write_whole(Path(os.devnull), "a device stays one among several files, too")
        write_whole(tmp_path / "none" / "c.txt", "new")
    assert kept.read_text() == "old"
    assert _names(tmp_path) == ["kept.txt"]
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
    write_whole(kept, "afterwards as before")
    assert kept.read_text() == "afterwards as before"


def test_what_was_written_before_a_name_that_cannot_be_taken_is_said(tmp_path: Path) -> None:
    one, two = tmp_path / "a.txt", tmp_path / "b.txt"
    with pytest.raises(DataError, match=r"^cannot write .*b\.txt: is a directory; written were .*a\.txt$"):  # noqa: PT012, SIM117
        with together():
            write_whole(one, "new")
            write_whole(two, "new")
            two.mkdir()
    assert _names(tmp_path) == ["a.txt", "b.txt"]


def test_a_name_that_cannot_be_taken(tmp_path: Path) -> None:
    """What became a folder meanwhile."""
    target = tmp_path / "a.txt"
    with pytest.raises(DataError, match=r"^cannot write .*a\.txt: is a directory; nothing was written$"):  # noqa: PT012, SIM117
        with together():
            write_whole(target, "new")
            target.mkdir()
    assert _names(tmp_path) == ["a.txt"]
