"""A count of all records that a limit may end: in random order, and what the records until then say of all.

Records are counted in stages, whose sizes are fixed before any of them is looked at. Whatever ends the count,
the records of the last full stage are a random sample of the file, drawn before; each stage has its part of
what the confidence limits may be wrong with, so that they hold whichever stage is the last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import pairwise

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.solver.linkage.evaluator import Evaluation, Evaluator, spread
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.worst_case.sampled.confidence import Design
from linkrisk.solver.worst_case.sampled.plan import CONFIDENCE
from linkrisk.solver.worst_case.sampled.result import file_limit

FIRST_STAGE = 1_024
"""Records of the first stage, which is counted however late it is: in a moment, and enough to say much."""

_MOST_AT_ONCE = 4_096
"""Records between two reports of how far a count is; those of the last that was not done do not count."""

_SIDES = 2
"""A limit from below and one from above, wrong with the chance that is left together."""


@dataclass(frozen=True)
class StagedCount:
    """What was counted.

    Attributes
    ----------
    evaluation : Evaluation
        Of all blocks; those that were not counted are not `settled`.
    sample : ndarray of int
        Blocks of the last full stage.
    stages : int
        That there are.
    """

    evaluation: Evaluation
    sample: IndexArray
    stages: int

    @property
    def all(self) -> bool:
        """Whether every block was counted."""
        return bool(self.evaluation.settled.all())

    def certain(self, weight: FloatArray) -> tuple[float, float]:
        """The weight that is linked at least, and at most: blocks that were not counted may be either."""
        found = self.evaluation
        return float(weight[found.linked].sum()), float(weight[found.linked | ~found.settled].sum())

    def limits(self, weight: FloatArray, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Confidence limits of the weight that is linked in the whole file, from below and from above.

        Parameters
        ----------
        weight : ndarray of float64, shape (blocks,)
        confidence : float
            That both hold.
        """
        low, high = self.certain(weight)
        alpha = (1 - Fraction(str(confidence))) / (_SIDES * self.stages)
        design = Design(weight.size, self.sample.size)
        linked = self.evaluation.linked[self.sample]
        own = weight[self.sample]
        most = file_limit(design, float(own[linked].sum()), weight, alpha)
        missed = file_limit(design, float(own[~linked].sum()), weight, alpha)
        least = min(max(low, float(weight.sum()) - missed), high)
        return least, max(least, min(high, most))


def count_in_stages(
    evaluator: Evaluator,
    form: DistanceForm,
    order: IndexArray,
    clock: Clock,
    tell: Callable[[int], None],
) -> StagedCount | None:
    """Count all blocks until the clock has run out; None where it was stopped before the first stage's end.

    Parameters
    ----------
    evaluator : Evaluator
        Asks the clock whether to stop.
    form : DistanceForm
    order : ndarray of int, shape (blocks,)
        A random one.
    clock : Clock
    tell : callable
        Told how many blocks were counted.
    """
    ends = _ends(order.size)
    counted, full = [order[: ends[0]]], ends[0]
    # However late it is.
    parts = [Evaluator(evaluator.pair, stop=lambda: clock.stopped).table(form, counted[0])]
    if not parts[0].settled.all():
        return None
    for blocks, done in _pieces(order, ends):
        tell(sum(part.size for part in counted))
        part = None if clock.expired else evaluator.table(form, blocks)
        if part is None or not part.settled.all():  # neighbours come first: those that were are not random
            break
        parts.append(part)
        counted.append(blocks)
        full = max(full, done)
    found = spread(_joined(parts), np.concatenate(counted), evaluator.pair.weight, settled=False)
    return StagedCount(found, order[:full], len(ends))


def _pieces(order: IndexArray, ends: list[int]) -> Iterator[tuple[IndexArray, int]]:
    """The stages after the first in pieces, with the end of the stage after the last of each, else zero."""
    for start, end in pairwise(ends):
        pieces = np.array_split(order[start:end], math.ceil((end - start) / _MOST_AT_ONCE))
        yield from ((blocks, 0) for blocks in pieces[:-1])
        yield pieces[-1], end


def _ends(blocks: int) -> list[int]:
    """How many blocks are counted at the end of each stage: twice as many each time."""
    ends = [min(blocks, FIRST_STAGE)]
    while ends[-1] < blocks:
        ends.append(min(blocks, 2 * ends[-1]))
    return ends


def _joined(parts: list[Evaluation]) -> Evaluation:
    """The evaluations of some blocks and of others as one."""
    named = {
        each.name: np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(parts[0])
    }
    return Evaluation(**named)
