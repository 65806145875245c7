"""Count simple attacks, which need neither true links nor a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.linkage.baselines import baseline_forms
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.matching import assigned_blocks
from linkrisk.solver.measures.base import OF_WEIGHTS, CountedAttack, Finding, Measure, MeasureResult
from linkrisk.solver.measures.linker_attacks import (
    by_bayes,
    by_likelihood,
    by_members,
    by_probability,
    order_tells,
    places,
)
from linkrisk.solver.measures.other_scales import (
    beside,
    by_households,
    by_ranks,
    by_units,
    homes,
    household_column,
    means,
    together,
)
from linkrisk.solver.measures.task import RiskTask, Shares, linked_parts, portion, shares_of
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import noted
from linkrisk.solver.run.number_format import percent

MOST_PAIRS = 50_000_000
"""Most pairs for linkers that compare all of them."""

MOST_ATTRIBUTES = 12
"""Most attributes for the Bayesian linker, which searches graphs over twice as many."""

MATCHED = 1_500
"""Most candidates matched one to one: the time grows with their cube."""

LEAST_RECORDS = 20
"""Minimum records for an attack that learns from half of them."""

_PART = 0.2
"""Share of the remaining time for each attack on other scales."""

_NO_TIME = "no time was left for it"


@dataclass(frozen=True)
class SimpleAttack:
    """One attack."""

    key: str  # its name in the JSON, and for a reader
    words: str
    # records that it links rightly (with shared ties expected ones, with sampling weights the persons that
    # they stand for, whole ones); None where it was not tried. Higher is worse
    linked: float | None
    share: float | None  # the same as a share
    reason: str | None = None  # why it was not tried
    unweighted: float | None = None  # share of the records, where these have weights


@dataclass(frozen=True, eq=False, repr=False)
class SimpleAttacks(MeasureResult):
    """Correct links of simple attacks."""

    measure: ClassVar[str] = "simple-attacks"
    records: int
    total: float  # what links are part of: records, or the sum of their sampling weights
    attacks: tuple[SimpleAttack, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Report the shares of correct links of the attacks."""
        return tuple(Finding(one.key, one.words, one.share) for one in self.attacks if one.share is not None)

    @property
    def counted_attacks(self) -> tuple[CountedAttack, ...]:
        """List all attacks that were counted."""
        return tuple(
            CountedAttack(one.key, one.words, one.share, one.unweighted)
            for one in self.attacks
            if one.share is not None
        )

    @property
    def paragraph(self) -> str:
        """Report the best and the worst attack."""
        tried = [one for one in self.attacks if one.share is not None]
        if not tried:
            return "none could be tried."
        best = max(tried, key=lambda one: one.share or 0.0)
        least = min(tried, key=lambda one: one.share or 0.0)
        if best.share == least.share:
            return f"every attack that was tried ({len(tried)}) links {percent(best.share or 0.0)} rightly."
        return (
            f"the best of {len(tried)} attacks that know no worst case is {best.words}, which links "
            f"{percent(best.share or 0.0)} rightly; the least, {least.words}, {percent(least.share or 0.0)}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Note attacks that were left out, and why."""
        return tuple(
            f"simple attacks: {one.words} not tried: {one.reason}"
            for one in self.attacks
            if one.reason is not None
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per attack, as `SimpleAttack` describes its columns."""
        columns = list(SimpleAttack.__annotations__)
        return pd.DataFrame([vars(one) for one in self.attacks], columns=columns)


class SimpleAttacksMeasure(Measure):
    """Counts baselines, also by ranks and households, linkers, and one-to-one matching."""

    name: ClassVar[str] = "simple-attacks"
    title: ClassVar[str] = "Simple attacks, which search for no worst case"
    unit: ClassVar[str] = OF_WEIGHTS
    cost: ClassVar[float] = 2.0

    def take(self, task: RiskTask, clock: Clock) -> SimpleAttacks:
        """Run the attacks one after the other, the quick ones first."""
        ways: tuple[_Way, ...] = (
            ("equal_weights", "equal weights", _baseline("euclid")),
            ("classical_mahalanobis", "classical Mahalanobis", _baseline("mahalanobis")),
            *(_OF_NUMBERS if len(task.files.categorical) < len(task.files.attributes) else ()),
            *(_OF_HOUSEHOLDS if (lives := household_column(task) is not None) else ()),
            ("probabilistic", "probabilistic linkage", _linker(by_probability)),
            ("matched_equal_weights", "equal weights, one to one", _matched),
            ("bayesian", "Bayesian, half known", _bayes),
            ("likelihood", "likelihood ratios, most known", _likelihood),
            *(_OF_MEMBERS if lives else ()),
            *(_OF_ORDER if order_tells(task.first, task.seed) else ()),
        )
        tasks = (task, *_of_several(task))
        return SimpleAttacks(task.records, _total(task), tuple(_tried(way, tasks, clock) for way in ways))


_Attack = Callable[[RiskTask, Clock], Shares]
_Way = tuple[str, str, _Attack]
"""Key, description, and count of an attack."""


class _NotTriedError(Exception):
    """Raised with the reason why an attack is left out."""


def _of_several(task: RiskTask) -> tuple[RiskTask, ...]:
    """Average several releases, for a further run of every attack."""
    if (found := means(task)) is None:
        return ()
    return (replace(task, first=found, releases=None, _attacks={}, _baselines={}),)


def _total(task: RiskTask) -> float:
    weight = task.first.survey.weight
    return float(task.records if weight is None else weight.sum())


def _tried(way: _Way, tasks: Sequence[RiskTask], clock: Clock) -> SimpleAttack:
    """Run one attack on the variant that it links most of, or give the reason against it."""
    key, words, attack = way
    found: list[Shares] = []
    reason = ""
    for task in tasks:
        try:
            found.append(attack(task, clock))
        except _NotTriedError as error:
            reason = str(error)
        except Exception as error:  # the other attacks go on
            reason = noted(error)
    if not found:
        return SimpleAttack(key, words, None, None, reason)
    share = max(one.share for one in found)
    alike = max((one.unweighted for one in found if one.unweighted is not None), default=None)
    linked = share * _total(tasks[0])
    whole = linked if tasks[0].first.survey.weight is None else float(round(linked))
    return SimpleAttack(key, words, whole, share, unweighted=alike)


def _baseline(name: str) -> _Attack:
    """Count a baseline by the evaluator."""

    def way(task: RiskTask, clock: Clock) -> Shares:
        found = task.baseline(name, clock)
        if not found.settled.all():
            raise _NotTriedError("there was no time to look at all records")
        return shares_of(linked_parts(found.linked, task.first.pair), task.first.survey.weight)

    return way


def _compared_by(compared: Callable[[RiskTask], LinkagePair], name: str) -> _Attack:
    """Count a baseline on transformed records."""

    def way(task: RiskTask, clock: Clock) -> Shares:
        if clock.expired:
            raise _NotTriedError(_NO_TIME)
        pair = compared(task)
        part = portion(clock, _PART)
        found = Evaluator(pair, stop=task.stop_by(part)).rank(baseline_forms(pair)[name])
        if not found.settled.all():
            raise _NotTriedError("there was no time to look at all records")
        return shares_of(linked_parts(found.linked, pair), task.first.survey.weight)

    return way


_OF_NUMBERS: tuple[_Way, ...] = (
    ("other_units", "equal weights, other units", _compared_by(by_units, "euclid")),
    ("ranks", "equal weights, ranks", _compared_by(by_ranks, "euclid")),
    ("ranks_mahalanobis", "classical Mahalanobis, ranks", _compared_by(by_ranks, "mahalanobis")),
)
"""Attacks that differ only if some attribute is numeric."""

_OF_HOUSEHOLDS: tuple[_Way, ...] = (
    ("households", "equal weights, households together", _compared_by(by_households, "euclid")),
    ("households_mahalanobis", "classical Mahalanobis, households together",
     _compared_by(by_households, "mahalanobis")),
)  # fmt: skip
"""Attacks by households, if both files have them."""


def _linker(links: Callable[[RiskTask], FloatArray]) -> _Attack:
    """Count the links of a linker that compares all pairs."""

    def way(task: RiskTask, clock: Clock) -> Shares:
        _check_pairs(task, clock)
        return shares_of(links(task), task.first.survey.weight)

    return way


def _check_pairs(task: RiskTask, clock: Clock) -> None:
    pairs = len(task.files.original) * len(task.files.masked)
    if pairs > MOST_PAIRS:
        raise _NotTriedError(
            f"it compares all pairs of records, {pairs:.1g} here; take a sample of the files"
        )
    if clock.expired:
        raise _NotTriedError(_NO_TIME)


def _check_halves(task: RiskTask) -> None:
    if task.records < LEAST_RECORDS:
        raise _NotTriedError(f"it learns from half of the records, and needs {LEAST_RECORDS}")


def _likelihood(task: RiskTask, clock: Clock, *, order: bool = False, members: bool = False) -> Shares:
    """Attack by likelihood ratios, with all releases where there are several."""
    _check_halves(task)
    _check_pairs(task, clock)
    problem = together(task) or task.first
    mine, theirs = beside(problem.files, task.schema)
    if order:
        mine, theirs = (np.hstack(each) for each in zip((mine, theirs), places(problem.files), strict=True))
    if members:
        linked = by_members(problem, (mine, theirs), homes(task), task.seed, task.stop_by(clock))
    else:
        linked = by_likelihood(problem, (mine, theirs), task.seed, MATCHED, task.stop_by(clock))
    if linked is None:
        raise _NotTriedError("there was no time to look at all records")
    return shares_of(linked, problem.survey.weight)


_OF_ORDER: tuple[_Way, ...] = (
    ("record_order", "likelihood ratios with the order of the records", partial(_likelihood, order=True)),
)
"""Attack by the order of the released records, where it is informative."""

_OF_MEMBERS: tuple[_Way, ...] = (
    ("household_members", "likelihood ratios, whole households", partial(_likelihood, members=True)),
)
"""Attack that links households, and then their members, if both files have them."""


def _bayes(task: RiskTask, clock: Clock) -> Shares:
    _check_halves(task)
    if len(task.files.attributes) > MOST_ATTRIBUTES:
        raise _NotTriedError(f"it searches graphs of attributes, for at most {MOST_ATTRIBUTES}")
    return _linker(by_bayes)(task, clock)


def _matched(task: RiskTask, clock: Clock) -> Shares:
    pair = task.first.pair
    if max(pair.blocks, len(pair.candidates)) > MATCHED:
        raise _NotTriedError(f"its time grows with the cube of the records; for at most {MATCHED:,}")
    if clock.expired:
        raise _NotTriedError(_NO_TIME)
    right = assigned_blocks(pair, baseline_forms(pair)["euclid"], np.random.default_rng(task.seed))
    return shares_of(right, task.first.survey.weight)
