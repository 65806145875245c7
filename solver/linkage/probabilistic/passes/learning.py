"""Learn one m and u from the pairs of all passes, and find the thresholds of links and clerical review."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.errors import called
from linkrisk.solver.linkage.linker import LinkageTask
from linkrisk.solver.linkage.parameters import USUAL_BAND
from linkrisk.solver.linkage.probabilistic.comparisons import Comparison
from linkrisk.solver.linkage.probabilistic.decision import Thresholds, error_rate_thresholds
from linkrisk.solver.linkage.probabilistic.em import MOST_MATCHES, EMSettings, estimate
from linkrisk.solver.linkage.probabilistic.learned import read_parameters
from linkrisk.solver.linkage.probabilistic.notes import notes_on
from linkrisk.solver.linkage.probabilistic.parameters import shown_parameters
from linkrisk.solver.linkage.probabilistic.passes.comparing import outside_pairs
from linkrisk.solver.linkage.probabilistic.passes.joining import MOST_PASSES
from linkrisk.solver.linkage.probabilistic.passes.keys import Pass, parse_pass
from linkrisk.solver.linkage.probabilistic.passes.learned import LearnedPasses, PassFiles
from linkrisk.solver.linkage.probabilistic.weights import pattern_weights
from linkrisk.solver.run.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class PassSettings:
    """How to link in passes.

    Attributes
    ----------
    passes : tuple of Pass
    linked_leave : bool
        Whether the records of linked pairs take no part in later passes.
    frequency_weights : bool
        Whether agreement on a rare value weighs more.
    band : (float, float), optional
        Match probabilities between which pairs are for clerical review.
    rates : (float, float), optional
        The error rates mu and lambda, in place of a band.

    Raises
    ------
    UsageError
        If a setting is out of range, or would not be looked at.
    """

    passes: tuple[Pass, ...]
    linked_leave: bool = False
    frequency_weights: bool = False
    band: tuple[float, float] | None = None
    rates: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not self.passes:
            for given, option in (
                (self.linked_leave, "linked_leave"),
                (self.frequency_weights, "frequency_weights"),
                (self.band is not None, "clerical_band"),
            ):
                if given:
                    raise UsageError(
                        f"{called(option)} is about passes: give {called('passes')} too, or leave it out",
                        option=option,
                    )
        for one in self.passes:
            if self.passes.count(one) > 1:
                raise UsageError(f"the pass '{one}' is given twice; leave one out")
        if len(self.passes) > MOST_PASSES:
            raise UsageError(f"there are {len(self.passes)} passes; give at most {MOST_PASSES}")
        if self.band is not None and self.rates is not None:
            raise UsageError("thresholds come from a clerical band or from two error rates; give one of them")
        if self.band is not None and not 0 < self.band[0] <= self.band[1] < 1:
            raise UsageError(
                f"the clerical band is {self.band[0]:g},{self.band[1]:g}; give two match probabilities "
                "between 0 and 1, the lower one first"
            )


def parse_band(text: str) -> tuple[float, float]:
    """Read two match probabilities, as in ``0.5,0.9``; DataError on anything else."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise DataError(f"{text!r} is not a band; write two match probabilities like 0.5,0.9") from None
    return low, high


def learn_in_passes(
    task: LinkageTask, comparisons: Mapping[str, Comparison], em: EMSettings, settings: PassSettings
) -> LearnedPasses:
    """Compare the pairs of all passes and learn from them.

    Pairs that no pass compares count as non-matches: u is that of all pairs, and p the share of matches among
    all pairs, whatever the keys are. There are at most `MOST_MATCHES` times as many
    matches as records of the smaller file.

    Raises
    ------
    UsageError
        If a pass cannot be used (see `PassFiles.of`).
    """
    files = PassFiles.of(task, comparisons, settings.passes)
    records = len(task.queries), len(task.candidates)
    outside = outside_pairs(files.compared, files.levels, *records, task.seed)
    counts = files.compared.counts
    # Where nobody knows the share, millions of similar pairs may look likelier as matches than as others.
    most = min(records) / (records[0] * records[1])
    em = replace(em, start_p=min(0.5, most), most_p=min(1.0, MOST_MATCHES * most))
    found = estimate(counts, [how.levels for how in files.comparisons], em, outside)
    parameters = shown_parameters(
        files.attributes, files.comparisons, counts, found, p_known=em.p is not None
    )
    parameters |= {
        "passes": [str(one) for one in settings.passes],
        "linked_leave": settings.linked_leave,
        "frequency_weights": settings.frequency_weights,
        "all_pairs": records[0] * records[1],
    }
    notes = notes_on(files.attributes, found, em, min(records), counts.pairs + outside.pairs)
    learned = LearnedPasses(
        files, found.m, found.u, found.p, parameters, notes, frequency_weights=settings.frequency_weights
    )
    thresholds = _thresholds(learned, settings)
    outcomes = thresholds.outcomes(*_weights_and_counts(learned))
    outcomes["non_linked"] += outside.pairs
    parameters["thresholds"] = thresholds.to_dict() | {name: int(count) for name, count in outcomes.items()}
    return learned


def _weights_and_counts(learned: LearnedPasses) -> tuple[FloatArray, FloatArray]:
    """Match weights that occur and how often: those of patterns, or of pairs that have their own."""
    if learned.parameters["frequency_weights"]:
        scores = learned.scored_pairs.score
        return scores, np.ones(scores.size)
    counts = learned.files.compared.counts
    return pattern_weights(counts.patterns, learned.level_weights), counts.counts


def _thresholds(learned: LearnedPasses, settings: PassSettings) -> Thresholds:
    weights, counts = _weights_and_counts(learned)
    probability = learned.probabilities(weights)
    matches, others = counts * probability, counts * (1.0 - probability)
    if settings.rates is not None:
        return error_rate_thresholds(weights, matches, others, *settings.rates, learned.even)
    low, high = (learned.weight_of(end) for end in settings.band or USUAL_BAND)
    return Thresholds(
        link=high,
        non_link=low,
        false_link_rate=float(others[weights >= high].sum() / (others.sum() or 1.0)),
        false_non_link_rate=float(matches[weights < low].sum() / (matches.sum() or 1.0)),
    )


def restored_passes(parameters: Mapping[str, Any], task: LinkageTask) -> LearnedPasses:
    """Apply what was learned before to the files of a task.

    Raises
    ------
    UsageError
        If these are not parameters of passes, or the passes cannot be used.
    """
    read = read_parameters(parameters, task)
    try:
        passes = [parse_pass(str(text)) for text in parameters["passes"]]
        frequency, thresholds = bool(parameters["frequency_weights"]), parameters["thresholds"]
        bool(parameters["linked_leave"])
        for end in ("link", "non_link"):
            float(thresholds[end] or 0.0)
    except KeyError as problem:
        raise UsageError(f"these are not parameters of linkage in passes: {problem} is missing") from None
    except (TypeError, ValueError) as problem:
        raise UsageError(f"these are not parameters of linkage in passes: {problem}") from None
    files = PassFiles.of(task, read.comparisons, passes)
    return LearnedPasses(files, read.m, read.u, read.p, dict(parameters), frequency_weights=frequency)
