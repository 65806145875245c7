"""Work that is shared out: one task after the other in this process, or side by side in others."""

from __future__ import annotations

import os
import signal
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, Generic, TypeVar

from linkrisk.solver.run.child_processes import end_with_parent, interrupt_held_back, main_module_hidden
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.elsewhere import Allowance, Done, done
from linkrisk.solver.run.interruption import Cancel

Given = TypeVar("Given")
Task = TypeVar("Task")
Answer = TypeVar("Answer")

Do = Callable[[Given, Task, Clock], Answer]
"""What is done with a task: a function of what all tasks share, the task, and a clock that ends it."""

Share = Callable[[int], float | None]
"""What the next task may take, in seconds or units of work, when so many are still to begin."""

TICK = 0.1
"""Seconds between two looks at the clock while all are working."""

ATTEMPTS = 2
"""How often a task is begun whose process dies."""


class Workers(ABC, Generic[Given]):
    """Do tasks that share something large.

    Parameters
    ----------
    given : any
        What all tasks share; it goes to each process once.
    """

    def __init__(self, given: Given) -> None:
        self._given = given

    @property
    def many(self) -> int:
        """Tasks that are done side by side."""
        return 1

    @property
    def busy(self) -> bool:
        """Whether no tasks can be done now: those of an earlier call still are, or the workers are closed."""
        return False

    @abstractmethod
    def each(
        self, do: Do[Given, Task, Answer], tasks: Iterable[Task], clock: Clock, share: Share
    ) -> Iterator[tuple[Task, Answer]]:
        """Do tasks until all are done or the clock has run out, and give answers as they come.

        Parameters
        ----------
        do : callable
            At the top level of a module, where a process finds it.
        tasks : iterable
        clock : Clock
            When it has run out no further task begins, and those that have begun are asked to end.
        share : callable
        """

    def close(self) -> None:
        """End the processes, if there are any."""


class Here(Workers[Given]):
    """One task after the other in this process."""

    def each(
        self, do: Do[Given, Task, Answer], tasks: Iterable[Task], clock: Clock, share: Share
    ) -> Iterator[tuple[Task, Answer]]:
        """Do the tasks in their order."""
        left = deque(tasks)
        while left and not clock.expired:
            part = clock.part(share(len(left)))
            task = left.popleft()
            yield task, do(self._given, task, part)


class Processes(Workers[Given]):
    """Several tasks at a time, each in a process of its own; one that dies costs time, not an answer.

    Parameters
    ----------
    given : any
        What all tasks share.
    many : int
        Processes.
    threads : int, optional
        Of each; as many as there are processors when absent.
    """

    def __init__(self, given: Given, many: int, threads: int | None = None) -> None:
        super().__init__(given)
        self._many, self._threads = many, threads
        self._begun, self._closed = 0, False
        self._open()

    @property
    def many(self) -> int:
        """Processes."""
        return self._many

    @property
    def busy(self) -> bool:
        """Whether a call has not come to its end; they have one signal to end by. Or all are ended."""
        return self._begun > 0 or self._closed

    def _open(self) -> None:
        context = get_context("spawn")
        self._stop = context.Event()
        self._pool = ProcessPoolExecutor(
            self._many, mp_context=context, initializer=_begin, initargs=(self._given, self._stop)
        )

    def each(
        self, do: Do[Given, Task, Answer], tasks: Iterable[Task], clock: Clock, share: Share
    ) -> Iterator[tuple[Task, Answer]]:
        """Do as many tasks at a time as there are processes."""
        if not self.busy:
            self._stop.clear()  # of a call before this one
        self._begun += 1
        try:
            yield from self._each(do, tasks, clock, share)
        finally:
            self._begun -= 1

    def _each(
        self, do: Do[Given, Task, Answer], tasks: Iterable[Task], clock: Clock, share: Share
    ) -> Iterator[tuple[Task, Answer]]:
        left = deque((task, 1) for task in tasks)
        begun: dict[Future[Done[Answer]], tuple[Task, int]] = {}
        while begun or (left and not clock.expired):
            while left and len(begun) < self._many and not clock.expired:
                allowance = Allowance.of(clock, share(len(left)), self._threads)
                try:
                    future = self._submit(do, left[0][0], allowance)
                except BrokenProcessPool:  # while this task was still waiting
                    if not begun:
                        self._again()
                    break  # those that have begun tell which are lost
                begun[future] = left.popleft()
            ended, _ = wait(begun, TICK, FIRST_COMPLETED)
            if clock.expired:
                self._stop.set()
            for future in ended:
                task, attempt = begun.pop(future)
                try:
                    answer = future.result().counted(clock)
                except BrokenProcessPool:
                    lost = [(task, attempt), *begun.values()]
                    left.extend((other, n + 1) for other, n in lost if n < ATTEMPTS)
                    begun.clear()
                    self._again()
                    break
                yield task, answer

    def _submit(self, do: Do[Given, Task, Answer], task: Task, allowance: Allowance) -> Future[Done[Answer]]:
        with interrupt_held_back(), main_module_hidden():  # the first task starts the processes
            return self._pool.submit(_one, do, task, allowance)

    def _again(self) -> None:
        """Other processes, fewer of them: memory may not have been enough."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._many = max(1, self._many // 2)
        self._open()

    def close(self) -> None:
        """Ask whatever is still being done to end."""
        self._closed = True
        self._stop.set()
        # Processes that are only starting look for the event: somebody keeps it until all have ended.
        threading.Thread(target=_end, args=(self._pool, self._stop)).start()


def _end(pool: ProcessPoolExecutor, stop: object) -> None:
    """End the processes of a pool, and only then let go of the event that they share."""
    pool.shutdown(wait=True, cancel_futures=True)
    del stop


class _Remote(Cancel):
    """The token of a task in another process."""

    def __init__(self, stop: Any) -> None:
        super().__init__()
        self._stop = stop

    @property
    def cancelled(self) -> bool:
        """Whether the parent has asked to end."""
        return bool(self._stop.is_set())


_shared: dict[str, Any] = {}
"""In a process of `Processes`: what all tasks share, and the event that ends them."""


def _begin(given: object, stop: object) -> None:
    """Begin a process: Ctrl-C is for the parent, and nobody works for a parent that was killed."""
    if hasattr(os, "setsid"):
        os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    _shared.update(given=given, stop=stop)


def _one(do: Do[Any, Task, Answer], task: Task, allowance: Allowance) -> Done[Answer]:
    clock = allowance.clock(_Remote(_shared["stop"]))
    return done(do(_shared["given"], task, clock), clock)
