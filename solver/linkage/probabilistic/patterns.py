"""Agreement patterns of all pairs of records, counted without ever holding the pairs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.solver.linkage.probabilistic.kernels import LEVEL_BITS, Blocks, Coded, count_patterns
from linkrisk.solver.run.errors import UsageError

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
    table = table_of_patterns(coded, blocks, threads or os.cpu_count() or 1)
    return as_counts(table, coded.query_code.shape[1])


def table_of_patterns(
    coded: Coded, blocks: Blocks, threads: int, stop: Callable[[], bool] = lambda: False
) -> LongArray:
    """The same as a table, shape (G, 2): patterns as codes in ascending order, and how often each occurs.

    Parameters
    ----------
    coded : Coded
    blocks : Blocks
    threads : int
    stop : callable
        Asked now and then whether to give up: nobody then looks at the table.
    """
    queries = len(coded.query_code)
    firsts = iter(range(0, queries, _ROWS_PER_TASK))  # taken by whoever is free: next() is atomic

    def task(_: int) -> LongArray:
        table = np.full((_SMALLEST_TABLE, 2), -1, dtype=np.int64)
        for first in firsts:
            last = min(first + _ROWS_PER_TASK, queries)
            table = count_patterns(coded, blocks, first, last, table)
            _check_patterns(len(table))
            if stop():
                break
        return table[table[:, 0] >= 0]

    if threads == 1:
        return added_up([task(0)])
    with ThreadPoolExecutor(threads) as pool:
        return added_up(list(pool.map(task, range(threads))))


def _check_patterns(rows: int) -> None:
    """Refuse a table of more than `LARGEST_TABLE` rows, of which half may be in use."""
    if rows > LARGEST_TABLE:
        raise UsageError(
            f"there are more than {LARGEST_TABLE // 2:,} agreement patterns: compare fewer "
            "attributes, or with fewer thresholds"
        )


def added_up(tables: Sequence[LongArray]) -> LongArray:
    """Tables of patterns as one; numbers are whole, so that their order does not matter."""
    table = np.concatenate(tables)
    keys, place = np.unique(table[:, 0], return_inverse=True)
    _check_patterns(2 * keys.size)
    counts = np.zeros(keys.size, dtype=np.int64)
    np.add.at(counts, place, table[:, 1])
    return np.stack([keys, counts], axis=1)


def as_counts(table: LongArray, attributes: int) -> PatternCounts:
    """A table of patterns with their levels."""
    shifts = LEVEL_BITS * np.arange(attributes)
    levels = (table[:, :1] >> shifts) & ((1 << LEVEL_BITS) - 1)
    return PatternCounts(levels.astype(np.uint8), table[:, 1].astype(np.float64))
