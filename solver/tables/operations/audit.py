"""`audit_table`: what attackers find out of suppressed cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from linkrisk.arrays import BoolArray
from linkrisk.datasets.options.option import part, recorded_of
from linkrisk.datasets.tables.cells_and_relations import SAFE, SECONDARY, StoredTable
from linkrisk.datasets.tables.linking import link_publications
from linkrisk.solver.inputs.limits import check_limit
from linkrisk.solver.options.operations.tables.audit import AuditOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.crew import crew_choice
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.tables.attackers.audit import audit
from linkrisk.solver.tables.attackers.certified import certify
from linkrisk.solver.tables.operations.attacked import attacked_system, opened_system
from linkrisk.solver.tables.operations.insiders import Attackers, crowd_result
from linkrisk.solver.tables.operations.result import TableResult, table_result, with_beside
from linkrisk.solver.tables.operations.source import asked_table, check_adds_up, other_table

_INTERVALS = 0.6
"""Of the time, for counts: in which the outsider is looked at."""


@taking(AuditOptions)
def audit_table(asked: AuditOptions) -> TableResult:
    """Find the interval of every suppressed cell, by whatever means it was chosen.

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
    """
    report = asked.on_progress
    check_limit(asked.time_limit, "time limit")
    crew_choice(None, asked.workers)
    stored = asked_table(asked)
    stored, published = _joined(stored, [other_table(asked, one) for one in asked.also])
    system = opened_system(stored, "unit")
    attackers = part(Attackers, asked).read(len(stored))
    clock = Clock(asked.time_limit, cancel=asked.cancel)
    tables = attacked_system(system, attackers, clock, (clock, False))
    suppressed = (tables[0].table.primary | (tables[0].stored.status == SECONDARY)) & ~published
    results = []
    for one in tables:
        with interruptible(clock):
            share = clock.part_of_left(_INTERVALS) if one.table.counts else clock
            found = audit(one.table, suppressed, share, report=report, workers=asked.workers)
            certified = certify(one.table, suppressed, clock, report) if asked.exact else None
            crowd = crowd_result(one.table, suppressed, one.who.beyond, clock, report)
        whole = found.audited.all() and (crowd is None or (crowd.audit.audited and not crowd.audit.left))
        ended = (None, None if whole else clock.limit)
        more = {"seconds": round(clock.seconds, 3), **recorded_of(asked)}
        result = table_result(one, suppressed, (found, crowd), None, ended, more)
        results.append(replace(result, certified=certified))
    return with_beside(*results)


def _joined(stored: StoredTable, also: Sequence[StoredTable]) -> tuple[StoredTable, BoolArray]:
    """A table with what else was published, and which cells everybody knows."""
    if not also:
        return stored, stored.status == SAFE
    joined, published = link_publications([stored, *also])
    check_adds_up(joined)
    status = np.where(published & (joined.status == SECONDARY), SAFE, joined.status)
    return replace(joined, status=status), published
