"""Shares of all pairs of two files, and the workers that compare them.

A share is some queries with some candidates; on its way to a worker it holds nothing of other records.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import CancelledError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.pool import TASKS, WorkerPool
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.run.workers import Answer, Do, Given, Sequential, Task

Rows = IndexArray | slice
"""Some records; a range takes no memory, however many shares there are."""

WORTH = 50_000_000
"""Pairs of records from which comparing is shared out: fewer are compared before they are sent."""

TASKS_EACH = 4
"""Tasks for each worker, so that none waits long for the last one."""

_FEWEST, _MOST = 256, 4_096
"""Queries of a share: fewer are not worth their way, of more a lost one costs too much."""

_CODES = 1 << 19
"""Codes of the candidates of a share: some megabytes on their way, which Dask still takes for little."""


def places(rows: Rows) -> IndexArray:
    """List the rows one by one."""
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows


class ReadyPairs(ABC):
    """Some queries with some candidates, both counted from 0."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """How many queries and candidates there are."""

    @abstractmethod
    def scores(self, rows: IndexArray) -> FloatArray:
        """Score some of the queries with each of the candidates (see `LearnedLinker.scores`)."""


def shared_out(queries: int, candidates: int, attributes: int, many: int) -> Iterator[tuple[slice, slice]]:
    """Queries and candidates of shares that make up all pairs, for so many workers."""
    width = max(1, _CODES // max(1, attributes))
    columns = -(-candidates // width)
    each = -(-queries * columns // (TASKS_EACH * many))
    height = min(_MOST, max(_FEWEST, each))
    for row in range(0, queries, height):
        for column in range(0, candidates, width):
            yield slice(row, min(row + height, queries)), slice(column, min(column + width, candidates))


class Helpers:
    """The workers of a pool, for the steps of a linkage run that compare pairs of records."""

    def __init__(
        self, pool: WorkerPool, report: Reporter | None = None, cancel: Cancel | None = None
    ) -> None:
        self._pool, self._report, self._cancel = pool, report, cancel

    def worth(self, pairs: float) -> bool:
        """Whether workers compare so many pairs sooner."""
        return self._pool.choice.any and pairs >= WORTH

    def answers(
        self,
        given: Given,
        do: Do[Given, Task, Answer],
        plan: Callable[[int], Sequence[Task]],
        clock: Clock | None = None,
    ) -> Iterator[tuple[int, Answer]]:
        """Do all tasks of a plan for so many workers; yield their numbers with answers as they come.

        Without a clock a cancelled run raises CancelledError; with one, the answers end with its time.
        """
        ends = clock or Clock(None, cancel=self._cancel)
        workers = self._pool.workers(given) or Sequential[Given](given)
        tasks = plan(workers.slots)
        self._tell(0, len(tasks))
        try:
            for done, numbered in enumerate(workers.every(do, tasks, ends), start=1):
                self._tell(done, len(tasks))
                yield numbered
        finally:
            self._pool.rest()
        if clock is None and ends.expired:
            raise CancelledError("the run was cancelled before there was a result")

    def _tell(self, done: int, many: int) -> None:
        if self._report is not None:
            self._report(Progress.uncounted(TASKS, f"{done:,} of {many:,} tasks"))
