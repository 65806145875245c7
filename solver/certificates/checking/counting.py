"""Counts the blocks linked by given parameters: in doubles where their error cannot matter, else exactly.

Boxes prune candidates that are certainly farther than a tie with the partner (`list_near`): distances are
monotone, so that no candidate of a box is nearer than the point with the least difference in every attribute.
Quadratic forms are not monotone; the components of the image of a box are enclosed instead (interval
arithmetic). The other candidates are compared by `_judge`, and in integers where doubles are too close.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray, LongArray
from linkrisk.solver.certificates.checking.box_kernels import Asked, Distance, Near, find_nearest, list_near
from linkrisk.solver.certificates.checking.record_arrays import (
    RecordArrays,
    boxes,
    compared,
    in_chunks,
    spatial_order,
)
from linkrisk.solver.certificates.checking.rounded import ROUNDED
from linkrisk.solver.certificates.core.linkage import Linkage, whole_numbers

ERROR = 2.0**-50
"""Rounding error of a distance in double precision, in units of its parts, rounded up.

These are `Rounded.roundings`, the sum of absolute parameters and `Rounded.size`, the largest attribute
distance (squared for a quadratic form). Attribute distances are off by four roundings (``2**-53`` each) of
their size, of which every family's distance makes at most that times the sum of the absolute parameters, or
twice that times the number of attributes; its own terms add one or two roundings each."""

WIDER = 8.0
"""Factor on the error for compiled code, which adds in another order: it may keep too many candidates."""

ROOM = 1 << 16
"""Candidates listed at a time, more if a single block needs more: memory against calls."""

MOST_LISTED = 64
"""Candidates listed per block to decide its link; more are listed if these do not decide."""

_UNDERFLOW = 1e-290


class SettledBlock(NamedTuple):
    """Result of the comparison for one block: see `Settled`."""

    linked: bool
    rank: tuple[int, int]
    ties: tuple[int, int]
    distance: float
    nearest: float
    error: float


@dataclass(frozen=True, eq=False)
class Settled:
    """Result of the comparison for each block.

    `linked` is exact. `rank` and `ties` (blocks, 2) bound 1 + the number of strictly nearer rivals, and the
    number of rivals that tie with the partner, in doubles. `distance` and `nearest` are those to the partner
    and the nearest rival, inf if none is possible; `error` bounds the rounding error of either.
    """

    linked: BoolArray
    rank: IndexArray
    ties: IndexArray
    distance: FloatArray
    nearest: FloatArray
    error: FloatArray

    def blocks(self) -> Iterator[SettledBlock]:
        """Yield one block after the other."""
        columns = self.linked, self.rank, self.ties, self.distance, self.nearest, self.error
        return map(SettledBlock, *(column.tolist() for column in columns))


@dataclass(frozen=True, eq=False)
class _Judged:
    """Distances of candidates, bounds on their errors, and the margins of ties."""

    own: FloatArray
    distances: FloatArray
    own_errors: FloatArray
    errors: FloatArray
    tie: FloatArray

    @property
    def unsure(self) -> FloatArray:
        """Bound on the error of a comparison."""
        return 2.0 * (self.errors + self.own_errors)


@dataclass(frozen=True, eq=False)
class _Listed:
    """Some blocks with their rivals that are not certainly farther.

    `nearer` are certainly nearer; unless `complete`, only the first of the others are listed. `owner` is the
    position in `blocks` of the block of each of `rivals`.
    """

    blocks: IndexArray
    nearer: LongArray
    complete: BoolArray
    owner: IndexArray
    rivals: IndexArray


class Count:
    """Counts the blocks linked by parameters, with coefficients `theta` of the features."""

    def __init__(self, linkage: Linkage, arrays: RecordArrays, theta: Sequence[Fraction]) -> None:
        self._linkage, self._arrays, self._theta = linkage, arrays, whole_numbers(theta)
        self._family = ROUNDED[type(linkage.family)](linkage.family)
        self._squares = linkage.family.squares
        self._rounded = np.array([float(value) for value in theta])
        self._unit = ERROR * self._family.roundings * float(np.abs(self._rounded).sum())
        self._shape = shape = self._family.shape(theta)
        problem = linkage.records.problem
        squared = problem.differences == "squared"
        self._compared: Any
        self._compared, shadows = compared(arrays)
        order = spatial_order(arrays, np.sqrt(shape.scale) if squared else shape.scale)
        self._boxes = boxes(arrays, shadows, order)
        self._boxed: Any = self._boxes.boxed
        self._distance: Any = Distance(shape.kind, shape.weights, squared, problem.differences == "signed")

    def linked(self) -> BoolArray:
        """Tell whether each block is linked."""
        result = np.zeros(self._arrays.blocks, dtype=np.bool_)

        def settle(blocks: IndexArray) -> None:
            unknown = []
            for listed in self._listed(blocks, first_only=True):
                result[listed.blocks] = linked = self._all_farther(listed)
                unknown.append(listed.blocks[linked & ~listed.complete])
            for listed in self._listed(np.concatenate(unknown), first_only=False):
                result[listed.blocks] = self._all_farther(self._with_nearest(listed))

        self._in_chunks(settle)
        return result

    def settled(self) -> Settled:
        """Compare all blocks."""
        records = self._arrays
        many = records.blocks
        linked, (distance, nearest) = np.zeros(many, dtype=np.bool_), np.full((2, many), np.inf)
        rank, ties = np.zeros((2, many, 2), np.intp)
        result = Settled(linked, rank, ties, distance, nearest, np.zeros(many))

        def settle(blocks: IndexArray) -> None:
            for listed in self._listed(blocks, first_only=False):
                linked[listed.blocks] = self._all_farther(self._with_nearest(listed))
                self._rank(listed, result)

        self._in_chunks(settle)
        for block in np.flatnonzero(~records.reached).tolist():
            result.rank[block] = records.rivals(block).size
        result.rank[:] += 1
        near = np.argsort(self._boxes.places[records.partners])
        in_chunks(near, lambda blocks: self._measure(blocks, result))
        return result

    def _in_chunks(self, settle: Callable[[IndexArray], None]) -> None:
        """Call a function with chunks of neighbouring blocks whose partner is possible."""
        order = np.argsort(self._boxes.places[self._arrays.partners])
        order = order[self._arrays.reached[order]]
        in_chunks(order, settle)

    # ---- rivals

    def _listed(self, blocks: IndexArray, *, first_only: bool) -> Iterator[_Listed]:
        """Yield rivals by chunks of blocks, only the first decisive ones of each or all."""
        most, room = (MOST_LISTED, ROOM) if first_only else (len(self._arrays.candidates), ROOM)
        near, far, error = self._limits(blocks)
        twins, at = self._arrays.twins[self._arrays.partners[blocks]], 0
        arrays = self._compared, self._boxed
        while at < blocks.size:
            nearer, complete = np.empty(blocks.size - at, np.int64), np.empty(blocks.size - at, np.bool_)
            owner, places = np.empty((2, room), dtype=np.int64)
            asked: Any = Asked(blocks[at:], twins[at:], near[at:], far[at:])
            found = Near(nearer, complete, owner, places)
            done, used = list_near(asked, first_only, most, self._distance, error, *arrays, found)
            rivals = self._boxes.order[places[:used]]
            yield _Listed(blocks[at : at + done], nearer[:done], complete[:done], owner[:used], rivals)
            at, room = at + done, room if done else 2 * room

    def _limits(self, blocks: IndexArray) -> tuple[FloatArray, FloatArray, float]:
        """Return limits below which candidates are certainly nearer and above which farther, and the error.

        As in `_judge`, a candidate is certainly farther if the difference exceeds the tie and twice the
        errors.
        """
        own = self._judge(blocks, self._arrays.partners[blocks])
        with np.errstate(all="ignore"):
            beside = own.tie + WIDER * own.own_errors
            return own.own - beside, own.own + beside, WIDER * self._unit + self._shape.beyond

    def _nearest(self, blocks: IndexArray) -> IndexArray:
        """Return the nearest rival of each block, or -1."""
        twins = self._arrays.twins[self._arrays.partners[blocks]]
        places = np.empty(blocks.size, dtype=np.int64)
        arguments: tuple[Any, ...] = blocks, twins, self._distance, self._compared, self._boxed, places
        find_nearest(*arguments)
        return np.where(places < 0, -1, self._boxes.order[places])

    def _with_nearest(self, listed: _Listed) -> _Listed:
        """Add the nearest rival where certainly nearer ones are not listed: it represents them."""
        some = np.flatnonzero(listed.nearer > 0)
        nearest = self._nearest(listed.blocks[some])
        owner, rivals = np.append(listed.owner, some), np.append(listed.rivals, nearest)
        return replace(listed, owner=owner, rivals=rivals)

    # ---- what decides

    def _judge(self, blocks: IndexArray, rivals: IndexArray) -> _Judged:
        """Compare rivals, one of each of these blocks, with the partners, in double precision."""
        family, records = self._family, self._arrays
        with np.errstate(all="ignore"):  # overflow is undecided
            own = records.distances(blocks, records.partners[blocks])
            c = records.distances(blocks, rivals)
            tied = records.ties(blocks, self._squares)
            mine, distances = family.distance(self._rounded, own), family.distance(self._rounded, c)
            # a partner widened from nearly nothing has an error of its own
            own_errors = self._unit * np.maximum(family.size(own), tied.max(axis=1)) + _UNDERFLOW
            errors = self._unit * family.size(c) + _UNDERFLOW
            tie = family.slack(self._rounded, own, tied, c)
            return _Judged(mine, distances, own_errors, errors, tie)

    def _all_farther(self, listed: _Listed) -> BoolArray:
        """Tell for each block whether none of these rivals prevents its link."""
        judged = self._judge(listed.blocks[listed.owner], listed.rivals)
        with np.errstate(all="ignore"):
            beyond = judged.distances - judged.own - judged.tie
        linked = np.ones(listed.blocks.size, dtype=np.bool_)
        linked[listed.owner[beyond < -judged.unsure]] = False
        for at in np.flatnonzero(~(beyond > judged.unsure)).tolist():
            owner = listed.owner[at]
            if linked[owner]:
                block, rival = int(listed.blocks[owner]), int(listed.rivals[at])
                linked[owner] = self._linkage.is_farther(block, rival, self._theta)
        return linked

    def _rank(self, listed: _Listed, result: Settled) -> None:
        """Bound the numbers of nearer rivals and of ties."""
        judged, many = self._judge(listed.blocks[listed.owner], listed.rivals), listed.blocks.size
        with np.errstate(all="ignore"):
            farther = judged.distances - judged.own
            nearer, ties = farther + judged.tie, np.abs(farther) - judged.tie
        for side, limit in enumerate((np.nextafter(-judged.unsure, -np.inf), judged.unsure)):
            result.rank[listed.blocks, side] = listed.nearer + _often(listed.owner[nearer <= limit], many)
            result.ties[listed.blocks, side] = _often(listed.owner[ties <= limit], many)

    def _measure(self, blocks: IndexArray, result: Settled) -> None:
        """Compute the distances of the partner and of the nearest rival, where possible."""
        reached, nearest = self._arrays.reached[blocks], self._nearest(blocks)
        own, other = blocks[reached], blocks[nearest >= 0]
        mine, near = self._judge(own, self._arrays.partners[own]), self._judge(other, nearest[nearest >= 0])
        result.distance[own], result.nearest[other] = mine.own, near.distances
        result.error[own] = mine.own_errors
        result.error[other] = np.maximum(result.error[other], near.errors)


def _often(places: IndexArray, many: int) -> IndexArray:
    """Count the occurrences of the first integers."""
    return np.bincount(places, minlength=many)
