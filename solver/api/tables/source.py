"""From stored tables to the table whose cells are protected."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.cells_and_relations import (
    FIXED,
    SENSITIVE,
    StoredTable,
)
from linkrisk.formulations.tables.cell_table import CellTable, FloatArray
from linkrisk.solver.run.errors import UsageError

COSTS = ("value", "unit", "log", "given")


def cell_table(stored: StoredTable, cost: str) -> CellTable:
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
