"""Better answers from neighbourhoods: the records of a few nodes are placed anew, as well as can be.

Some used nodes that are near each other give their records free; these may go to any node that they fill,
or to nodes that others use. The small program is solved by a backend, with the present places as its start.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.suppression.key_table import RowTypes
from linkrisk.formulations.suppression.nodes import Nodes
from linkrisk.formulations.suppression.recount_model import RecountModel, recount_model
from linkrisk.solver.backends.base import Backend, BackendResult, SolveOptions
from linkrisk.solver.suppression.anonymity.assignment import Assignment

_RECORDS = 300
"""Set free at first; more where programs are solved soon, fewer where they are not."""

_LEAST_RECORDS, _MOST_RECORDS = 30, 5_000
_SECONDS = 8.0
_SOON = 2.0
CLOSE = 0.99
"""Objectives count in units that all costs are multiples of: a gap of less is none."""

_APART = 0.3
"""How far a star is from a value; two values that differ are 1 apart."""


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Records of some nodes that are to be placed anew.

    Attributes
    ----------
    chosen : ndarray of int64
        The nodes.
    free : ndarray of int64
        Entries that the records take now.
    records : ndarray of int64
        How many take each of these.
    entries : ndarray of int64
        Entries that they may take.
    model : RecountModel
    start : ndarray of float64
        The present places, as a point of the model.
    """

    chosen: LongArray
    free: LongArray
    records: LongArray
    entries: LongArray
    model: RecountModel
    start: FloatArray


@dataclass(eq=False)
class Neighbourhoods:
    """A search that makes an answer better, with as many programs at a time as there are threads.

    Attributes
    ----------
    nodes : Nodes
    types : RowTypes
    backend : Backend
    prices : ndarray of int64, shape (T,)
        Near-optimal ones: entries that cost much more than them are not looked at.
    within : int
        How much more that is.
    unit : int
        What all costs are multiples of.
    seed : int
    """

    nodes: Nodes
    types: RowTypes
    backend: Backend
    prices: LongArray
    within: int
    unit: int
    seed: int = 0

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)
        self.size = _RECORDS
        first = self.nodes.start[:-1]
        taken = self.nodes.pattern[first][:, None] >> np.arange(self.types.codes.shape[1]) & 1
        self._rows = np.where(taken == 1, -1, self.types.codes[self.nodes.row_type[first]])

    def improve(
        self, answer: Assignment, threads: int, until: Callable[[], bool], seconds: Callable[[], float]
    ) -> None:
        """Place neighbourhoods anew, one after the other.

        Parameters
        ----------
        answer : Assignment
            Is changed.
        threads : int
            Programs solved at a time.
        until : callable
            Asked after each program, and while it is solved, whether to end.
        seconds : callable
            How many are left.
        """
        busy = np.zeros(len(self.nodes), dtype=np.bool_)
        running: dict[Future[BackendResult], Neighbourhood] = {}
        with ThreadPoolExecutor(threads) as pool:
            while running or not until():
                while len(running) < threads and not until() and (answer.inside[~busy] > 0).any():
                    around = self._next(answer, busy)
                    busy[around.chosen] = True
                    running[pool.submit(self._solve, around, until, min(_SECONDS, seconds()))] = around
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    around = running.pop(done)
                    busy[around.chosen] = False
                    _take(answer, around, done.result())
                    self._adapt(done.result())

    def _solve(self, around: Neighbourhood, until: Callable[[], bool], seconds: float) -> BackendResult:
        options = SolveOptions(time_limit=max(seconds, 0.1), absolute_gap=CLOSE)
        program = around.model.program
        return self.backend.solve(program, options, starts=[around.start], watch=lambda _: until())

    def _next(self, answer: Assignment, busy: BoolArray) -> Neighbourhood:
        nodes, inside = self.nodes, answer.inside
        chosen = self._near(np.where(busy, 0, inside))
        free = nodes.of_nodes(chosen)
        free = np.sort(free[answer.records[free] > 0])
        available = np.bincount(nodes.row_type[free], answer.records[free], len(nodes.count)).astype(np.int64)
        opened = (inside > 0) & ~busy
        opened[chosen] = False
        entries = self._entries(free, available, opened, busy)
        model = recount_model(nodes, entries, available, self.unit, opened)
        start = np.zeros(model.program.shape[1])
        start[np.searchsorted(entries, free)] = answer.records[free]
        start[entries.size + np.searchsorted(model.nodes, chosen)] = 1.0
        return Neighbourhood(chosen, free, answer.records[free].copy(), entries, model, start)

    def _near(self, inside: LongArray) -> LongArray:
        """Used nodes around one drawn by chance, with about as many records as are wanted."""
        used = np.flatnonzero(inside)
        rows = self._rows[used]
        centre = rows[self._random.integers(used.size)]
        both = (rows >= 0) & (centre >= 0)
        far = (both & (rows != centre)).sum(axis=1) + _APART * ((rows >= 0) != (centre >= 0)).sum(axis=1)
        order = np.argsort(far + 0.5 * self._random.random(used.size))
        many = max(2, int((np.cumsum(inside[used[order]]) <= self.size).sum()))
        return np.sort(used[order[:many]]).astype(np.int64)

    def _entries(
        self, free: LongArray, available: LongArray, opened: BoolArray, busy: BoolArray
    ) -> LongArray:
        """Entries of the free records into nodes that they can fill or that others fill."""
        nodes = self.nodes
        entries = nodes.of_types(np.flatnonzero(available))
        owner = nodes.row_type[entries]
        entries = entries[
            (nodes.cost[entries] < self.prices[owner] + self.within) & ~busy[nodes.of_entry[entries]]
        ]
        entries = np.union1d(entries, free)
        places = nodes.of_entry[entries]
        room = np.bincount(places, available[nodes.row_type[entries]], len(nodes))
        return np.asarray(entries[opened[places] | (room[places] >= nodes.k)])

    def _adapt(self, found: BackendResult) -> None:
        """Smaller neighbourhoods where time runs out, larger ones where it does not."""
        if found.solve_seconds < _SOON:
            self.size = min(int(self.size * 1.03) + 1, _MOST_RECORDS)
        elif found.limit is not None:
            self.size = max(int(self.size * 0.9), _LEAST_RECORDS)


def _take(answer: Assignment, around: Neighbourhood, found: BackendResult) -> None:
    """Place the records as the program says, if that is allowed and costs no more."""
    if found.values is None:
        return
    records = np.rint(found.values[: around.entries.size]).astype(np.int64)
    entries = np.concatenate([around.free, around.entries])
    by = np.concatenate([-around.records, records])
    if (records >= 0).all() and int(by @ answer.nodes.cost[entries]) <= 0:
        answer.move(entries, by)
