"""The records of the core as arrays: what compiled code and vectorised comparisons read."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.solver.certificates.core.records import GRAIN, TIE, Records


class RecordArrays:
    """Standardised values (blocks or candidates, attributes) and distances of categories in double precision.

    `tables` are distances of categories by attribute, `missing` differences to a missing value, of a missing
    value, and of both.
    """

    def __init__(self, records: Records) -> None:
        self.records, attributes = records, records.attributes
        self.queries = np.stack([np.asarray(one.queries) for one in attributes], axis=1)
        self.candidates = np.stack([np.asarray(one.candidates) for one in attributes], axis=1)
        self.partners: IndexArray = np.asarray(records.partner).astype(np.intp, copy=False)
        self.widths = np.stack([np.asarray(one.widths) for one in attributes], axis=1)
        self.grains = np.array([one.grain for one in attributes])
        self.offset = np.array([one.offset for one in attributes])
        self.tables = {k: np.array(one.table) for k, one in enumerate(attributes) if one.table is not None}
        self.missing = {
            k: (np.asarray(one.to_missing), np.asarray(one.from_missing), one.both_missing)
            for k, one in enumerate(attributes)
            if one.from_missing
        }

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.partners)

    @cached_property
    def twins(self) -> IndexArray:
        """Numbers of candidates; the same for those that are no rivals of each other's blocks."""
        return np.array(self.records.twin) if self.records.problem.share else np.arange(len(self.candidates))

    @cached_property
    def _numbers(self) -> np.ndarray:
        numbers, _ = self.records.weights
        return np.array(numbers, dtype=np.int64 if sum(numbers) < 1 << 62 else object)

    def weight(self, some: BoolArray) -> Fraction:
        """The weight of the blocks of a mask."""
        return Fraction(int(self._numbers[some].sum()), self.records.weights[1])

    def possible(self, blocks: int | IndexArray, candidates: IndexArray) -> BoolArray:
        """Whether candidates can be the partner of a block, or of one block each."""
        possible = np.ones(candidates.size, dtype=np.bool_)
        for k, table in self.tables.items():
            columns = self.candidates[candidates, k].astype(np.intp)
            possible &= np.isfinite(table[self.queries[blocks, k].astype(np.intp), columns])
        return possible

    @cached_property
    def reached(self) -> BoolArray:
        """Whether each block's own partner is possible."""
        return self.possible(np.arange(self.blocks), self.partners)

    def impossible_pairs(self) -> int:
        """Number of impossible pairs of a block and a candidate, counted by kinds of records."""
        limited = [k for k, table in self.tables.items() if not np.isfinite(table).all()]
        if not limited:
            return 0
        ours, often = np.unique(self.queries[:, limited].astype(np.intp), axis=0, return_counts=True)
        theirs, many = np.unique(self.candidates[:, limited].astype(np.intp), axis=0, return_counts=True)
        count = 0
        for query, times in zip(ours, often.tolist(), strict=True):
            can = [np.isfinite(self.tables[k][query[at], theirs[:, at]]) for at, k in enumerate(limited)]
            count += times * int(many[~np.logical_and.reduce(can)].sum())
        return count

    def rivals(self, block: int) -> IndexArray:
        """All rivals of a block."""
        own, everyone = self.partners[block], np.arange(len(self.candidates))
        return np.flatnonzero((self.twins != self.twins[own]) & self.possible(block, everyone))

    def differences(self, blocks: int | IndexArray, candidates: IndexArray) -> FloatArray:
        """Differences of a block, or of one block each, to candidates, shape (candidates, attributes)."""
        difference = self.queries[blocks] - self.candidates[candidates]
        for k, table in self.tables.items():
            columns = self.candidates[candidates, k].astype(np.intp)
            difference[:, k] = table[self.queries[blocks, k].astype(np.intp), columns]
        for k, (to_missing, from_missing, both) in self.missing.items():
            unknown = np.isnan(difference[:, k])
            known = to_missing[np.broadcast_to(blocks, candidates.shape)[unknown]]
            other = from_missing[candidates[unknown]]
            difference[unknown, k] = np.where(np.isnan(known), np.where(np.isnan(other), both, other), known)
        return np.asarray(difference)

    def distances(self, blocks: int | IndexArray, candidates: IndexArray) -> FloatArray:
        """Attribute distances of possible candidates, shape (candidates, attributes)."""
        difference = self.differences(blocks, candidates)
        if self.records.problem.differences == "squared":
            return np.asarray(difference * difference)
        absolute = self.records.problem.differences == "absolute"
        return np.asarray(np.abs(difference)) if absolute else difference

    def ties(self, blocks: IndexArray, squares: bool) -> FloatArray:
        """Attribute distances up to which rivals tie with the partners, shape (blocks, attributes)."""
        wide = np.abs(self.differences(blocks, self.partners[blocks])) + self.widths[blocks]
        if squares or self.records.problem.differences == "squared":
            wide = wide * wide + self.grains * self.grains
        else:
            wide = wide + 2.0**-GRAIN * self.grains
        return np.asarray(wide * (1.0 + 2.0**-TIE))
