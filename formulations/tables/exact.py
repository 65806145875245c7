"""Makes deviations and bounds rational, to decide protection without any tolerance.

A float is read as its shortest decimal text, as in a file. A point found by an optimiser is made exact by
fixing some cells at rational values, those at a bound at the bound, and solving the relations for the others
by sparse elimination over fractions. Any rational multipliers give a bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from heapq import heapify, heappop, heappush

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.tables.cell_table import CellTable

Exact = dict[int, Fraction]
"""Numbers by cell or relation; 0 elsewhere."""

_AT_BOUND = 1e-9
"""Distance from a bound, relative to the range of the cell, up to which a cell is at it."""

_MOST_FILL = 200_000
"""Fill-in of the elimination at which it is given up: it would take too long."""


def exact(number: float) -> Fraction:
    """Return the fraction of the shortest decimal text of a float."""
    return Fraction(repr(float(number)))


class ExactRelations:
    """Relations and bounds of a table as fractions, computed on demand.

    Parameters
    ----------
    table : CellTable
    """

    def __init__(self, table: CellTable) -> None:
        self._table = table
        self._by_cell = sparse.csc_array(table.relations)
        self._by_row = sparse.csr_array(table.relations)

    def below(self, cell: int) -> Fraction:
        """Return how far a cell can go down."""
        return exact(self._table.value[cell]) - exact(self._table.lower[cell])

    def above(self, cell: int) -> Fraction:
        """Return how far a cell can go up."""
        return exact(self._table.upper[cell]) - exact(self._table.value[cell])

    def column(self, cell: int) -> Exact:
        """Return the coefficients of a cell."""
        return _entries(self._by_cell, cell)

    def row(self, relation: int) -> Exact:
        """Return the coefficients of a relation."""
        return _entries(self._by_row, relation)

    def most(
        self, cell: int, sign: int, multipliers: Mapping[int, Fraction], unknown: Iterable[int]
    ) -> Fraction:
        """Bound the range of a cell by any multipliers of the relations (`attacker.reach`).

        Parameters
        ----------
        cell : int
        sign : int
            1 up, -1 down.
        multipliers : mapping of int to Fraction
        unknown : iterable of int
            The cells that can move.
        """
        reduced: Exact = {cell: Fraction(sign)}
        for relation, multiplier in multipliers.items():
            for other, coefficient in self.row(relation).items():
                reduced[other] = reduced.get(other, Fraction(0)) - multiplier * coefficient
        most = Fraction(0)
        moving = set(unknown)
        for other, worth in reduced.items():
            if worth and other in moving:
                most += worth * self.above(other) if worth > 0 else -worth * self.below(other)
        return most


def exact_witness(
    relations: ExactRelations,
    cells: LongArray,
    deviations: FloatArray,
    digits: int,
    fixed: Mapping[int, Fraction] | None = None,
) -> Exact | None:
    """Find an exact witness near an approximate one.

    Parameters
    ----------
    relations : ExactRelations
    cells : ndarray of int64, shape (k,)
        Those that move.
    deviations : ndarray of float64, shape (k,)
    digits : int
        After the point, of those that are fixed away from their bounds.
    fixed : mapping of int to Fraction, optional
        Deviations that cells are to have exactly.

    Returns
    -------
    dict of int to Fraction, or None
        As near to the point as rounding lets it be, and within all bounds; None where elimination takes too
        much.
    """
    near, room = {}, {}
    for cell, moved in zip(cells.tolist(), deviations.tolist(), strict=True):
        below, above = relations.below(cell), relations.above(cell)
        near[cell], room[cell] = _rounded(moved, below, above, digits)
        if fixed is not None and cell in fixed:
            near[cell], room[cell] = fixed[cell], -1.0
    solved = _eliminated(relations, list(near), room)
    if solved is None:
        return None
    for pivot, row in reversed(solved):
        near[pivot] = (
            -sum((c * near[other] for other, c in row.items() if other != pivot), Fraction(0)) / row[pivot]
        )
    return _within(relations, {cell: moved for cell, moved in near.items() if moved})


def _rounded(moved: float, below: Fraction, above: Fraction, digits: int) -> tuple[Fraction, float]:
    """Round a deviation to few digits; return its relative distance from its bounds, too."""
    for bound in (above, -below):
        if abs(moved - float(bound)) <= _AT_BOUND * max(1.0, abs(float(bound))):
            return bound, 0.0
    near = min(max(Fraction(round(moved * 10**digits), 10**digits), -below), above)
    return near, float(min(above - near, near + below)) / float(above + below)


def _eliminated(
    relations: ExactRelations, cells: list[int], room: Mapping[int, float]
) -> list[tuple[int, Exact]] | None:
    """Eliminate: solve relations one after the other, each for a cell with slack that later ones lack."""
    rows: dict[int, Exact] = {}
    of_cell: dict[int, set[int]] = {}
    for cell in cells:
        for relation, coefficient in relations.column(cell).items():
            rows.setdefault(relation, {})[cell] = coefficient
            of_cell.setdefault(cell, set()).add(relation)
    shortest = [(len(row), number) for number, row in rows.items()]
    heapify(shortest)
    solved, fill = [], 0
    while rows:
        size, number = heappop(shortest)
        if number not in rows or len(rows[number]) != size:  # solved, or changed in length since
            continue
        row = rows.pop(number)
        for cell in row:
            of_cell[cell].discard(number)
        if not row:
            continue
        pivot = min(row, key=lambda cell: (_rank(room[cell]), len(of_cell[cell]), -room[cell]))
        solved.append((pivot, row))
        for other in list(of_cell[pivot]):
            fill += _subtract(rows[other], row, pivot, of_cell, other)
            heappush(shortest, (len(rows[other]), other))
        if fill > _MOST_FILL:
            return None
    return solved


def _rank(room: float) -> int:
    """Rank cells for elimination: those with slack first, then those at a bound, and fixed ones last."""
    return 0 if room > 0 else 1 if room == 0 else 2


def _subtract(target: Exact, row: Exact, pivot: int, of_cell: dict[int, set[int]], number: int) -> int:
    """Subtract the pivot row from a relation; return the number of entries."""
    factor = target[pivot] / row[pivot]
    for cell, coefficient in row.items():
        left = target.get(cell, Fraction(0)) - factor * coefficient
        if left:
            target[cell] = left
            of_cell[cell].add(number)
        else:
            target.pop(cell, None)
            of_cell[cell].discard(number)
    return len(row)


def _within(relations: ExactRelations, moved: Exact) -> Exact:
    """Scale deviations to their bounds; return them unchanged if they keep these."""
    share = Fraction(1)
    for cell, one in moved.items():
        limit = relations.above(cell) if one > 0 else relations.below(cell)
        if abs(one) > limit:
            share = min(share, limit / abs(one))
    return {cell: share * one for cell, one in moved.items()} if share else {}


def _entries(matrix: sparse.csr_array | sparse.csc_array, at: int) -> Exact:
    span = slice(int(matrix.indptr[at]), int(matrix.indptr[at + 1]))
    numbers = np.asarray(matrix.data[span]).tolist()
    found: Exact = {}
    for other, number in zip(matrix.indices[span].tolist(), numbers, strict=True):
        found[other] = found.get(other, Fraction(0)) + exact(number)
    return {other: number for other, number in found.items() if number}
