"""Separates bridgeless inequalities of relations with few cells that other relations imply.

Two relations with a common cell imply a third without it. Unless relations of a line form circles (`lines`),
this adds nothing: ``x_i <= x_c + others`` and ``x_c <= others`` already imply its rows. In circles,
elimination leaves cells that both relations have, which count once: a point may violate the new row but none
of the given ones. Implied relations with minimal support are the cocircuits of the matroid of movements, or
elementary vectors of the space of relations (Rockafellar 1969, The elementary vectors of a subspace of R^N).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.kernel_parts import put
from linkrisk.formulations.programs import Cuts, no_cuts
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.lines import in_circles

_CELLS, _TERMS = 8, 7
"""Largest implied relation, and number of relations that imply it: more cuts against slower separation."""

_SLACK = 0.35
"""Slack of a row up to which combinations with it are tried: cells that count once may make up for so much.
"""

_QUEUE = 200_000
"""Relations tried per point, at most."""

_ROWS = 3_000
"""Rows per point, at most: the most violated ones."""

_LARGEST = 2**31
"""Largest coefficient, so that products stay exact."""


class ImpliedBridges:
    """Separates bridgeless inequalities: a cell is suppressed only with another of each implied relation.

    Free cells that cost something, by the argument of `BridgeRows`; and sensitive cells with a level, as
    these have to move.

    Parameters
    ----------
    table : CellTable

    Attributes
    ----------
    any : bool
        Whether relations run in circles anywhere; where not, no row is ever found.
    """

    def __init__(self, table: CellTable) -> None:
        self._width = len(table)
        small = _small_relations(table)
        near = in_circles(small)
        self.any = bool(near[1].size)
        starts, cells = small.indptr.astype(np.int64), small.indices.astype(np.int64)
        levels = np.maximum(np.maximum(table.lower_level, table.upper_level), table.sliding_level)
        asked: BoolArray = (table.free & (table.cost > 0)) | (table.primary & (levels > 0))
        keys = np.random.default_rng(0).integers(1, 2**62, size=len(table))
        self._relations = _Small(starts, cells, small.data.astype(np.int64), *near, keys, asked)
        # allocated once: filling so much memory takes longer than separating a small table
        self._queue = (
            *np.empty((2, _QUEUE, _CELLS), dtype=np.int64),
            np.empty((_QUEUE, _TERMS), dtype=np.int64),
        )
        self._noted = (*np.empty((3, _QUEUE), dtype=np.int64), np.empty(_QUEUE))

    def __call__(self, x: FloatArray, least: float) -> Cuts:
        """Return the rows that a point, shape (n,), violates by more than `least`."""
        if not self.any:
            return no_cuts(self._width)
        size, cells, alone, violation = _violated(self._relations, x, least, self._queue, self._noted)
        chosen = np.argsort(-violation, kind="stable")[:_ROWS]
        size, cells, alone = size[chosen], cells[chosen], alone[chosen]
        entries = np.arange(_CELLS)[None, :] < size[:, None]
        data = np.where(cells == alone[:, None], -1.0, 1.0)[entries]
        starts = np.concatenate([[0], np.cumsum(size)])
        matrix = sparse.csr_array((data, cells[entries], starts), shape=(chosen.size, self._width))
        return Cuts(matrix, np.zeros(chosen.size), np.full(chosen.size, np.inf))


def _small_relations(table: CellTable) -> sparse.csr_array:
    """Return relations between few movable cells, with integer coefficients."""
    moving = sparse.csr_array(table.relations @ sparse.diags_array((~table.fixed).astype(np.float64)))
    moving.eliminate_zeros()
    moving.sort_indices()
    many = np.diff(moving.indptr)
    rows = np.repeat(np.arange(many.size), many)
    odd = (moving.data != np.round(moving.data)) | (np.abs(moving.data) > _LARGEST)
    small = (many > 1) & (many <= _CELLS) & (np.bincount(rows, odd, many.size) == 0)
    return sparse.csr_array(moving[np.flatnonzero(small)])


class _Small(NamedTuple):
    """Small relations in one array, with their neighbours, keys of cells, and marks."""

    starts: LongArray
    cells: LongArray
    coefficients: LongArray
    near_starts: LongArray
    near: LongArray
    keys: LongArray
    asked: BoolArray


@kernel
def _violated(
    relations: _Small,
    x: FloatArray,
    least: float,
    queue: tuple[LongArray, LongArray, LongArray],
    noted: tuple[LongArray, LongArray, LongArray, FloatArray],
) -> tuple[LongArray, LongArray, LongArray, FloatArray]:
    """Return implied relations with violated rows: sizes, cells, the single cell, and the violation.

    It combines relations best-first by number of terms while rows are nearly violated. The queue holds cells,
    coefficients and terms of each, with their numbers, the single cell and its violation.
    """
    starts, cells, coefficients, near_starts, near, keys, asked = relations
    into, value, terms = queue
    size, many, alone, violation = noted
    seen, head, tail = {np.int64(0)}, 0, 0
    for one in range(min(starts.size - 1, _QUEUE)):
        count = starts[one + 1] - starts[one]
        put(cells[starts[one] : starts[one + 1]], into[tail])
        put(coefficients[starts[one] : starts[one + 1]], value[tail])
        size[tail], many[tail], terms[tail, 0] = count, 1, one
        alone[tail], violation[tail] = -1, 0.0
        if near_starts[one] < near_starts[one + 1] and _is_new(into[tail, :count], keys, asked, x, seen):
            tail += 1
    while head < tail < _QUEUE:
        here, used = into[head, : size[head]], terms[head, : many[head]]
        for term in range(many[head] if many[head] < _TERMS else 0):
            for other in near[near_starts[used[term]] : near_starts[used[term] + 1]]:
                if (used == other).any():
                    continue
                others = cells[starts[other] : starts[other + 1]]
                theirs = coefficients[starts[other] : starts[other + 1]]
                for place in range(others.size):
                    at = np.searchsorted(here, others[place])
                    if tail == _QUEUE or at == here.size or here[at] != others[place]:
                        continue
                    count = _without(
                        here, value[head, : here.size], others, theirs, at, place, into[tail], value[tail]
                    )
                    if _is_new(into[tail, :count], keys, asked, x, seen):
                        alone[tail], violation[tail] = _alone(into[tail, :count], asked, x)
                        put(used, terms[tail])
                        terms[tail, used.size] = other
                        size[tail], many[tail] = count, used.size + 1
                        tail += 1
        head += 1
    chosen = np.flatnonzero(violation[:tail] > least)
    return size[chosen], into[chosen], alone[chosen], violation[chosen]


@kernel
def _is_new(cells: LongArray, keys: LongArray, asked: BoolArray, x: FloatArray, seen: set[np.int64]) -> bool:
    """Tell whether a relation is short enough and new, and store it."""
    key = 0
    for cell in cells:
        key ^= keys[cell]
    if key in seen or _alone(cells, asked, x)[1] < -_SLACK:
        return False
    seen.add(np.int64(key))
    return True


@kernel
def _alone(cells: LongArray, asked: BoolArray, x: FloatArray) -> tuple[int, float]:
    """Return the wanted cell with the largest value, and its excess over the sum of the others."""
    total, most, found = 0.0, -1.0, -1
    for cell in cells:
        total += x[cell]
        if asked[cell] and x[cell] > most:
            most, found = x[cell], cell
    return found, 2.0 * most - total


@kernel
def _without(
    cells: LongArray,
    values: LongArray,
    other_cells: LongArray,
    other_values: LongArray,
    at: int,
    place: int,
    into: LongArray,
    found: LongArray,
) -> int:
    """Eliminate a cell from two relations; return the number of cells, 0 if there are too many."""
    a, b = values[at], other_values[place]
    left, right, many, divisor = 0, 0, 0, 0
    while left < cells.size or right < other_cells.size:
        cell = _LAST
        if left < cells.size:
            cell = cells[left]
        if right < other_cells.size:
            cell = min(cell, other_cells[right])
        value = 0
        if left < cells.size and cells[left] == cell:
            value += values[left] * b
            left += 1
        if right < other_cells.size and other_cells[right] == cell:
            value -= a * other_values[right]
            right += 1
        if value != 0:
            if many == into.size or abs(value) > _LARGEST:
                return 0
            into[many], found[many] = cell, value
            many, divisor = many + 1, _divisor(divisor, abs(value))
    for one in range(many):
        found[one] //= divisor
    return many


_LAST = 2**62
"""Sentinel above the keys of all cells."""


@kernel
def _divisor(first: int, second: int) -> int:
    """Return the greatest common divisor."""
    while second:
        first, second = second, first % second
    return first
