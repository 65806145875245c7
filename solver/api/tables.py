"""`protect_table` and `audit_table`: cells suppressed at least cost, and what attackers find out of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.record import version
from linkrisk.datasets.microdata.writing import write_table
from linkrisk.datasets.tables.cells_and_relations import (
    FIXED,
    SECONDARY,
    SENSITIVE,
    StoredTable,
    published,
    read_cells_and_relations,
)
from linkrisk.formulations.tables.cell_table import BoolArray, CellTable, FloatArray
from linkrisk.solver.api.keywords import checked_keywords
from linkrisk.solver.api.limits import check_limit
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel, interruptible
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.run.results import dump_json
from linkrisk.solver.run.status import Limit, Status
from linkrisk.solver.tables.audit import Audit, audit
from linkrisk.solver.tables.cell_suppression import Pattern, suppress_cells

COSTS = ("value", "unit", "log", "given")
DEFAULT_TIME_LIMIT = 60.0
OWN = "exact"


@dataclass(frozen=True, eq=False)
class TableResult:
    """A table with suppressed cells, audited.

    Attributes
    ----------
    cells : DataFrame
        All columns of the input, with `status`, and the interval `low` to `high` that an attacker finds.
    suppressed : ndarray of bool, shape (n,)
    audit : Audit
    pattern : Pattern or None
        Its cost and bound, where it was searched for.
    status : Status or None
        ``optimal`` where no pattern that protects costs less.
    limit : Limit or None
        What ended the search.
    details : dict
        Everything else of the JSON.
    """

    cells: pd.DataFrame = field(repr=False)
    suppressed: BoolArray = field(repr=False)
    audit: Audit = field(repr=False)
    pattern: Pattern | None
    status: Status | None
    limit: Limit | None
    details: dict[str, Any] = field(repr=False)

    @property
    def protected(self) -> bool:
        """Whether the audit found every sensitive cell protected."""
        return self.audit.passed

    def to_frame(self) -> pd.DataFrame:
        """The cells with their intervals: not to be published."""
        return self.cells

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `tables --json` as a dictionary."""
        short = self.audit.short > 0
        found = {
            "cells": len(self.cells),
            "suppressed": int(self.suppressed.sum()),
            "protected": self.protected,
            "under_protected": self.audit.cells[short].tolist(),
            "short_by": self.audit.short[short].tolist(),
            "known_exactly": self.audit.cells[self.audit.exact].tolist(),
            "cost": None if self.pattern is None else self.pattern.cost,
            "bound": None if self.pattern is None else self.pattern.bound,
            "status": None if self.status is None else self.status.value,
            "limit": None if self.limit is None else self.limit.value,
            "pattern": np.flatnonzero(self.suppressed).tolist(),
        }
        return {**found, **self.details}

    def to_json(self) -> str:
        """The JSON of `tables --json`."""
        return dump_json(self.to_dict())

    def write(self, output: str | Path) -> None:
        """Write what may be published: no values of suppressed cells, no levels, bounds, costs or intervals.

        Raises
        ------
        UsageError
            If a sensitive cell is not protected.
        DataError
            If it cannot be written.
        """
        if not self.protected:
            raise UsageError(
                "the table is not protected: a sensitive cell can be found out; nothing was written"
            )
        write_table(published(self.cells.drop(columns=["low", "high"]), self.suppressed.tolist()), output)

    def __repr__(self) -> str:
        state = "protected" if self.protected else "not protected"
        return f"TableResult({len(self.cells)} cells, {int(self.suppressed.sum())} suppressed, {state})"


@checked_keywords
def protect_table(
    cells: str | Path,
    relations: str | Path,
    *,
    cost: str = "value",
    backend: str = OWN,
    seed: int = 0,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    cancel: Cancel | None = None,
    on_progress: Reporter | None = None,
) -> TableResult:
    """Suppress cells of least cost so that no attacker can compute a sensitive one too closely.

    Parameters
    ----------
    cells : path
        A file with a line for each cell (`datasets.tables.cells_and_relations`): `value`; `status`, ``u``
        where it is sensitive, ``z`` where it is always published; `lower_protection`, `upper_protection` and
        `sliding_protection` of sensitive cells; `lower_bound` and `upper_bound`, what everybody knows, by
        default 0 (or minus the largest value, where one is negative) and the largest value; `cost`.
    relations : path
        A file with a line for each term of each relation: `relation`, `cell`, `coefficient`.
    cost : str
        Of a cell that is suppressed with the sensitive ones: its ``value`` (at least 1), ``unit`` each, the
        ``log`` of 1 + value, or as ``given``.
    backend : str
        What solves the program in whole numbers: ``exact``, our own branch and cut, or a backend.
    seed : int
        Of the backend.
    time_limit : float, optional
        Seconds, after which the best pattern so far is returned with a bound; it protects at any time.
    cancel : Cancel, optional
        A token that ends the search like the time limit.
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
        If the table cannot be read, does not add up, or a cell cannot be protected.

    Examples
    --------
    >>> from linkrisk import protect_table
    >>> protect_table("cells.csv", "relations.csv").write("safe.csv")  # doctest: +SKIP
    """
    if time_limit is not None:
        check_limit(time_limit, "time limit")
    solver = None if backend == OWN else get_backend(backend)
    stored = read_cells_and_relations(cells, relations)
    table = _cell_table(stored, cost)
    clock = Clock(time_limit, cancel=cancel)
    with interruptible(clock):
        pattern = suppress_cells(table, solver, clock, on_progress, seed)
    checked = audit(table, pattern.suppressed)
    if not checked.passed:
        raise AssertionError("a pattern that was found does not protect when it is audited")
    status = Status.OPTIMAL if pattern.proven else Status.INTERRUPTED if clock.stopped else Status.FEASIBLE
    ended = None if pattern.proven else Limit.USER if clock.stopped else Limit.TIME
    more = {"cost_of": cost, "backend": backend, "seed": seed, "seconds": round(clock.seconds, 3)}
    return _result(stored, table, pattern.suppressed, checked, pattern, (status, ended), more)


@checked_keywords
def audit_table(cells: str | Path, relations: str | Path) -> TableResult:
    """Find the interval of every suppressed cell, by whatever means it was chosen.

    Parameters
    ----------
    cells, relations : path
        See `protect_table`; the suppressed cells have the status ``u`` or ``m``.

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
    stored = read_cells_and_relations(cells, relations)
    table = _cell_table(stored, "unit")
    suppressed = table.primary | (stored.status == SECONDARY)
    return _result(stored, table, suppressed, audit(table, suppressed), None, (None, None), {})


def _result(
    stored: StoredTable,
    table: CellTable,
    suppressed: BoolArray,
    checked: Audit,
    pattern: Pattern | None,
    ended: tuple[Status | None, Limit | None],
    more: dict[str, Any],
) -> TableResult:
    low, high = table.value.copy(), table.value.copy()
    low[checked.cells], high[checked.cells] = checked.low, checked.high
    words = np.where(
        suppressed & ~table.primary, SECONDARY, np.where(table.primary, SENSITIVE, stored.status)
    )
    frame = stored.cells.assign(status=words, low=low, high=high)
    details = {
        "linkrisk": version(),
        "name": stored.name,
        "relations": int(table.relations.shape[0]),
        "sensitive": int(table.primary.sum()),
        **more,
    }
    return TableResult(frame, suppressed, checked, pattern, *ended, details)


def _cell_table(stored: StoredTable, cost: str) -> CellTable:
    """The table of two files.

    Raises
    ------
    UsageError, DataError, FormulationError
        If it is none.
    """
    value, numbers, name = stored.numbers["value"], stored.numbers, stored.name
    primary = stored.status == SENSITIVE
    levels = [
        np.where(primary, np.nan_to_num(numbers.get(f"{kind}_protection", np.zeros(value.size))), 0.0)
        for kind in ("lower", "upper", "sliding")
    ]
    bare = primary & ~np.any([level != 0 for level in levels], axis=0)
    if bare.any():
        row = int(np.argmax(bare))
        raise DataError(
            f"{name}, row {row + 1}: a sensitive cell has no protection level; give it one above 0"
        )
    shape = (int(stored.relation.max(initial=-1)) + 1, value.size)
    largest = float(np.abs(value).max())
    least = 0.0 if (value >= 0).all() else -largest
    return CellTable(
        value=value,
        relations=sparse.csr_array((stored.coefficient, (stored.relation, stored.cell)), shape=shape),
        lower=_or(numbers.get("lower_bound"), np.full(value.size, least)),
        upper=_or(numbers.get("upper_bound"), np.full(value.size, largest)),
        primary=primary,
        fixed=stored.status == FIXED,
        cost=_costs(stored, cost),
        lower_level=levels[0],
        upper_level=levels[1],
        sliding_level=levels[2],
    )


def _or(given: FloatArray | None, usual: FloatArray) -> FloatArray:
    return usual if given is None else np.where(np.isnan(given), usual, given)


def _costs(stored: StoredTable, cost: str) -> FloatArray:
    value = np.abs(stored.numbers["value"])
    if cost not in COSTS:
        raise UsageError(f"unknown cost {cost!r}: choose {', '.join(COSTS)}")
    if cost == "given":
        if "cost" not in stored.numbers:
            raise UsageError(f"the cost 'given' needs a column 'cost' in {stored.name}")
        return _or(stored.numbers["cost"], np.ones(value.size))
    ones = np.ones(value.size)
    return {"value": np.maximum(value, 1.0), "unit": ones, "log": np.log1p(np.maximum(value, 1.0))}[cost]
