"""Functions `suppress_table` and `audit_table`: least-cost suppression, and the intervals of attackers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from linkrisk.arrays import BoolArray
from linkrisk.datasets.options.option import part, recorded_of
from linkrisk.datasets.tables.linking import link_publications
from linkrisk.datasets.tables.stored_table import SAFE, SECONDARY, StoredTable
from linkrisk.formulations.tables.attacker_knowledge import AttackerKnowledge
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.units import in_units
from linkrisk.solver.backends.base import Backend
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.compiling.parts import TABLES, compile_once
from linkrisk.solver.options.table_protection import (
    AUTOMATIC,
    HEURISTIC,
    MODULAR,
    OPTIMAL,
    AuditOptions,
    SuppressOptions,
)
from linkrisk.solver.options.tables import OWN
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.clock import Clock, Status
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.pool import pool_choice
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.tables import steering
from linkrisk.solver.tables.attackers.audit import Audit, audit, audit_levels
from linkrisk.solver.tables.attackers.certified import Certified, certify
from linkrisk.solver.tables.operations.attacked_table import (
    AttackedTable,
    Attackers,
    InsiderResult,
    attacked_system,
    opened_system,
)
from linkrisk.solver.tables.operations.result import TableResult, table_result, with_beside
from linkrisk.solver.tables.operations.source import check_adds_up, other_table, read_asked_table
from linkrisk.solver.tables.suppression.cell_suppression import (
    cannot_be_protected,
    in_whole_numbers,
    suppress_cells,
)
from linkrisk.solver.tables.suppression.insider_cuts import InsiderCuts
from linkrisk.solver.tables.suppression.large_tables import LargePattern, suppress_large
from linkrisk.solver.tables.suppression.pattern import Pattern, common_pattern, tell_cost
from linkrisk.solver.tables.suppression.primal_heuristics import InsiderPatterns
from linkrisk.solver.tables.suppression.reachability import (
    found_by_the_audit,
    kept_from_nobody,
    short_of_its_level,
)


@taking(SuppressOptions)
def suppress_table(asked: SuppressOptions) -> TableResult:
    """Suppress cells of least cost so that no attacker can estimate a sensitive one too closely.

    Parameters
    ----------
    {options}

    Returns
    -------
    TableResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the table cannot be read, does not add up, or a cell cannot be protected.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=["p=10"])
    >>> safe = linkrisk.suppress_table(table)
    >>> safe.status
    <Status.OPTIMAL: 'optimal'>
    >>> "".join(safe.cells["status"])
    'ssssuusuu'
    """
    time_limit, method, report = asked.time_limit, asked.method, asked.on_progress
    solver = _solver(asked)
    system = opened_system(read_asked_table(asked), asked.cost)
    compile_once(TABLES, report)
    if method == AUTOMATIC:
        method = OPTIMAL if len(system[0][1]) <= steering.OPTIMAL_CELLS or solver is not None else MODULAR
    attackers = part(Attackers, asked).read(len(system[0][1]))
    clock = Clock(time_limit, cancel=asked.cancel)
    if time_limit is not None:
        clock.leave(steering.AUDIT_SHARE * time_limit)
    with interruptible(clock):
        tables = attacked_system(system, attackers, clock, refuse=True)
        search = partial(
            _in_units, partial(_optimal, solver, asked.seed) if method == OPTIMAL else partial(_large, method)
        )
        pattern = common_pattern(search, [one.table for one in tables], clock, report)
    limit = None if pattern.proven else clock.limit
    most = (
        steering.COUNT_INTERVAL_CELLS if any(table.counts for _, table in system) else steering.INTERVAL_CELLS
    )
    levels = method != OPTIMAL and int(pattern.suppressed.sum()) > most
    patience = _patience(clock)
    with interruptible(patience):
        audits = [_audits(one, pattern, patience, levels=levels) for one in tables]
    status = Status.OPTIMAL if pattern.proven else Status.INTERRUPTED if clock.stopped else Status.FEASIBLE
    ended = (status, limit)
    more = {
        "method": method,
        "cost_of": asked.cost,
        "backend": asked.backend,
        "seed": asked.seed,
        "seconds": round(clock.seconds, 3),
        "time_limit": time_limit,
        **_of_large(pattern, levels=levels),
        **recorded_of(asked),
    }
    results = [
        table_result(one, pattern.suppressed, found, pattern, ended, more)
        for one, found in zip(tables, audits, strict=True)
    ]
    if asked.exact:
        with interruptible(patience):
            results = [
                replace(found, certified=_certified(one.table, pattern, patience, report))
                for one, found in zip(tables, results, strict=True)
            ]
    return with_beside(*results)


def _solver(asked: SuppressOptions) -> Backend | None:
    """Return the backend, or None for our own search."""
    method, backend = asked.method, asked.backend
    if method in (MODULAR, HEURISTIC) and backend != OWN:
        raise UsageError(f"the method {method} has no backend: leave {backend!r} out, or choose optimal")
    return None if backend == OWN else get_backend(backend)


def _certified(table: CellTable, pattern: Pattern, patience: Clock, report: Reporter | None) -> Certified:
    """Decide levels in rational arithmetic; those of counts within a time limit."""
    return certify(table, pattern.suppressed, patience if table.counts else None, report)


def _audits(
    one: AttackedTable, pattern: Pattern, patience: Clock, *, levels: bool
) -> tuple[Audit, InsiderResult | None]:
    """Audit a pattern against the outsider, and insiders."""
    table, suppressed = one.table, pattern.suppressed
    checked = (_levels if levels else _audited)(table, suppressed, patience)
    knowledge = one.crowd_result(suppressed, patience)
    if bool((suppressed == ~table.fixed).all()):  # the fallback pattern, not audited before
        if not table.counts and (checked.short > 0).any():
            at = int(np.argmax(checked.short))
            raise UsageError(short_of_its_level(table, int(checked.cells[at]), float(checked.short[at])))
        if knowledge is not None and (knowledge.audit.short > 0).any():
            raise UsageError(found_by_the_audit(table, knowledge.audit))
    short = (checked.short > 0).any() or (knowledge is not None and (knowledge.audit.short > 0).any())
    if not table.counts and short:
        raise AssertionError("a pattern that was found does not protect when it is audited")
    return checked, knowledge


_Search = Callable[[CellTable, Clock, Reporter | None], Pattern]


def _optimal(
    solver: Backend | None, seed: int, table: CellTable, clock: Clock, report: Reporter | None
) -> Pattern:
    return suppress_cells(table, solver, clock, report, seed)


def _large(method: str, table: CellTable, clock: Clock, report: Reporter | None) -> Pattern:
    if table.counts:
        found = suppress_large(table, method, clock.part_of_left(steering.LARGE_COUNTS_SHARE), report)
        return in_whole_numbers(table, found, clock)
    return from_insiders_too(table, suppress_large(table, method, clock, report), clock, report)


def from_insiders_too(
    table: CellTable, pattern: LargePattern, clock: Clock, report: Reporter | None = None
) -> LargePattern:
    """Extend a pattern that protects against the outsider to insiders; its bound stays valid.

    After the clock has expired, redundant additions stay.
    """
    if not table.insiders:
        return pattern
    own = InsiderPatterns(InsiderCuts(AttackerKnowledge.of(table), clock)).protecting(
        pattern.suppressed, clock
    )
    if own is None:
        raise UsageError(kept_from_nobody(table))
    cost = float(table.cost[own & table.free].sum())
    if report is not None:
        tell_cost(report, cost, pattern.bound)
    return replace(pattern, suppressed=own, cost=cost)


def _in_units(search: _Search, table: CellTable, clock: Clock, report: Reporter | None) -> Pattern:
    """Search in scaled units for small values; errors are given in values."""
    seen, unit = in_units(table)
    try:
        return search(seen, clock, report)
    except UsageError:
        if unit == 1.0:
            raise
    raise UsageError(cannot_be_protected(table))


def _patience(clock: Clock) -> Clock:
    """Return the time for the audit: its share of the limit, or little more after Ctrl-C."""
    if clock.stopped or clock.time_limit is None:
        return Clock(steering.AUDIT_SECONDS_AFTER_STOP if clock.stopped else None)
    return Clock(
        max(
            steering.LEAST_AUDIT_SECONDS,
            clock.time_limit * (1.0 + steering.AUDIT_BEYOND_LIMIT) - clock.seconds,
        )
    )


def _audited(table: CellTable, suppressed: BoolArray, patience: Clock) -> Audit:
    """Audit all levels, and intervals as time allows; in large patterns levels come first."""
    many = suppressed.sum() > steering.LEVELS_FIRST_CELLS
    first = _levels(table, suppressed, patience) if many else None
    found = audit(table, suppressed, patience.part_of_left(steering.INTERVAL_SHARE))
    if not found.undecided.any():
        return found
    levels = first or _levels(table, suppressed, patience)
    return replace(found, short=levels.short, undecided=levels.undecided, exact=found.exact | levels.exact)


def _levels(table: CellTable, suppressed: BoolArray, patience: Clock) -> Audit:
    """Audit all levels within the time limit; undecided levels count as unmet."""
    return audit_levels(
        table, suppressed, patience.part_of_left(steering.INTERVAL_SHARE if table.insiders else 1.0)
    )


def _of_large(pattern: Pattern, *, levels: bool) -> dict[str, object]:
    """Return the JSON of a table protected by a heuristic."""
    if not isinstance(pattern, LargePattern):
        return {}
    return {
        "subtables": pattern.subtables,
        "open_before_repair": pattern.open,
        "added_by_repair": pattern.added,
        "removed_by_thinning": pattern.removed,
        "intervals": not levels,
    }


@taking(AuditOptions)
def audit_table(asked: AuditOptions) -> TableResult:
    """Find the interval of every suppressed cell of a given pattern.

    Parameters
    ----------
    {options}

    Returns
    -------
    TableResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the table cannot be read, or does not add up.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=["p=10"])
    >>> audit = linkrisk.audit_table(linkrisk.suppress_table(table).table)
    >>> audit.cells[["value", "low", "high"]].dropna().iloc[0].tolist()
    [365.0, 365.0, 365.0]
    """
    report = asked.on_progress
    pool_choice(None, asked.workers)
    stored = read_asked_table(asked)
    stored, published = _joined(stored, [other_table(asked, one) for one in asked.also])
    system = opened_system(stored, "unit")
    attackers = part(Attackers, asked).read(len(stored))
    clock = Clock(asked.time_limit, cancel=asked.cancel)
    tables = attacked_system(system, attackers, clock, refuse=False)
    suppressed = (tables[0].table.primary | (tables[0].stored.status == SECONDARY)) & ~published
    results = []
    for one in tables:
        with interruptible(clock):
            share = clock.part_of_left(steering.OUTSIDER_AUDIT_SHARE) if one.table.counts else clock
            found = audit(one.table, suppressed, share, report=report, workers=asked.workers)
            certified = certify(one.table, suppressed, clock, report) if asked.exact else None
            knowledge = one.crowd_result(suppressed, clock, report)
        whole = found.audited.all() and (
            knowledge is None or (knowledge.audit.audited and not knowledge.audit.left)
        )
        ended = (None, None if whole else clock.limit)
        more = {"seconds": round(clock.seconds, 3), **recorded_of(asked)}
        result = table_result(one, suppressed, (found, knowledge), None, ended, more)
        results.append(replace(result, certified=certified))
    return with_beside(*results)


def _joined(stored: StoredTable, also: Sequence[StoredTable]) -> tuple[StoredTable, BoolArray]:
    """Join a table with other publications, and mark the cells that they publish."""
    if not also:
        return stored, stored.status == SAFE
    joined, published = link_publications([stored, *also])
    check_adds_up(joined)
    status = np.where(published & (joined.status == SECONDARY), SAFE, joined.status)
    return replace(joined, status=status), published
