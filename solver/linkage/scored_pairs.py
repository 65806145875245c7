"""Scores of some pairs of records, where most pairs are never looked at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray, IntArray


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Pairs that may be matches, each once; all others score -inf.

    Attributes
    ----------
    query, candidate : ndarray of int32, shape (pairs,)
        Their rows, in ascending order of queries.
    score : ndarray of float64, shape (pairs,)
    queries, candidates : int
        How many records there are.
    """

    query: IntArray
    candidate: IntArray
    score: FloatArray
    queries: int
    candidates: int

    @cached_property
    def first(self) -> IndexArray:
        """Where the pairs of each query begin, and where those of the last one end; shape (queries + 1,)."""
        rows = np.arange(self.queries + 1, dtype=self.query.dtype)  # of another type, all would be copied
        return np.searchsorted(self.query, rows)

    def place(self, query: IndexArray, candidate: IndexArray) -> IndexArray:
        """Where the given pairs stand, -1 for those that are none of these.

        Parameters
        ----------
        query, candidate : ndarray of int, shape (any,)
            Each query at most once.
        """
        wanted = np.full(self.queries, -1, dtype=np.int32)
        wanted[query] = candidate
        found = np.flatnonzero(wanted[self.query] == self.candidate)
        place = np.full(self.queries, -1, dtype=np.intp)
        place[self.query[found]] = found
        return place[query]

    def dense(self, rows: IndexArray) -> FloatArray:
        """Scores of some queries with every candidate, shape (rows, candidates)."""
        scores = np.full((rows.size, self.candidates), -np.inf)
        for at, row in enumerate(rows):
            own = slice(self.first[row], self.first[row + 1])
            scores[at, self.candidate[own]] = self.score[own]
        return scores
