"""What measures look at: the file pair, its roles, and the worst cases, each found once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.microdata.schema import Role, Schema
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.releases import Releases
from linkrisk.solver.linkage.baselines import baseline_forms
from linkrisk.solver.linkage.evaluator import Evaluation, Evaluator
from linkrisk.solver.measures.choices import MeasureChoices
from linkrisk.solver.measures.mechanisms.known import KnownMasking
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.results import FamilyFit
from linkrisk.solver.worst_case.result import FitResult
from linkrisk.solver.worst_case.single_fit import FitRequest

MOMENT = 25_000_000
"""Pairs of a record and a candidate that are looked at within a moment."""


@dataclass(frozen=True)
class Attack:
    """Parameters that were learned, and what they link."""

    problem: Problem  # of the family
    theta: FloatArray  # (dimension,)
    result: FamilyFit  # with the bound for all other parameters
    evaluation: Evaluation  # what became of every record, as far as there was time to look at all
    # blocks of which the search has proved that they cannot all be linked
    cores: tuple[frozenset[int], ...] = ()


def parameters_of(problem: Problem, result: FamilyFit) -> FloatArray:
    """What was learned, as the family has it, shape (dimension,)."""
    aggregator = problem.aggregator
    return aggregator.domain.exact(aggregator.encode(result.parameters))


@dataclass
class RiskTask:
    """One file pair, and what is asked about it."""

    first: Problem  # the pair, with a family that takes any attributes
    problems: Mapping[str, Problem]  # of every family that is asked for and can take the files
    schema: Schema | None
    request: FitRequest  # how to search, with the seed of all random choices
    clock: Clock  # of the whole call
    worst: FitResult  # the worst cases of all families
    choices: MeasureChoices = field(default_factory=MeasureChoices)  # what is asked of measures besides
    releases: Releases | None = None  # where there are several, of which the pair is the last
    _attacks: dict[str, Attack] = field(default_factory=dict)
    _baselines: dict[str, Evaluation] = field(default_factory=dict)

    @property
    def files(self) -> FilePair:
        """The two files with their partners."""
        return self.first.files

    @property
    def records(self) -> int:
        """Number of blocks: records with a partner."""
        return self.first.pair.blocks

    @property
    def seed(self) -> int:
        """Of every random choice."""
        return self.request.options.seed

    @property
    def total(self) -> float:
        """What links are part of: records, or the sum of their sampling weights."""
        return self.worst.worst.total

    @property
    def attacks(self) -> dict[str, Attack]:
        """The learned attack of every family that has one, by name."""
        return {name: self.attack(name) for name in self.worst.results}

    def attack(self, name: str) -> Attack:
        """The learned attack of a family."""
        if name not in self._attacks:
            family = next(family for family in self.worst.families if family.aggregator == name)
            if family.result is None or family.counted is None:
                raise KeyError(name)
            problem = self.problems[name]
            theta, counted = parameters_of(problem, family.result), family.counted
            if self._small and not counted.rank.all():  # the search had no time to rank all
                counted = Evaluator(problem.pair).table(problem.aggregator.form(theta))
            self._attacks[name] = Attack(problem, theta, family.result, counted, family.cores)
        return self._attacks[name]

    @property
    def _small(self) -> bool:
        """Whether looking at all records takes a moment, so that no clock is asked."""
        return self.first.pair.blocks * len(self.first.pair.candidates) <= MOMENT

    def stop_by(self, clock: Clock) -> Callable[[], bool]:
        """When to stop looking at records: when the clock has run out, unless all of them take a moment."""
        return lambda: clock.expired and not self._small

    @cached_property
    def evaluator(self) -> Evaluator:
        """The evaluator of the pair, whatever the family; it goes by no clock."""
        return Evaluator(self.first.pair)

    def baseline(self, name: str, clock: Clock) -> Evaluation:
        """What became of every record under ``euclid`` or ``mahalanobis``, as far as there is time."""
        known = self._baselines.get(name)
        if known is None or not known.settled.all():
            evaluator = Evaluator(self.first.pair, stop=self.stop_by(clock))
            known = self._baselines[name] = evaluator.table(baseline_forms(self.first.pair)[name])
        return known

    @cached_property
    def weight(self) -> FloatArray | None:
        """How many of the population each original record stands for, shape (original records,).

        By the sampling weights (NaN for one that is not known), or alike for all by the sampling fraction;
        None where there is neither.
        """
        fraction = self.choices.fraction
        if fraction is None:
            return self.files.design.weight
        return np.full(len(self.files.original), 1.0 / fraction)

    @cached_property
    def known_masking(self) -> KnownMasking:
        """What is known of the masking, with the probabilities that follow."""
        methods = tuple(method for _, method in self.choices.masked_by)
        return KnownMasking(self.files, methods, self.first.options.masking, self.seed)

    # ---- roles of columns

    def columns(self, role: Role) -> tuple[str, ...]:
        """The columns of a role, of those that the original file has; none without a schema."""
        if self.schema is None:
            return ()
        return tuple(name for name in self.schema.select(role=role) if name in self.files.original.columns)

    @property
    def keys(self) -> tuple[str, ...]:
        """Key variables: what an intruder may know. All that is compared where no schema names some."""
        return self.columns(Role.KEY) or self.files.attributes

    @property
    def confidential(self) -> tuple[str, ...]:
        """Confidential attributes, as the schema names them."""
        return self.columns(Role.CONFIDENTIAL)

    @property
    def partners(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The records that have a partner and these partners, side by side."""
        known = np.flatnonzero(self.files.partner >= 0)
        masked = self.files.masked.iloc[self.files.partner[known]]
        return self.files.original.iloc[known].reset_index(drop=True), masked.reset_index(drop=True)
