"""`compare_table`: the same model of a table on every backend, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np

from linkrisk.datasets.masking.record import version
from linkrisk.datasets.options.option import recorded_of
from linkrisk.datasets.tables.cells_and_relations import StoredTable
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.formulations.tables.tabular_adjustment import TabularAdjustment
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.registry import available_backends, get_backend
from linkrisk.solver.compiling.ahead import TABLES, compile_once
from linkrisk.solver.documents.wording import contradictions
from linkrisk.solver.inputs.limits import check_limit
from linkrisk.solver.options.operations.tables.compare import (
    DEFAULT_BASE,
    CompareTableOptions,
)
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.answers import answered, no_answer
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.result import Result
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.tables.contest import (
    CLOSE,
    EXACT,
    AdjustmentProblem,
    RoundingProblem,
    SuppressionProblem,
    TableProblem,
    TableRow,
    rows,
)
from linkrisk.solver.tables.operations.counts import in_reach
from linkrisk.solver.tables.operations.source import asked_table, cell_table, relations_of


@dataclass(frozen=True)
class TableComparison(Result):
    """Every backend on the same model of a table.

    Attributes
    ----------
    rows : tuple of TableRow
    disagreements : tuple of str
        Claims that contradict each other or the count, in words. Empty when all is well.
    details : dict
        What was solved.
    """

    kind: ClassVar[str] = "table-comparison"

    rows: tuple[TableRow, ...]
    disagreements: tuple[str, ...]
    details: dict[str, Any]

    @property
    def no_answer(self) -> str | None:
        """Why there is no answer, where none of them came back with any; None where one did."""
        return no_answer(self.rows, [answered(row.status, row.cost, row.bound) for row in self.rows])

    def content(self) -> dict[str, Any]:
        """The JSON of `tables compare --json` as a dictionary."""
        lines = [asdict(row) for row in self.rows]
        lacking = {} if self.no_answer is None else {"no_answer": self.no_answer}
        return {**self.details, "backends": lines, "disagreements": list(self.disagreements), **lacking}

    def __repr__(self) -> str:
        lines = [f"  {row.name}: {row.status}, cost {row.cost}, at least {row.bound}" for row in self.rows]
        said = [f"  {one}" for one in contradictions(self.content())]
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
    >>> from linkrisk import compare_table
    >>> compare_table("cells.csv", "relations.csv", time_limit=10)  # doctest: +SKIP
    """
    check_limit(asked.time_limit, "time limit")
    problem, chosen = asked.problem, _backends(asked)
    stored = asked_table(asked)
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
    """Those that solve it."""
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
    if problem == "round":
        value = stored.numbers["value"]
        ones = np.ones(value.size)
        return RoundingProblem(
            ControlledRounding(
                value=value, relations=relations_of(stored), weight=ones, base=base, zero_restricted=True
            )
        )
    if problem == "suppress":
        stored, table, _ = in_reach(stored, cell_table(stored, cost))
        return SuppressionProblem(table, Clock(time_limit))
    table = cell_table(replace(stored, counts=False), cost)
    weight = 1.0 / np.maximum(np.abs(table.value), 1.0)
    return AdjustmentProblem(TabularAdjustment(table=table, weight=weight))


def disagreements(found: Sequence[TableRow]) -> list[str]:
    """Contradictions: what fails the count, proofs that differ, and costs below the bound of another."""
    said = [
        f"{row.name} returned what is none: {row.audit}"
        for row in found
        if row.audit is not None and row.audit != "passed"
    ]
    right = [row for row in found if row.audit == "passed" and row.cost is not None]
    for first, second in combinations([row for row in right if row.proven], 2):
        one, other = first.cost or 0.0, second.cost or 0.0
        if abs(one - other) > 2 * CLOSE * max(1.0, one, other):
            said.append(
                f"{first.name} and {second.name} both claim a proof, but of different optima: "
                f"{one:g} and {other:g}"
            )
    for row, judge in product(right, found):
        cost, bound = row.cost or 0.0, judge.bound
        if bound is not None and judge.name != row.name and cost < bound - 2 * CLOSE * max(1.0, abs(bound)):
            said.append(f"{row.name} found {cost:g}, less than the bound {bound:g} of {judge.name}")
    return said
