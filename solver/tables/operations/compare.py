"""Compares backends on the same model of a table, each in its own process, with recomputed answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.datasets.masking.release import version
from linkrisk.datasets.options.option import recorded_of
from linkrisk.datasets.tables.stored_table import StoredTable
from linkrisk.formulations.programs import MilpModel
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.formulations.tables.suppression_model import suppression_model
from linkrisk.formulations.tables.tabular_adjustment import TabularAdjustment
from linkrisk.solver.backends.base import BackendResult, SolveOptions, Watcher
from linkrisk.solver.backends.guard import IsolatedResult, Job, run_isolated, solve_isolated
from linkrisk.solver.backends.registry import answered, available_backends, get_backend, no_answer
from linkrisk.solver.compiling.parts import TABLES, compile_once
from linkrisk.solver.documents.wording import conflicts
from linkrisk.solver.options.table_protection import (
    DEFAULT_BASE,
    CompareTableOptions,
)
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.clock import Clock, Limit, Status
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.run.result import Result
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.tables import tolerances
from linkrisk.solver.tables.attackers.audit import audit
from linkrisk.solver.tables.operations.counts import with_reachable_levels
from linkrisk.solver.tables.operations.source import cell_table, read_asked_table, relations_of
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.primal_heuristics import search_parts

EXACT = "exact"
CONTEST = "comparing backends"


@dataclass(frozen=True)
class TableRow:
    """Answer of one backend, with its cost recomputed."""

    name: str
    status: str  # as reported by the backend; ``failed`` if it did
    limit: str | None
    cost: float | None  # recomputed from the answer
    bound: float | None  # dual bound reported by the backend
    gap: float | None  # cost less bound
    proven: bool  # whether it claims optimality with a closed gap
    audit: str | None  # ``passed``, or why the answer is invalid; None if none came back
    rows_added: int | None  # cutting planes separated
    build_seconds: float | None
    solve_seconds: float | None
    peak_memory_mb: float | None  # of its process
    version: str  # of the optimiser, or its error message


class TableProblem(ABC):
    """Model with starting points and a recomputation of answers."""

    name: str
    model: MilpModel
    starts: Sequence[FloatArray] = ()  # (columns,)
    absolute_gap: float = 1e-6  # that proves the optimum

    def own(self, time_limit: float | None) -> Job | None:  # noqa: ARG002
        """Return a job of our own engine, if there is one."""
        return None

    @abstractmethod
    def counted(self, values: FloatArray) -> tuple[float, str | None]:
        """Recompute the cost of an answer, and tell why it is invalid."""


class SuppressionProblem(TableProblem):
    """Cell suppression at the least cost."""

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
        """Return our own branch and cut."""
        return _OwnSuppression(self._table, time_limit)

    def counted(self, values: FloatArray) -> tuple[float, str | None]:
        """Audit by the attackers' linear programs, which share nothing with the search."""
        table, suppressed = self._table, values > 0.5
        cost = float(table.cost[suppressed & table.free].sum())
        if (table.primary & ~suppressed).any():
            return cost, f"cell {int(np.argmax(table.primary & ~suppressed))} is sensitive, and published"
        found = audit(table, suppressed, wanted=table.primary)
        open_ = int(((found.short > 0) | found.undecided).sum())
        return cost, f"{open_} cells are not protected" if open_ else None


class ChangeProblem(TableProblem):
    """Controlled rounding or adjustment at the least change."""

    def __init__(self, name: str, table: ControlledRounding | TabularAdjustment) -> None:
        self.name, self._table, self.model = name, table, table.model()

    def counted(self, values: FloatArray) -> tuple[float, str | None]:
        """Recompute from the new values, in integers for a rounding."""
        table = self._table
        if isinstance(table, ControlledRounding):
            rounded = table.rounded(values)
            return table.cost(rounded), table.wrong(rounded)
        change = table.changes(values)
        return table.cost(change), table.wrong(change)


class _OwnSuppression(Job):
    """Our own branch and cut, in its own process."""

    takes_watcher = False

    def __init__(self, table: CellTable, time_limit: float | None) -> None:
        self.title, self.name, self.time_limit = "our own engine", EXACT, time_limit
        self._table = table

    def prepare(self) -> None:
        """Prepare nothing."""

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
    """Run one backend after the other; after Ctrl-C those that have answered are compared."""
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
    # A backend may stop within its gap; the cost is then optimal, as all costs are integral.
    shut = (
        gap is not None
        and cost is not None
        and gap <= max(options.absolute_gap, tolerances.OPTIMA_EQUAL * max(1.0, cost))
    )
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


@dataclass(frozen=True)
class TableComparison(Result):
    """Comparison of all backends on the same model of a table.

    Attributes
    ----------
    rows : tuple of TableRow
    disagreements : tuple of str
        Claims that contradict each other or the count, in words. Empty when all is well.
    details : dict
        What was solved.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=["p=10"])
    >>> linkrisk.compare_table(table, backends=["highs", "pulp"]).disagreements
    ()
    """

    kind: ClassVar[str] = "table-comparison"

    rows: tuple[TableRow, ...]
    disagreements: tuple[str, ...]
    details: dict[str, Any]

    @property
    def no_answer(self) -> str | None:
        """Explain why no backend has an answer; None if one has."""
        return no_answer(self.rows, [answered(row.status, row.cost, row.bound) for row in self.rows])

    def content(self) -> dict[str, Any]:
        """The JSON of `tables compare --json` as a dictionary."""
        lines = [asdict(row) for row in self.rows]
        lacking = {} if self.no_answer is None else {"no_answer": self.no_answer}
        return {**self.details, "backends": lines, "disagreements": list(self.disagreements), **lacking}

    def __repr__(self) -> str:
        lines = [f"  {row.name}: {row.status}, cost {row.cost}, at least {row.bound}" for row in self.rows]
        said = [f"  {one}" for one in conflicts(self.content())]
        return "\n".join([f"TableComparison({self.details['problem']}", *lines, *said]) + ")"


@taking(CompareTableOptions)
def compare_table(asked: CompareTableOptions) -> TableComparison:
    """Solve one model of a table on several backends, each in a process of its own, and count again.

    Parameters
    ----------
    {options}

    Returns
    -------
    TableComparison

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the table cannot be read, does not add up, or there is no such backend.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=["p=10"])
    >>> linkrisk.compare_table(table, backends=["highs", "pulp"]).disagreements
    ()
    """
    problem, chosen = asked.problem, _backends(asked)
    stored = read_asked_table(asked)
    if problem == "suppress":
        compile_once(TABLES, asked.on_progress)
    base = DEFAULT_BASE if asked.base is None else asked.base
    made = _problem(problem, stored, asked.cost, base, asked.time_limit)
    options = SolveOptions(time_limit=asked.time_limit, seed=asked.seed, absolute_gap=made.absolute_gap)
    clock = Clock(None, cancel=asked.cancel)
    found = tuple(rows(made, chosen, clock, options, asked.on_progress or (lambda _: None)))
    count, columns = made.model.shape
    details = {
        "linkrisk": version(),
        "name": stored.name,
        "problem": problem,
        "cost_of": asked.cost if problem == "suppress" else None,
        "base": base if problem == "round" else None,
        "cells": len(stored),
        "relations": int(relations_of(stored).shape[0]),
        "model": {"rows": count, "columns": columns, "nonzeros": made.model.nonzeros},
        "separated": made.model.separator is not None,
        "time_limit": asked.time_limit,
        "seed": asked.seed,
        **recorded_of(asked),
        "versions": library_versions(),
    }
    return TableComparison(found, tuple(disagreements(found)), details)


def _backends(asked: CompareTableOptions) -> list[str]:
    """Return the backends that can solve the model."""
    problem, backends = asked.problem, asked.backends
    if asked.base is not None and problem != "round":
        raise UsageError("a base is for the problem 'round'; leave it out")
    own = [EXACT] if problem == "suppress" else []
    chosen = list(backends) if backends is not None else [*own, *available_backends()]
    for at, name in enumerate(chosen):
        if name in chosen[:at]:
            raise UsageError(f"the backend {name!r} is given twice; give it once")
        if name not in own:
            get_backend(name)
    return chosen


def _problem(
    problem: str, stored: StoredTable, cost: str, base: int, time_limit: float | None
) -> TableProblem:
    if problem == "suppress":
        table = with_reachable_levels(stored, cell_table(stored, cost))[1]
        return SuppressionProblem(table, Clock(time_limit))
    value = stored.numbers["value"]
    if problem == "round":
        rounding = ControlledRounding(
            value=value,
            relations=relations_of(stored),
            weight=np.ones(value.size),
            base=base,
            zero_restricted=True,
        )
        return ChangeProblem(problem, rounding)
    table = cell_table(replace(stored, counts=False), cost)
    weight = 1.0 / np.maximum(np.abs(value), 1.0)
    return ChangeProblem(problem, TabularAdjustment(table=table, weight=weight))


def disagreements(found: Sequence[TableRow]) -> list[str]:
    """List conflicts: invalid answers, different optima, and costs below the bound of another."""
    said = [
        f"{row.name} returned what is none: {row.audit}"
        for row in found
        if row.audit is not None and row.audit != "passed"
    ]
    right = [row for row in found if row.audit == "passed" and row.cost is not None]
    for first, second in combinations([row for row in right if row.proven], 2):
        one, other = first.cost or 0.0, second.cost or 0.0
        if abs(one - other) > 2 * tolerances.OPTIMA_EQUAL * max(1.0, one, other):
            said.append(
                f"{first.name} and {second.name} both claim a proof, but of different optima: "
                f"{one:g} and {other:g}"
            )
    for row, judge in product(right, found):
        cost, bound = row.cost or 0.0, judge.bound
        if (
            bound is not None
            and judge.name != row.name
            and cost < bound - 2 * tolerances.OPTIMA_EQUAL * max(1.0, abs(bound))
        ):
            said.append(f"{row.name} found {cost:g}, less than the bound {bound:g} of {judge.name}")
    return said
