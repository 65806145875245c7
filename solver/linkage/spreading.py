"""Looking at blocks by workers: blocks are shared out, every worker holds all candidates.

What becomes of a block depends on nothing but the question and the candidates, so the answers are the same,
whoever gives them.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Generic, TypeVar

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.linkage.box_tree import regions
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.linkage.distance_kernels import Found, nothing_found
from linkrisk.solver.linkage.distance_ranks import RANKING
from linkrisk.solver.linkage.elsewhere import Mark, Stop, Told
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.workers import Do, Here, Workers

Answer = TypeVar("Answer")
Given = TypeVar("Given")

Part = tuple[int, IndexArray]
"""The number of a task, and its blocks."""

WORTH = 50_000_000
"""Pairs of a block and a candidate from which ranks are shared out: fewer are done before they are sent."""

STOPS_SOONER = 40
"""Times as many for what needs no ranks, and ends at the first rival that is nearer."""

FEWEST, MOST = 256, 32_768
"""Blocks of a task: fewer are not worth their way, of more a lost one costs too much."""

TASKS_EACH = 4
"""Tasks for each worker, so that none waits long for the last one."""


TASKS = "tasks"
"""What a reporter is told is being done where nothing but a count is."""


def itself(pair: LinkagePair) -> LinkagePair:
    """The pair, where that is what workers share."""
    return pair


class Spreading(Generic[Given]):
    """Looks at blocks by workers (`elsewhere.Elsewhere`).

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

    def listen(self, told: Told) -> None:
        """Tell somebody else from now on."""
        self._told = told

    def found(self, form: DistanceForm, purpose: int, blocks: IndexArray, stop: Stop | None) -> Found | None:
        """What became of some blocks; None where they are too few, or workers have other things to do."""
        worth = WORTH if purpose == RANKING else STOPS_SOONER * WORTH
        whole = nothing_found(blocks.size)

        def put(places: IndexArray, part: Found) -> None:
            for own, all_of_them in zip(part, whole, strict=True):
                all_of_them[places] = own

        do = partial(count_part, self._pair_of, form, purpose)
        shared = self._share_out(do, blocks, np.maximum(form.importance, 0.0), worth, stop, put)
        return whole if shared else None

    def marked(self, mark: Mark, stop: Stop) -> BoolArray | None:
        """Which blocks of the whole pair; None as `found`."""
        pair = self._pair_of(self._given)
        whole = np.zeros(pair.blocks, dtype=np.bool_)

        def put(places: IndexArray, part: BoolArray) -> None:
            whole[places] = part

        do, blocks = partial(mark_part, self._pair_of, mark), np.arange(pair.blocks)
        shared = self._share_out(do, blocks, np.ones(len(pair.attributes)), WORTH, stop, put)
        return whole if shared else None

    def _share_out(
        self,
        do: Do[Given, Part, Answer],
        blocks: IndexArray,
        importance: FloatArray,
        worth: int,
        stop: Stop | None,
        put: Callable[[IndexArray, Answer], None],
    ) -> bool:
        """Have tasks done, neighbours together, and put answers in their places; False if that is no use."""
        if blocks.size * self._candidates < worth or self._workers.busy:
            return False
        if not self._one_at_a_time.acquire(blocking=False):  # a thread beside this one has shared work out
            return False
        try:
            places = self._neighbours(blocks, importance)
            clock = Clock(None, cancel=None if stop is None else Asked(stop))
            tasks = [(at, blocks[place]) for at, place in enumerate(places)]
            for done, (at, answer) in enumerate(self._answers(do, tasks, clock), start=1):
                put(places[at], answer)
                if self._told is not None:
                    self._told(f"{done:,} of {len(tasks):,} tasks")
        finally:
            self._one_at_a_time.release()
        return True

    def _answers(
        self, do: Do[Given, Part, Answer], tasks: Sequence[Part], clock: Clock
    ) -> Iterator[tuple[int, Answer]]:
        """The answers to all tasks, whoever gives them, as far as there is time."""
        given_up = dict(tasks)
        for (at, _), answer in self._workers.each(do, tasks, clock, unlimited):
            del given_up[at]
            yield at, answer
        # Whoever has died of them, or a process that could not be started, must not cost an answer.
        for (at, _), answer in Here(self._given).each(do, given_up.items(), clock, unlimited):
            yield at, answer

    def _neighbours(self, blocks: IndexArray, importance: FloatArray) -> list[IndexArray]:
        """Places in `blocks` of each task's: neighbours, as what one looks at is at hand for the next."""
        each = math.ceil(blocks.size / (TASKS_EACH * self._workers.many))
        many = math.ceil(blocks.size / min(MOST, max(FEWEST, each)))
        pair = self._pair_of(self._given)
        categories = np.zeros(len(pair.attributes), dtype=np.intp)
        for k, table in pair.looked_up.items():
            categories[k] = len(table)
        places = regions(pair.queries[blocks], importance, categories, math.ceil(math.log2(many)))
        return [np.sort(place) for place in places if place.size]


def count_part(
    pair_of: Callable[[Given], LinkagePair],
    form: DistanceForm,
    purpose: int,
    given: Given,
    task: Part,
    clock: Clock,
) -> Found:
    """Count some blocks, at a worker."""
    evaluator = Evaluator(pair_of(given), clock.most_threads, stop=lambda: clock.expired)
    return evaluator.found(form, purpose, task[1])


def mark_part(
    pair_of: Callable[[Given], LinkagePair], mark: Mark, given: Given, task: Part, clock: Clock
) -> BoolArray:
    """Ask some blocks a question, at a worker."""
    return mark(pair_of(given).part(task[1]), lambda: clock.expired, clock.most_threads)


class Asked(Cancel):
    """A token that asks somebody else."""

    def __init__(self, stop: Stop) -> None:
        super().__init__()
        self._stop = stop

    @property
    def cancelled(self) -> bool:
        """Whether to stop."""
        return self._stop()


def unlimited(left: int) -> None:
    """No limit, however many tasks are left."""
    del left
