"""Run tasks in this process, or on an executor of futures like `concurrent.futures` and `distributed`."""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import count
from multiprocessing import get_context
from typing import Any, Generic, TypeVar

from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.processes import end_with_parent, interrupt_held_back, main_module_hidden
from linkrisk.solver.run.remote import Allowance, Asked, Done, UnmadeError

Given = TypeVar("Given")
Task = TypeVar("Task")
Answer = TypeVar("Answer")

Do = Callable[[Given, Task, Clock], Answer]
"""Function of a task and shared data, which returns when the clock expires; at top level of a module."""

Share = Callable[[int], float | None]
"""Function that allots time or work to the next task, given the number still to begin."""

TICK = 0.1
"""Seconds between two checks of the clock while all workers are busy."""

ATTEMPTS = 2
"""Attempts at a task whose process dies: more survive more failures, and repeat a fatal task."""

ALONE = 30.0
"""Seconds without any worker after which this process does the remaining tasks."""

_CENSUS = 2.0
"""Seconds between two counts of the workers."""


def unlimited(left: int) -> None:
    """Let each task take as long as it needs."""
    del left


class Workers(ABC, Generic[Given]):
    """Pool of workers with shared data, which are sent to each worker once.

    `given`: the shared data; with `parted` a sequence of parts, where task t needs ``given[t.part]``.
    """

    def __init__(self, given: Any, *, parted: bool = False) -> None:
        self.given, self.parted = given, parted
        self.closed = False

    @property
    def slots(self) -> int:
        """Number of parallel tasks, for planning."""
        return 1

    @property
    def busy(self) -> bool:
        """Whether no call can begin, because another is running or the pool is closed."""
        return self.closed

    @abstractmethod
    def each(
        self, do: Do[Given, Task, Answer], tasks: Sequence[Task], clock: Clock, share: Share
    ) -> Iterator[tuple[int, Answer]]:
        """Run tasks while there is time; yield their numbers with answers as they complete.

        A task is abandoned if its process dies `ATTEMPTS` times.
        """

    def every(
        self, do: Do[Given, Task, Answer], tasks: Sequence[Task], clock: Clock, share: Share = unlimited
    ) -> Iterator[tuple[int, Answer]]:
        """Run tasks as `each` does, and then those that workers have abandoned in this process."""
        left = dict.fromkeys(range(len(tasks)))
        for at, answer in self.each(do, tasks, clock, share):
            del left[at]
            yield at, answer
        numbers = list(left)
        alone = Sequential[Given](self.given, parted=self.parted)
        for at, answer in alone.each(do, [tasks[number] for number in numbers], clock, share):
            yield numbers[at], answer

    def close(self) -> None:
        """Ask all tasks to end, and release shared data."""
        self.closed = True


class Sequential(Workers[Given]):
    """Runs tasks sequentially in this process, grouped by part."""

    def each(
        self, do: Do[Given, Task, Answer], tasks: Sequence[Task], clock: Clock, share: Share
    ) -> Iterator[tuple[int, Answer]]:
        """Run the tasks in order."""
        shared, held = self.given, None
        numbers = sorted(range(len(tasks)), key=lambda at: self._part_of(tasks[at]))
        for done, at in enumerate(numbers):
            if clock.expired:
                return
            if self.parted and held != self._part_of(tasks[at]):
                held = self._part_of(tasks[at])
                shared = self.given[held]
            limited = clock.part(share(len(tasks) - done))
            yield at, do(shared, tasks[at], limited)

    def _part_of(self, task: Any) -> int:
        return int(task.part) if self.parted else 0


class FutureWorkers(Workers[Given]):
    """Pool on an executor: tasks are submitted as futures, and resubmitted when they are lost.

    `queued`: tasks submitted for each slot, where their time starts only when they run.
    """

    threads: int | None = None  # threads of each task; the number of processors when None
    queued = 1

    def __init__(self, given: Any, *, parted: bool = False) -> None:
        super().__init__(given, parted=parted)
        self._calls: list[_Call[Any, Any, Any]] = []

    @property
    def present(self) -> int:
        """Current number of slots; 0 where all workers are gone."""
        return self.slots

    @abstractmethod
    def submit(self, do: Do[Given, Task, Answer], task: Task, allowance: Allowance) -> Any:
        """Submit a task and return its future; None where that fails at present."""

    @abstractmethod
    def result(self, future: Any) -> Done[Any] | None:
        """Return the outcome of a task; None where it is lost. UnmadeError as in `Packed.given`."""

    @abstractmethod
    def cancel(self, futures: Sequence[Any]) -> None:
        """Cancel tasks whose answers are no longer awaited."""

    def ask_to_end(self) -> bool:
        """Ask running tasks to end; returns whether they will still answer."""
        return False

    def send_all(self) -> None:
        """Send all objects to the workers from now on, instead of recipes."""

    def each(
        self, do: Do[Given, Task, Answer], tasks: Sequence[Task], clock: Clock, share: Share
    ) -> Iterator[tuple[int, Answer]]:
        """Run as many tasks in parallel as there are slots, and continue here if all workers are gone."""
        call = _Call(self, do, tasks, clock, share)
        self._calls.append(call)
        try:
            yield from call.answers()
        finally:
            call.cancel()
            self._calls.remove(call)
        if call.left and not (clock.expired or self.closed):
            self.note_alone(len(call.left))
            numbers = [at for at, _ in call.left]
            alone = Sequential[Given](self.given, parted=self.parted)
            rest = [tasks[at] for at in numbers]
            for at, answer in alone.each(do, rest, clock.part(clock.remaining), share):
                yield numbers[at], answer

    def note_alone(self, tasks: int) -> None:
        """Log that this process does the remaining tasks."""

    def close(self) -> None:
        """Cancel all tasks."""
        super().close()
        for call in list(self._calls):
            call.cancel()


class _Call(Generic[Given, Task, Answer]):
    """State of one call of `FutureWorkers.each`; `left` has (number, attempt) of tasks to submit."""

    def __init__(
        self,
        workers: FutureWorkers[Given],
        do: Do[Given, Task, Answer],
        tasks: Sequence[Task],
        clock: Clock,
        share: Share,
    ) -> None:
        self.left = deque((at, 1) for at in range(len(tasks)))
        self._workers, self._do, self._tasks, self._clock, self._share = workers, do, tasks, clock, share
        self._begun: dict[int, tuple[Any, int, int]] = {}
        self._tokens = count()
        self._ended: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._slots, self._seen, self._counted = 0, time.monotonic(), time.monotonic()

    def answers(self) -> Iterator[tuple[int, Answer]]:
        """Yield answers until all are complete, the clock has expired, or all workers are gone."""
        self._count()
        while (self._begun or self.left) and not self._over:
            self._submit_some()
            try:
                token = self._ended.get(timeout=TICK)
            except queue.Empty:
                self._count()
                continue
            ended = self._begun.pop(token, None)
            if ended is None:  # cancelled by another thread
                continue
            self._submit_some()  # keep workers busy before this answer is used
            future, at, attempt = ended
            try:
                found = self._workers.result(future)
            except UnmadeError:
                self._workers.send_all()
                self.left.append((at, attempt))
                continue
            if found is not None:
                yield at, found.counted(self._clock)
            elif attempt < ATTEMPTS:
                self.left.append((at, attempt + 1))
                self._count()

    @property
    def _over(self) -> bool:
        if self._clock.expired and not (self._begun and self._workers.ask_to_end()):
            return True
        gone = not self._slots and time.monotonic() - self._seen > ALONE
        return gone or self._workers.closed

    def _count(self) -> None:
        """Count the workers, and record when some were last present."""
        self._slots, self._counted = self._workers.present, time.monotonic()
        if self._slots:
            self._seen = time.monotonic()

    def _submit_some(self) -> None:
        """Submit a task for each slot, and `queued` where time starts only when they run."""
        if time.monotonic() - self._counted > _CENSUS:
            self._count()
        most = self._slots
        while self.left and len(self._begun) < most and not self._clock.expired:
            limit = self._share(len(self.left))
            if not self._submit(Allowance.of(self._clock, limit, self._workers.threads)):
                self._slots = 0
                return
            most = self._slots * (self._workers.queued if limit is None else 1)

    def _submit(self, allowance: Allowance) -> bool:
        at, attempt = self.left[0]
        future = self._workers.submit(self._do, self._tasks[at], allowance)
        if future is None:
            return False
        self.left.popleft()
        token = next(self._tokens)
        self._begun[token] = future, at, attempt
        future.add_done_callback(lambda _: self._ended.put(token))
        return True

    def cancel(self) -> None:
        """Cancel submitted tasks, and return them to those that are left."""
        begun, self._begun = self._begun, {}
        self.left.extend((at, attempt) for _, at, attempt in begun.values())
        if begun:
            self._workers.cancel([future for future, _, _ in begun.values()])


class Processes(FutureWorkers[Given]):
    """Process pool of this machine with a share of the threads each; after deaths, it is halved.

    The processes share one stop event, so calls cannot overlap.
    """

    def __init__(self, given: Given, many: int, threads: int | None = None) -> None:
        super().__init__(given)
        self._many, self.threads = many, threads
        self._open()

    @property
    def slots(self) -> int:
        """Number of processes."""
        return self._many

    @property
    def busy(self) -> bool:
        """Whether a call is running, or the pool is closed."""
        return bool(self._calls) or self.closed

    def _open(self) -> None:
        context = get_context("spawn")
        self._stop = context.Event()
        self._pool = ProcessPoolExecutor(
            self._many, mp_context=context, initializer=_begin, initargs=(self.given, self._stop)
        )

    def each(
        self, do: Do[Given, Task, Answer], tasks: Sequence[Task], clock: Clock, share: Share
    ) -> Iterator[tuple[int, Answer]]:
        """Run as many tasks in parallel as there are processes."""
        if not self.busy:
            self._stop.clear()  # set by the previous call
        yield from super().each(do, tasks, clock, share)

    def submit(self, do: Do[Given, Task, Answer], task: Task, allowance: Allowance) -> Any:
        """Submit a task; after deaths, which may be due to memory, to a new and smaller pool."""
        if self.closed:
            return None
        with interrupt_held_back(), main_module_hidden():  # the pool starts with the first task
            try:
                return self._pool.submit(_one, do, task, allowance)
            except BrokenProcessPool:
                self._pool.shutdown(wait=False, cancel_futures=True)
                self._many = max(1, self._many // 2)
                self._open()
                return self._pool.submit(_one, do, task, allowance)

    def result(self, future: Any) -> Done[Any] | None:
        """Return the outcome of a task; None where its process has died."""
        try:
            found: Done[Any] = future.result()
        except (BrokenProcessPool, CancelledError):
            return None
        return found

    def ask_to_end(self) -> bool:
        """Set the stop event: tasks answer with their current state."""
        self._stop.set()
        return True

    def cancel(self, futures: Sequence[Any]) -> None:
        """Ask tasks to end, and cancel those that wait."""
        self._stop.set()
        for future in futures:
            future.cancel()

    def close(self) -> None:
        """Ask all tasks to end, and shut the pool down."""
        super().close()
        self._stop.set()
        # Starting processes still need the event: a thread keeps it until all have ended.
        threading.Thread(target=_end, args=(self._pool, self._stop)).start()


def _end(pool: ProcessPoolExecutor, stop: object) -> None:
    """Shut a pool down, and then release the event that its processes share."""
    pool.shutdown(wait=True, cancel_futures=True)
    del stop


_shared: dict[str, Any] = {}
"""In a process of `Processes`: the shared data, and the stop event."""


def _begin(given: object, stop: object) -> None:
    """Initialise a process: ignore Ctrl-C, and end with a killed parent."""
    if hasattr(os, "setsid"):
        os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    _shared.update(given=given, stop=stop)


def _one(do: Do[Any, Task, Answer], task: Task, allowance: Allowance) -> Done[Answer]:
    clock = allowance.clock(Asked(_shared["stop"].is_set))
    return Done(do(_shared["given"], task, clock), clock.operations)
