"""Derives the knowledge of contributors from their own contributions, alone or in coalitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.tables.cell_table import CellTable, Insider

_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Shares:
    """Contributions to cells by contributor.

    Attributes
    ----------
    cell : ndarray of int64, shape (k,)
    who : ndarray of int64, shape (k,)
        A number for each contributor, each at most once in a cell.
    amount : ndarray of float64, shape (k,)
    names : sequence of str
        Of the contributors.
    """

    cell: LongArray
    who: LongArray
    amount: FloatArray
    names: Sequence[str]

    def insiders(self, value: FloatArray, *, alone: bool) -> Iterator[Insider]:
        """Return each contributor as an insider.

        Parameters
        ----------
        value : ndarray of float64, shape (n,)
            Of the cells.
        alone : bool
            Those only who know a cell exactly.
        """
        lower, upper = self._bounds(self.cell, self.amount, np.ones(self.cell.size), value)
        known = np.zeros(len(self.names), dtype=np.bool_)
        known[self.who[lower == upper]] = True
        order = np.argsort(self.who, kind="stable")
        order = order[known[self.who[order]]] if alone else order
        starts = np.flatnonzero(np.diff(self.who[order], prepend=-1))
        ends = [*starts[1:].tolist(), order.size]
        for begin, end in zip(starts.tolist(), ends, strict=True):
            mine = order[begin:end]
            name = str(self.names[int(self.who[mine[0]])])
            yield _told(name, self.cell[mine], lower[mine], upper[mine])

    def coalition(self, name: str, members: Sequence[int], value: FloatArray) -> Insider:
        """Return several contributors as one insider, who knows the sums of their amounts."""
        mine = np.isin(self.who, np.asarray(members))
        cells, place = np.unique(self.cell[mine], return_inverse=True)
        amount = np.bincount(place, self.amount[mine], cells.size).astype(np.float64)
        count = np.bincount(place, minlength=cells.size).astype(np.float64)
        return _told(name, cells, *self._bounds(cells, amount, count, value))

    def _bounds(
        self, cell: LongArray, amount: FloatArray, count: FloatArray, value: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Bound cells by the joint amounts of `count` of their contributors.

        A cell is known exactly without other contributors; otherwise it is at least the amount, if no
        contribution is negative.
        """
        everybody = np.bincount(self.cell, minlength=value.size)
        negative = np.zeros(value.size, dtype=np.bool_)
        negative[self.cell[self.amount < 0]] = True
        same = np.abs(amount - value[cell]) <= _SAME * np.maximum(1.0, np.abs(value[cell]))
        exactly = (count == everybody[cell]) & same
        least = np.where(negative[cell], -np.inf, np.minimum(amount, value[cell]))
        return np.where(exactly, value[cell], least), np.where(exactly, value[cell], np.inf)


def _told(name: str, cells: LongArray, lower: FloatArray, upper: FloatArray) -> Insider:
    """Return an insider without knowledge that is public."""
    more = (lower > 0) | np.isfinite(upper) | (np.isfinite(lower) & (lower < 0))
    return Insider(name, cells[more], lower[more], upper[more])


def singletons(table: CellTable, respondents: LongArray) -> tuple[Insider, ...]:
    """Return the only respondents of cells, one for each unless a relation shows that two are the same.

    If all other cells of a relation have no respondents, the single ones of two cells are one person.

    Parameters
    ----------
    table : CellTable
    respondents : ndarray of int64, shape (n,)
        How many each cell has.
    """
    alone, some = respondents == 1, respondents > 0
    relations = sparse.csr_array(table.relations)
    pairs = [
        inside
        for line in np.split(relations.indices, relations.indptr[1:-1])
        if (inside := line[some[line]]).size == 2 and alone[inside].all()
    ]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    graph = sparse.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(table),) * 2)
    label = connected_components(graph, directed=False)[1]
    found = []
    for person in dict.fromkeys(label[alone].tolist()):
        cells = np.flatnonzero(alone & (label == person))
        one = int(cells[0])
        which = table.title(one) if cells.size == 1 else f"cells {', '.join(map(str, cells.tolist()))}"
        exact = table.value[cells]
        found.append(Insider(f"the only respondent of {which}", cells, exact, exact))
    return tuple(found)


def carried_up(table: CellTable, insiders: Sequence[Insider]) -> Iterator[Insider]:
    """Extend insiders by lower bounds on totals, from those on their parts.

    No pattern can prevent this inference, so that a level below it is cut (`CellTable.seen_by`).

    Parameters
    ----------
    table : CellTable
    insiders : sequence of Insider
    """
    relations = sparse.csr_array(table.relations)
    rows = np.repeat(np.arange(relations.shape[0]), np.diff(relations.indptr))
    minus = relations.data < 0
    single = np.flatnonzero(np.bincount(rows[minus], minlength=relations.shape[0]) == 1)
    total = np.zeros(relations.shape[0], dtype=np.int64)
    weight = np.ones(relations.shape[0])
    total[rows[minus]], weight[rows[minus]] = relations.indices[minus], -relations.data[minus]
    parts = relations.copy()
    parts.data = np.where(minus, 0.0, relations.data)
    parts.eliminate_zeros()
    totals = _Totals(parts[single], total[single], weight[single], table.value)
    base = totals.least(table.lower)
    return (totals.carried(one, base) for one in insiders)


class _Totals:
    """Relations of a total and its parts, which bound it from below."""

    def __init__(
        self, parts: sparse.csr_array, total: LongArray, weight: FloatArray, value: FloatArray
    ) -> None:
        self._parts, self._total, self._weight, self._value = parts, total, weight, value
        self._of_part = sparse.csc_array(parts)

    def least(self, lower: FloatArray) -> FloatArray:
        """Public lower bounds of all cells, shape (n,)."""
        lower = lower.copy()
        while True:
            before = lower.copy()
            np.maximum.at(lower, self._total, (self._parts @ lower) / self._weight)
            lower = np.minimum(lower, self._value)  # rounding error of sums of decimals
            if (lower <= before + _SAME * np.maximum(1.0, np.abs(before))).all():
                return lower

    def carried(self, insider: Insider, base: FloatArray) -> Insider:
        """Extend an insider by bounds on totals that exceed the public ones."""
        lower = base.copy()
        lower[insider.cells] = np.maximum(lower[insider.cells], insider.lower)
        raised, queue = (
            set(insider.cells.tolist()),
            insider.cells[lower[insider.cells] > base[insider.cells]].tolist(),
        )
        while queue:
            cell = queue.pop()
            for row in self._of_part.indices[slice(*self._of_part.indptr[cell : cell + 2])].tolist():
                inside, at = slice(*self._parts.indptr[row : row + 2]), int(self._total[row])
                known = (
                    float(self._parts.data[inside] @ lower[self._parts.indices[inside]]) / self._weight[row]
                )
                known = min(known, float(self._value[at]))  # rounding error of sums of decimals
                if known > lower[at] + _SAME * max(1.0, abs(lower[at])):
                    lower[at] = known
                    raised.add(at)
                    queue.append(at)
        cells, upper = np.array(sorted(raised), dtype=np.int64), np.full(base.size, np.inf)
        upper[insider.cells] = insider.upper
        return replace(insider, cells=cells, lower=lower[cells], upper=upper[cells])
