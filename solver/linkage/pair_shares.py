"""Shares of all pairs of two files: some queries with some candidates, which a worker scores by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.linkage.helpers import TASKS_EACH

Rows = IndexArray | slice
"""Some records; a range takes no memory, however many shares there are."""

_FEWEST, _MOST = 256, 4_096
"""Queries of a share: fewer are not worth their way, of more a lost one costs too much."""

_CODES = 1 << 19
"""Codes of the candidates of a share: some megabytes on their way, which Dask still takes for little."""


def places(rows: Rows) -> IndexArray:
    """The rows one by one."""
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows


class ReadyPairs(ABC):
    """Some queries with some candidates, both counted from 0."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """How many queries and candidates there are."""

    @abstractmethod
    def scores(self, rows: IndexArray) -> FloatArray:
        """Scores of some of the queries with each of the candidates (see `LearnedLinker.scores`)."""


class PairShare(ABC):
    """The same as part of two files; on its way to another process it holds nothing of other records."""

    @abstractmethod
    def ready(self) -> ReadyPairs:
        """The pairs, with nothing but what they need."""


def shared_out(queries: int, candidates: int, attributes: int, many: int) -> Iterator[tuple[slice, slice]]:
    """Queries and candidates of shares that make up all pairs, for so many workers."""
    width = max(1, _CODES // max(1, attributes))
    columns = -(-candidates // width)
    each = -(-queries * columns // (TASKS_EACH * many))
    height = min(_MOST, max(_FEWEST, each))
    for row in range(0, queries, height):
        for column in range(0, candidates, width):
            yield slice(row, min(row + height, queries)), slice(column, min(column + width, candidates))
