"""Compute reference points of risk: no masking, shuffled attributes, matching at random."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.special import factorial

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.pair import Ties
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.reading import problem_of
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.measures.base import OF_WEIGHTS, Finding, Kind, Measure, MeasureResult
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import percent
from linkrisk.solver.worst_case.search import SearchTask, search

_MOST = 64
"""Correct links with a probability above the least double: beyond, it is below 1 / 64!."""


@dataclass(frozen=True, eq=False)
class ChanceMatches:
    """Distribution of the correct links of a random one-to-one matching."""

    probability: FloatArray  # (any,): of 0, 1, 2, ... right links
    mean: float

    def quantile(self, share: float) -> int:
        """Find the least number that is not exceeded with this probability."""
        return int(np.searchsorted(np.cumsum(self.probability), share - 1e-12))


def chance_matches(records: int, candidates: int) -> ChanceMatches:
    """Compute that distribution where `records` are matched to different `candidates` at random.

    The r-th factorial moment of the number K of right links is ``[n]_r / [m]_r``, with n records, m
    candidates and falling factorials, so by inclusion and exclusion (Riordan, An Introduction to
    Combinatorial Analysis, 1958, chapter 3)
    ``P(K = k) = 1/k! sum_j (-1)^j / j! [n]_(k+j) / [m]_(k+j)``.
    """
    steps = (records - np.arange(2 * _MOST)) / np.maximum(candidates - np.arange(2 * _MOST), 1)
    moments = np.cumprod(np.concatenate([[1.0], steps.clip(0.0)]))
    right, j = np.arange(min(records, _MOST) + 1), np.arange(_MOST)
    signed = np.where(j % 2, -1.0, 1.0) / factorial(j)
    probability = (moments[right[:, None] + j] * signed).sum(axis=1) / factorial(right)
    return ChanceMatches(probability.clip(0.0), records / candidates)


SHUFFLES = 20
"""Number of files with shuffled attributes: more narrow the estimate, each costs a count."""

MOST_COUNTED = 20_000
"""Records counted of a shuffled file; beyond, a sample."""

_LEVEL = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class References(MeasureResult):
    """Numbers of correct links at the reference points."""

    measure: ClassVar[str] = "references"
    records: int
    candidates: int
    # what no masking at all would allow: records that differ from all others (with shared ties, expected
    # links; with sampling weights, their sum)
    unmasked: float
    # (shuffles,): links of equal weights where every masked attribute is shuffled by itself: what remains of
    # any link when all that ties an attribute to a record is gone
    shuffled: FloatArray
    # links of the weighted mean that was learned on one such file, and its bound: what learning alone finds
    # where there is nothing to be found. None where there was no time
    learned_on_shuffled: float | None
    learned_on_shuffled_bound: float | None
    total: float  # what links are part of
    chance: FloatArray  # (any,): probability of 0, 1, 2, ... right links of a one-to-one matching at random
    counted: int  # records of each shuffled file that were counted

    @property
    def notes(self) -> tuple[str, ...]:
        """Whether all records were counted."""
        if self.counted == self.records:
            return ()
        return (f"references: of shuffled attributes {self.counted:,} records were counted, by lot",)

    @property
    def _matches(self) -> ChanceMatches:
        return ChanceMatches(self.chance, self.records / self.candidates)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Shares, from what much is to what little is."""
        ends = np.quantile(self.shuffled, [(1.0 - _LEVEL) / 2.0, (1.0 + _LEVEL) / 2.0]) / self.total
        found = [
            Finding("unmasked", "no masking at all", self.unmasked / self.total),
            Finding(
                "shuffled", "attributes shuffled, equal weights", float(self.shuffled.mean()) / self.total,
                low=float(ends[0]), high=float(ends[1]), kind=Kind.RANGE,
            ),
            Finding(
                "chance", "matched at random", self._matches.mean / self.records,
                low=self._matches.quantile(0.025) / self.records,
                high=self._matches.quantile(0.975) / self.records,
                kind=Kind.RANGE,
            ),
        ]  # fmt: skip
        if self.learned_on_shuffled is not None and self.learned_on_shuffled_bound is not None:
            low, high = self.learned_on_shuffled / self.total, self.learned_on_shuffled_bound / self.total
            words = "attributes shuffled, weights learned"
            learned = Finding("learned_on_shuffled", words, low, low=low, high=high, kind=Kind.CERTAIN)
            found.insert(1, learned)
        return tuple(found)

    @property
    def paragraph(self) -> str:
        """Report the lowest and highest reference points."""
        much, little = (each / self.total for each in (self.unmasked, float(self.shuffled.mean())))
        text = (
            f"without any masking {percent(much)} of the records could be re-identified; with attributes "
            f"shuffled one by one equal weights link {percent(little)}, and a matching at random "
            f"{self._matches.mean:.2g} of {self.records:,} records."
        )
        if self.learned_on_shuffled is None:
            return text
        learned = percent(self.learned_on_shuffled / self.total)
        return f"{text} Weights learned on shuffled attributes link {learned}: so much is over-fitting."

    def to_frame(self) -> pd.DataFrame:
        """One row per number of right links: links, probability by chance, files with shuffled attributes."""
        links = np.arange(self.chance.size)
        counted = [int((np.round(self.shuffled) == count).sum()) for count in links]
        return pd.DataFrame({"links": links, "probability": self.chance, "shuffled_files": counted})


class ReferencePoints(Measure):
    """No masking, shuffled attributes, random matching."""

    name: ClassVar[str] = "references"
    title: ClassVar[str] = "What 0 and 100 % mean here"
    unit: ClassVar[str] = OF_WEIGHTS
    cost: ClassVar[float] = 3.0
    growth: ClassVar[float] = 4.0

    def take(self, task: RiskTask, clock: Clock) -> References:
        """Count equal weights on shuffled files, and learn on the last of these."""
        random = np.random.default_rng(task.seed)
        counts: list[float] = []
        problem = task.first
        while len(counts) < SHUFFLES and not (counts and clock.expired):
            problem = shuffled(task.first, random)
            counts.append(_by_equal_weights(problem, random))
        learned = None
        if WeightedMean.name in task.problems and not clock.expired:
            searched = replace(task.problems[WeightedMean.name].searched, pair=problem.pair)
            run = search(SearchTask(searched, task.request.engine, clock, task.request.options))
            learned = run.incumbent
        pair, unit = task.first.pair, task.first.survey.unit
        return References(
            pair.blocks,
            len(pair.candidates),
            unmasked(task.first),
            np.array(counts) * unit,
            None if learned is None else learned.value * unit,
            None if learned is None else learned.bound * unit,
            task.total,
            chance_matches(pair.blocks, max(pair.blocks, len(pair.candidates))).probability,
            min(pair.blocks, MOST_COUNTED),
        )


def shuffled(problem: Problem, random: np.random.Generator) -> Problem:
    """Permute every masked attribute independently, which keeps its distribution."""
    files = problem.files
    masked = files.masked.copy()
    for name in files.attributes:
        masked[name] = files.masked[name].array.take(random.permutation(len(masked)))
    return problem_of(replace(files, masked=masked), problem.options)


def unmasked(problem: Problem) -> float:
    """Count links without masking: any distance with positive weights links records without twins."""
    files, pair = problem.files, problem.pair
    original = files.original[list(files.attributes)]
    names = list(files.attributes)
    group = original.groupby(names, dropna=False, observed=True, sort=False).ngroup().to_numpy()
    size = np.bincount(group)[group]
    known = files.partner >= 0
    shared = pair.ties is Ties.SHARE
    each = np.where(size == 1, 1.0, 1.0 / size if shared else 0.0)
    weight = files.design.weight
    return float((each if weight is None else each * weight)[known].sum())


def _by_equal_weights(problem: Problem, random: np.random.Generator) -> float:
    """Count the weight that equal weights link, on a sample of large files."""
    equal, pair = WeightedMean(problem.pair.attributes), problem.pair
    if pair.blocks > MOST_COUNTED:
        pair = pair.part(np.sort(random.choice(pair.blocks, MOST_COUNTED, replace=False)))
    part = float(pair.weight.sum() / problem.pair.weight.sum())
    return Evaluator(pair).count(equal.form(equal.equal())).linked_weight / part
