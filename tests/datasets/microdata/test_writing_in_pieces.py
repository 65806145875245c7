"""Long tables are written some rows at a time, whole or not at all, even when the process is killed."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats import base, parquet
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.writing import write_pieces, write_table

ROWS = 7
SUFFIXES = [".csv", ".parquet", ".feather"]


@pytest.fixture(autouse=True)
def few_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (base, parquet):
        monkeypatch.setattr(module, "ROWS_AT_ONCE", ROWS)


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
def test_the_same_as_at_once(
    suffix: str, records: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_what_fails_between_pieces_leaves_nothing(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"first"
        raise DataError("no second")

    with pytest.raises(DataError, match="no second"):
        write_pieces(tmp_path / "out.csv", pieces())
    assert not list(tmp_path.iterdir())


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
