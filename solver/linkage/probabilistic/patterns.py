"""Agreement patterns of all pairs of records, counted without ever holding the pairs."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkrisk.solver.linkage.probabilistic.kernels import LEVEL_BITS, Blocks, Coded, count_patterns
from linkrisk.solver.run.errors import UsageError

FloatArray = NDArray[np.float64]

_ROWS_PER_TASK = 256
_SMALLEST_TABLE = 1 << 12

LARGEST_TABLE = 1 << 25
"""Rows of one thread's table of patterns, at most half of them in use: 512 MB."""


@dataclass(frozen=True, eq=False)
class PatternCounts:
    """How often each agreement pattern occurs.

    Attributes
    ----------
    patterns : ndarray of uint8, shape (G, K)
        The level of each attribute: 0 missing in a record of the pair, 1 disagreement, higher ones
        agreement up to full agreement.
    counts : ndarray of float64, shape (G,)
        Pairs with that pattern; need not be whole.
    """

    patterns: NDArray[np.uint8]
    counts: FloatArray

    @property
    def pairs(self) -> float:
        """How many pairs were compared."""
        return float(self.counts.sum())


def agreement_patterns(coded: Coded, blocks: Blocks, threads: int | None = None) -> PatternCounts:
    """Compare all pairs of records, or those that share a blocking key, on all cores.

    Memory grows with the patterns that occur, not with the pairs.

    Raises
    ------
    UsageError
        If there are too many patterns to hold.
    """
    threads = threads or os.cpu_count() or 1
    queries, attributes = coded.query_code.shape
    firsts = iter(range(0, queries, _ROWS_PER_TASK))  # taken by whoever is free: next() is atomic

    def task(_: int) -> NDArray[np.int64]:
        table = np.full((_SMALLEST_TABLE, 2), -1, dtype=np.int64)
        for first in firsts:
            last = min(first + _ROWS_PER_TASK, queries)
            table = count_patterns(coded, blocks, first, last, table)
            if len(table) > LARGEST_TABLE:
                raise UsageError(
                    f"there are more than {LARGEST_TABLE // 2:,} agreement patterns: compare fewer "
                    "attributes, or with fewer thresholds"
                )
        return table[table[:, 0] >= 0]

    if threads == 1:
        parts = [task(0)]
    else:
        with ThreadPoolExecutor(threads) as pool:
            parts = list(pool.map(task, range(threads)))
    table = np.concatenate(parts)
    keys, place = np.unique(table[:, 0], return_inverse=True)
    counts = np.bincount(place, table[:, 1], minlength=keys.size)
    shifts = LEVEL_BITS * np.arange(attributes)
    levels = (keys[:, None] >> shifts) & ((1 << LEVEL_BITS) - 1)
    return PatternCounts(levels.astype(np.uint8), counts.astype(np.float64))
