"""Separates capacity constraints: demands that a pattern leaves open, and cells alone in a relation."""

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
from linkrisk.solver.tables.attackers.attacks import Asked, Attacker, Seen, signs_of
from linkrisk.solver.tables.attackers.crowd_attacks import OutOfTimeError
from linkrisk.solver.tables.attackers.demands import unmet

LEAST = 1e-3
"""By how much a point must violate such a row."""

MANY = 100
"""Where a point violates so many, nothing else is looked for: what else it violates may go with them."""


class Bridges:
    """Free cells suppressed by more than all others of a relation together, be it given or implied."""

    def __init__(self, table: CellTable) -> None:
        self._given, self._implied = BridgeRows(table), ImpliedBridges(table)

    def __call__(self, x: FloatArray) -> Cuts:
        """Rows that a point, shape (n,), violates; of implied relations where it keeps most given ones."""
        given = self._given(x, LEAST)
        if given.count >= MANY:
            return given
        implied = self._implied(x, LEAST)
        return together([one for one in (given, implied) if one.count] or [given])


def together(found: list[Cuts]) -> Cuts:
    """All of several lots of rows, which have lower bounds only."""
    if len(found) == 1:
        return found[0]
    matrix = sparse.csr_array(sparse.vstack([one.matrix for one in found], format="csr"))
    lower = np.concatenate([one.lower for one in found])
    return Cuts(matrix, lower, np.full(lower.size, np.inf))


SHORT = 2e-6
"""By how much of its level a demand may be short and still hold, which is beyond what optimisers can tell."""


class Series:
    """Attacks that demands ask for, in the order in which they are made."""

    def __init__(self, demands: Sequence[Demand]) -> None:
        ways = [(at, sign) for at, demand in enumerate(demands) for sign in signs_of(demand)]
        self._demands, self._owner = demands, np.array([at for at, _ in ways], dtype=np.int64)
        self._sign = np.array([sign for _, sign in ways], dtype=np.float64)
        self.cell = np.array([one.cell for one in demands], dtype=np.int64)[self._owner]
        self._level = np.array([one.level for one in demands], dtype=np.float64)[self._owner]
        self._both = np.array([one.up and one.down for one in demands], dtype=np.bool_)[self._owner]

    def first(self, number: int) -> None:
        """Make the attacks of the demand that one is for the first ones."""
        own = self._owner == self._owner[number]
        order = np.concatenate([np.flatnonzero(own), np.flatnonzero(~own)])
        self._owner, self._sign, self.cell = self._owner[order], self._sign[order], self.cell[order]
        self._level, self._both = self._level[order], self._both[order]

    def unmet(self, up: FloatArray, down: FloatArray) -> LongArray:
        """Attacks of demands that are not known to be met where cells go so far, shape (n,)."""
        up, down = up[self.cell], down[self.cell]
        reached = np.where(self._both, up + down, np.where(self._sign > 0, up, down))
        return np.flatnonzero(reached < self._level * (1.0 - SHORT))

    def asked(self, chosen: LongArray, *, parts: bool) -> Asked:
        """Some attacks; in parts where no cell is to move by more than the level."""
        enough = np.where(self._both, np.inf, self._level)[chosen]
        within = enough if parts else np.full(chosen.size, np.inf)
        return Asked(self.cell[chosen], self._sign[chosen], enough, within)

    def demand(self, number: int) -> Demand:
        """Of an attack."""
        return self._demands[int(self._owner[number])]

    def second(self, number: int) -> bool:
        """Whether it is the second of two whose sum counts."""
        return bool(self._both[number] and self._sign[number] < 0)

    def last(self, number: int) -> bool:
        """Whether it is the only one or the second."""
        return bool(not self._both[number] or self._sign[number] < 0)


_NEARLY, _ENOUGH = 0.7, 1e-2
_MANY_DEMANDS = 1000
"""From so many on they are looked at together first."""

_NOTHING = 1e-7
"""A cell that is suppressed by so little is published."""

_WHOLE, _VIOLATED = 1e-5, 1e-4
"""From where on a cell is suppressed in part; and by how much such patterns must violate a row."""


@dataclass
class CapacityCuts:
    """Finds capacity constraints that a point violates, demand by demand, by a warm started program."""

    table: CellTable
    fractional: bool = True
    bridged: bool = True  # whether rows about cells alone in a relation are found, too
    # when it is out, whatever is asked ends with `OutOfTimeError`
    clock: Clock | None = field(default=None, compare=False)
    _attacks: _Attacks | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, object]:
        """Without the program in the hands of the optimiser, and without the clock of this process."""
        return {
            "table": self.table,
            "fractional": self.fractional,
            "bridged": self.bridged,
            "clock": None,
            "_attacks": None,
        }

    @property
    def open(self) -> tuple[Demand, ...]:
        """Demands that the sensitive cells do not meet among themselves: only these need other cells."""
        return self._made.open

    def __call__(self, x: FloatArray) -> Cuts:
        """See `Separator`."""
        made = self._made
        suppressed = made.taken(x)
        bridges = made.bridges(suppressed) if made.bridges is not None else no_cuts(x.size)
        if bridges.count >= MANY:
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
        """Whether a pattern protects from this attacker, shape (n,)."""
        made = self._made
        return made.holds(made.taken(suppressed.astype(np.float64)))

    @property
    def _made(self) -> _Attacks:
        if self._attacks is None:
            bridges = Bridges(self.table) if self.bridged else None
            self._attacks = _Attacks(self.table, bridges, self.clock or Clock(None))
        return self._attacks


class _Attacks:
    """What the separator of a table keeps between two questions."""

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
        """Demands that the sensitive cells do not meet among themselves, and those that nobody knows of."""
        table = self._table
        if len(table.demands) >= _MANY_DEMANDS:
            found = unmet(table, table.primary, self._clock)
            left = {*found.unmet, *found.undecided}
            return tuple(one for one in table.demands if one in left)
        alone, everything = table.primary.astype(np.float64), Series(table.demands)
        try:
            return tuple(dict.fromkeys(demand for demand, _ in self.violated(alone, everything)))
        except OutOfTimeError:
            return tuple(table.demands)

    def taken(self, x: FloatArray) -> FloatArray:
        """A point as a pattern: the primary cells are in it."""
        suppressed = np.clip(x, 0.0, 1.0)
        suppressed[suppressed < _NOTHING] = 0.0
        suppressed[self._table.primary] = 1.0
        return suppressed

    def holds(self, suppressed: FloatArray) -> bool:
        """Whether a pattern of zeros and ones meets all demands; what is not met is asked first next time."""
        for number, _ in self._short(suppressed, self.series, self._seen, 1.0 - SHORT):
            self.series.first(number)
            return False
        return True

    def violated(self, suppressed: FloatArray, series: Series) -> Iterator[tuple[Demand, _Row]]:
        """Demands that a pattern does not meet, with the rows that it violates.

        In a row no coefficient is above the level, so that a cell that is suppressed in part does not count
        for more than that part of it. Of patterns of parts the attack is made for such rows: no cell moves
        by more than that part of the level either.
        """
        parts = bool((np.minimum(suppressed, 1.0 - suppressed) > _WHOLE).any())
        pool, least = (self._within, _VIOLATED) if parts else (self._seen, SHORT)
        for number, most in self._short(suppressed, series, pool, 0.0, parts=parts):
            demand = series.demand(number)
            for given in self._given(suppressed, most, demand.level):
                row = capacity_row(most, demand.level, given)
                if row[1] @ suppressed[row[0]] < row[2] - least:
                    yield demand, row

    def _short(
        self, suppressed: FloatArray, series: Series, pool: Seen, stop: float, *, parts: bool = False
    ) -> Iterator[tuple[int, FloatArray]]:
        """The last attacks of demands that are not met, and what each cell adds at most, shape (n,)."""
        up, down = pool.reach(suppressed)
        left = series.unmet(up, down)
        if not left.size:
            return
        self._attacker.knows(suppressed)
        asked, found, most = series.asked(left, parts=parts), 0.0, np.zeros(0)
        for number, attack in zip(left.tolist(), self._attacker.attacks(asked, stop), strict=False):
            if self._clock.expired:
                raise OutOfTimeError
            if attack is None:  # an attack before moved its cell far enough
                continue
            demand, second = series.demand(number), series.second(number)
            pool.add(
                (attack.goal, attack.sign), attack.cells, attack.deviations, demand.level if parts else np.inf
            )
            found = attack.found + (found if second else 0.0)
            if series.last(number) and found >= demand.level * (1.0 - SHORT):
                continue
            most = self._attacker.most(attack) + (most if second else 0.0)
            if series.last(number):
                yield number, most

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


_Row = tuple[LongArray, FloatArray, float]
"""Cells, coefficients, right-hand side."""
