"""Some queries and some candidates of two files: what of the codes is about them, and nothing else.

Comparing a share gives what comparing the files gives for its pairs, to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import IndexArray, LongArray
from linkrisk.solver.linkage.probabilistic.kernels import Blocks, Coded, Weights

Code = TypeVar("Code", np.int32, np.int64)


class Codes(NamedTuple):
    """Two files as compiled code reads them."""

    coded: Coded
    blocks: Blocks
    weights: Weights | None = None  # Where pairs are to be scored


def cut_codes(codes: Codes, rows: IndexArray, candidates: IndexArray) -> Codes:
    """The codes of some queries and some candidates, which are counted from 0 again.

    `rows, candidates`: of queries and of candidates; the latter in ascending order.
    """
    coded, weights = codes.coded, codes.weights
    code, slot = coded.query_code[rows], coded.candidate_slot[:, candidates]
    values = np.unique(code[code >= 0])
    slots = np.unique(np.concatenate([slot.ravel(), coded.slot_first[1:] - 1]))  # missing ones always
    segments, first = members_of(coded.segment_first, values)
    start, stop = (np.searchsorted(slots, end[segments]) for end in (coded.start, coded.stop))
    met = start < stop
    segments = segments[met]
    cut = Coded(
        query_code=placed(values, code),
        candidate_slot=np.ascontiguousarray(np.searchsorted(slots, slot), dtype=np.int32),
        slot_first=np.searchsorted(slots, coded.slot_first).astype(np.int64),
        segment_first=counted_to(first, met),
        start=start[met].astype(np.int32),
        stop=stop[met].astype(np.int32),
        level=coded.level[segments],
        query_value=coded.query_value[values],
        slot_value=coded.slot_value[slots],
        query_times=coded.query_times[rows],
        candidate_times=coded.candidate_times[candidates],
    )
    blocks = Blocks(*cut_groups(*codes.blocks, rows, candidates))
    return Codes(
        cut, blocks, None if weights is None else weights._replace(segment=weights.segment[segments])
    )


def cut_groups(
    key: NDArray[Code],
    first: LongArray,
    member: NDArray[np.int32],
    rows: IndexArray,
    candidates: IndexArray,
) -> tuple[NDArray[Code], LongArray, NDArray[np.int32]]:
    """The keys of some queries, with those of their members that are among some candidates (see `Blocks`)."""
    own = key[rows]
    kept = np.unique(own[own >= 0])
    places, begin = members_of(first, kept)
    members = member[places]
    at = np.searchsorted(candidates, members)
    inside = at < np.searchsorted(candidates, members, side="right")
    return placed(kept, own), counted_to(begin, inside), at[inside].astype(np.int32)


def met_by(
    key: NDArray[np.integer], first: LongArray, member: NDArray[np.int32], rows: IndexArray
) -> IndexArray:
    """The candidates that share a key with one of some queries, in ascending order."""
    own = key[rows]
    places, _ = members_of(first, np.unique(own[own >= 0]))
    return np.unique(member[places]).astype(np.intp)


def members_of(first: LongArray, kept: NDArray[np.integer]) -> tuple[IndexArray, LongArray]:
    """Where the members of some groups stand, one group after the other, and where each of these begins."""
    size = first[kept + 1] - first[kept]
    begin = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    return np.arange(begin[-1]) + np.repeat(first[kept] - begin[:-1], size), begin


def counted_to(first: LongArray, kept: NDArray[np.bool_]) -> LongArray:
    """Where groups begin when only some of their members are kept."""
    return np.asarray(np.concatenate([[0], np.cumsum(kept)])[first], dtype=np.int64)


def placed(kept: NDArray[Code], code: NDArray[Code]) -> NDArray[Code]:
    """Codes as places among those that are kept; -1 stays -1."""
    place = np.where(code >= 0, np.searchsorted(kept, code), -1)
    return np.ascontiguousarray(place, dtype=code.dtype)
