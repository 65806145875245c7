"""Keeps a pool of good patterns, and diversifies or combines them for the next try.

Least-energy movements end in one of many patterns, depending on the costs. These are perturbed at random,
cells of one or two good patterns are made cheaper, or the search is restricted to the union of two patterns
(path relinking: Glover, Laguna and Martí 2000, Fundamentals of scatter search and path relinking).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.tables.cell_table import CellTable, Demand
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.attackers.insider_attacks import OutOfTimeError
from linkrisk.solver.tables.attackers.least_energy import one_thread
from linkrisk.solver.tables.suppression.incumbent import Holds
from linkrisk.solver.tables.suppression.least_energy_patterns import Needs, Shedding, conducting
from linkrisk.solver.tables.suppression.primal_heuristics import Tell, Witnesses

_LIKE_ONE, _AMONG_TWO = 0, 1
"""Two of three equally likely moves; the third favours the cells of two patterns."""


@dataclass(frozen=True, eq=False)
class Proposal:
    """Modified costs, and the cells that may be suppressed beside sensitive ones; None for all free cells."""

    cost: FloatArray
    among: BoolArray | None = None

    def of(self, table: CellTable) -> CellTable:
        """Return the table with only these cells free."""
        if self.among is None:
            return table
        return replace(table, fixed=table.fixed | ~(self.among | table.primary))


@dataclass(eq=False)
class Pool:
    """Pool of the cheapest patterns found."""

    cost: FloatArray  # (n,) of the cells
    _found: list[tuple[float, int, BoolArray]] = field(default_factory=list, init=False)
    _generator: np.random.Generator = field(init=False)
    _count: int = field(default=0, init=False)
    _asked: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._generator = np.random.default_rng(0)

    @property
    def best(self) -> BoolArray | None:
        """The cheapest pattern, shape (n,), or None."""
        return self._found[0][2] if self._found else None

    @property
    def least(self) -> float:
        """Cost of the cheapest pattern; infinity if there is none."""
        return self._found[0][0] if self._found else np.inf

    def add(self, pattern: BoolArray, cost: float) -> None:
        """Add a pattern if it is new, and keep the cheapest ones."""
        if not any(np.array_equal(pattern, other) for _, _, other in self._found):
            self._count += 1
            self._found.append((cost, self._count, pattern))
            self._found = sorted(self._found)[: steering.POOL_SIZE]

    def proposal(self) -> Proposal:
        """Return the next proposal."""
        self._asked += 1
        if not self._found:
            return Proposal(self.cost)
        if self._asked == 2:
            return Proposal(np.where(self._found[0][2], steering.BEST_PATTERN_FAVOUR * self.cost, self.cost))
        generator = self._generator
        noise = np.exp(generator.normal(0.0, generator.choice(steering.COST_NOISE), self.cost.size))
        way = int(generator.integers(3)) if len(self._found) > 2 else _LIKE_ONE
        places = generator.choice(len(self._found), 1 if way == _LIKE_ONE else 2, replace=False)
        chosen = [self._found[place][2] for place in places]
        if way == _AMONG_TWO:
            return Proposal(self.cost * noise, chosen[0] | chosen[1])
        cost = self.cost * noise
        for pattern in chosen:
            cost = np.where(pattern, generator.choice(steering.GOOD_PATTERN_FAVOURS) * cost, cost)
        return Proposal(cost)


class AtOnce:
    """Primal heuristic: least-energy movements for all demands at once.

    `table`: as the outsider sees it. `demands`: not sliding.
    """

    def __init__(self, table: CellTable, demands: Sequence[Demand], holds: Holds) -> None:
        self._table, self._demands, self._holds = table, demands, holds
        self._needs, self._pool = Needs.of(demands, table.above), Pool(table.cost)

    @staticmethod
    def suits(table: CellTable, demands: Sequence[Demand]) -> bool:
        """Tell whether a table has many relations, no insiders and no sliding levels."""
        sliding = any(demand.up and demand.down for demand in demands)
        return not (sliding or table.insiders) and table.relations.shape[0] >= steering.LEAST_ENERGY_RELATIONS

    def start(self, clock: Clock, tell: Tell) -> BoolArray | None:
        """Return the cheapest pattern of many tries, or None if least energy does not suit the table.

        Parameters
        ----------
        clock : Clock
        tell : callable
            Told what the best costs.
        """
        stale, patience = (
            0,
            steering.TRIES_WITHOUT_LIMIT if clock.seconds_left is None else steering.TRIES_WITHOUT_GAIN,
        )
        try:
            greedy = Witnesses(self._table).extended(self._table.primary, self._demands, clock)
        except OutOfTimeError:
            return None
        hopeless = np.inf if greedy is None else steering.HOPELESS_COST * self._table.cost_of(greedy)
        while stale < patience and not clock.expired:
            before = self._pool.least
            self._try(self._pool.proposal(), clock)
            if self._pool.best is None or self._pool.least > hopeless:
                return None
            stale = 0 if self._pool.least < before else stale + 1
            tell(self._pool.least)
        return self._pool.best

    def like(self, point: FloatArray, clock: Clock) -> BoolArray | None:
        """Round a point, shape (n,), to a pattern of its largest cells, or None if that fails."""
        likely = np.clip(point, 0.0, 1.0)
        return self._try(Proposal(self._table.cost * (1.0 - (1.0 - steering.POINT_FAVOUR) * likely)), clock)

    def thinned(self, pattern: BoolArray, order: FloatArray, clock: Clock) -> BoolArray:
        """See `Patterns`; drops cells that least-energy movements do not need."""
        with one_thread():
            shedding = Shedding(self._table, pattern, self._needs)
            if shedding.met < 1.0:
                return pattern
            shedding.run(clock, lambda _: None, order)
        return shedding.pattern if self._holds(shedding.pattern) else pattern

    def _try(self, proposal: Proposal, clock: Clock) -> BoolArray | None:
        """Try a proposal; None if its pattern does not protect or is too dear to thin."""
        table = proposal.of(self._table)
        with one_thread():
            pattern = conducting(table, self._needs, clock, lambda _: None, proposal.cost)
            if pattern is None or clock.expired:  # it has nearly all cells, which take long to drop
                return None
            shedding = Shedding(table, pattern, self._needs)
            if shedding.met < 1.0 and self._pool.best is not None:
                return None
            shedding.run(clock, lambda _: None)
        found = shedding.pattern
        cost = table.cost_of(found)
        if cost < self._pool.least and not self._holds(found):
            return None
        self._pool.add(found, cost)
        return found
