"""`round_table`: a table whose cells are multiples of a base, and still add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from linkrisk.datasets.masking.record import version
from linkrisk.datasets.tables.beside import refuse_beside
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.solver.api.keywords import checked_keywords
from linkrisk.solver.api.limits import check_limit
from linkrisk.solver.api.tables.changed import ChangedTable, ended
from linkrisk.solver.api.tables.figures import rounding_figures
from linkrisk.solver.api.tables.source import Frame, TableSource, relations_of, table_from
from linkrisk.solver.api.tables.suppress import DEFAULT_TIME_LIMIT
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.compiling.ahead import TABLES, compile_once
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.interruption import Cancel, interruptible
from linkrisk.solver.run.progress import Reporter
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

    changed_column: ClassVar[str] = "rounded"

    def __repr__(self) -> str:
        return f"RoundedTable({len(self.cells)} cells, changed by {self.cost:g}, {self.status.value})"


@checked_keywords
def round_table(
    cells: TableSource,
    relations: Frame | None = None,
    *,
    base: int,
    relaxed: bool = False,
    backend: str = "highs",
    seed: int = 0,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    cancel: Cancel | None = None,
    on_progress: Reporter | None = None,
) -> RoundedTable:
    """Round all cells to multiples of a base such that all relations hold, with the least sum of changes.

    Parameters
    ----------
    cells, relations : path, frame or StoredTable
        See `suppress_table`; only values and relations count.
    base : int
        From 2.
    relaxed : bool
        Whether cells may go further than to a neighbouring multiple. (What is not negative stays so.)
    backend : str
        What solves the program in whole numbers, where its relaxation does not.
    seed : int
        Of flips, and of the backend.
    time_limit : float, optional
        Seconds, after which the best rounding so far is returned with a bound: where no zero-restricted one
        was found, a relaxed one (``relaxed`` of the details).
    cancel : Cancel, optional
        A token that ends the search like the time limit.
    on_progress : callable, optional
        Called with every progress report.

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
    if time_limit is not None:
        check_limit(time_limit, "time limit")
    solver = get_backend(backend)
    stored = table_from(cells, relations)
    refuse_beside(stored, "rounding")
    compile_once(TABLES, on_progress)
    value = stored.numbers["value"]
    table = ControlledRounding(
        value=value,
        relations=relations_of(stored),
        weight=np.ones(value.size),
        base=base,
        zero_restricted=not relaxed,
    )
    clock = Clock(time_limit, cancel=cancel)
    with interruptible(clock):
        found = round_cells(table, solver, clock, on_progress, seed)
    details = {
        "protection": "rounding",
        "linkrisk": version(),
        "name": stored.name,
        "relations": int(table.relations.shape[0]),
        "base": base,
        "relaxed": not found.zero_restricted,
        "asked_relaxed": relaxed,
        "backend": backend,
        "seed": seed,
        "seconds": round(clock.seconds, 3),
        "time_limit": time_limit,
        "table": rounding_figures(stored, found.values),
    }
    frame = stored.cells.assign(rounded=found.values)
    return RoundedTable(frame, found.cost, found.bound, *ended(found.proven, clock), details, stored)
