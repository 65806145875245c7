"""What the true probabilities say of an attack: what it can expect, and whether its own are compatible."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.measures.posteriors.attackers import Attacker
from linkrisk.solver.measures.posteriors.one_record import best_claims, right_claims
from linkrisk.solver.measures.posteriors.pignistic import MOST_CELLS, compatible
from linkrisk.solver.run.clock import Clock


@dataclass(frozen=True)
class Claim:
    """The single link that an attack is surest of."""

    record: str  # what the two are called
    candidate: str
    probability: float  # as the attack has it
    true_probability: float | None  # by the posterior of the masking; None where that does not hold
    right: bool


@dataclass(frozen=True)
class AttackOdds:
    """An attack with its probabilities, beside the true ones. All numbers but rates are shares of records."""

    name: str  # a family, ``equal-weights``, ``classical-mahalanobis``, or a linker
    # what the learned distance links, by the count of the evaluator, and the bound of its family; None where
    # nothing was learned. Higher is worse
    linked: float | None
    most: float | None
    certain: bool  # whether the bound holds without any chance: no samples were searched
    right: float  # nearest candidates that are the partner; lots decide between equally near ones
    # what its claims are right of in expectation, by the true probabilities: at most the limit. None where
    # these do not hold. Higher is worse
    expected: float | None
    claimed: float  # the same as its own probabilities have it; neither better nor worse
    rate: float  # of these: ``P' = exp(-rate * distance)``, normalised
    surest: Claim
    # records whose probabilities are compatible with the true ones (definition 3 of paper 004), and records
    # where that was not decided. None where the true ones do not hold. Neither better nor worse
    compatible: float | None
    undecided: float | None


@dataclass(frozen=True, eq=False)
class Truth:
    """What attacks are judged by."""

    posterior: FloatArray  # (blocks, candidates): of the masking
    holds: bool  # whether it takes in all that attacks look at
    partner: IndexArray  # (blocks,)
    weight: FloatArray  # (blocks,): parts of one
    records: Sequence[str]  # what blocks and candidates are called
    candidates: Sequence[str]


def judged(attacker: Attacker, truth: Truth, verdicts: FloatArray) -> AttackOdds:
    """An attack, with what is known of the compatibility of its records (`compatible_records`)."""
    beliefs, weight = attacker.beliefs.probability, truth.weight
    best = best_claims(beliefs)
    each = (truth.posterior * best).sum(axis=1) / best.sum(axis=1)
    return AttackOdds(
        attacker.name,
        attacker.linked,
        attacker.most,
        attacker.certain,
        float(weight @ right_claims(beliefs, truth.partner)),
        float(weight @ each) if truth.holds else None,
        float(weight @ beliefs.max(axis=1)),
        attacker.beliefs.rate,
        surest_claim(beliefs, truth),
        float(weight @ (verdicts == 1.0)) if truth.holds else None,
        float(weight @ np.isnan(verdicts)) if truth.holds else None,
    )


def surest_claim(beliefs: FloatArray, truth: Truth) -> Claim:
    """The largest probability of all."""
    row, column = divmod(int(beliefs.argmax()), beliefs.shape[1])
    return Claim(
        truth.records[row],
        truth.candidates[column],
        float(beliefs[row, column]),
        float(truth.posterior[row, column]) if truth.holds else None,
        bool(truth.partner[row] == column),
    )


def compatible_records(attacks: Sequence[Attacker], truth: Truth, clock: Clock) -> list[FloatArray]:
    """Definition 3 for every attack and record: 1 for yes, 0 for no, NaN where it is not decided.

    What needs no optimisation first, of all; then linear programs, record by record, while there is time.
    Records with the same probabilities have one between them.
    """
    found = [np.full(len(truth.posterior), np.nan) for _ in attacks]
    if not truth.holds:
        return found
    known: dict[bytes, float] = {}
    for most in (0, MOST_CELLS):
        for row, posterior in enumerate(truth.posterior):
            if clock.expired:
                return found
            for attack, verdicts in zip(attacks, found, strict=True):
                if not np.isnan(verdicts[row]):
                    continue
                beliefs = attack.beliefs.probability[row]
                key = hashlib.sha256(posterior.tobytes() + beliefs.tobytes() + bytes([most > 0])).digest()
                if key not in known:
                    answer = compatible(posterior, beliefs, most)
                    known[key] = np.nan if answer is None else float(answer)
                verdicts[row] = known[key]
    return found
