"""Separates cuts violated by patterns that do not protect against insiders."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.programs import Cuts
from linkrisk.formulations.tables.attacker_knowledge import AttackerKnowledge
from linkrisk.formulations.tables.cell_table import Demand
from linkrisk.formulations.tables.suppression_model import capacity_row
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.attackers.insider_attacks import InsiderAttacks, OutOfTimeError, Unmet
from linkrisk.solver.tables.suppression.capacity_cuts import CapacityCuts


class Protecting(Protocol):
    """Separator that knows the unmet demands and tests protection."""

    @property
    def open(self) -> tuple[Demand, ...]:
        """Demands that the sensitive cells do not meet alone, against the outsider."""

    def holds(self, suppressed: BoolArray) -> bool:
        """Tell whether a pattern, shape (n,), protects."""

    def __call__(self, x: FloatArray) -> Cuts:
        """Return the rows that a point violates."""


@dataclass
class SeparatorOf:
    """Chains separators: each is called only if those before found no violated row."""

    first: CapacityCuts  # of the outsider
    then: InsiderCuts
    fractional: bool = True

    @property
    def open(self) -> tuple[Demand, ...]:
        """Demands that the sensitive cells do not meet alone, against the outsider."""
        return self.first.open

    def holds(self, suppressed: BoolArray) -> bool:
        """Tell whether a pattern, shape (n,), protects against all attackers."""
        return self.first.holds(suppressed) and self.then.holds(suppressed)

    def __call__(self, x: FloatArray) -> Cuts:
        """See `Separator`."""
        cuts = self.first(x)
        return cuts if cuts.count else self.then(x)


@dataclass
class Noted:
    """Records the rows of a separator, which stay valid against more attackers."""

    of: Protecting
    fractional: bool = True
    _rows: list[Cuts] = field(default_factory=list, repr=False)

    @property
    def open(self) -> tuple[Demand, ...]:
        """See `CapacityCuts.open`."""
        return self.of.open

    def holds(self, suppressed: BoolArray) -> bool:
        """See `CapacityCuts.holds`."""
        return self.of.holds(suppressed)

    def __call__(self, x: FloatArray) -> Cuts:
        """See `Separator`."""
        cuts = self.of(x)
        if cuts.count:
            self._rows.append(cuts)
        return cuts

    def latest(self) -> Cuts | None:
        """Return the latest rows, or None if there are none."""
        if not self._rows:
            return None
        lower = np.concatenate([one.lower for one in self._rows])[-steering.INSIDER_ROWS_KEPT :]
        matrix = sparse.csr_array(sparse.vstack([one.matrix for one in self._rows], format="csr"))
        return Cuts(matrix[-lower.size :], lower, np.full(lower.size, np.inf))


@dataclass
class InsiderCuts:
    """Separates capacity constraints of insiders."""

    knowledge: AttackerKnowledge
    clock: Clock | None = None  # when it has expired, methods raise `OutOfTimeError`
    fractional: bool = True
    _attacks: InsiderAttacks | None = field(default=None, repr=False, compare=False)
    _order: list[Demand] = field(default_factory=list, repr=False, compare=False)

    def __getstate__(self) -> dict[str, object]:
        """Drop the program of the optimiser and the clock, which belong to this process."""
        return {
            "knowledge": self.knowledge,
            "clock": None,
            "fractional": self.fractional,
            "_attacks": None,
            "_order": [],
        }

    def holds(self, suppressed: BoolArray) -> bool:
        """Tell whether a pattern, shape (n,), protects against all attackers, last failures first."""
        self.attacks.knows(suppressed.astype(np.float64))
        order = self._order or list(self.knowledge.table.demands)
        self._order = order
        for at, demand in enumerate(order):
            if self.attacks.unmet(demand):
                order.insert(0, order.pop(at))
                return False
        return True

    @property
    def attacks(self) -> InsiderAttacks:
        """The attackers' linear programs."""
        if self._attacks is None:
            self._attacks = InsiderAttacks(self.knowledge, self.clock)
        return self._attacks

    def __call__(self, x: FloatArray) -> Cuts:
        """See `Separator`."""
        table = self.knowledge.table
        suppressed = np.clip(x, 0.0, 1.0)
        suppressed[suppressed < tolerances.PUBLISHED] = 0.0
        suppressed[table.primary] = 1.0
        rows: list[FloatArray] = []
        right: list[float] = []
        self.attacks.knows(suppressed)
        for demand in table.demands:
            for wrong in self._unmet(demand, last=bool(rows)):
                cells, coefficients, least = capacity_row(wrong.most, wrong.demand.level)
                if coefficients @ suppressed[cells] < least - tolerances.SEARCHED:
                    row = np.zeros(len(table))
                    row[cells] = coefficients
                    rows.append(row)
                    right.append(least)
            if len(rows) >= steering.INSIDER_ROWS:
                break
        matrix = sparse.csr_array(np.array(rows).reshape(len(rows), len(table)))
        return Cuts(matrix, np.array(right, dtype=np.float64), np.full(len(rows), np.inf))

    def _unmet(self, demand: Demand, *, last: bool) -> list[Unmet]:
        """Call `InsiderAttacks.unmet`, or return nothing if the clock has expired and rows were found."""
        try:
            return self.attacks.unmet(demand)
        except OutOfTimeError:
            if last:
                return []
            raise
