"""Derive confidence limits for a file from sampled searches, and from staged counts.

A staged count has a random order, and sizes fixed before any record is compared. Whatever ends it, the
records of the last complete stage are a random sample of the file; each stage has its share of the error
probability, so that the limits hold whichever stage is the last (alpha spending).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.errors import NONE, called
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.solver.engines.base import whole
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.linkage.evaluator import Evaluation, Evaluator, spread
from linkrisk.solver.run.clock import Clock, Status
from linkrisk.solver.run.number_format import confident
from linkrisk.solver.run.result import plain
from linkrisk.solver.schemas.intervals import LINKED, least_key, limit_key, objective
from linkrisk.solver.worst_case.answers import answer, most_blocks
from linkrisk.solver.worst_case.request import FitRequest
from linkrisk.solver.worst_case.result import FamilyFit
from linkrisk.solver.worst_case.sampled.confidence import Design, upper_limit, upper_limit_of_sum
from linkrisk.solver.worst_case.sampled.samples import CONFIDENCE, METHOD, SamplingChoice
from linkrisk.solver.worst_case.sampled.search import SampledRun

_ROUNDED = Fraction(1, 10**9)
"""Relative rounding error allowed for a sum of doubles."""


@dataclass(frozen=True)
class StageLimit:
    """Confidence limit of one stage for the file."""

    # samples, records, searched samples, their records, and how many of the samples were searched
    samples: int
    records: int
    searched: int
    bound: float  # weight of these records that no parameters exceed
    alpha: Fraction  # error probability
    limit: float  # of the linked weight of the file, wrong with probability `alpha`


def stage_limits(state: SampledRun) -> list[StageLimit]:
    """Compute the limit of every stage."""
    samples, weight = state.samples, state.run.system.pair.weight
    stages = []
    for stage, drawn in zip(samples.plan.stages, samples.draws, strict=True):
        bound = state.bound(stage.samples)
        stages.append(
            StageLimit(
                samples=stage.samples,
                records=drawn.blocks.size,
                searched=sum(k in state.searches for k in range(stage.samples)),
                bound=bound,
                alpha=stage.alpha,
                limit=file_limit(drawn.design, bound, weight, stage.alpha),
            )
        )
    return stages


def file_limit(design: Design, bound: float, weight: FloatArray, alpha: Fraction) -> float:
    """Compute the limit on the linked weight of the file from a bound on that of a sample."""
    if whole(weight):
        return float(upper_limit(design, int(bound + 1e-6), alpha))
    heaviest = float(weight.max())
    found = min(Fraction(bound) * (1 + _ROUNDED) / Fraction(heaviest), Fraction(design.sample))
    return float(min(upper_limit_of_sum(design, found, alpha) * heaviest, weight.sum()))


def sampled_answer(problem: Problem, request: FitRequest, state: SampledRun) -> FamilyFit:
    """Make the result of a sampled run."""
    result, choice = answer(problem, request, state.run), request.sampling
    run, pair = state.run, problem.pair
    stages = stage_limits(state)
    best = min(stages, key=lambda stage: stage.limit)
    evaluation = run.final
    # The certain bound excludes lost records of the samples, and covers at least the counted links.
    most = max(min(best.limit, run.incumbent.bound), evaluation.linked_weight)
    count = most_blocks(pair.weight, most) if not whole(pair.weight) else int(most + 1e-6)
    limits: dict[str, Any] = {limit_key(LINKED): min(max(count, result.linked), result.linked_upper_bound)}
    keys = objective(result.details)
    alpha = (1 - Fraction(str(choice.confidence))) / choice.families
    counted = _counted(state, evaluation, alpha, keys, problem.survey.unit)
    if keys != LINKED:
        limits[limit_key(keys)] = max(plain(most * problem.survey.unit), result.details[keys[0]])
    if (least := counted.get(least_key(keys))) is not None:
        limits[least_key(keys)] = least = min(least, result.interval[1])
        limits[limit_key(keys)] = max(limits[limit_key(keys)], least)  # where the limits cross by chance
    details = {
        "confidence": choice.confidence,
        **limits,
        **result.details,
        "notes": [*result.details["notes"], *_notes(state, choice)],
        "sampling": {
            "sample": _sample(state, best, evaluation, problem.survey.unit),
            "stages": [_stage(stage, problem.survey.unit) for stage in stages],
            "draw": {
                "method": METHOD,
                "seed": request.options.seed,
                "size": state.samples.plan.size,
                "strata": choice.strata,
            },
            "counted": counted,
        },
    }
    interrupted = run.incumbent.clock.stopped
    status = Status.INTERRUPTED if interrupted else Status.FEASIBLE
    return replace(result, status=status.value, details=details)


def _sample(state: SampledRun, best: StageLimit, evaluation: Evaluation, unit: float) -> dict[str, Any]:
    """Report the links within the samples of the deciding stage, and their bound."""
    drawn = np.concatenate(state.samples.parts[: best.samples])
    weight = evaluation.weight[drawn]
    linked = evaluation.linked[drawn]
    said = {
        "samples": best.samples,
        "records": int(drawn.size),
        "linked": int(linked.sum()),
        "linked_upper_bound": most_blocks(weight, best.bound),
    }
    if not whole(evaluation.weight):
        said |= {
            "weight_linked": plain(float(weight[linked].sum()) * unit),
            "weight_upper_bound": plain(best.bound * unit),
        }
    return said


def _stage(stage: StageLimit, unit: float) -> dict[str, Any]:
    return {
        "samples": stage.samples,
        "records": stage.records,
        "searched": stage.searched,
        "bound": plain(stage.bound * unit),
        "alpha": str(stage.alpha),
        "limit": plain(stage.limit * unit),
    }


def _counted(
    state: SampledRun,
    evaluation: Evaluation,
    alpha: Fraction,
    keys: tuple[str, str] = LINKED,
    unit: float = 1.0,
) -> dict[str, Any]:
    """Report the records counted under the attack, and if not all, the limit for the file.

    Counted records that the attack was not searched on are a random sample of the others, independent of the
    attack. Where the attack is the best of several, each has its share of the error probability (Bonferroni).
    """
    settled, weight = evaluation.settled, evaluation.weight
    said: dict[str, Any] = {"records": int(settled.sum()), "all": bool(settled.all())}
    if said["all"] or state.attacks is None:
        return said
    outside = state.samples.outside
    fresh = outside[state.attacked :]
    looked_at = fresh[: state.meant]
    design = Design(int(fresh.size), int(looked_at.size))
    # Records not counted are treated as missed.
    missed = float(weight[looked_at][~evaluation.linked[looked_at]].sum())
    least = float(weight[fresh].sum()) - file_limit(design, missed, weight, alpha / state.attacks)
    known = np.concatenate([state.samples.drawn, outside[: state.attacked]])
    inside = float(weight[known][evaluation.linked[known]].sum())
    found = max(evaluation.linked_weight, inside + least) * unit
    return {**said, least_key(keys): int(found) if whole(weight) and keys == LINKED else plain(found)}


def _notes(state: SampledRun, choice: SamplingChoice) -> Sequence[str]:
    """Note that the file was sampled by default, because it is large."""
    plan, blocks = state.samples.plan, state.run.system.pair.blocks
    if choice.asked:
        return ()
    return (
        f"of {blocks:,} records a full search would prove little: samples of {plan.size:,} were searched, "
        f"and the limit holds with {confident(choice.confidence)}; "
        f"{called('sample', NONE)} searches all",
    )


FIRST_STAGE = 1_024
"""Records of the first stage, which is always counted: more narrow the limits, but overrun the time."""

_MOST_AT_ONCE = 4_096
"""Records between two progress reports; an unfinished batch is discarded."""

_SIDES = 2
"""Number of limits, lower and upper, that share the error probability."""


@dataclass(frozen=True)
class StagedCount:
    """Result of a staged count."""

    evaluation: Evaluation  # evaluation of all blocks; those that were not counted are not `settled`
    sample: IndexArray  # blocks of the last complete stage
    stages: int  # number of blocks

    @property
    def all(self) -> bool:
        """Whether every block was counted."""
        return bool(self.evaluation.settled.all())

    def certain(self, weight: FloatArray) -> tuple[float, float]:
        """Bounds on the linked weight that hold with certainty: uncounted blocks may go either way."""
        found = self.evaluation
        return float(weight[found.linked].sum()), float(weight[found.linked | ~found.settled].sum())

    def limits(self, weight: FloatArray, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Lower and upper confidence limits of the linked weight of the file, jointly valid."""
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
    """Count all blocks in random `order` until the clock has run out.

    None if stopped before the end of the first stage. `tell` is called with the number counted.
    """
    ends = _ends(order.size)
    counted, full = [order[: ends[0]]], ends[0]
    # The first stage is counted however late it is.
    parts = [Evaluator(evaluator.pair, stop=lambda: clock.stopped).rank(form, counted[0])]
    if not parts[0].settled.all():
        return None
    for blocks, done in _pieces(order, ends):
        tell(sum(part.size for part in counted))
        part = None if clock.expired else evaluator.rank(form, blocks)
        if part is None or not part.settled.all():  # a partial batch is not random
            break
        parts.append(part)
        counted.append(blocks)
        full = max(full, done)
    found = spread(_joined(parts), np.concatenate(counted), evaluator.pair.weight, settled=False)
    return StagedCount(found, order[:full], len(ends))


def _pieces(order: IndexArray, ends: list[int]) -> Iterator[tuple[IndexArray, int]]:
    """Split the stages after the first into batches; the last of a stage has its end, others zero."""
    for start, end in pairwise(ends):
        pieces = np.array_split(order[start:end], math.ceil((end - start) / _MOST_AT_ONCE))
        yield from ((blocks, 0) for blocks in pieces[:-1])
        yield pieces[-1], end


def _ends(blocks: int) -> list[int]:
    """Compute the stage boundaries, each twice the one before."""
    ends = [min(blocks, FIRST_STAGE)]
    while ends[-1] < blocks:
        ends.append(min(blocks, 2 * ends[-1]))
    return ends


def _joined(parts: list[Evaluation]) -> Evaluation:
    """Join the evaluations of disjoint blocks."""
    named = {
        each.name: np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(parts[0])
    }
    return Evaluation(**named)
