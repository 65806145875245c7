"""What is drawn and how much of the confidence each stage gets: fixed before any record is looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from linkrisk.solver.engines.steering import SamplingSteering
from linkrisk.solver.run.errors import UsageError

CONFIDENCE = 0.95
"""The default."""


@dataclass(frozen=True)
class SamplingChoice:
    """What the user asks for.

    Attributes
    ----------
    sample : int, ``auto`` or None
        Records in each sample; ``auto`` for the program's choice, and only where all records would be too
        many; None to search all records, however many there are.
    samples : int, optional
        How many samples.
    confidence : float
        Of the limit for the whole file.
    strata : str, optional
        Column by whose values to draw.
    families : int
        Families that are searched, the best of whose attacks is shown: the limits of what they link are wrong
        with the chance that is left, all together.
    """

    sample: int | str | None = "auto"
    samples: int | None = None
    confidence: float = CONFIDENCE
    strata: str | None = None
    families: int = 1

    @property
    def asked(self) -> bool:
        """Whether the user has asked for samples, whatever the file."""
        return isinstance(self.sample, int) or self.samples is not None or self.strata is not None


@dataclass(frozen=True)
class Stage:
    """The samples up to some number, and what they may be wrong with.

    Attributes
    ----------
    samples : int
        Samples searched by the end of the stage, those of earlier stages included.
    alpha : Fraction
        The stage's part of one minus the confidence.
    """

    samples: int
    alpha: Fraction


@dataclass(frozen=True)
class Plan:
    """Samples, disjoint and of one size but for one record, and stages.

    Attributes
    ----------
    size : int
        Records in each.
    stages : tuple of Stage
        Each has more samples than the one before; together they may be wrong with one minus the confidence.
    """

    size: int
    stages: tuple[Stage, ...]

    @property
    def samples(self) -> int:
        """Of the last stage."""
        return self.stages[-1].samples


def check_choice(choice: SamplingChoice) -> None:
    """Refuse what no file could satisfy."""
    if not 0.0 < choice.confidence < 1.0:
        raise UsageError(f"the confidence must be above 0 and below 1, not {choice.confidence:g}")
    for value, what in ((choice.sample, "sample"), (choice.samples, "number of samples")):
        if isinstance(value, int) and value < 1:
            raise UsageError(f"the {what} must be at least 1, not {value}")
    if choice.sample is None and (choice.samples is not None or choice.strata is not None):
        raise UsageError("there are no samples to draw where all records are searched: leave the sample out")


def make_plan(
    choice: SamplingChoice,
    blocks: int,
    candidates: int,
    seconds: float | None,
    workers: int,
    steering: SamplingSteering,
) -> Plan | None:
    """The plan for a file, from sizes and limits alone.

    Parameters
    ----------
    choice : SamplingChoice
    blocks, candidates : int
        Sizes of the file.
    seconds : float or None
        Time limit.
    workers : int
        Searches side by side.
    steering : SamplingSteering

    Returns
    -------
    Plan or None
        None where all records are to be searched.

    Raises
    ------
    UsageError
        If more records are asked for than there are.
    """
    if choice.sample is None or (not choice.asked and blocks <= steering.most_whole):
        return None
    alpha = 1 - Fraction(str(choice.confidence))
    size = choice.sample if isinstance(choice.sample, int) else min(steering.size, blocks)
    if size > blocks:
        raise UsageError(
            f"a sample of {size:,} is more than the {blocks:,} records there are: take a smaller one, or "
            "search all records without a sample"
        )
    if choice.samples is not None:
        if size * choice.samples > blocks:
            raise UsageError(
                f"{choice.samples:,} samples of {size:,} records are {size * choice.samples:,}, more than "
                f"the {blocks:,} there are: take fewer or smaller ones"
            )
        return Plan(size, (Stage(choice.samples, alpha),))
    most = blocks // size
    first = min(most, _affordable(size, candidates, seconds, workers, steering))
    later = min(most, math.ceil(steering.growth * first))
    if later == first:
        return Plan(size, (Stage(first, alpha),))
    return Plan(size, (Stage(first, alpha / 2), Stage(later, alpha / 2)))


def _affordable(
    size: int, candidates: int, seconds: float | None, workers: int, steering: SamplingSteering
) -> int:
    """Samples that can be searched well: as many as have their seconds, and no fewer than some."""
    if seconds is None:
        return steering.most
    each = steering.seconds + steering.seconds_per_pair * size * candidates
    many = int(steering.searching_share * seconds * workers / each)
    return max(steering.fewest, min(steering.most, many))
