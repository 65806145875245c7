"""Counts what given parameters link: by doubles where their error cannot matter, else exactly.

Candidates that are surely farther than a tie with the partner are left out by boxes (`list_near`): the record
with all least differences that candidates of a box can have is as near as any of them or nearer, because no
distance falls when an attribute distance grows. If even it is surely farther, so are all. Quadratic forms are
no such distances; there the components of the image of all differences in the box are enclosed (interval
arithmetic). All others are judged by `_judge`, and by whole numbers where doubles are too near to tell.
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
"""More than the rounding error of a distance in double precision, in units of its parts.

These are `Rounded.roundings`, the sum of absolute parameters and `Rounded.size`, the largest attribute
distance (squared for a quadratic form). Attribute distances are off by four roundings (``2**-53`` each) of
their size, of which every family's distance makes at most that times the sum of the absolute parameters, or
twice that times the number of attributes; its own terms add one or two roundings each.
"""

WIDER = 8.0
"""Times that error is what compiled code takes for it: it adds up in another order, and may keep too many."""

ROOM = 1 << 16
"""Candidates that are listed at a time; more where a single block needs more."""

MOST_LISTED = 64
"""Of a block, when only whether it is linked matters: more are listed when none of these decides."""

_UNDERFLOW = 1e-290


class SettledBlock(NamedTuple):
    """What parameters make of one block: see `Settled`."""

    linked: bool
    rank: tuple[int, int]
    ties: tuple[int, int]
    distance: float
    nearest: float
    error: float


@dataclass(frozen=True, eq=False)
class Settled:
    """What parameters make of each block.

    `linked` is exact. `rank` and `ties` (blocks, 2) are the least and the largest 1 + number of strictly
    nearer rivals, and of rivals that tie with the partner, as far as doubles can tell; `distance` and
    `nearest` those to the partner and to the nearest rival, inf where none is possible, `error` more than the
    rounding error of either.
    """

    linked: BoolArray
    rank: IndexArray
    ties: IndexArray
    distance: FloatArray
    nearest: FloatArray
    error: FloatArray

    def blocks(self) -> Iterator[SettledBlock]:
        """One block after the other."""
        columns = self.linked, self.rank, self.ties, self.distance, self.nearest, self.error
        return map(SettledBlock, *(column.tolist() for column in columns))


@dataclass(frozen=True, eq=False)
class _Judged:
    """Distances of candidates, more than their errors, and by how much farther rivals tie."""

    own: FloatArray
    distances: FloatArray
    own_errors: FloatArray
    errors: FloatArray
    tie: FloatArray

    @property
    def unsure(self) -> FloatArray:
        """More than the error of what is made of both."""
        return 2.0 * (self.errors + self.own_errors)


@dataclass(frozen=True, eq=False)
class _Listed:
    """Some blocks with those of their rivals that are not surely farther.

    `nearer` are surely nearer; unless `complete`, only the first of all others are listed. `owner` is the
    place of the block of each of `rivals` among `blocks`.
    """

    blocks: IndexArray
    nearer: LongArray
    complete: BoolArray
    owner: IndexArray
    rivals: IndexArray


class Count:
    """The count of what some parameters link: `theta` are coefficients of the features."""

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
        """Whether each block is linked."""
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
        """What becomes of each block."""
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
        """Do something with all blocks whose partner is possible, those near each other together."""
        order = np.argsort(self._boxes.places[self._arrays.partners])
        order = order[self._arrays.reached[order]]
        in_chunks(order, settle)

    # ---- rivals

    def _listed(self, blocks: IndexArray, *, first_only: bool) -> Iterator[_Listed]:
        """List rivals, a part of the blocks at a time; of each only the first that decide, or all."""
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
        """Up to where candidates are surely nearer, from where on surely farther, and the error.

        As `_judge` has it: a candidate is surely farther when it is so by more than the tie
        and twice the errors.
        """
        own = self._judge(blocks, self._arrays.partners[blocks])
        with np.errstate(all="ignore"):
            beside = own.tie + WIDER * own.own_errors
            return own.own - beside, own.own + beside, WIDER * self._unit + self._shape.beyond

    def _nearest(self, blocks: IndexArray) -> IndexArray:
        """The nearest rival of each block; -1 where there is none."""
        twins = self._arrays.twins[self._arrays.partners[blocks]]
        places = np.empty(blocks.size, dtype=np.int64)
        arguments: tuple[Any, ...] = blocks, twins, self._distance, self._compared, self._boxed, places
        find_nearest(*arguments)
        return np.where(places < 0, -1, self._boxes.order[places])

    def _with_nearest(self, listed: _Listed) -> _Listed:
        """With the nearest rival, where some are surely nearer and so not listed: it stands for them."""
        some = np.flatnonzero(listed.nearer > 0)
        nearest = self._nearest(listed.blocks[some])
        owner, rivals = np.append(listed.owner, some), np.append(listed.rivals, nearest)
        return replace(listed, owner=owner, rivals=rivals)

    # ---- what decides

    def _judge(self, blocks: IndexArray, rivals: IndexArray) -> _Judged:
        """Compare rivals, one of each of these blocks, with the partners, in double precision."""
        family, records = self._family, self._arrays
        with np.errstate(all="ignore"):  # what overflows is undecided
            own = records.distances(blocks, records.partners[blocks])
            c = records.distances(blocks, rivals)
            tied = records.ties(blocks, self._squares)
            mine, distances = family.distance(self._rounded, own), family.distance(self._rounded, c)
            # A partner widened from next to nothing has an error of its own.
            own_errors = self._unit * np.maximum(family.size(own), tied.max(axis=1)) + _UNDERFLOW
            errors = self._unit * family.size(c) + _UNDERFLOW
            tie = family.slack(self._rounded, own, tied, c)
            return _Judged(mine, distances, own_errors, errors, tie)

    def _all_farther(self, listed: _Listed) -> BoolArray:
        """Whether each block has no rival, among these, that keeps it from being linked."""
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
        """Count, at least and at most, who is nearer and who ties."""
        judged, many = self._judge(listed.blocks[listed.owner], listed.rivals), listed.blocks.size
        with np.errstate(all="ignore"):
            farther = judged.distances - judged.own
            nearer, ties = farther + judged.tie, np.abs(farther) - judged.tie
        for side, limit in enumerate((np.nextafter(-judged.unsure, -np.inf), judged.unsure)):
            result.rank[listed.blocks, side] = listed.nearer + _often(listed.owner[nearer <= limit], many)
            result.ties[listed.blocks, side] = _often(listed.owner[ties <= limit], many)

    def _measure(self, blocks: IndexArray, result: Settled) -> None:
        """The distances of the partner and of the nearest rival, where they are possible."""
        reached, nearest = self._arrays.reached[blocks], self._nearest(blocks)
        own, other = blocks[reached], blocks[nearest >= 0]
        mine, near = self._judge(own, self._arrays.partners[own]), self._judge(other, nearest[nearest >= 0])
        result.distance[own], result.nearest[other] = mine.own, near.distances
        result.error[own] = mine.own_errors
        result.error[other] = np.maximum(result.error[other], near.errors)


def _often(places: IndexArray, many: int) -> IndexArray:
    """How often each of the first whole numbers occurs."""
    return np.bincount(places, minlength=many)
