"""How many records can be linked at most, where the worst cases were searched by sampling weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.inputs.problem import Problem, shares
from linkrisk.solver.measures.task import Attack, RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.results import WEIGHTED, FamilyFit, objective
from linkrisk.solver.worst_case.families import search_families
from linkrisk.solver.worst_case.result import FitResult


@dataclass(frozen=True, eq=False)
class MostLinks:
    """The attack that links most records, and what no parameters of any family exceed."""

    attack: Attack
    right: FloatArray  # (blocks,): what each record counts that it links: 1, or 1/k with shared ties; else 0
    most: float  # at least the sum of `right`

    @property
    def linked(self) -> float:
        """Records that the attack links; expected links, with shared ties."""
        return float(self.right.sum())


def most_linked(task: RiskTask, clock: Clock) -> MostLinks:
    """The worst case in records, whatever their sampling weights.

    A bound for the sum W of weights is one for records: at most as many as the lightest whose weights sum to
    W. Where weights differ that is wide, so the families are searched again with all records alike, as long
    as the clock allows.
    """
    again = None if _alike(task) or clock.expired else _counted_alike(task, clock)
    attacks = [*task.attacks.values(), *([] if again is None else again.attacks.values())]
    rights = [np.where(attack.evaluation.linked, shares(attack.problem), 0.0) for attack in attacks]
    best = int(np.argmax([right.sum() for right in rights]))
    most = most_records(task.worst)
    if again is not None:
        certain = task.worst.confidence is None  # limits of samples hold one at a time
        bound = most_records(again.worst)
        most = min(most, bound) if certain else bound
    return MostLinks(attacks[best], rights[best], max(most, float(rights[best].sum())))


def _alike(task: RiskTask) -> bool:
    weight = task.first.survey.weight
    return weight is None or bool((weight == weight[0]).all())


def _counted_alike(task: RiskTask, clock: Clock) -> RiskTask:
    """The same task without sampling weights, its worst cases searched."""
    pair = replace(task.first.pair, weight=shares(task.first))
    survey = replace(task.first.survey, weight_column=None, weight=None, unit=1.0)

    def without(problem: Problem) -> Problem:
        return replace(problem, pair=pair, survey=survey, rereading=None)

    first = without(task.first)
    problems = {name: without(problem) for name, problem in task.problems.items()}
    # What it tells of itself would be of other numbers than all else that is told.
    worst = search_families(first, problems, replace(task.request, report=None), clock)
    return RiskTask(first, problems, task.schema, task.request, clock, worst, task.choices)


def most_records(worst: FitResult, among: Mapping[str, FamilyFit] | None = None) -> float:
    """Links, in records, that no parameters of some families exceed; of all families where none is named."""
    return max(_bound_of(result) for result in (among or worst.results).values())


def _bound_of(result: FamilyFit) -> float:
    """Links that no parameters of a family exceed, certain or with the confidence of the result."""
    if objective(result.details) != WEIGHTED:
        return result.interval[1]
    limit = result.linked_confidence_limit
    return float(result.linked_upper_bound if limit is None else limit)
