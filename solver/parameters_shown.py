"""What a reader sees of parameters: those that print as zero although links hang on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.aggregators import Aggregator
from formulations.forms import DistanceForm
from solver.engines.base import Record
from solver.linkage.evaluator import Evaluator

FloatArray = NDArray[np.float64]

SHOWN_AS_ZERO = 0.00005
"""Smaller values print as 0.0000."""


def tie_breaking(
    aggregator: Aggregator, record: Record, evaluator: Evaluator, linked: int
) -> dict[str, Any] | None:
    """Which attributes (of an OWA: ranks) print as zero, although without them others would be linked.

    Parameters
    ----------
    aggregator : Aggregator
    record : Record
        The best parameters; its clock.
    evaluator : Evaluator
        Counts what remains linked without those attributes, that is, if records never differed in them.
    linked : int
        Records that the parameters link.

    Returns
    -------
    dict or None
        ``attributes`` or ``ranks``, their names; ``linked_without``, the records linked without all of them.
        None where no count depends on what prints as zero.
    """
    importance = aggregator.importance(record.theta)
    kind = "ranks" if importance is None else "attributes"
    names = list(aggregator.decode(record.theta)["weights"] if importance is None else importance)
    values = np.asarray(record.theta if importance is None else list(importance.values()))
    small = np.flatnonzero((values > 0.0) & (values < SHOWN_AS_ZERO))
    small = small[np.argsort(values[small], kind="stable")]

    def left(gone: Sequence[int]) -> int:
        return int(evaluator.count(_without(aggregator, record.theta, gone)).sum())

    if small.size == 0 or (without := left(small.tolist())) == linked:
        return None
    # Those that make no difference after all, the smallest first, are not said to make one.
    idle: list[int] = []
    for at in small.tolist() if small.size > 1 else ():
        if not record.clock.expired and left([*idle, at]) == linked:
            idle.append(at)
    told = [names[at] for at in sorted(set(small.tolist()) - set(idle))]
    return {kind: told, "linked_without": without}


def _without(aggregator: Aggregator, theta: FloatArray, gone: Sequence[int]) -> DistanceForm:
    """The distance without some attributes; where parameters belong to ranks, without these."""
    if aggregator.importance(theta) is not None:
        return aggregator.form(theta).without(gone)
    rest = theta.copy()
    rest[list(gone)] = 0.0
    return aggregator.form(aggregator.repair(rest))
