"""The blocks and their candidates as exact whole numbers, made from the two files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from datasets.file_pair import FilePair
from solver.verification.dyadic import shift_of, whole_numbers
from solver.verification.fields import Fields
from solver.verification.moments import standardised
from solver.verification.setting import Setting

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Records:
    """The linkage problem of a file pair in standardised units.

    Attributes
    ----------
    queries : ndarray of float64, shape (blocks, attributes)
    candidates : ndarray of float64, shape (candidates, attributes)
    partner : tuple of int
        Candidate that each block belongs to.
    share : bool
        Whether candidates identical to the partner are no rivals.
    differences : str
        ``squared``, ``absolute`` or ``signed``.
    labels : tuple of str
        What each block's record is called.
    """

    queries: FloatArray
    candidates: FloatArray
    partner: tuple[int, ...]
    share: bool
    differences: str
    labels: tuple[str, ...]

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.partner)

    @cached_property
    def shift(self) -> int:
        """Exact values are in units of ``2**-shift``; squares and products of them in its square."""
        return max(shift_of(self.queries.ravel().tolist()), shift_of(self.candidates.ravel().tolist()))

    @cached_property
    def _exact(self) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """Queries and candidates as whole numbers."""
        shift = self.shift
        queries, candidates = (
            [whole_numbers(row, shift) for row in values.tolist()]
            for values in (self.queries, self.candidates)
        )
        return queries, candidates

    @cached_property
    def _copies(self) -> Counter[tuple[int, ...]]:
        return Counter(self._exact[1])

    def weight(self, block: int) -> Fraction:
        """What linking the block counts."""
        copies = self._copies[self._exact[1][self.partner[block]]] if self.share else 1
        return Fraction(1, copies)

    def is_rival(self, block: int, candidate: int) -> bool:
        """Whether the candidate must be farther than the partner for the block to be linked."""
        if not 0 <= candidate < len(self.candidates) or candidate == self.partner[block]:
            return False
        exact = self._exact[1]
        return not (self.share and exact[candidate] == exact[self.partner[block]])

    def rivals(self, block: int) -> IndexArray:
        """All rivals of a block."""
        mask = np.arange(len(self.candidates)) != self.partner[block]
        if self.share:
            mask &= (self.candidates != self.candidates[self.partner[block]]).any(axis=1)
        return np.flatnonzero(mask)

    def distances(self, block: int, candidate: int) -> list[int]:
        """Exact attribute distances of a block's query to a candidate, in a unit common to all."""
        query, other = self._exact[0][block], self._exact[1][candidate]
        return self.compared([a - b for a, b in zip(query, other, strict=True)])

    def partner_distances(self, block: int) -> list[int]:
        """Exact attribute distances of a block's query to its own partner."""
        return self.distances(block, self.partner[block])

    def compared(self, differences: list[int]) -> list[int]:
        """Attribute distances of differences."""
        if self.differences == "squared":
            return [z * z for z in differences]
        return [abs(z) for z in differences] if self.differences == "absolute" else differences

    def rounded_distances(self, block: int, candidates: IndexArray) -> FloatArray:
        """Attribute distances in double precision, shape (candidates, attributes)."""
        difference = self.queries[block] - self.candidates[candidates]
        if self.differences == "squared":
            return np.asarray(difference * difference)
        return np.asarray(np.abs(difference) if self.differences == "absolute" else difference)


def make_records(files: FilePair, setting: Setting, moments: Fields) -> Records:
    """Set up the blocks of a file pair.

    Parameters
    ----------
    files : FilePair
        With the attributes of `setting`, in its order.
    setting : Setting
    moments : Fields
        Means and deviations of the certificate.
    """
    original, masked = standardised(
        files.original_values, files.masked_values, setting.standardisation, moments
    )
    pairs = [(own, other) for own, other in enumerate(files.partner.tolist()) if other >= 0]
    labels = files.original_labels
    if setting.direction == "masked-to-original":
        original, masked, labels = masked, original, files.masked_labels
        pairs = sorted((other, own) for own, other in pairs)
    return Records(
        queries=original[[own for own, _ in pairs]],
        candidates=masked,
        partner=tuple(other for _, other in pairs),
        share=setting.share,
        differences=setting.differences,
        labels=tuple(labels[own] for own, _ in pairs),
    )
