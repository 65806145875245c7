"""Which blocks given parameters link: by doubles where their error cannot matter, else exactly.

Candidates that are surely farther than a tie with the partner are not looked at one by one (`list_near`).
They are left out by boxes. In a box each attribute has a least difference that any of its candidates can
have, so a record with all these least differences is as near as any of them or nearer, because no distance
falls when an attribute distance grows. This record is judged like any candidate: if even it is surely
farther, so are all.
Quadratic forms are no such distances; there the components of the image of all differences in the box are
enclosed (interval arithmetic). What is not left out is judged by `_judge` alone, and by whole numbers where
that is too near to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.solver.certificates.checking.box_kernels import Distance
from linkrisk.solver.certificates.checking.boxes import boxes, comparing, in_chunks, spatial_order
from linkrisk.solver.certificates.checking.cores import Rows
from linkrisk.solver.certificates.checking.walk_kernels import Asked, Near, find_nearest, list_near

ERROR = 2.0**-50
"""Times `Family.roundings`, the sum of absolute parameters and `Family.size`, the largest attribute distance
(squared for a quadratic form): more than the rounding error of a distance in double precision. Attribute
distances are off by four roundings (``2**-53`` each) of their size, of which every family's distance makes at
most that times the sum of the absolute parameters, or twice that times the number of attributes; its own
terms add one or two roundings each."""

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

    Attributes
    ----------
    linked : ndarray of bool, shape (blocks,)
        Exact.
    rank, ties : ndarray of intp, shape (blocks, 2)
        Least and largest 1 + number of strictly nearer rivals, and number of rivals that tie with the
        partner, as far as doubles can tell.
    distance, nearest : ndarray of float64, shape (blocks,)
        To the partner and to the nearest rival, in double precision; inf where none is possible.
    error : ndarray of float64, shape (blocks,)
        More than the rounding error of either.
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
    """What doubles make of candidates of some blocks.

    Attributes
    ----------
    own, distances : ndarray of float64, shape (pairs,)
        Of the partner and of the candidate.
    own_errors, errors : ndarray of float64, shape (pairs,)
        More than the errors of these.
    tie : ndarray of float64, shape (pairs,)
        By how much a rival may be farther and still tie.
    """

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

    Attributes
    ----------
    blocks : ndarray of intp, shape (some,)
    nearer : ndarray of int64, shape (some,)
        How many are surely nearer.
    complete : ndarray of bool, shape (some,)
        Whether all others are listed; else only the first of them.
    owner, rivals : ndarray of intp, shape (pairs,)
        The place of the block among `blocks`, and the candidate.
    """

    blocks: IndexArray
    nearer: NDArray[np.int64]
    complete: BoolArray
    owner: IndexArray
    rivals: IndexArray


class Count:
    """The count of what some parameters link.

    Parameters
    ----------
    rows : Rows
    theta : list of Fraction
        The parameters, as coefficients of the features.
    """

    def __init__(self, rows: Rows, theta: list[Fraction]) -> None:
        # Doubles, and differences of few of them, have powers of two as denominators: the largest fits all.
        unit = max(value.denominator for value in theta)
        self._rows, self._records, self._family = rows, rows.records, rows.family
        self._whole = [int(value * unit) for value in theta]
        self._rounded = np.array([float(value) for value in theta])
        self._unit = ERROR * self._family.roundings * float(np.abs(self._rounded).sum())
        self._shape = shape = self._family.shape(theta)
        squared = self._records.differences == "squared"
        compared = comparing(self._records)
        order = spatial_order(self._records, np.sqrt(shape.scale) if squared else shape.scale)
        self._boxes = boxes(self._records, compared, order)
        signed = self._records.differences == "signed"
        self._distance: Any = Distance(shape.kind, shape.weights, squared, signed)
        self._arrays: Any = compared.arrays, self._boxes.arrays

    def linked(self) -> BoolArray:
        """Whether each block is linked."""
        result = np.zeros(self._records.blocks, dtype=np.bool_)

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
        many, records = self._records.blocks, self._records
        linked, (distance, nearest) = np.zeros(many, dtype=np.bool_), np.full((2, many), np.inf)
        rank, ties = np.zeros((2, many, 2), np.intp)
        result = Settled(linked, rank, ties, distance, nearest, np.zeros(many))

        def settle(blocks: IndexArray) -> None:
            for listed in self._listed(blocks, first_only=False):
                linked[listed.blocks] = self._all_farther(self._with_nearest(listed))
                self._rank(listed, result)

        self._in_chunks(settle)
        lost = np.flatnonzero(~records.reached)
        result.rank[lost] = np.array([[records.rivals(block).size] * 2 for block in lost.tolist()]).reshape(
            -1, 2
        )
        result.rank[:] += 1
        for at in range(0, many, ROOM):
            self._measure(np.arange(at, min(at + ROOM, many)), result)
        return result

    def _in_chunks(self, settle: Callable[[IndexArray], None]) -> None:
        """Do something with all blocks whose partner is possible, those near each other together."""
        order = np.argsort(self._boxes.places[self._records.partners])
        order = order[self._records.reached[order]]
        in_chunks(order, settle)

    # ---- rivals

    def _listed(self, blocks: IndexArray, *, first_only: bool) -> Iterator[_Listed]:
        """List rivals, a part of the blocks at a time; of each only the first that decide, or all."""
        most, room = (MOST_LISTED, ROOM) if first_only else (len(self._records.candidates), ROOM)
        near, far, error = self._limits(blocks)
        twins = self._boxes.twins[self._boxes.places[self._records.partners[blocks]]]
        (compared, boxed), at = self._arrays, 0
        while at < blocks.size:
            nearer, complete = np.empty(blocks.size - at, np.int64), np.empty(blocks.size - at, np.bool_)
            owner, places = np.empty((2, room), dtype=np.int64)
            asked: Any = Asked(blocks[at:], twins[at:], near[at:], far[at:])
            found = Near(nearer, complete, owner, places)
            done, used = list_near(asked, first_only, most, self._distance, error, compared, boxed, found)
            rivals = self._boxes.order[places[:used]]
            yield _Listed(blocks[at : at + done], nearer[:done], complete[:done], owner[:used], rivals)
            at, room = at + done, room if done else 2 * room

    def _limits(self, blocks: IndexArray) -> tuple[FloatArray, FloatArray, float]:
        """Up to where candidates are surely nearer, from where on surely farther, and the error.

        As `_judge` has it: a candidate is surely farther when it is so by more than the tie
        and twice the errors.
        """
        own = self._judge(blocks, self._records.partners[blocks])
        with np.errstate(all="ignore"):
            beside = own.tie + WIDER * own.own_errors
            return own.own - beside, own.own + beside, WIDER * self._unit + self._shape.beyond

    def _nearest(self, blocks: IndexArray) -> IndexArray:
        """The nearest rival of each block; -1 where there is none."""
        twins = self._boxes.twins[self._boxes.places[self._records.partners[blocks]]]
        places = np.empty(blocks.size, dtype=np.int64)
        arguments: tuple[Any, ...] = blocks, twins, self._distance, *self._arrays, places
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
        family, records = self._family, self._records
        with np.errstate(all="ignore"):  # what overflows is undecided
            own = records.rounded_distances(blocks, records.partners[blocks])
            c = records.rounded_distances(blocks, rivals)
            tied = records.rounded_ties(blocks, squares=family.squares)
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
                linked[owner] = self._is_farther(int(listed.blocks[owner]), int(listed.rivals[at]))
        return linked

    def _is_farther(self, block: int, rival: int) -> bool:
        """Whether a rival does not keep a block from being linked, in whole numbers."""
        row = self._family.coefficients(self._rows.row(block, rival))
        return sum(a * b for a, b in zip(row, self._whole, strict=True)) > 0

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
        reached, nearest = self._records.reached[blocks], self._nearest(blocks)
        own, other = blocks[reached], blocks[nearest >= 0]
        mine, near = self._judge(own, self._records.partners[own]), self._judge(other, nearest[nearest >= 0])
        result.distance[own], result.nearest[other] = mine.own, near.distances
        result.error[own] = mine.own_errors
        result.error[other] = np.maximum(result.error[other], near.errors)


def _often(places: IndexArray, many: int) -> IndexArray:
    """How often each of the first whole numbers occurs."""
    return np.bincount(places, minlength=many)


def linked_blocks(rows: Rows, theta: list[Fraction]) -> list[bool]:
    """Whether each block is linked by exact parameters."""
    linked: list[bool] = Count(rows, theta).linked().tolist()
    return linked


def settled_blocks(rows: Rows, theta: list[Fraction]) -> Settled:
    """What exact parameters make of each block."""
    return Count(rows, theta).settled()
