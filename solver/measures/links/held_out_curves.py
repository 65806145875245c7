"""Learning curves: what the splits of each share and family come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from linkrisk.solver.measures.links.held_out_rates import mean_interval, rate_interval
from linkrisk.solver.measures.links.held_out_trials import Trial


@dataclass(frozen=True)
class HeldOutRate:
    """The splits of one share and one family."""

    aggregator: str  # ``equal-weights`` for the intruder who learns nothing
    share: float  # of the records that the intruder knows
    splits: int
    # mean share of the attacked records that are linked, and its 95 % interval; more is worse
    held_out: float
    low: float
    high: float
    trained: float  # mean share of the known records that the same parameters link
    # mean of `trained` minus `held_out`, and its 95 % interval (None of a single split): over-fitting
    gap: float
    gap_low: float | None
    gap_high: float | None
    one_to_one: float | None  # the same as `held_out` of one-to-one matching; more is worse
    one_to_one_low: float | None
    one_to_one_high: float | None
    worst: float | None  # what the parameters learned from all records link of them
    # `held_out` and `one_to_one` as shares of the records, where they have sampling weights
    unweighted: float | None = None
    one_to_one_unweighted: float | None = None


def summarised(
    trials: Sequence[Trial], worst: Mapping[str, float], blocks: int, worth: float
) -> tuple[HeldOutRate, ...]:
    """One rate for each share and family, shares ascending.

    `worst`: what each family's parameters of the whole file link. `blocks`: records of the file. `worth`:
    independent records that these are worth (`independent_records`).
    """
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
    """Of those that are known."""
    known = [share for share in shares if share is not None]
    return float(np.mean(known)) if known else None


def _attacked_once(trials: Sequence[Trial], blocks: int, worth: float) -> float:
    """Records attacked in any of the splits, as many as independent ones: expected, of random splits."""
    share = trials[0].attacked / blocks
    return worth * (1.0 - (1.0 - share) ** len(trials))
