"""Records by kind: those of one kind score alike with every record of the other file, to the last bit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import IndexArray, LongArray

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
