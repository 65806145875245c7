"""Finds subtables from the relations alone: a total with its parts, in all of their dimensions.

A subtable of a hierarchical table has, for each variable, one code with its direct children. Its relations
are those of the corner (one per variable, all with the same total), and for every part of the corner the
parallel relations, whose parts are parts of both. Codes are not needed, so that any set of relations has
subtables, also of linked tables; a relation parallel to no other is alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import sparse

from linkrisk.arrays import LongArray

MOST_CELLS = 1000
"""Cells up to which a subtable of three variables or more is small enough for the exact search."""

_LEAST_AXES, _FEW_AXES, _MOST_AXES = 2, 4, 6
"""Variables of a subtable that is never split, of one that loses one at a time, and of the largest."""

_Group = frozenset[int]


@dataclass(frozen=True, eq=False)
class Subtable:
    """Some relations of a table, with their cells.

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
    """List the subtables from the top down: they cover all relations, and none contains another.

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
    """Total of each relation, and the relations below it."""

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
        """Tell whether two relations of a total belong to different variables, by common parts of parts."""
        return bool(self.parallel(one, other)) and bool(self.parallel(other, one))

    def parallel(self, along: int, to: int) -> list[tuple[int, int]]:
        """Return parts of a relation, each with its relation parallel to another one."""
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
        """Return the relations of the subtable with these relations at its corner."""
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
        """Return for each part of a relation one parallel to another, with a similar number of parts.

        A variable with several hierarchies has several, which belong to different subtables.
        """
        found: dict[int, int] = {}
        many = len(self.parts[to])
        for part, row in self.parallel(along, to):
            so_far = found.setdefault(part, row)
            if abs(len(self.parts[row]) - many) < abs(len(self.parts[so_far]) - many):
                found[part] = row
        return found

    def cells_in(self, rows: _Group) -> int:
        """Count the cells of some relations."""
        return len(set().union(*(self.parts[row] for row in rows))) + 1

    def _parts_of_parts(self, row: int) -> set[int]:
        if row not in self._common:
            rows = [below for part in self.parts[row] for below in self.below.get(part, ())]
            self._common[row] = {one for below in rows for one in self.parts[below]}
        return self._common[row]

    def _depths(self, cells: int) -> list[int]:
        """Return the depth of every cell: one more than the deepest total of which it is a part."""
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
    """Return the total of each relation, shape (m,): the only cell of its sign, or of the usual sign.

    Without such a cell the first one is the total.
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
    """List the maximal sets of a total's relations that cross each other (Bron and Kerbosch 1973)."""
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
    """List the subtables of these corners, with fewer variables if they are too large, but at least two."""
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
    """Keep groups that are in no other."""
    holders: dict[int, list[_Group]] = {}
    for group in groups:
        for row in group:
            holders.setdefault(row, []).append(group)
    return [group for group in groups if not any(group < other for other in holders[next(iter(group))])]


def _subtable(relations: sparse.csr_array, group: _Group, depth: int) -> Subtable:
    rows = np.array(sorted(group), dtype=np.int64)
    return Subtable(rows, np.unique(relations[rows].indices).astype(np.int64), depth)
