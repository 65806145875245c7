"""One-to-one matching: every query gets a candidate of its own, and no candidate two queries."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from scipy.optimize import linear_sum_assignment

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.errors import called
from linkrisk.solver.linkage.linker import LearnedLinker, in_chunks
from linkrisk.solver.run.errors import UsageError

LARGEST_MATRIX = 100_000_000
"""Most cells of a matrix of scores: 800 MB."""


def score_matrix(linker: LearnedLinker, queries: int, candidates: int) -> FloatArray:
    """Scores of all pairs, shape (queries, candidates).

    Raises
    ------
    UsageError
        If the matrix would have more than `LARGEST_MATRIX` cells.
    """
    check_size(queries, candidates)
    matrix = np.empty((queries, candidates))
    for part, scores in in_chunks(linker, np.arange(queries), candidates):
        matrix[part] = scores
    return matrix


def check_size(queries: int, candidates: int) -> None:
    """Refuse matrices with more than `LARGEST_MATRIX` cells."""
    if queries * candidates > LARGEST_MATRIX:
        raise UsageError(
            f"one-to-one matching needs a matrix of {queries:,} x {candidates:,} scores, more than the "
            f"{LARGEST_MATRIX:,} that are allowed: take a sample, or leave {called('one_to_one')} out",
            option="one_to_one",
        )


def hungarian(scores: FloatArray) -> IndexArray:
    """The matching with the largest total score (Kuhn 1955).

    Parameters
    ----------
    scores : ndarray of float64, shape (queries, candidates)
        -inf where a pair cannot be a match.

    Returns
    -------
    ndarray of int, shape (queries,)
        The candidate of each query; -1 where none is left or possible.
    """
    matched = np.full(scores.shape[0], -1, dtype=np.intp)
    possible = np.isfinite(scores)
    if not possible.any():
        return matched
    usable = scores
    if not possible.all():
        # So bad that no other gain makes up for one of them: as many queries as can be get a candidate.
        least, most = scores[possible].min(), scores[possible].max()
        usable = np.where(possible, scores, least - (most - least + 1.0) * (min(scores.shape) + 1))
    rows, columns = linear_sum_assignment(usable, maximize=True)
    kept = possible[rows, columns]
    matched[rows[kept]] = columns[kept]
    return matched


def greedy(scores: FloatArray) -> IndexArray:
    """The matching that takes the pair of largest score, then the next whose records are both free.

    Parameters and result are those of `hungarian`. Of equal scores the first query, then the first candidate
    comes first.
    """
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
    """A matching in which the order of records does not decide between equal scores.

    Matchings take the first of equal pairs. Where files are aligned row by row, the first would be the right
    one too often; so rows and columns are shuffled before.

    Parameters
    ----------
    scores : ndarray of float64, shape (queries, candidates)
    how : str
        One of `MATCHINGS`.
    seed : int
        Of the shuffling.

    Returns
    -------
    ndarray of int, shape (queries,)
        The candidate of each query; -1 where none is left or possible.
    """
    random = np.random.default_rng(seed)
    rows, columns = random.permutation(scores.shape[0]), random.permutation(scores.shape[1])
    found = MATCHINGS[how](scores[np.ix_(rows, columns)])
    chosen = np.full(scores.shape[0], -1, dtype=np.intp)
    chosen[rows] = np.where(found >= 0, columns[found], -1)
    return chosen
