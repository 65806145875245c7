"""`audit_table`: what attackers find out of suppressed cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from linkrisk.datasets.tables.cells_and_relations import SAFE, SECONDARY, StoredTable
from linkrisk.datasets.tables.linking import link_publications
from linkrisk.formulations.tables.cell_table import BoolArray
from linkrisk.solver.api.keywords import checked_keywords
from linkrisk.solver.api.limits import check_limit
from linkrisk.solver.api.tables.attacked import attacked_system, opened_system
from linkrisk.solver.api.tables.insiders import Attackers, File, crowd_result
from linkrisk.solver.api.tables.result import TableResult, table_result, with_beside
from linkrisk.solver.api.tables.source import Frame, TableSource, check_adds_up, table_from
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.crew import crew_choice
from linkrisk.solver.run.interruption import Cancel, interruptible
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.tables.attackers.audit import audit
from linkrisk.solver.tables.attackers.certified import certify

_INTERVALS = 0.6
"""Of the time, for counts: in which the outsider is looked at."""


@checked_keywords
def audit_table(
    cells: TableSource,
    relations: Frame | None = None,
    *,
    insiders: File | None = None,
    contributors: File | None = None,
    coalitions: File | None = None,
    as_far_as_possible: bool = False,
    also: Sequence[TableSource] = (),
    exact: bool = False,
    workers: int | None = None,
    time_limit: float | None = None,
    cancel: Cancel | None = None,
    on_progress: Reporter | None = None,
) -> TableResult:
    """Find the interval of every suppressed cell, by whatever means it was chosen.

    Parameters
    ----------
    cells, relations : path, frame or StoredTable
        See `suppress_table`; the suppressed cells have the status ``u`` or ``m``.
    insiders, contributors, coalitions, as_far_as_possible
        See `suppress_table`: the audit is done by each of them, too.
    also : sequence of tables
        What else was published of the same cells, which are known by their codes: other tables, other
        releases, other classifications. An attacker has all of them: a cell is published if one of them
        publishes it, and all relations hold together.
    exact : bool
        Decide every level in rational numbers, for a certificate.
    workers : int, optional
        Processes that share the work; worth it from some thousand suppressed cells.
    time_limit : float, optional
        Seconds, after which intervals are left out. A cell counts as protected only where it was seen to be.
    cancel : Cancel, optional
        A token that ends the audit like the time limit.
    on_progress : callable, optional
        Called with every progress report.

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
    if time_limit is not None:
        check_limit(time_limit, "time limit")
    crew_choice(None, workers)
    stored, published = _joined(table_from(cells, relations), also)
    system = opened_system(stored, "unit")
    attackers = Attackers(insiders=insiders, contributors=contributors, coalitions=coalitions)
    attackers = attackers.read(len(stored))
    clock = Clock(time_limit, cancel=cancel)
    tables = attacked_system(system, attackers, as_far_as_possible, clock, (clock, False))
    suppressed = (tables[0].table.primary | (tables[0].stored.status == SECONDARY)) & ~published
    results = []
    for one in tables:
        with interruptible(clock):
            part = clock.part_of_left(_INTERVALS) if one.table.counts else clock
            found = audit(one.table, suppressed, part, report=on_progress, workers=workers)
            certified = certify(one.table, suppressed, clock, on_progress) if exact else None
            crowd = crowd_result(one.table, suppressed, one.who.beyond, clock, on_progress)
        whole = found.audited.all() and (crowd is None or (crowd.audit.audited and not crowd.audit.left))
        ended = (None, None if whole else clock.limit)
        more = {"seconds": round(clock.seconds, 3)}
        result = table_result(one, suppressed, (found, crowd), None, ended, more)
        results.append(replace(result, certified=certified))
    return with_beside(*results)


def _joined(stored: StoredTable, also: Sequence[TableSource]) -> tuple[StoredTable, BoolArray]:
    """A table with what else was published, and which cells everybody knows."""
    if not also:
        return stored, stored.status == SAFE
    joined, published = link_publications([stored, *(table_from(one) for one in also)])
    check_adds_up(joined)
    status = np.where(published & (joined.status == SECONDARY), SAFE, joined.status)
    return replace(joined, status=status), published
