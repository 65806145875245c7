"""`round_table`: a table whose cells are multiples of a base, and still add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from linkrisk.datasets.masking.record import version
from linkrisk.datasets.options.option import recorded_of
from linkrisk.datasets.tables.beside import refuse_beside
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.compiling.ahead import TABLES, compile_once
from linkrisk.solver.inputs.limits import check_limit
from linkrisk.solver.options.operations.tables.round import RoundOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.tables.operations.changed import ChangedTable, ended
from linkrisk.solver.tables.operations.figures import rounding_figures
from linkrisk.solver.tables.operations.source import asked_table, relations_of
from linkrisk.solver.tables.perturbation.rounding import round_cells


@dataclass(frozen=True, eq=False)
class RoundedTable(ChangedTable):
    """A rounded table, whose relations were counted again in whole numbers.

    Attributes
    ----------
    cells : DataFrame
        All columns of the input, with `rounded`.
    cost : float
        The sum of all changes.
    bound : float
        No controlled rounding of this kind changes less.
    status : Status
        ``optimal`` where no other one changes less.
    limit : Limit or None
        What ended the search.
    details : dict
        Everything else of the JSON.
    """

    kind: ClassVar[str] = "rounded-table"
    changed_column: ClassVar[str] = "rounded"

    def __repr__(self) -> str:
        return f"RoundedTable({len(self.cells)} cells, changed by {self.cost:g}, {self.status.value})"


@taking(RoundOptions)
def round_table(asked: RoundOptions) -> RoundedTable:
    """Round all cells to multiples of a base such that all relations hold, with the least sum of changes.

    Of the cells only values and relations count. Where no zero-restricted rounding is found in time, the
    result is a relaxed one (``relaxed`` of the details).

    Parameters
    ----------
    {options}

    Returns
    -------
    RoundedTable

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the table cannot be read, does not add up, or has no such rounding.

    Examples
    --------
    >>> from linkrisk import round_table
    >>> round_table("cells.csv", "relations.csv", base=5).write("rounded.csv")  # doctest: +SKIP
    """
    check_limit(asked.time_limit, "time limit")
    solver = get_backend(asked.backend)
    stored = asked_table(asked)
    refuse_beside(stored, "rounding")
    compile_once(TABLES, asked.on_progress)
    value = stored.numbers["value"]
    table = ControlledRounding(
        value=value,
        relations=relations_of(stored),
        weight=np.ones(value.size),
        base=asked.base,
        zero_restricted=not asked.relaxed,
    )
    clock = Clock(asked.time_limit, cancel=asked.cancel)
    with interruptible(clock):
        found = round_cells(table, solver, clock, asked.on_progress, asked.seed)
    details = {
        "protection": "rounding",
        "linkrisk": version(),
        "name": stored.name,
        "relations": int(table.relations.shape[0]),
        "base": asked.base,
        "relaxed": not found.zero_restricted,
        "asked_relaxed": asked.relaxed,
        "backend": asked.backend,
        "seed": asked.seed,
        "seconds": round(clock.seconds, 3),
        "time_limit": asked.time_limit,
        "table": rounding_figures(stored, found.values),
        **recorded_of(asked),
    }
    frame = stored.cells.assign(rounded=found.values)
    return RoundedTable(frame, found.cost, found.bound, *ended(found.proven, clock), details, stored)
