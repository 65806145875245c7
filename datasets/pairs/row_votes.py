"""Whether records are nearer to the partner that a column names than to the one in their row."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.cells import CellCodes, are_numeric, cell_codes

_VOTERS = 5000
"""At most so many records vote; these decide any case."""


class RowVotes:
    """What the columns of two tables say about partners.

    Parameters
    ----------
    original, masked : DataFrame
        As many records each, numbered from 0.
    shared : sequence of str
        The columns of both that are asked.
    codes : mapping of str to CellCodes
        What `cell_codes` made of those columns that are not the same in both tables.
    """

    def __init__(
        self,
        original: pd.DataFrame,
        masked: pd.DataFrame,
        shared: Sequence[str],
        codes: Mapping[str, CellCodes],
    ) -> None:
        self._frames = (original, masked)
        self._shared = shared
        self._codes = codes
        self._places: dict[str, _Places | None] = {}

    def support(self, partner: IndexArray, without: Collection[str]) -> float:
        """How much speaks for these partners against those that stand in the same row.

        Each record for which they differ has one vote: that of most columns, by whether its own value is
        nearer to that of the one or of the other.

        Parameters
        ----------
        partner : intp array (n,)
            The row of the masked table, -1 for none.
        without : collection of str
            Columns that are not asked, as they named the partners.

        Returns
        -------
        float
            The majority for them in standard deviations of a fair coin, below 0 if it is against them.
        """
        rows = displaced(partner)
        rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), _VOTERS)).astype(np.intp)]
        nearer = np.zeros(len(rows))
        for name in self._shared:
            places = None if name in without else self._column(name)
            if places is not None:
                gain = places.gaps(rows, rows) - places.gaps(rows, partner[rows])
                nearer += np.nan_to_num(np.sign(gain))
        yes, no = int((nearer > 0).sum()), int((nearer < 0).sum())
        return (yes - no) / math.sqrt(max(yes + no, 1))

    def _column(self, name: str) -> _Places | None:
        if name not in self._places:
            first, second = (frame[name] for frame in self._frames)
            self._places[name] = _places(first, second, self._codes.get(name))
        return self._places[name]


def displaced(partner: IndexArray) -> IndexArray:
    """The records whose partner stands in another row."""
    return np.flatnonzero((partner >= 0) & (partner != np.arange(len(partner))))


@dataclass(frozen=True, eq=False)
class _Places:
    """The cells of a column in either table: how many are below them, or their codes; NaN if missing."""

    first: FloatArray
    second: FloatArray
    ranked: bool

    def gaps(self, rows: IndexArray, partners: IndexArray) -> FloatArray:
        """How far apart the cells of records and partners are."""
        gaps = np.abs(self.first[rows] - self.second[partners])
        return gaps if self.ranked else np.minimum(gaps, 1.0)


def _places(first: pd.Series, second: pd.Series, codes: CellCodes | None) -> _Places | None:
    """Where the cells of a column stand; None when it says nothing about the order of rows.

    Files that are both sorted by a column, or both renumbered, agree in it whatever their rows are.
    """
    if are_numeric(first, second):
        numbers = [
            pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan)) for column in (first, second)
        ]
        if all(column.is_monotonic_increasing for column in numbers):
            return None
        first_ranks, second_ranks = (
            np.asarray(column.rank(pct=True), dtype=np.float64) for column in numbers
        )
        return _Places(first_ranks, second_ranks, ranked=True)
    codes = codes or cell_codes(first, second)
    if _in_blocks(codes.first) and _in_blocks(codes.second):
        return None
    sides = [np.where(side >= 0, side, np.nan) for side in (codes.first, codes.second)]
    return _Places(sides[0], sides[1], ranked=False)


def _in_blocks(codes: IndexArray) -> bool:
    """Whether equal codes stand together, as where a table is sorted by them."""
    distinct = len(np.unique(codes))
    return bool(distinct < len(codes) and int((np.diff(codes) != 0).sum()) + 1 == distinct)
