"""The separator of cell suppression: demands that a pattern leaves open, as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from linkrisk.formulations.programs.separation import Cuts
from linkrisk.formulations.tables.cell_table import BoolArray, CellTable, Demand, FloatArray, IntArray
from linkrisk.formulations.tables.suppression_model import BridgeRows, capacity_row
from linkrisk.solver.tables.attackers.attacks import Attacker, signs_of
from linkrisk.solver.tables.attackers.seen import Seen

_BRIDGE = 1e-3
_NEARLY, _ENOUGH = 0.7, 1e-2
_NOTHING = 1e-7
"""A cell that is suppressed by so little is published."""

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
    _attacks: _Attacks | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, object]:
        """Without the program in the hands of the optimiser, which is made anew elsewhere."""
        return {"table": self.table, "fractional": self.fractional, "_attacks": None}

    @property
    def open(self) -> tuple[Demand, ...]:
        """Demands that the sensitive cells do not meet among themselves: only these need other cells."""
        return self._made.open

    def __call__(self, x: FloatArray) -> Cuts:
        """See `Separator`."""
        made = self._made
        suppressed = made.taken(x)
        found = list(made.violated(suppressed, made.open))
        bridges = made.bridges(suppressed, _BRIDGE)
        if not found:
            return bridges
        cells, coefficients, right = zip(*(row for _, row in found), strict=True)
        starts = np.concatenate([[0], np.cumsum([one.size for one in cells])])
        matrix = sparse.csr_array(
            (np.concatenate(coefficients), np.concatenate(cells), starts), shape=(len(found), x.size)
        )
        if bridges.count:
            matrix = sparse.csr_array(sparse.vstack([matrix, bridges.matrix], format="csr"))
        lower = np.concatenate([np.array(right), bridges.lower])
        return Cuts(matrix, lower, np.full(lower.size, np.inf))

    def holds(self, suppressed: BoolArray) -> bool:
        """Whether a pattern protects from this attacker, shape (n,)."""
        made = self._made
        taken = made.taken(suppressed.astype(np.float64))
        return next(iter(made.violated(taken, made.open)), None) is None

    @property
    def _made(self) -> _Attacks:
        if self._attacks is None:
            self._attacks = _Attacks(self.table)
        return self._attacks


class _Attacks:
    """What the separator of a table keeps between two questions."""

    def __init__(self, table: CellTable) -> None:
        self.bridges = BridgeRows(table)
        self._table, self._attacker, self._seen = table, Attacker(table), Seen(table)
        alone = table.primary.astype(np.float64)
        self.open = tuple(dict.fromkeys(demand for demand, _ in self.violated(alone, table.demands)))
        asked = np.zeros(len(table), dtype=np.bool_)
        asked[[demand.cell for demand in self.open]] = True
        self._seen = Seen(table, asked=asked)

    def taken(self, x: FloatArray) -> FloatArray:
        """A point as a pattern: the primary cells are in it."""
        suppressed = np.clip(x, 0.0, 1.0)
        suppressed[suppressed < _NOTHING] = 0.0
        suppressed[self._table.primary] = 1.0
        return suppressed

    def violated(self, suppressed: FloatArray, demands: Sequence[Demand]) -> Iterator[tuple[Demand, _Row]]:
        """Demands that a pattern does not meet, with the rows that it violates."""
        up, down = self._seen.reach(suppressed)
        told = False
        for demand in demands:
            seen = up[demand.cell] * demand.up + down[demand.cell] * demand.down
            if seen >= demand.level * (1.0 - _SHORT):
                continue
            if not told:
                self._attacker.knows(suppressed)
                told = True
            signs = signs_of(demand)
            enough = demand.level if len(signs) == 1 else np.inf
            attacks = [self._attacker.attack(demand.cell, sign, enough) for sign in signs]
            for one, sign in zip(attacks, signs, strict=True):
                self._seen.add((demand.cell, sign), one.cells, one.deviations)
                up[one.cells] = np.maximum(up[one.cells], one.deviations)
                down[one.cells] = np.maximum(down[one.cells], -one.deviations)
            if sum(one.found for one in attacks) >= demand.level * (1.0 - _SHORT):
                continue
            most = attacks[0].most if len(attacks) == 1 else attacks[0].most + attacks[1].most
            for given in self._given(suppressed, most, demand.level):
                row = capacity_row(most, demand.level, given)
                if row[1] @ suppressed[row[0]] < row[2] - _SHORT:
                    yield demand, row

    def _given(self, suppressed: FloatArray, most: FloatArray, level: float) -> Iterator[BoolArray]:
        """The primary cells; and with them cells that are suppressed nearly wholly, and are not enough."""
        primary = self._table.primary
        yield primary
        nearly = np.flatnonzero((suppressed > _NEARLY) & ~primary & (most > _NOTHING * level))
        left = level - float(most[primary].sum())
        nearly = nearly[np.argsort(most[nearly], kind="stable")]
        nearly = nearly[np.cumsum(most[nearly]) < (1.0 - _ENOUGH) * left]
        if nearly.size:
            given = primary.copy()
            given[nearly] = True
            yield given


_Row = tuple[IntArray, FloatArray, float]
"""Cells, coefficients, right-hand side."""
