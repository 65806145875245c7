"""Poisson log-linear models of a cross-classification: independence, and two-way interactions.

Only cells that can have a positive mean are held. Where no record has a pair of categories, maximum
likelihood gives mean 0 to all cells with this pair, so that cells are joined key by key, and most never come
up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import rel_entr

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.categories import occurring
from linkrisk.formulations.proportional_fitting import proportional_fit
from linkrisk.solver.run.clock import Clock

Pairs = tuple[tuple[int, int], ...]
"""The interactions of a model, by the places of their keys; none is independence."""

MOST_CELLS = 4_000_000
"""Cells with a positive mean that are held at a time: with two-way margins of 6 keys some 300 MB."""

TOLERANCE = 1e-3
"""Proportional fitting ends when every fitted margin is within so many records of the observed one."""


@dataclass(frozen=True, eq=False)
class CodedKeys:
    """Key variables as codes; a missing value is a category of its own."""

    names: tuple[str, ...]
    categories: tuple[tuple[str | None, ...], ...]  # what the codes of each key mean; None is a missing value
    codes: IndexArray  # (records, keys): from 0, each code occurring
    levels: tuple[int, ...]  # how many there are
    cell: IndexArray  # (records,): the observed cell of each record, from 0

    @classmethod
    def of(cls, frame: pd.DataFrame, keys: Sequence[str]) -> CodedKeys:
        """Code columns, at least one, of at least one record."""
        columns, categories = [], []
        for name in keys:
            found = occurring(frame[name])
            values, column = np.unique(found.codes, return_inverse=True)
            columns.append(column)
            categories.append(tuple(None if code < 0 else found.names[code] for code in values.tolist()))
        codes = np.stack(columns, axis=1).astype(np.intp)
        _, cell = np.unique(codes, axis=0, return_inverse=True)
        levels = tuple(int(column.max()) + 1 for column in codes.T)
        return cls(tuple(keys), tuple(categories), codes, levels, cell.reshape(-1).astype(np.intp))

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.codes)

    @property
    def counts(self) -> IndexArray:
        """How many records have the same keys, for each record, shape (records,)."""
        return np.asarray(np.bincount(self.cell)[self.cell], dtype=np.intp)

    def codes_of(self, frame: pd.DataFrame) -> IndexArray:
        """The same codes for other records, shape (others, keys); -1 for a category that does not occur."""
        columns = []
        for name, categories in zip(self.names, self.categories, strict=True):
            found = occurring(frame[name])
            place = {category: at for at, category in enumerate(categories)}
            table = np.array([place.get(category, -1) for category in (*found.names, None)], dtype=np.intp)
            columns.append(table[found.codes])
        return np.stack(columns, axis=1)

    @property
    def pairs(self) -> Pairs:
        """All interactions, those that depend on each other most first.

        By the likelihood ratio of independence of the two keys, in its standard deviations:
        ``(G^2 - df) / sqrt(2 df)``.
        """
        pairs = combinations(range(len(self.levels)), 2)
        return tuple(sorted(pairs, key=lambda pair: (-self._dependence(*pair), pair)))

    def _dependence(self, first: int, second: int) -> float:
        shape = self.levels[first], self.levels[second]
        table = np.zeros(shape)
        np.add.at(table, (self.codes[:, first], self.codes[:, second]), 1.0)
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / self.records
        ratio = 2.0 * float(rel_entr(table, expected).sum())
        degrees = (shape[0] - 1) * (shape[1] - 1)
        return (ratio - degrees) / math.sqrt(2.0 * degrees) if degrees else -math.inf

    def margins(self, pairs: Pairs) -> tuple[tuple[int, ...], ...]:
        """The sets of keys whose sample frequencies a model with these interactions reproduces."""
        inside = {key for pair in pairs for key in pair}
        return (*pairs, *((key,) for key in range(len(self.levels)) if key not in inside))


@dataclass(frozen=True, eq=False)
class FittedCells:
    """Cells with the means of a model."""

    interactions: tuple[tuple[str, str], ...]  # the pairs of keys whose interaction the model has
    cell: IndexArray  # (records,): the place of each record's cell
    count: FloatArray  # (cells,): sample frequency ``f_k``
    mean: FloatArray  # (cells,): its fitted expectation ``mu_k``
    groups: tuple[IndexArray, ...]  # (cells,): of every margin, to which of its categories each cell belongs
    whole: bool  # whether all cells with a positive mean are here; else only those that occur in the sample
    gap: float  # how far a fitted margin is from the observed one at most, in records
    levels: tuple[int, ...]
    numbers: IndexArray  # (cells,): of every cell, in ascending order: its codes as one number

    def at(self, codes: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Sample frequency and mean of other records' cells (`CodedKeys.codes_of`); 0 where there is none."""
        count, mean = np.zeros(len(codes)), np.zeros(len(codes))
        known = np.flatnonzero((codes >= 0).all(axis=1))
        number = _numbers(codes[known], self.levels)
        place = np.minimum(np.searchsorted(self.numbers, number), self.numbers.size - 1)
        here = self.numbers[place] == number
        count[known[here]], mean[known[here]] = self.count[place[here]], self.mean[place[here]]
        return count, mean


def fit(
    keys: CodedKeys, pairs: Pairs, clock: Clock, most: int = MOST_CELLS, tolerance: float = TOLERANCE
) -> FittedCells | None:
    """Fit a model by maximum likelihood, by iterative proportional fitting.

    The means of independence are known in closed form, ``n prod_j (n_j / n)``, which is all that is used
    where there are too many cells.

    `pairs`: interactions; none for independence. `tolerance`: by how many records a fitted margin may miss
    the observed one. None for interactions where there are more than `most` cells.
    """
    cells = possible_cells(keys, pairs, most)
    if cells is None:
        return None if pairs else _observed_only(keys)
    cell = _places(keys, cells)
    count = np.bincount(cell, minlength=len(cells)).astype(np.float64)
    groups = tuple(_group(cells, margin, keys.levels) for margin in keys.margins(pairs))
    mean = _independent(keys, cells)
    gap = proportional_fit(mean, count, groups, lambda: clock.expired, tolerance)
    interactions = tuple((keys.names[first], keys.names[second]) for first, second in pairs)
    return FittedCells(
        interactions, cell, count, mean, groups, True, gap, keys.levels, _numbers(cells, keys.levels)
    )


def possible_cells(keys: CodedKeys, pairs: Pairs, most: int) -> IndexArray | None:
    """Cells in which no margin of the model is 0, shape (cells, keys); None where there are more than `most`.

    A cell is extended by a category of the next key only where some record has this category together with
    each category of the cell that it interacts with.
    """
    cells = np.arange(keys.levels[0], dtype=np.intp)[:, None]
    for key in range(1, len(keys.levels)):
        levels = keys.levels[key]
        if len(cells) * levels > 50 * most:
            return None
        possible = np.ones((len(cells), levels), dtype=np.bool_)
        for other in (first for first, second in pairs if second == key):
            together = np.zeros((keys.levels[other], levels), dtype=np.bool_)
            together[keys.codes[:, other], keys.codes[:, key]] = True
            possible &= together[cells[:, other]]
        if np.count_nonzero(possible) > most:
            return None
        row, level = np.nonzero(possible)
        cells = np.column_stack((cells[row], level)).astype(np.intp)
    return cells if len(cells) <= most else None


def _independent(keys: CodedKeys, cells: IndexArray) -> FloatArray:
    """Means of independence."""
    mean = np.full(len(cells), float(keys.records))
    for key, levels in enumerate(keys.levels):
        share = np.bincount(keys.codes[:, key], minlength=levels) / keys.records
        mean *= share[cells[:, key]]
    return mean


def _observed_only(keys: CodedKeys) -> FittedCells:
    """Independence for the cells of the sample alone."""
    _, first = np.unique(keys.cell, return_index=True)
    count = np.bincount(keys.cell).astype(np.float64)
    cells = keys.codes[first]
    mean = _independent(keys, cells)
    numbers = _numbers(cells, keys.levels)
    return FittedCells((), keys.cell, count, mean, (), False, 0.0, keys.levels, numbers)


def _places(keys: CodedKeys, cells: IndexArray) -> IndexArray:
    """Where the cell of each record stands among cells in lexicographic order."""
    place = np.searchsorted(_numbers(cells, keys.levels), _numbers(keys.codes, keys.levels))
    return np.asarray(place, dtype=np.intp)


def _numbers(cells: IndexArray, levels: tuple[int, ...]) -> IndexArray:
    """Codes of cells as one number each."""
    number = np.zeros(len(cells), dtype=object if math.prod(levels) >= 2**62 else np.intp)
    for column, size in zip(cells.T, levels, strict=True):
        number = number * size + column
    return number


def _group(cells: IndexArray, margin: tuple[int, ...], levels: tuple[int, ...]) -> IndexArray:
    """To which category of a margin each cell belongs."""
    shape = tuple(levels[key] for key in margin)
    return np.ravel_multi_index(tuple(cells[:, key] for key in margin), shape).astype(np.intp)
