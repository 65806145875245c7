"""What comparing attributes one after another links: limits of weighted distances that count as ties here.

A certificate is about distances that differ by more than ties. Weights that lie farther and farther apart
come to comparing one attribute, and another only where it ties, or one rank of the attribute distances and
then another. Such an order can link records that no such distance links, so it is counted beside the proof,
and no fit may claim less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import ge, gt
from typing import Any

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.solver.certificates.checking.boxes import (
    CHUNK,
    Boxes,
    Comparing,
    boxes,
    comparing,
    in_chunks,
    spatial_order,
)
from linkrisk.solver.certificates.checking.cores import Rows
from linkrisk.solver.certificates.checking.records import Records
from linkrisk.solver.certificates.checking.ties import TOLERANCES
from linkrisk.solver.certificates.checking.walk_kernels import settle_order

Order = tuple[int, ...]
Hopeless = Callable[[Fraction], bool]
"""Whether an order is given up that links no more than this weight."""

_BEFORE_ALL, _BEFORE_OTHERS, _APART = 1e300, 1e200, 4


@dataclass(frozen=True)
class Ordered:
    """An order, and what it links.

    Attributes
    ----------
    order : tuple of int
        Attributes, or ranks of the attribute distances (0 is the largest); what decides first is in front.
    ranked : bool
        Which of the two.
    count : int
        Blocks that it links.
    weight : Fraction
        Their weight.
    """

    order: Order
    ranked: bool
    count: int
    weight: Fraction

    def described(self, attributes: Sequence[str]) -> str:
        """What is compared, in words; `attributes` are what to call them."""
        ranks = [f"the attribute distance of rank {k + 1}" for k in range(len(attributes))]
        names = ranks if self.ranked else attributes
        said = f"comparing {' and then '.join(names[k] for k in self.order)}"
        return f"{said} alone" if len(self.order) == 1 else f"{said}, each only where those before it tie,"


def best_order(rows: Rows, above: Fraction | None = None) -> Ordered | None:
    """The order that links most, of those that grow from each attribute (or rank) by whichever adds most.

    Parameters
    ----------
    rows : Rows
    above : Fraction, optional
        Only orders that link more than this matter: others are given up as soon as they cannot.

    Returns
    -------
    Ordered or None
        None where the family has no such limits, or none of them links more than `above`.
    """
    least = Fraction(-1) if above is None else above
    found = [
        best for ranked in rows.family.orders if (best := _best(rows.records, ranked, least)) is not None
    ]
    return max(found, key=lambda best: best.weight, default=None)


def _best(records: Records, ranked: bool, above: Fraction) -> Ordered | None:
    """The best of those that begin with each attribute or rank, a shorter one before a longer one."""
    compared = comparing(records)
    known = [
        ordered
        for first in range(records.queries.shape[1])
        for ordered in _Beginning(records, compared, first, ranked, above).grown()
        if ordered.weight > above
    ]
    known.sort(key=lambda ordered: len(ordered.order))
    return max(known, key=lambda ordered: ordered.weight, default=None)


class _Beginning:
    """Orders that begin with one attribute or rank.

    Parameters
    ----------
    records : Records
    compared : Comparing
    first : int
    ranked : bool
    above : Fraction
    """

    def __init__(
        self, records: Records, compared: Comparing, first: int, ranked: bool, above: Fraction
    ) -> None:
        self._records, self._compared, self._first, self._ranked = records, compared, first, ranked
        self._above = above
        self._boxed = self._boxes_for((first,))
        self._nearby = np.argsort(self._boxed.places[records.partners])

    def _boxes_for(self, order: Order) -> Boxes:
        """Boxes in which those that tie by an order stand together: what many share is divided first."""
        scale = np.where(self._shared, _BEFORE_OTHERS, 1.0)
        if not self._ranked:
            scale[list(order)] = _BEFORE_ALL * 2.0 ** -(_APART * np.arange(len(order)))
        return boxes(self._records, self._compared, spatial_order(self._records, scale))

    @property
    def _shared(self) -> BoolArray:
        """Which attributes have few values."""
        return self._records.distinct**2 <= len(self._records.candidates)

    def grown(self) -> Iterator[Ordered]:
        """The order of one, and all that come of adding one more to the best, as long as that helps.

        Where the best of all is one that was given up, none that comes of it links enough. So of those given
        up is counted whether they are: whoever adds the best goes no other way, and must not be asked for
        more than that leads to.
        """
        state = np.full(self._records.blocks, -1, dtype=np.int64)
        state[self._records.reached] = 0
        front: Order = ()
        left, weight = [self._first], Fraction(-1)
        while left and (state == 0).any():
            states = self._open(state, front, left, partial(ge, self._above))
            if not states:
                return
            longer = self._longer(front, states)
            yield from longer
            most = max(ordered.weight for ordered in longer)
            given_up = [k for k in left if k not in states]
            states |= self._open(state, front, given_up, partial(gt, most))
            best = max(self._longer(front, states), key=lambda ordered: ordered.weight)
            if best.weight <= weight:
                return
            front, weight, state = best.order, best.weight, states[best.order[-1]]
            left = [k for k in range(self._records.queries.shape[1]) if k not in front]

    def _open(
        self, before: IndexArray, front: Order, added: Sequence[int], hopeless: Hopeless
    ) -> dict[int, IndexArray]:
        """What becomes of blocks when one more is compared, by which one; those given up are left out."""
        found = {k: self._settled(before, (*front, k), hopeless) for k in added}
        return {k: own for k, own in found.items() if own is not None}

    def _longer(self, front: Order, states: dict[int, IndexArray]) -> list[Ordered]:
        """What orders of one more link, in the order of attributes: of equal ones the first is best."""
        return [self._ordered((*front, k), states[k]) for k in sorted(states)]

    def _ordered(self, order: Order, state: IndexArray) -> Ordered:
        linked = np.flatnonzero(state > 0)
        return Ordered(order, self._ranked, linked.size, self._records.weights.total(linked))

    def _settled(self, before: IndexArray, order: Order, hopeless: Hopeless) -> IndexArray | None:
        """What becomes of blocks that are open by an order without its last one (0): see `settle_order`.

        Whom an order links, every longer one links; whom it does not as one is nearer, none links.
        None as soon as the weight that this order or a longer one may still link is hopeless.
        """
        state, sequence = before.copy(), np.array(order, dtype=np.int64)
        still = self._nearby[before[self._nearby] == 0]
        anew = not self._ranked and len(order) > 1 and self._shared[order[-1]]
        boxed = self._boxes_for(order) if anew else self._boxed

        def settle(blocks: IndexArray) -> None:
            partners = self._partners(blocks)
            twins = boxed.twins[boxed.places[self._records.partners[blocks]]]
            own = np.empty(blocks.size, dtype=np.int64)
            arrays = self._compared.arrays, boxed.arrays
            given: tuple[Any, ...] = blocks, twins, partners, self._ranked, sequence, *arrays, own
            settle_order(*given)
            state[blocks] = own

        part = CHUNK
        while still.size:
            in_chunks(still[:part], settle)
            still, part = still[part:], 2 * part
            if hopeless(self._records.weights.total(np.flatnonzero(state >= 0))):
                return None
        return state

    def _partners(self, blocks: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Distances of partners by attribute or rank, and those up to which a rival is not farther."""
        mine = np.abs(self._records.rounded_differences(blocks, self._records.partners[blocks]))
        tied = (mine + self._records.widths[blocks]) * (1.0 + TOLERANCES["tie"])
        return (-np.sort(-mine), -np.sort(-tied)) if self._ranked else (mine, tied)
