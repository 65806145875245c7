"""Count blocks on workers that hold all candidates, or partitions of them.

A rank depends on the distance and the candidates alone, so answers are the same on any number of workers. A
task of a partition includes the partners of its blocks: they lie in no box, so that no other block is
compared with them. Ranks of partitions are merged exactly: numbers of nearer and tied rivals add up, and the
nearest rival is that of some partition.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.linkage.box_tree import box_tree, regions
from linkrisk.formulations.linkage.distances import category_counts
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair, Ties
from linkrisk.solver.linkage.distance_kernels import Compared, Found, as_arrays, missing_arrays, nothing_found
from linkrisk.solver.linkage.distance_ranks import COUNTING, RANKING
from linkrisk.solver.linkage.evaluator import (
    Bounded,
    Evaluator,
    Mark,
    ReportTasks,
    Stop,
    allowance,
    as_boxes,
    bounded,
    settled,
)
from linkrisk.solver.run.clock import Clock, processors
from linkrisk.solver.run.pool import WorkerPool
from linkrisk.solver.run.progress import TASKS, Progress, Reporter
from linkrisk.solver.run.remote import Asked, Deferred
from linkrisk.solver.run.workers import Do, Workers

MOST_BYTES = 256 * 2**20
"""Bytes of candidates that every worker holds, or of a partition: more use memory, fewer cost rounds."""


def partitions_of(pair: LinkagePair) -> int:
    """Choose the number of partitions; 1 where every worker can hold all candidates."""
    return max(1, -(-pair.candidates.nbytes // MOST_BYTES))


@dataclass(frozen=True)
class Partition:
    """A partition of the candidates."""

    pair: LinkagePair  # with these candidates, and no blocks
    number: IndexArray  # (candidates,): their rows
    group: IndexArray  # (candidates,): group; those of the partner's group are no rivals


@dataclass(frozen=True)
class Blocks:
    """Some blocks."""

    # these blocks, with their partners as the only candidates; the partition has the tables
    pair: LinkagePair
    group: IndexArray  # (blocks,): of their partners
    # (blocks,): distance of the nearest rival in earlier partitions; infinite without one
    known: FloatArray


@dataclass(frozen=True)
class PartTask:
    """Blocks to be ranked in a partition, pickled without the data of others."""

    part: int
    blocks: Deferred[Blocks]


class PartedPair:
    """Candidates of a pair in partitions of neighbours, built on demand (`Parts`).

    Parameters
    ----------
    pair : LinkagePair
    many : int
        Partitions, as many candidates in each, give or take one; at most one for each candidate.
    """

    def __init__(self, pair: LinkagePair, many: int) -> None:
        self.pair = pair
        categories = category_counts(pair.tables, len(pair.attributes))
        order = box_tree(pair.candidates, np.ones(len(pair.attributes)), categories).order
        self._members = [np.sort(some) for some in np.array_split(order, min(many, order.size))]
        self._group = pair.twin_group if pair.ties is Ties.SHARE else np.arange(order.size)
        place, part = np.empty_like(order), np.empty_like(order)
        place[order] = np.arange(order.size)
        for number, some in enumerate(self._members):
            part[some] = number
        self.home: IndexArray = part[pair.partner]
        """Partition of each block's partner, shape (blocks,), which probably has its nearest rival."""
        self.place: IndexArray = place[pair.partner]
        """Order in which neighbouring blocks are consecutive, shape (blocks,)."""

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, number: int) -> Partition:
        """Extract a partition."""
        members, pair, nothing = self._members[number], self.pair, np.empty(0, dtype=np.intp)
        missing = pair.missing
        if missing is not None:
            missing = replace(missing.part(nothing), of_candidates=missing.of_candidates[members])
        no_block = replace(pair.part(nothing), candidates=pair.candidates[members], missing=missing)
        return Partition(no_block, members, self._group[members])

    def blocks(self, blocks: IndexArray, known: FloatArray) -> Blocks:
        """Extract some blocks."""
        own, partner = self.pair.part(blocks), self.pair.partner[blocks]
        missing = own.missing
        if missing is not None:
            missing = replace(missing, of_candidates=missing.of_candidates[partner])
        alone = replace(
            own,
            candidates=self.pair.candidates[partner],
            partner=np.arange(blocks.size, dtype=np.intp),
            missing=missing,
            tables=None,
        )
        return Blocks(alone, self._group[partner], known)


def settle_part(
    form: DistanceForm, purpose: int, partition: Partition, task: PartTask, clock: Clock
) -> Found:
    """Rank blocks among the candidates of a partition, on a worker."""
    blocks, inside = task.blocks.made(), partition.pair
    missing = inside.missing
    if missing is not None and blocks.pair.missing is not None:
        missing = replace(missing, of_queries=blocks.pair.missing.of_queries)
    pair = replace(inside, queries=blocks.pair.queries, missing=missing)
    bounds = bounded(pair, form)
    compared = _compared(partition, replace(blocks.pair, tables=inside.tables), blocks, form, bounds)
    turns = np.arange(blocks.known.size)  # in the order of neighbours
    threads = clock.most_threads or processors()
    return settled(form, purpose, compared, as_boxes(pair, bounds), turns, lambda: clock.expired, threads)


def _compared(
    partition: Partition, beside: LinkagePair, blocks: Blocks, form: DistanceForm, bounds: Bounded
) -> Compared:
    """Order the candidates of a partition by boxes, followed by the partners of all blocks."""
    order = bounds.candidates.tree.order
    missing = missing_arrays(beside)
    if partition.pair.missing is not None:
        of_candidates = np.concatenate([partition.pair.missing.of_candidates[order], missing[1]])
        missing = (missing[0], of_candidates, missing[2])
    return Compared(
        queries=beside.queries,
        candidates=np.concatenate([bounds.candidates.records, beside.candidates]),
        number=partition.number[order],
        group=np.concatenate([partition.group[order], blocks.group]),
        partner=order.size + beside.partner,
        known=blocks.known,
        rounding=beside.rounding,
        allowance=allowance(beside, form),
        tables=as_arrays(beside),
        missing=missing,
    )


class Merged:
    """Merges the results of blocks from their partitions.

    Parameters
    ----------
    blocks, parts : int
    purpose : int
        What was compared_here for.
    """

    def __init__(self, blocks: int, parts: int, purpose: int) -> None:
        self._parts, self._purpose = parts, purpose
        self._visited = np.zeros(blocks, dtype=np.intp)
        self._found = nothing_found(blocks)
        self._found.rank[:] = 1
        self._found.nearest_other[:] = self._found.clear[:] = np.inf

    @property
    def known(self) -> FloatArray:
        """Distance of the nearest rival so far, shape (blocks,)."""
        return self._found.nearest_other

    @property
    def open(self) -> BoolArray:
        """Blocks that further partitions may change, shape (blocks,)."""
        if self._purpose != COUNTING:
            return np.ones(self._visited.size, dtype=np.bool_)
        return np.asarray((self._found.rank == 1) & (self._found.ties == 0))

    def add(self, places: IndexArray, part: Found) -> None:
        """Merge the results of a further partition; blocks not compared in time stay as they are."""
        compared_here = part.rank > 0
        at, whole = places[compared_here], self._found
        new = Found._make(values[compared_here] for values in part)
        self._visited[at] += 1
        whole.rank[at] += new.rank - 1
        whole.ties[at] += new.ties
        whole.distance[at] = new.distance
        whole.nearest_other[at] = np.minimum(whole.nearest_other[at], new.nearest_other)
        before, clear = whole.rival[at], whole.clear[at]
        sooner = (new.clear < clear) | ((new.clear == clear) & (new.rival < before)) | (before < 0)
        better = (new.rival >= 0) & sooner
        whole.rival[at[better]], whole.clear[at[better]] = new.rival[better], new.clear[better]

    def whole(self) -> Found:
        """Return the merged results, without blocks whose partitions are incomplete."""
        unknown = (self._visited < self._parts) & ((self._visited == 0) | self.open)
        for values, nothing in zip(self._found, nothing_found(int(unknown.sum())), strict=True):
            values[unknown] = nothing
        return self._found


Answer = TypeVar("Answer")
Given = TypeVar("Given")

WORTH = 50_000_000
"""Pairs of block and candidate from which workers are used: fewer are compared faster here."""

STOPS_SOONER = 40
"""Factor on that where no ranks are needed, because blocks stop at the first nearer rival."""

FEWEST, MOST = 256, 32_768
"""Blocks of a task: fewer are not worth sending, more are costly to lose."""

TASKS_EACH = 4
"""Tasks for each worker: more balance the load, and cost more overhead."""


def counting_by(
    pool: WorkerPool, pair: LinkagePair, report: Reporter | None = None, partitions: int | None = None
) -> SharedCounts | None:
    """Make the counting workers of a pool, with partitions for a large pair; None without workers."""
    tell = None if report is None else lambda work: report(Progress.uncounted(TASKS, work))
    many = partitions_of(pair) if partitions is None else partitions
    if many > 1:
        parts = PartedPair(pair, many)
        holders = pool.holders(parts)
        if holders is not None:
            return PartedCounts(holders, parts, tell)
    workers = pool.workers(pair)
    return None if workers is None else WholeCounts(workers, pair, itself, tell)


def itself(pair: LinkagePair) -> LinkagePair:
    """Return the pair, if it is the shared data."""
    return pair


class SharedCounts(ABC):
    """Counts blocks on workers (`BlockWorkers`), one call at a time."""

    def __init__(self, workers: Workers[Any], pair: LinkagePair, report: ReportTasks | None = None) -> None:
        self._workers, self._pair, self._report = workers, pair, report
        self._one_at_a_time = threading.Lock()

    def listen(self, report: ReportTasks) -> None:
        """Change the callback of reports."""
        self._report = report

    def found(self, form: DistanceForm, purpose: int, blocks: IndexArray, stop: Stop | None) -> Found | None:
        """Rank the partners of some blocks; None where they are too few, or the workers busy."""
        worth = WORTH * (1 if purpose == RANKING else STOPS_SOONER)
        return self._shared_out(blocks.size, worth, lambda: self._ranked(form, purpose, blocks, stop))

    def marked(self, mark: Mark, stop: Stop) -> BoolArray | None:
        """Mark blocks; None, as that needs all candidates."""
        del mark, stop
        return None

    @abstractmethod
    def _ranked(self, form: DistanceForm, purpose: int, blocks: IndexArray, stop: Stop | None) -> Found:
        """Rank the partners of some blocks."""

    def _shared_out(self, blocks: int, worth: int, do: Callable[[], Answer]) -> Answer | None:
        """Use the workers if it is worth it, and no other thread does."""
        if blocks * len(self._pair.candidates) < worth or self._workers.busy:
            return None
        if not self._one_at_a_time.acquire(blocking=False):
            return None
        try:
            return do()
        finally:
            self._one_at_a_time.release()

    def _answers(
        self, do: Do[Any, Any, Answer], tasks: Sequence[Any], stop: Stop | None, before: int = 0, of: int = 0
    ) -> Iterator[tuple[int, Answer]]:
        """Yield the answers to all tasks, those that workers abandon computed here, while there is time."""
        clock = Clock(None, cancel=None if stop is None else Asked(stop))
        for done, numbered in enumerate(self._workers.every(do, tasks, clock), start=before + 1):
            yield numbered
            if self._report is not None:
                self._report(f"{done:,} of {of or len(tasks):,} tasks")

    def _most(self, blocks: int) -> int:
        """Choose the blocks of a task."""
        return min(MOST, max(FEWEST, math.ceil(blocks / (TASKS_EACH * self._workers.slots))))


class WholeCounts(SharedCounts, Generic[Given]):
    """Counts blocks on workers that each hold all candidates.

    `given`: the shared data. `pair_of`: extracts the file pair from it; at the top level of a module.
    """

    def __init__(
        self,
        workers: Workers[Given],
        given: Given,
        pair_of: Callable[[Given], LinkagePair],
        report: ReportTasks | None = None,
    ) -> None:
        super().__init__(workers, pair_of(given), report)
        self._pair_of = pair_of

    def _ranked(self, form: DistanceForm, purpose: int, blocks: IndexArray, stop: Stop | None) -> Found:
        found, places = nothing_found(blocks.size), self._neighbours(blocks, np.maximum(form.importance, 0.0))
        do = partial(count_part, self._pair_of, form, purpose)
        for at, part in self._answers(do, [blocks[place] for place in places], stop):
            for all_values, values in zip(found, part, strict=True):
                all_values[places[at]] = values
        return found

    def marked(self, mark: Mark, stop: Stop) -> BoolArray | None:
        """Mark blocks; None as in `found`."""
        return self._shared_out(self._pair.blocks, WORTH, lambda: self._marked(mark, stop))

    def _marked(self, mark: Mark, stop: Stop) -> BoolArray:
        pair, found = self._pair, np.zeros(self._pair.blocks, dtype=np.bool_)
        places = self._neighbours(np.arange(pair.blocks), np.ones(len(pair.attributes)))
        for at, part in self._answers(partial(mark_part, self._pair_of, mark), places, stop):
            found[places[at]] = part
        return found

    def _neighbours(self, blocks: IndexArray, importance: FloatArray) -> list[IndexArray]:
        """Group `blocks` for tasks: neighbours, which share candidates in the cache."""
        many, pair = math.ceil(blocks.size / self._most(blocks.size)), self._pair
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
    blocks: IndexArray,
    clock: Clock,
) -> Found:
    """Count some blocks on a worker."""
    evaluator = Evaluator(pair_of(given), clock.most_threads, stop=lambda: clock.expired)
    return evaluator.found(form, purpose, blocks)


def mark_part(
    pair_of: Callable[[Given], LinkagePair], mark: Mark, given: Given, blocks: IndexArray, clock: Clock
) -> BoolArray:
    """Mark some blocks on a worker."""
    return mark(pair_of(given).part(blocks), lambda: clock.expired, clock.most_threads)


class PartedCounts(SharedCounts):
    """Counts blocks on workers that each hold some partitions of the candidates.

    In rounds: each group of blocks visits the partition of its partners, then others with the nearest rivals
    so far, as long as they may change the result.
    """

    def __init__(self, workers: Workers[Any], parts: PartedPair, report: ReportTasks | None = None) -> None:
        super().__init__(workers, parts.pair, report)
        self._parts = parts

    def _ranked(self, form: DistanceForm, purpose: int, blocks: IndexArray, stop: Stop | None) -> Found:
        parts, groups = len(self._parts), self._groups(blocks)
        merged, do = Merged(blocks.size, parts, purpose), partial(settle_part, form, purpose)
        for turn in range(parts):
            still = merged.open
            groups = [(home, places[still[places]]) for home, places in groups]
            begun = [(home, places) for home, places in groups if places.size]
            tasks = [
                PartTask(
                    (home + turn) % parts,
                    Deferred(self._parts.blocks, blocks[places], merged.known[places]),
                )
                for home, places in begun
            ]
            before, of = turn * len(groups), parts * len(groups)
            for at, found in self._answers(do, tasks, stop, before, of):
                merged.add(begun[at][1], found)
        return merged.whole()

    def _groups(self, blocks: IndexArray) -> list[tuple[int, IndexArray]]:
        """Group `blocks` by partitions of their partners, neighbours together."""
        most = self._most(blocks.size)
        order = np.argsort(self._parts.place[blocks], kind="stable")
        homes = self._parts.home[blocks[order]]
        found: list[tuple[int, int, IndexArray]] = []
        for part in range(len(self._parts)):
            own = order[homes == part]
            some = np.array_split(own, max(1, math.ceil(own.size / most)))
            found += [(turn, part, places) for turn, places in enumerate(some)]
        # Tasks of one partition wait for the same workers: mixed, they keep all busy.
        found.sort(key=lambda group: group[:2])
        return [(part, places) for _, part, places in found if places.size]
