"""Attribute distances that are looked up: nominal, ordinal, and those that know how a file was masked.

The values of such an attribute are categories, given by their positions, and a table holds the distance of
every two of them. Infinite distances say that two records cannot be partners, whatever the parameters. They
never enter arithmetic: who uses distances asks `DistanceTables.possible` first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.errors import FormulationError


def nominal_table(categories: int) -> FloatArray:
    """0 for equal categories, 1 for all others, shape (categories, categories).

    Domingo-Ferrer and Torra 2002, Definition 1.1.
    """
    return np.asarray(1.0 - np.eye(categories))


def ordinal_table(categories: int) -> FloatArray:
    """``|i - j| / |D(V)|`` for the i-th and j-th of ``|D(V)|`` categories, shape (categories, categories).

    Domingo-Ferrer and Torra 2002, Definition 1.2, counts the categories from one to the other with both ends:
    that is ``1 / |D(V)|`` more, for equal categories as well, and the same order of records wherever
    attributes have fixed weights.
    """
    position = np.arange(categories, dtype=np.float64)
    return np.asarray(np.abs(position[:, None] - position[None, :]) / categories)


def restricted(table: FloatArray, possible: BoolArray | None) -> FloatArray:
    """The table with inf where masking cannot have made the column's category of the row's."""
    return table if possible is None else np.where(possible, table, np.inf)


@dataclass(frozen=True, eq=False)
class DistanceTables:
    """The tables of some attributes, one after the other.

    Attributes
    ----------
    attributes : ndarray of int, shape (tables,)
        Which attributes are looked up, ascending.
    values : ndarray of float64, shape (cells of all tables,)
        Not negative; inf for impossible pairs.
    first : ndarray of int, shape (tables,)
        Where each table begins.
    width : ndarray of int, shape (tables,)
        How many categories a candidate can have: the distance of i and j is at ``first + i * width + j``.
    """

    attributes: IndexArray
    values: FloatArray
    first: IndexArray
    width: IndexArray

    @classmethod
    def of(cls, tables: Sequence[FloatArray | None]) -> Self:
        """The tables of all attributes, None for numeric ones; rows are for queries.

        Raises
        ------
        FormulationError
            If an entry is negative or not a number, or a table has not two dimensions.
        """
        given = [
            (k, np.asarray(table, dtype=np.float64)) for k, table in enumerate(tables) if table is not None
        ]
        for k, table in given:
            if table.ndim != 2 or not (table >= 0.0).all():
                raise FormulationError(
                    f"the distances between categories of attribute {k + 1} must be a table of numbers from 0"
                )
        sizes = np.array([0, *(table.size for _, table in given)], dtype=np.intp)
        return cls(
            attributes=np.array([k for k, _ in given], dtype=np.intp),
            values=np.concatenate([np.empty(0), *(table.ravel() for _, table in given)]),
            first=np.cumsum(sizes)[:-1],
            width=np.array([table.shape[1] for _, table in given], dtype=np.intp),
        )

    def table(self, at: int) -> FloatArray:
        """The table of the attribute ``attributes[at]``."""
        end = self.first[at + 1] if at + 1 < self.first.size else self.values.size
        return self.values[self.first[at] : end].reshape(-1, self.width[at])

    def transposed(self) -> DistanceTables:
        """The same distances with queries and candidates swapped."""
        tables: list[FloatArray | None] = [None] * (int(self.attributes.max(initial=-1)) + 1)
        for at, k in enumerate(self.attributes.tolist()):
            tables[k] = self.table(at).T
        return DistanceTables.of(tables)

    def _cells(self, at: int, queries: FloatArray, candidates: FloatArray) -> FloatArray:
        k = self.attributes[at]
        rows, columns = queries[..., k].astype(np.intp), candidates[..., k].astype(np.intp)
        return np.asarray(self.values[self.first[at] + rows * self.width[at] + columns])

    def place(self, distances: FloatArray, queries: FloatArray, candidates: FloatArray) -> None:
        """Write distances of categories into `distances`, shape (..., attributes); 0 for impossible pairs."""
        for at, k in enumerate(self.attributes):
            cells = self._cells(at, queries, candidates)
            distances[..., k] = np.where(np.isinf(cells), 0.0, cells)

    def possible(self, queries: FloatArray, candidates: FloatArray) -> BoolArray:
        """Whether two records can be partners: no distance between their categories is infinite."""
        shape = np.broadcast_shapes(queries.shape, candidates.shape)[:-1]
        possible = np.ones(shape, dtype=np.bool_)
        for at in range(self.attributes.size):
            possible &= np.isfinite(self._cells(at, queries, candidates))
        return possible


def check_positions(attribute: int, table: FloatArray, original: FloatArray, masked: FloatArray) -> None:
    """Raise a FormulationError unless all values of an attribute are positions in its table."""
    for values, size in zip((original, masked), table.shape, strict=True):
        wrong = ~((values >= 0) & (values < size) & (values == np.floor(values)))
        if wrong.any():
            raise FormulationError(
                f"attribute {attribute + 1}: {values[wrong][0]:g} is not a position among {size} categories"
            )
