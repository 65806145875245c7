"""Peak resident memory of a process and of the programs it starts."""

from __future__ import annotations

import contextlib
import sys
import threading
from pathlib import Path

import psutil

TICK = 0.05
"""Seconds between two looks of a process at the programs that it started."""

PROCESSES = Path("/proc")


class MemoryMeter:
    """Measures this process, and the programs that it starts from now on until `peak` is called.

    Linux keeps a peak per process image in ``/proc``. The figure of `resource.getrusage` is used only
    elsewhere: on Linux it survives `exec`, so that a small child of a large parent looks large.
    """

    def __init__(self) -> None:
        self._started = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look_again, name="memory meter", daemon=True)
        if _told("self"):
            self._thread.start()

    def peak(self) -> int:
        """Bytes: this process's own peak plus the largest of the programs it started; 0 if unknown."""
        self._stop.set()
        self._look()
        own = peak_of("self")
        return own + self._started if own else _peak_from_usage()

    def _look_again(self) -> None:
        while not self._stop.wait(TICK):
            self._look()

    def _look(self) -> None:
        self._started = max([self._started, *map(peak_of, started_programs("self"))])


class MemoryWatch:
    """What another process is seen to hold, for when it cannot be asked any more.

    On Linux a look tells the peak since the process began, elsewhere what it holds just then; of the programs
    that it started, only those that run at a look are known.

    Parameters
    ----------
    process : int
        Its identifier.
    """

    def __init__(self, process: int) -> None:
        self._process = process
        self._own = self._started = 0

    def look(self) -> int:
        """Bytes seen so far: the process's own most plus the most of one program it started; 0 if unknown."""
        name = str(self._process)
        if _told(name):
            own, started = peak_of(name), [peak_of(each) for each in started_programs(name)]
        else:
            own, started = _held_now(self._process)
        self._own, self._started = max(self._own, own), max([self._started, *started])
        return self._own + self._started


def peak_of(process: str) -> int:
    """Peak resident memory of a process in bytes; 0 where ``/proc`` does not tell."""
    with contextlib.suppress(OSError):
        for line in (PROCESSES / process / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    return 0


def started_programs(process: str) -> list[str]:
    """Identifiers of the processes that this one started and that still run."""
    found: list[str] = []
    with contextlib.suppress(OSError):  # the process, or one of its threads, may be gone by now
        for thread in (PROCESSES / process / "task").iterdir():
            with contextlib.suppress(OSError):
                found += (thread / "children").read_text().split()
    return found


def _told(process: str) -> bool:
    return (PROCESSES / process / "status").exists()


def _held_now(process: int) -> tuple[int, list[int]]:
    """Resident bytes of a process, and of each program that it started, on any system."""
    with contextlib.suppress(psutil.Error):
        asked = psutil.Process(process)
        children = asked.children(recursive=True)
        return int(asked.memory_info().rss), [int(child.memory_info().rss) for child in children]
    return 0, []


def _peak_from_usage() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return int(own + started) * unit
