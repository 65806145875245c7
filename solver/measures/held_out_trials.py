"""Run one held-out trial: learn from the known records, and link the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.inputs.problem import Problem, Searched
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.matching import assigned_blocks
from linkrisk.solver.measures.task import Shares, linked_parts, shares_of
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.worst_case.request import FitRequest
from linkrisk.solver.worst_case.search import SearchTask, Start, search

EQUAL = "equal-weights"
"""Name of the intruder without learning."""

MOST_RECORDS = 20_000
"""Most records counted on each side of a split; of larger sides a sample."""

LEAST_RECORDS = 2
"""Minimum of known, and of attacked, records for a meaningful rate."""

_STREAM = 14
"""Stream number that separates the random numbers of this measure from others."""


@dataclass(frozen=True)
class Trial:
    """Result of one split and family."""

    aggregator: str  # the family; ``equal-weights`` for the intruder who learns nothing
    share: float  # of the records whose partners the intruder knows
    split: int  # number of the split, from 0
    known: int  # records that were counted
    attacked: int
    trained: float  # share of the known records that the learned parameters link; more is worse
    held_out: float  # share of the attacked ones; more is worse
    one_to_one: float | None  # the same of the optimal assignment; None if the file is too large
    seconds: float  # of learning
    finished: bool  # whether learning came to its own end, before its time was over
    unweighted: float | None = None  # the two as shares of the records, if these have weights
    one_to_one_unweighted: float | None = None


@dataclass(frozen=True, eq=False)
class Split:
    """Known and attacked records of one split."""

    share: float
    number: int
    known: IndexArray  # (any,): blocks, ascending; together all of them, unless there are very many
    attacked: IndexArray

    @property
    def usable(self) -> bool:
        """Whether there are enough records on either side."""
        return min(self.known.size, self.attacked.size) >= LEAST_RECORDS


def split_blocks(blocks: int, share: float, number: int, seed: int) -> Split:
    """Split at random; splits of one number are nested, so that curves over the share are smooth."""
    order = stream(seed, number, 0).permutation(blocks).astype(np.intp)
    sides = np.split(order, [round(share * blocks)])
    known, attacked = (np.sort(side[:MOST_RECORDS]) for side in sides)
    return Split(share, number, known, attacked)


def stream(seed: int, number: int, purpose: int) -> np.random.Generator:
    """Make the random generator of a split and purpose."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_STREAM, number, purpose)))


@dataclass(frozen=True, eq=False)
class Learned:
    """Parameters learned from the known records."""

    theta: FloatArray  # (dimension,)
    linked: NDArray[np.bool_]  # (known,): which of them it links
    finished: bool  # whether it came to its own end


class Learner(Protocol):
    """Finds parameters that link many of the known records."""

    def __call__(
        self, known: Searched, request: FitRequest, clock: Clock, starts: Sequence[Start]
    ) -> Learned:
        """Learn from the `known` records alone, which are blocks with all candidates."""


def learn(known: Searched, request: FitRequest, clock: Clock, starts: Sequence[Start]) -> Learned:
    """Learn by the heuristics of the worst case, without a proof."""
    engine, options = request.engine, request.options
    task = SearchTask(known, engine, clock, options, starts=starts, prove=False, orders=False, others=False)
    run = search(task)
    linked = run.final.linked  # before all else, which may depend on it
    return Learned(run.incumbent.solution, linked, clock.limit is None)


def sealed(pair: LinkagePair, known: IndexArray) -> LinkagePair:
    """Build the data available to a learner: the known records, their partners, and all masked records."""
    return pair.part(known)


class Attacked:
    """Attack on the unknown records of a split."""

    def __init__(
        self, pair: LinkagePair, counts: FloatArray, split: Split, seed: int, *, assign: bool
    ) -> None:
        self._pair, self._counts = pair.part(split.attacked), counts[split.attacked]
        self._evaluator = Evaluator(self._pair)
        self._random = stream(seed, split.number, 1) if assign else None

    def rate(self, form: DistanceForm) -> Shares:
        """Compute the share that a distance links."""
        return shares_of(linked_parts(self._evaluator.count(form).linked, self._pair), self._counts)

    def one_to_one(self, form: DistanceForm) -> Shares | None:
        """Compute the share matched with their partner, one to one."""
        if self._random is None:
            return None
        return shares_of(assigned_blocks(self._pair, form, self._random), self._counts)


def record_counts(problem: Problem) -> FloatArray:
    """Compute the count of each block in a total: its sampling weight, or one, in the unit of weights."""
    weight = problem.survey.weight
    return np.ones(problem.pair.blocks) if weight is None else weight / problem.survey.unit
