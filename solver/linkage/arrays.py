"""The arrays that the compiled code of the evaluator reads and fills in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray

Tables = tuple[IndexArray, FloatArray, IndexArray, IndexArray]
"""Attributes, values, first and width of `DistanceTables`; of no length where all attributes are numeric."""

Missing = tuple[FloatArray, FloatArray, FloatArray]
"""Differences to missing values, of queries, of candidates and of both; of no length without any."""


class Form(NamedTuple):
    """A distance, in numbers that compiled code can read (`DistanceForm`)."""

    kind: int
    """Number of its `FormKind`."""
    vector: FloatArray
    """The parameters where they are a vector, else of no length."""
    matrix: FloatArray
    """The parameters where they are a matrix, else of no size."""
    differences: int
    """Attribute distances are squared (0), absolute (1) or signed (2) differences."""
    tolerance: float
    """Share of the partner's attribute distances up to which a rival ties."""
    noise: float
    """Times ``sum_k P_kk c_k**2`` of the rival: a tie is longer by that."""


class Compared(NamedTuple):
    """Blocks and candidates, and all that lies between them."""

    queries: FloatArray
    """Shape (blocks, attributes)."""
    candidates: FloatArray
    """Shape (candidates, attributes), each in its place in `Boxes`.

    Those that lie in no box come last: only blocks whose partners they are are compared with them.
    """
    number: IndexArray
    """Shape (candidates in boxes,): who they are."""
    group: IndexArray
    """Shape (candidates,): candidates with the number of a block's partner are no rivals of it."""
    partner: IndexArray
    """Shape (blocks,): place of each block's partner."""
    known: FloatArray
    """Shape (blocks,): distance of the nearest rival among other candidates; infinite where none is known."""
    rounding: FloatArray
    """Shape (blocks, attributes): what rounding may have moved differences to partners by."""
    allowance: FloatArray
    """Shape (attributes,): what every attribute distance of a partner is longer by (`ties.grain`)."""
    tables: Tables
    """Distances of the attributes that are looked up."""
    missing: Missing
    """Differences to missing values, of these blocks and candidates."""


class Boxes(NamedTuple):
    """Boxes around the candidates (`BoxTree`), and what says how near whoever lies in one can be.

    No candidate in a box is nearer than ``(1 - 1e-9) * bound - blur``, with `bound` the distance `form` of
    the box and the query's point.
    """

    points: FloatArray
    """Shape (blocks, dimensions): the queries where the boxes are."""
    low: FloatArray
    """Shape (boxes + 1, dimensions)."""
    high: FloatArray
    """Shape (boxes + 1, dimensions)."""
    lacking: NDArray[np.uint8]
    """Shape (boxes + 1, dimensions); (1, 0) where nothing is missing."""
    levels: int
    form: Form
    """Monotone."""
    tables: Tables
    """Distances of the dimensions that are looked up."""
    shift: float
    """Differences may be smaller by so much."""
    blur: float


class Found(NamedTuple):
    """What was found of every block; filled in."""

    rank: IndexArray
    """1 + number of strictly nearer rivals."""
    ties: IndexArray
    """Number of rivals that tie with the partner."""
    distance: FloatArray
    """To the partner; infinite where that is impossible."""
    nearest_other: FloatArray
    """To the nearest rival, likewise."""
    rival: IndexArray
    """The rival that comes nearest, or ties most clearly, the first of several; -1 without rivals."""
    clear: FloatArray
    """Its distance less how much farther than the partner it may be and tie; infinite without rivals."""


def nothing_found(blocks: int) -> Found:
    """Arrays to be filled in for so many blocks; a rank of 0 says that a block was not looked at."""
    return Found(
        rank=np.zeros(blocks, dtype=np.intp),
        ties=np.zeros(blocks, dtype=np.intp),
        distance=np.full(blocks, np.nan),
        nearest_other=np.full(blocks, np.nan),
        rival=np.full(blocks, -1, dtype=np.intp),
        clear=np.full(blocks, np.nan),
    )
