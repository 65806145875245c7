"""The separator of cell suppression: demands that a pattern leaves open, as rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from linkrisk.formulations.programs.separation import Cuts
from linkrisk.formulations.tables.cell_table import CellTable, FloatArray
from linkrisk.formulations.tables.suppression_model import bridge_rows, capacity_row
from linkrisk.solver.tables.attacks import Attack, Attacker, goals_of

_BRIDGE = 1e-3
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

    def __getstate__(self) -> dict[str, object]:
        """Without the program in the hands of the optimiser, which is made anew elsewhere."""
        return {"table": self.table, "fractional": self.fractional, "_attacker": None}

    def __call__(self, x: FloatArray) -> Cuts:
        """See `Separator`."""
        if self._attacker is None:
            self._attacker = Attacker(self.table)
        suppressed = np.clip(x, 0.0, 1.0)
        suppressed[suppressed < 1e-7] = 0.0
        self._attacker.knows(suppressed)
        bridges = bridge_rows(self.table, suppressed, _BRIDGE)
        rows = self._violated(self._attacker, suppressed)
        if not rows:
            return bridges
        matrix = sparse.vstack([sparse.csr_array(np.array(rows)), bridges.matrix], format="csr")
        lower = np.concatenate([np.ones(len(rows)), bridges.lower])
        return Cuts(sparse.csr_array(matrix), lower, np.full(lower.size, np.inf))

    def _violated(self, attacker: Attacker, suppressed: FloatArray) -> list[FloatArray]:
        table, rows = self.table, []
        up, down = np.zeros(len(table)), np.zeros(len(table))  # how far cells were seen to go
        for demand in table.demands:
            seen = up[demand.cell] * demand.up + down[demand.cell] * demand.down
            if seen >= demand.level * (1.0 - _SHORT):
                continue
            attacks = [attacker.attack(goal) for goal in goals_of(demand, len(table))]
            for one in attacks:
                np.maximum(up, one.deviations, out=up)
                np.maximum(down, -one.deviations, out=down)
            row = self._row(attacks, demand.level)
            if row @ suppressed < 1.0 - _SHORT:
                rows.append(row)
        return rows

    @staticmethod
    def _row(attacks: list[Attack], level: float) -> FloatArray:
        most = np.sum([one.most for one in attacks], axis=0)
        row = capacity_row(most, level)
        row[row < 1e-9] = 0.0
        return row
