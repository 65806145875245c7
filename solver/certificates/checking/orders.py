"""What comparing attributes one after another links: limits of weighted distances that count as ties here.

A certificate is about distances that differ by more than ties. Weights that lie farther and farther apart
come to comparing one attribute, and another only where it ties, or one rank of the attribute distances and
then another. Such an order can link records that no such distance links, so it is counted beside the proof,
and no fit may claim less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from linkrisk.solver.certificates.checking.cores import Rows
from linkrisk.solver.certificates.checking.records import Records
from linkrisk.solver.certificates.checking.ties import TOLERANCES

IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
Order = tuple[int, ...]


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


def best_order(rows: Rows) -> Ordered | None:
    """The order that links most, of those that grow from each attribute (or rank) by whichever adds most.

    None where the family has no such limits.
    """
    found = [_best(rows.records, ranked) for ranked in rows.family.orders]
    return max(found, key=lambda best: best.weight, default=None)


def _best(records: Records, ranked: bool) -> Ordered:
    (found,) = _extended(records, [()], ranked)
    fronts, known = found, list(found)
    while fronts and len(fronts[0].order) < records.queries.shape[1]:
        longer = _extended(records, [front.order for front in fronts], ranked)
        known += [ordered for orders in longer for ordered in orders]
        best = [max(orders, key=lambda ordered: ordered.weight) for orders in longer]
        fronts = [end for end, front in zip(best, fronts, strict=True) if end.weight > front.weight]
    return max(known, key=lambda ordered: ordered.weight)


def _extended(records: Records, fronts: Sequence[Order], ranked: bool) -> list[list[Ordered]]:
    """What each of the orders links when one more comes after it, whichever is not yet in it."""
    shape = len(fronts), records.queries.shape[1]
    count = np.zeros(shape, dtype=np.intp)
    weight = np.full(shape, Fraction(0), dtype=object)
    for block in range(records.blocks):
        if not records.reachable(block):
            continue
        farther, own = _farther(records, block, ranked), records.weight(block)
        for at, front in enumerate(fronts):
            linked = _linked_after(farther, front)
            count[at] += linked
            weight[at, linked] += own
    return [
        [
            Ordered((*front, k), ranked, int(count[at, k]), weight[at, k])
            for k in range(shape[1])
            if k not in front
        ]
        for at, front in enumerate(fronts)
    ]


def _farther(records: Records, block: int, ranked: bool) -> IndexArray:
    """Whether each rival (row) is farther than the partner by each attribute or rank: 1, or 0 where it ties.

    It is -1 where the rival is nearer, or rounding leaves open which of the two is.
    """
    own = np.array([records.partner[block]])
    mine = np.abs(records.rounded_differences(block, own)[0])
    tied = (mine + records.widths[block]) * (1.0 + TOLERANCES["tie"])
    other = np.abs(records.rounded_differences(block, records.rivals(block)))
    if ranked:
        mine, tied, other = -np.sort(-mine), -np.sort(-tied), -np.sort(-other, axis=1)
    return np.where(other == mine, 0, np.where(other > tied, 1, -1))


def _linked_after(farther: IndexArray, front: Order) -> BoolArray:
    """Whether all rivals are farther by the order, or tie and are farther by the attribute after it."""
    tied = farther
    for k in front:
        if (tied[:, k] < 0).any():
            return np.zeros(farther.shape[1], dtype=np.bool_)
        tied = tied[tied[:, k] == 0]
    return np.asarray((tied > 0).all(axis=0))
