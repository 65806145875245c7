"""Controlled rounding: network relaxation, primal heuristics, then a mixed-integer search by a backend.

Tables of two dimensions, one of them hierarchical at most, are networks: every vertex of the relaxation is
integral, whatever the size. Elsewhere a backend searches, from the cheapest rounding that flips of cells or a
dive from the relaxation find. There is an answer at any time: where no zero-restricted rounding is found in
time it is a relaxed one, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.programs import MilpModel, lower_bound
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.formulations.tables.inner_sums import InnerSums
from linkrisk.formulations.tables.rounding_flips import Flippable, cheaper, mended
from linkrisk.solver.backends.base import Backend, SolveOptions
from linkrisk.solver.backends.linear.base import LinearOptions, LinearProgram, LinearStatus, linear_program
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Progress, Reporter

_WHOLE = 1e-6
"""What a point of an optimiser may differ from whole numbers by."""

_PART = 5
"""A fifth of what is not whole is made whole at a time."""


def dived(
    table: ControlledRounding, model: MilpModel, program: LinearProgram, point: FloatArray, clock: Clock
) -> LongArray | None:
    """Dive from the relaxation: round what is nearly integral, and solve again; None where that fails.

    Where a batch leaves no solution, the nearest of it alone is rounded, or to its opposite: so each round
    decides one cell at least. The bounds of the columns of `program`, the solved relaxation, are changed.
    """
    while not clock.expired:
        distance = np.abs(point - np.round(point))
        left = np.flatnonzero(distance > _WHOLE)
        if not left.size:
            values = table.rounded(point)
            return values if table.wrong(values) is None else None
        nearest = left[np.argsort(distance[left], kind="stable")]
        batch = nearest[: max(1, left.size // _PART)]
        first = nearest[:1]
        found = None
        for cells, whole in (
            (batch, np.round(point[batch])),
            (first, np.round(point[first])),
            (first, 1.0 - np.round(point[first])),
        ):
            program.change_column_bounds(cells, whole, whole)
            solution = program.solve(seconds=clock.seconds_left)
            if solution.optimal:
                found = solution.point
                break
            program.change_column_bounds(cells, model.column_lower[cells], model.column_upper[cells])
        if found is None:
            return None
        point = found
    return None


_SIMPLEX, _GRADIENTS = 0.2, 0.5
"""Of the time that is left: for the simplex method, then for the other."""

_BY_GRADIENTS = LinearOptions(own={"solver": "pdlp", "presolve": "off"})


@dataclass(frozen=True, eq=False)
class Relaxed:
    """What is known of the relaxation."""

    bound: float  # No controlled rounding costs less.
    point: FloatArray  # (k,): Of the columns of the model, z of every cell first.
    near: bool  # Whether the point is an optimum, or near one.
    program: LinearProgram | None = None  # With its optimal basis, where the simplex method found it.

    @property
    def whole(self) -> bool:
        """Whether its optimum is integral."""
        apart = np.abs(self.point - np.round(self.point))
        return self.program is not None and bool((apart <= _WHOLE).all())


def relaxation(table: ControlledRounding, model: MilpModel, clock: Clock) -> Relaxed | None:
    """Solve the relaxation by the simplex method, else by first-order steps; None where it is infeasible.

    In three dimensions bases of 100,000 cells take minutes; a primal-dual gradient method (Applegate et al.
    2021, Practical large-scale linear programming using primal-dual hybrid gradient) takes seconds. Its point
    is no vertex, and its multipliers need not be those of the optimum: the bound is what they prove.
    """
    program = linear_program(model, LinearOptions())
    solution = program.solve(seconds=clock.part_of_left(_SIMPLEX).seconds_left)
    if solution.status is LinearStatus.INFEASIBLE:
        return None
    if solution.optimal and solution.objective is not None:
        return Relaxed(_safe(solution.objective), solution.point, near=True, program=program)
    if clock.expired:
        return Relaxed(-np.inf, solution.point, near=False)
    # the program of zero-restricted ones, whose columns all have bounds
    strict = model if table.zero_restricted else replace(table, zero_restricted=True).model()
    found = linear_program(strict, _BY_GRADIENTS).solve(seconds=clock.part_of_left(_GRADIENTS).seconds_left)
    bound = _safe(lower_bound(strict, found.duals)) if table.zero_restricted else -np.inf
    return Relaxed(bound, found.point, near=found.optimal)


def _safe(bound: float) -> float:
    """Subtract from a bound what rounding may have added."""
    return bound - _CLOSE * max(1.0, abs(bound))


_FLIPS, _MOST, _FOR_EACH = 10_000, 200_000, 20
"""Flips at a time; and at most, with so many more for each cell."""

_TRIES, _FOR_SMALL = 20_000, 20
"""Cells that are tried at a time to make it cheaper; in small tables so many for each cell."""

_DEPTHS, _ROUNDS, _GAIN = (4, 8, 16, 32), 5, 1e-4
"""Flips for each try; and rounds of a try for each cell, of which the last saves less than this share."""

_MIDDLE = 0.5

_WRONG = 2.0
"""What each base counts that a total is beyond its multiples, in bases of the heaviest cell."""


def walked(
    table: ControlledRounding, clock: Clock, seed: int = 0, near: FloatArray | None = None
) -> LongArray | None:
    """Flip cells between neighbouring multiples until all adds up, beginning near a point or the values.

    It takes seconds for 150,000 cells in three dimensions, where the relaxation takes minutes, and proves
    nothing. Where it finds no zero-restricted rounding, some totals are farther from their values than the
    next multiple: a relaxed rounding with few such cells. When the clock has expired, one more lot of flips
    is made, and none to make it cheaper. None where cells do not follow from others by integral sums.
    """
    sums = InnerSums.of(table.relations)
    if sums is None or (sums.matrix.data != np.round(sums.matrix.data)).any():
        return None
    walk = _Walk(table, sums, seed, near)
    if walk.mend(clock):
        walk.cheapen(clock)
    return sums.whole(table.base * (table.steps[sums.inner] + walk.upper))


class _Walk:
    """The state of the walk."""

    def __init__(
        self, table: ControlledRounding, sums: InnerSums, seed: int, near: FloatArray | None
    ) -> None:
        inner, totals = sums.inner, sums.totals
        steps, left, between = table.steps, table.left, table.left > 0
        rows, columns = sparse.csr_array(sums.matrix), sparse.csc_array(sums.matrix)
        gain = table.weight[inner] * (table.base - 2.0 * left[inner])
        self._table = Flippable(
            row_starts=rows.indptr.astype(np.int64),
            row_cells=rows.indices.astype(np.int64),
            starts=columns.indptr.astype(np.int64),
            totals=columns.indices.astype(np.int64),
            times=np.round(columns.data).astype(np.int64),
            may=between[inner],
            gain=gain,
            low=steps[totals],
            high=steps[totals] + between[totals],
            value=table.value[totals],
            weight=table.weight[totals],
            base=float(table.base),
            wrong=_WRONG * table.base * max(1e-300, float(table.weight.max(initial=0.0))),
        )
        begin = gain < 0.0 if near is None else near[inner] > _MIDDLE
        self.upper = (between[inner] & begin).astype(np.int64)
        self._steps = np.round(rows @ (steps[inner] + self.upper)).astype(np.int64)
        self._random, self._cost = np.random.default_rng(seed), table.least

    def mend(self, clock: Clock) -> bool:
        """Flip cells until no total is wrong; tell whether that succeeded. The least wrong state stays."""
        best, least = (self.upper.copy(), self._steps.copy()), np.inf
        for _ in range(1 + (_MOST + _FOR_EACH * self.upper.size) // _FLIPS):
            wrong = mended(self._table, self.upper, self._steps, _FLIPS, self._random)
            if wrong < least:
                best, least = (self.upper.copy(), self._steps.copy()), wrong
            if not wrong or clock.expired:
                break
        self.upper, self._steps = best
        return least == 0

    def cheapen(self, clock: Clock) -> None:
        """Save what can be saved in few flips, then in more at a time."""
        tries, lots = min(_TRIES, _FOR_SMALL * self.upper.size), 1 + self.upper.size // _TRIES
        for depth in _DEPTHS:
            for _ in range(_ROUNDS):
                saved = 0.0
                for _ in range(lots):
                    if clock.expired:
                        return
                    saved += cheaper(self._table, self.upper, self._steps, tries, depth, self._random)
                if saved <= _GAIN * self._cost:
                    break


PHASE = "rounding cells"
_CLOSE = 1e-9
_SHARE = 0.5
"""Of the time that is left: for flips near the relaxation, a dive, and flips near the values."""


@dataclass(frozen=True, eq=False)
class Rounded:
    """A rounded table."""

    values: LongArray  # (n,)
    cost: float  # The weighted sum of changes.
    bound: float  # No controlled rounding of this kind costs less.
    # Its kind: False too where a zero-restricted one was asked for, and none was found in time.
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
    """Round a table at the least change; the backend searches where the relaxation is not integral."""
    model = table.model()
    _tell(report, "the relaxation")
    relaxed = relaxation(table, model, clock)
    if relaxed is None:
        raise UsageError(_none(table))
    bound, point, found = max(relaxed.bound, _least(table)), relaxed.point, list[LongArray | None]()
    if relaxed.whole:
        return _checked(table, table.rounded(point), bound)
    _tell(report, f"flips of cells, at least {bound:,.6g}")
    if relaxed.near:
        found.append(walked(table, clock.part_of_left(_SHARE), seed, point[: table.value.size]))
        if table.zero_restricted and relaxed.program is not None and _cheapest(table, found) is None:
            found.append(dived(table, model, relaxed.program, point, clock.part_of_left(_SHARE)))
    found += [walked(table, clock.part_of_left(_SHARE), seed), summed_up(table)]
    if clock.expired:  # a backend would take seconds only to read the program
        return best_in_time(table, found, bound)
    return _searched(table, model, found, backend, clock, report, seed, bound)


def _tell(report: Reporter | None, what: str) -> None:
    if report is not None:
        report(Progress.uncounted(PHASE, what))


def _cheapest(table: ControlledRounding, found: Sequence[LongArray | None]) -> LongArray | None:
    """Return the one that costs least, of those that are controlled roundings of the table."""
    right = [one for one in found if one is not None and table.wrong(one) is None]
    return min(right, key=table.cost, default=None)


def best_in_time(table: ControlledRounding, found: Sequence[LongArray | None], bound: float) -> Rounded:
    """Return the cheapest found when time is over, else a relaxed one with a bound for relaxed ones."""
    start = _cheapest(table, found)
    if start is not None:
        return _checked(table, start, bound)
    relaxed = replace(table, zero_restricted=False)
    values = _cheapest(relaxed, found)
    if values is None:
        kind = "zero-restricted" if table.zero_restricted else "relaxed"
        raise UsageError(f"no {kind} rounding was found in time; give it more")
    return _checked(relaxed, values, _least(relaxed))


def _least(table: ControlledRounding) -> float:
    return table.least * (1.0 - _CLOSE)


def _searched(
    table: ControlledRounding,
    model: MilpModel,
    found: Sequence[LongArray | None],
    backend: Backend,
    clock: Clock,
    report: Reporter | None,
    seed: int,
    bound: float,
) -> Rounded:
    """Search by a backend, from the cheapest rounding that was found."""
    start = _cheapest(table, found)
    best = None if start is None else table.cost(start)

    def watch(progress: object) -> bool:
        cost = min(getattr(progress, "objective", np.inf), np.inf if best is None else best)
        least = max(getattr(progress, "bound", 0.0), bound)
        change = f"change {cost:,.6g}" if np.isfinite(cost) else "none yet"
        _tell(report, f"{change}, at least {max(least, 0.0):,.6g}")
        return clock.expired

    options = SolveOptions(time_limit=clock.seconds_left, seed=seed)
    result = backend.solve(
        model, options, starts=[] if start is None else [_columns(table, start)], watch=watch
    )
    if result.values is not None:
        values = table.rounded(result.values)
        if best is None or table.cost(values) <= best:
            return _checked(table, values, max(bound, result.bound - _CLOSE * max(1.0, abs(result.bound))))
    if start is None and result.limit is None:
        raise UsageError(_none(table))
    return best_in_time(table, found, max(bound, result.bound))


def _checked(table: ControlledRounding, values: LongArray, bound: float) -> Rounded:
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


def summed_up(table: ControlledRounding) -> LongArray | None:
    """Round each cell that no relation sums up to the nearest multiple, and sum up the others.

    None where cells do not follow from others. Totals may be far from their values.
    """
    sums = InnerSums.of(table.relations)
    if sums is None:
        return None
    nearest = table.base * np.floor(table.value[sums.inner] / table.base + 0.5)
    return sums.whole(nearest.astype(np.int64))


def _columns(table: ControlledRounding, values: LongArray) -> FloatArray:
    """Return a point of the model for rounded values."""
    more = values // table.base - table.steps
    first = (more >= 1) & (table.left > 0)
    if table.zero_restricted:
        return np.asarray(first, dtype=np.float64)
    return np.concatenate([first, np.maximum(more - first, 0), np.maximum(-more, 0)]).astype(np.float64)
