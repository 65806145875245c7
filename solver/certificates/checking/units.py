"""Weights as whole numbers of units, for proofs that add them up: rounded up, so that any unit will do."""

from __future__ import annotations

from collections.abc import Container, Iterable
from fractions import Fraction

from linkrisk.solver.certificates.checking.records import Records


def in_units(weight: Fraction, unit: Fraction) -> int:
    """A weight, `unit` times as large, rounded up: against a bound."""
    return -(-weight.numerator * unit.numerator // (weight.denominator * unit.denominator))


def whole_weights(records: Records, unit: Fraction, blocks: Iterable[int]) -> dict[int, int]:
    """Weight of some blocks, in units, rounded up."""
    return {block: in_units(records.weight(block), unit) for block in blocks}


def most_blocks(records: Records, bound: Fraction, lost: Container[int]) -> int:
    """How many blocks that are not lost can have a total weight within the bound: the lightest first."""
    return records.weights.most_within((block for block in range(records.blocks) if block not in lost), bound)


def total_weight(records: Records, blocks: Iterable[int]) -> Fraction:
    """The weight of some blocks together."""
    return records.weights.total(blocks)
