"""The samples of a fit, drawn once more: from its seed, its plan and the two files."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.solver.certificates.checking.fields import Fields
from linkrisk.solver.certificates.core.claims import MalformedError, demand
from linkrisk.solver.certificates.core.samples import METHOD, Stage, dealt, first_drawn, level, shuffled
from linkrisk.solver.run.errors import UsageError


@dataclass(frozen=True)
class Drawn:
    """The samples and the stages of a plan."""

    samples: tuple[tuple[int, ...], ...]
    stages: tuple[Stage, ...]


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
    stages: list[Stage] = []
    for item in claim.listed("stages"):
        stage = Fields(item, f"{claim.where}, stages[{len(stages)}]")
        many, alpha = stage.whole("samples"), _level(stage)
        demand(len(samples) < many, f"{stage.where}, samples: {many}, no more than before")
        demand(size * many <= len(rows), f"{stage.where}: {many} samples of {size} are more than there are")
        chosen, share = first_drawn(order, size * many, stratum)
        before = {block for sample in samples for block in sample}
        fresh = [block for block in chosen if block not in before]
        samples += map(tuple, dealt(fresh, many - len(samples)))
        stages.append(Stage(many, frozenset(chosen), share, alpha))
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
    return shuffled(digest.digest() + struct.pack(">q", seed), blocks)


def _strata(files: FilePair, column: str, rows: Sequence[tuple[int, int]]) -> list[str]:
    """The stratum of each block."""
    here = column in files.original.columns
    demand(here or column in files.masked.columns, f"draw, strata: neither file has a column {column!r}")
    values = (files.original if here else files.masked)[column].to_list()
    own = [values[original if here else masked] for original, masked in rows]
    return ["" if pd.isna(value) else str(value) for value in own]


def _level(stage: Fields) -> Fraction:
    try:
        return level(stage.text("alpha"), stage.where)
    except MalformedError as error:
        raise UsageError(str(error)) from None
