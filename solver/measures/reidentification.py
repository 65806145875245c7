"""Probability of re-identification: what no attack exceeds in expectation, and what attacks believe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.formulations.linkage.pair import Direction
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
from linkrisk.solver.measures.held_out_trials import record_counts
from linkrisk.solver.measures.matchings import MatchingLimit, Queries, matching_limit
from linkrisk.solver.measures.posterior_attackers import Attacker, Lacking, attackers
from linkrisk.solver.measures.posteriors import (
    AttackOdds,
    Claim,
    Truth,
    compatible_records,
    judged,
    one_record_posterior,
    right_claims,
    surest_claim,
)
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock

_NORMAL = 1.959964
"""Of a normal variable, 95 % lie as many standard deviations around its mean."""


@dataclass(frozen=True, eq=False, repr=False)
class Reidentification(MeasureResult):
    """Limits for all attacks where the masking is known (paper 004, section 2.4), and attacks beside them.

    Shares of records, or of the sum of their sampling weights, from 0 to 1.
    """

    measure: ClassVar[str] = "reidentification"
    records: int
    candidates: int
    attributes: tuple[str, ...]  # with known masking: the limits are for attacks by these
    left_out: tuple[str, ...]  # attributes that are compared, and whose masking is not known
    approximate: tuple[str, ...]  # what the probabilities leave out. Empty where they are exact
    # expected share of right links of an intruder who knows one record, the masked file, the masking and how
    # masked records are distributed; no attack with this knowledge expects more. Higher is worse
    one_record: float
    one_record_low: float  # where 95 % of repetitions of such claims lie
    one_record_high: float
    one_record_right: float  # share of these claims that is right here. Higher is worse
    surest: Claim  # the most probable of these claims
    all_records: MatchingLimit | None  # knowing all originals; None if one is missing, or late
    attacks: tuple[AttackOdds, ...]
    without: tuple[Lacking, ...]  # attacks that have no probabilities here, each with the reason
    unweighted: Mapping[str, float]  # by key of `counted_attacks`, if records have weights
    table: pd.DataFrame  # see `to_frame`

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The two limits; of every attack what it found, what it expects, whether it is compatible."""
        ends = self.one_record_low, self.one_record_high
        words = "limit, one record known"
        found = [_finding("limit_one_record", words, self.one_record, ends, Kind.RANGE)]
        if (limit := self.all_records) is not None:
            kind, words = Kind.CONFIDENCE if limit.sweeps else Kind.CERTAIN, "limit, all records known"
            found.append(_finding("limit_all_records", words, limit.expected, (limit.low, limit.high), kind))
        for attack in self.attacks:
            found += _findings(attack)
        return tuple(found)

    @property
    def counted_attacks(self) -> tuple[CountedAttack, ...]:
        """Who goes by the probabilities of the masking; and nearest candidates, where lots decide."""
        right = max(self.one_record, self.one_record_right)
        found = [CountedAttack("known_masking", "knowing one record and the masking", right)]
        if (limit := self.all_records) is not None:
            words = "knowing all records and the masking"
            found.append(CountedAttack("known_masking_all", words, limit.expected))
        found += [
            CountedAttack(f"nearest_{one.name.replace('-', '_')}", f"the nearest by {one.name}", one.right)
            for one in self.attacks
        ]
        return tuple(one._replace(unweighted=self.unweighted.get(one.key)) for one in found)

    @property
    def paragraph(self) -> str:
        """The limits, and the attack that expects most."""
        on = f" by {shown_names(self.attributes)}" if self.left_out else ""
        text = (
            "an intruder who knows one record and how the file was masked expects "
            f"{_percent(self.one_record)} right links at most{on}, whatever his attack"
        )
        if self.all_records is not None:
            text += f"; one who knows all records, {_percent(self.all_records.expected)}"
        expecting = [attack for attack in self.attacks if attack.expected is not None]
        if not expecting:
            return f"{text}."
        best = max(expecting, key=lambda attack: attack.expected or 0.0)
        learned = [attack for attack in self.attacks if attack.linked is not None]
        text += f". Of the attacks, {best.name} expects most, {_percent(best.expected)}"
        if not learned:
            return f"{text}."
        most = max(learned, key=lambda attack: attack.linked or 0.0)
        return (
            f"{text}. The worst case that was found links {_percent(most.linked)} ({most.name}), with "
            f"parameters that were fitted to the truth; {_percent(most.expected)} of its claims are right in "
            "expectation, where lots decide between equally near candidates."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the limits do not take in."""
        notes = [f"re-identification: {text}" for text in self.approximate]
        if self.left_out:
            notes.append(
                f"re-identification: the masking of {shown_names(self.left_out)} is not known, so the limits "
                "do not hold for attacks that use it, and these are not judged"
            )
        if self.all_records is None:
            notes.append(
                "re-identification: no limit for an intruder who knows all records: some masked records have "
                "no original record here"
            )
        for reason in dict.fromkeys(lacking.reason for lacking in self.without):
            names = shown_names([lacking.name for lacking in self.without if lacking.reason == reason])
            notes.append(f"re-identification: no probabilities of {names}: {reason}")
        return tuple(notes)

    def to_frame(self) -> pd.DataFrame:
        """One row per record.

        Columns: record; claimed, the candidate that is most probable to who knows one record (the first of
        equal ones); probability of this claim; partner, the probability of the partner; all_records, that of
        the best claim of who knows all records; and for each attack ``compatible, NAME``: 1, 0, or missing
        where it is not decided.
        """
        return self.table


def _finding(
    key: str, words: str, value: float, ends: tuple[float, float], kind: Kind, worse: Worse = Worse.HIGHER
) -> Finding:
    return Finding(key, words, value, Unit.SHARE, worse, *ends, kind)


def _findings(attack: AttackOdds) -> list[Finding]:
    name, key = attack.name, attack.name.replace("-", "_")
    found = []
    if attack.linked is not None and attack.most is not None:
        kind, ends = Kind.CERTAIN if attack.certain else Kind.CONFIDENCE, (attack.linked, attack.most)
        found.append(_finding(f"found_{key}", f"{name}, found and bound", attack.linked, ends, kind))
    if attack.expected is not None:
        found.append(Finding(f"expected_{key}", f"{name}, expected", attack.expected))
    if attack.compatible is not None and attack.undecided is not None:
        words, kind, share = f"{name}, compatible", Kind.CERTAIN, attack.compatible
        ends = share, min(1.0, share + attack.undecided)
        found.append(_finding(f"compatible_{key}", words, share, ends, kind, Worse.NEITHER))
    return found


class ProbabilityOfReidentification(Measure):
    """The posterior of the masking, and attacks judged by it."""

    name: ClassVar[str] = "reidentification"
    title: ClassVar[str] = "Probability of re-identification, where the masking is known"
    unit: ClassVar[str] = OF_WEIGHTS
    cost: ClassVar[float] = 6.0

    def lacking(self, task: RiskTask) -> str | None:
        """How the file was masked."""
        return task.known_masking.lacking()

    def take(self, task: RiskTask, clock: Clock) -> Reidentification:
        """Bayes' theorem, then matchings, then attacks."""
        pair, masking = task.first.pair, task.known_masking
        direction = Direction(task.first.options.direction)
        weight = record_counts(task.first)
        posterior = one_record_posterior(masking.log_likelihood, pair.query_rows, direction)
        largest, share = posterior.max(axis=1), weight / weight.sum()
        expected = float(share @ largest)
        spread = _NORMAL * float(np.sqrt(share**2 @ (largest * (1.0 - largest))))
        labels = task.files.masked_labels, task.files.original_labels
        names = labels[direction is Direction.MASKED_TO_ORIGINAL]
        truth = Truth(posterior, not masking.left_out, pair.partner, share, task.first.labels, names)
        limit = _all_records(task, weight, clock)
        table: dict[str, object] = {
            "record": task.first.labels,
            "claimed": [names[at] for at in posterior.argmax(axis=1).tolist()],
            "probability": largest,
            "partner": posterior[np.arange(pair.blocks), pair.partner],
            "all_records": np.full(pair.blocks, np.nan) if limit is None else limit.probability,
        }
        tried = list(attackers(task, clock))
        attacks = [attack for attack in tried if isinstance(attack, Attacker)]
        verdicts = compatible_records(attacks, truth, clock)
        for attack, each in zip(attacks, verdicts, strict=True):
            table[f"compatible, {attack.name}"] = each
        rightly = right_claims(posterior, pair.partner)
        unweighted = {"known_masking": max(largest.mean(), rightly.mean())}
        unweighted |= {} if limit is None else {"known_masking_all": limit.probability.mean()}
        for attack in attacks:
            right = right_claims(attack.beliefs.probability, pair.partner).mean()
            unweighted[f"nearest_{attack.name.replace('-', '_')}"] = right
        return Reidentification(
            records=pair.blocks,
            candidates=len(pair.candidates),
            attributes=masking.attributes,
            left_out=masking.left_out,
            approximate=masking.approximate,
            one_record=expected,
            one_record_low=max(0.0, expected - spread),
            one_record_high=min(1.0, expected + spread),
            one_record_right=float(share @ rightly),
            surest=surest_claim(posterior, truth),
            all_records=limit,
            attacks=tuple(
                judged(attack, truth, each) for attack, each in zip(attacks, verdicts, strict=True)
            ),
            without=tuple(attack for attack in tried if isinstance(attack, Lacking)),
            unweighted={} if np.ptp(weight) == 0.0 else {key: float(one) for key, one in unweighted.items()},
            table=pd.DataFrame(table),
        )


def _all_records(task: RiskTask, weight: FloatArray, clock: Clock) -> MatchingLimit | None:
    """The limit of who knows all records; None where some masked record has no original."""
    partner, pair = task.files.partner, task.first.pair
    if int((partner >= 0).sum()) < len(task.files.masked):
        return None
    masked = Direction(task.first.options.direction) is Direction.MASKED_TO_ORIGINAL
    queries = Queries(pair.query_rows, masked, weight)
    likelihood = task.known_masking.log_likelihood
    return matching_limit(likelihood, partner, queries, task.seed, clock)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100.0 * share:.1f} %"
