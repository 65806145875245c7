"""One-to-one matching of scored pairs, where most pairs of records were never scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

from linkrisk.arrays import BoolArray, FloatArray, IndexArray, IntArray
from linkrisk.formulations.compiled import kernel

_DENSE = 250_000
"""Cells of a group of connected records up to which its scores are a matrix: 2 MB, and faster than a list."""


def matched_pairs(query: IntArray, candidate: IntArray, score: FloatArray, how: str, seed: int) -> BoolArray:
    """Which pairs a one-to-one matching takes.

    Parameters
    ----------
    query, candidate : ndarray of int32, shape (pairs,)
    score : ndarray of float64, shape (pairs,)
        What a link gains; finite and above 0.
    how : str
        One of `matching.MATCHINGS`: ``greedy`` takes the largest score, then the next whose records are both
        free; ``hungarian`` the largest total score, each group of connected records by itself. Unlike where
        all pairs are scored, it does not link as many records as it can: two poor links in place of a good
        one would mostly be wrong.
    seed : int
        Of the order of equal scores.
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
    """The matching of one group of connected records with the largest total score."""
    row, column = (np.unique(side, return_inverse=True)[1] for side in (row, column))
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    taken: tuple[NDArray[Any], NDArray[Any]]
    if rows * columns <= _DENSE:
        # What is no pair gains nothing, as little as no link.
        scores = np.zeros((rows, columns))
        scores[row, column] = score
        taken = linear_sum_assignment(scores, maximize=True)
    else:
        # Every row has a column of its own besides, which gains nothing, so that a full matching exists.
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
