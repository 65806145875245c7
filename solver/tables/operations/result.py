"""Result of suppression: an audited table with its files and JSON."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray
from linkrisk.datasets.masking.release import version
from linkrisk.datasets.microdata.writing import for_the_house, write_all, write_whole
from linkrisk.datasets.tables.sdmx_csv import in_dataflow
from linkrisk.datasets.tables.stored_table import SECONDARY, SENSITIVE, StoredTable
from linkrisk.datasets.tables.writing import internal_files, published_files
from linkrisk.errors import called
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.units import Grid
from linkrisk.solver.certificates.writing.table import certificate_bytes, table_certificate
from linkrisk.solver.run.clock import Limit, Status
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.result import Reported
from linkrisk.solver.tables import tolerances
from linkrisk.solver.tables.attackers.audit import Audit
from linkrisk.solver.tables.attackers.certified import Certified
from linkrisk.solver.tables.operations.attacked_table import AttackedTable, InsiderResult
from linkrisk.solver.tables.operations.counts import Counting
from linkrisk.solver.tables.operations.figures import ruled, suppression_figures
from linkrisk.solver.tables.suppression.pattern import Pattern


@dataclass(frozen=True, eq=False, kw_only=True)
class ProtectedTable(Reported):
    """Protected table: base class of results.

    Attributes
    ----------
    cells : DataFrame
        All columns of the input, and what became of the values.
    details : dict
        Everything else of the JSON.
    """

    cells: pd.DataFrame = field(repr=False)
    details: dict[str, Any] = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return the cells with all internal columns: not to be published."""
        return self.cells


@dataclass(frozen=True, eq=False, kw_only=True)
class TableResult(ProtectedTable):
    """Table with suppressed cells, audited.

    Attributes
    ----------
    cells : DataFrame
        All columns of the input, with `status`, and the interval `low` to `high` that an attacker finds;
        empty where the audit was ended before.
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
    table : StoredTable
        The cells with the relations between them.
    insiders : InsiderResult or None
        What they find out.
    certified : Certified or None
        What was decided in rational numbers, where that was asked for.
    counting : Counting or None
        Knowledge of attackers, because the values are counts.
    beside : TableResult or None
        The same of the numbers of respondents that are published beside the values, in the same cells.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=["p=10"])
    >>> linkrisk.suppress_table(table).to_dict()["status"]
    'optimal'
    """

    kind: ClassVar[str] = "suppressed-table"

    suppressed: BoolArray = field(repr=False)
    audit: Audit = field(repr=False)
    pattern: Pattern | None
    status: Status | None
    limit: Limit | None
    table: StoredTable = field(repr=False)
    insiders: InsiderResult | None = field(repr=False, default=None)
    certified: Certified | None = field(repr=False, default=None)
    counting: Counting | None = field(repr=False, default=None)
    beside: TableResult | None = field(repr=False, default=None)

    @property
    def protected(self) -> bool:
        """Tell whether every sensitive cell is protected against all attackers.

        Against outsiders by rational arithmetic, if it was requested.
        """
        return (
            self.audit.passed
            and (self.insiders is None or self.insiders.audit.passed)
            and (self.certified is None or self.certified.protected)
            and (self.beside is None or self.beside.protected)
        )

    @property
    def unprotected(self) -> int:
        """Number of sensitive cells not protected against some attacker."""
        return len(self._unprotected() | (set() if self.beside is None else self.beside._unprotected()))

    def _unprotected(self) -> set[int]:
        found = set(self.audit.cells[(self.audit.short > 0) | self.audit.undecided].tolist())
        if self.insiders is not None:
            found |= set(self.insiders.audit.cells[self.insiders.audit.short > 0].tolist())
        if self.certified is not None:
            found |= {one.cell for one in (*self.certified.missed, *self.certified.undecided)}
        return found

    def content(self) -> dict[str, Any]:
        """The JSON of `tables --json` as a dictionary."""
        short = self.audit.short > 0
        found = {
            "cells": len(self.cells),
            "suppressed": int(self.suppressed.sum()),
            "protected": self.protected,
            "under_protected": self.audit.cells[short].tolist(),
            "short_by": self.audit.short[short].tolist(),
            "known_exactly": self.audit.cells[self.audit.exact].tolist(),
            "not_audited": self.audit.cells[~self.audit.audited].tolist(),
            "undecided": self.audit.cells[self.audit.undecided].tolist(),
            "cost": None if self.pattern is None else self.pattern.cost,
            "bound": None if self.pattern is None else self.pattern.bound,
            "status": None if self.status is None else self.status.value,
            "limit": None if self.limit is None else self.limit.value,
            "pattern": np.flatnonzero(self.suppressed).tolist(),
        }
        if self.certified is not None:
            found["exact"] = {
                "protected": self.certified.protected,
                "missed": sorted({one.cell for one in self.certified.missed}),
                "undecided": sorted({one.cell for one in self.certified.undecided}),
                "levels_missed": len(self.certified.missed),
                "levels_undecided": len(self.certified.undecided),
                "witnesses": len(self.certified.witnesses),
                "whole": self.certified.whole,
            }
        known = {} if self.insiders is None else {"insiders": self.insiders.to_dict()}
        beside = {} if self.beside is None else {"respondents": self.beside.content()}
        return {**found, **known, **self.details, **beside}

    def write_certificate(self, path: str | Path) -> None:
        """Write the certificate of the levels in rational arithmetic, for `verify`; ``.gz`` is compressed."""
        if self.certified is None:
            raise UsageError(f"there is no certificate: ask for it with {called('exact', True)}")
        beside = None if self.beside is None else self.beside.certified
        certificate = table_certificate(self.suppressed, self.certified, beside)
        write_whole(path, certificate_bytes(certificate, path))

    def write(self, output: str | Path, *, dataflow: str | None = None) -> None:
        """Write the published table: no values of suppressed cells, no bounds, levels or intervals.

        A workbook (``.xlsx``) and PC-Axis (``.px``) have the table across and down, where cells have codes;
        ``.tab`` is a list of ARGUS, ``.sdmx.csv`` one of SDMX, which `dataflow` names; other formats have a
        line for each cell. UsageError where a sensitive cell is not protected.
        """
        if not self.protected:
            raise UsageError(
                "the table is not protected: a sensitive cell can be found out; nothing was written"
            )
        write_all(published_files(in_dataflow(self.table, dataflow), self.suppressed, output))

    def write_internal(self, path: str | Path, *, dataflow: str | None = None) -> None:
        """Write all internal columns of the cells; only the owner can read the file.

        JJ files (``.jj``), cells of ARGUS (``.tab``), SBS files (``.sbs``) and values with their
        confidentiality in SDMX (``.sdmx.csv``), or a line for each cell with the interval that an attacker
        finds.
        """
        with for_the_house():
            write_all(internal_files(in_dataflow(self.table, dataflow), path))

    def __repr__(self) -> str:
        state = "protected" if self.protected else "not protected"
        return f"TableResult({len(self.cells)} cells, {int(self.suppressed.sum())} suppressed, {state})"


def _on_grid(table: CellTable, found: Audit) -> dict[str, Any]:
    """Find the decimals of all values, and sensitive cells without another value on this grid.

    Intervals are continuous: attackers who know the decimals know these cells, although their levels are met.
    """
    grid = Grid.of(table.value)
    if grid is None:
        return {"step": None, "known": []}
    grid = Grid(1, grid.decimals)  # a coarser step may be chance: suppressed values are not public
    low, high = grid.steps(found.low), grid.steps(found.high)
    near = tolerances.INTERVAL_END * np.maximum(1.0, np.abs(grid.steps(table.value[found.cells])))
    alone = np.floor(high + near) - np.ceil(low - near) < 1.0
    known = found.audited & alone & ~found.exact & table.primary[found.cells]
    return {"step": grid.step, "known": found.cells[known].tolist()}


def table_result(
    attacked: AttackedTable,
    suppressed: BoolArray,
    found: tuple[Audit, InsiderResult | None],
    pattern: Pattern | None,
    ended: tuple[Status | None, Limit | None],
    more: dict[str, Any],
) -> TableResult:
    """Build the result of a pattern and its audits by the outsider and insiders."""
    stored, table, counting = attacked.stored, attacked.table, attacked.counting
    checked, insiders = found
    low, high = table.value.copy(), table.value.copy()
    low[checked.cells] = np.where(checked.audited, checked.low, np.nan)
    high[checked.cells] = np.where(checked.audited, checked.high, np.nan)
    words = np.where(
        suppressed & ~table.primary, SECONDARY, np.where(table.primary, SENSITIVE, stored.status)
    )
    frame = stored.cells.assign(status=words, low=low, high=high)
    details = {
        "protection": "suppression",
        "linkrisk": version(),
        "name": stored.name,
        "relations": int(table.relations.shape[0]),
        "sensitive": int(table.primary.sum()),
        "on_grid": _on_grid(table, checked),
        "table": suppression_figures(stored, words, table, suppressed, checked),
        **({} if counting is None else counting.to_dict()),
        "from": attacked.to_dict(),
        **ruled(stored),
        "respondents_known": "respondents" in stored.cells.columns and not table.counts,
        **more,
    }
    frame = frame if insiders is None else insiders.columns(frame)
    final = replace(stored, cells=frame, status=words)
    return TableResult(
        cells=frame,
        suppressed=suppressed,
        audit=checked,
        pattern=pattern,
        status=ended[0],
        limit=ended[1],
        details=details,
        table=final,
        insiders=insiders,
        counting=counting,
    )


def with_beside(result: TableResult, beside: TableResult | None = None) -> TableResult:
    """Add the result of the respondent counts published beside the values."""
    if beside is None:
        return result
    frame = result.cells.assign(
        respondents_low=beside.cells["low"].to_numpy(), respondents_high=beside.cells["high"].to_numpy()
    )
    return replace(result, cells=frame, table=replace(result.table, cells=frame), beside=beside)
