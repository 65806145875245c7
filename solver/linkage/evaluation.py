"""What became of every block under fixed parameters, and what was counted before."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.forms import DistanceForm

_COUNTS_KEPT = 16


@dataclass(frozen=True)
class Evaluation:
    """What became of every block under fixed parameters.

    Attributes
    ----------
    linked : ndarray of bool, shape (blocks,)
        The partner is strictly nearer than every rival; near-ties (`linkage.ties`) are not linked.
    rank : ndarray of int, shape (blocks,)
        1 + number of rivals strictly nearer than the partner.
    ties : ndarray of int, shape (blocks,)
        Rivals exactly as near as the partner.
    distance : ndarray of float64, shape (blocks,)
        Distance to the partner; inf when it cannot be the partner at all.
    nearest_other : ndarray of float64, shape (blocks,)
        Distance to the nearest rival; inf when there is none that can be the partner.
    weight : ndarray of float64, shape (blocks,)
        What linking each block counts.
    rival : ndarray of int, shape (blocks,)
        The candidate that stands most in the way of a link; -1 where there is no rival.
    settled : ndarray of bool, shape (blocks,)
        Whether the block was looked at: False where there was no time to. Such a block counts as not linked.
        Its rank is 0, which no other is.
    """

    linked: NDArray[np.bool_]
    rank: IndexArray
    ties: IndexArray
    distance: FloatArray
    nearest_other: FloatArray
    weight: FloatArray
    rival: IndexArray
    settled: NDArray[np.bool_]

    @property
    def count(self) -> int:
        """Number of linked blocks."""
        return int(self.linked.sum())

    @property
    def linked_weight(self) -> float:
        """Weight of the linked blocks: what engines maximise."""
        return float(self.weight[self.linked].sum())

    @property
    def margin(self) -> FloatArray:
        """Distance to the nearest rival minus distance to the partner, shape (blocks,).

        -inf for a partner that is impossible, whatever the rivals are.
        """
        possible = np.isfinite(self.distance) & self.settled
        margin = np.full(self.distance.size, -np.inf)
        margin[possible] = self.nearest_other[possible] - self.distance[possible]
        return margin


class BestCounts:
    """Which blocks the best distances counted so far link, and which of them were looked at.

    So whoever asks about the best distance at last need not have the time to count it again.
    """

    def __init__(self) -> None:
        self._kept: dict[bytes, Evaluation] = {}

    def note(self, form: DistanceForm, evaluation: Evaluation) -> None:
        """Keep the count, and of all kept the best few; of those that are as good, the last."""
        key = _key(form)
        before = self._kept.get(key)
        kept = {**self._kept, key: evaluation if before is None else completed(evaluation, before)}
        if len(kept) > _COUNTS_KEPT:
            worst = min(kept, key=lambda key: kept[key].linked_weight)
            del kept[worst]
        self._kept = kept

    def known(self, form: DistanceForm) -> Evaluation | None:
        """The count of this distance; None when it was not kept."""
        return self._kept.get(_key(form))


def completed(evaluation: Evaluation, known: Evaluation) -> Evaluation:
    """An evaluation, and of blocks that it has not looked at whether they are linked by what was known."""
    linked = np.where(evaluation.settled, evaluation.linked, known.linked)
    return replace(evaluation, linked=linked, settled=evaluation.settled | known.settled)


def spread(part: Evaluation, blocks: IndexArray, weight: FloatArray, *, settled: bool) -> Evaluation:
    """The evaluation of some blocks as one of all, `weight` being theirs: the others are lost or open."""
    linked, looked_at = np.zeros(weight.size, dtype=np.bool_), np.full(weight.size, settled)
    rank, ties = np.full(weight.size, 2 if settled else 0), np.zeros(weight.size, int)
    rival = np.full(weight.size, -1)
    distance, nearest = np.full(weight.size, np.nan), np.full(weight.size, np.nan)
    for whole, own in (
        (linked, part.linked),
        (looked_at, part.settled),
        (rank, part.rank),
        (ties, part.ties),
        (rival, part.rival),
        (distance, part.distance),
        (nearest, part.nearest_other),
    ):
        whole[blocks] = own
    return Evaluation(linked, rank, ties, distance, nearest, weight, rival, looked_at)


def _key(form: DistanceForm) -> bytes:
    """What tells one distance from another."""
    return f"{form.kind:d} {form.differences} ".encode() + form.parameters.tobytes()
