"""Subtables, found from the relations alone: a cell that is split up, with all that its parts are split into.

In a hierarchical table of d variables a subtable has, for each variable, one code with those right below it.
Its relations are those of the corner (a total, one relation for each variable), and of every part of the
corner the relations that run parallel to the corner's others: their parts are parts of both. No codes are
needed, so that linked tables and any other set of relations have subtables, too; a relation that fits no
other is one alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import sparse

from linkrisk.arrays import LongArray

MOST_CELLS = 1000
"""What an exact search of three variables and more can look through."""

_LEAST_AXES, _FEW_AXES, _MOST_AXES = 2, 4, 6
"""Variables of a subtable that is never split; of one that loses one at a time; and at most."""

_Group = frozenset[int]


@dataclass(frozen=True, eq=False)
class Subtable:
    """Some relations of a table, and the cells in them.

    Attributes
    ----------
    relations : ndarray of int64, shape (m,)
        Numbers of rows, ascending.
    cells : ndarray of int64, shape (n,)
        Numbers of columns, ascending.
    depth : int
        How many totals its corner is below, along the longest way.
    """

    relations: LongArray
    cells: LongArray
    depth: int


def subtables(relations: sparse.csr_array, most_cells: int = MOST_CELLS) -> list[Subtable]:
    """Every subtable, from the top down: each relation is in at least one, and none lies inside another.

    Parameters
    ----------
    relations : scipy.sparse.csr_array, shape (m, n)
    most_cells : int
        A subtable of three variables and more is split where it has more cells.
    """
    found = _Structure(relations)
    groups: dict[_Group, int] = {}
    for corner, below in found.below.items():
        for group in _small(found, _cliques(found, below), most_cells).values():
            groups[group] = max(groups.get(group, 0), found.depth[corner])
    kept = sorted(_largest(groups), key=lambda group: (groups[group], min(group)))
    return [_subtable(relations, group, groups[group]) for group in kept]


class _Structure:
    """Which cell is the total of each relation, and what is below it."""

    def __init__(self, relations: sparse.csr_array) -> None:
        self.total = totals(relations)
        self.below: dict[int, list[int]] = {}
        self.parts: list[frozenset[int]] = []
        for row, inside in enumerate(np.split(relations.indices, relations.indptr[1:-1])):
            total = int(self.total[row])
            self.parts.append(frozenset(inside.tolist()) - {total})
            if total >= 0:
                self.below.setdefault(total, []).append(row)
        self.depth = self._depths(relations.shape[1])
        self._parallel: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._common: dict[int, set[int]] = {}
        self._spanned: dict[tuple[int, ...], set[int]] = {}

    def crosses(self, one: int, other: int) -> bool:
        """Whether two relations of a total are of different variables: their parts have parts in common."""
        return bool(self.parallel(one, other)) and bool(self.parallel(other, one))

    def parallel(self, along: int, to: int) -> list[tuple[int, int]]:
        """Parts of a relation, each with the relation of it that runs parallel to another."""
        if (along, to) not in self._parallel:
            common = self._parts_of_parts(to)
            self._parallel[along, to] = [
                (part, row)
                for part in sorted(self.parts[along])
                for row in self.below.get(part, ())
                if self.parts[row] <= common
            ]
        return self._parallel[along, to]

    def spanned(self, axes: tuple[int, ...]) -> set[int]:
        """The relations of the subtable with these relations at its corner."""
        if axes in self._spanned:
            return self._spanned[axes]
        self._spanned[axes] = found = set(axes)
        for axis in axes:
            others = [other for other in axes if other != axis]
            ways: dict[int, list[int]] = {}
            for other in others:
                for part, row in self._closest(axis, other).items():
                    ways.setdefault(part, []).append(row)
            for rows in ways.values():
                found |= self.spanned(tuple(sorted(set(rows))))
        return found

    def _closest(self, along: int, to: int) -> dict[int, int]:
        """Of each part of a relation one relation that runs parallel to another: that with as many parts.

        A variable with several hierarchies has more that do so, which are in subtables of their own.
        """
        found: dict[int, int] = {}
        many = len(self.parts[to])
        for part, row in self.parallel(along, to):
            so_far = found.setdefault(part, row)
            if abs(len(self.parts[row]) - many) < abs(len(self.parts[so_far]) - many):
                found[part] = row
        return found

    def cells_in(self, rows: _Group) -> int:
        """How many cells some relations have."""
        return len(set().union(*(self.parts[row] for row in rows))) + 1

    def _parts_of_parts(self, row: int) -> set[int]:
        if row not in self._common:
            rows = [below for part in self.parts[row] for below in self.below.get(part, ())]
            self._common[row] = {one for below in rows for one in self.parts[below]}
        return self._common[row]

    def _depths(self, cells: int) -> list[int]:
        """Of every cell: one more than the deepest total that it is a part of."""
        depth, waiting = [0] * cells, [0] * cells
        for row, total in enumerate(self.total):
            if total >= 0:
                for part in self.parts[row]:
                    waiting[part] += 1
        ready = [cell for cell in range(cells) if not waiting[cell]]
        while ready:
            cell = ready.pop()
            for row in self.below.get(cell, ()):
                for part in self.parts[row]:
                    depth[part] = max(depth[part], depth[cell] + 1)
                    waiting[part] -= 1
                    if not waiting[part]:
                        ready.append(part)
        return depth


def totals(relations: sparse.csr_array) -> LongArray:
    """The cell of each relation whose sign no other has, shape (m,); of two cells, that with the usual sign.

    Where there is none, the first cell stands for the total.
    """
    found, usual = np.full(relations.shape[0], -1, dtype=np.int64), 0.0
    rows = list(
        zip(
            np.split(relations.indices, relations.indptr[1:-1]),
            np.split(relations.data, relations.indptr[1:-1]),
            strict=True,
        )
    )
    for row, (cells, signs) in enumerate(rows):
        for sign in (1.0, -1.0):
            alone = np.flatnonzero(np.sign(signs) == sign)
            if alone.size == 1 and cells.size > 2:
                found[row] = cells[alone[0]]
                usual += sign
    for row, (cells, signs) in enumerate(rows):
        if found[row] < 0 and cells.size:
            alone = np.flatnonzero(np.sign(signs) == (1.0 if usual > 0 else -1.0))
            found[row] = cells[alone[0] if alone.size == 1 and cells.size <= 2 else 0]
    return found


def _cliques(found: _Structure, below: list[int]) -> Iterator[tuple[int, ...]]:
    """Largest sets of a total's relations that cross each other (Bron and Kerbosch 1973)."""
    near = {one: {other for other in below if other != one and found.crosses(one, other)} for one in below}

    def extended(chosen: set[int], left: set[int], seen: set[int]) -> Iterator[tuple[int, ...]]:
        if not left and not seen:
            yield tuple(sorted(chosen))
            return
        pivot = max(left | seen, key=lambda one: len(near[one] & left))
        for one in sorted(left - near[pivot]):
            yield from extended(chosen | {one}, left & near[one], seen & near[one])
            left, seen = left - {one}, seen | {one}

    yield from extended(set(), set(below), set())


def _small(
    found: _Structure, cliques: Iterator[tuple[int, ...]], most_cells: int
) -> dict[tuple[int, ...], _Group]:
    """The subtables of these corners; of fewer variables where one has too many cells, but at least two."""
    waiting, groups = list(cliques), {}
    seen = set(waiting)
    while waiting:
        axes = waiting.pop()
        spanned = frozenset(found.spanned(axes)) if len(axes) <= _MOST_AXES else frozenset()
        if spanned and (len(axes) <= _LEAST_AXES or found.cells_in(spanned) <= most_cells):
            groups[axes] = spanned
            continue
        many = len(axes) - 1 if len(axes) <= _FEW_AXES else _LEAST_AXES
        fewer = set(combinations(axes, many)) - seen
        seen |= fewer
        waiting.extend(sorted(fewer))
    return groups


def _largest(groups: dict[_Group, int]) -> list[_Group]:
    """Groups that lie inside no other."""
    holders: dict[int, list[_Group]] = {}
    for group in groups:
        for row in group:
            holders.setdefault(row, []).append(group)
    return [group for group in groups if not any(group < other for other in holders[next(iter(group))])]


def _subtable(relations: sparse.csr_array, group: _Group, depth: int) -> Subtable:
    rows = np.array(sorted(group), dtype=np.int64)
    return Subtable(rows, np.unique(relations[rows].indices).astype(np.int64), depth)
