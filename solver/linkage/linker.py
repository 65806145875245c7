"""Define the base classes of linkers, which learn without the true links and score pairs of records.

Workers compare shares of all pairs: some queries with some candidates, sent without any other records.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.linkage.score_ranks import Kinds, Part, PartnerRanks, ScoredPairs
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import CancelledError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.pool import WorkerPool
from linkrisk.solver.run.progress import TASKS, Progress, Reporter
from linkrisk.solver.run.remote import Deferred
from linkrisk.solver.run.workers import Answer, Do, Given, Sequential, Task

Rows = IndexArray | slice
"""Row numbers of records; a range takes no memory."""

WORTH = 50_000_000
"""Pairs from which workers are used: fewer are compared faster here."""

TASKS_EACH = 4
"""Tasks for each worker: more balance the load, and cost more overhead."""

_FEWEST, _MOST = 256, 4_096
"""Queries of a share: fewer are not worth sending, more are costly to lose."""

_CODES = 1 << 19
"""Codes of a share's candidates: some megabytes, small enough for Dask's task messages."""


def places(rows: Rows) -> IndexArray:
    """List the rows one by one."""
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows


class ReadyPairs(ABC):
    """Some queries and candidates ready to be compared, both numbered from 0."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of queries and candidates."""

    @abstractmethod
    def scores(self, rows: IndexArray) -> FloatArray:
        """Score some of the queries with each of the candidates (see `LearnedLinker.scores`)."""


def shared_out(queries: int, candidates: int, attributes: int, many: int) -> Iterator[tuple[slice, slice]]:
    """Split all pairs into shares of queries and candidates for so many workers."""
    width = max(1, _CODES // max(1, attributes))
    columns = -(-candidates // width)
    each = -(-queries * columns // (TASKS_EACH * many))
    height = min(_MOST, max(_FEWEST, each))
    for row in range(0, queries, height):
        for column in range(0, candidates, width):
            yield slice(row, min(row + height, queries)), slice(column, min(column + width, candidates))


class Helpers:
    """A worker pool reused by the parallel steps of one linkage run."""

    def __init__(
        self, pool: WorkerPool, report: Reporter | None = None, cancel: Cancel | None = None
    ) -> None:
        self._pool, self._report, self._cancel = pool, report, cancel

    def worth(self, pairs: float) -> bool:
        """Whether workers compare so many pairs faster."""
        return self._pool.choice.any and pairs >= WORTH

    def answers(
        self,
        given: Given,
        do: Do[Given, Task, Answer],
        plan: Callable[[int], Sequence[Task]],
        clock: Clock | None = None,
    ) -> Iterator[tuple[int, Answer]]:
        """Run all tasks of a plan for so many workers; yield their numbers with answers as they complete.

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


_CELLS_AT_ONCE = 4_000_000
"""Scores held at a time: 32 MB."""

_PAIRS_AT_ONCE = 64
"""Single pairs above which queries are scored with all their candidates."""


@dataclass(frozen=True, eq=False)
class LinkageTask:
    """Input of a linker. The true partners are not part of it.

    Attributes
    ----------
    queries : DataFrame
        The records to be linked, n rows.
    candidates : DataFrame
        The records they may be linked to, m rows.
    query_attributes, candidate_attributes : tuple of str
        Columns of the two frames to use; the same where files have attributes in common.
    schema : Schema
        Scale and categories of all these attributes. Missing values are missing in the frames.
    sources : pair of str
        Names of the files of queries and of candidates in messages.
    bijection : bool
        Whether every query is known to have exactly one partner, and the other way round.
    training : DataFrame, optional
        Other records with all attributes of both files.
    seed : int
        Seed of every random choice.
    masked_queries : bool
        Whether the queries are the masked records and the candidates the original ones.
    helpers : Helpers, optional
        Workers that compare records.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> names = tuple(iris)
    >>> task = linkrisk.linkers.LinkageTask(iris, masked, names, names, linkrisk.describe(iris).schema)
    >>> task.bijection, task.query_attributes[0]
    (False, 'sepal_length')
    """

    queries: pd.DataFrame
    candidates: pd.DataFrame
    query_attributes: tuple[str, ...]
    candidate_attributes: tuple[str, ...]
    schema: Schema
    sources: tuple[str, str] = ("the file of queries", "the file of candidates")
    bijection: bool = False
    training: pd.DataFrame | None = None
    seed: int = 0
    masked_queries: bool = False
    helpers: Helpers | None = None


class Linker(ABC):
    """A way to link records; a frozen dataclass whose fields are its settings.

    Settings are declared in `solver/linkage/parameters.py`, in a class that it inherits. A new linker is one
    file with a subclass, and a line there and in `solver/linkage/registry.py`.

    Attributes
    ----------
    name : str
        What it is called, also on the command line.
    common_attributes : bool
        Whether it compares attributes that both files have.
    learns_from_training : bool
        Whether it takes training records.
    has_workers : bool
        Whether others can compare records for it.
    requires : tuple of str
        Modules of an extra that it cannot do without.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> names = tuple(iris)
    >>> task = linkrisk.linkers.LinkageTask(iris, masked, names, names, linkrisk.describe(iris).schema)
    >>> learned = linkrisk.linkers.SumOfStandardised().learn(task)
    >>> learned.scores(slice(0, 2)).shape
    (2, 15)
    """

    name: ClassVar[str]
    common_attributes: ClassVar[bool] = True
    learns_from_training: ClassVar[bool] = False
    has_workers: ClassVar[bool] = False
    requires: ClassVar[tuple[str, ...]] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns of both files that it needs besides the attributes to compare."""
        return ()

    @property
    def lists_links(self) -> bool:
        """Whether it decides which pairs are links, which is of use where the true ones are not known."""
        return False

    @abstractmethod
    def learn(self, task: LinkageTask) -> LearnedLinker:
        """Learn from the two files and from training records.

        Raises
        ------
        UsageError
            If the task or the settings do not suit this linker; one line that says how to fix it.
        """

    @classmethod
    @abstractmethod
    def restored(cls, parameters: Mapping[str, Any], task: LinkageTask) -> LearnedLinker:
        """A linker with parameters that were learned before, applied to these files.

        Raises
        ------
        UsageError
            If they are not parameters of this linker.
        """


class LearnedLinker(ABC):
    """A linker ready to score the pairs of its task.

    Attributes
    ----------
    parameters : dict
        Learned parameters as in the JSON; `Linker.restored` reads them.
    notes : tuple of str
        Notes for users: no convergence, parameters at their bounds, and the like.
    """

    parameters: dict[str, Any]
    notes: tuple[str, ...] = ()

    @abstractmethod
    def scores(self, rows: IndexArray) -> FloatArray:
        """Score of some queries with every candidate; a larger one makes a likelier match.

        Parameters
        ----------
        rows : ndarray of int, shape (any,)
            Rows of the queries.

        Returns
        -------
        ndarray of float64, shape (any, candidates)
            No NaN; -inf where a pair cannot be a match.
        """

    def pair_scores(self, queries: IndexArray, candidates: IndexArray) -> FloatArray:
        """Scores of single pairs, shape (pairs,), from the rows of their records, each of shape (pairs,)."""
        score, many = self.scores, max(1, int(candidates.max(initial=0)))
        if self.kinds is not None:
            of_queries, of_candidates = self.kinds
            queries, candidates = of_queries.kind[queries], of_candidates.kind[candidates]
            score, many = self.kind_scores, of_candidates.first.size
        rows, place = np.unique(queries, return_inverse=True)
        order = np.argsort(place, kind="stable")
        place, found = place[order], np.empty(order.size)
        size = max(1, _CELLS_AT_ONCE // many)
        for first in range(0, rows.size, size):
            own = slice(*np.searchsorted(place, [first, first + size]).tolist())
            scores = score(rows[first : first + size])
            found[order[own]] = scores[place[own] - first, candidates[order[own]]]
        return found

    @property
    def scored_pairs(self) -> ScoredPairs | None:
        """List all pairs that may be matches, if they are few and were scored when learning."""
        return None

    @property
    def kinds(self) -> tuple[Kinds, Kinds] | None:
        """Group queries, and candidates, with equal scores; None where none are equal, or it is unknown."""
        return None

    def kind_scores(self, rows: IndexArray) -> FloatArray:
        """Score some kinds of queries with every kind of candidates, where there are `kinds`."""
        return self.scores(rows)

    def partner_ranks(self, part: Part) -> PartnerRanks | None:
        """Rank partners among all kinds without scoring every pair; None if that is impossible.

        Parameters
        ----------
        part : Part
            All kinds, with the partners' scores.
        """
        del part
        return None

    def judged_as(self, truth: Truth) -> tuple[LinkagePair, DistanceForm] | None:
        """Return the distance that the scores represent, for the evaluator; None if there is none."""
        del truth
        return None

    def probabilities(self, scores: FloatArray) -> FloatArray | None:
        """Compute the match probability of each score, where the linker knows it."""
        del scores
        return None


class ScoredByKind(LearnedLinker):
    """A linker that scores kinds of records, which determine the scores of records."""

    both: tuple[Kinds, Kinds]
    """The kinds of queries and of candidates."""

    @property
    def kinds(self) -> tuple[Kinds, Kinds] | None:
        """Group queries, and candidates, with equal scores (see `LearnedLinker.kinds`)."""
        return None if all(side.apart for side in self.both) else self.both

    @abstractmethod
    def kind_scores(self, rows: IndexArray) -> FloatArray:
        """Scores of some kinds of queries with every kind of candidates."""

    def scores(self, rows: IndexArray) -> FloatArray:
        """Score records by their kinds (see `LearnedLinker.scores`)."""
        queries, candidates = self.both
        scores = self.kind_scores(queries.kind[rows])
        return scores if candidates.apart else scores.take(candidates.kind, axis=1)


def in_small_blocks(
    score: Callable[[IndexArray, IndexArray], FloatArray], queries: IndexArray, candidates: IndexArray
) -> FloatArray:
    """Compute `LearnedLinker.pair_scores` from scores of some queries with some candidates."""
    found = np.empty(queries.size)
    for first in range(0, queries.size, _PAIRS_AT_ONCE):
        part = slice(first, first + _PAIRS_AT_ONCE)
        rows, row = np.unique(queries[part], return_inverse=True)
        columns, column = np.unique(candidates[part], return_inverse=True)
        found[part] = score(rows, columns)[row, column]
    return found


class ScoredInShares(ScoredByKind):
    """A linker that can score some kinds of records from their data alone."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of codes by which a candidate is compared."""

    @abstractmethod
    def share(self, rows: Rows, candidates: Rows) -> Deferred[ReadyPairs]:
        """Extract some kinds of queries and of candidates, the latter in ascending order."""

    def pair_scores(self, queries: IndexArray, candidates: IndexArray) -> FloatArray:
        """Score single pairs from shares of a few kinds (see `LearnedLinker.pair_scores`)."""
        rows, columns = (side.kind[own] for side, own in zip(self.both, (queries, candidates), strict=True))

        def score(some: IndexArray, others: IndexArray) -> FloatArray:
            return self.share(some, others).made().scores(np.arange(some.size))

        return in_small_blocks(score, rows, columns)


def in_chunks(
    linker: LearnedLinker, rows: IndexArray, candidates: int, cells: int = _CELLS_AT_ONCE
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield scores of queries with every candidate in batches, with the position of each."""
    size = max(1, cells // max(1, candidates))
    for first in range(0, rows.size, size):
        part = slice(first, min(first + size, rows.size))
        yield part, linker.scores(rows[part])


@dataclass(frozen=True, eq=False)
class Truth:
    """The true partners, for judging linkers.

    One *block* per query that has a partner among the candidates.

    Attributes
    ----------
    query_rows : ndarray of int, shape (blocks,)
        The row of each block's query.
    partner : ndarray of int, shape (blocks,)
        The row of its partner among the candidates.
    weight : ndarray of float64, shape (blocks,)
        What linking the block counts.
    queries, candidates : int
        How many there are of each.
    twin_group : ndarray of int, shape (candidates,), optional
        Equal labels for candidates that equal each other on every attribute, where these are not rivals.

    Examples
    --------
    >>> import numpy as np
    >>> from linkrisk.linkers import Truth
    >>> Truth.of(np.arange(3), 3).weight.tolist()
    [1.0, 1.0, 1.0]
    """

    query_rows: IndexArray
    partner: IndexArray
    weight: FloatArray
    queries: int
    candidates: int
    twin_group: IndexArray | None = None

    @classmethod
    def of(cls, partner: IndexArray, candidates: int, twin_group: IndexArray | None = None) -> Self:
        """Build the truth from the partner of each query, -1 where it has none."""
        rows = np.flatnonzero(partner >= 0)
        weight = np.ones(rows.size)
        if twin_group is not None:
            weight /= np.bincount(twin_group)[twin_group[partner[rows]]]
        return cls(rows, partner[rows], weight, partner.size, candidates, twin_group)

    @property
    def groups(self) -> IndexArray:
        """Group of each candidate, shape (candidates,): those of the partner's group are no rivals."""
        return np.arange(self.candidates) if self.twin_group is None else self.twin_group
