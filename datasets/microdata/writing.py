"""Writes files atomically: each completely or not at all, those of a block together."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from linkrisk.datasets.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from linkrisk.datasets.microdata.formats.base import StoredFile


_NAME = re.compile(r"\.linkrisk-(?P<host>[0-9a-f]{8})-(?P<pid>\d+)-[0-9a-f]{8}\.part")


def unfinished(target: Path) -> Path:
    """A new empty file beside a target, which its owner alone may read.

    Its name says which process of which machine writes it. What killed processes have left in the folder is
    removed, the first time that this process writes there.
    """
    _clear(str(target.parent))
    name = f".linkrisk-{_host()}-{os.getpid()}-{secrets.token_hex(4)}.part"
    path = target.with_name(name)
    path.touch(0o600, exist_ok=False)
    return path


def allowed(mode: int) -> int:
    """What the user's umask leaves of a mode."""
    umask = os.umask(0o077)  # it can only be read by setting it: for this moment to the strictest
    os.umask(umask)
    return mode & ~umask


@cache
def _clear(folder: str) -> None:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _NAME.fullmatch(entry.name)
            if found and found["host"] == _host() and not _runs(int(found["pid"])):
                with contextlib.suppress(OSError):  # of another user, say
                    Path(entry.path).unlink()


@cache
def _host() -> str:
    """Name this machine, whose processes can be asked for: others may write to the same folder."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _runs(pid: int) -> bool:
    import psutil

    return bool(psutil.pid_exists(pid))


_Waiting = list[tuple[str | Path, Path, Path, int]]
"""What a file was called, the temporary file that it is until the end, what it becomes then, and its mode."""

_waiting: ContextVar[_Waiting | None] = ContextVar("waiting", default=None)
"""The files of the outermost `together`."""

SECRET = 0o600
"""The mode of files that hold originals or undo what protects them: their owner's only."""

_most: ContextVar[int] = ContextVar("most", default=0o666)
"""What files may be allowed at most."""


@contextmanager
def for_the_house() -> Iterator[None]:
    """Write the files of a block so that their owner alone can read them."""
    token = _most.set(SECRET)
    try:
        yield
    finally:
        _most.reset(token)


def write_table(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a table in the format that the suffix of `path` says, whole or not at all.

    The index is not written. Where the format can, a long table is written some rows at a time, and is never
    in memory as text or bytes. Floating-point numbers have as many digits as it takes to read the same double
    back.
    """
    from linkrisk.datasets.microdata.formats.base import ROWS_AT_ONCE, StoredFile
    from linkrisk.datasets.microdata.formats.registry import writable_format

    stored = StoredFile(frame)
    made = writable_format(path)
    pieces = made.pieces(stored, Path(path)) if len(frame) > ROWS_AT_ONCE else None
    if pieces is None:
        write_all(contents(stored, path))
    else:
        write_pieces(path, pieces)


def contents(stored: StoredFile, path: str | Path) -> dict[Path, bytes]:
    """What `write_table` writes: the file at `path` first, then those that belong beside it."""
    from linkrisk.datasets.microdata.formats.registry import writable_format

    return writable_format(path).write(stored, Path(path))


@contextmanager
def together() -> Iterator[_Waiting]:
    """Write all files of a block, or none: they take their names at its end, if nothing went wrong.

    A block inside another one is a part of it. Devices and pipes are written to as they come.
    """
    outer = _waiting.get()
    if outer is not None:
        yield outer
        return
    made: _Waiting = []
    token = _waiting.set(made)
    try:
        yield made
        _take_names(made)
    finally:
        _waiting.reset(token)
        for _, temporary, *_ in made:
            temporary.unlink(missing_ok=True)


def _take_names(made: _Waiting) -> None:
    for at, (path, temporary, target, mode) in enumerate(made):
        try:
            temporary.chmod(allowed(mode))
            temporary.replace(target)
        except OSError as error:
            before = ", ".join(str(one) for one, *_ in made[:at])
            left = f"written were {before}" if before else "nothing was written"
            raise DataError(f"cannot write {path}: {reason(error)}; {left}") from error


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write some files, all of them or none."""
    for path in files:
        _target(path)  # a folder that is not there is said before anything is made
    with together():
        for path, content in files.items():
            write_whole(path, content)


def write_pieces(path: str | Path, pieces: Iterable[bytes]) -> None:
    """Write a file whole or not at all, its content piece by piece (see `write_whole`)."""
    _write(path, pieces, 0o666)


def write_whole(path: str | Path, content: str | bytes, *, mode: int = 0o666) -> None:
    """Write a file whole or not at all; `mode` says who may read it, as far as the user's umask allows.

    The content goes to a temporary file in the same folder, is flushed to the disk and then takes the name
    `path` in one step; on any failure the temporary file is removed and an older file at `path` stays as it
    was; until then nobody but its owner can read it, and what a killed process leaves is removed by the next
    one that writes there. A device or pipe (such as /dev/null) is written to directly.
    """
    _write(path, (content.encode("utf-8") if isinstance(content, str) else content,), mode)


def _write(path: str | Path, pieces: Iterable[bytes], mode: int) -> None:
    target = _target(path)
    with together() as waiting:
        try:
            if target.exists() and not stat.S_ISREG(target.stat().st_mode):
                # Renaming a file onto a device would replace the device itself.
                with target.open("wb") as device:
                    device.writelines(pieces)
            else:
                waiting.append((path, _temporary(target, pieces), target, mode & _most.get()))
        except OSError as error:
            raise DataError(f"cannot write {path}: {reason(error)}; nothing was written") from error


def _target(path: str | Path) -> Path:
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise DataError(f"cannot write {path}: the folder {target.parent} does not exist; create it first")
    if target.is_dir():
        raise DataError(f"cannot write {path}: it is a folder; give a file name")
    return target


def _temporary(target: Path, pieces: Iterable[bytes]) -> Path:
    temporary = unfinished(target)
    try:
        with temporary.open("wb") as handle:
            for piece in pieces:
                handle.write(piece)
            handle.flush()
            os.fsync(handle.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def reason(error: OSError) -> str:
    """What went wrong with a file, in small letters."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return (error.strerror or str(error)).lower()
