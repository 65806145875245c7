"""Controlled tabular adjustment: an early incumbent, improved by any backend, with a dual bound.

The search decides the direction of each sensitive cell; for given directions the rest is a linear program, or
least squares. The bound is that of a backend or of multipliers (`TabularAdjustment.least`), whichever is
larger. Integral adjustment starts with a continuous search, whose answers are rounded such that they add up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.formulations.tables.exact import Exact, ExactRelations, exact, exact_witness
from linkrisk.formulations.tables.tabular_adjustment import FAR, TabularAdjustment
from linkrisk.solver.backends.base import Backend, BackendProgress, SolveOptions
from linkrisk.solver.backends.linear.base import LinearOptions, LinearStatus, linear_program
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.perturbation.least_squares import DOWN, UP, Directions, least_squares
from linkrisk.solver.tables.perturbation.rounding import round_cells

_BASE = 2
"""Changes are doubled for rounding, whose base must be at least 2."""


def integral_changes(problem: TabularAdjustment, change: FloatArray, clock: Clock) -> FloatArray | None:
    """Round changes to neighbouring integers such that all relations hold; None if no rounding is found.

    Levels and bounds are integral, so that no such rounding violates them.
    """
    nearest = np.round(change)
    if problem.wrong(nearest) is None:
        return nearest
    table = ControlledRounding(
        value=_BASE * np.where(np.abs(change - nearest) <= tolerances.ROUNDED, nearest, change),
        relations=problem.table.relations,
        weight=problem.weight,
        base=_BASE,
        zero_restricted=True,
    )
    try:
        made = round_cells(table, get_backend("highs"), clock).values / _BASE
    except UsageError:
        return None
    return made if problem.wrong(made) is None else None


_EPS = float(np.finfo(np.float64).eps)


def in_decimals(problem: TabularAdjustment, change: FloatArray) -> FloatArray:
    """Remove floating-point noise from changes if that gives an adjustment of the same cost.

    Cells rounded one by one need not add up: each third of 1 is 0.333333. In this case some cells follow from
    the others by the relations, solved in fractions.
    """
    most = problem.cost(change) * (1.0 + steering.DEARER_FOR_DECIMALS)
    moved = np.where(np.abs(change) > tolerances.STILL, change, 0.0)
    for decimals in steering.ADJUSTMENT_DECIMALS:
        rounded = np.asarray(np.round(moved, decimals), dtype=np.float64)
        for made in (rounded, _solved(problem, moved, decimals)):
            if made is not None and problem.cost(made) <= most and _adds_up(problem, made):
                return made
    return change


def _solved(problem: TabularAdjustment, change: FloatArray, decimals: int) -> FloatArray | None:
    """Round the changes of most cells and solve for the others."""
    cells = np.flatnonzero(change)
    if cells.size > steering.EXACTLY_SOLVED_CELLS:
        return None
    given = ExactRelations(problem.table)
    found = exact_witness(given, cells, change[cells], decimals, _at_levels(problem, change))
    if found is None:
        return None
    made = np.zeros(change.size)
    for cell, by in found.items():
        made[cell] = float(by)
    return made


def _at_levels(problem: TabularAdjustment, change: FloatArray) -> Exact:
    """Set sensitive cells that move as little as allowed exactly to their levels."""
    found: Exact = {}
    for level, sign in ((problem.least_up, 1), (problem.least_down, -1)):
        near = (level > 0) & (np.abs(sign * change - level) <= FAR * level)
        found |= {cell: sign * exact(level[cell]) for cell in np.flatnonzero(near).tolist()}
    return found


def _adds_up(problem: TabularAdjustment, change: FloatArray) -> bool:
    """Tell whether it is an adjustment whose relations hold up to the last digit of a float."""
    relations = problem.table.relations
    terms = abs(relations) @ np.abs(change)
    count = float(np.diff(relations.indptr).max(initial=1))
    exactly = (np.abs(relations @ change) <= _EPS * count * terms).all()
    return bool(exactly) and problem.wrong(change) is None


def in_digits(values: FloatArray) -> FloatArray:
    """Return values as short decimals: 12.1 + 0.2 is 12.3, not 12.299999999999999."""
    near = np.round(values, steering.ADJUSTMENT_DECIMALS[-1])
    return np.where(np.abs(near - values) <= 4.0 * _EPS * np.abs(values), near, values)


PHASE = "adjusting cells"


_NONE = "no adjustment keeps all relations and bounds; lower a level, or widen the bounds"
_LATE = "no adjustment was found in time; give it more"


@dataclass(frozen=True, eq=False)
class Adjusted:
    """Adjusted table with its cost and dual bound."""

    change: FloatArray  # (n,)
    cost: float  # weighted sum of changes, or of their squares
    bound: float  # no adjustment costs less

    @property
    def proven(self) -> bool:
        """Tell whether it is optimal."""
        return self.bound >= self.cost * (1.0 - tolerances.PROVEN)


def adjust_cells(
    problem: TabularAdjustment,
    backend: Backend | None,
    clock: Clock,
    report: Reporter | None = None,
    seed: int = 0,
) -> Adjusted:
    """Find the changes of least cost that move all sensitive cells far enough.

    A backend searches the directions of sensitive cells, and integral changes. Without one, least squares are
    solved by our own branch and bound, whose bound is that of continuous changes.
    """
    if problem.whole and backend is None:
        return _by_squares(problem, clock, report)
    unit = _unit(problem.weight)
    search = _Search(replace(problem, weight=problem.weight / unit), clock, report, unit)
    for ways in search.proposals():
        search.keep(search.best_changes(ways))
    if not search.finished:
        search.branch() if backend is None else search.search_by(backend, seed)
    if search.best is None:
        raise UsageError(_LATE if clock.expired else _NONE)
    change = search.best if problem.whole else in_decimals(problem, search.best)
    wrong = problem.wrong(change)
    if wrong is not None:
        raise AssertionError(f"an adjustment that was found is none: {wrong}")
    cost = problem.cost(change)
    return Adjusted(change, cost, min(cost, max(search.bound * unit, 0.0)))


def _by_squares(problem: TabularAdjustment, clock: Clock, report: Reporter | None) -> Adjusted:
    """Round continuous least squares to integers."""
    found = adjust_cells(problem.relaxed, None, clock, report)
    change = integral_changes(problem, found.change, clock)
    if change is None:
        return adjust_cells(problem, get_backend("highs"), clock, report)
    cost = problem.cost(change)
    return Adjusted(change, cost, min(cost, found.bound))


def _unit(weight: FloatArray) -> float:
    """Return a unit of weights: tolerances of optimisers are absolute."""
    return float(2.0 ** np.floor(np.log2(weight.max(initial=1e-300))))


class _Search:
    """State of the search: incumbent and dual bound."""

    def __init__(
        self, problem: TabularAdjustment, clock: Clock, report: Reporter | None, unit: float
    ) -> None:
        self._problem, self._clock, self._report, self._unit = problem, clock, report, unit
        self._real = problem.relaxed if problem.whole else problem
        self._linear = replace(problem, quadratic=False)
        self.best: FloatArray | None = None
        self.cost, self.bound = np.inf, 0.0
        model = self._linear.model()
        self._program = linear_program(model, LinearOptions(feasibility=1e-9, optimality=1e-9))
        self._choices = 2 * len(problem) + np.arange(problem.choices.size)
        self._relations = problem.table.relations.shape[0]

    @property
    def finished(self) -> bool:
        """Tell whether the incumbent is proven optimal."""
        return self.best is not None and self.bound >= self.cost * (1.0 - tolerances.PROVEN)

    def proposals(self) -> Iterator[BoolArray]:
        """Propose directions: those of the relaxation, and all up."""
        solution = self._program.solve(seconds=self._clock.seconds_left)
        if solution.status is LinearStatus.INFEASIBLE:
            raise UsageError(_NONE)
        if solution.optimal:
            if not self._problem.quadratic:
                self._raise_bound(solution.duals[: self._relations])
            ways = self._problem.ways(solution.point)
            yield ways
            if not ways.all():
                yield np.ones_like(ways)

    def best_changes(self, ways: BoolArray) -> FloatArray | None:
        """Compute the best changes with these directions, or None if there are none."""
        fixed = ways.astype(np.float64)
        self._allow(fixed, fixed)
        solution = self._program.solve(seconds=self._clock.seconds_left)
        if not solution.optimal:
            return None
        lower, upper = self._problem.bounds(ways)
        if not self._problem.quadratic:
            if not self._choices.size:
                self._raise_bound(solution.duals[: self._relations])
            change = self._linear.changes(solution.point)
            return np.clip(change, lower, upper)
        table = self._problem.table
        none = np.zeros(len(table))
        change, multipliers = least_squares(
            self._problem.weight, none, table.relations, (lower, upper), self._clock
        )
        self._raise_bound(multipliers)
        if self._real.wrong(change) is None:
            return change
        return np.clip(self._linear.changes(solution.point), lower, upper)

    def keep(self, change: FloatArray | None) -> None:
        """Keep changes that are cheaper and an adjustment."""
        if change is not None and self._problem.whole:
            change = integral_changes(
                self._problem, change, self._clock.part_of_left(steering.INTEGRAL_SHARE)
            )
        if change is None or self._problem.wrong(change) is not None:
            return
        cost = self._problem.cost(change)
        if cost < self.cost:
            self.best, self.cost = change, cost

    def search_by(self, backend: Backend, seed: int) -> None:
        """Search by a backend: first continuous changes, then integral ones if required."""
        self._solve_by(self._real, backend, seed)
        far = np.maximum(*self._problem.furthest(self.cost)).max(initial=0.0)
        if (
            self._problem.whole
            and not self.finished
            and far <= tolerances.DISTINCT_INTEGERS
            and not self._clock.expired
        ):
            self._solve_by(self._problem, backend, seed)

    def _solve_by(self, problem: TabularAdjustment, backend: Backend, seed: int) -> None:
        """Solve by a backend within the cost of the incumbent."""
        scale = steering.SCALED_COST / self.cost if 0.0 < self.cost < np.inf else 1.0
        scaled = replace(problem, weight=scale * problem.weight)
        found = backend.solve(
            scaled.model(scale * self.cost),
            SolveOptions(
                time_limit=self._clock.seconds_left, seed=seed, relative_gap=tolerances.ADJUSTMENT_GAP
            ),
            starts=[] if self.best is None else [scaled.columns(self.best)],
            watch=lambda progress: self._report_progress(progress, scale),
        )
        if np.isfinite(found.bound):
            self.bound = max(self.bound, found.bound / scale * (1.0 - tolerances.COST))
        if found.values is None:
            return
        if problem.whole:
            self.keep(np.round(problem.changes(found.values)))
        self.keep(self.best_changes(problem.ways(found.values)))

    def branch(self) -> None:
        """Search by our own branch and bound."""
        seen: set[bytes] = set()

        def possible(ways: LongArray) -> bool:
            self._allow((ways == UP).astype(np.float64), (ways != DOWN).astype(np.float64))
            return self._program.solve(seconds=self._clock.seconds_left).status is not LinearStatus.INFEASIBLE

        def propose(ways: BoolArray) -> float:
            if ways.tobytes() not in seen:
                seen.add(ways.tobytes())
                self.keep(self.best_changes(ways))
            return self.cost

        def report(bound: float) -> bool:
            return self._report_progress(BackendProgress(np.inf, bound), 1.0)

        search = Directions(self._problem, possible, self._clock)
        search.run(propose, lambda cost: cost * (1.0 - tolerances.PROVEN / 2.0), report)
        if np.isfinite(search.bound):
            self.bound = max(self.bound, search.bound)

    def _allow(self, lower: FloatArray, upper: FloatArray) -> None:
        """Bound the choices of the linear program."""
        self._program.change_column_bounds(self._choices, lower, upper)

    def _raise_bound(self, multipliers: FloatArray) -> None:
        least = self._problem.least(multipliers)
        if np.isfinite(least):
            self.bound = max(self.bound, least - tolerances.COST * abs(least))

    def _report_progress(self, progress: BackendProgress, scale: float) -> bool:
        """Report progress, and tell whether to stop."""
        if self._report is not None:
            cost, least = min(self.cost, progress.objective / scale), max(self.bound, progress.bound / scale)
            cost, least = cost * self._unit, least * self._unit
            found = f"cost {cost:,.6g}" if np.isfinite(cost) else "none yet"
            self._report(Progress.uncounted(PHASE, f"{found}, at least {max(least, 0.0):,.6g}"))
        return self._clock.expired
