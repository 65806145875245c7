"""Store the outcome of every record as arrays: a million records take megabytes, not gigabytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray

if TYPE_CHECKING:  # results that are only displayed need none
    import pandas as pd

TABLE_COLUMNS = ("record", "linked", "rank", "distance", "nearest_other", "margin", "ties")

MOST_ROWS = 100_000
"""Records listed by JSON and report; beyond, these have counts of ranks, and `--table` writes all."""

MOST_RANKS = 10
"""Ranks of the partner that are counted one by one where records are not listed."""

IntArray = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class RecordsTable:
    """Outcome of every block; all arrays have shape (blocks,)."""

    record: NDArray[np.object_] = field(repr=False)  # labels of the records
    # linked, settled: whether each is linked, and whether that is known
    linked: NDArray[np.bool_] = field(repr=False)
    settled: NDArray[np.bool_] = field(repr=False)
    # 1 + number of candidates strictly nearer than its partner; 0 where unknown
    rank: IntArray = field(repr=False)
    # distance, nearest_other: distance to the partner and to the nearest other candidate; NaN where there
    # is none
    distance: FloatArray = field(repr=False)
    nearest_other: FloatArray = field(repr=False)
    margin: FloatArray = field(repr=False)  # their difference; NaN where there is none
    # number of candidates that tie with the partner; meaningless where the rank is unknown
    ties: IntArray = field(repr=False)

    def __len__(self) -> int:
        return len(self.record)

    def __eq__(self, other: object) -> bool:
        """Compare all cells; unknown ones equal each other."""
        if not isinstance(other, RecordsTable):
            return NotImplemented
        return len(self) == len(other) and all(
            np.array_equal(known, known_too) and np.array_equal(values[known], values_too[known])
            for (values, known), (values_too, known_too) in zip(self._cells(), other._cells(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """List one tuple per block, in the order of `TABLE_COLUMNS`; None where unknown.

        For many records, use the arrays.
        """
        return tuple(zip(*(_listed(*cells) for cells in self._cells()), strict=True))

    @property
    def left_out(self) -> bool:
        """Whether the table is too long for the JSON and the report."""
        return len(self) > MOST_ROWS

    @property
    def tied(self) -> int:
        """Count partners known to tie with another candidate."""
        return int(np.count_nonzero((self.rank > 0) & (self.ties > 0)))

    def within(self, most: int, *, tied: bool = False) -> int:
        """Count partners known to be among the `most` nearest; with `tied`, after all that tie."""
        place = self.rank + self.ties if tied else self.rank
        return int(np.count_nonzero((self.rank > 0) & (place <= most)))

    def to_dict(self) -> dict[str, Any]:
        """``{"columns": [...], "rows": [[...], ...]}``.

        Of more than `MOST_ROWS` records `rows` is empty, `left_out` their number, and `ranks` says how many
        partners stand at rank 1, 2, ..., `MOST_RANKS` and above.
        """
        columns = list(TABLE_COLUMNS)
        if not self.left_out:
            return {"columns": columns, "rows": [list(row) for row in self.rows]}
        ranks = np.minimum(self.rank, MOST_RANKS + 1)
        counts = np.bincount(ranks, minlength=MOST_RANKS + 2)[1:]
        return {"columns": columns, "rows": [], "left_out": len(self), "ranks": counts.tolist()}

    def to_frame(self) -> pd.DataFrame:
        """Convert to a data frame, one row per block."""
        import pandas as pd

        columns = {name: _column(*cells) for name, cells in zip(TABLE_COLUMNS, self._cells(), strict=True)}
        return pd.DataFrame(columns, columns=list(TABLE_COLUMNS))

    def _cells(self) -> list[tuple[NDArray[Any], NDArray[np.bool_]]]:
        """List columns with masks of their known cells, in the order of `TABLE_COLUMNS`."""
        ranked = self.rank > 0
        return [
            (self.record, np.ones(len(self), dtype=np.bool_)),
            (self.linked, self.settled),
            (self.rank, ranked),
            *((values, ~np.isnan(values)) for values in (self.distance, self.nearest_other, self.margin)),
            (self.ties, ranked),
        ]


def _listed(values: NDArray[Any], known: NDArray[np.bool_]) -> list[Any]:
    """List the values, None where unknown."""
    if known.all():
        return list(values.tolist())
    found = values.astype(object)
    found[~known] = None
    return list(found.tolist())


def _column(values: NDArray[Any], known: NDArray[np.bool_]) -> pd.Series:
    """Convert a column for a frame: unknown numbers are NaN, unknown truth values None."""
    import pandas as pd

    if values.dtype.kind == "O" or (values.dtype.kind == "b" and not known.all()):
        return pd.Series(_listed(values, known))
    if values.dtype.kind == "i" and not known.all():
        return pd.Series(np.where(known, values, np.nan))
    return pd.Series(values)
