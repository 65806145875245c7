"""What some parameters link, and what comparing one attribute after another links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .proofs import Rows
from .records import Records


def linked_blocks(rows: Rows, theta: Sequence[Fraction]) -> list[bool]:
    """Whether exact parameters link each block: every rival is farther than the partner and its ties."""
    unit = max(value.denominator for value in theta)
    numbers = [int(value * unit) for value in theta]

    def is_farther(block: int, rival: int) -> bool:
        row = rows.family.coefficients(rows.row(block, rival))
        return sum(a * b for a, b in zip(row, numbers, strict=True)) > 0

    records = rows.records
    return [
        records.reachable(block) and all(is_farther(block, rival) for rival in records.rivals(block))
        for block in range(records.blocks)
    ]


@dataclass(frozen=True)
class Order:
    """An order of attributes (or ranks of attribute distances, `ranked`) and the blocks that it links.

    Each is compared only where those before it tie: limits of weighted distances whose weights are farther
    and farther apart. A bound on distances that differ by more than ties does not cover them.
    """

    sequence: tuple[int, ...]
    ranked: bool
    count: int
    weight: Fraction

    def described(self, attributes: Sequence[str]) -> str:
        """In words."""
        names = [f"rank {k + 1}" if self.ranked else attributes[k] for k in self.sequence]
        return f"comparing {' and then '.join(names)}"


def best_order(rows: Rows, above: Fraction) -> Order | None:
    """The order that links most, of those that grow from each attribute (or rank) by what adds most.

    None where none of them links more than the weight `above`.
    """
    found = [order for ranked in rows.family.orders for order in _orders(rows.records, ranked)]
    beyond = [order for order in found if order.weight > above]
    return max(beyond, key=lambda order: (order.weight, -len(order.sequence)), default=None)


Open = dict[int, list[int]]
"""Blocks that are linked, with the rivals that still tie: none of them where the order links the block."""


def _orders(records: Records, ranked: bool) -> list[Order]:
    attributes, found = range(len(records.problem.attributes)), []
    reached = [block for block in range(records.blocks) if records.reachable(block)]
    everyone: Open = {block: list(records.rivals(block)) for block in reached}
    for first in attributes:
        front: tuple[int, ...] = ()
        state, left, weight = everyone, [first], Fraction(-1)
        while left and (not front or any(state.values())):
            longer = []
            for k in left:
                after = _compared(records, ranked, state, k)
                linked = [block for block, rivals in after.items() if not rivals]
                order = Order((*front, k), ranked, len(linked), records.weight(linked))
                longer.append((order, after))
            found += [order for order, _ in longer]
            best, state = max(longer, key=lambda one: one[0].weight)
            if best.weight <= weight:
                break
            front, weight = best.sequence, best.weight
            left = [k for k in attributes if k not in front]
    return found


def _compared(records: Records, ranked: bool, before: Open, k: int) -> Open:
    """What is left when attribute or rank k is compared, too."""

    def size_of(values: list[float]) -> float:
        return sorted(values, reverse=True)[k] if ranked else values[k]

    after: Open = {}
    for block, rivals in before.items():
        own = size_of(records.sizes(block, records.partner[block]))
        tied = size_of(records.tied_sizes(block))
        near = [rival for rival in rivals if size_of(records.sizes(block, rival)) <= tied]
        if all(size_of(records.sizes(block, rival)) == own for rival in near):
            after[block] = near
    return after
