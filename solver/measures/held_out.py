"""Measure re-identification of held-out records by an intruder who has learned from the others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy import stats

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.inputs.problem import Searched
from linkrisk.solver.linkage.baselines import euclidean_form
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.measures.base import (
    OF_WEIGHTS,
    CountedAttack,
    Finding,
    Kind,
    Measure,
    MeasureResult,
    Unit,
    Worse,
)
from linkrisk.solver.measures.held_out_trials import (
    EQUAL,
    LEAST_RECORDS,
    MOST_RECORDS,
    Attacked,
    Learner,
    Split,
    Trial,
    learn,
    record_counts,
    sealed,
    split_blocks,
)
from linkrisk.solver.measures.task import RiskTask, Shares, portion
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import percent
from linkrisk.solver.worst_case.search import Start

Ends = tuple[float, float]

LEVEL = 0.95
"""Confidence level of all intervals."""

_NORMAL = float(stats.norm.ppf((1.0 + LEVEL) / 2.0))


def rate_interval(rates: FloatArray, most: float) -> Ends:
    """Compute the 95 % interval of the mean link rate over random splits of one file; `rates` (splits,).

    The file is given and who is known to the intruder is random, so that splits are independent draws, though
    they share records: ``v = s**2 / S`` is the variance of the mean p of S rates. The interval is that of
    Wilson for ``n* = p (1 - p) / v * (z / t)**2`` records, where t is the quantile of Student with S - 1
    degrees of freedom: what Korn and Graubard (1998, Survey Methodology 24, 193-201) do for proportions of
    few clusters, with the interval of Franco, Little, Louis and Slud (2019, Journal of Survey Statistics and
    Methodology 7, 334-364). At most `most` records: where splits agree by chance, as where none links any, it
    would shrink to a point. Of one split it is Wilson's.
    """
    mean = float(rates.mean())
    size = most
    if rates.size > 1:
        variance = float(rates.var(ddof=1)) / rates.size
        student = float(stats.t.ppf((1.0 + LEVEL) / 2.0, rates.size - 1))
        spread = mean * (1.0 - mean)
        if variance > 0.0 and spread > 0.0:
            size = min(most, spread / variance * (_NORMAL / student) ** 2)
    return wilson(mean, size)


def wilson(share: float, size: float) -> Ends:
    """Compute Wilson's 95 % interval of a share of `size` records (Wilson 1927, JASA 22, 209-212)."""
    square = _NORMAL**2
    middle = (share + square / (2.0 * size)) / (1.0 + square / size)
    half = (
        _NORMAL / (1.0 + square / size) * math.sqrt(share * (1.0 - share) / size + square / (4.0 * size**2))
    )
    # Of 0 and 1 the ends are these, but for rounding.
    low = 0.0 if share <= 0.0 else max(0.0, min(share, middle - half))
    high = 1.0 if share >= 1.0 else min(1.0, max(share, middle + half))
    return low, high


def mean_interval(values: FloatArray) -> Ends | None:
    """Compute Student's 95 % interval of a mean difference within splits; None for a single split."""
    if values.size < 2:
        return None
    student = float(stats.t.ppf((1.0 + LEVEL) / 2.0, values.size - 1))
    half = student * float(values.std(ddof=1)) / math.sqrt(values.size)
    return float(values.mean()) - half, float(values.mean()) + half


def independent_records(weight: FloatArray) -> float:
    """Compute the effective number of weighted records: ``(sum w)**2 / sum w**2``."""
    return float(weight.sum() ** 2 / np.square(weight).sum())


@dataclass(frozen=True)
class HeldOutRate:
    """Summary of the splits of one share and one family."""

    aggregator: str  # ``equal-weights`` for the intruder who learns nothing
    share: float  # of the records that the intruder knows
    splits: int
    held_out: float  # mean share of attacked records that are linked; more is worse
    low: float
    high: float
    trained: float  # mean share of the known records that the same parameters link
    gap: float  # mean of `trained` minus `held_out`: over-fitting; no interval of one split
    gap_low: float | None
    gap_high: float | None
    one_to_one: float | None  # the same as `held_out` of one-to-one matching; more is worse
    one_to_one_low: float | None
    one_to_one_high: float | None
    worst: float | None  # what the parameters learned from all records link of them
    unweighted: float | None = None  # the two as shares of the records, if these have weights
    one_to_one_unweighted: float | None = None


def summarised(
    trials: Sequence[Trial], worst: Mapping[str, float], blocks: int, worth: float
) -> tuple[HeldOutRate, ...]:
    """Summarise the trials of each share and family, shares ascending; `worth` is in effective records."""
    names = list(dict.fromkeys(trial.aggregator for trial in trials))
    found = []
    for share in sorted({trial.share for trial in trials}):
        for name in names:
            some = [trial for trial in trials if (trial.share, trial.aggregator) == (share, name)]
            if some:
                found.append(_rate(some, worst.get(name), blocks, worth))
    return tuple(found)


def _rate(trials: Sequence[Trial], worst: float | None, blocks: int, worth: float) -> HeldOutRate:
    held_out = np.array([trial.held_out for trial in trials])
    trained = np.array([trial.trained for trial in trials])
    matched = np.array([trial.one_to_one for trial in trials if trial.one_to_one is not None])
    most = _attacked_once(trials, blocks, worth)
    low, high = rate_interval(held_out, most)
    gap = mean_interval(trained - held_out)
    one_to_one = rate_interval(matched, most) if matched.size else None
    return HeldOutRate(
        aggregator=trials[0].aggregator,
        share=trials[0].share,
        splits=len(trials),
        held_out=float(held_out.mean()),
        low=low,
        high=high,
        trained=float(trained.mean()),
        gap=float((trained - held_out).mean()),
        gap_low=gap and gap[0],
        gap_high=gap and gap[1],
        one_to_one=float(matched.mean()) if matched.size else None,
        one_to_one_low=one_to_one and one_to_one[0],
        one_to_one_high=one_to_one and one_to_one[1],
        worst=worst,
        unweighted=_mean(trial.unweighted for trial in trials),
        one_to_one_unweighted=_mean(trial.one_to_one_unweighted for trial in trials),
    )


def _mean(shares: Iterable[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return float(np.mean(known)) if known else None


def _attacked_once(trials: Sequence[Trial], blocks: int, worth: float) -> float:
    """Estimate the expected number of records attacked in any split, in effective records."""
    share = trials[0].attacked / blocks
    return worth * (1.0 - (1.0 - share) ** len(trials))


SHARES = (0.1, 0.25, 0.5)
"""Shares of the records that the intruder knows."""

SPLITS = 5
"""Random splits of each share, if time allows: more narrow the interval."""

MATCHED = 1_500
"""Most candidates matched one to one: the time grows with their cube."""

_LEAST_SECONDS = 0.25
"""Minimum seconds of a search; with less time there are fewer splits."""


@dataclass(frozen=True, eq=False, repr=False)
class HeldOutRisk(MeasureResult):
    """Link rates on records whose partners were not used to learn the distance."""

    measure: ClassVar[str] = "held-out"
    records: int
    candidates: int
    shares: tuple[float, ...]  # of the records that the intruder knows; those without a split are left out
    splits: int  # random splits that were begun
    planned: int  # those that there should have been
    chance: float  # expected link rate of a random guess: 1 / candidates
    rates: tuple[HeldOutRate, ...]  # by share and family, equal weights included; higher is worse
    trials: tuple[Trial, ...]  # every split: the learning curves

    @property
    def _strongest(self) -> tuple[HeldOutRate, ...]:
        """Select the rates at the largest share."""
        return tuple(rate for rate in self.rates if rate.share == self.shares[-1])

    @property
    def _best(self) -> HeldOutRate:
        """Find the family with the highest of these; equal weights where nothing was learned."""
        learned = [rate for rate in self._strongest if rate.aggregator != EQUAL]
        return max(learned or self._strongest, key=lambda rate: rate.held_out)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Report held-out rates at the largest share, the gap of the highest, and the same one to one."""
        known, best = f"{100.0 * self.shares[-1]:g} % known", self._best
        found = [
            Finding(
                f"held_out_{rate.aggregator.replace('-', '_')}", f"{rate.aggregator}, {known}", rate.held_out,
                low=rate.low, high=rate.high, kind=Kind.CONFIDENCE,
            )
            for rate in self._strongest
        ]  # fmt: skip
        words = f"over-fit gap, {best.aggregator}, {known}"
        ends = (None, None, None) if best.gap_low is None else (best.gap_low, best.gap_high, Kind.CONFIDENCE)
        # The gap says that the attack would fail on other files: neither better nor worse.
        found.append(Finding("over_fit_gap", words, best.gap, Unit.SHARE, Worse.NEITHER, *ends))
        if best.one_to_one is not None:
            words = f"one to one, {best.aggregator}, {known}"
            low, high = best.one_to_one_low, best.one_to_one_high
            found.append(
                Finding("one_to_one", words, best.one_to_one, low=low, high=high, kind=Kind.CONFIDENCE)
            )
        return tuple(found)

    @property
    def counted_attacks(self) -> tuple[CountedAttack, ...]:
        """List every rate in the report as an attack, on the records that are not known."""
        found = []
        for rate in self.rates:
            key, known = rate.aggregator.replace("-", "_"), f"{100.0 * rate.share:g} % known"
            name = "equal weights" if rate.aggregator == EQUAL else words_of(rate.aggregator).title
            found.append(CountedAttack(f"held_out_{key}", f"{name}, {known}", rate.held_out, rate.unweighted))
            if rate.one_to_one is not None:
                words = f"{name} one to one, {known}"
                shares = rate.one_to_one, rate.one_to_one_unweighted
                found.append(CountedAttack(f"held_out_one_to_one_{key}", words, *shares))
        return tuple(found)

    @property
    def paragraph(self) -> str:
        """Compare the best learned attack with equal weights and the worst case."""
        best, equal = self._best, next(rate for rate in self._strongest if rate.aggregator == EQUAL)
        text = (
            f"an intruder who knows {100.0 * best.share:g} % of the records and learns from them links "
            f"{percent(best.held_out)} of the others ({percent(best.low)} to {percent(best.high)}, "
            f"{best.aggregator}), where equal weights link {percent(equal.held_out)} and a random guess "
            f"{100.0 * self.chance:.2g} %."
        )
        if best.aggregator == EQUAL or best.worst is None:
            return text
        return (
            f"{text} On the records that it was learned from this distance links {percent(best.trained)}, "
            f"and the worst case, which learns from all, is {percent(best.worst)}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Note what was left out."""
        notes = []
        if missing := sorted(set(SHARES) - set(_usable(self.records))):
            listed = ", ".join(f"{100.0 * share:g} %" for share in missing)
            notes.append(
                f"held-out: with {listed} known, a side of the split has fewer than {LEAST_RECORDS} records"
            )
        fewest = min(rate.splits for rate in self.rates)
        if fewest < self.planned:
            some = f"{fewest}" if fewest == self.splits else f"{fewest} to {self.splits}"
            notes.append(f"held-out: {some} of {self.planned} splits in the time that was left")
        if any(trial.known == MOST_RECORDS or trial.attacked == MOST_RECORDS for trial in self.trials):
            notes.append(f"held-out: {MOST_RECORDS:,} records of a side of a split are looked at, by lot")
        if cut := sum(not trial.finished for trial in self.trials):
            notes.append(f"held-out: {cut} of {len(self.trials)} searches ended with their time")
        if any(trial.one_to_one is None for trial in self.trials):
            notes.append(f"held-out: no one-to-one matching above {MATCHED:,} candidates, or out of time")
        return tuple(notes)

    def to_frame(self) -> pd.DataFrame:
        """Learning curves, one row per split, share and family, as `Trial` describes its columns."""
        return pd.DataFrame([vars(trial) for trial in self.trials])


class HeldOut(Measure):
    """Measures the attack of an intruder who knows a share of the true links."""

    name: ClassVar[str] = "held-out"
    title: ClassVar[str] = "Held-out attack: an intruder who knows a share of the records"
    unit: ClassVar[str] = OF_WEIGHTS
    cost: ClassVar[float] = 10.0

    def __init__(self, learner: Learner = learn) -> None:
        self._learner = learner

    def lacking(self, task: RiskTask) -> str | None:
        """Require enough records for one split."""
        if not _usable(task.records):
            return f"a split needs {LEAST_RECORDS} known and {LEAST_RECORDS} attacked records"
        return None

    def take(self, task: RiskTask, clock: Clock) -> HeldOutRisk:
        """Run split after split, each with all shares and families, to spread the time evenly."""
        shares, pair = _usable(task.records), task.first.pair
        counts = record_counts(task.first)
        trials = list(self._trials(task, clock, shares))
        return HeldOutRisk(
            records=pair.blocks,
            candidates=len(pair.candidates),
            shares=tuple(share for share in shares if any(trial.share == share for trial in trials)),
            splits=1 + max(trial.split for trial in trials),
            planned=SPLITS,
            chance=1.0 / len(pair.candidates),
            rates=summarised(trials, _worst(task, clock), pair.blocks, independent_records(counts)),
            trials=tuple(trials),
        )

    def _trials(self, task: RiskTask, clock: Clock, shares: Sequence[float]) -> Iterator[Trial]:
        """Run the trials that time allows, and at least the first of equal weights."""
        names = list(task.worst.results)
        for number in range(SPLITS):
            # What searches have left over may be enough for another split.
            left = len(shares) * len(names) * _planned(clock, len(shares) * len(names), SPLITS - number)
            for share in reversed(shares):  # the strongest intruder first: where time is short, he matters
                if clock.expired and number + (share != shares[-1]) > 0:
                    return
                split = split_blocks(task.records, share, number, task.seed)
                assign = len(task.first.pair.candidates) <= MATCHED and not clock.expired
                intruder = _Intruder(task, split, self._learner, assign=assign)
                yield intruder.equal()
                for name in names:
                    if clock.expired:
                        break
                    yield intruder.learned(
                        name,
                        portion(clock, 1.0 / left),
                    )
                    left -= 1


class _Intruder:
    """One split with the links of every learned family."""

    def __init__(self, task: RiskTask, split: Split, learner: Learner, *, assign: bool) -> None:
        self._task, self._split, self._learner = task, split, learner
        pair, counts = task.first.pair, record_counts(task.first)
        self._known, self._total = sealed(pair, split.known), float(counts[split.known].sum())
        self._attacked = Attacked(pair, counts, split, task.seed, assign=assign)
        self._starts: list[tuple[str, Start]] = []

    def equal(self) -> Trial:
        """Count equal weights, on both parts: without learning, they differ by chance alone."""
        form = euclidean_form(self._known)
        trained = Evaluator(self._known).count(form).linked_weight / self._total
        rates = self._attacked.rate(form), self._attacked.one_to_one(form)
        return self._trial(EQUAL, trained, *rates, 0.0, True)

    def learned(self, name: str, clock: Clock) -> Trial:
        """Learn a family, from the parameters of simpler ones on the same records."""
        problems = self._task.problems
        problem = problems[name]
        lifts = [
            (problem.aggregator.lift_from(problems[one].aggregator), start) for one, start in self._starts
        ]
        starts = [Start(lift(start.theta), start.linked) for lift, start in lifts if lift is not None]
        known = Searched(self._known, problem.aggregator, problem.survey.unit)
        found = self._learner(known, self._task.request, clock, starts)
        seconds = clock.seconds
        self._starts.append((name, Start(found.theta, found.linked)))
        form = problem.aggregator.form(problem.aggregator.domain.exact(found.theta))
        trained = float(self._known.weight[found.linked].sum()) / self._total
        rates = self._attacked.rate(form), self._attacked.one_to_one(form)
        return self._trial(name, trained, *rates, seconds, found.finished)

    def _trial(
        self,
        name: str,
        trained: float,
        rate: Shares,
        one_to_one: Shares | None,
        seconds: float,
        finished: bool,
    ) -> Trial:
        split, matched = self._split, one_to_one or Shares(0.0)
        return Trial(
            aggregator=name,
            share=split.share,
            split=split.number,
            known=split.known.size,
            attacked=split.attacked.size,
            trained=trained,
            held_out=rate.share,
            one_to_one=None if one_to_one is None else one_to_one.share,
            seconds=seconds,
            finished=finished,
            unweighted=rate.unweighted,
            one_to_one_unweighted=matched.unweighted,
        )


def _usable(records: int) -> list[float]:
    return [share for share in SHARES if split_blocks(records, share, 0, 0).usable]


def _planned(clock: Clock, searches: int, splits: int) -> int:
    """Choose the number of splits that time allows, at least one."""
    if clock.remaining is None:
        return splits
    return max(1, min(splits, int(clock.remaining / (_LEAST_SECONDS * max(searches, 1)))))


def _worst(task: RiskTask, clock: Clock) -> dict[str, float]:
    """Compute the share of all records that learned distances link, and equal weights if time allows."""
    found = {name: result.interval[0] / task.total for name, result in task.worst.results.items()}
    equal = task.baseline("euclid", clock)
    if not equal.settled.all():
        return found
    return {EQUAL: equal.linked_weight / float(record_counts(task.first).sum()), **found}
