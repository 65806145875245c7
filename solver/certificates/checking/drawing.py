"""The samples of a fit, drawn once more: from its seed, its plan and the two files."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd

from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.solver.certificates.checking.fields import Fields
from linkrisk.solver.certificates.core.claims import demand
from linkrisk.solver.run.errors import UsageError

METHOD = "sha256-1"


@dataclass(frozen=True)
class DrawnStage:
    """What a stage has drawn by its end.

    Attributes
    ----------
    samples : int
    blocks : frozenset of int
    share : Fraction or None
        By stratum at least this share of each; None where every set of so many records was as likely.
    alpha : Fraction
        What it may be wrong with.
    """

    samples: int
    blocks: frozenset[int]
    share: Fraction | None
    alpha: Fraction


@dataclass(frozen=True)
class Drawn:
    """The samples and the stages of a plan."""

    samples: tuple[tuple[int, ...], ...]
    stages: tuple[DrawnStage, ...]


def draw_again(claim: Fields, files: FilePair, rows: Sequence[tuple[int, int]]) -> Drawn:
    """The samples that a fit must have searched.

    Parameters
    ----------
    claim : Fields
        What it says of its samples.
    files : FilePair
    rows : sequence of (int, int)
        The original and the masked record of each block.

    Raises
    ------
    RejectedError, UsageError
        If there is no such plan for these files.
    """
    fields = claim.inner("draw")
    if fields.text("method") != METHOD:
        raise UsageError(f"{fields.where}, method must be {METHOD}")
    seed, size = fields.whole("seed"), fields.whole("size")
    demand(0 <= seed < 2**63 and size > 0, f"{fields.where}: no samples of {size} by seed {seed}")
    column = None if fields.get("strata") is None else fields.text("strata")
    stratum = None if column is None else _strata(files, column, rows)
    order = _order(files, seed, len(rows))
    samples: list[tuple[int, ...]] = []
    stages: list[DrawnStage] = []
    for item in claim.listed("stages"):
        stage = Fields(item, f"{claim.where}, stages[{len(stages)}]")
        many, alpha = stage.whole("samples"), _fraction(stage.text("alpha"), stage.where)
        demand(len(samples) < many, f"{stage.where}, samples: {many}, no more than before")
        demand(size * many <= len(rows), f"{stage.where}: {many} samples of {size} are more than there are")
        chosen, share = _first(order, size * many, stratum)
        before = {block for sample in samples for block in sample}
        fresh = [block for block in chosen if block not in before]
        samples += _dealt(fresh, many - len(samples))
        stages.append(DrawnStage(many, frozenset(chosen), share, alpha))
    demand(bool(stages), f"{claim.where}, stages: there is none")
    return Drawn(tuple(samples), tuple(stages))


def _order(files: FilePair, seed: int, blocks: int) -> list[int]:
    """The order in which the blocks are drawn: by 64 bits of a digest each."""
    digest = hashlib.sha256(METHOD.encode())
    for values in (files.original_values, files.masked_values):
        digest.update(struct.pack(">2q", *values.shape))
        # One NaN for all, and zero without a sign.
        digest.update(np.where(np.isnan(values), math.nan, values + 0.0).astype(">f8").tobytes())
    digest.update(files.partner.astype(">i8").tobytes())
    start = digest.digest() + struct.pack(">q", seed)
    keys: list[int] = []
    for at in range(math.ceil(blocks / 4)):
        keys.extend(struct.unpack(">4Q", hashlib.sha256(start + struct.pack(">q", at)).digest()))
    return sorted(range(blocks), key=keys.__getitem__)


def _strata(files: FilePair, column: str, rows: Sequence[tuple[int, int]]) -> list[str]:
    """The stratum of each block."""
    here = column in files.original.columns
    demand(here or column in files.masked.columns, f"draw, strata: neither file has a column {column!r}")
    values = (files.original if here else files.masked)[column].to_list()
    own = [values[original if here else masked] for original, masked in rows]
    return ["" if pd.isna(value) else str(value) for value in own]


def _first(
    order: Sequence[int], sample: int, stratum: Sequence[str] | None
) -> tuple[list[int], Fraction | None]:
    """The first records of the order, by stratum its share of each; and the smallest of these shares."""
    if stratum is None:
        return list(order[:sample]), None
    sizes: dict[str, int] = {}
    for name in stratum:
        sizes[name] = sizes.get(name, 0) + 1
    wanted = {name: math.ceil(Fraction(sample * many, len(order))) for name, many in sizes.items()}
    left, chosen = dict(wanted), []
    for block in order:
        if left[stratum[block]]:
            left[stratum[block]] -= 1
            chosen.append(block)
    return chosen, min(Fraction(wanted[name], many) for name, many in sizes.items())


def _dealt(blocks: Sequence[int], many: int) -> list[tuple[int, ...]]:
    """Blocks in parts of one size, the first ones larger by one where that does not come out even."""
    size, more = divmod(len(blocks), many)
    ends = [at * size + min(at, more) for at in range(many + 1)]
    return [tuple(blocks[first:last]) for first, last in pairwise(ends)]


def _fraction(text: str, where: str) -> Fraction:
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{where}, alpha must be a fraction such as 1/20, not {text!r}") from None
    demand(0 < value < 1 and value.denominator <= 10**12, f"{where}, alpha: {text} is no level")
    return value
