"""Files that are being written: what they are called, who may read them, and those that a kill has left."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import secrets
from functools import cache
from pathlib import Path

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
