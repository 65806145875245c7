"""Enforce limits: an answer when they are reached, whatever is being done."""

from __future__ import annotations

import atexit
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from linkrisk.errors import called
from linkrisk.solver.run.clock import Clock, resident_megabytes
from linkrisk.solver.run.errors import CancelledError
from linkrisk.solver.run.interruption import Cancel

_log = logging.getLogger(__name__)

Left = TypeVar("Left", covariant=True)
Answer = TypeVar("Answer")

_TICK = 0.02
"""Seconds between two checks of the work."""

GRACE = 0.25
_LONGER = 0.03
_LONGEST = 3.0
"""What a step may take to notice the clock: so many seconds, and this share of the limit, but no more."""

_MOMENT = 0.3
"""Seconds for a last count after Ctrl-C, or when memory has run out."""

_UNLIMITED = 10.0
"""The limit of which that share is taken where there is none: memory or the user has ended the run."""

_PATIENCE = 5.0
"""Seconds that the end of Python waits for all threads left behind."""


def no_time(verb: str) -> str:
    """Say that no time was left for a part of a run, and what would, such as `take` or `search`, it too."""
    return f"no time was left for it; a longer {called('time_limit')} would {verb} it too"


_unfinished: list[threading.Thread] = []
"""Threads whose answer was not waited for."""


class Work(Protocol[Left]):
    """What a run does, and its answer whenever it ends."""

    def do(self) -> Left:
        """Do all of it."""

    def so_far(self) -> Left:
        """What is known now, out of reach of the thread that is doing it."""


def in_time(work: Work[Left], clock: Clock) -> Left:
    """Do the work in a thread, and go on without it where it does not notice that its time is over.

    What goes wrong in the thread is raised here.
    """
    done: list[Left] = []
    failures: list[BaseException] = []

    def go() -> None:
        try:
            done.append(work.do())
        except BaseException as error:
            failures.append(error)

    began = time.monotonic() - clock.seconds
    thread = threading.Thread(target=go, name="search", daemon=True)
    thread.start()
    over = math.inf
    while thread.is_alive() and time.monotonic() < over:
        thread.join(_TICK)
        if over == math.inf and _is_over(clock, time.monotonic() - began):
            over = time.monotonic() + _grace(clock)
    if thread.is_alive():
        _say_why(clock)
        _log.debug("the running step has not stopped: the answer does not wait for it")
        _unfinished.append(thread)
        return work.so_far()
    if failures:
        raise failures[0]
    _say_why(clock)
    return done[0]


def _say_why(clock: Clock) -> None:
    """Log which limit was reached, if one was."""
    if _log.isEnabledFor(logging.INFO) and clock.limit is not None:
        _log.info("ended after %.3f s: %s", clock.seconds, clock.why)


class _Whole(Generic[Answer]):
    """Work that has no answer before its end."""

    def __init__(self, do: Callable[[], Answer]) -> None:
        self.do = do

    def so_far(self) -> Answer:
        """Nothing is known, so the run is over without an answer."""
        raise CancelledError("the run was cancelled before there was a result")


def cancellable(do: Callable[[], Answer], cancel: Cancel | None) -> Answer:
    """Do work that has no answer before its end; CancelledError when the token was used before.

    Without a token the work is done in this thread, where Ctrl-C reaches it.
    """
    if cancel is None:
        return do()
    work = _Whole(do)
    return work.so_far() if cancel.cancelled else in_time(work, Clock(None, cancel=cancel))


def _grace(clock: Clock) -> float:
    """Seconds that a step may take to notice that the run is over."""
    return GRACE + min(_LONGEST, _LONGER * (clock.time_limit or _UNLIMITED))


def last_call(clock: Clock) -> float:
    """When the last count of an answer must end, in seconds of the clock: most of what a step may take."""
    if clock.stopped or clock.out_of_memory:
        return clock.seconds + _MOMENT
    if clock.ends is None:
        return math.inf
    late = 0.6 * GRACE + 0.8 * min(_LONGEST, _LONGER * clock.ends)
    return max(clock.seconds, clock.ends) + late


def still_working() -> bool:
    """Whether work whose answer was not waited for is still being done."""
    return any(thread.is_alive() for thread in _unfinished)


@atexit.register
def _wait() -> None:
    """Let threads end: at exit, Python would interrupt them in compiled code, and abort."""
    until = time.monotonic() + _PATIENCE
    for thread in _unfinished:
        thread.join(max(0.0, until - time.monotonic()))


def _is_over(clock: Clock, seconds: float) -> bool:
    """Whether the work must end now, without a question to the clock, which is the work's."""
    if clock.memory_limit is not None and resident_megabytes() > clock.memory_limit:
        clock.run_out_of_memory()
        return True
    return clock.stopped or (clock.latest is not None and seconds >= clock.latest)


@contextmanager
def memory_errors(clock: Clock) -> Iterator[None]:
    """Treat a failed allocation as the end of the run, not as an error."""
    try:
        yield
    except MemoryError:
        clock.run_out_of_memory()
