"""What was said of single cells by hand comes before what rules say."""

from __future__ import annotations

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.tables.cells_and_relations import SENSITIVE
from linkrisk.datasets.tables.manual_statuses import LEVELS, ManualStatuses
from linkrisk.solver.run.errors import UsageError


def by_hand(cells: pd.DataFrame, given: ManualStatuses, share: float, name: str) -> pd.DataFrame:
    """The cells, with the statuses, levels and costs that were given.

    Parameters
    ----------
    cells : DataFrame
        With `value`, `status` and levels.
    given : ManualStatuses
    share : float
        Level of cells that become sensitive, in % of the value, where none is given.
    name : str
        Of the file, for messages.

    Raises
    ------
    UsageError, DataError
        If the share is none, or a sensitive cell has no level.
    """
    if not 0 < share <= 100:
        raise UsageError(f"a manual range of {share:g} % is none; it is above 0, at most 100")
    status = cells["status"].to_numpy(dtype=np.str_).copy()
    status[given.cell] = np.where(given.status == "", status[given.cell], given.status)
    sensitive = status == SENSITIVE
    value = np.abs(cells["value"].to_numpy(dtype=np.float64))
    levels = {
        column: np.where(sensitive, _with(cells, column, given, np.zeros(value.size)), 0.0)
        for column in LEVELS
        if column in cells.columns or column in given.numbers
    }
    bare = sensitive & ~np.any([level > 0 for level in levels.values()], axis=0)
    for column in ("lower_protection", "upper_protection"):
        levels[column] = np.where(bare, share / 100.0 * value, levels[column])
    nothing = (bare & (value == 0))[given.cell]
    if nothing.any():
        row = int(np.argmax(nothing)) + 1
        raise DataError(f"{name}, row {row}: the cell is 0, so that no share of it is a level; give it one")
    if "cost" in given.numbers:
        levels["cost"] = _with(cells, "cost", given, np.maximum(value, 1.0))
    return with_columns(cells, {"status": status, **levels})


def _with(cells: pd.DataFrame, column: str, given: ManualStatuses, usual: FloatArray) -> FloatArray:
    """A column, with the numbers that were given; `usual` where there was none."""
    found = cells[column].to_numpy(dtype=np.float64).copy() if column in cells.columns else usual.copy()
    if column in given.numbers:
        own = given.numbers[column]
        said = ~np.isnan(own)
        found[given.cell[said]] = own[said]
    return found
