"""Sensitive cells: primary rules written as text, and statuses set by hand, which override them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.tables.reading import LEVELS, ManualStatuses
from linkrisk.datasets.tables.stored_table import SENSITIVE, refuse_rows
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.primary_rules import (
    DominanceRule,
    FrequencyRule,
    PPercentRule,
    PrimaryRule,
    RequestRule,
    ZeroRule,
)
from linkrisk.formulations.tables.units import Grid
from linkrisk.solver.run.errors import UsageError

_LEVEL_DECIMALS = 6
"""Fewest decimals of levels: rounded up to integers they would exceed their rules."""


def primary_rule(text: str) -> PrimaryRule:
    """Parse ``p=10,q=50,m=2``, ``nk=2,75``, ``frequency=3,20``, ``zero=5`` or ``request=70,50,3,20``."""
    name, _, rest = text.replace(" ", "").partition("=")
    try:
        if name == "p":
            given = dict(one.split("=") for one in f"p={rest}".split(","))
            values: dict[str, Any] = {
                _OF_P[key]: int(one) if key == "m" else float(one) for key, one in given.items()
            }
            return PPercentRule(**values)
        make, least, most = _MAKE[name]
        numbers = [float(one) for one in rest.split(",")]
        if least <= len(numbers) <= most:
            return make(*numbers)
    except FormulationError:
        raise
    except (ValueError, KeyError, OverflowError):
        pass
    raise UsageError(
        f"{text!r} is no rule; write p=10 (or p=10,q=50,m=2), nk=2,75, frequency=3 (or 3,20), zero=5 or "
        "request=70 (or 70,50,3,20)"
    )


def _dominance(n: float, percent: float) -> PrimaryRule:
    return DominanceRule(int(n), percent)


def _frequency(least: float, *percent: float) -> PrimaryRule:
    return FrequencyRule(int(least), *percent)


def _request(first: float, second: float | None = None, least: float = 0.0, *percent: float) -> PrimaryRule:
    """Parse percentages of both kinds, fewest respondents, range: ``REQ(P1,P2,N,R)`` of τ-ARGUS."""
    return RequestRule((first, first if second is None else second), int(least), *percent)


_OF_P: Mapping[str, Any] = {"p": "percent", "q": "prior", "m": "intruders"}
_MAKE: Mapping[str, tuple[Callable[..., PrimaryRule], int, int]] = {
    "nk": (_dominance, 2, 2),
    "frequency": (_frequency, 1, 2),
    "zero": (ZeroRule, 1, 1),
    "request": (_request, 1, 4),
}
"""The rules with their numbers of parameters."""


def with_written_levels(cells: pd.DataFrame) -> pd.DataFrame:
    """Round levels up to six decimals, or to those of the values where these have more."""
    grid = Grid.of(cells["value"].to_numpy(dtype=np.float64))
    if grid is None:
        return cells
    fine = Grid(1, max(grid.decimals, _LEVEL_DECIMALS))
    levels = [name for name in cells.columns if name.endswith("_protection")]
    return with_columns(cells, {name: fine.above(cells[name].to_numpy(np.float64)) for name in levels})


def with_manual_statuses(cells: pd.DataFrame, given: ManualStatuses, share: float, name: str) -> pd.DataFrame:
    """Set statuses, levels and costs of single cells, which override those from rules.

    The default level of a sensitive cell is `share` percent of its value; `name` is that of the file.
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
    refuse_rows(nothing, name, "the cell is 0, so that no share of it is a level; give it one")
    if "cost" in given.numbers:
        levels["cost"] = _with(cells, "cost", given, np.maximum(value, 1.0))
    return with_columns(cells, {"status": status, **levels})


def _with(cells: pd.DataFrame, column: str, given: ManualStatuses, usual: FloatArray) -> FloatArray:
    """Return a column with the given numbers, `usual` elsewhere."""
    found = cells[column].to_numpy(dtype=np.float64).copy() if column in cells.columns else usual.copy()
    if column in given.numbers:
        own = given.numbers[column]
        said = ~np.isnan(own)
        found[given.cell[said]] = own[said]
    return found
