"""Controlled rounding, proven: the relaxation where its optimum is whole, else a search in whole numbers.

Tables of two dimensions, one of them hierarchical at most, are networks: every vertex of the relaxation is
whole, whatever the size. Elsewhere a backend searches, from the cheapest rounding that flips of cells find,
or a dive from the relaxation. There is an answer at any time: where no zero-restricted one is found in time
it is a relaxed one, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.programs import MilpModel
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding
from linkrisk.formulations.tables.inner_sums import InnerSums
from linkrisk.solver.backends.base import Backend, SolveOptions
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.tables.perturbation.rounding_dive import dived
from linkrisk.solver.tables.perturbation.rounding_relaxation import relaxation
from linkrisk.solver.tables.perturbation.rounding_walk import walked

PHASE = "rounding cells"
_CLOSE = 1e-9
_SHARE = 0.5
"""Of the time that is left: for flips near the relaxation, a dive, and flips near the values."""


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

    values: LongArray
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
        Of flips, and of the backend.

    Raises
    ------
    UsageError
        If there is no zero-restricted rounding; or none was found in time, and no relaxed one is there.
    """
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
        return at_hand(table, found, bound)
    return _searched(table, model, found, backend, clock, report, seed, bound)


def _tell(report: Reporter | None, what: str) -> None:
    if report is not None:
        report(Progress.uncounted(PHASE, what))


def _cheapest(table: ControlledRounding, found: Sequence[LongArray | None]) -> LongArray | None:
    """The one that costs least, of those that are controlled roundings of the table."""
    right = [one for one in found if one is not None and table.wrong(one) is None]
    return min(right, key=table.cost, default=None)


def at_hand(table: ControlledRounding, found: Sequence[LongArray | None], bound: float) -> Rounded:
    """What there is when time is over: the cheapest found, else a relaxed one with a bound for relaxed ones.

    Raises
    ------
    UsageError
        If there is none.
    """
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
    """By a backend, from the cheapest rounding that was found."""
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
    return at_hand(table, found, max(bound, result.bound))


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
    """Each cell that no relation sums up rounded to the nearest multiple, the others summed up.

    Returns
    -------
    ndarray of int64, shape (n,), or None
        None where cells do not follow from others. Totals may be far from their values.
    """
    sums = InnerSums.of(table.relations)
    if sums is None:
        return None
    nearest = table.base * np.floor(table.value[sums.inner] / table.base + 0.5)
    return sums.whole(nearest.astype(np.int64))


def _columns(table: ControlledRounding, values: LongArray) -> FloatArray:
    """A point of the model for rounded values."""
    more = values // table.base - table.steps
    first = (more >= 1) & (table.left > 0)
    if table.zero_restricted:
        return np.asarray(first, dtype=np.float64)
    return np.concatenate([first, np.maximum(more - first, 0), np.maximum(-more, 0)]).astype(np.float64)
