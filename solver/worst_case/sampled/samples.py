"""Samples of a file: what is asked for, how many are planned, and which records are drawn."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.names import shown_name, shown_names
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.engines.steering import SamplingSteering
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.sampled.confidence import Design

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


METHOD = "sha256-1"
"""What results call this way of drawing."""

_KEYS = 4
"""Keys in a digest."""


@dataclass(frozen=True)
class Draw:
    """Records drawn from a file.

    Attributes
    ----------
    blocks : ndarray of int, shape (sample,)
        In the order in which they were drawn.
    design : Design
    """

    blocks: IndexArray
    design: Design


def fingerprint(original: FloatArray, masked: FloatArray, partner: IndexArray) -> bytes:
    """A digest of what is compared.

    Parameters
    ----------
    original, masked : ndarray of float64, shapes (n, attributes) and (m, attributes)
        As read, before they are standardised; categories as positions.
    partner : ndarray of int, shape (n,)
        The masked row of each original record, -1 where there is none.
    """
    digest = hashlib.sha256(METHOD.encode())
    for values in (original, masked):
        plain = np.where(np.isnan(values), np.nan, values) + 0.0  # one NaN, no -0
        digest.update(np.array(plain.shape, dtype=">i8").tobytes() + plain.astype(">f8").tobytes())
    digest.update(partner.astype(">i8").tobytes())
    return digest.digest()


def drawing_order(seed: int, files: bytes, blocks: int, purpose: bytes = b"") -> IndexArray:
    """The order in which the blocks of a problem are drawn, shape (blocks,).

    Parameters
    ----------
    seed : int
    files : bytes
        Their `fingerprint`.
    blocks : int
    purpose : bytes
        Draws for another purpose are in another order, as if by another seed.
    """
    start = hashlib.sha256(files + seed.to_bytes(8, "big") + purpose)
    keys = bytearray()
    for at in range(-(-blocks // _KEYS)):
        digest = start.copy()
        digest.update(at.to_bytes(8, "big"))
        keys += digest.digest()
    return np.argsort(np.frombuffer(bytes(keys), dtype=">u8")[:blocks], kind="stable").astype(np.intp)


def draw(order: IndexArray, sample: int, stratum: Sequence[str] | None = None) -> Draw:
    """The first records of an order: of the whole file, or of each stratum its share.

    Parameters
    ----------
    order : ndarray of int, shape (blocks,)
    sample : int
        Records to draw, from 1 to all; by stratum a few more, as shares of strata are rounded up.
    stratum : sequence of str, length blocks, optional
        Of each block.
    """
    n = order.size
    if stratum is None:
        return Draw(order[:sample], Design(n, sample))
    _, codes = np.unique(np.asarray(stratum), return_inverse=True)
    wanted = -(-sample * np.bincount(codes) // n)
    ordered = codes[order]
    # How many of its stratum come before each record of the order.
    by_stratum = np.argsort(ordered, kind="stable")
    sizes = np.bincount(ordered)
    before = np.empty(n, dtype=np.intp)
    before[by_stratum] = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    blocks = order[before < wanted[ordered]]
    share = min(Fraction(int(m), int(size)) for m, size in zip(wanted, sizes, strict=True))
    return Draw(blocks, Design(n, blocks.size, share))


def check_strata(stratum: Sequence[str], column: str) -> None:
    """Refuse strata from which nothing can be drawn without taking all of it."""
    names, sizes = np.unique(np.asarray(stratum), return_counts=True)
    alone = names[sizes == 1]
    if alone.size:
        raise UsageError(
            f"stratum {str(alone[0])!r} of {shown_name(column)} has one record: join it with another, or "
            "draw without strata"
        )


_NONE = ""
"""The stratum of records whose value is missing."""


def block_strata(problem: Problem, column: str) -> list[str]:
    """The values of a column of the original file, or of the masked one where only that has it.

    UsageError when there is no such column, or a stratum has one record.
    """
    files, pair = problem.files, problem.pair
    frame = next((each for each in (files.original, files.masked) if column in each.columns), None)
    if frame is None:
        known = shown_names(sorted({*files.original.columns, *files.masked.columns}))
        raise UsageError(f"there is no column {shown_name(column)} to draw by: the files have {known}")
    blocks_are_original = Direction(problem.options.direction) is Direction.ORIGINAL_TO_MASKED
    rows = pair.query_rows if blocks_are_original == (frame is files.original) else pair.partner
    values = frame[column].iloc[rows]
    stratum = [
        _NONE if missing else str(value) for value, missing in zip(values, pd.isna(values), strict=True)
    ]
    check_strata(stratum, column)
    return stratum


@dataclass(frozen=True)
class Samples:
    """What is searched and counted, and in which order.

    Attributes
    ----------
    plan : Plan
    draws : tuple of Draw
        One for each stage; each holds the one before.
    parts : tuple of ndarray of int
        The samples, in the order in which they are searched.
    outside : ndarray of int
        All other records, in an order drawn for itself: any first part of it is a random sample of them.
    """

    plan: Plan
    draws: tuple[Draw, ...]
    parts: tuple[IndexArray, ...]
    outside: IndexArray

    @property
    def drawn(self) -> IndexArray:
        """The records of all samples."""
        return np.concatenate(self.parts)


def draw_samples(
    plan: Plan, files: bytes, seed: int, blocks: int, stratum: Sequence[str] | None = None
) -> Samples:
    """Draw the samples of a plan.

    Parameters
    ----------
    plan : Plan
    files : bytes
        Their `fingerprint`.
    seed : int
    blocks : int
        Records of the file.
    stratum : sequence of str, length blocks, optional
        Draw by stratum.
    """
    order = drawing_order(seed, files, blocks)
    draws = tuple(draw(order, plan.size * stage.samples, stratum) for stage in plan.stages)
    parts: list[IndexArray] = []
    for stage, drawn in zip(plan.stages, draws, strict=True):
        before = np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)
        fresh = drawn.blocks[~np.isin(drawn.blocks, before)]
        parts.extend(np.array_split(fresh, stage.samples - len(parts)))
    afterwards = drawing_order(seed, files, blocks, b"count")
    outside = afterwards[~np.isin(afterwards, np.concatenate(parts))]
    return Samples(plan, draws, tuple(parts), outside)
