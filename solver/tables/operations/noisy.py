"""What tables with noise by cell keys have in common, of counts or of sums."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.microdata.writing import write_table
from linkrisk.solver.options.types import TableLike
from linkrisk.solver.run.result import Reported


@dataclass(frozen=True, eq=False, repr=False)
class NoisyTable(Reported):
    """A table whose cells have noise that is the same wherever the same records are in a cell.

    Attributes
    ----------
    cells : DataFrame
        A line for each cell: its codes, `value`, `cell_key`, `noise`, `perturbed`, and what else a kind has.
    record_keys : ndarray of float64, shape (r,)
        Of the records, in their order. Whoever has them can take the noise out again.
    design : DataFrame
        The perturbation tables, with the columns of package ptable: `i` (value), `j` (perturbed value), `p`,
        `v` (noise), and the interval of cell keys `p_int_lb` to `p_int_ub`.
    not_adding_up : int
        How many relations do not add up any more.
    details : dict
        Everything else of the JSON.
    """

    house: ClassVar[tuple[str, ...]]
    """Columns that are never published."""

    cells: pd.DataFrame
    record_keys: FloatArray
    design: pd.DataFrame
    not_adding_up: int
    details: dict[str, Any]

    @abstractmethod
    def _changes(self) -> dict[str, Any]:
        """Distances between values before and after."""

    @property
    def changed(self) -> int:
        """How many cells have noise other than 0."""
        return int(np.count_nonzero(self.cells["value"] != self.cells["perturbed"]))

    @property
    def published_column(self) -> str:
        """The column whose values are published."""
        return "perturbed"

    def to_frame(self) -> pd.DataFrame:
        """The cells with keys and noise: not to be published."""
        return self.cells

    def content(self) -> dict[str, Any]:
        """The JSON of the command as a dictionary."""
        return {
            "cells": len(self.cells),
            "changed": self.changed,
            "not_adding_up": self.not_adding_up,
            "changes": self._changes(),
            **self.details,
        }

    def write(self, output: str | Path) -> None:
        """Write what may be published: codes and perturbed values.

        Raises
        ------
        DataError
            If it cannot be written.
        """
        kept = self.cells.drop(columns=list(self.house), errors="ignore")
        write_table(kept.assign(value=self.cells[self.published_column]), output)

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({len(self.cells)} cells, {self.not_adding_up} relations do not add up)"


def name_of(data: TableLike) -> str:
    """What to call microdata in a report."""
    return str(data) if isinstance(data, str | Path) else "microdata"
