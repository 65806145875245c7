"""What tables whose values were changed have in common, by rounding or adjustment."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.writing import write_all
from linkrisk.datasets.tables.cells_and_relations import StoredTable
from linkrisk.datasets.tables.writing import published_files
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.result import Reported
from linkrisk.solver.run.status import Limit, Status


@dataclass(frozen=True, eq=False)
class ChangedTable(Reported):
    """A table whose values were changed at the least cost, counted again.

    Attributes
    ----------
    cells : DataFrame
        All columns of the input, with the new values in the column called `changed_column`.
    cost : float
        The weighted sum of all changes, or of their squares.
    bound : float
        No table of this kind costs less.
    status : Status
        ``optimal`` where no other one costs less.
    limit : Limit or None
        What ended the search.
    details : dict
        Everything else of the JSON.
    table : StoredTable
        With the values before.
    """

    changed_column: ClassVar[str]

    cells: pd.DataFrame = field(repr=False)
    cost: float
    bound: float
    status: Status
    limit: Limit | None
    details: dict[str, Any] = field(repr=False)
    table: StoredTable = field(repr=False)

    @property
    def largest_change(self) -> float:
        """Of a cell."""
        return float(np.abs(self.cells[self.changed_column] - self.cells["value"]).max())

    @property
    def changed(self) -> int:
        """How many cells were changed."""
        return int((self.cells[self.changed_column] != self.cells["value"]).sum())

    def to_frame(self) -> pd.DataFrame:
        """The cells with their values before and after: not to be published."""
        return self.cells

    def content(self) -> dict[str, Any]:
        """The JSON of the command as a dictionary."""
        found = {
            "cells": len(self.cells),
            "changed": self.changed,
            "largest_change": self.largest_change,
            "cost": self.cost,
            "bound": self.bound,
            "status": self.status.value,
            "limit": None if self.limit is None else self.limit.value,
            self.changed_column: self.cells[self.changed_column].tolist(),
        }
        return {**found, **self.details}

    def write(self, output: str | Path) -> None:
        """Write what may be published: new values in place of the values, nothing about protection.

        Raises
        ------
        DataError
            If it cannot be written.
        """
        new = self.cells[self.changed_column]
        numbers = {"value": new.to_numpy(dtype=np.float64)}
        made = replace(self.table, cells=self.cells.assign(value=new), numbers=numbers)
        nothing = np.zeros(len(made), dtype=np.bool_)
        write_all(published_files(made, nothing, output, status=False))


def ended(proven: bool, clock: Clock) -> tuple[Status, Limit | None]:
    """How a search ended that has an answer."""
    if proven:
        return Status.OPTIMAL, None
    return (Status.INTERRUPTED, Limit.USER) if clock.stopped else (Status.FEASIBLE, clock.limit)
