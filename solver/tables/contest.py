"""The same model of a table on every backend, each in a process of its own, and what came back recounted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.programs import MilpModel
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.formulations.tables.suppression_model import suppression_model
from linkrisk.formulations.tables.tabular_adjustment import TabularAdjustment
from linkrisk.solver.backends.base import BackendResult, SolveOptions, Watcher
from linkrisk.solver.backends.isolated import IsolatedResult, run_isolated, solve_isolated
from linkrisk.solver.backends.jobs import Job
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.run.status import Limit, Status
from linkrisk.solver.tables.attackers.audit import audit
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.insider_patterns import search_parts

EXACT = "exact"
CONTEST = "comparing backends"
CLOSE = 1e-6
"""Relative to the cost: what optima and bounds may differ by."""


@dataclass(frozen=True)
class TableRow:
    """What one of them found.

    Attributes
    ----------
    name : str
    status : str
        As it says itself; ``failed`` where it did.
    limit : str or None
    cost : float or None
        Counted from what came back.
    bound : float or None
        Nothing costs less, as it says.
    gap : float or None
        Cost less bound.
    proven : bool
        Whether it claims the optimum, and its cost is its bound.
    audit : str or None
        ``passed``, or why what came back is none; None where nothing did.
    rows_added : int or None
        Rows that were separated on the way.
    build_seconds, solve_seconds : float or None
    peak_memory_mb : float or None
        Of its process.
    version : str
        Of the optimiser, or what it said when it failed.
    """

    name: str
    status: str
    limit: str | None
    cost: float | None
    bound: float | None
    gap: float | None
    proven: bool
    audit: str | None
    rows_added: int | None
    build_seconds: float | None
    solve_seconds: float | None
    peak_memory_mb: float | None
    version: str


class TableProblem(ABC):
    """What is to be solved: a model, a point to start from, and the count of what comes back.

    Attributes
    ----------
    name : str
    model : MilpModel
    starts : sequence of ndarray of float64, shape (columns,)
    absolute_gap : float
        That proves the optimum.
    own : Job or None
        Our own engine, where there is one.
    """

    name: str
    model: MilpModel
    starts: Sequence[FloatArray] = ()
    absolute_gap: float = 1e-6

    def own(self, time_limit: float | None) -> Job | None:  # noqa: ARG002
        """Our own engine for it, where there is one."""
        return None

    @abstractmethod
    def counted(self, values: FloatArray) -> tuple[float, str | None]:
        """The cost of what came back, and why it is none."""


class SuppressionProblem(TableProblem):
    """Cells of least cost that protect the sensitive ones."""

    name = "suppress"

    def __init__(self, table: CellTable, clock: Clock) -> None:
        self._table = table
        separator, witnesses = search_parts(table)
        start = witnesses.pattern(separator.open, clock)
        if start is None:
            raise UsageError("a cell cannot be protected; `tables suppress` says which, and why")
        self.model = suppression_model(table, separator)
        self.starts = (start.astype(np.float64),)
        free = table.cost[table.free]
        self.absolute_gap = 0.999 if bool((free == np.round(free)).all()) else 1e-6

    def own(self, time_limit: float | None) -> Job:
        """Our own branch and cut."""
        return _OwnSuppression(self._table, time_limit)

    def counted(self, values: FloatArray) -> tuple[float, str | None]:
        """Audited by the attacker's programs, which share nothing with the search."""
        table, suppressed = self._table, values > 0.5
        cost = float(table.cost[suppressed & table.free].sum())
        if (table.primary & ~suppressed).any():
            return cost, f"cell {int(np.argmax(table.primary & ~suppressed))} is sensitive, and published"
        found = audit(table, suppressed, wanted=table.primary)
        open_ = int(((found.short > 0) | found.undecided).sum())
        return cost, f"{open_} cells are not protected" if open_ else None


class RoundingProblem(TableProblem):
    """Controlled rounding of least change."""

    name = "round"

    def __init__(self, table: ControlledRounding) -> None:
        self._table, self.model = table, table.model()

    def counted(self, values: FloatArray) -> tuple[float, str | None]:
        """In whole numbers."""
        rounded = self._table.rounded(values)
        return self._table.cost(rounded), self._table.wrong(rounded)


class AdjustmentProblem(TableProblem):
    """Controlled tabular adjustment of least change."""

    name = "adjust"

    def __init__(self, table: TabularAdjustment) -> None:
        self._table, self.model = table, table.model()

    def counted(self, values: FloatArray) -> tuple[float, str | None]:
        """From the adjusted values."""
        change = self._table.changes(values)
        return self._table.cost(change), self._table.wrong(change)


class _OwnSuppression(Job):
    """Our own branch and cut, in a process of its own."""

    takes_watcher = False

    def __init__(self, table: CellTable, time_limit: float | None) -> None:
        self.title, self.name, self.time_limit = "our own engine", EXACT, time_limit
        self._table = table

    def prepare(self) -> None:
        """Nothing."""

    def run(self, watch: Watcher | None) -> BackendResult:  # noqa: ARG002
        """Search."""
        from linkrisk.solver.run.versions import library_versions

        clock = Clock(self.time_limit)
        found = suppress_cells(self._table, None, clock)
        return BackendResult(
            status=Status.OPTIMAL if found.proven else Status.FEASIBLE,
            limit=None if found.proven else Limit.TIME,
            objective=found.cost,
            bound=found.bound,
            values=found.suppressed.astype(np.float64),
            build_seconds=0.0,
            solve_seconds=clock.seconds,
            backend=EXACT,
            version=library_versions()["linkrisk"],
        )


def rows(
    problem: TableProblem, names: Sequence[str], clock: Clock, options: SolveOptions, report: Reporter
) -> Iterator[TableRow]:
    """One after the other, each told to `report` before it runs.

    Parameters
    ----------
    problem : TableProblem
    names : sequence of str
        Backends, and ``exact`` where the problem has an engine of its own.
    clock : Clock
        Stopped by Ctrl-C: what has come back by then is compared.
    options : SolveOptions
        Time for each, and seed.
    report : callable
    """
    for at, name in enumerate(names):
        if clock.stopped:
            return
        report(Progress.uncounted(CONTEST, about=name, done=at / len(names)))
        with interruptible(clock):
            yield _row(problem, name, lambda: clock.stopped, options)


def _row(problem: TableProblem, name: str, stopped: Callable[[], bool], options: SolveOptions) -> TableRow:
    try:
        answer = _answer(problem, name, stopped, options)
    except (RuntimeError, UsageError) as error:
        said = " ".join(str(error).split())
        nothing = (None, None, None, None)
        return TableRow(name, "failed", *nothing, False, None, *nothing, said)
    result = answer.result
    cost, why = (None, None) if result.values is None else problem.counted(result.values)
    bound = result.bound if np.isfinite(result.bound) else None
    gap = None if cost is None or bound is None else max(0.0, cost - bound)
    # A backend may stop within its gap; the cost is then the optimum, as all costs are whole.
    shut = gap is not None and cost is not None and gap <= max(options.absolute_gap, CLOSE * max(1.0, cost))
    return TableRow(
        name=name,
        status=result.status.value,
        limit=None if result.limit is None else result.limit.value,
        cost=cost,
        bound=bound,
        gap=gap,
        proven=result.status is Status.OPTIMAL and shut and why is None,
        audit=None if cost is None else "passed" if why is None else why,
        rows_added=result.cuts if name != EXACT else None,
        build_seconds=round(result.build_seconds, 3) if name != EXACT else None,
        solve_seconds=round(result.solve_seconds, 3),
        peak_memory_mb=round(answer.peak_memory_bytes / 1e6, 1) or None,
        version=result.version,
    )


def _answer(
    problem: TableProblem, name: str, stopped: Callable[[], bool], options: SolveOptions
) -> IsolatedResult:
    if name != EXACT:
        return solve_isolated(name, problem.model, options, problem.starts, lambda _: stopped())
    job = problem.own(options.time_limit)
    if job is None:
        raise UsageError(f"there is no engine of our own for the problem {problem.name!r}")
    return run_isolated(job, lambda _: stopped())
