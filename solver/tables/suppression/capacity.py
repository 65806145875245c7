"""The separator of cell suppression: demands that a pattern leaves open, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from linkrisk.formulations.programs.separation import Cuts
from linkrisk.formulations.tables.cell_table import CellTable, Demand, FloatArray
from linkrisk.formulations.tables.suppression_model import bridge_rows, capacity_row
from linkrisk.solver.tables.attackers.attacks import Attacker, signs_of

_BRIDGE = 1e-3
_NOTHING = 1e-7
"""A cell that is suppressed by so little is published, and a coefficient of so little is none."""

_SHORT = 2e-6
"""By how much of its level a demand may be short and still hold, which is beyond what optimisers can tell."""


@dataclass
class CapacityCuts:
    """Finds capacity constraints that a point violates, demand by demand, by a warm started program.

    Attributes
    ----------
    table : CellTable
    fractional : bool
    """

    table: CellTable
    fractional: bool = True
    _attacker: Attacker | None = field(default=None, repr=False, compare=False)
    _open: tuple[Demand, ...] = field(default=(), repr=False, compare=False)

    def __getstate__(self) -> dict[str, object]:
        """Without the program in the hands of the optimiser, which is made anew elsewhere."""
        return {"table": self.table, "fractional": self.fractional, "_attacker": None, "_open": ()}

    @property
    def open(self) -> tuple[Demand, ...]:
        """Demands that the sensitive cells do not meet among themselves: only these need other cells."""
        if self._attacker is None:
            self._attacker = Attacker(self.table)
            alone = self.table.primary.astype(np.float64)
            self._open = tuple(demand for demand, _ in self._short(alone, self.table.demands))
        return self._open

    def __call__(self, x: FloatArray) -> Cuts:
        """See `Separator`."""
        suppressed = np.clip(x, 0.0, 1.0)
        suppressed[suppressed < _NOTHING] = 0.0
        suppressed[self.table.primary] = 1.0
        bridges = bridge_rows(self.table, suppressed, _BRIDGE)
        rows = [row for _, row in self._short(suppressed, self.open)]
        if not rows:
            return bridges
        matrix = sparse.vstack([sparse.csr_array(np.array(rows)), bridges.matrix], format="csr")
        lower = np.concatenate([np.ones(len(rows)), bridges.lower])
        return Cuts(sparse.csr_array(matrix), lower, np.full(lower.size, np.inf))

    def _short(self, suppressed: FloatArray, demands: Sequence[Demand]) -> list[tuple[Demand, FloatArray]]:
        """Demands that a pattern does not meet, with the rows that it violates."""
        if not demands:
            return []
        attacker = self._attacker
        assert attacker is not None
        attacker.knows(suppressed)
        up, down = np.zeros(len(self.table)), np.zeros(len(self.table))  # how far cells were seen to go
        found = []
        for demand in demands:
            seen = up[demand.cell] * demand.up + down[demand.cell] * demand.down
            if seen >= demand.level * (1.0 - _SHORT):
                continue
            attacks = [attacker.attack(demand.cell, sign) for sign in signs_of(demand)]
            for one in attacks:
                up[one.cells] = np.maximum(up[one.cells], one.deviations)
                down[one.cells] = np.maximum(down[one.cells], -one.deviations)
            row = capacity_row(np.sum([one.most for one in attacks], axis=0), demand.level)
            row[row < _NOTHING] = 0.0
            if row @ suppressed < 1.0 - _SHORT:
                found.append((demand, row))
        return found
