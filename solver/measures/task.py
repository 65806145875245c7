"""Hold the common input of measures: file pair, column roles, worst cases and options, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.datasets.masking.base import MaskingMethod
from linkrisk.datasets.microdata.names import parse_names, shown_name
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.schema import Role, Schema
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.errors import called
from linkrisk.formulations.linkage.pair import LinkagePair, Ties
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.releases import Releases
from linkrisk.solver.linkage.baselines import baseline_forms
from linkrisk.solver.linkage.evaluator import Evaluation, Evaluator
from linkrisk.solver.measures.known_masking import KnownMasking
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.request import FitRequest
from linkrisk.solver.worst_case.result import FamilyFit, FitResult


@dataclass(frozen=True)
class MeasureChoices:
    """Checked as far as that goes without the files."""

    groups: tuple[str, ...] | None = None  # original columns to show risk by; None for a default
    fraction: float | None = None  # records for each person, above 0 and at most 1
    # how numeric attributes were masked, where that is known: as text, and the method. How categorical ones
    # were, the problem says
    masked_by: tuple[tuple[str, MaskingMethod], ...] = ()

    @classmethod
    def of(
        cls,
        groups: str | Sequence[str] | None = None,
        fraction: float | None = None,
        masked_by: Sequence[tuple[str, MaskingMethod]] = (),
    ) -> MeasureChoices:
        """Parse the options; DataError or UsageError for invalid ones."""
        if groups is not None:
            names = parse_names(groups) if isinstance(groups, str) else groups
            groups = tuple(dict.fromkeys(str(name) for name in names))
        return cls(groups, fraction, tuple(masked_by))

    def check(self, files: FilePair) -> None:
        """Refuse groups without a column, and a sampling fraction beside weights."""
        columns = [str(name) for name in files.original.columns]
        check_known(self.groups or (), columns, "the original file", option="groups")
        weight = files.design.weight_column
        if self.fraction is not None and weight is not None:
            raise UsageError(
                f"the sampling weights (column {shown_name(weight)} of the schema) say what is sampled: "
                f"leave {called('fraction')} out, or the role weight",
                option="fraction",
            )


class Shares(NamedTuple):
    """Shares of correct links."""

    share: float  # of the records; of what they stand for, where they have sampling weights
    unweighted: float | None = None  # of the records; None where weights are all the same


def shares_of(right: NDArray[Any], weight: FloatArray | None) -> Shares:
    """Compute the shares of links, by correctness or its probability, and by weight; shapes (records,)."""
    found = float(np.mean(right))
    if weight is None or (weight == weight[0]).all():
        return Shares(found)
    return Shares(float(right @ weight) / float(weight.sum()), found)


def linked_parts(linked: NDArray[np.bool_], pair: LinkagePair) -> FloatArray:
    """Compute the part of each linked block: with shared ties, one over the number of equal candidates."""
    return linked / pair.equals if pair.ties is Ties.SHARE else linked.astype(np.float64)


MOMENT = 25_000_000
"""Pairs of record and candidate that are compared without a time check."""


def portion(clock: Clock, share: float) -> Clock:
    """Make a clock for a share of what is left; without a limit if there is none."""
    return clock.part(None if clock.remaining is None else max(1e-9, share * clock.remaining))


@dataclass(frozen=True)
class Attack:
    """Learned parameters, and their links."""

    problem: Problem  # of the family
    theta: FloatArray  # (dimension,)
    result: FamilyFit  # with the bound for all other parameters
    evaluation: Evaluation  # what became of every record, as far as there was time
    cores: tuple[frozenset[int], ...] = ()  # blocks that provably cannot all be linked


def parameters_of(problem: Problem, result: FamilyFit) -> FloatArray:
    """Read learned parameters as a vector of the family, shape (dimension,)."""
    aggregator = problem.aggregator
    return aggregator.domain.exact(aggregator.encode(result.parameters))


@dataclass
class RiskTask:
    """One file pair, its worst cases, and options of measures."""

    first: Problem  # the pair, with a family that takes any attributes
    problems: Mapping[str, Problem]  # of every requested family that can take the files
    schema: Schema | None
    request: FitRequest  # how to search, with the seed of all random choices
    clock: Clock  # of the whole call
    worst: FitResult  # the worst cases of all families
    choices: MeasureChoices = field(default_factory=MeasureChoices)  # further options of measures
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
        """Total of links: the number of records, or the sum of their sampling weights."""
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
                counted = Evaluator(problem.pair).rank(problem.aggregator.form(theta))
            self._attacks[name] = Attack(problem, theta, family.result, counted, family.cores)
        return self._attacks[name]

    @property
    def _small(self) -> bool:
        """Whether a pass over all records is so short that no clock is checked."""
        return self.first.pair.blocks * len(self.first.pair.candidates) <= MOMENT

    def stop_by(self, clock: Clock) -> Callable[[], bool]:
        """Make the stop check of passes over records: the clock, unless a pass is short."""
        return lambda: clock.expired and not self._small

    @cached_property
    def evaluator(self) -> Evaluator:
        """Make the evaluator of the pair, for any family, without a clock."""
        return Evaluator(self.first.pair)

    def baseline(self, name: str, clock: Clock) -> Evaluation:
        """Evaluate every record under ``euclid`` or ``mahalanobis``, in the time left."""
        known = self._baselines.get(name)
        if known is None or not known.settled.all():
            evaluator = Evaluator(self.first.pair, stop=self.stop_by(clock))
            known = self._baselines[name] = evaluator.rank(baseline_forms(self.first.pair)[name])
        return known

    @cached_property
    def weight(self) -> FloatArray | None:
        """Number of persons that each original record represents (NaN if unknown); None without weights."""
        fraction = self.choices.fraction
        if fraction is None:
            return self.files.design.weight
        return np.full(len(self.files.original), 1.0 / fraction)

    @cached_property
    def known_masking(self) -> KnownMasking:
        """Determine the known masking, with its likelihoods."""
        methods = tuple(method for _, method in self.choices.masked_by)
        return KnownMasking(self.files, methods, self.first.options.masking, self.seed)

    # ---- roles of columns

    def columns(self, role: Role) -> tuple[str, ...]:
        """List the columns of a role that the original file has; none without a schema."""
        if self.schema is None:
            return ()
        return tuple(name for name in self.schema.select(role=role) if name in self.files.original.columns)

    @property
    def keys(self) -> tuple[str, ...]:
        """List the key variables: those of the schema, or else all compared attributes."""
        return self.columns(Role.KEY) or self.files.attributes

    @property
    def confidential(self) -> tuple[str, ...]:
        """Confidential attributes, as the schema names them."""
        return self.columns(Role.CONFIDENTIAL)

    @property
    def partners(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Pair the records with their partners."""
        known = np.flatnonzero(self.files.partner >= 0)
        masked = self.files.masked.iloc[self.files.partner[known]]
        return self.files.original.iloc[known].reset_index(drop=True), masked.reset_index(drop=True)
