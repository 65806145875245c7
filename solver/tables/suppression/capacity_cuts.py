"""Separates capacity constraints, for demands that a pattern does not meet, and bridgeless inequalities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import Cuts, no_cuts
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.formulations.tables.implied_relations import ImpliedBridges
from linkrisk.formulations.tables.suppression_model import BridgeRows, capacity_row
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.attackers.attacks import Asked, Attacker, Seen, signs_of
from linkrisk.solver.tables.attackers.demands import unmet
from linkrisk.solver.tables.attackers.insider_attacks import OutOfTimeError


class Bridges:
    """Separates bridgeless inequalities: a free cell is suppressed only with another of each relation."""

    def __init__(self, table: CellTable) -> None:
        self._given, self._implied = BridgeRows(table), ImpliedBridges(table)

    def __call__(self, x: FloatArray) -> Cuts:
        """Return the rows that a point, shape (n,), violates; those of given relations first."""
        given = self._given(x, steering.LEAST_BRIDGE_VIOLATION)
        if given.count >= steering.ENOUGH_GIVEN_ROWS:
            return given
        implied = self._implied(x, steering.LEAST_BRIDGE_VIOLATION)
        return together([one for one in (given, implied) if one.count] or [given])


def together(found: list[Cuts]) -> Cuts:
    """Stack the rows of several separators; all have lower bounds only."""
    if len(found) == 1:
        return found[0]
    matrix = sparse.csr_array(sparse.vstack([one.matrix for one in found], format="csr"))
    lower = np.concatenate([one.lower for one in found])
    return Cuts(matrix, lower, np.full(lower.size, np.inf))


class Series:
    """Attacks that demands ask for, in the order in which they are solved."""

    def __init__(self, demands: Sequence[Demand]) -> None:
        ways = [(at, sign) for at, demand in enumerate(demands) for sign in signs_of(demand)]
        self._demands, self._owner = demands, np.array([at for at, _ in ways], dtype=np.int64)
        self._sign = np.array([sign for _, sign in ways], dtype=np.float64)
        self.cell = np.array([one.cell for one in demands], dtype=np.int64)[self._owner]
        self._level = np.array([one.level for one in demands], dtype=np.float64)[self._owner]
        self._both = np.array([one.up and one.down for one in demands], dtype=np.bool_)[self._owner]

    def first(self, number: int) -> None:
        """Move all attacks on the demand of this one to the front."""
        own = self._owner == self._owner[number]
        order = np.concatenate([np.flatnonzero(own), np.flatnonzero(~own)])
        self._owner, self._sign, self.cell = self._owner[order], self._sign[order], self.cell[order]
        self._level, self._both = self._level[order], self._both[order]

    def unmet(self, up: FloatArray, down: FloatArray) -> LongArray:
        """Return the attacks of demands not met where cells reach so far, shape (n,)."""
        up, down = up[self.cell], down[self.cell]
        reached = np.where(self._both, up + down, np.where(self._sign > 0, up, down))
        return np.flatnonzero(reached < self._level * (1.0 - tolerances.SEARCHED))

    def asked(self, chosen: LongArray, *, parts: bool) -> Asked:
        """Select attacks; with `parts` no cell moves by more than the level."""
        enough = np.where(self._both, np.inf, self._level)[chosen]
        within = enough if parts else np.full(chosen.size, np.inf)
        return Asked(self.cell[chosen], self._sign[chosen], enough, within)

    def demand(self, number: int) -> Demand:
        """Return the demand of an attack."""
        return self._demands[int(self._owner[number])]

    def second(self, number: int) -> bool:
        """Tell whether it is the second of two attacks whose sum counts."""
        return bool(self._both[number] and self._sign[number] < 0)

    def last(self, number: int) -> bool:
        """Tell whether it is the only attack of its demand, or the second."""
        return bool(not self._both[number] or self._sign[number] < 0)


@dataclass
class CapacityCuts:
    """Separates capacity constraints, demand by demand, by a warm-started linear program."""

    table: CellTable
    fractional: bool = True
    bridged: bool = True  # whether bridgeless inequalities are separated, too
    # when it has expired, methods raise `OutOfTimeError`
    clock: Clock | None = field(default=None, compare=False)
    _attacks: _Attacks | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, object]:
        """Drop the program of the optimiser and the clock, which belong to this process."""
        return {
            "table": self.table,
            "fractional": self.fractional,
            "bridged": self.bridged,
            "clock": None,
            "_attacks": None,
        }

    @property
    def open(self) -> tuple[Demand, ...]:
        """Demands that the sensitive cells do not meet alone: only these need secondary suppressions."""
        return self._made.open

    def __call__(self, x: FloatArray) -> Cuts:
        """See `Separator`."""
        made = self._made
        suppressed = made.taken(x)
        bridges = made.bridges(suppressed) if made.bridges is not None else no_cuts(x.size)
        if bridges.count >= steering.ENOUGH_GIVEN_ROWS:
            return bridges
        found = list(made.violated(suppressed, made.series))
        if not found:
            return bridges
        cells, coefficients, right = zip(*(row for _, row in found), strict=True)
        starts = np.concatenate([[0], np.cumsum([one.size for one in cells])])
        matrix = sparse.csr_array(
            (np.concatenate(coefficients), np.concatenate(cells), starts), shape=(len(found), x.size)
        )
        rows = Cuts(matrix, np.array(right), np.full(len(found), np.inf))
        return together([rows, bridges]) if bridges.count else rows

    def holds(self, suppressed: BoolArray) -> bool:
        """Tell whether a pattern, shape (n,), protects against this attacker."""
        made = self._made
        return made.holds(made.taken(suppressed.astype(np.float64)))

    @property
    def _made(self) -> _Attacks:
        if self._attacks is None:
            bridges = Bridges(self.table) if self.bridged else None
            self._attacks = _Attacks(self.table, bridges, self.clock or Clock(None))
        return self._attacks


class _Attacks:
    """State of the separator between two calls."""

    def __init__(self, table: CellTable, bridges: Bridges | None, clock: Clock) -> None:
        self.bridges, self._clock = bridges, clock
        self._table, self._attacker = table, Attacker(table)
        self._seen = self._within = Seen(table)
        self.open = self._open()
        self.series = Series(self.open)
        asked = np.zeros(len(table), dtype=np.bool_)
        asked[self.series.cell] = True
        self._seen, self._within = Seen(table, asked=asked), Seen(table, asked=asked)

    def _open(self) -> tuple[Demand, ...]:
        """Return the demands that the sensitive cells do not meet alone, and the undecided ones."""
        table = self._table
        if len(table.demands) >= steering.SEEN_AT_ONCE_DEMANDS:
            found = unmet(table, table.primary, self._clock)
            left = {*found.unmet, *found.undecided}
            return tuple(one for one in table.demands if one in left)
        alone, everything = table.primary.astype(np.float64), Series(table.demands)
        try:
            return tuple(dict.fromkeys(demand for demand, _ in self.violated(alone, everything)))
        except OutOfTimeError:
            return tuple(table.demands)

    def taken(self, x: FloatArray) -> FloatArray:
        """Return a point as a pattern that contains the primary cells."""
        suppressed = np.clip(x, 0.0, 1.0)
        suppressed[suppressed < tolerances.PUBLISHED] = 0.0
        suppressed[self._table.primary] = 1.0
        return suppressed

    def holds(self, suppressed: FloatArray) -> bool:
        """Tell whether an integral pattern meets all demands; a violated one is tested first next time."""
        for number, _ in self._short(suppressed, self.series, self._seen, 1.0 - tolerances.SEARCHED):
            self.series.first(number)
            return False
        return True

    def violated(self, suppressed: FloatArray, series: Series) -> Iterator[tuple[Demand, _Row]]:
        """Return the demands that a pattern does not meet, with the violated capacity constraints.

        Coefficients are capped at the level, so that a fractional cell counts for at most its share of it.
        For fractional patterns the attack itself is limited in the same way: no cell moves by more than its
        share of the level.
        """
        parts = bool((np.minimum(suppressed, 1.0 - suppressed) > tolerances.INTEGRAL).any())
        pool, least = (
            (self._within, steering.LEAST_FRACTIONAL_VIOLATION)
            if parts
            else (self._seen, tolerances.SEARCHED)
        )
        for number, most in self._short(suppressed, series, pool, 0.0, parts=parts):
            demand = series.demand(number)
            for given in self._given(suppressed, most, demand.level):
                row = capacity_row(most, demand.level, given)
                if row[1] @ suppressed[row[0]] < row[2] - least:
                    yield demand, row

    def _short(
        self, suppressed: FloatArray, series: Series, pool: Seen, stop: float, *, parts: bool = False
    ) -> Iterator[tuple[int, FloatArray]]:
        """Return the last attacks of unmet demands, and the most each cell contributes, shape (n,)."""
        up, down = pool.reach(suppressed)
        left = series.unmet(up, down)
        if not left.size:
            return
        self._attacker.knows(suppressed)
        asked, found, most = series.asked(left, parts=parts), 0.0, np.zeros(0)
        for number, attack in zip(left.tolist(), self._attacker.attacks(asked, stop), strict=False):
            if self._clock.expired:
                raise OutOfTimeError
            if attack is None:  # an earlier attack moved its cell far enough
                continue
            demand, second = series.demand(number), series.second(number)
            pool.add(
                (attack.goal, attack.sign), attack.cells, attack.deviations, demand.level if parts else np.inf
            )
            found = attack.found + (found if second else 0.0)
            if series.last(number) and found >= demand.level * (1.0 - tolerances.SEARCHED):
                continue
            most = self._attacker.most(attack) + (most if second else 0.0)
            if series.last(number):
                yield number, most

    def _given(self, suppressed: FloatArray, most: FloatArray, level: float) -> Iterator[BoolArray]:
        """Yield the primary cells, then these with nearly suppressed cells if they do not suffice."""
        primary = self._table.primary
        yield primary
        nearly = np.flatnonzero(
            (suppressed > steering.NEARLY_SUPPRESSED) & ~primary & (most > tolerances.PUBLISHED * level)
        )
        left = level - float(most[primary].sum())
        nearly = nearly[np.argsort(most[nearly], kind="stable")]
        nearly = nearly[np.cumsum(most[nearly]) < (1.0 - steering.LEAST_WEAKENING) * left]
        if nearly.size:
            given = primary.copy()
            given[nearly] = True
            yield given


_Row = tuple[LongArray, FloatArray, float]
"""Cells, coefficients, right-hand side."""
