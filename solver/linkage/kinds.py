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
"""Largest number of kinds as a share of the records; with more, nothing is saved."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kinds of the records of a file, in the order of their first records."""

    kind: IndexArray  # (records,): the kind of each record
    first: IndexArray  # (kinds,): the row of the first record of each kind, ascending
    times: LongArray  # (kinds,): how many records are of each kind

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
    """Pairs that may be matches, each once; all others score -inf."""

    query: IntArray  # (pairs,): their rows, in ascending order of queries
    candidate: IntArray
    score: FloatArray  # (pairs,)
    queries: int  # how many records there are
    candidates: int

    @cached_property
    def first(self) -> IndexArray:
        """Where the pairs of each query begin, and where those of the last one end; shape (queries + 1,)."""
        rows = np.arange(self.queries + 1, dtype=self.query.dtype)  # of another type, all would be copied
        return np.searchsorted(self.query, rows)

    def place(self, query: IndexArray, candidate: IndexArray) -> IndexArray:
        """Place of the given pairs among these, -1 for others; each query at most once."""
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
