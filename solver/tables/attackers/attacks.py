"""The attacker's programs, one after the other from the last basis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.tables.attacker import reach
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.solver.tables.attackers.attack_programs import Asked, Large, Part, Small

_SMALL = 1000
"""Relations up to which our own simplex method is faster, as it holds the inverse of the basis."""


@dataclass(frozen=True, eq=False)
class Attack:
    """How far an attacker must think that a cell could go, one way."""

    found: float  # by the deviations that were found: a lower bound up to the tolerance of the optimiser
    cells: LongArray  # (k,) the cells that are suppressed at all
    deviations: FloatArray  # (k,) theirs
    goal: int
    sign: float
    rows: LongArray  # (m,) the relations that these cells are in
    multipliers: FloatArray  # (m,) theirs


class Attacker:
    """Knows which cells are suppressed, wholly or in part, and asks how far others could go.

    Its program holds these cells only, and the relations that they are in: what is published cannot move.
    """

    def __init__(self, table: CellTable) -> None:
        self._table = table
        self._by_cell = sparse.csc_array(table.relations)
        self._transposed = self._by_cell.T
        self._above, self._below, self._free = table.above, table.below, table.free

    def knows(self, suppressed: FloatArray) -> None:
        """Take a pattern, shape (n,)."""
        self._cells = cells = np.flatnonzero(suppressed)
        counts = np.diff(self._by_cell.indptr)[cells]
        starts = np.concatenate([[0], np.cumsum(counts)])
        entries = np.repeat(self._by_cell.indptr[cells] - starts[:-1], counts) + np.arange(starts[-1])
        inside = self._by_cell.indices[entries]
        there = np.zeros(self._by_cell.shape[0], dtype=np.bool_)
        there[inside] = True
        self._rows = np.flatnonzero(there)
        place = np.cumsum(there) - 1
        program = Small if self._rows.size <= _SMALL else Large
        self._program: Small | Large = program(
            Part(
                starts.astype(np.int64),
                place[inside],
                self._by_cell.data[entries].astype(np.float64),
                self._below[cells],
                self._above[cells],
                suppressed[cells],
                self._free[cells],
                self._rows.size,
            )
        )

    def attacks(self, asked: Asked, stop: float = 0.0) -> Iterator[Attack | None]:
        """Move cells as far as they go, or as is enough; None where an attack before did already.

        `stop`: the first attack that falls short of this share of what is enough is the last. Raises
        RuntimeError if the optimiser fails.
        """
        at = np.searchsorted(self._cells, asked.cell)
        local = Asked(at, asked.sign, asked.enough, asked.within)
        for number, ended in enumerate(self._program.run(local, stop)):
            if ended is None:
                yield None
                continue
            point, multipliers = ended
            cell, sign = int(asked.cell[number]), float(asked.sign[number])
            found = float(sign * point[at[number]])
            yield Attack(found, self._cells, point, cell, sign, self._rows, multipliers)

    def attack(self, cell: int, sign: float, enough: float = np.inf, within: float = np.inf) -> Attack:
        """One attack."""
        given = (np.array([one]) for one in (sign, enough, within))
        found = next(self.attacks(Asked(np.array([cell]), *given)))
        if found is None:
            raise AssertionError("an attack that is the first is made")
        return found

    def most(self, attack: Attack) -> FloatArray:
        """What each suppressed cell adds at most, shape (n,) (`formulations.tables.attacker.reach`)."""
        multipliers = np.zeros(self._by_cell.shape[0])
        multipliers[attack.rows] = attack.multipliers
        goal = np.zeros(len(self._table))
        goal[attack.goal] = attack.sign
        return reach(goal - self._transposed @ multipliers, self._above, self._below)


def signs_of(demand: Demand) -> list[float]:
    """Which ways a demand asks for: up, down, or both, whose sum counts."""
    return [sign for wanted, sign in ((demand.up, 1.0), (demand.down, -1.0)) if wanted]
