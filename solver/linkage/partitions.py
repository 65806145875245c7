"""Candidates in partitions, so that nobody who settles blocks has to hold all of them.

A task is some blocks with one partition. It brings the partners of its blocks along: they lie in no box, so
nobody else is compared with them. What comes of all partitions is put together without any rounding: numbers
of nearer and of tied rivals add up, and the nearest, and the clearest, of all is that of one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.linkage.box_tree import box_tree
from linkrisk.formulations.linkage.distances import category_counts
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair, Ties
from linkrisk.solver.linkage.distance_kernels import Compared, Found, nothing_found
from linkrisk.solver.linkage.distance_ranks import COUNTING
from linkrisk.solver.linkage.evaluator import (
    Bounded,
    allowance,
    as_arrays,
    as_boxes,
    bounded,
    missing_arrays,
    settled,
)
from linkrisk.solver.run.clock import Clock, processors
from linkrisk.solver.run.remote import Deferred

MOST_BYTES = 256 * 2**20
"""Of candidates that every worker holds, and of a partition; with more there are partitions."""


def partitions_of(pair: LinkagePair) -> int:
    """How many partitions the candidates need; 1 where every worker can hold them all."""
    return max(1, -(-pair.candidates.nbytes // MOST_BYTES))


@dataclass(frozen=True)
class Partition:
    """Some of the candidates.

    Attributes
    ----------
    pair : LinkagePair
        With these candidates, and no blocks.
    number : ndarray of int, shape (candidates,)
        Who they are.
    group : ndarray of int, shape (candidates,)
        Candidates of the group of a block's partner are no rivals of it.
    """

    pair: LinkagePair
    number: IndexArray
    group: IndexArray


@dataclass(frozen=True)
class Blocks:
    """Some blocks.

    Attributes
    ----------
    pair : LinkagePair
        These blocks, with their partners as the only candidates; its tables are those of the partition.
    group : ndarray of int, shape (blocks,)
        Of their partners.
    known : ndarray of float64, shape (blocks,)
        Distance of the nearest rival that was found in other partitions; infinite if none was.
    """

    pair: LinkagePair
    group: IndexArray
    known: FloatArray


@dataclass(frozen=True)
class PartTask:
    """Blocks to be ranked in a partition; on its way to a worker it holds nothing of others."""

    part: int
    blocks: Deferred[Blocks]


class PartedPair:
    """The candidates of a pair in partitions of neighbours, made when they are asked for (`Parts`).

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
        """The partition of each block's partner, shape (blocks,): its nearest rival is likely to be there."""
        self.place: IndexArray = place[pair.partner]
        """By which blocks are neighbours, shape (blocks,)."""

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, number: int) -> Partition:
        """A partition, with nothing of the others."""
        members, pair, nobody = self._members[number], self.pair, np.empty(0, dtype=np.intp)
        missing = pair.missing
        if missing is not None:
            missing = replace(missing.part(nobody), of_candidates=missing.of_candidates[members])
        of_nobody = replace(pair.part(nobody), candidates=pair.candidates[members], missing=missing)
        return Partition(of_nobody, members, self._group[members])

    def blocks(self, blocks: IndexArray, known: FloatArray) -> Blocks:
        """Some blocks, with nothing of others."""
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
    """Settle blocks among the candidates of a partition, at a worker."""
    blocks, inside = task.blocks.made(), partition.pair
    missing = inside.missing
    if missing is not None and blocks.pair.missing is not None:
        missing = replace(missing, of_queries=blocks.pair.missing.of_queries)
    pair = replace(inside, queries=blocks.pair.queries, missing=missing)
    bounds = bounded(pair, form)
    compared = _compared(partition, replace(blocks.pair, tables=inside.tables), blocks, form, bounds)
    turns = np.arange(blocks.known.size)  # neighbours one after the other
    threads = clock.most_threads or processors()
    return settled(form, purpose, compared, as_boxes(pair, bounds), turns, lambda: clock.expired, threads)


def _compared(
    partition: Partition, beside: LinkagePair, blocks: Blocks, form: DistanceForm, bounds: Bounded
) -> Compared:
    """The candidates of a partition in their places, and after them the partners of all blocks."""
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
    """What was found of some blocks in partitions, put together.

    Parameters
    ----------
    blocks, parts : int
    purpose : int
        What was looked for.
    """

    def __init__(self, blocks: int, parts: int, purpose: int) -> None:
        self._parts, self._purpose = parts, purpose
        self._looked = np.zeros(blocks, dtype=np.intp)
        self._found = nothing_found(blocks)
        self._found.rank[:] = 1
        self._found.nearest_other[:] = self._found.clear[:] = np.inf

    @property
    def known(self) -> FloatArray:
        """Distance of the nearest rival found so far, shape (blocks,)."""
        return self._found.nearest_other

    @property
    def open(self) -> BoolArray:
        """The blocks that further partitions matter to, shape (blocks,)."""
        if self._purpose != COUNTING:
            return np.ones(self._looked.size, dtype=np.bool_)
        return np.asarray((self._found.rank == 1) & (self._found.ties == 0))

    def add(self, places: IndexArray, part: Found) -> None:
        """Some blocks in one more partition; those that it did not come to stay as they are."""
        looked = part.rank > 0
        at, whole = places[looked], self._found
        new = Found._make(values[looked] for values in part)
        self._looked[at] += 1
        whole.rank[at] += new.rank - 1
        whole.ties[at] += new.ties
        whole.distance[at] = new.distance
        whole.nearest_other[at] = np.minimum(whole.nearest_other[at], new.nearest_other)
        before, clear = whole.rival[at], whole.clear[at]
        sooner = (new.clear < clear) | ((new.clear == clear) & (new.rival < before)) | (before < 0)
        better = (new.rival >= 0) & sooner
        whole.rival[at[better]], whole.clear[at[better]] = new.rival[better], new.clear[better]

    def whole(self) -> Found:
        """All of it; of blocks that were not looked at in all partitions that matter to them, nothing."""
        unknown = (self._looked < self._parts) & ((self._looked == 0) | self.open)
        for values, nothing in zip(self._found, nothing_found(int(unknown.sum())), strict=True):
            values[unknown] = nothing
        return self._found
