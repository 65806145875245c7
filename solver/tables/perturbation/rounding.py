"""Controlled rounding: network relaxation, primal heuristics, then branch and bound by a backend.

Tables of two dimensions, at most one of them hierarchical, are networks: every vertex of the relaxation is
integral. Otherwise a backend searches, starting from the cheapest rounding of local search or diving. An
answer exists at any time: if no zero-restricted rounding is found, it is a relaxed one, marked as such.
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
from linkrisk.solver.tables import steering, tolerances


def dived(
    table: ControlledRounding, model: MilpModel, program: LinearProgram, point: FloatArray, clock: Clock
) -> LongArray | None:
    """Dive from the relaxation: fix nearly integral variables and solve again; None if that fails.

    If a batch is infeasible, only its most integral variable is fixed, or set to the opposite, so that each
    round fixes at least one. The bounds of the columns of `program`, the solved relaxation, are changed.
    """
    while not clock.expired:
        distance = np.abs(point - np.round(point))
        left = np.flatnonzero(distance > tolerances.ROUNDED)
        if not left.size:
            values = table.rounded(point)
            return values if table.wrong(values) is None else None
        nearest = left[np.argsort(distance[left], kind="stable")]
        batch = nearest[: max(1, left.size // steering.DIVE_FRACTION)]
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


_BY_GRADIENTS = LinearOptions(own={"solver": "pdlp", "presolve": "off"})


@dataclass(frozen=True, eq=False)
class Relaxed:
    """Result of solving the relaxation."""

    bound: float  # dual bound on all controlled roundings
    point: FloatArray  # (k,): of the columns of the model, z of every cell first
    near: bool  # whether the point is optimal, or nearly
    program: LinearProgram | None = None  # with its optimal basis, from the simplex method

    @property
    def whole(self) -> bool:
        """Tell whether the optimum is integral."""
        apart = np.abs(self.point - np.round(self.point))
        return self.program is not None and bool((apart <= tolerances.ROUNDED).all())


def relaxation(table: ControlledRounding, model: MilpModel, clock: Clock) -> Relaxed | None:
    """Solve the relaxation by the simplex method, else by a first-order method; None if infeasible.

    In three dimensions bases of 100,000 cells take minutes; a primal-dual gradient method (Applegate et al.
    2021, Practical large-scale linear programming using primal-dual hybrid gradient) takes seconds. Its point
    is no vertex and its multipliers may be suboptimal: the bound is recomputed from them.
    """
    program = linear_program(model, LinearOptions())
    solution = program.solve(seconds=clock.part_of_left(steering.ROUNDING_SIMPLEX_SHARE).seconds_left)
    if solution.status is LinearStatus.INFEASIBLE:
        return None
    if solution.optimal and solution.objective is not None:
        return Relaxed(_safe(solution.objective), solution.point, near=True, program=program)
    if clock.expired:
        return Relaxed(-np.inf, solution.point, near=False)
    # the program of zero-restricted roundings, whose columns all have bounds
    strict = model if table.zero_restricted else replace(table, zero_restricted=True).model()
    found = linear_program(strict, _BY_GRADIENTS).solve(
        seconds=clock.part_of_left(steering.ROUNDING_GRADIENT_SHARE).seconds_left
    )
    bound = _safe(lower_bound(strict, found.duals)) if table.zero_restricted else -np.inf
    return Relaxed(bound, found.point, near=found.optimal)


def _safe(bound: float) -> float:
    """Subtract the possible rounding error from a bound."""
    return bound - tolerances.COST * max(1.0, abs(bound))


_MIDDLE = 0.5


def walked(
    table: ControlledRounding, clock: Clock, seed: int = 0, near: FloatArray | None = None
) -> LongArray | None:
    """Local search: flip cells between neighbouring multiples until all totals are feasible.

    It takes seconds for 150,000 cells in three dimensions, where the relaxation takes minutes, and proves
    nothing. If it finds no zero-restricted rounding, some totals are farther from their values than the next
    multiple: the result is a relaxed rounding with few such cells. After the clock has expired one more round
    of flips is made. None if cells do not follow from others by integral sums.
    """
    sums = InnerSums.of(table.relations)
    if sums is None or (sums.matrix.data != np.round(sums.matrix.data)).any():
        return None
    walk = _Walk(table, sums, seed, near)
    if walk.mend(clock):
        walk.cheapen(clock)
    return sums.whole(table.base * (table.steps[sums.inner] + walk.upper))


class _Walk:
    """State of the local search."""

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
            wrong=steering.INFEASIBLE_TOTAL_PENALTY
            * table.base
            * max(1e-300, float(table.weight.max(initial=0.0))),
        )
        begin = gain < 0.0 if near is None else near[inner] > _MIDDLE
        self.upper = (between[inner] & begin).astype(np.int64)
        self._steps = np.round(rows @ (steps[inner] + self.upper)).astype(np.int64)
        self._random, self._cost = np.random.default_rng(seed), table.least

    def mend(self, clock: Clock) -> bool:
        """Flip cells until no total is infeasible; tell whether that succeeded, and keep the best state."""
        best, least = (self.upper.copy(), self._steps.copy()), np.inf
        for _ in range(
            1 + (steering.MOST_FLIPS + steering.FLIPS_PER_CELL * self.upper.size) // steering.FLIPS_PER_ROUND
        ):
            wrong = mended(self._table, self.upper, self._steps, steering.FLIPS_PER_ROUND, self._random)
            if wrong < least:
                best, least = (self.upper.copy(), self._steps.copy()), wrong
            if not wrong or clock.expired:
                break
        self.upper, self._steps = best
        return least == 0

    def cheapen(self, clock: Clock) -> None:
        """Reduce the cost by short sequences of flips, then longer ones."""
        tries, lots = (
            min(steering.CELLS_TRIED_AT_ONCE, steering.TRIES_PER_CELL * self.upper.size),
            1 + self.upper.size // steering.CELLS_TRIED_AT_ONCE,
        )
        for depth in steering.FLIPS_PER_TRY:
            for _ in range(steering.TRY_ROUNDS):
                saved = 0.0
                for _ in range(lots):
                    if clock.expired:
                        return
                    saved += cheaper(self._table, self.upper, self._steps, tries, depth, self._random)
                if saved <= steering.LEAST_TRY_GAIN * self._cost:
                    break


PHASE = "rounding cells"


@dataclass(frozen=True, eq=False)
class Rounded:
    """Rounded table with its cost and dual bound."""

    values: LongArray  # (n,)
    cost: float  # weighted sum of changes
    bound: float  # no controlled rounding of this kind costs less
    # False also if no zero-restricted rounding was found in time
    zero_restricted: bool

    @property
    def proven(self) -> bool:
        """Tell whether it is optimal."""
        return self.bound >= self.cost - tolerances.COST * max(1.0, self.cost)


def round_cells(
    table: ControlledRounding,
    backend: Backend,
    clock: Clock,
    report: Reporter | None = None,
    seed: int = 0,
) -> Rounded:
    """Round a table at the least change, by a backend if the relaxation is not integral."""
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
        found.append(
            walked(table, clock.part_of_left(steering.ROUNDING_SEARCH_SHARE), seed, point[: table.value.size])
        )
        if table.zero_restricted and relaxed.program is not None and _cheapest(table, found) is None:
            found.append(
                dived(
                    table, model, relaxed.program, point, clock.part_of_left(steering.ROUNDING_SEARCH_SHARE)
                )
            )
    found += [walked(table, clock.part_of_left(steering.ROUNDING_SEARCH_SHARE), seed), summed_up(table)]
    if clock.expired:  # a backend would take seconds only to read the program
        return best_in_time(table, found, bound)
    return _searched(table, model, found, backend, clock, report, seed, bound)


def _tell(report: Reporter | None, what: str) -> None:
    if report is not None:
        report(Progress.uncounted(PHASE, what))


def _cheapest(table: ControlledRounding, found: Sequence[LongArray | None]) -> LongArray | None:
    """Return the cheapest of those that are controlled roundings of the table."""
    right = [one for one in found if one is not None and table.wrong(one) is None]
    return min(right, key=table.cost, default=None)


def best_in_time(table: ControlledRounding, found: Sequence[LongArray | None], bound: float) -> Rounded:
    """Return the cheapest rounding found in time, else a relaxed one with its bound."""
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
    return table.least * (1.0 - tolerances.COST)


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
    """Search by a backend, starting from the cheapest rounding found."""
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
            return _checked(
                table, values, max(bound, result.bound - tolerances.COST * max(1.0, abs(result.bound)))
            )
    if start is None and result.limit is None:
        raise UsageError(_none(table))
    return best_in_time(table, found, max(bound, result.bound))


def _checked(table: ControlledRounding, values: LongArray, bound: float) -> Rounded:
    wrong = table.wrong(values)
    if wrong is not None:
        raise AssertionError(f"a rounding that was found is none: {wrong}")
    cost = table.cost(values)
    proven = bound >= cost * (1.0 - 10.0 * tolerances.COST)
    return Rounded(values, cost, cost if proven else bound, table.zero_restricted)


def _none(table: ControlledRounding) -> str:
    return (
        f"no zero-restricted rounding to base {table.base} adds up; allow a relaxed one, or take another base"
        if table.zero_restricted
        else f"no rounding to base {table.base} adds up; take another base, or leave relations out"
    )


def summed_up(table: ControlledRounding) -> LongArray | None:
    """Round cells that are no total to the nearest multiple, and sum up the totals.

    None if cells do not follow from others. Totals may be far from their values.
    """
    sums = InnerSums.of(table.relations)
    if sums is None:
        return None
    nearest = table.base * np.floor(table.value[sums.inner] / table.base + 0.5)
    return sums.whole(nearest.astype(np.int64))


def _columns(table: ControlledRounding, values: LongArray) -> FloatArray:
    """Return the point of the model for rounded values."""
    more = values // table.base - table.steps
    first = (more >= 1) & (table.left > 0)
    if table.zero_restricted:
        return np.asarray(first, dtype=np.float64)
    return np.concatenate([first, np.maximum(more - first, 0), np.maximum(-more, 0)]).astype(np.float64)
