"""Plan and draw random samples of a file.

Plans and draws are fixed before any record is compared. Each record gets a key, 64 bits of a SHA-256 digest
of the files, the seed and the record's number; records are drawn in the order of their keys, so that draws
are reproducible. The order is random unless a user tries many seeds to choose a draw, which is why results
name the seed.
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
"""Default confidence level."""


@dataclass(frozen=True)
class SamplingChoice:
    """Options of sampling, as given by the user."""

    # records in each sample; ``auto`` samples only large files, by the program's choice; None searches all
    # records
    sample: int | str | None = "auto"
    samples: int | None = None  # number of samples
    confidence: float = CONFIDENCE  # confidence level of the limit for the file
    strata: str | None = None  # column of the strata
    # number of families, of which the best attack is shown: their limits share the error probability
    families: int = 1

    @property
    def asked(self) -> bool:
        """Whether the user requested samples."""
        return isinstance(self.sample, int) or self.samples is not None or self.strata is not None


@dataclass(frozen=True)
class Stage:
    """A stage: the samples up to some number, and its share of the error probability."""

    samples: int  # samples searched by the end of the stage, earlier ones included
    alpha: Fraction  # the stage's share of one minus the confidence


@dataclass(frozen=True)
class Plan:
    """Disjoint samples of equal size, up to one record, and stages."""

    size: int  # records in each
    # increasing numbers of samples; their error probabilities sum to at most one minus the confidence
    stages: tuple[Stage, ...]

    @property
    def samples(self) -> int:
        """Number of samples in the last stage."""
        return self.stages[-1].samples


def check_choice(choice: SamplingChoice) -> None:
    """Refuse options that no file could satisfy."""
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
    """Plan the samples of a file from its sizes and limits alone; None to search all records.

    UsageError if more records are requested than there are.
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
    """Compute how many samples there is time to search well, at least a minimum."""
    if seconds is None:
        return steering.most
    each = steering.seconds + steering.seconds_per_pair * size * candidates
    many = int(steering.searching_share * seconds * workers / each)
    return max(steering.fewest, min(steering.most, many))


METHOD = "sha256-1"
"""Name of this sampling method in results."""

_KEYS = 4
"""Keys per digest."""


@dataclass(frozen=True)
class Draw:
    """Records drawn from a file."""

    blocks: IndexArray  # (sample,): in the order in which they were drawn
    design: Design


def fingerprint(original: FloatArray, masked: FloatArray, partner: IndexArray) -> bytes:
    """Compute the digest of the compared data: values as read, category codes, and partners (-1: none)."""
    digest = hashlib.sha256(METHOD.encode())
    for values in (original, masked):
        plain = np.where(np.isnan(values), np.nan, values) + 0.0  # canonical NaN, no -0
        digest.update(np.array(plain.shape, dtype=">i8").tobytes() + plain.astype(">f8").tobytes())
    digest.update(partner.astype(">i8").tobytes())
    return digest.digest()


def drawing_order(seed: int, files: bytes, blocks: int, purpose: bytes = b"") -> IndexArray:
    """Compute the drawing order of blocks; another `purpose` acts like another seed."""
    start = hashlib.sha256(files + seed.to_bytes(8, "big") + purpose)
    keys = bytearray()
    for at in range(-(-blocks // _KEYS)):
        digest = start.copy()
        digest.update(at.to_bytes(8, "big"))
        keys += digest.digest()
    return np.argsort(np.frombuffer(bytes(keys), dtype=">u8")[:blocks], kind="stable").astype(np.intp)


def draw(order: IndexArray, sample: int, stratum: Sequence[str] | None = None) -> Draw:
    """Draw the first records of an order: of the file, or proportionally from each stratum.

    With strata slightly more than `sample`, as their shares are rounded up.
    """
    n = order.size
    if stratum is None:
        return Draw(order[:sample], Design(n, sample))
    _, codes = np.unique(np.asarray(stratum), return_inverse=True)
    wanted = -(-sample * np.bincount(codes) // n)
    ordered = codes[order]
    # Rank of each record within its stratum.
    by_stratum = np.argsort(ordered, kind="stable")
    sizes = np.bincount(ordered)
    before = np.empty(n, dtype=np.intp)
    before[by_stratum] = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    blocks = order[before < wanted[ordered]]
    share = min(Fraction(int(m), int(size)) for m, size in zip(wanted, sizes, strict=True))
    return Draw(blocks, Design(n, blocks.size, share))


def check_strata(stratum: Sequence[str], column: str) -> None:
    """Refuse strata so small that a sample would contain all of their records."""
    names, sizes = np.unique(np.asarray(stratum), return_counts=True)
    alone = names[sizes == 1]
    if alone.size:
        raise UsageError(
            f"stratum {str(alone[0])!r} of {shown_name(column)} has one record: join it with another, or "
            "draw without strata"
        )


_NONE = ""
"""Stratum of records whose value is missing."""


def block_strata(problem: Problem, column: str) -> list[str]:
    """Read a column of strata from the original file, or from the masked one if only that has it.

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
    """Records to search and to count, in order."""

    plan: Plan
    draws: tuple[Draw, ...]  # blocks of each stage, cumulative
    parts: tuple[IndexArray, ...]  # the samples, in search order
    # all other records, in an independent random order: any prefix is a random sample of them
    outside: IndexArray

    @property
    def drawn(self) -> IndexArray:
        """List the records of all samples."""
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
