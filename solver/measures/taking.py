"""Taking measures of a release one after the other, each within its share of the time that is left."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from linkrisk.errors import called
from linkrisk.solver.measures.base import Measure, MeasureResult
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import noted
from linkrisk.solver.run.limits import in_time, no_time
from linkrisk.solver.run.progress import MEASURES, Progress, Reporter

_Each = TypeVar("_Each")

_STOPPED = "stopped before it was begun"
_UNFINISHED = "stopped before it had ended"

_AT_ONCE = 0.05
"""Seconds on a quiet machine up to which a measure is taken even where no time is left for it."""

_BEYOND = 1.0
"""Seconds that it then has on a busy one; the promise of a time limit has two of them."""

_MOST = 0.5
"""Share of what is left that one measure may take beyond its own before the others go on without it."""


def take_measures(
    measures: Sequence[Measure], task: RiskTask, report: Reporter | None, searched: float
) -> tuple[dict[str, MeasureResult], dict[str, str], dict[str, float]]:
    """Take the measures, the cheapest first, each within its share of what is left; in their own order.

    So time that runs out is that of dear ones, and what cheap ones leave over is theirs. `searched` is the
    share of the call that was done before.

    Returns `left_out`: why, by name. Returns `seconds`: of those that were taken.
    """
    taken: dict[str, MeasureResult] = {}
    left_out: dict[str, str] = {}
    seconds: dict[str, float] = {}
    lacking = {measure.name: _lacking(measure, task) for measure in measures}
    left_out |= {name: reason for name, reason in lacking.items() if reason is not None}
    possible = [measure for measure in measures if lacking[measure.name] is None]
    possible.sort(key=lambda measure: measure.cost)
    for at, measure in enumerate(possible):
        remaining = task.clock.remaining
        late = remaining is not None and remaining < measure.least(task)
        at_once = not task.clock.stopped and 0.0 < measure.least(task) <= _AT_ONCE
        if (late or task.clock.expired) and measure.cost > 0.0 and not at_once:
            left_out[measure.name] = _STOPPED if task.clock.stopped else no_time("take")
            continue
        if report is not None:
            low, high = task.worst.interval
            done = searched + (1.0 - searched) * at / len(possible)
            seconds_now, total = task.clock.seconds, task.worst.worst.total
            report(Progress(seconds_now, low, high, MEASURES, "", measure.name, total, done))
        began = time.perf_counter()
        try:
            share = _share(task, possible[at:])
            found = _taken(measure, task, share, at_once)
        except Exception as error:  # what one measure cannot take must not cost all others
            left_out[measure.name] = noted(error)
            continue
        if found is None:
            left_out[measure.name] = _UNFINISHED if task.clock.stopped else _too_long()
            continue
        taken[measure.name] = found
        seconds[measure.name] = round(time.perf_counter() - began, 3)
    names = [measure.name for measure in measures]
    return _ordered(taken, names), _ordered(left_out, names), _ordered(seconds, names)


def _lacking(measure: Measure, task: RiskTask) -> str | None:
    """Why a measure cannot be taken; None where it can."""
    try:
        return measure.lacking(task)
    except Exception as error:  # what one measure cannot look at must not cost all others
        return noted(error)


@dataclass(frozen=True)
class _Taking:
    """The work of one measure, which has an answer when it has ended."""

    measure: Measure
    task: RiskTask
    clock: Clock

    def do(self) -> MeasureResult | None:
        """Measure."""
        return self.measure.take(self.task, self.clock)

    def so_far(self) -> MeasureResult | None:
        """Nothing is known yet."""
        return None


def _too_long() -> str:
    return f"it had not ended when its time was over; a longer {called('time_limit')} would take it too"


def _taken(measure: Measure, task: RiskTask, clock: Clock, at_once: bool) -> MeasureResult | None:
    """What a measure finds; None where it does not notice that its time is over.

    Its own share is for it to notice; it may take twice as long, and `_MOST` of what is left, where that is
    more, before the others go on without it. The last one may take all that is left.
    """
    work, whole, limit = _Taking(measure, task, clock), task.clock.remaining, clock.time_limit
    if whole is None or limit is None or clock.counts:
        return work.do()
    if at_once and whole < _BEYOND:
        return in_time(work, Clock(_BEYOND))
    return in_time(work, task.clock.part(min(whole, max(2.0 * limit, _MOST * whole))))


def _ordered(found: dict[str, _Each], names: Sequence[str]) -> dict[str, _Each]:
    """The same in the order of these names."""
    return {name: found[name] for name in names if name in found}


def _share(task: RiskTask, left: Sequence[Measure]) -> Clock:
    """The time of the first of the measures that are left."""
    costs = [measure.cost + measure.least(task) for measure in left]
    remaining = task.clock.remaining
    if remaining is None or sum(costs) == 0.0:
        return task.clock.part(remaining)
    return task.clock.part(max(1e-9, remaining * costs[0] / sum(costs)))
