"""Parameters that print as zero although links depend on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.worst_case.search_state import Run

SHOWN_AS_ZERO = 0.00005
"""Smaller values print as 0.0000."""

_MOMENT = 0.15
"""Seconds that counting may take where the time limit has passed."""


def tie_breaking(aggregator: Aggregator, run: Run, linked: int) -> dict[str, Any] | None:
    """Which attributes (of an OWA: ranks) print as zero, although without them others would be linked.

    Parameters
    ----------
    aggregator : Aggregator
    run : Run
        Has the best parameters.
    linked : int
        Records that they link.

    Returns
    -------
    dict or None
        ``attributes`` (or what else `Words.owners` says), their names; ``linked_without``, the records linked
        without all of them, that is, if records never differed in them, or None where there was no time to
        count. None where nothing that prints as zero matters.
    """
    theta = run.incumbent.solution
    importance = aggregator.importance(theta)
    names = list(aggregator.decode(theta)["weights"] if importance is None else importance)
    values = np.asarray(theta if importance is None else list(importance.values()))
    small = np.flatnonzero((values > 0.0) & (values < SHOWN_AS_ZERO))
    small = small[np.argsort(values[small], kind="stable")]
    if small.size == 0:
        return None
    count = _Count(aggregator, run)
    without = count(small.tolist())
    if without == linked:
        return None
    # Those that make no difference after all, the smallest first, are not said to make one.
    idle: list[int] = []
    for at in small.tolist() if small.size > 1 else ():
        if count([*idle, at]) == linked:
            idle.append(at)
    told = [names[at] for at in sorted(set(small.tolist()) - set(idle))]
    return {aggregator.words.owners: told, "linked_without": without}


class _Count:
    """Counts records linked without some attributes (or ranks, or parts: what parameters belong to)."""

    def __init__(self, aggregator: Aggregator, run: Run) -> None:
        self._aggregator, self._theta = aggregator, run.incumbent.solution
        until = _until(run.incumbent.clock)
        self._evaluator = Evaluator(run.evaluator.pair, stop=lambda: run.incumbent.clock.seconds >= until)

    def __call__(self, gone: Sequence[int]) -> int | None:
        """How many; None where there is no time to look at all records."""
        evaluation = self._evaluator.counted(self._form(gone))
        return evaluation.count if evaluation.settled.all() else None

    def _form(self, gone: Sequence[int]) -> DistanceForm:
        if self._aggregator.importance(self._theta) is not None:
            return self._aggregator.form(self._theta).without(gone)
        rest = self._theta.copy()
        rest[list(gone)] = 0.0
        return self._aggregator.form(self._aggregator.domain.repair(rest))


def _until(clock: Clock) -> float:
    """When counting must end, in seconds of the clock."""
    if clock.stopped or clock.out_of_memory or clock.time_limit is not None:
        limit = 0.0 if clock.stopped or clock.out_of_memory else clock.time_limit or 0.0
        return max(limit, clock.seconds + _MOMENT)
    return float("inf")
