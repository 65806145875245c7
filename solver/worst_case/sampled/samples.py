"""Plan and draw samples of a file.

All of it is fixed before any record is compared. Each record gets a key, 64 bits of a SHA-256 digest of the
files, the seed and the record's number; the order of the keys is the order in which records are drawn, so
that anybody can draw again. Such an order is random, except to those who search for a draw that suits them:
they must try seed after seed, which is why results name the seed.
"""

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
    """Options of sampling, as the user gives them."""

    # records in each sample; ``auto`` for the program's choice, and only where all records would be too many;
    # None to search all records, however many there are
    sample: int | str | None = "auto"
    samples: int | None = None  # how many samples
    confidence: float = CONFIDENCE  # of the limit for the file
    strata: str | None = None  # column by whose values to draw
    # families that are searched, the best of whose attacks is shown: the limits of what they link are wrong
    # with the chance that is left, all together
    families: int = 1

    @property
    def asked(self) -> bool:
        """Whether the user has asked for samples, whatever the file."""
        return isinstance(self.sample, int) or self.samples is not None or self.strata is not None


@dataclass(frozen=True)
class Stage:
    """The samples up to some number, and their part of the error probability."""

    samples: int  # samples searched by the end of the stage, those of earlier stages included
    alpha: Fraction  # the stage's part of one minus the confidence


@dataclass(frozen=True)
class Plan:
    """Samples, disjoint and of one size but for one record, and stages."""

    size: int  # records in each
    # each has more samples than the one before; together they may be wrong with one minus the confidence
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
    """Plan the samples of a file from its sizes and limits alone; None where all records are searched.

    UsageError if more records are asked for than there are.
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
    """Records drawn from a file."""

    blocks: IndexArray  # (sample,): in the order in which they were drawn
    design: Design


def fingerprint(original: FloatArray, masked: FloatArray, partner: IndexArray) -> bytes:
    """Digest of what is compared: values as read, categories as positions, and partners (-1: none)."""
    digest = hashlib.sha256(METHOD.encode())
    for values in (original, masked):
        plain = np.where(np.isnan(values), np.nan, values) + 0.0  # one NaN, no -0
        digest.update(np.array(plain.shape, dtype=">i8").tobytes() + plain.astype(">f8").tobytes())
    digest.update(partner.astype(">i8").tobytes())
    return digest.digest()


def drawing_order(seed: int, files: bytes, blocks: int, purpose: bytes = b"") -> IndexArray:
    """The order in which blocks are drawn; another `purpose` acts like another seed."""
    start = hashlib.sha256(files + seed.to_bytes(8, "big") + purpose)
    keys = bytearray()
    for at in range(-(-blocks // _KEYS)):
        digest = start.copy()
        digest.update(at.to_bytes(8, "big"))
        keys += digest.digest()
    return np.argsort(np.frombuffer(bytes(keys), dtype=">u8")[:blocks], kind="stable").astype(np.intp)


def draw(order: IndexArray, sample: int, stratum: Sequence[str] | None = None) -> Draw:
    """The first records of an order: of the file, or of each stratum its share.

    By stratum a few more than `sample`, as shares of strata are rounded up.
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
    """Values of a column of the original file, or of the masked one if only that has it.

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
    """Records to search and to count, in their order."""

    plan: Plan
    draws: tuple[Draw, ...]  # one for each stage; each holds the one before
    parts: tuple[IndexArray, ...]  # the samples, in the order in which they are searched
    # all other records, in an order drawn for itself: any first part of it is a random sample of them
    outside: IndexArray

    @property
    def drawn(self) -> IndexArray:
        """The records of all samples."""
        return np.concatenate(self.parts)


def draw_samples(
    plan: Plan, files: bytes, seed: int, blocks: int, stratum: Sequence[str] | None = None
) -> Samples:
    """Draw the samples of a plan; `files` is their `fingerprint`."""
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
