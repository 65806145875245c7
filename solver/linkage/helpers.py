"""Whoever compares records besides this process, for a run that shares one thing out after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from linkrisk.solver.linkage.spreading import TASKS
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.crew import Crew
from linkrisk.solver.run.errors import CancelledError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.run.workers import Answer, Do, Given, Here, Task

WORTH = 50_000_000
"""Pairs of records from which comparing is shared out: fewer are compared before they are sent."""

TASKS_EACH = 4
"""Tasks for each worker, so that none waits long for the last one."""

Plan = Callable[[int], Sequence[Task]]
"""The tasks, made for so many at a time."""


class Helpers:
    """The workers of a crew; none where nobody was asked for.

    Parameters
    ----------
    crew : Crew
    report : callable, optional
        Told how many tasks are done.
    cancel : Cancel, optional
        Ends the work.
    """

    def __init__(self, crew: Crew, report: Reporter | None = None, cancel: Cancel | None = None) -> None:
        self._crew, self._report, self._cancel = crew, report, cancel

    def worth(self, pairs: float) -> bool:
        """Whether so many pairs are compared sooner by others."""
        return self._crew.choice.asked and pairs >= WORTH

    def answers(
        self,
        given: Given,
        do: Do[Given, Task, Answer],
        plan: Plan[Task],
        clock: Clock | None = None,
    ) -> Iterator[tuple[int, Answer]]:
        """Have every task done, and give answers with the places of their tasks, as they come.

        What workers give up is done here, so that whoever has died of it does not cost an answer.

        Parameters
        ----------
        given : any
            What all tasks share.
        do : callable
            At the top level of a module, where a process finds it.
        plan : callable
        clock : Clock, optional
            When it has run out there are no further answers. Without one, there are all.

        Raises
        ------
        CancelledError
            If there is no clock, and the run was cancelled.
        """
        ends = clock or Clock(None, cancel=self._cancel)
        workers = self._crew.workers(given) or Here(given)
        tasks = list(enumerate(plan(workers.many)))
        left, one = dict(tasks), partial(_task, do)
        self._tell(0, len(tasks))
        try:
            for hands in (workers, Here(given)):
                for (at, _), answer in hands.each(one, list(left.items()), ends, _unlimited):
                    del left[at]
                    self._tell(len(tasks) - len(left), len(tasks))
                    yield at, answer
        finally:
            self._crew.rest()
        if clock is None and ends.expired:
            raise CancelledError("the run was cancelled before there was a result")

    def _tell(self, done: int, many: int) -> None:
        if self._report is not None:
            self._report(Progress.uncounted(TASKS, f"{done:,} of {many:,} tasks"))


def _task(do: Do[Given, Task, Answer], given: Given, task: tuple[int, Task], clock: Clock) -> Answer:
    """Do a task without its place."""
    return do(given, task[1], clock)


def _unlimited(left: int) -> None:
    del left
