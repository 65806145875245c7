"""Enforce limits: run work in a thread, and return its best answer when a limit is reached."""

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
"""Seconds between two checks of the thread: fewer cost less, and notice its end later."""

GRACE = 0.25
_LONGER = 0.03
_LONGEST = 3.0
"""Grace period for a step to notice the limit: seconds, and this share of the limit, up to a maximum."""

_MOMENT = 0.3
"""Seconds for a last recount after Ctrl-C or a memory limit."""

_UNLIMITED = 10.0
"""Limit assumed for that share where a run without a time limit was ended by memory or the user."""

_PATIENCE = 5.0
"""Seconds that Python's shutdown waits for abandoned threads."""


def no_time(verb: str) -> str:
    """Write that no time was left for a part of a run, and which option gives it more."""
    return f"no time was left for it; a longer {called('time_limit')} would {verb} it too"


_unfinished: list[threading.Thread] = []
"""Threads that were abandoned when their limit passed."""


class Work(Protocol[Left]):
    """Interface of work with an answer at any moment (anytime algorithm)."""

    def do(self) -> Left:
        """Do all the work."""

    def so_far(self) -> Left:
        """Return a copy of the current answer, which the thread no longer changes."""


def in_time(work: Work[Left], clock: Clock) -> Left:
    """Do the work in a thread, and abandon it if it overruns its limit.

    Exceptions of the thread are raised here.
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
    """Log the limit that was reached, if any."""
    if _log.isEnabledFor(logging.INFO) and clock.limit is not None:
        _log.info("ended after %.3f s: %s", clock.seconds, clock.why)


class _Whole(Generic[Answer]):
    """Work without an intermediate answer."""

    def __init__(self, do: Callable[[], Answer]) -> None:
        self.do = do

    def so_far(self) -> Answer:
        """Return nothing: the run ends without an answer."""
        raise CancelledError("the run was cancelled before there was a result")


def cancellable(do: Callable[[], Answer], cancel: Cancel | None) -> Answer:
    """Do work without intermediate answers; CancelledError when the token is cancelled.

    Without a token it runs in this thread, where Ctrl-C interrupts it.
    """
    if cancel is None:
        return do()
    work = _Whole(do)
    return work.so_far() if cancel.cancelled else in_time(work, Clock(None, cancel=cancel))


def _grace(clock: Clock) -> float:
    """Grace period, in seconds, for a step to notice the end of the run."""
    return GRACE + min(_LONGEST, _LONGER * (clock.time_limit or _UNLIMITED))


def last_call(clock: Clock) -> float:
    """Latest end of the last recount, in seconds of the clock: most of the grace period."""
    if clock.stopped or clock.out_of_memory:
        return clock.seconds + _MOMENT
    if clock.ends is None:
        return math.inf
    late = 0.6 * GRACE + 0.8 * min(_LONGEST, _LONGER * clock.ends)
    return max(clock.seconds, clock.ends) + late


def still_working() -> bool:
    """Whether abandoned work is still running."""
    return any(thread.is_alive() for thread in _unfinished)


@atexit.register
def _wait() -> None:
    """Join abandoned threads at exit: Python would interrupt them in compiled code, and abort."""
    until = time.monotonic() + _PATIENCE
    for thread in _unfinished:
        thread.join(max(0.0, until - time.monotonic()))


def _is_over(clock: Clock, seconds: float) -> bool:
    """Whether the work must end now; does not touch the clock, which belongs to the work."""
    if clock.memory_limit is not None and resident_megabytes() > clock.memory_limit:
        clock.run_out_of_memory()
        return True
    return clock.stopped or (clock.latest is not None and seconds >= clock.latest)


@contextmanager
def memory_errors(clock: Clock) -> Iterator[None]:
    """Turn a failed allocation into the memory limit, not an error."""
    try:
        yield
    except MemoryError:
        clock.run_out_of_memory()
