"""Controlled rounding, proven: the relaxation where its optimum is whole, else a search in whole numbers.

Tables of two dimensions, one of them hierarchical at most, are networks: every vertex of the relaxation is
whole, whatever the size. Elsewhere a backend searches; for a relaxed rounding there is an answer at any time:
round what no relation sums up, and sum up the rest. A zero-restricted one is dived for from the relaxation;
where none is found in time, the answer is a relaxed one, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from linkrisk.formulations.programs.mixed_integer import MilpModel
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding, FloatArray, IntArray
from linkrisk.solver.backends.base import Backend, SolveOptions
from linkrisk.solver.backends.linear.base import LinearOptions, LinearStatus
from linkrisk.solver.backends.linear.registry import linear_program
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.tables.perturbation.rounding_dive import dived

PHASE = "rounding cells"
_WHOLE = 1e-6
_CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class Rounded:
    """A rounded table.

    Attributes
    ----------
    values : ndarray of int64, shape (n,)
    cost : float
        The weighted sum of changes.
    bound : float
        No controlled rounding of this kind costs less.
    zero_restricted : bool
        Its kind: False too where a zero-restricted one was asked for, and none was found in time.
    """

    values: IntArray
    cost: float
    bound: float
    zero_restricted: bool

    @property
    def proven(self) -> bool:
        """Whether it is one of least cost."""
        return self.bound >= self.cost - _CLOSE * max(1.0, self.cost)


def round_cells(
    table: ControlledRounding,
    backend: Backend,
    clock: Clock,
    report: Reporter | None = None,
    seed: int = 0,
) -> Rounded:
    """Round a table at the least change.

    Parameters
    ----------
    table : ControlledRounding
    backend : Backend
        Asked where the relaxation has no whole optimum.
    clock : Clock
    report : callable, optional
    seed : int
        Of the backend.

    Raises
    ------
    UsageError
        If there is no zero-restricted rounding; or none was found in time, and no relaxed one is there.
    """
    model = table.model()
    program = linear_program(model, LinearOptions())
    solution = program.solve(seconds=clock.seconds_left)
    if solution.status is LinearStatus.INFEASIBLE:
        raise UsageError(_none(table))
    bound, start = _least(table), None
    if solution.optimal and solution.objective is not None:
        bound = max(bound, solution.objective - _CLOSE * max(1.0, abs(solution.objective)))
        point = solution.point
        if (np.abs(point - np.round(point)) <= _WHOLE).all():
            return _checked(table, table.rounded(point), bound)
        if table.zero_restricted:
            left = clock.seconds_left
            start = dived(table, model, program, point, clock.part(None if left is None else left / 2))
    if not table.zero_restricted:
        start = summed_up(table)
    if clock.expired:  # a backend would take seconds only to read the program
        return at_hand(table, start, bound)
    return _searched(table, model, start, backend, clock, report, seed, bound)


def at_hand(table: ControlledRounding, start: IntArray | None, bound: float) -> Rounded:
    """What there is when time is over: the start, else a relaxed rounding with a bound for relaxed ones."""
    if start is not None:
        return _checked(table, start, bound)
    relaxed = replace(table, zero_restricted=False)
    values = summed_up(relaxed)
    if values is None:
        kind = "zero-restricted" if table.zero_restricted else "relaxed"
        raise UsageError(f"no {kind} rounding was found in time; give it more")
    return _checked(relaxed, values, _least(relaxed))


def _least(table: ControlledRounding) -> float:
    return table.least * (1.0 - _CLOSE)


def _searched(
    table: ControlledRounding,
    model: MilpModel,
    start: IntArray | None,
    backend: Backend,
    clock: Clock,
    report: Reporter | None,
    seed: int,
    bound: float,
) -> Rounded:
    """By a backend, from a rounding where there is one."""
    best = None if start is None else table.cost(start)

    def watch(progress: object) -> bool:
        if report is not None:
            cost = min(getattr(progress, "objective", np.inf), np.inf if best is None else best)
            least = max(getattr(progress, "bound", 0.0), bound)
            found = f"change {cost:,.6g}" if np.isfinite(cost) else "none yet"
            report(Progress.uncounted(PHASE, f"{found}, at least {max(least, 0.0):,.6g}"))
        return clock.expired

    options = SolveOptions(time_limit=clock.seconds_left, seed=seed)
    found = backend.solve(
        model, options, starts=[] if start is None else [_columns(table, start)], watch=watch
    )
    if found.values is not None:
        values = table.rounded(found.values)
        if best is None or table.cost(values) <= best:
            return _checked(table, values, max(bound, found.bound - _CLOSE * max(1.0, abs(found.bound))))
    if start is None and found.limit is None:
        raise UsageError(_none(table))
    return at_hand(table, start, max(bound, found.bound))


def _checked(table: ControlledRounding, values: IntArray, bound: float) -> Rounded:
    wrong = table.wrong(values)
    if wrong is not None:
        raise AssertionError(f"a rounding that was found is none: {wrong}")
    cost = table.cost(values)
    proven = bound >= cost * (1.0 - 10.0 * _CLOSE)
    return Rounded(values, cost, cost if proven else bound, table.zero_restricted)


def _none(table: ControlledRounding) -> str:
    return (
        f"no zero-restricted rounding to base {table.base} adds up; allow a relaxed one, or take another base"
        if table.zero_restricted
        else f"no rounding to base {table.base} adds up; take another base, or leave relations out"
    )


def summed_up(table: ControlledRounding) -> IntArray | None:
    """Each cell that no relation sums up rounded to the nearest multiple, the others summed up.

    Returns
    -------
    ndarray of int64, shape (n,), or None
        None where that is no controlled rounding.
    """
    relations = sparse.csr_array(table.relations)
    rows = np.repeat(np.arange(relations.shape[0]), np.diff(relations.indptr))
    is_total = np.zeros(table.value.size, dtype=np.bool_)
    is_total[relations.indices[relations.data < 0]] = True
    if np.bincount(rows[relations.data < 0], minlength=relations.shape[0]).max(initial=0) > 1:
        return None
    values = np.where(is_total, 0, table.base * np.floor(table.value / table.base + 0.5)).astype(np.int64)
    known, left = ~is_total, np.arange(relations.shape[0])
    while left.size:
        ready = []
        for row in left:
            inside = relations.indices[relations.indptr[row] : relations.indptr[row + 1]]
            data = relations.data[relations.indptr[row] : relations.indptr[row + 1]]
            parts = data > 0
            if known[inside[parts]].all():
                ready.append(row)
                total = inside[~parts]
                values[total] = np.round(data[parts] @ values[inside[parts]] / -data[~parts])
                known[total] = True
        if not ready:
            return None
        left = np.setdiff1d(left, ready)
    return values if known.all() and table.wrong(values) is None else None


def _columns(table: ControlledRounding, values: IntArray) -> FloatArray:
    """A point of the model for rounded values."""
    more = values // table.base - table.steps
    first = (more >= 1) & (table.left > 0)
    if table.zero_restricted:
        return np.asarray(first, dtype=np.float64)
    return np.concatenate([first, np.maximum(more - first, 0), np.maximum(-more, 0)]).astype(np.float64)
