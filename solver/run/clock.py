"""Measure time, work and memory of a run or a solve against its limits."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.work import UNIT


class Status(StrEnum):
    """The outcome of a run or solve, in the vocabulary of OR-tools MathOpt."""

    OPTIMAL = "optimal"  # a solution, and a bound that proves it (the gap is closed)
    FEASIBLE = "feasible"  # a solution and a bound, with a gap between them
    INFEASIBLE = "infeasible"  # the optimiser claims that there is no solution
    NO_SOLUTION = "no_solution"  # no solution in hand when a limit came
    INTERRUPTED = "interrupted"  # the user stopped it; the incumbent is returned


class Limit(StrEnum):
    """The limit that ended a run; or that ties keep bound and attack apart."""

    TIME = "time"
    WORK = "work"
    MEMORY = "memory"
    USER = "user"
    TIES = "ties"


def processors() -> int:
    """Count the processors of the machine that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_LOOK_AT_MEMORY = 0.02
"""Seconds between two memory checks: fewer cost less, and notice an excess later."""

_PLANNED = 4_000.0
"""Megabytes that a work-limited run plans with, so that it is the same on every machine."""


class Clock:
    """Clock of a run or solve: measures time, work and memory, and applies the limits.

    Progress is measured by `now`: seconds, or with a work limit the units of work (`work.UNIT`) that were
    counted; then neither the memory nor the processors of the machine influence the search. `spent`: seconds
    of the run before this clock. A memory limit, in megabytes of a million bytes of this process without
    those that backends start, ends the run for good. `most_threads`: the number of processors when absent.
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
        """Pickle the limits and what has been used of them; stopping the original stops no copy."""
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
        """Count operations that were done (costs are in `work`)."""
        if self.counts:
            with self._counting:
                self._operations += operations

    @property
    def operations(self) -> float:
        """Operations counted so far."""
        return self._operations

    @property
    def now(self) -> float:
        """Seconds since the start, or units of work."""
        return self._operations / UNIT if self.counts else self.seconds

    def reserve(self, seconds: float) -> None:
        """Set aside so much time before the time limit, for steps after the search."""
        self._reserved = seconds

    def leave(self, seconds: float) -> None:
        """Leave so much of the time limit to steps after the run, such as a certificate."""
        self._left = seconds

    @property
    def ends(self) -> float | None:
        """When the run must have ended, in `seconds`; None without a time limit."""
        return None if self.time_limit is None else self.time_limit - self._left

    @property
    def latest(self) -> float | None:
        """Seconds at which the search must end."""
        return None if self.ends is None else self.ends - self._reserved

    @property
    def deadline(self) -> float | None:
        """Value of `now` at which the clock expires; None for never."""
        return self.work_limit if self.counts else self.latest

    @property
    def remaining(self) -> float | None:
        """Remaining seconds or units until the deadline, at least zero; None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - self.now)

    @property
    def seconds_left(self) -> float | None:
        """Remaining seconds, at least zero; None without a time limit."""
        return None if self.latest is None else max(0.0, self.latest - self.seconds)

    @property
    def time_left(self) -> float:
        """`seconds_left` as optimisers write it: inf without a time limit."""
        return math.inf if self.seconds_left is None else self.seconds_left

    def share(self, part: float, at_most: float) -> float:
        """Value of `now` at which a phase must end that gets this share of what remains."""
        left = at_most if self.remaining is None else min(at_most, part * self.remaining)
        return self.now + left

    @property
    def threads(self) -> int:
        """Threads for searches that depend on the order of threads: one where work is counted."""
        return 1 if self.counts else self.processors

    @property
    def processors(self) -> int:
        """Processors available to the run."""
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
        """Whether this process has exceeded the memory limit at any check."""
        # Rate-limited: searches ask thousands of times a second, and a system call is slow.
        if self.memory_limit is not None and not self._full.is_set() and self.seconds >= self._next_look:
            self._next_look = self.seconds + _LOOK_AT_MEMORY
            if resident_megabytes() > self.memory_limit:
                self._full.set()
        return self._full.is_set()

    @property
    def megabytes_left(self) -> float:
        """Megabytes that this process may still allocate, at least zero; inf without a memory limit."""
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
        """Describe the limit that ended the run."""
        said = {
            Limit.USER: "the user asked to stop",
            Limit.MEMORY: f"memory: the limit is {self.memory_limit or math.inf:.0f} MB",
            Limit.WORK: f"work: the limit is {self.work_limit or 0.0:g} units",
            Limit.TIME: f"time: the limit is {self.time_limit or 0.0:g} s",
        }
        return "no limit" if self.limit is None else said[self.limit]

    def part(self, limit: float | None) -> Clock:
        """Create a clock for a part of the run, with a limit in units of `now`; it counts work for both."""
        return _Part(self, limit)

    def part_of_left(self, share: float) -> Clock:
        """Create a clock for a share of the time left; without a limit if there is none."""
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
    """Make a property that delegates to the followed clock."""
    return property(lambda clock: getattr(clock._whole, name), doc=f"`Clock.{name}` of the whole run.")


class Beside(Clock):
    """Clock that delegates to another one and passes on counted work; a subclass may expire earlier."""

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
        """Set aside time before the run's limit, for steps after the search."""
        self._whole.reserve(seconds)

    def stop(self) -> None:
        """Ask the whole run to stop with what it has."""
        self._whole.stop()

    def run_out_of_memory(self) -> None:
        """Note that memory has run out, for the whole run."""
        self._whole.run_out_of_memory()

    @property
    def expired(self) -> bool:
        """Whether this part must end now."""
        return self._whole.expired


AUTOMATIC = "auto"
"""Memory limit that leaves other programs a part of the free memory."""


@dataclass(frozen=True)
class Limits:
    """Limits of a run."""

    time: float | None = None  # seconds
    memory: float | str | None = AUTOMATIC  # megabytes; ``auto`` for most of what is free at the start
    work: float | None = None  # units
    cancel: Cancel | None = None
    threads: int | None = None  # as many as there are processors when None

    def clock(self, spent: float = 0.0) -> Clock:
        """Start a clock with these limits, for a run that has used `spent` seconds."""
        memory = usable_megabytes() if self.memory == AUTOMATIC else self.memory
        memory = None if memory is None else float(memory)
        return Clock(
            self.time, memory, spent, work_limit=self.work, cancel=self.cancel, most_threads=self.threads
        )


def resident_megabytes() -> float:
    """Measure the resident memory of this process, in millions of bytes."""
    return float(_process(os.getpid()).memory_info().rss) / 1e6


@cache
def _process(number: int) -> psutil.Process:
    """What asks about a process; a copy of this one has another number."""
    return psutil.Process(number)


_USABLE = 0.8
"""Default share of free memory that a run may use: more lets more rows in, and other programs swap."""

_CGROUP = Path("/sys/fs/cgroup")


def usable_megabytes() -> float:
    """Compute the default memory limit: resident memory and most of the free memory, in megabytes.

    Free memory is that of the system, or of the container if that has less.
    """
    free = [float(psutil.virtual_memory().available)]
    try:
        most, held = ((_CGROUP / name).read_text() for name in ("memory.max", "memory.current"))
        free.append(float(most) - float(held))
    except (OSError, ValueError):  # no container, or none with a limit
        pass
    return resident_megabytes() + _USABLE * max(0.0, min(free)) / 1e6
