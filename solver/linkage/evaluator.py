"""The evaluator: the only place that decides whether a record is linked."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from formulations.aggregators import Aggregator
from formulations.distance_tables import DistanceTables
from formulations.distances import TIE_TOLERANCE, Differences
from formulations.forms import DistanceForm
from formulations.pair import LinkagePair, Ties
from solver.linkage.kernels import Tables, settle

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_BLOCKS_PER_TASK = 512
_DIFFERENCES = {Differences.SQUARED: 0, Differences.ABSOLUTE: 1, Differences.SIGNED: 2}


@dataclass(frozen=True)
class Evaluation:
    """What became of every block under fixed parameters.

    Attributes
    ----------
    linked : ndarray of bool, shape (blocks,)
        The partner is strictly nearer than every rival; near-ties (`TIE_TOLERANCE`) are not linked.
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
    """

    linked: NDArray[np.bool_]
    rank: IndexArray
    ties: IndexArray
    distance: FloatArray
    nearest_other: FloatArray
    weight: FloatArray
    rival: IndexArray

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
        possible = np.isfinite(self.distance)
        margin = np.full(self.distance.size, -np.inf)
        margin[possible] = self.nearest_other[possible] - self.distance[possible]
        return margin


class Evaluator:
    """Counts links of one file pair for any parameters, by compiled code on all cores.

    Parameters
    ----------
    pair : LinkagePair
        The blocks and their candidates.
    threads : int, optional
        Threads to use; all cores when absent.
    """

    def __init__(self, pair: LinkagePair, threads: int | None = None) -> None:
        self.pair = pair
        self.threads = threads or os.cpu_count() or 1
        self._sorted: dict[int, tuple[FloatArray, IndexArray, IndexArray, IndexArray]] = {}

    def count(self, form: DistanceForm) -> NDArray[np.bool_]:
        """Which blocks are linked, shape (blocks,): stops at each block's first nearer rival."""
        return self._settle(form, counting=True).linked

    def weight(self, form: DistanceForm) -> float:
        """Weight of the linked blocks."""
        return float(self.pair.weight[self.count(form)].sum())

    def table(self, form: DistanceForm) -> Evaluation:
        """Rank, ties and distances of every block."""
        return self._settle(form, counting=False)

    def _by(self, pivot: int) -> tuple[FloatArray, IndexArray, IndexArray, IndexArray]:
        """Candidates sorted by an attribute, their twin groups, partners' places, the candidates' rows."""
        if pivot not in self._sorted:
            order = np.argsort(self.pair.candidates[:, pivot], kind="stable")
            place = np.empty_like(order)
            place[order] = np.arange(order.size)
            self._sorted[pivot] = (
                np.ascontiguousarray(self.pair.candidates[order]),
                self.pair.twin_group[order],
                place[self.pair.partner],
                order,
            )
        return self._sorted[pivot]

    def _settle(self, form: DistanceForm, *, counting: bool) -> Evaluation:
        pair = self.pair
        power = 1 if form.differences is Differences.ABSOLUTE and form.kind != 4 else 2
        spread = pair.candidates.std(axis=0)
        floor = form.floor
        if pair.tables is not None:
            floor = floor.copy()
            floor[pair.tables.attributes] = 0.0  # the positions of categories have no distance
        pivot = int(np.argmax(floor * spread**power))
        candidates, group, partner, order = self._by(pivot)
        tables = _arrays(pair)
        flat = form.parameters.ndim == 1
        vector = form.parameters if flat else np.empty(0)
        matrix = np.empty((0, 0)) if flat else form.parameters
        rank = np.empty(pair.blocks, dtype=np.intp)
        ties = np.empty(pair.blocks, dtype=np.intp)
        distance = np.empty(pair.blocks)
        nearest = np.empty(pair.blocks)
        rival = np.empty(pair.blocks, dtype=np.intp)

        def task(first: int) -> None:
            part = slice(first, first + _BLOCKS_PER_TASK)
            settle(
                int(form.kind), vector, matrix, _DIFFERENCES[form.differences],
                power, float(floor[pivot]), pivot, tables,
                pair.queries[part], candidates, group, partner[part],
                pair.ties is Ties.SHARE, counting, TIE_TOLERANCE * form.unit, form.noise,
                rank[part], ties[part], distance[part], nearest[part], rival[part],
            )  # fmt: skip

        firsts = range(0, pair.blocks, _BLOCKS_PER_TASK)
        if len(firsts) == 1 or self.threads == 1:
            for first in firsts:
                task(first)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(task, firsts))
        linked = (rank == 1) & (ties == 0) & pair.reachable
        rival = np.where(rival >= 0, order[rival], -1)
        return Evaluation(linked, rank, ties, distance, nearest, pair.weight, rival)


def _arrays(pair: LinkagePair) -> Tables:
    """The tables of a pair as compiled code takes them."""
    tables = pair.tables or DistanceTables.of(())
    return tables.attributes, tables.values, tables.first, tables.width


def evaluate_parameters(
    pair: LinkagePair, aggregator: Aggregator, theta: FloatArray, threads: int | None = None
) -> Evaluation:
    """Settle every block of `pair` under the parameters `theta`."""
    return Evaluator(pair, threads).table(aggregator.form(theta))
