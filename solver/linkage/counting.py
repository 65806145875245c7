"""Who counts the blocks of a pair: workers that hold all candidates, or some of them each."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, IndexArray
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.linkage import spreading
from linkrisk.solver.linkage.distance_kernels import Found
from linkrisk.solver.linkage.distance_ranks import RANKING
from linkrisk.solver.linkage.elsewhere import Elsewhere, Mark, Stop, Told
from linkrisk.solver.linkage.partitions import Merged, PartedPair, PartTask, partitions_of, settle_part
from linkrisk.solver.linkage.spreading import Asked, Spreading, itself, unlimited
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.crew import Crew
from linkrisk.solver.run.parted import HereInParts
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.run.workers import Workers


def counting_by(
    crew: Crew, pair: LinkagePair, report: Reporter | None = None, partitions: int | None = None
) -> Elsewhere | None:
    """Who counts the blocks of a pair; None where this process does.

    Parameters
    ----------
    crew : Crew
    pair : LinkagePair
    report : callable, optional
        Told how many tasks are done.
    partitions : int, optional
        Of the candidates; as many as they need (`partitions_of`) when absent.
    """
    told = None if report is None else lambda work: report(Progress.uncounted(spreading.TASKS, work))
    many = partitions_of(pair) if partitions is None else partitions
    if many > 1:
        parted = PartedPair(pair, many)
        holding = crew.parted(parted)
        if holding is not None:
            return PartedCounts(holding, parted, told)
    workers = crew.workers(pair)
    return None if workers is None else Spreading(workers, pair, itself, told)


class PartedCounts:
    """Counts by workers that hold some of the candidates each (`elsewhere.Elsewhere`).

    In rounds: every group of blocks goes to the partition where its partners are, and then from one to the
    next with the nearest rivals that it has found, as long as there are blocks that this matters to.

    Parameters
    ----------
    workers : Workers
    parts : PartedPair
        What they share.
    told : callable, optional
        Told how many tasks are done, in words.
    """

    def __init__(self, workers: Workers[Any], parts: PartedPair, told: Told | None = None) -> None:
        self._workers, self._parts, self._told = workers, parts, told
        self._one_at_a_time = threading.Lock()

    def listen(self, told: Told) -> None:
        """Tell somebody else from now on."""
        self._told = told

    def marked(self, mark: Mark, stop: Stop) -> BoolArray | None:
        """None: such looks need all candidates, which only this process has."""
        del mark, stop
        return None

    def found(self, form: DistanceForm, purpose: int, blocks: IndexArray, stop: Stop | None) -> Found | None:
        """What became of some blocks; None where they are too few, or workers have other things to do."""
        worth = spreading.WORTH * (1 if purpose == RANKING else spreading.STOPS_SOONER)
        if blocks.size * len(self._parts.pair.candidates) < worth or self._workers.busy:
            return None
        if not self._one_at_a_time.acquire(blocking=False):  # a thread beside this one has shared work out
            return None
        try:
            return self._in_rounds(form, purpose, blocks, stop)
        finally:
            self._one_at_a_time.release()

    def _in_rounds(self, form: DistanceForm, purpose: int, blocks: IndexArray, stop: Stop | None) -> Found:
        clock = Clock(None, cancel=None if stop is None else Asked(stop))
        parts, groups = len(self._parts), self._groups(blocks)
        merged = Merged(blocks.size, parts, purpose)
        do = partial(settle_part, form, purpose)
        for turn in range(parts):
            still = merged.open
            groups = [(home, places[still[places]]) for home, places in groups]
            tasks = [
                self._task(number, (home + turn) % parts, blocks[places], merged.known[places])
                for number, (home, places) in enumerate(groups)
                if places.size
            ]
            for done, (number, found) in enumerate(self._answers(do, tasks, clock), start=1):
                merged.add(groups[number][1], found)
                if self._told is not None:
                    self._told(f"{turn * len(groups) + done:,} of {parts * len(groups):,} tasks")
        return merged.whole()

    def _task(self, number: int, part: int, blocks: IndexArray, known: NDArray[np.float64]) -> PartTask:
        return PartTask(number, part, partial(self._parts.blocks, blocks, known))

    def _groups(self, blocks: IndexArray) -> list[tuple[int, IndexArray]]:
        """Partitions, and places in `blocks` of neighbours whose partners are there."""
        each = math.ceil(blocks.size / (spreading.TASKS_EACH * self._workers.many))
        most = min(spreading.MOST, max(spreading.FEWEST, each))
        order = np.argsort(self._parts.place[blocks], kind="stable")
        homes = self._parts.home[blocks[order]]
        found: list[tuple[int, int, IndexArray]] = []
        for part in range(len(self._parts)):
            own = order[homes == part]
            some = np.array_split(own, max(1, math.ceil(own.size / most)))
            found += [(turn, part, places) for turn, places in enumerate(some)]
        # Tasks of one partition wait for the same worker: with those of others between them all have some.
        found.sort(key=lambda group: group[:2])
        return [(part, places) for _, part, places in found if places.size]

    def _answers(self, do: Any, tasks: Sequence[PartTask], clock: Clock) -> Iterator[tuple[int, Found]]:
        """The answers to all tasks, whoever gives them, as far as there is time."""
        given_up = {task.number: task for task in tasks}
        for task, answer in self._workers.each(do, tasks, clock, unlimited):
            del given_up[task.number]
            yield task.number, answer
        for task, answer in HereInParts(self._parts).each(do, given_up.values(), clock, unlimited):
            yield task.number, answer
