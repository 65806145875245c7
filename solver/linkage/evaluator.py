"""The evaluator: the only place that decides whether a record is linked."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.distance_tables import DistanceTables
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair, Ties
from linkrisk.formulations.linkage.ties import GRAIN_SHARE, TIE_TOLERANCE
from linkrisk.solver.linkage.kernels import COUNTING, NEAREST, RANKING, Missing, Tables, settle
from linkrisk.solver.run.work import COMPARISON, Spend, ignore

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_BLOCKS_PER_TASK = 512
_COUNTS_KEPT = 16
_MISSED = 50
"""Candidates that are looked at until one is found that stands in the way, roughly."""

_PAIRS_PER_TASK = 3_000_000
"""So that whether to stop is asked again within a fraction of a second, however many candidates there are."""

_DIFFERENCES = {Differences.SQUARED: 0, Differences.ABSOLUTE: 1, Differences.SIGNED: 2}


@dataclass(frozen=True)
class Evaluation:
    """What became of every block under fixed parameters.

    Attributes
    ----------
    linked : ndarray of bool, shape (blocks,)
        The partner is strictly nearer than every rival; near-ties (`linkage.ties`) are not linked.
    rank : ndarray of int, shape (blocks,)
        1 + number of rivals strictly nearer than the partner.
    ties : ndarray of int, shape (blocks,)
        Rivals exactly as near as the partner.
    distance : ndarray of float64, shape (blocks,)
        Distance to the partner; inf when it cannot be the partner at all.
    nearest_other : ndarray of float64, shape (blocks,)
        Distance to the nearest rival; inf when there is none that can be the partner.
    weight : ndarray of float64, shape (blocks,)
        What linking each block counts.
    rival : ndarray of int, shape (blocks,)
        The candidate that stands most in the way of a link; -1 where there is no rival.
    settled : ndarray of bool, shape (blocks,)
        Whether the block was looked at: False where there was no time to. Such a block counts as not linked.
        Its rank is 0, which no other is.
    """

    linked: NDArray[np.bool_]
    rank: IndexArray
    ties: IndexArray
    distance: FloatArray
    nearest_other: FloatArray
    weight: FloatArray
    rival: IndexArray
    settled: NDArray[np.bool_]

    @property
    def count(self) -> int:
        """Number of linked blocks."""
        return int(self.linked.sum())

    @property
    def linked_weight(self) -> float:
        """Weight of the linked blocks: what engines maximise."""
        return float(self.weight[self.linked].sum())

    @property
    def margin(self) -> FloatArray:
        """Distance to the nearest rival minus distance to the partner, shape (blocks,).

        -inf for a partner that is impossible, whatever the rivals are.
        """
        possible = np.isfinite(self.distance) & self.settled
        margin = np.full(self.distance.size, -np.inf)
        margin[possible] = self.nearest_other[possible] - self.distance[possible]
        return margin


class _BestCounts:
    """Which blocks the best distances counted so far link, and which of them were looked at.

    So the best distance need not be counted again at the end.
    """

    def __init__(self) -> None:
        self._kept: dict[bytes, Evaluation] = {}

    def note(self, form: DistanceForm, evaluation: Evaluation) -> None:
        """Keep the count, and of all kept the best few; of those that are as good, the last."""
        key = _key(form)
        before = self._kept.get(key)
        kept = {**self._kept, key: evaluation if before is None else _with(evaluation, before)}
        if len(kept) > _COUNTS_KEPT:
            worst = min(kept, key=lambda key: kept[key].linked_weight)
            del kept[worst]
        self._kept = kept

    def known(self, form: DistanceForm) -> Evaluation | None:
        """The count of this distance; None when it was not kept."""
        return self._kept.get(_key(form))


class Evaluator:
    """Counts links of one file pair for any parameters, by compiled code on all cores.

    Parameters
    ----------
    pair : LinkagePair
        The blocks and their candidates.
    threads : int, optional
        Threads to use; all cores when absent.
    stop : callable, optional
        Asked again and again whether to stop. Blocks that were not looked at by then are not `settled` and
        count as not linked, so that a count is never too high.
    spend : callable
        Called with the cost of every count.
    """

    def __init__(
        self,
        pair: LinkagePair,
        threads: int | None = None,
        stop: Callable[[], bool] | None = None,
        spend: Spend = ignore,
    ) -> None:
        self.pair = pair
        self.threads = threads or os.cpu_count() or 1
        self._stop, self._spend = stop, spend
        self._sorted: dict[int, tuple[FloatArray, IndexArray, IndexArray, IndexArray]] = {}
        self._open: IndexArray | None = None
        self._asked = pair
        self.best = _BestCounts()

    def mark_lost(self, lost: NDArray[np.bool_]) -> None:
        """Mark blocks, shape (blocks,), as lost: counts skip them."""
        self._open = np.flatnonzero(~lost).astype(np.intp)
        self._asked = self.pair.part(self._open)

    def count(self, form: DistanceForm) -> NDArray[np.bool_]:
        """Which blocks are linked, shape (blocks,): stops at each block's first nearer rival."""
        return self.counted(form).linked

    def weight(self, form: DistanceForm) -> float:
        """Weight of the linked blocks."""
        return self.counted(form).linked_weight

    def counted(self, form: DistanceForm) -> Evaluation:
        """Which blocks are linked and which were looked at; ranks, ties and distances are not complete."""
        return self._noted(form, COUNTING)

    def recount(self, form: DistanceForm, blocks: IndexArray) -> Evaluation:
        """`counted` of some blocks alone; all others are not `settled`."""
        part = self._settle(form, COUNTING, self.pair.part(blocks), self._stop)
        evaluation = _spread(part, blocks, self.pair.weight, settled=False)
        self.best.note(form, evaluation)
        return evaluation

    def nearest(self, form: DistanceForm) -> Evaluation:
        """The nearest rival of every block, and whether it is linked; ranks and ties are not complete."""
        return self._noted(form, NEAREST)

    def _noted(self, form: DistanceForm, purpose: int) -> Evaluation:
        evaluation = self._settle(form, purpose, self._asked, self._stop)
        if self._open is not None:
            evaluation = _spread(evaluation, self._open, self.pair.weight, settled=True)
        self.best.note(form, evaluation)
        return evaluation

    def table(self, form: DistanceForm) -> Evaluation:
        """Rank, ties and distances of every block."""
        return self._settle(form, RANKING, self.pair, self._stop)

    def final(self, form: DistanceForm, stop: Callable[[], bool]) -> Evaluation:
        """`table` with another time to stop, and where that comes too soon, what was counted before.

        Blocks that only the count has looked at are `settled` and have rank 0.
        """
        evaluation = self._settle(form, RANKING, self.pair, stop)
        known = self.best.known(form)
        return evaluation if known is None else _with(evaluation, known)

    def _by(self, pivot: int) -> tuple[FloatArray, IndexArray, IndexArray, IndexArray]:
        """Candidates sorted by an attribute, their twin groups, the place of each, and who is where."""
        if pivot not in self._sorted:
            order = np.argsort(self.pair.candidates[:, pivot], kind="stable")
            place = np.empty_like(order)
            place[order] = np.arange(order.size)
            self._sorted[pivot] = (
                np.ascontiguousarray(self.pair.candidates[order]),
                self.pair.twin_group[order],
                place,
                order,
            )
        return self._sorted[pivot]

    def _pivot(self, form: DistanceForm, power: int) -> tuple[float, int]:
        """The attribute that leaves the fewest candidates to look at, and its floor; a floor of zero: all."""
        ordered = self.pair.ordered
        if ordered.size == 0:
            return 0.0, 0
        widths = form.floor[ordered] * self.pair.candidates[:, ordered].std(axis=0) ** power
        pivot = int(ordered[np.argmax(widths)])
        return float(form.floor[pivot]), pivot

    def _settle(
        self, form: DistanceForm, purpose: int, pair: LinkagePair, stop: Callable[[], bool] | None
    ) -> Evaluation:
        """Settle the blocks of `pair`, which has all candidates."""
        power = 1 if form.differences is Differences.ABSOLUTE and form.kind != 4 else 2
        floor, pivot = self._pivot(form, power)
        candidates, group, place, order = self._by(pivot)
        partner, rounding = place[pair.partner], pair.rounding
        allowance = pair.grains**2 if power == 2 else GRAIN_SHARE * pair.grains
        tables, missing = as_arrays(pair), missing_arrays(pair)
        missing = (missing[0], missing[1][order] if pair.missing else missing[1], missing[2])
        flat = form.parameters.ndim == 1
        vector = form.parameters if flat else np.empty(0)
        matrix = np.empty((0, 0)) if flat else form.parameters
        rank = np.zeros(pair.blocks, dtype=np.intp)
        ties = np.zeros(pair.blocks, dtype=np.intp)
        distance = np.full(pair.blocks, np.nan)
        nearest = np.full(pair.blocks, np.nan)
        rival = np.full(pair.blocks, -1, dtype=np.intp)
        together = max(1, min(_BLOCKS_PER_TASK, _PAIRS_PER_TASK // max(1, len(candidates))))

        def task(first: int) -> None:
            if stop is not None and stop():
                return
            part = slice(first, first + together)
            settle(
                int(form.kind), vector, matrix, _DIFFERENCES[form.differences],
                power, floor, pivot, tables, (missing[0][part], *missing[1:]),
                pair.queries[part], candidates, group, partner[part], rounding[part], allowance,
                pair.ties is Ties.SHARE, purpose, TIE_TOLERANCE, form.noise,
                rank[part], ties[part], distance[part], nearest[part], rival[part],
            )  # fmt: skip

        firsts = range(0, pair.blocks, together)
        if len(firsts) == 1 or self.threads == 1:
            for first in firsts:
                task(first)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(task, firsts))
        linked = (rank == 1) & (ties == 0) & pair.reachable
        self._spend(_cost(pair, int(linked.sum()), purpose))
        rival = np.where(rival >= 0, order[rival], -1)
        return Evaluation(linked, rank, ties, distance, nearest, pair.weight, rival, settled=rank > 0)


def _cost(pair: LinkagePair, linked: int, purpose: int) -> float:
    """Operations of a count: all candidates where no rival prevents a link, or ranks are counted."""
    whole = pair.blocks if purpose == RANKING else linked
    pairs = whole * len(pair.candidates) + (pair.blocks - whole) * min(_MISSED, len(pair.candidates))
    return COMPARISON * len(pair.attributes) * pairs


def _with(evaluation: Evaluation, known: Evaluation) -> Evaluation:
    """An evaluation, and of blocks that it has not looked at whether they are linked by what was known."""
    linked = np.where(evaluation.settled, evaluation.linked, known.linked)
    return replace(evaluation, linked=linked, settled=evaluation.settled | known.settled)


def _spread(part: Evaluation, blocks: IndexArray, weight: FloatArray, *, settled: bool) -> Evaluation:
    """The evaluation of some blocks as one of all, `weight` being theirs: the others are lost or open."""
    linked, looked_at = np.zeros(weight.size, dtype=np.bool_), np.full(weight.size, settled)
    rank, ties = np.full(weight.size, 2 if settled else 0), np.zeros(weight.size, int)
    rival = np.full(weight.size, -1)
    distance, nearest = np.full(weight.size, np.nan), np.full(weight.size, np.nan)
    for whole, own in (
        (linked, part.linked),
        (looked_at, part.settled),
        (rank, part.rank),
        (ties, part.ties),
        (rival, part.rival),
        (distance, part.distance),
        (nearest, part.nearest_other),
    ):
        whole[blocks] = own
    return Evaluation(linked, rank, ties, distance, nearest, weight, rival, looked_at)


def _key(form: DistanceForm) -> bytes:
    """What tells one distance from another."""
    return f"{form.kind:d} {form.differences} ".encode() + form.parameters.tobytes()


def as_arrays(pair: LinkagePair) -> Tables:
    """The tables of a pair as compiled code takes them."""
    tables = pair.tables or DistanceTables.of(())
    return tables.attributes, tables.values, tables.first, tables.width


def missing_arrays(pair: LinkagePair) -> Missing:
    """Differences to missing values of a pair as compiled code takes them, of no length without any."""
    if pair.missing is None:
        return np.empty((0, 0)), np.empty((0, 0)), np.empty(0)
    return pair.missing.of_queries, pair.missing.of_candidates, pair.missing.of_both


def evaluate_parameters(
    pair: LinkagePair, aggregator: Aggregator, theta: FloatArray, threads: int | None = None
) -> Evaluation:
    """Settle every block of `pair` under the parameters `theta`."""
    return Evaluator(pair, threads).table(aggregator.form(theta))
