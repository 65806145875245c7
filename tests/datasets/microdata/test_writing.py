"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata import writing as module
from linkrisk.datasets.microdata.formats import base, parquet
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.writing import (
    together,
    unfinished,
    write_all,
    write_pieces,
    write_table,
    write_whole,
)


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


@pytest.mark.parametrize("step", [(os, "fsync"), (Path, "replace")], ids=lambda step: step[1])
def test_full_disk_leaves_the_old_file_and_no_temporary(tmp_path, monkeypatch, step):
    target = tmp_path / "out.csv"
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(*step, full)
    with pytest.raises(DataError) as caught:
        write_table(pd.DataFrame({"a": [1.0]}), target)
    monkeypatch.undo()
    assert str(caught.value) == f"cannot write {target}: no space left on device; nothing was written"
    assert target.read_text() == "old"
    assert _names(tmp_path) == ["out.csv"]


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


@pytest.mark.parametrize("at", [0, 1])
def test_several_files_are_written_all_or_none(tmp_path, monkeypatch, at):
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
    write_whole(os.devnull, "and alone")
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


# Long tables are written some rows at a time, whole or not at all, even when the process is killed


ROWS = 7
SUFFIXES = [".csv", ".parquet", ".feather"]


@pytest.fixture(autouse=True)
def few_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in (base, parquet):
        monkeypatch.setattr(each, "ROWS_AT_ONCE", ROWS)


def frame(records: int) -> pd.DataFrame:
    """Text, truth that begins as not known, whole numbers and others."""
    linked = [None, *(at % 3 == 0 for at in range(1, records))]
    numbers = np.random.default_rng(1).random(records)
    return pd.DataFrame(
        {
            "record": [f"p{at}" for at in range(records)],
            "linked": pd.Series([None] * min(ROWS, records) + linked[ROWS:], dtype=object),
            "rank": np.arange(records),
            "distance": np.where(numbers < 0.2, np.nan, numbers),
        }
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("records", [ROWS + 1, 3 * ROWS, 3 * ROWS + 2])
def test_the_same_as_at_once(suffix, records, tmp_path, monkeypatch):
    table = frame(records)
    write_table(table, tmp_path / f"pieces{suffix}")
    monkeypatch.setattr(base, "ROWS_AT_ONCE", records)
    write_table(table, tmp_path / f"once{suffix}")
    pieces, once = (read_table(tmp_path / f"{name}{suffix}") for name in ("pieces", "once"))
    pd.testing.assert_frame_equal(pieces, once)
    if suffix == ".csv":
        assert (tmp_path / "pieces.csv").read_bytes() == (tmp_path / "once.csv").read_bytes()


@pytest.mark.parametrize(
    ("suffix", "left"), [(".feather", 0), *((suffix, left) for suffix in SUFFIXES[:2] for left in (0, 1, 2))]
)
def test_a_disk_that_fills(suffix: str, left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / f"out{suffix}"
    target.write_text("older")
    opened, room = Path.open, [left]

    def fills(path: Path, mode: str = "r") -> object:
        handle = opened(path, mode, buffering=0)
        write = handle.write

        class Full:
            def __enter__(self) -> Full:
                return self

            def __exit__(self, *_: object) -> None:
                handle.close()

            flush, fileno = staticmethod(handle.flush), staticmethod(handle.fileno)

            def write(self, content: bytes) -> int:
                if not room[0]:
                    write(content[: len(content) // 2])
                    raise OSError(errno.ENOSPC, "No space left on device")
                room[0] -= 1
                return write(content)

        return Full()

    table = frame(3 * ROWS)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", fills)
        with pytest.raises(DataError) as caught:
            write_table(table, target)
    assert str(caught.value) == f"cannot write {target}: no space left on device; nothing was written"
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    assert target.read_text() == "older"


CHILD = """
import os, resource, signal, sys
sys.path[:0] = {path!r}
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.writing import write_pieces

def pieces(at):
    for piece in range(4):
        if piece == at:
            os.kill(os.getpid(), signal.SIGKILL)
        yield b"x" * 100_000

for at in range(4):
    child = os.fork()
    if not child:
        write_pieces("killed.csv", pieces(at))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    write_pieces("large.csv", pieces(4))
except DataError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals and limits on this system")
def test_killed_at_any_piece_and_too_large_a_file(tmp_path: Path) -> None:
    (tmp_path / "killed.csv").write_text("older")
    child = subprocess.run(
        [sys.executable, "-B", "-c", CHILD.format(path=sys.path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=tmp_path,
    )
    said = "cannot write large.csv: file too large; nothing was written"
    assert (child.stdout.splitlines(), child.stderr) == ([*["-9"] * 4, said], "")
    assert (tmp_path / "killed.csv").read_text() == "older"
    assert not list(tmp_path.glob("*large*"))


# What a killed process leaves of a file: nothing that others can read, and nothing after the next write


KILLED = """
import os, signal, sys
from linkrisk.datasets.microdata.writing import write_pieces

def pieces():
    yield b"the original"
    os.kill(os.getpid(), int(sys.argv[2]))

write_pieces(sys.argv[1], pieces())
"""


@pytest.fixture(autouse=True)
def _forget() -> None:
    module._clear.cache_clear()


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM], ids=["SIGKILL", "SIGTERM"])
def test_the_next_write_removes_what_a_kill_has_left(tmp_path: Path, by: signal.Signals) -> None:
    target = tmp_path / "file.csv"
    done = subprocess.run([sys.executable, "-c", KILLED, str(target), str(int(by))], check=False)
    assert done.returncode == -by
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".linkrisk-")
    assert left.stat().st_mode & 0o077 == 0
    write_whole(target, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file.csv"]


def test_what_runs_here_or_on_another_machine_is_left_alone(tmp_path: Path) -> None:
    mine = unfinished(tmp_path / "a")
    host = mine.name.split("-")[1]
    elsewhere = tmp_path / mine.name.replace(host, "0" * 8).replace(str(os.getpid()), "999999999")
    named_alike = tmp_path / f".linkrisk-{host}-999999999.part"
    for path in (elsewhere, named_alike):
        path.touch()
    module._clear.cache_clear()
    write_whole(tmp_path / "b", "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [mine.name, elsewhere.name, named_alike.name, "b"]
    )


@pytest.mark.parametrize(
    ("umask", "mode", "expected"), [(0o022, 0o666, 0o644), (0o077, 0o666, 0o600), (0, 0o600, 0o600)]
)
def test_a_file_has_its_mode_when_it_has_its_name(tmp_path, umask, mode, expected):
    seen = []

    def pieces():
        yield b"x"
        seen.extend(path.stat().st_mode & 0o777 for path in tmp_path.iterdir())

    before = os.umask(umask)
    try:
        write_pieces(tmp_path / "all", pieces())
        write_whole(tmp_path / "file", "x", mode=mode)
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert seen == [0o600]
    assert (tmp_path / "file").stat().st_mode & 0o777 == expected
