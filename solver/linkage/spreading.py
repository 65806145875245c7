"""Counting by workers: blocks are shared out, every worker holds all candidates.

What becomes of a block depends on nothing but the distance and the candidates, so the answers are the same,
whoever gives them.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.linkage.arrays import Found, nothing_found
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.settling import RANKING
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.crew import Crew
from linkrisk.solver.run.incumbent import Progress, Reporter
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.workers import Here, Workers

IndexArray = NDArray[np.intp]
Given = TypeVar("Given")

Part = tuple[DistanceForm, int, IndexArray]
"""A distance, what is counted, and the blocks."""

WORTH = 50_000_000
"""Pairs of a block and a candidate from which ranks are shared out: fewer are done before they are sent."""

_STOPS_SOONER = 40
"""Times as many for what needs no ranks, and ends at the first rival that is nearer."""

_FEWEST, _MOST = 256, 4_096
"""Blocks of a task: fewer are not worth their way, of more a lost one costs too much."""

_TASKS_EACH = 4
"""Tasks for each worker, so that none waits long for the last one."""


Told = Callable[[str], object]
"""Called with how many tasks are done, in words."""

TASKS = "tasks"
"""What a reporter is told is being done where nothing but a count is."""


def counting_by(
    crew: Crew, pair: LinkagePair, report: Reporter | None = None
) -> Spreading[LinkagePair] | None:
    """Who counts the blocks of a pair; None where this process does."""
    workers = crew.workers(pair)
    if workers is None:
        return None
    told = None if report is None else lambda work: report(Progress(0.0, 0.0, 0.0, TASKS, work))
    return Spreading(workers, pair, itself, told)


def itself(pair: LinkagePair) -> LinkagePair:
    """The pair, where that is what workers share."""
    return pair


class Spreading(Generic[Given]):
    """Counts blocks by workers (`Elsewhere` of the evaluator).

    Parameters
    ----------
    workers : Workers
    given : any
        What they share.
    pair_of : callable
        The file pair in what they share; at the top level of a module.
    told : callable, optional
        Told how many tasks are done, in words.
    """

    def __init__(
        self,
        workers: Workers[Given],
        given: Given,
        pair_of: Callable[[Given], LinkagePair],
        told: Told | None = None,
    ) -> None:
        self._told = told
        self._workers, self._given, self._pair_of = workers, given, pair_of
        self._candidates = len(pair_of(given).candidates)
        self._one_at_a_time = threading.Lock()

    def found(
        self, form: DistanceForm, purpose: int, blocks: IndexArray, stop: Callable[[], bool] | None
    ) -> Found | None:
        """What became of some blocks; None where they are too few, or workers have other things to do."""
        worth = WORTH if purpose == RANKING else _STOPS_SOONER * WORTH
        if blocks.size * self._candidates < worth or self._workers.busy:
            return None
        if not self._one_at_a_time.acquire(blocking=False):  # a thread beside this one is counting
            return None
        try:
            return self._found(form, purpose, blocks, stop)
        finally:
            self._one_at_a_time.release()

    def _found(
        self, form: DistanceForm, purpose: int, blocks: IndexArray, stop: Callable[[], bool] | None
    ) -> Found:
        clock = Clock(None, cancel=None if stop is None else _Asked(stop))
        each = math.ceil(blocks.size / (_TASKS_EACH * self._workers.many))
        many = math.ceil(blocks.size / min(_MOST, max(_FEWEST, each)))
        places = np.array_split(np.arange(blocks.size), many)
        tasks = [(at, (form, purpose, blocks[place])) for at, place in enumerate(places)]
        whole = nothing_found(blocks.size)
        given_up = set(range(many))
        do = partial(count_part, self._pair_of)
        for (at, _), found in self._workers.each(do, tasks, clock, _unlimited):
            _put(found, places[at], whole)
            given_up.discard(at)
            if self._told is not None:
                self._told(f"{many - len(given_up):,} of {many:,} tasks")
        # Whoever has died of them, or a process that could not be started, must not cost an answer.
        left = [task for task in tasks if task[0] in given_up]
        for (at, _), found in Here(self._given).each(do, left, clock, _unlimited):
            _put(found, places[at], whole)
        return whole


def count_part(
    pair_of: Callable[[Given], LinkagePair], given: Given, task: tuple[int, Part], clock: Clock
) -> Found:
    """Count some blocks, at a worker."""
    form, purpose, blocks = task[1]
    evaluator = Evaluator(pair_of(given), clock.most_threads, stop=lambda: clock.expired)
    return evaluator.found(form, purpose, blocks)


class _Asked(Cancel):
    """A token that asks somebody else."""

    def __init__(self, stop: Callable[[], bool]) -> None:
        super().__init__()
        self._stop = stop

    @property
    def cancelled(self) -> bool:
        """Whether to stop."""
        return self._stop()


def _unlimited(left: int) -> None:
    del left


def _put(part: Found, places: IndexArray, whole: Found) -> None:
    """Write what was found of some blocks where it belongs."""
    for own, all_of_them in zip(part, whole, strict=True):
        all_of_them[places] = own
