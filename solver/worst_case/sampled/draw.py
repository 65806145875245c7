"""Which records are drawn: a seed and the files decide it before anything else, so anybody can draw again.

Each record gets a key, 64 bits of a SHA-256 digest of the files, the seed and the record's number; the order
of the keys is the order in which records are drawn. To whoever does not look for it, such an order is random;
and whoever looks for a draw that suits must try seed after seed, which is why results name the seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.names import shown_name, shown_names
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.sampled.confidence import Design

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
