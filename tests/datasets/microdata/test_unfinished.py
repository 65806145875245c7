"""What a killed process leaves of a file: nothing that others can read, and nothing after the next write."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from linkrisk.datasets.microdata import writing as module
from linkrisk.datasets.microdata.writing import unfinished, write_pieces, write_whole

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
def test_a_file_has_its_mode_when_it_has_its_name(
    tmp_path: Path, umask: int, mode: int, expected: int
) -> None:
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
