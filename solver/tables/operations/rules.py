"""Primary rules out of words: ``p=10``, ``nk=2,75``, ``frequency=3``, ``zero=5``, ``request=70``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.names import with_columns
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
"""Levels have at least so many: on the grid of whole amounts they would ask for more than their rules do."""


def primary_rule(text: str) -> PrimaryRule:
    """Read ``p=10,q=50,m=2``, ``nk=2,75``, ``frequency=3,20``, ``zero=5`` or ``request=70,50,3,20``.

    Raises
    ------
    UsageError
        If it is none of these.
    FormulationError
        If a number is not in its range.
    """
    name, _, rest = text.replace(" ", "").partition("=")
    try:
        if name == "p":
            given = dict(one.split("=") for one in f"p={rest}".split(","))
            return PPercentRule(**_numbers(given, {"p": "percent", "q": "prior", "m": "intruders"}))
        if name in _MAKE:
            made = _MAKE[name]([float(one) for one in rest.split(",")])
            if made is not None:
                return made
    except FormulationError:
        raise
    except (ValueError, KeyError, OverflowError):
        pass
    raise UsageError(
        f"{text!r} is no rule; write p=10 (or p=10,q=50,m=2), nk=2,75, frequency=3 (or 3,20), zero=5 or "
        "request=70 (or 70,50,3,20)"
    )


def _numbers(given: Mapping[str, str], names: Mapping[str, str]) -> dict[str, Any]:
    return {names[key]: int(value) if key == "m" else float(value) for key, value in given.items()}


def _dominance(numbers: list[float]) -> PrimaryRule | None:
    return DominanceRule(int(numbers[0]), numbers[1]) if len(numbers) == 2 else None


def _frequency(numbers: list[float]) -> PrimaryRule | None:
    return FrequencyRule(int(numbers[0]), *numbers[1:]) if len(numbers) in (1, 2) else None


def _zero(numbers: list[float]) -> PrimaryRule | None:
    return ZeroRule(numbers[0]) if len(numbers) == 1 else None


def _request(numbers: list[float]) -> PrimaryRule | None:
    """Percent of both kinds, fewest respondents, range: as in ``REQ(P1,P2,N,R)`` of τ-ARGUS."""
    if len(numbers) > 4:
        return None
    percent = (numbers[0], numbers[1] if len(numbers) > 1 else numbers[0])
    least = int(numbers[2]) if len(numbers) > 2 else 0
    return RequestRule(percent, least, numbers[3] if len(numbers) > 3 else None)


_MAKE: Mapping[str, Callable[[list[float]], PrimaryRule | None]] = {
    "nk": _dominance,
    "frequency": _frequency,
    "zero": _zero,
    "request": _request,
}


def with_written_levels(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells whose levels are rounded up to six decimals, or to those of the values where these have more."""
    grid = Grid.of(cells["value"].to_numpy(dtype=np.float64))
    if grid is None:
        return cells
    fine = Grid(1, max(grid.decimals, _LEVEL_DECIMALS))
    levels = [name for name in cells.columns if name.endswith("_protection")]
    return with_columns(cells, {name: fine.above(cells[name].to_numpy(np.float64)) for name in levels})
