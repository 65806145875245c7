"""Transition matrices: probabilities with which the categories of an attribute become each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.names import parse_pair

SUM_TOLERANCE = 1e-9
"""Rows may miss the sum of one by the rounding of their entries as text."""


@dataclass(frozen=True, eq=False)
class TransitionMatrix:
    """Transition probabilities between the categories of an attribute."""

    attribute: str  # whose categories they are
    categories: tuple[str, ...]  # the k categories
    probability: FloatArray  # (k, k): row c: what category c becomes, in the order of `categories`

    def __post_init__(self) -> None:
        what = f"the transition matrix of {self.attribute!r}"
        size = len(self.categories)
        if self.probability.shape != (size, size):
            rows, columns = self.probability.shape
            raise DataError(f"{what} has {rows} rows and {columns} columns for {size} categories")
        for name, row in zip(self.categories, self.probability, strict=True):
            if not (np.isfinite(row).all() and (row >= 0.0).all()):
                raise DataError(
                    f"{what}, row {name!r}: an entry is not a probability; give numbers from 0 to 1"
                )
            if abs(float(row.sum()) - 1.0) > SUM_TOLERANCE:
                raise DataError(f"{what}, row {name!r}: it sums to {row.sum():.10g}; it must sum to 1")

    @classmethod
    def parse(cls, text: str) -> TransitionMatrix:
        """Read "ATTRIBUTE=FILE": a CSV file with a column of categories and one column for each of them."""
        attribute, path = parse_pair(text)
        if not path:
            raise DataError(f"{text!r} is not a transition matrix; write ATTRIBUTE=FILE")
        first = read_table(path).columns[0]
        table = read_table(path, text_columns=(first,))
        names, columns = tuple(str(name) for name in table[first]), tuple(table.columns[1:])
        if names != columns:
            raise DataError(
                f"{path}: the rows are {', '.join(names)} and the columns {', '.join(columns)}; they must be "
                "the same categories in the same order"
            )
        return cls(
            attribute, names, _numbers(table[list(columns)].to_numpy(dtype=object).tolist(), names, path)
        )


def _numbers(cells: Sequence[Sequence[object]], names: Sequence[str], path: str) -> FloatArray:
    rows = []
    for name, row in zip(names, cells, strict=True):
        try:
            rows.append([float(str(cell)) for cell in row])
        except ValueError:
            raise DataError(f"{path}, row {name!r}: an entry is not a number") from None
    return np.array(rows, dtype=np.float64)
