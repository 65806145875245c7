"""Time and memory of a run or of a solve: what has passed, what is left, and which limit has come."""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path

import psutil

from linkrisk.solver.run.status import Limit

_LOOK_AT_MEMORY = 0.02
"""Seconds between two looks at the memory of the process."""


class Clock:
    """Seconds since the start of a run or solve, its deadline and memory, and whether the user asked to stop.

    Parameters
    ----------
    time_limit : float or None
        Seconds until `expired`; None for never.
    memory_limit : float or None
        Megabytes (of a million bytes) of resident memory of this process beyond which the run is `expired`,
        for good; None for any number. Processes that a backend starts are not counted.
    spent : float
        Seconds of the run that have passed before.
    """

    def __init__(
        self, time_limit: float | None, memory_limit: float | None = None, spent: float = 0.0
    ) -> None:
        self.spent = spent
        self._start = time.perf_counter() - spent
        self.time_limit, self.memory_limit = time_limit, memory_limit
        self._stop, self._full = threading.Event(), threading.Event()
        self._next_look, self._reserved = 0.0, 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    def reserve(self, seconds: float) -> None:
        """Be `expired` so much before the time limit: for what is to be done afterwards."""
        self._reserved = seconds

    @property
    def deadline(self) -> float | None:
        """When to be `expired`, in `seconds`; None for never."""
        return None if self.time_limit is None else self.time_limit - self._reserved

    @property
    def remaining(self) -> float | None:
        """Seconds until the deadline, not below zero; None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - self.seconds)

    @property
    def time_left(self) -> float:
        """`remaining` as optimisers write it: inf without a deadline."""
        return math.inf if self.remaining is None else self.remaining

    def stop(self) -> None:
        """Ask the run to stop with what it has."""
        self._stop.set()

    def run_out_of_memory(self) -> None:
        """Note that memory has run out, so that the run stops with what it has."""
        self._full.set()

    @property
    def stopped(self) -> bool:
        """Whether the user asked to stop."""
        return self._stop.is_set()

    @property
    def out_of_memory(self) -> bool:
        """Whether this process has ever been seen to hold more than the memory limit."""
        # Not at every question: searches ask thousands of times a second, and the system takes its time.
        if self.memory_limit is not None and not self._full.is_set() and self.seconds >= self._next_look:
            self._next_look = self.seconds + _LOOK_AT_MEMORY
            if resident_megabytes() > self.memory_limit:
                self._full.set()
        return self._full.is_set()

    @property
    def megabytes_left(self) -> float:
        """What this process may still take; inf without a memory limit, and not below zero."""
        return math.inf if self.memory_limit is None else max(0.0, self.memory_limit - resident_megabytes())

    @property
    def limit(self) -> Limit | None:
        """The limit that ended the run, if one did."""
        if self.stopped:
            return Limit.USER
        if self.out_of_memory:
            return Limit.MEMORY
        return Limit.TIME if self.expired else None

    @property
    def expired(self) -> bool:
        """Whether the run must end now."""
        late = self.deadline is not None and self.seconds >= self.deadline
        return late or self.stopped or self.out_of_memory

    def share(self, part: float, at_most: float) -> float:
        """A point in time, in `seconds`, by which a phase given this part of what remains must end."""
        left = at_most if self.remaining is None else min(at_most, part * self.remaining)
        return self.seconds + left


def resident_megabytes() -> float:
    """Memory that this process holds, in millions of bytes."""
    return float(psutil.Process().memory_info().rss) / 1e6


_USABLE = 0.8
"""Share of the memory that is free which a run may take when nothing else is said."""

_CGROUP = Path("/sys/fs/cgroup")


def usable_megabytes() -> float:
    """A memory limit for who names none: what this process holds, and most of what is free, in megabytes.

    What is free is what the system has, or the container if that has less.
    """
    free = [float(psutil.virtual_memory().available)]
    try:
        most, held = ((_CGROUP / name).read_text() for name in ("memory.max", "memory.current"))
        free.append(float(most) - float(held))
    except (OSError, ValueError):  # no container, or none with a limit
        pass
    return resident_megabytes() + _USABLE * max(0.0, min(free)) / 1e6
