"""Solves cell suppression: an early incumbent, improvements, and a dual bound at every moment."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.programs import Cuts
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.suppression_model import suppression_model
from linkrisk.solver.backends.base import Backend, SolveOptions
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.attackers.audit import audit
from linkrisk.solver.tables.attackers.insider_attacks import OutOfTimeError
from linkrisk.solver.tables.attackers.integer_attacks import IntegerAttacks
from linkrisk.solver.tables.suppression.branch_and_cut import WholeSearch
from linkrisk.solver.tables.suppression.insider_cuts import Noted
from linkrisk.solver.tables.suppression.integer_cuts import with_whole_tables
from linkrisk.solver.tables.suppression.large_tables import MODULAR, suppress_large
from linkrisk.solver.tables.suppression.pattern import OUTSIDER, Pattern, tell_cost, unit_of
from linkrisk.solver.tables.suppression.pattern_pool import AtOnce
from linkrisk.solver.tables.suppression.primal_heuristics import (
    Making,
    OneByOne,
    Patterns,
    Rows,
    Witnesses,
    search_parts,
)
from linkrisk.solver.tables.suppression.reachability import kept_from_nobody, short_of_its_level

_P = TypeVar("_P", bound=Pattern)


def suppress_cells(
    table: CellTable,
    backend: Backend | None,
    clock: Clock,
    report: Reporter | None = None,
    seed: int = 0,
) -> Pattern:
    """Find the cells of least cost that protect all sensitive ones.

    `backend`: None for our own branch and cut. `seed`: of the backend. Raises UsageError if suppressing all
    cells does not protect one; the message names it.
    """
    rows = None
    if table.insiders:
        part = clock.part_of_left(steering.OUTSIDER_SHARE)
        alone = replace(table, insiders=())
        separator, witnesses = search_parts(alone, part)
        noted = Noted(separator)
        outside = _outside(alone, noted, witnesses, part, report)
        rows = noted.latest()
    separator, witnesses = search_parts(table, clock)
    if table.insiders and outside.bound >= outside.cost and _holds(separator, outside.suppressed):
        return outside
    if table.insiders:
        patterns, start = _from_outside(table, separator, witnesses, outside, clock, report)
    else:
        patterns, start = _start(table, separator, witnesses, clock, report)
    search = _Search(table, separator, patterns, start, clock, report, rows=rows)
    better, bound = search.own() if backend is None else search.by(backend, seed)
    return search.reported(_pattern(table, better, bound))


def in_whole_numbers(table: CellTable, pattern: _P, clock: Clock) -> _P:
    """Extend the pattern of a large table of counts to integral attacks; its bound remains valid.

    Raises UsageError if a cell cannot be protected against integral attacks, whatever is suppressed.
    """
    if not table.counts:
        return pattern
    found = with_whole_tables(IntegerAttacks(table, clock), pattern.suppressed, table.cost, clock, many=True)
    if found is None:
        raise UsageError(cannot_be_protected(table))
    return replace(pattern, suppressed=found, cost=table.cost_of(found))


def _pattern(table: CellTable, suppressed: BoolArray, bound: float) -> Pattern:
    cost = table.cost_of(suppressed)
    return Pattern(suppressed, cost, cost if bound >= cost * (1.0 - tolerances.COST) else max(bound, 0.0))


def _outside(
    table: CellTable, noted: Noted, witnesses: Making, clock: Clock, report: Reporter | None
) -> Pattern:
    """Solve the outsider's problem in a share of the time: its bound is valid against all attackers."""
    patterns, start = _start(table, noted, witnesses, clock, report, OUTSIDER)
    search = _Search(table, noted, patterns, start, clock, report, who=OUTSIDER)
    return search.reported(_pattern(table, *search.own()))


def _from_outside(
    table: CellTable,
    separator: Rows,
    witnesses: Making,
    outside: Pattern,
    clock: Clock,
    report: Reporter | None,
) -> tuple[Patterns, Pattern]:
    """Return the heuristics and a protecting pattern: that of the outsider, repaired against insiders.

    Raises UsageError if there is none.
    """
    found = None
    if not isinstance(witnesses, Witnesses):
        found = witnesses.protecting(outside.suppressed, clock.part_of_left(steering.START_SHARE))
    if table.counts and found is not None:
        return OneByOne(table, separator, witnesses), _pattern(table, found, outside.bound)
    patterns, start = _start(table, separator, witnesses, clock, report)
    if found is not None and table.cost_of(found) < start.cost:
        start = _pattern(table, found, outside.bound)
    return patterns, replace(start, bound=outside.bound)


def _start(
    table: CellTable,
    separator: Rows,
    witnesses: Making,
    clock: Clock,
    report: Reporter | None,
    who: str = "",
) -> tuple[Patterns, Pattern]:
    """Return the heuristics and a protecting pattern: all cells if time did not allow another.

    Raises UsageError if there is none.
    """

    def tell(cost: float) -> None:
        if report is not None:
            tell_cost(report, cost, 0.0, who)

    part, one_by_one = clock.part_of_left(steering.START_SHARE), OneByOne(table, separator, witnesses)
    if AtOnce.suits(table, separator.open):
        at_once = AtOnce(table, separator.open, lambda pattern: _holds(separator, pattern))
        found = at_once.start(part, tell)
        if found is not None:
            return at_once, _pattern(table, found, 0.0)
        if not clock.expired:
            return one_by_one, _modular(table, clock, report)
    found = one_by_one.start(part, tell)
    if found is None:
        raise UsageError(cannot_be_protected(table))
    if part.expired and np.array_equal(found, ~table.fixed):
        if not table.insiders and not clock.expired:
            return one_by_one, _modular(table, clock, report)
        if not _holds(separator, found, unknown=True):
            raise UsageError(cannot_be_protected(table))
    return one_by_one, _pattern(table, found, 0.0)


def _modular(table: CellTable, clock: Clock, report: Reporter | None) -> Pattern:
    """A start for large tables, with a dual bound."""
    found = suppress_large(table, MODULAR, clock.part_of_left(steering.MODULAR_SHARE), report)
    return in_whole_numbers(table, found, clock.part_of_left(steering.MODULAR_SHARE))


def _holds(separator: Rows, pattern: BoolArray, *, unknown: bool = False) -> bool:
    """Tell whether a pattern protects; `unknown` if time runs out first."""
    try:
        return separator.holds(pattern)
    except OutOfTimeError:
        return unknown


@dataclass(eq=False)
class _Search:
    """State shared by the search methods."""

    table: CellTable
    separator: Rows
    patterns: Patterns
    start: Pattern
    clock: Clock
    report: Reporter | None
    rows: Cuts | None = None
    who: str = ""

    def own(self) -> tuple[BoolArray, float]:
        """Search by our branch and cut."""
        unit, table, least = self._unit, self.table, self.start.bound
        costs = np.round(table.cost / unit) if unit else table.cost
        search = WholeSearch(
            table,
            self.separator,
            self.start.suppressed,
            costs,
            self.patterns.thinned,
            whole=bool(unit),
            rows=self.rows,
            bound=least * round(1.0 / unit) if unit else least,
        )
        with suppress(OutOfTimeError):
            search.run(self.clock, self._improve, lambda: self._tell(search.cost, search.bound))
        return search.best, self._in_costs(search.bound)

    def _improve(self, point: FloatArray) -> BoolArray | None:
        return self.patterns.like(point, self.clock)

    def by(self, backend: Backend, seed: int) -> tuple[BoolArray, float]:
        """Search by a backend."""
        unit, start, cost = self._unit, self.start.suppressed, self.start.cost
        found = backend.solve(
            suppression_model(self.table, search_parts(self.table)[0]),
            SolveOptions(
                time_limit=self.clock.seconds_left, seed=seed, absolute_gap=0.999 * unit if unit else 1e-6
            ),
            starts=[start.astype(np.float64)],
            watch=lambda progress: self._tell(cost / (unit or 1.0), progress.bound / (unit or 1.0)),
        )
        bound = self._in_costs(
            (found.bound - tolerances.BACKEND_BOUND * max(1.0, abs(found.bound))) / (unit or 1.0)
        )
        pattern = start if found.values is None else found.values > 0.5
        better = self.table.cost_of(pattern) < cost and audit(self.table, pattern).passed
        more = bool(self.table.insiders) or self.table.counts
        better = better and (not more or _holds(self.separator, pattern))
        return pattern if better else start, max(bound, self.start.bound)

    @cached_property
    def _unit(self) -> float:
        return unit_of(self.table.cost[self.table.free])

    def _in_costs(self, bound: float) -> float:
        """Convert a bound in units of cost to costs."""
        if not self._unit:
            return bound
        return (float(np.ceil(bound - 1e-9)) + 0.0) / round(1.0 / self._unit)  # never -0

    def _tell(self, cost: float, bound: float) -> bool:
        """Report progress and tell whether to stop."""
        if self.report is not None:
            tell_cost(self.report, self._in_costs(cost), self._in_costs(max(bound, 0.0)), self.who)
        return self.clock.expired

    def reported(self, pattern: Pattern) -> Pattern:
        """Return the pattern after a last report of its cost and bound."""
        if self.report is not None:
            tell_cost(self.report, pattern.cost, pattern.bound, self.who)
        return pattern


def cannot_be_protected(table: CellTable) -> str:
    """Describe what cannot be protected, whatever is suppressed."""
    everything: BoolArray = ~table.fixed
    found = audit(table, everything, wanted=table.primary)
    if found.passed and table.insiders:
        return kept_from_nobody(table)
    at = int(np.argmax(found.short))
    return short_of_its_level(table, int(found.cells[at]), float(found.short[at]))
