"""Peak resident memory of this process and of the programs it starts."""

from __future__ import annotations

import contextlib
import sys
import threading
from pathlib import Path

TICK = 0.05
"""Seconds between two looks at the programs that this process started."""

PROCESSES = Path("/proc")


class MemoryMeter:
    """Measures from its creation on; started programs are looked at until `peak` is called.

    Linux keeps a peak per process image in ``/proc``. The figure of `resource.getrusage` is used only
    elsewhere: on Linux it survives `exec`, so that a small child of a large parent looks large.
    """

    def __init__(self) -> None:
        self._started = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look_at_started, name="memory meter", daemon=True)
        if (PROCESSES / "self/status").exists():
            self._thread.start()

    def peak(self) -> int:
        """Bytes: this process's own peak plus the largest of the programs it started; 0 if unknown."""
        self._stop.set()
        own = peak_of("self")
        return own + self._started if own else _peak_from_usage()

    def _look_at_started(self) -> None:
        while not self._stop.wait(TICK):
            self._started = max([self._started, *map(peak_of, started_programs())])


def peak_of(process: str) -> int:
    """Peak resident memory of a process in bytes; 0 where ``/proc`` does not tell."""
    with contextlib.suppress(OSError):
        for line in (PROCESSES / process / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    return 0


def started_programs() -> list[str]:
    """Identifiers of the processes that this one started and that still run."""
    found: list[str] = []
    for listed in PROCESSES.glob("self/task/*/children"):
        with contextlib.suppress(OSError):
            found += listed.read_text().split()
    return found


def _peak_from_usage() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return int(own + started) * unit
