"""Measure attribute disclosure: how well links predict confidential attributes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.linkage.baselines import baseline_forms
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.measures.base import OF_RECORDS, Finding, Kind, Measure, MeasureResult, Unit
from linkrisk.solver.measures.held_out import wilson
from linkrisk.solver.measures.released import ReleasedAttribute, released_attribute, unreadable
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import percent

_Z = 1.959963984540054
"""Quantile of the normal distribution for 95 % confidence intervals."""


@dataclass(frozen=True)
class Guesses:
    """Guesses of one attribute, with 95 % confidence intervals."""

    records: int  # records with a known true value
    # of categories the share of right guesses, from 0 to 1, where more is worse for the release; of numbers
    # the root mean squared error, in units of the attribute, where less is worse. None without records
    learned: float | None
    low: float | None  # interval: Wilson's for a share, of the ratio to `baseline` for an error
    high: float | None
    baseline: float | None  # the same of the best guess without the release: the mode, or the mean
    # ``(learned - baseline) / (1 - baseline)`` of shares, ``1 - learned / baseline`` of errors: 1 where all
    # is learned, 0 or less where nothing is. None where the attribute is constant
    risk: float | None
    risk_low: float | None
    risk_high: float | None


_NOTHING = Guesses(0, None, None, None, None, None, None, None)


def guessed_categories(truth: FloatArray, guess: FloatArray) -> Guesses:
    """Compare guesses of categories (records,) with the mode of the true ones, the guess for NaN.

    The interval of the risk (anonymeter's: Giomi et al., PoPETs 2023) takes the baseline as known.
    """
    truth, guess = _known(truth, guess)
    if truth.size == 0:
        return _NOTHING
    codes, counts = np.unique(truth, return_counts=True)
    baseline = float(counts.max() / truth.size)
    share = float((np.where(np.isnan(guess), codes[np.argmax(counts)], guess) == truth).mean())
    low, high = wilson(share, truth.size)
    if baseline == 1.0:
        return Guesses(truth.size, share, low, high, baseline, None, None, None)
    risk, least, most = ((each - baseline) / (1.0 - baseline) for each in (share, low, high))
    return Guesses(truth.size, share, low, high, baseline, risk, least, most)


def guessed_numbers(truth: FloatArray, guess: FloatArray) -> Guesses:
    """Compare guesses of numbers (records,) with the mean of the true ones, the guess for NaN.

    With squared errors e of the guesses and b of the mean, ``R = sqrt(mean(e) / mean(b))`` has the interval
    ``R exp(+-z s)``; ``s**2 = var(e / mean(e) - b / mean(b)) / (4 n)`` is that of log R (delta method).
    """
    truth, guess = _known(truth, guess)
    if truth.size == 0:
        return _NOTHING
    mean = truth.mean()
    own, best = (np.where(np.isnan(guess), mean, guess) - truth) ** 2, (truth - mean) ** 2
    learned, baseline = math.sqrt(own.mean()), math.sqrt(best.mean())
    if baseline <= 1e-12 * float(np.abs(truth).max()):
        return Guesses(truth.size, learned, learned, learned, baseline, None, None, None)
    if learned == 0.0:
        return Guesses(truth.size, 0.0, 0.0, 0.0, baseline, 1.0, 1.0, 1.0)
    apart = own / own.mean() - best / best.mean()
    factor = math.exp(_Z * math.sqrt(float(apart.var()) / (4.0 * truth.size)))
    low, high = learned / factor, learned * factor
    risk, least, most = (1.0 - each / baseline for each in (learned, high, low))
    return Guesses(truth.size, learned, low, high, baseline, risk, least, most)


def _known(truth: FloatArray, guess: FloatArray) -> tuple[FloatArray, FloatArray]:
    known = ~np.isnan(truth)
    return truth[known], guess[known]


_SHOWN = 3
"""Attributes in the table of all measures, those at highest risk."""

EQUAL = "equal weights"


@dataclass(frozen=True)
class LearnedAttribute:
    """Inference of one confidential attribute by one attack."""

    attribute: str
    numeric: bool  # whether `guesses` are about errors; else about shares of right guesses
    attack: str  # ``equal weights``, or ``learned`` and the name of the family
    guesses: Guesses

    @property
    def sentence(self) -> str:
        """Report how good the guess is, with and without the release."""
        found = self.guesses
        if found.learned is None or found.baseline is None:
            return f"of {self.attribute} no value is known"
        if self.numeric:
            return (
                f"{self.attribute} with an error (RMSE) of {found.learned:.4g}, where the mean of all "
                f"has {found.baseline:.4g}"
            )
        return (
            f"{self.attribute} right for {percent(found.learned)}, where the most frequent value is "
            f"right for {percent(found.baseline)}"
        )


@dataclass(frozen=True, eq=False, repr=False)  # that of all measures
class AttributeDisclosure(MeasureResult):
    """How well confidential attributes are inferred by linking; a higher risk is worse."""

    measure: ClassVar[str] = "attribute-disclosure"
    records: int  # records that are linked
    learned: tuple[LearnedAttribute, ...]  # by attribute and attack
    known_already: tuple[str, ...]  # compared confidential attributes: the intruder knows them

    @property
    def _worst_first(self) -> list[str]:
        """Sort the attributes by their highest risk under any attack."""
        risks: dict[str, float] = {}
        for each in self.learned:
            risk = each.guesses.risk
            risks[each.attribute] = max(risks.get(each.attribute, -np.inf), -np.inf if risk is None else risk)
        return sorted(risks, key=lambda name: -risks[name])

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Report the risk of the worst attributes, under both attacks."""
        shown = [
            each for name in self._worst_first[:_SHOWN] for each in self.learned if each.attribute == name
        ]
        return tuple(_finding(each) for each in shown)

    @property
    def paragraph(self) -> str:
        """Report the worst attack on the worst attribute."""
        worst = self._worst_first[0]
        found = [each for each in self.learned if each.attribute == worst]
        best = max(found, key=lambda each: -np.inf if each.guesses.risk is None else each.guesses.risk)
        risk = best.guesses.risk
        if risk is None:
            return f"nothing can be learned: {best.sentence}."
        if risk <= 0.0:
            return (
                f"the record one links to teaches no more about {', '.join(self._worst_first)} than the best "
                f"guess without the release. Best is {best.attack}: {best.sentence}."
            )
        return (
            f"most is learned of {worst}. The record one links to by {best.attack} gives {best.sentence}: "
            f"{percent(risk)} of what there is to learn."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Note confidential attributes that were left out."""
        if not self.known_already:
            return ()
        return (f"compared, and so no matter of attribute disclosure: {', '.join(self.known_already)}",)

    def to_frame(self) -> pd.DataFrame:
        """One row per attribute and attack: attribute, attack, measured by, and the fields of `Guesses`."""
        rows = [
            {
                "attribute": each.attribute,
                "attack": each.attack,
                "measured by": "RMSE" if each.numeric else "share right",
                **vars(each.guesses),
            }
            for each in self.learned
        ]
        return pd.DataFrame(rows)


class AttributeDisclosureMeasure(Measure):
    """Infers confidential attributes from the linked record."""

    name: ClassVar[str] = "attribute-disclosure"
    title: ClassVar[str] = "Attribute disclosure (0: no better than without the release)"
    unit: ClassVar[str] = OF_RECORDS
    cost: ClassVar[float] = 0.5

    def lacking(self, task: RiskTask) -> str | None:
        """Require a confidential attribute that is released and not compared."""
        if not task.confidential:
            return "needs a schema that gives an attribute the role confidential"
        if not _asked(task):
            return "no confidential attribute is both in the masked file and not compared"
        return unreadable(task)

    def take(self, task: RiskTask, clock: Clock) -> AttributeDisclosure:
        """Guess every confidential attribute by both attacks."""
        attributes = [released_attribute(task, name) for name in _asked(task)]
        attacks = dict(_attacks(task, clock))
        learned = [
            LearnedAttribute(each.name, each.numeric, attack, _guessed(task, each, claims))
            for each in attributes
            for attack, claims in attacks.items()
        ]
        known = tuple(name for name in task.confidential if name in task.files.attributes)
        return AttributeDisclosure(task.records, tuple(learned), known)


def _asked(task: RiskTask) -> list[str]:
    """List confidential attributes that the masked file has and that are not compared."""
    compared, columns = task.files.attributes, task.files.masked.columns
    return [name for name in task.confidential if name in columns and name not in compared]


def _attacks(task: RiskTask, clock: Clock) -> Iterator[tuple[str, IndexArray]]:
    """Link each block to a candidate, by equal weights and by the worst learned distance."""
    pair, attack = task.first.pair, task.attack(task.worst.worst.details["aggregator"])
    evaluator = Evaluator(pair, stop=task.stop_by(clock))
    yield EQUAL, evaluator.claims(baseline_forms(pair)["euclid"], task.seed)
    learned = attack.problem
    evaluator = Evaluator(learned.pair, stop=task.stop_by(clock))
    yield (
        f"learned {learned.aggregator.name}",
        evaluator.claims(learned.aggregator.form(attack.theta), task.seed),
    )


def _guessed(task: RiskTask, attribute: ReleasedAttribute, claims: IndexArray) -> Guesses:
    """Compare the value of the linked masked record with that of the original, pair by pair."""
    made = claims >= 0
    queries, candidates = task.first.pair.query_rows[made], claims[made]
    forwards = Direction(task.first.options.direction) is Direction.ORIGINAL_TO_MASKED
    originals, masked = (queries, candidates) if forwards else (candidates, queries)
    guess = guessed_numbers if attribute.numeric else guessed_categories
    return guess(attribute.original[originals], attribute.masked[masked])


def _finding(each: LearnedAttribute) -> Finding:
    found = each.guesses
    words = f"{each.attribute}, by {each.attack}"
    name = re.sub(r"\W+", "_", each.attribute.lower())
    key = f"{name}_by_{'equal_weights' if each.attack == EQUAL else 'the_learned'}"
    if found.risk is None:
        return Finding(key, words, None)
    return Finding(
        key, words, found.risk, Unit.SHARE, low=found.risk_low, high=found.risk_high, kind=Kind.CONFIDENCE
    )
