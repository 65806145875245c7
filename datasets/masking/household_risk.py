"""Households of a table: who lives together, where, and how rare their members are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from linkrisk.arrays import LongArray
from linkrisk.datasets.errors import DataError


@dataclass(frozen=True, eq=False)
class Households:
    """Who lives together.

    Attributes
    ----------
    of : ndarray of int64, shape (n,)
        The household of each record, from 0.
    first : ndarray of int64, shape (H,)
        The first record of each household.
    size : ndarray of int64, shape (H,)
    """

    of: LongArray
    first: LongArray
    size: LongArray

    @classmethod
    def read(cls, column: pd.Series, source: str) -> Households:
        """Number households.

        Raises
        ------
        DataError
            If a record has none.
        """
        numbers = pd.factorize(column)[0].astype(np.int64)
        if (numbers < 0).any():
            row = int(np.argmax(numbers < 0)) + 1
            raise DataError(f"{source}, column {column.name!r}, row {row}: no household number; give it one")
        first = np.unique(numbers, return_index=True)[1].astype(np.int64)
        return cls(numbers, first, np.bincount(numbers).astype(np.int64))

    def __len__(self) -> int:
        return len(self.first)

    def shared(self, frame: pd.DataFrame, names: Sequence[str], household: str, source: str) -> LongArray:
        """Values of columns that all members have, as codes from 0, shape (H, columns).

        A missing value is a category of its own.

        Raises
        ------
        DataError
            If members differ.
        """
        found = np.empty((len(self), len(names)), dtype=np.int64)
        for at, name in enumerate(names):
            codes = pd.factorize(frame[name])[0].astype(np.int64) + 1
            mixed = codes != codes[self.first][self.of]
            if mixed.any():
                row = int(np.argmax(mixed))
                which = f"{source}, row {row + 1}: household {frame[household].iloc[row]}"
                raise DataError(
                    f"{which} has several values of {name!r}; correct them, or leave that column out"
                )
            found[:, at] = codes[self.first]
        return found


def numbered(codes: LongArray) -> LongArray:
    """Rows of codes, shape (n, columns), as numbers from 0; equal rows have equal ones."""
    found = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        found = np.unique(found * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    return found.astype(np.int64)


def fewest_alike(homes: Households, persons: LongArray, regions: LongArray) -> LongArray:
    """For each household and level, how many persons share region and traits with its rarest member.

    Parameters
    ----------
    homes : Households
    persons : ndarray of int64, shape (n,)
        Traits of each record as one number.
    regions : ndarray of int64, shape (H, levels)
        Region of each household at each level.

    Returns
    -------
    ndarray of int64, shape (H, levels)
    """
    found = np.empty(regions.shape, dtype=np.int64)
    for level in range(regions.shape[1]):
        cells = numbered(np.column_stack([persons, regions[homes.of, level]]))
        alike = np.bincount(cells)[cells]
        fewest = np.full(len(homes), len(homes.of), dtype=np.int64)
        np.minimum.at(fewest, homes.of, alike)
        found[:, level] = fewest
    return found
