"""At which level of agreement given pairs of records are, attribute by attribute."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rapidfuzz.process import cpdist

from linkrisk.arrays import ByteArray, FloatArray, IndexArray, IntArray
from linkrisk.solver.linkage.probabilistic.comparisons import DIFFERENCES, SIMILARITIES, Comparison
from linkrisk.solver.linkage.probabilistic.cutting import placed
from linkrisk.solver.linkage.probabilistic.passes.kernels import equal_levels, near_levels
from linkrisk.solver.linkage.probabilistic.passes.key_values import joint_codes
from linkrisk.solver.linkage.probabilistic.similarity import SCORERS

_ROUNDING = 4 * np.finfo(np.float64).eps
"""As in `coding`: times the size of two numbers, more than the rounding error of their difference."""


class PairLevels(ABC):
    """One attribute of both files, ready to be compared pair by pair.

    Attributes
    ----------
    comparison : Comparison
        In units of the attribute, without interpolation.
    threads : int
        For comparing texts.
    """

    def __init__(self, comparison: Comparison) -> None:
        self.comparison, self.threads = comparison, os.cpu_count() or 1

    @abstractmethod
    def part(self, rows: IndexArray, candidates: IndexArray) -> PairLevels:
        """Of some queries and some candidates, both counted from 0 again."""

    @abstractmethod
    def of(self, query: IntArray, candidate: IntArray) -> ByteArray:
        """The level of each pair: 0 where a value is missing, 1 disagreement, higher ones agreement."""

    @property
    @abstractmethod
    def known(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which queries and which candidates have a value."""


class NumberLevels(PairLevels):
    """Levels of the difference of two numbers."""

    def __init__(self, queries: pd.Series, candidates: pd.Series, comparison: Comparison) -> None:
        super().__init__(comparison)
        self._first, self._second = (
            column.to_numpy(dtype=np.float64, na_value=np.nan) for column in (queries, candidates)
        )
        self._thresholds = np.array(comparison.thresholds)

    def part(self, rows: IndexArray, candidates: IndexArray) -> NumberLevels:
        """With their numbers (see `PairLevels.part`)."""
        some = copy(self)
        some._first, some._second = self._first[rows], self._second[candidates]
        return some

    def of(self, query: IntArray, candidate: IntArray) -> ByteArray:
        """By the thresholds that the difference does not exceed (see `PairLevels.of`)."""
        level = np.empty(query.size, dtype=np.uint8)
        near_levels(self._first, self._second, self._thresholds, _ROUNDING, query, candidate, level)
        return level

    @property
    def known(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Where the number is not NaN."""
        return ~np.isnan(self._first), ~np.isnan(self._second)


class ValueLevels(PairLevels):
    """Levels of equality, or of the similarity of two texts.

    Attributes
    ----------
    first, second : ndarray of int32, shapes (queries,), (candidates,)
        Which value each record has, the same number for the same value; -1 missing.
    values : ndarray of object
        Those that occur.
    """

    def __init__(self, queries: pd.Series, candidates: pd.Series, comparison: Comparison) -> None:
        super().__init__(comparison)
        first, second, self.values = joint_codes(queries, candidates)
        self.first, self.second = first.astype(np.int32), second.astype(np.int32)

    def part(self, rows: IndexArray, candidates: IndexArray) -> ValueLevels:
        """With the values that they have (see `PairLevels.part`)."""
        some, first, second = copy(self), self.first[rows], self.second[candidates]
        kept = np.unique(np.concatenate([code[code >= 0] for code in (first, second)]))
        some.first, some.second = placed(kept, first), placed(kept, second)
        some.values = self.values[kept]
        return some

    def of(self, query: IntArray, candidate: IntArray) -> ByteArray:
        """By equality; texts that are not equal by their similarity (see `PairLevels.of`)."""
        level = np.empty(query.size, dtype=np.uint8)
        equal_levels(self.first, self.second, query, candidate, level)
        if self.comparison.measure not in SIMILARITIES:
            return level
        unlike = np.flatnonzero(level == 1)
        similar = cpdist(
            self.values[self.first[query[unlike]]],
            self.values[self.second[candidate[unlike]]],
            scorer=SCORERS[self.comparison.measure],
            score_cutoff=self.comparison.thresholds[-1],
            dtype=np.float64,
            workers=self.threads,
        )
        level[level == 2] = self.comparison.levels
        for threshold in self.comparison.thresholds:
            level[unlike] += similar >= threshold
        return level

    @property
    def known(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Where there is a value."""
        return self.first >= 0, self.second >= 0

    def shares(self) -> tuple[FloatArray, FloatArray]:
        """Of the known values of either file, the share that each value has."""
        counts = [
            np.bincount(code[code >= 0], minlength=self.values.size) for code in (self.first, self.second)
        ]
        return counts[0] / counts[0].sum(), counts[1] / counts[1].sum()

    def rarity(self) -> FloatArray:
        """What agreement on each value weighs more than on an average one, in bits.

        ``log2(u / f)``: u is how often two values are equal by chance, f the share of the value in the file
        where it is more common. The sum over all values of weights that this is added to, each with the
        u-probability f of its own, is that of Fellegi and Sunter (1969, section 3.3.1).
        """
        first, second = self.shares()
        with np.errstate(divide="ignore"):
            rare = np.log2(first @ second) - np.log2(np.maximum(first, second))
        return np.asarray(np.where((first > 0) & (second > 0), rare, 0.0))


def pair_levels(
    columns: Mapping[str, tuple[pd.Series, pd.Series]], comparisons: Mapping[str, Comparison]
) -> tuple[PairLevels, ...]:
    """Every attribute, its columns being readable for its comparison."""
    kinds = {
        name: NumberLevels if how.measure in DIFFERENCES else ValueLevels for name, how in comparisons.items()
    }
    return tuple(kinds[name](*pair, comparisons[name]) for name, pair in columns.items())
