"""Kinds of records that score alike, and pairs of records with their scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray, IntArray, LongArray

_WORTH = 0.9
"""Kinds as a share of the records up to which they are told apart: with more, nothing is saved."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kinds of the records of a file, in the order of their first records.

    Attributes
    ----------
    kind : ndarray of int, shape (records,)
        The kind of each record.
    first : ndarray of int, shape (kinds,)
        The row of the first record of each kind, ascending.
    times : ndarray of int64, shape (kinds,)
        How many records are of each kind.
    """

    kind: IndexArray
    first: IndexArray
    times: LongArray

    @property
    def apart(self) -> bool:
        """Whether every record is a kind of its own."""
        return self.first.size == self.kind.size

    @classmethod
    def each(cls, records: int) -> Self:
        """Every record is a kind of its own."""
        rows = np.arange(records)
        return cls(rows, rows, np.ones(records, dtype=np.int64))

    @classmethod
    def of(cls, columns: Iterable[NDArray[Any]], records: int, most: float = 1.0) -> Self:
        """Records that are equal in all columns, each of shape (records,), are of a kind; NaN equals NaN.

        With more kinds than the share `most` of the records, each record is its own.
        """
        kind, many = np.zeros(records, dtype=np.int64), min(1, records)
        for column in columns:
            place, values = pd.factorize(column, use_na_sentinel=False)
            kind, found = pd.factorize(kind * len(values) + place)
            many = len(found)
            if many == records or many > most * records:
                return cls.each(records)
        # Kinds are numbered as they are met: the first of a kind is where a new number comes.
        before = np.maximum.accumulate(np.concatenate([[-1], kind]))[:-1]
        times = np.bincount(kind, minlength=many).astype(np.int64)
        return cls(kind.astype(np.intp), np.flatnonzero(kind > before), times)

    @classmethod
    def where_worth(cls, columns: Iterable[NDArray[Any]], records: int) -> Self:
        """The same where they save anything (`_WORTH`)."""
        return cls.of(columns, records, _WORTH)


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
