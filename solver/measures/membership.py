"""Measure prosecutor, journalist and marketer risk: re-identification in the population.

A journalist or marketer does not know whether his target is in the file. He claims that a target is the
nearest masked record wherever that is within a distance t. Of targets who are in the file it is known what
becomes of such claims. A target who is not is claimed too, and always wrongly; how many of them there are is
estimated from the members: with g_i(t) = 1 where the nearest record of *another* person is within t of member
i, and sampling weights ``w_i = 1 / pi_i``, the estimate is

    ``F(t) = sum over the sample of (w_i - 1) g_i(t)``.

Under Poisson sampling (persons are in the sample independently of each other, with probabilities pi_i), and
masking of each record by itself, it is unbiased: whether i is in the sample does not depend on who else is,
so ``E sum_s (w_i - 1) g_i = sum_U (1 - pi_i) E g_i``, the expected sum of g_i over U without s (Horvitz and
Thompson 1952). With the g_i given, its variance is ``sum_U g_i (1 - pi_i) / pi_i``, which
``V = sum_s w_i (w_i - 1) g_i`` estimates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.stats import chi2

from linkrisk.arrays import FloatArray
from linkrisk.errors import called
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.inputs.problem import Problem, shares
from linkrisk.solver.measures.base import Finding, Kind, Measure, MeasureResult, Unit, jsonable
from linkrisk.solver.measures.population_uniqueness import without_population
from linkrisk.solver.measures.task import Attack, RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import percent
from linkrisk.solver.schemas.intervals import WEIGHTED, is_bound, objective
from linkrisk.solver.worst_case.families import search_families
from linkrisk.solver.worst_case.result import FamilyFit, FitResult

KEPT = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Shares of correct links that distance thresholds keep."""

_TAIL = 0.025


@dataclass(frozen=True, eq=False)
class Members:
    """Links under one distance of the records with a partner; all arrays have shape (n,)."""

    right: FloatArray  # (n,): 1 where the record is linked, 1/k where it shares ties; else 0
    own: FloatArray  # distance to the partner; inf where that is impossible
    other: FloatArray  # distance to the nearest masked record of another person; inf where there is none
    absent: FloatArray  # persons outside the file whom the record stands for, at least 0: ``w_i - 1``


@dataclass(frozen=True, eq=False)
class ClaimsByDistance:
    """Claims within each distance threshold; all arrays have shape (distances,)."""

    kept: FloatArray  # share of the right links that have no larger distance
    distance: FloatArray  # the largest that is claimed; inf where every target is claimed
    right: FloatArray  # right claims of targets that are in the file
    wrong_inside: FloatArray  # wrong ones. Known, as `right` is
    wrong_outside: FloatArray  # claims of targets that are not in the file, by estimate
    low_outside: FloatArray  # their 95 % confidence interval
    high_outside: FloatArray

    @property
    def share(self) -> FloatArray:
        """Share of correct claims; NaN without claims. More is worse."""
        return self._share(self.wrong_outside)

    @property
    def low(self) -> FloatArray:
        """Lower end of its interval."""
        return self._share(self.high_outside)

    @property
    def high(self) -> FloatArray:
        """Upper end of its interval."""
        return self._share(self.low_outside)

    def _share(self, wrong_outside: FloatArray) -> FloatArray:
        claims = self.right + self.wrong_inside + wrong_outside
        return np.where(claims > 0.0, self.right / np.where(claims > 0.0, claims, 1.0), np.nan)

    def to_frame(self) -> pd.DataFrame:
        """One row per distance, as the attributes are described, then share, low and high."""
        ends = {"share": self.share, "low": self.low, "high": self.high}
        return pd.DataFrame({**vars(self), **ends})


def claims_by_distance(members: Members, kept: Sequence[float] = KEPT) -> ClaimsByDistance:
    """Count claims within thresholds that keep at least these shares of correct links, and of all targets."""
    rows = [_row(members, distance) for distance in _distances(members, kept)]
    columns = np.array([*rows, _row(members, np.inf)], dtype=np.float64).T
    return ClaimsByDistance(*columns)


def claimed_outside(members: Members, distance: float) -> tuple[float, float, float]:
    """Estimate F(t), with a 95 % interval for weighted sums of Poisson counts (Fay and Feuer 1997).

    That is valid near 0, too: with no claim at all its upper end is 3.69 times the largest weight.
    """
    absent_in_all = float(members.absent.sum())
    if distance == np.inf:  # then all are claimed
        return absent_in_all, absent_in_all, absent_in_all
    near = members.other <= distance
    absent = members.absent[near]
    value, variance = float(absent.sum()), float((absent * (absent + 1.0)).sum())
    largest = float(members.absent.max(initial=0.0))
    one = largest + 1.0  # a weight: so much does one more claim of a member count
    above = (value + one, variance + one * one)
    low = 0.0 if value == 0.0 else _scaled_limit(value, variance, _TAIL)
    high = _scaled_limit(*above, 1.0 - _TAIL)
    return value, min(low, value), min(max(high, value), absent_in_all)


def _scaled_limit(value: float, variance: float, level: float) -> float:
    return variance / (2.0 * value) * float(chi2.ppf(level, 2.0 * value * value / variance))


def _distances(members: Members, kept: Sequence[float]) -> FloatArray:
    """Find the smallest thresholds that keep these shares of correct links."""
    linked = np.flatnonzero(members.right > 0.0)
    if not linked.size:
        return np.empty(0)
    order = linked[np.argsort(members.own[linked], kind="stable")]
    sums = np.cumsum(members.right[order])
    at = np.searchsorted(sums, np.array(kept) * sums[-1] * (1.0 - 1e-12))
    return np.asarray(members.own[order][at])


def _row(members: Members, distance: float) -> tuple[float, ...]:
    """Compute a row: share of correct links, distance, correct and wrong claims, and those outside."""
    everything = float(members.right.sum())
    right = float(members.right[members.own <= distance].sum())
    claimed = int((np.minimum(members.own, members.other) <= distance).sum())
    outside = claimed_outside(members, distance)
    return (right / everything if everything else 1.0, distance, right, claimed - right, *outside)


@dataclass(frozen=True, eq=False)
class MostLinks:
    """Most records that an attack links, and the bound on all parameters of all families."""

    attack: Attack
    right: FloatArray  # (blocks,): what each record counts that it links: 1, or 1/k with shared ties; else 0
    most: float  # at least the sum of `right`

    @property
    def linked(self) -> float:
        """Records that the attack links; expected links, with shared ties."""
        return float(self.right.sum())


def most_linked(task: RiskTask, clock: Clock) -> MostLinks:
    """Find the worst case in records, regardless of their sampling weights.

    A bound on the sum of weights is a wide one on records where weights differ, so the families are searched
    again with all records alike, as long as the clock allows.
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
    """Search the worst cases of the task without sampling weights."""
    pair = replace(task.first.pair, weight=shares(task.first))
    survey = replace(task.first.survey, weight_column=None, weight=None, unit=1.0)

    def without(problem: Problem) -> Problem:
        return replace(problem, pair=pair, survey=survey, rereading=None)

    first = without(task.first)
    problems = {name: without(problem) for name, problem in task.problems.items()}
    # Its progress would be of other numbers than that of the call.
    worst = search_families(first, problems, replace(task.request, report=None), clock)
    return RiskTask(first, problems, task.schema, task.request, clock, worst, task.choices)


def most_records(worst: FitResult, among: Mapping[str, FamilyFit] | None = None) -> float:
    """Bound the links, in records, of some families; of all families where none is named."""
    return max(_bound_of(result) for result in (among or worst.results).values())


def _bound_of(result: FamilyFit) -> float:
    """Return a family's bound, certain or with the confidence of the result."""
    if objective(result.details) != WEIGHTED:
        return result.interval[1]
    limit = result.linked_confidence_limit
    return float(result.linked_upper_bound if limit is None else limit)


_HALF = KEPT.index(0.5)
_ALL = KEPT.index(1.0)


@dataclass(frozen=True, eq=False, repr=False)
class MembershipRisk(MeasureResult):
    """Risk of intruders who know, or do not know, whether their target is in the file."""

    measure: ClassVar[str] = "membership"
    records: int  # n, those that have a partner
    population: float  # N, the sum of the sampling weights
    attack: str  # the family whose learned distance links most records
    linked: float  # records (expected) that it links, and that none exceeds; more is worse
    most: float
    persons: float  # weights of the linked records, and what none exceeds; more is worse
    most_persons: float
    confidence: float | None  # of the bounds, where samples were searched; None where certain
    highest: float  # largest link times its sampling probability 1/w_i; more is worse
    claims: ClaimsByDistance  # by accepted distance; more right claims are worse
    below_one: int  # records whose weight is below 1

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Prosecutor, journalist, marketer, and the persons whom linked records stand for."""
        found = [
            self._certified("prosecutor", "prosecutor: target known to be in the file", self.records),
            self._certified("journalist", "journalist: target of the population", self.population),
            Finding("highest_journalist", "journalist, highest of a linked record", self.highest),
        ]
        for key, words, at in (
            ("marketer", "marketer: right claims, all links kept", _ALL),
            ("marketer_nearest", "marketer: the nearest half of them kept", _HALF),
        ):
            if at < self.claims.kept.size - 1:
                low, value, high = (float(each[at]) for each in self._shares)
                found.append(Finding(key, words, value, low=low, high=high, kind=Kind.CONFIDENCE))
        persons = Finding(
            "persons", "linked if all were in the file", self.persons, Unit.PERSONS,
            low=self.persons, high=self._most(self.persons, self.most_persons, self.population),
            kind=self._kind,
        )  # fmt: skip
        return (*found, persons)

    @property
    def _shares(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.claims.low, self.claims.share, self.claims.high

    @property
    def _kind(self) -> Kind:
        return Kind.CERTAIN if self.confidence is None else Kind.CONFIDENCE

    def _certified(self, key: str, words: str, whole: float) -> Finding:
        low, most = self.linked / whole, self._most(self.linked, self.most, self.records)
        high = None if most is None else most / whole
        return Finding(key, words, low, low=low, high=high, kind=self._kind)

    @staticmethod
    def _most(low: float, high: float, total: float) -> float | None:
        return high if is_bound(low, high, total) else None

    @property
    def paragraph(self) -> str:
        """Report the risk of the three intruders, in the population."""
        text = (
            f"of targets who are known to be in the file {self._ends(self.records)} can be linked "
            f"rightly; of targets of the population of {self.population:,.0f}, who may not be in it, "
            f"{self._ends(self.population)}."
        )
        if self.claims.kept.size > 1:
            low, value, high = (percent(float(each[_HALF])) for each in self._shares)
            text += (
                f" An intruder who claims only what is as near as the nearest half of the right links is "
                f"right in {value} of his claims ({low} to {high})."
            )
        return f"{text} The linked records stand for {self.persons:,.0f} persons."

    def _ends(self, whole: float) -> str:
        if self._most(self.linked, self.most, self.records) is None:
            return f"{percent(self.linked / whole)} or more"
        return " to ".join(dict.fromkeys((percent(self.linked / whole), percent(self.most / whole))))

    @property
    def notes(self) -> tuple[str, ...]:
        """Weights that no sample has."""
        if not self.below_one:
            return ()
        return (f"membership: {self.below_one:,} sampling weights are below 1 and stand for nobody else",)

    def to_dict(self) -> dict[str, Any]:
        """The JSON as a dictionary; claims as a table, with the shares that are right."""
        return {**super().to_dict(), "claims": jsonable(self.to_frame())}

    def to_frame(self) -> pd.DataFrame:
        """Claims by distance: one row per distance, as `ClaimsByDistance` describes its columns."""
        return self.claims.to_frame()


class Membership(Measure):
    """Measures the worst case of intruders who do not know whether their target is in the file."""

    name: ClassVar[str] = "membership"
    title: ClassVar[str] = "Targets of the population, who may not be in the file"
    unit: ClassVar[str] = "of the records, unweighted, for the prosecutor"
    cost: ClassVar[float] = 3.0

    def lacking(self, task: RiskTask) -> str | None:
        """Require the population size, and original records as targets."""
        if Direction(task.first.options.direction) is not Direction.ORIGINAL_TO_MASKED:
            return (
                "its targets are original records, each linked to a masked one; leave "
                f"{called('direction', 'masked-to-original')} out"
            )
        return without_population(task)

    def take(self, task: RiskTask, clock: Clock) -> MembershipRisk:
        """Count the learned links, and claims by distance."""
        found = most_linked(task, clock)
        assert task.weight is not None
        weight = task.weight[task.first.pair.query_rows]
        population = float(np.nansum(task.weight))  # N, of all original records that have a weight
        each = 1.0 if task.first.survey.weight is not None else float(weight[0])
        persons, most_persons = (each * end for end in task.worst.interval)
        return MembershipRisk(
            records=task.records,
            population=population,
            attack=found.attack.problem.aggregator.name,
            linked=found.linked,
            most=found.most,
            persons=persons,
            most_persons=most_persons,
            confidence=task.worst.confidence,
            highest=min(1.0, float((found.right / weight).max())),
            claims=claims_by_distance(members(found, weight, population)),
            below_one=int((weight < 1.0).sum()),
        )


def members(most: MostLinks, weight: FloatArray, population: float) -> Members:
    """Collect the links of an attack, for claims; `weight` (blocks,) is scaled to the population."""
    found = most.attack.evaluation
    twins = shares(most.attack.problem) < 1.0  # as near as the partner, though no rivals
    other = np.where(twins, np.minimum(found.distance, found.nearest_other), found.nearest_other)
    absent = np.maximum(weight - 1.0, 0.0)
    if absent.any():
        absent *= max(0.0, population - weight.size) / absent.sum()
    return Members(most.right, found.distance, other, absent)
