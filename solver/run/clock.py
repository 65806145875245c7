"""Measure time, work and memory of a run or of a solve against its limits."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import psutil

from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.work import UNIT


class Status(StrEnum):
    """How it ended, in the vocabulary of OR-tools MathOpt."""

    OPTIMAL = "optimal"  # a solution, and a bound that proves it (the gap is closed)
    FEASIBLE = "feasible"  # a solution and a bound, with a gap between them
    INFEASIBLE = "infeasible"  # there is no solution, in the optimiser's opinion
    NO_SOLUTION = "no_solution"  # no solution in hand when a limit came
    INTERRUPTED = "interrupted"  # the user stopped it; whatever was found is returned


class Limit(StrEnum):
    """Which limit ended it; or that what counts as a tie keeps bound and attack apart."""

    TIME = "time"
    WORK = "work"
    MEMORY = "memory"
    USER = "user"
    TIES = "ties"


def processors() -> int:
    """How many there are: of those of the machine, the ones that it was not kept from."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_LOOK_AT_MEMORY = 0.02
"""Seconds between two checks of the memory of the process."""

_PLANNED = 4_000.0
"""Megabytes that a run whose work is counted plans with, so that it does the same on every machine."""


class Clock:
    """Time, work and memory of a run or solve, the limits that end it, and whether the user stopped it.

    Progress is measured by `now`: seconds, or with a work limit the units of work (`work.UNIT`) that were
    counted; then neither the memory nor the processors of the machine decide anything. `spent` seconds of the
    run have passed before. A memory limit, in megabytes of a million bytes of this process without those that
    backends start, ends the run for good. `most_threads`: as many as there are processors when absent.
    """

    def __init__(
        self,
        time_limit: float | None,
        memory_limit: float | None = None,
        spent: float = 0.0,
        *,
        work_limit: float | None = None,
        cancel: Cancel | None = None,
        most_threads: int | None = None,
    ) -> None:
        self.most_threads = most_threads
        self.spent = spent
        self._start = time.perf_counter() - spent
        self.time_limit, self.memory_limit, self.work_limit = time_limit, memory_limit, work_limit
        self.cancel = cancel
        self._stop, self._full = threading.Event(), threading.Event()
        self._next_look, self._reserved, self._left = 0.0, 0.0, 0.0
        self._operations, self._counting = 0.0, threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Take along to another process what has passed and the limits; it is stopped from where it began."""
        own = ("cancel", "_stop", "_full", "_counting", "_start")
        kept = {name: value for name, value in vars(self).items() if name not in own}
        return {**kept, "spent": self.seconds}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        self._start, self.cancel = time.perf_counter() - self.spent, None
        self._stop, self._full, self._counting = threading.Event(), threading.Event(), threading.Lock()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    # ---- how far the run has come

    @property
    def counts(self) -> bool:
        """Whether work is counted, so that a run is the same on every machine."""
        return self.work_limit is not None

    def spend(self, operations: float) -> None:
        """Count work that was done (`work` says what costs how much)."""
        if self.counts:
            with self._counting:
                self._operations += operations

    @property
    def operations(self) -> float:
        """Those that were counted."""
        return self._operations

    @property
    def now(self) -> float:
        """Seconds since the start, or units of work."""
        return self._operations / UNIT if self.counts else self.seconds

    def reserve(self, seconds: float) -> None:
        """Be `expired` so much before the time limit: for what is to be done afterwards."""
        self._reserved = seconds

    def leave(self, seconds: float) -> None:
        """Leave so much of the time limit to what comes after the run, such as a certificate of it."""
        self._left = seconds

    @property
    def ends(self) -> float | None:
        """When the run must have ended, in `seconds`; None without a time limit."""
        return None if self.time_limit is None else self.time_limit - self._left

    @property
    def latest(self) -> float | None:
        """When the time is over, in `seconds`."""
        return None if self.ends is None else self.ends - self._reserved

    @property
    def deadline(self) -> float | None:
        """When to be `expired`, measured as `now`; None for never."""
        return self.work_limit if self.counts else self.latest

    @property
    def remaining(self) -> float | None:
        """What is left until the deadline, not below zero; None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - self.now)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the time is over, not below zero; None without a time limit."""
        return None if self.latest is None else max(0.0, self.latest - self.seconds)

    @property
    def time_left(self) -> float:
        """`seconds_left` as optimisers write it: inf without a time limit."""
        return math.inf if self.seconds_left is None else self.seconds_left

    def share(self, part: float, at_most: float) -> float:
        """When a phase must end that is given this part of what remains, measured as `now`."""
        left = at_most if self.remaining is None else min(at_most, part * self.remaining)
        return self.now + left

    @property
    def threads(self) -> int:
        """Threads for searches whose way depends on which of them is first: one where work is counted."""
        return 1 if self.counts else self.processors

    @property
    def processors(self) -> int:
        """Processors that the run may use: those of this process, unless it was given fewer."""
        return self.most_threads or processors()

    # ---- what ends it

    def stop(self) -> None:
        """Ask the run to stop with what it has."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether the user asked to stop."""
        return self._stop.is_set() or (self.cancel is not None and self.cancel.cancelled)

    def run_out_of_memory(self) -> None:
        """Note that memory has run out, so that the run stops with what it has."""
        self._full.set()

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
        """What this process may still take, for planning; inf without a memory limit, and not below zero."""
        if self.counts:
            return _PLANNED
        return math.inf if self.memory_limit is None else max(0.0, self.memory_limit - resident_megabytes())

    @property
    def limit(self) -> Limit | None:
        """The limit that ended the run, if one did."""
        if self.stopped:
            return Limit.USER
        if self.out_of_memory:
            return Limit.MEMORY
        if self._worked:
            return Limit.WORK
        return Limit.TIME if self._late else None

    @property
    def expired(self) -> bool:
        """Whether the run must end now."""
        return self._late or self._worked or self.stopped or self.out_of_memory

    @property
    def _late(self) -> bool:
        return self.latest is not None and self.seconds >= self.latest

    @property
    def _worked(self) -> bool:
        return self.work_limit is not None and self.now >= self.work_limit

    @property
    def why(self) -> str:
        """Which limit ended the run, and how large it is, in words."""
        said = {
            Limit.USER: "the user asked to stop",
            Limit.MEMORY: f"memory: the limit is {self.memory_limit or math.inf:.0f} MB",
            Limit.WORK: f"work: the limit is {self.work_limit or 0.0:g} units",
            Limit.TIME: f"time: the limit is {self.time_limit or 0.0:g} s",
        }
        return "no limit" if self.limit is None else said[self.limit]

    def part(self, limit: float | None) -> Clock:
        """A clock for a part of the run, whose limit is measured as `now`; the work is counted here, too."""
        return _Part(self, limit)

    def part_of_left(self, share: float) -> Clock:
        """A clock for a share of the time that is left; without limit where there is none."""
        left = self.seconds_left
        return self.part(None if left is None else share * left)


class _Part(Clock):
    """The clock of a part of a run."""

    def __init__(self, whole: Clock, limit: float | None) -> None:
        work = limit if whole.counts else None
        super().__init__(
            whole.seconds_left if whole.counts else limit,
            whole.memory_limit,
            work_limit=work,
            cancel=whole.cancel,
            most_threads=whole.most_threads,
        )
        self._whole = whole

    def spend(self, operations: float) -> None:
        """Count work that was done, for the whole run as well."""
        super().spend(operations)
        self._whole.spend(operations)

    @property
    def stopped(self) -> bool:
        """Whether the user asked this part to stop, or the run."""
        return super().stopped or self._whole.stopped

    @property
    def out_of_memory(self) -> bool:
        """Whether memory has run out here, or for the run."""
        return super().out_of_memory or self._whole.out_of_memory


def _followed(name: str) -> Any:
    """Make a property that is that of the clock which is followed."""
    return property(lambda clock: getattr(clock._whole, name), doc=f"`Clock.{name}` of the whole run.")


class Beside(Clock):
    """A clock that follows another and passes on what it counts; a subclass may end earlier."""

    def __init__(self, whole: Clock) -> None:
        limits = whole.time_limit, whole.memory_limit, whole.seconds
        super().__init__(
            *limits, work_limit=whole.work_limit, cancel=whole.cancel, most_threads=whole.most_threads
        )
        self._whole = whole

    seconds, now = _followed("seconds"), _followed("now")
    ends, latest, deadline = _followed("ends"), _followed("latest"), _followed("deadline")
    stopped, out_of_memory = _followed("stopped"), _followed("out_of_memory")

    def spend(self, operations: float) -> None:
        """Count work of the whole run."""
        self._whole.spend(operations)

    def reserve(self, seconds: float) -> None:
        """Leave the end of the whole run's time to what is to be done afterwards."""
        self._whole.reserve(seconds)

    def stop(self) -> None:
        """Ask the whole run to stop with what it has."""
        self._whole.stop()

    def run_out_of_memory(self) -> None:
        """Note that memory has run out, for the whole run."""
        self._whole.run_out_of_memory()

    @property
    def expired(self) -> bool:
        """Whether this must end now."""
        return self._whole.expired


AUTOMATIC = "auto"
"""The memory limit that leaves other programs a part of what is free."""


@dataclass(frozen=True)
class Limits:
    """Limits of a run."""

    time: float | None = None  # seconds
    memory: float | str | None = AUTOMATIC  # megabytes; ``auto`` for most of what is free at the start
    work: float | None = None  # units
    cancel: Cancel | None = None
    threads: int | None = None  # as many as there are processors when None

    def clock(self, spent: float = 0.0) -> Clock:
        """A clock with these limits, of a run of which some seconds have passed."""
        memory = usable_megabytes() if self.memory == AUTOMATIC else self.memory
        memory = None if memory is None else float(memory)
        return Clock(
            self.time, memory, spent, work_limit=self.work, cancel=self.cancel, most_threads=self.threads
        )


def resident_megabytes() -> float:
    """Memory that this process holds, in millions of bytes."""
    return float(psutil.Process().memory_info().rss) / 1e6


_USABLE = 0.8
"""Share of the memory that is free which a run may take when nothing else is said."""

_CGROUP = Path("/sys/fs/cgroup")


def usable_megabytes() -> float:
    """The memory limit where none is named: what this process holds, and most of what is free, in megabytes.

    What is free is what the system has, or the container if that has less.
    """
    free = [float(psutil.virtual_memory().available)]
    try:
        most, held = ((_CGROUP / name).read_text() for name in ("memory.max", "memory.current"))
        free.append(float(most) - float(held))
    except (OSError, ValueError):  # no container, or none with a limit
        pass
    return resident_megabytes() + _USABLE * max(0.0, min(free)) / 1e6
