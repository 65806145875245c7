"""What re-identification comes to in the population: prosecutor, journalist and marketer risk of links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.errors import called
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.inputs.problem import shares
from linkrisk.solver.measures.base import Finding, Kind, Measure, MeasureResult, Unit, jsonable
from linkrisk.solver.measures.population.claims_by_distance import (
    KEPT,
    ClaimsByDistance,
    Members,
    claims_by_distance,
)
from linkrisk.solver.measures.population.links_counted import MostLinks, most_linked
from linkrisk.solver.measures.population.size import without_population
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.percent import percent
from linkrisk.solver.run.results import is_bound

_HALF = KEPT.index(0.5)
_ALL = KEPT.index(1.0)


@dataclass(frozen=True, eq=False, repr=False)
class MembershipRisk(MeasureResult):
    """Links of intruders who know, or do not know, whether their target is in the file."""

    measure: ClassVar[str] = "membership"
    records: int  # n, those that have a partner
    population: float  # N, the sum of the sampling weights
    attack: str  # the family whose learned distance links most records
    # records that it links, and that no parameters of any family exceed (expected links, with shared ties).
    # More is worse
    linked: float
    most: float
    # the same in the population: the sum of the weights of the linked records, of the attack for which it is
    # largest, and what no parameters exceed. More is worse
    persons: float
    most_persons: float
    # of `most` and `most_persons`, where samples were searched; None where they are certain
    confidence: float | None
    # largest of what a link counts times the sampling probability 1/w_i; 0 where none is linked. More is
    # worse
    highest: float
    # of the attack, by the distance that is accepted. A larger share of right claims is worse
    claims: ClaimsByDistance
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
        """The upper end, where a bound was found."""
        return high if is_bound(low, high, total) else None

    @property
    def paragraph(self) -> str:
        """The three intruders, and what the links come to in the population."""
        said = (
            f"of targets who are known to be in the file {self._ends(self.records)} can be linked "
            f"rightly; of targets of the population of {self.population:,.0f}, who may not be in it, "
            f"{self._ends(self.population)}."
        )
        if self.claims.kept.size > 1:
            low, value, high = (percent(float(each[_HALF])) for each in self._shares)
            said += (
                f" An intruder who claims only what is as near as the nearest half of the right links is "
                f"right in {value} of his claims ({low} to {high})."
            )
        return f"{said} The linked records stand for {self.persons:,.0f} persons."

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
    """The worst case for intruders who do not know whether their target is in the file."""

    name: ClassVar[str] = "membership"
    title: ClassVar[str] = "Targets of the population, who may not be in the file"
    unit: ClassVar[str] = "of the records, unweighted, for the prosecutor"
    cost: ClassVar[float] = 3.0

    def lacking(self, task: RiskTask) -> str | None:
        """How large the population is, and targets that are original records."""
        if Direction(task.first.options.direction) is not Direction.ORIGINAL_TO_MASKED:
            return (
                "its targets are original records, each linked to a masked one; leave "
                f"{called('direction', 'masked-to-original')} out"
            )
        return without_population(task)

    def take(self, task: RiskTask, clock: Clock) -> MembershipRisk:
        """Count what was learned, and its claims."""
        found = most_linked(task, clock)
        weight, population = _block_weights(task), _population(task)
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
    """What an attack makes of the records, for claims.

    `weight` (blocks,). `population`: N. Where not all of it is in the weights, as of original records without
    a partner, the others are taken to be like these.
    """
    found = most.attack.evaluation
    twins = shares(most.attack.problem) < 1.0  # as near as the partner, though no rivals
    other = np.where(twins, np.minimum(found.distance, found.nearest_other), found.nearest_other)
    absent = np.maximum(weight - 1.0, 0.0)
    if absent.any():
        absent *= max(0.0, population - weight.size) / absent.sum()
    return Members(most.right, found.distance, other, absent)


def _population(task: RiskTask) -> float:
    """N: the sum of the weights of all original records that have one."""
    assert task.weight is not None
    return float(np.nansum(task.weight))


def _block_weights(task: RiskTask) -> FloatArray:
    assert task.weight is not None
    return task.weight[task.first.pair.query_rows]
