"""Limits as promises: an answer when they come, whatever is being done, and a last look at all records."""

from __future__ import annotations

import atexit
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import FrameType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.backends.base import Status
from linkrisk.solver.engines.base import EngineResult, Record
from linkrisk.solver.linkage.evaluator import Evaluation, Evaluator
from linkrisk.solver.run.clock import Clock, Limit, resident_megabytes

BoolArray = NDArray[np.bool_]

_MOMENT = 0.3
"""Seconds for a last look after Ctrl-C, or when memory has run out."""

_TICK = 0.02
_GRACE = 0.25
_LONGER = 0.03
_LONGEST = 3.0
"""What a step may take to notice the clock: so many seconds, and this share of the limit, but no more."""

_UNCOUNTED = (
    "{:,} of {:,} records were compared before the {} limit came: the others count as not re-identified in "
    "what is found, and as re-identified in the bound"
)


@dataclass
class Run:
    """What a search has in its hands, and in the end what it leaves behind.

    Attributes
    ----------
    record : Record
        Attack and bound.
    evaluator : Evaluator
        Has counted them.
    system : BlockSystem
        The rows that the engine works on.
    outcome : EngineResult
        How the engine ended; until then, what is to be said when the run is cut off.
    phases : dict
        Seconds by phase.
    baselines : dict
        Weight linked by each distance that needs no learning; None where there was no time to count it.
    in_order : ndarray of bool, shape (blocks,), or None
        Blocks linked by the order of attributes or ranks that has raised the bound.
    """

    record: Record
    evaluator: Evaluator
    system: BlockSystem
    outcome: EngineResult
    phases: dict[str, float] = field(default_factory=dict)
    baselines: dict[str, float | None] = field(default_factory=dict)
    in_order: BoolArray | None = None

    @property
    def out_of_reach(self) -> BoolArray:
        """Blocks that one rival alone keeps from being linked, but for those that an order links."""
        lost = self.system.lost
        return lost if self.in_order is None else lost & ~self.in_order

    @cached_property
    def final(self) -> Evaluation:
        """What became of every block under the best parameters, as far as the time limit and a moment allow.

        Blocks that neither this nor the count of these parameters has looked at are not `settled`.
        """
        aggregator, record = self.system.aggregator, self.record
        record.theta = aggregator.domain.exact(record.theta)  # as they are written, and exactly in the domain
        until = _last_call(record.clock)
        evaluation = self.evaluator.final(
            aggregator.form(record.theta), lambda: record.clock.seconds >= until
        )
        # What was counted in part before may now be more; and less, by a rounding that was moved inside.
        record.improve(record.theta, evaluation.linked_weight)
        if evaluation.settled.all():
            record.linked = evaluation.linked_weight
        self.outcome = out_of_time(self.record, self.outcome)
        compared = int(evaluation.settled.sum())
        if compared < evaluation.settled.size:
            limit = self.outcome.limit or Limit.TIME
            note = _UNCOUNTED.format(compared, evaluation.settled.size, limit.value)
            self.outcome = replace(self.outcome, notes=(*self.outcome.notes, note))
        return evaluation


def _last_call(clock: Clock) -> float:
    """When the last look at all records must end, in seconds of the clock."""
    if clock.stopped or clock.out_of_memory:
        return clock.seconds + _MOMENT
    if clock.time_limit is None:
        return float("inf")
    return (
        max(clock.seconds, clock.time_limit) + 0.6 * _GRACE + 0.8 * min(_LONGEST, _LONGER * clock.time_limit)
    )


Handler = Callable[[int, FrameType | None], Any] | int | None
"""What Python calls when a signal comes, as `signal.getsignal` gives it."""


class Work(Protocol):
    """What a search does, and what it has in its hands meanwhile."""

    run: Run

    def do(self) -> None:
        """Do all of it."""

    def so_far(self) -> Run:
        """What is known now, out of reach of the thread that is doing it."""


def in_time(work: Work, clock: Clock) -> Run:
    """Do the work in a thread, and go on without it where it does not notice that its time is over."""
    failures: list[BaseException] = []

    def go() -> None:
        try:
            work.do()
        except BaseException as error:
            failures.append(error)

    began = time.monotonic() - clock.spent
    thread = threading.Thread(target=go, name="search", daemon=True)
    thread.start()
    over = math.inf
    while thread.is_alive() and time.monotonic() < over:
        thread.join(_TICK)
        if over == math.inf and _is_over(clock, time.monotonic() - began):
            over = time.monotonic() + _GRACE + min(_LONGEST, _LONGER * (clock.time_limit or 10.0))
    if thread.is_alive():
        _left_behind.append(thread)
        return work.so_far()
    if failures:
        raise failures[0]
    return work.run


_left_behind: list[threading.Thread] = []
"""Searches whose answer was not waited for."""

_PATIENCE = 5.0
"""Seconds that the end of Python waits for all of them."""


def still_searching() -> bool:
    """Whether a search whose answer was not waited for is still running."""
    return any(thread.is_alive() for thread in _left_behind)


@atexit.register
def _wait() -> None:
    """Let them come to their end: Python's own would tear compiled code in pieces, and abort."""
    until = time.monotonic() + _PATIENCE
    for thread in _left_behind:
        thread.join(max(0.0, until - time.monotonic()))


def _is_over(clock: Clock, seconds: float) -> bool:
    """Whether the work must end now, without a question to the clock, which is the work's."""
    if clock.memory_limit is not None and resident_megabytes() > clock.memory_limit:
        clock.run_out_of_memory()
        return True
    return clock.stopped or (clock.deadline is not None and seconds >= clock.deadline)


@contextmanager
def memory_errors(clock: Clock) -> Iterator[None]:
    """Take memory that cannot be had for the end of the run, not for its failure."""
    try:
        yield
    except MemoryError:
        clock.run_out_of_memory()


def out_of_time(record: Record, outcome: EngineResult | None = None) -> EngineResult:
    """How a run ends: as its engine says, or cut off by the clock before an engine has said anything."""
    if outcome is None:
        outcome = EngineResult(Status.FEASIBLE, limit=None, margin=None, phases={}, model=None, versions={})
    if record.proven:
        return replace(outcome, status=Status.OPTIMAL, limit=None)
    status = Status.INTERRUPTED if record.clock.stopped else Status.FEASIBLE
    return replace(outcome, status=status, limit=outcome.limit or record.clock.limit)


@contextmanager
def interruptible(clock: Clock) -> Iterator[None]:
    """Let the first Ctrl-C ask the run to stop with what it has; a second one is not caught.

    A run that is a part of another stops both.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    outer = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, _Stop(clock, outer))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, outer)


class _Stop:
    """What the first Ctrl-C does."""

    def __init__(self, clock: Clock, outer: Handler) -> None:
        self._clock, self._outer = clock, outer

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        """Stop the run, and those that it is a part of."""
        self._clock.stop()
        if isinstance(self._outer, _Stop):
            self._outer(signum, frame)
        else:
            signal.signal(signal.SIGINT, self._outer)
