"""Similar texts: which distinct values of one file resemble which of the other, and how much."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import JaroWinkler, Levenshtein
from rapidfuzz.process import cdist

from linkrisk.solver.linkage.probabilistic.comparisons import Comparison, Measure
from linkrisk.solver.run.errors import UsageError

SCORERS: dict[Measure, Any] = {
    Measure.JARO_WINKLER: JaroWinkler.normalized_similarity,
    Measure.LEVENSHTEIN: Levenshtein.normalized_similarity,
}
"""What computes each similarity."""

_CELLS_AT_ONCE = 2_000_000
"""Similarities that are held at a time: 16 MB."""

MOST_SIMILAR = 30_000_000
"""Pairs of distinct texts that may be kept: some 700 MB."""


def similar_texts(
    first: NDArray[np.generic], second: NDArray[np.generic], comparison: Comparison
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Pairs of texts that are alike enough to be more than full disagreement.

    Parameters
    ----------
    first, second : ndarray of text
        Distinct values.
    comparison : Comparison
        Jaro-Winkler (with prefix weight 0.1) or Levenshtein (one minus the least number of insertions,
        deletions and substitutions as a share of the longer text).

    Returns
    -------
    segments : ndarray of int64, shape (first,)
        How many texts of `second` resemble each text of `first`.
    slot : ndarray of int32, shape (pairs,)
        Which they are, one text of `first` after the other.
    similarity : ndarray of float64, shape (pairs,)

    Raises
    ------
    UsageError
        If there are more than `MOST_SIMILAR` such pairs.
    """
    rows, columns = first.tolist(), second.tolist()
    size = max(1, _CELLS_AT_ONCE // max(1, len(columns)))
    segments = np.zeros(len(rows), dtype=np.int64)
    slots, similarities, pairs = [np.empty(0, dtype=np.int32)], [np.empty(0)], 0
    for begin in range(0, len(rows), size):
        part = slice(begin, begin + size)
        matrix = cdist(
            rows[part],
            columns,
            scorer=SCORERS[comparison.measure],
            score_cutoff=comparison.knots[-1],
            dtype=np.float64,
            workers=os.cpu_count() or 1,
        )
        query, slot = np.nonzero(matrix)
        segments[part] = np.bincount(query, minlength=len(matrix))
        slots.append(slot.astype(np.int32))
        similarities.append(matrix[query, slot])
        pairs += slot.size
        if pairs > MOST_SIMILAR:
            raise UsageError(
                f"comparison {comparison.describe()!r} finds more than {MOST_SIMILAR:,} pairs of similar "
                "texts; ask for a higher similarity"
            )
    return segments, np.concatenate(slots), np.concatenate(similarities)
