"""What masking has done to how often categories occur."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.measures.values.released import ReleasedAttribute

Row = tuple[str, str | None, str | None, float | None, float | None, float]


@dataclass(frozen=True)
class CategoryLoss:
    """An ordinal or nominal attribute; missing values are one more category."""

    attribute: str
    changed: float  # share of the records that have another category than before, from 0 to 1
    # ``1/2 sum_c |f_c - f'_c|`` of the shares of categories, from 0 to 1: what would have to move back
    total_variation: float
    hellinger: float  # ``sqrt(1/2 sum_c (sqrt(f_c) - sqrt(f'_c))**2)``, from 0 to 1

    @property
    def rows(self) -> tuple[Row, ...]:
        """Of the frame of all losses."""
        return (
            ("categories changed", self.attribute, None, None, None, self.changed),
            ("total variation", self.attribute, None, None, None, self.total_variation),
            ("Hellinger", self.attribute, None, None, None, self.hellinger),
        )


def category_loss(attribute: ReleasedAttribute) -> CategoryLoss:
    """Compare the frequencies of all records of both files, and the categories of partners."""
    before, after = attribute.paired
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    first, second = (_shares(codes, attribute) for codes in (attribute.original, attribute.masked))
    return CategoryLoss(
        attribute.name,
        float(1.0 - same.mean()),
        float(np.abs(first - second).sum() / 2.0),
        float(np.sqrt(((np.sqrt(first) - np.sqrt(second)) ** 2).sum() / 2.0)),
    )


def _shares(codes: FloatArray, attribute: ReleasedAttribute) -> FloatArray:
    """Share of each category, and behind them of missing values."""
    size = len(attribute.categories)
    counts = np.bincount(np.where(np.isnan(codes), size, codes).astype(np.intp), minlength=size + 1)
    return np.asarray(counts / len(codes), dtype=np.float64)
