"""Verifies witnesses: deviations that an attacker cannot exclude, without any optimiser.

A witness is a vector d with ``M d = 0`` and ``-below <= d <= above`` that is 0 on all published cells. An
attacker cannot exclude the true values plus a share of d, so that every cell can be as far away as d. This
file shares nothing with the search for witnesses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.cell_table import CellTable, Demand

_CLOSE = 1e-7
"""Residual of a relation allowed for rounding, relative to the sum of sizes of its terms and to 1."""

_TOGETHER, _FULL = 256, 0.1
"""Witnesses verified at a time, and the density from which they are dense matrices: memory against speed."""


@dataclass(frozen=True, eq=False)
class Witness:
    """Deviations of some cells; all others stay.

    Attributes
    ----------
    cells : ndarray of int64, shape (k,)
    deviations : ndarray of float64, shape (k,)
    """

    cells: LongArray
    deviations: FloatArray


@dataclass(frozen=True, eq=False)
class Reach:
    """Ranges of cells that an attacker must consider possible.

    Attributes
    ----------
    down, up : ndarray of float64, shape (n,)
        Not negative.
    """

    down: FloatArray
    up: FloatArray

    def meets(self, demand: Demand, short: float = 0.0) -> bool:
        """Tell whether a demand is met, up to a share of its level."""
        reached = self.up[demand.cell] * demand.up + self.down[demand.cell] * demand.down
        return bool(reached >= demand.level * (1.0 - short))


def counted_reach(table: CellTable, suppressed: BoolArray, witnesses: Sequence[Witness]) -> Reach:
    """Compute the ranges of cells that witnesses prove.

    Parameters
    ----------
    table : CellTable
    suppressed : ndarray of bool, shape (n,)
    witnesses : sequence of Witness

    Raises
    ------
    FormulationError
        If one is invalid; the message names it and the reason.
    """
    for number, why in _faults(table, suppressed, witnesses).items():
        raise FormulationError(f"witness {number} is none: {why}")
    down, up = np.zeros(len(table)), np.zeros(len(table))
    for one in witnesses:
        up[one.cells] = np.maximum(up[one.cells], one.deviations)
        down[one.cells] = np.maximum(down[one.cells], -one.deviations)
    return Reach(down, up)


def valid(table: CellTable, suppressed: BoolArray, witnesses: Sequence[Witness]) -> list[Witness]:
    """Return those that are witnesses for this table and pattern."""
    faults = _faults(table, suppressed, witnesses)
    return [one for number, one in enumerate(witnesses) if number not in faults]


def _faults(table: CellTable, suppressed: BoolArray, witnesses: Sequence[Witness]) -> dict[int, str]:
    """Return the reasons why some are invalid, by their numbers, in ascending order."""
    magnitude, faults = abs(table.relations), {}
    for start in range(0, len(witnesses), _TOGETHER):
        some = witnesses[start : start + _TOGETHER]
        found = _faults_of(table, magnitude, suppressed, some)
        faults.update({start + number: why for number, why in found.items()})
    return faults


def _faults_of(
    table: CellTable, magnitude: sparse.csr_array, suppressed: BoolArray, witnesses: Sequence[Witness]
) -> dict[int, str]:
    """Return those of a few; `magnitude` are the relations with absolute coefficients."""
    number = np.repeat(np.arange(len(witnesses)), [one.cells.size for one in witnesses])
    cells = np.concatenate([one.cells for one in witnesses])
    moved = np.concatenate([one.deviations for one in witnesses])
    faults: dict[int, str] = {}
    for wrong, why in (
        ((moved != 0) & ~suppressed[cells], "which is published"),
        (~((-table.below[cells] <= moved) & (moved <= table.above[cells])), "beyond what everybody knows"),
    ):
        for at in np.flatnonzero(wrong).tolist():
            faults.setdefault(int(number[at]), f"it moves cell {cells[at]}, {why}")
    all_ = sparse.csc_array((moved, (cells, number)), shape=(len(table), len(witnesses)))
    for row, column in _unbalanced(table.relations, magnitude, all_):
        faults.setdefault(column, f"the terms of relation {row} do not stay 0")
    return dict(sorted(faults.items()))


def _unbalanced(
    relations: sparse.csr_array, magnitude: sparse.csr_array, moved: sparse.csc_array
) -> list[tuple[int, int]]:
    """Return relations and columns with a residual beyond rounding."""
    if moved.nnz > _FULL * moved.shape[0] * moved.shape[1]:
        full = moved.toarray()
        off = np.abs(relations @ full)
        return list(zip(*np.nonzero(off > _CLOSE * np.maximum(magnitude @ np.abs(full), 1.0)), strict=True))
    sums, sizes = sparse.coo_array(relations @ moved), sparse.csr_array(magnitude @ abs(moved))
    far = np.abs(sums.data) > _CLOSE
    found = zip(*(one[far].tolist() for one in sums.coords), np.abs(sums.data[far]), strict=True)
    return [(row, column) for row, column, off in found if off > _CLOSE * max(sizes[row, column], 1.0)]
