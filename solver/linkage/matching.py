"""Match records one to one by distances or scores: optimally, greedily or at random."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

from linkrisk.arrays import BoolArray, FloatArray, IndexArray, IntArray
from linkrisk.errors import called
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.linkage.linker import LearnedLinker, LinkageTask, Linker, in_chunks
from linkrisk.solver.run.errors import UsageError

LARGEST_MATRIX = 100_000_000
"""Most cells of a matrix of distances or scores: 800 MB."""


def check_size(rows: int, columns: int, what: str = "matching", cells: str = "scores") -> None:
    """Refuse matrices with more than `LARGEST_MATRIX` cells."""
    if rows * columns > LARGEST_MATRIX:
        raise UsageError(
            f"one-to-one {what} needs a matrix of {rows:,} x {columns:,} {cells}, more than the "
            f"{LARGEST_MATRIX:,} that are allowed: take a sample, or leave {called('one_to_one')} out",
            option="one_to_one",
        )


def check_assignable(pair: LinkagePair) -> None:
    """Refuse a pair with too many distances for one matrix."""
    check_size(pair.blocks, len(pair.candidates), "assignment", "distances")


def distance_matrix(pair: LinkagePair, form: DistanceForm) -> FloatArray:
    """Compute distances of every block to every candidate, shape (blocks, candidates); inf if impossible."""
    check_assignable(pair)
    matrix = np.empty((pair.blocks, len(pair.candidates)))
    for part, distances in pair.chunks(form.differences):
        matrix[part] = form(distances)
        possible = pair.possible(np.arange(pair.blocks)[part, None], np.arange(len(pair.candidates)))
        matrix[part][~possible] = np.inf
    return matrix


def assigned_blocks(
    pair: LinkagePair, form: DistanceForm, random: np.random.Generator | None = None
) -> BoolArray:
    """Decide which blocks, shape (blocks,), are linked correctly by the assignment of smallest distance.

    Among optimal assignments the solver's choice depends on the order, and in many files partners are aligned
    by row: `random` permutes the candidates first.
    """
    matrix, partner = distance_matrix(pair, form), pair.partner
    if random is not None:
        order = random.permutation(len(pair.candidates))
        matrix, partner = matrix[:, order], np.argsort(order)[partner]
    return np.asarray(hungarian(np.negative(matrix, out=matrix)) == partner)


def score_matrix(linker: LearnedLinker, queries: int, candidates: int) -> FloatArray:
    """Compute the scores of all pairs, shape (queries, candidates)."""
    check_size(queries, candidates)
    matrix = np.empty((queries, candidates))
    for part, scores in in_chunks(linker, np.arange(queries), candidates):
        matrix[part] = scores
    return matrix


def hungarian(scores: FloatArray) -> IndexArray:
    """Maximum weight matching (Kuhn 1955) by `scores` (queries, candidates), -inf for impossible pairs.

    The result (queries,) has the candidate of each query, -1 where none is left or possible.
    """
    matched = np.full(scores.shape[0], -1, dtype=np.intp)
    possible = np.isfinite(scores)
    if not possible.any():
        return matched
    usable = scores
    if not possible.all():
        # No gain outweighs such a score, so that as many queries as possible are matched.
        least, most = scores[possible].min(), scores[possible].max()
        usable = np.where(possible, scores, least - (most - least + 1.0) * (min(scores.shape) + 1))
    rows, columns = linear_sum_assignment(usable, maximize=True)
    kept = possible[rows, columns]
    matched[rows[kept]] = columns[kept]
    return matched


def greedy(scores: FloatArray) -> IndexArray:
    """Match greedily, largest scores first, of equal ones those of the first query (see `hungarian`)."""
    matched = np.full(scores.shape[0], -1, dtype=np.intp)
    free = np.ones(scores.shape[1], dtype=np.bool_)

    def best(row: int) -> tuple[float, int, int]:
        column = int(np.where(free, scores[row], -np.inf).argmax())
        return (-float(scores[row, column]) if free[column] else np.inf), row, column

    waiting = [best(row) for row in range(scores.shape[0])]
    heapq.heapify(waiting)
    while waiting:
        cost, row, column = heapq.heappop(waiting)
        if cost == np.inf:
            break
        if free[column]:
            matched[row], free[column] = column, False
        else:
            heapq.heappush(waiting, best(row))
    return matched


MATCHINGS: Mapping[str, Callable[[FloatArray], IndexArray]] = MappingProxyType(
    {"hungarian": hungarian, "greedy": greedy}
)
"""The matchings by name."""


def matched(scores: FloatArray, how: str, seed: int) -> IndexArray:
    """Match by one of `MATCHINGS` after permuting rows and columns (see `hungarian`).

    Matchings prefer the first of equal pairs, which would be the correct one too often in aligned files.
    """
    random = np.random.default_rng(seed)
    rows, columns = random.permutation(scores.shape[0]), random.permutation(scores.shape[1])
    found = MATCHINGS[how](scores[np.ix_(rows, columns)])
    chosen = np.full(scores.shape[0], -1, dtype=np.intp)
    chosen[rows] = np.where(found >= 0, columns[found], -1)
    return chosen


_DENSE = 250_000
"""Cells of a connected component up to which a dense matrix is used: 2 MB, and faster."""


def matched_pairs(query: IntArray, candidate: IntArray, score: FloatArray, how: str, seed: int) -> BoolArray:
    """Match the scored pairs by one of `MATCHINGS`; a `score` is the gain of a link, above 0.

    ``hungarian`` maximises the total score of each group of connected records by itself. Unlike where all
    pairs are scored, it does not link as many records as it can: two poor links in place of a good one would
    mostly be wrong. Equal scores are in random order.
    """
    shuffled = np.random.default_rng(seed).permutation(query.size)
    taken = np.zeros(query.size, dtype=np.bool_)
    taken[shuffled] = _WAYS[how](query[shuffled], candidate[shuffled], score[shuffled])
    return taken


def _greedy(query: IntArray, candidate: IntArray, score: FloatArray) -> BoolArray:
    taken = np.zeros(query.size, dtype=np.bool_)
    if query.size:
        order = np.argsort(-score, kind="stable")
        free = np.ones(int(query.max()) + 1, np.bool_), np.ones(int(candidate.max()) + 1, np.bool_)
        _take(order, query, candidate, *free, taken)
    return taken


@kernel
def _take(
    order: IndexArray,
    query: IntArray,
    candidate: IntArray,
    free_query: BoolArray,
    free_candidate: BoolArray,
    taken: BoolArray,
) -> None:
    for at in order:
        if free_query[query[at]] and free_candidate[candidate[at]]:
            taken[at] = True
            free_query[query[at]] = False
            free_candidate[candidate[at]] = False


def _hungarian(query: IntArray, candidate: IntArray, score: FloatArray) -> BoolArray:
    taken = np.zeros(query.size, dtype=np.bool_)
    if not query.size:
        return taken
    row, column = (np.unique(side, return_inverse=True)[1] for side in (query, candidate))
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    edges = sparse.coo_array((np.ones(row.size, np.int8), (row, column + rows)), shape=(rows + columns,) * 2)
    _, component = connected_components(edges, directed=False)
    own = component[row]
    order = np.argsort(own, kind="stable")
    ends = np.flatnonzero(np.diff(own[order], append=-1)) + 1
    begin = 0
    for end in ends.tolist():
        part = order[begin:end]
        taken[part] = True if part.size == 1 else _matched_group(row[part], column[part], score[part])
        begin = end
    return taken


def _matched_group(row: IndexArray, column: IndexArray, score: FloatArray) -> BoolArray:
    """Find a maximum weight matching of one connected component."""
    row, column = (np.unique(side, return_inverse=True)[1] for side in (row, column))
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    taken: tuple[NDArray[Any], NDArray[Any]]
    if rows * columns <= _DENSE:
        # A pair without a score gains nothing, as does no link.
        scores = np.zeros((rows, columns))
        scores[row, column] = score
        taken = linear_sum_assignment(scores, maximize=True)
    else:
        # A further column for each row, which gains nothing, makes a full matching exist.
        most, own = float(score.max()) + 1.0, np.arange(rows)
        cost = np.concatenate([most - score, np.full(rows, most)])
        ends = np.concatenate([row, own]), np.concatenate([column, columns + own])
        edges = sparse.csr_array((cost, ends), shape=(rows, columns + rows))
        taken = min_weight_full_bipartite_matching(edges)
    partner = np.full(rows, -1, dtype=np.intp)
    partner[taken[0]] = taken[1]
    return np.asarray(partner[row] == column)


_WAYS: Mapping[str, Callable[[IntArray, IntArray, FloatArray], BoolArray]] = MappingProxyType(
    {"hungarian": _hungarian, "greedy": _greedy}
)


def probability_of_links(links: int, records: int) -> float:
    """Compute the probability of exactly r correct links in a random matching of n records.

    ``sum_(v=0)^(n-r) (-1)^v / v!  /  r!`` (Torra and Nin 2008, Proposition 4). The alternating sum is a whole
    number of derangements over (n - r)!, so it is added up in integers: no digits cancel.
    """
    _check(links, records)
    fixed_free, arrangements = _derangements(records - links)
    return fixed_free / (arrangements * math.factorial(links))


def probability_of_at_least(links: int, records: int) -> float:
    """Compute the probability of r or more correct links in a random matching of n records.

    The sum of `probability_of_links` from r to n, its smallest terms first: never one minus the rest, whose
    difference would have no digit left where the probability is small.
    """
    _check(links, records)
    if links == 0:
        return 1.0
    # Beyond 180 more links a term is smaller than the first by 1e-300.
    last = min(records, links + 180)
    return math.fsum(probability_of_links(more, records) for more in range(last, links - 1, -1))


def _derangements(size: int) -> tuple[int, int]:
    """Count permutations without a fixed point, and all; from 30 on those of 30, as the ratio converges."""
    count, factorial = 1, 1
    for k in range(1, min(size, 30) + 1):
        count = k * count + (-1) ** k
        factorial *= k
    return count, factorial


def _check(links: int, records: int) -> None:
    if records < 1:
        raise UsageError(f"a random matching of {records} records has no probabilities; give at least one")
    if not 0 <= links <= records:
        raise UsageError(f"{links} links of {records} records are impossible; give 0 to {records}")


@dataclass(frozen=True)
class RandomMatching(Linker):
    """Every query gets a candidate drawn at random, no candidate twice before all are taken.

    Files in bijection have r right links with the probability `probability_of_links`.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> linkrisk.link(iris, masked, method=linkrisk.linkers.RandomMatching()).linked
    0
    """

    name: ClassVar[str] = "random"
    common_attributes: ClassVar[bool] = False

    def learn(self, task: LinkageTask) -> LearnedLinker:
        """Draw the matching by the seed of the task."""
        queries, candidates = len(task.queries), len(task.candidates)
        if not candidates:
            raise UsageError("there is no candidate to draw; give a file with at least one record")
        generator = np.random.default_rng(task.seed)
        rounds = [generator.permutation(candidates) for _ in range(-(-queries // candidates))]
        drawn = np.concatenate([*rounds, np.empty(0, dtype=np.intp)])
        return _Drawn(drawn[:queries].astype(np.intp), candidates, task.seed)

    @classmethod
    def restored(cls, parameters: Mapping[str, Any], task: LinkageTask) -> LearnedLinker:
        """The matching of the seed in the parameters."""
        seed = parameters.get("seed")
        if not isinstance(seed, int) or seed < 0:
            raise UsageError(f"these are not parameters of {cls.name}: they need a seed, a number from 0")
        return cls().learn(replace(task, seed=seed))


class _Drawn(LearnedLinker):
    def __init__(self, drawn: IndexArray, candidates: int, seed: int) -> None:
        self.parameters = {"seed": seed}
        self._drawn, self._candidates = drawn, candidates

    def scores(self, rows: IndexArray) -> FloatArray:
        """Score 1 for the drawn candidate, 0 for the others."""
        return np.asarray((self._drawn[rows][:, None] == np.arange(self._candidates)).astype(np.float64))
