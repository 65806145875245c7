"""What linking blocks counts, as whole numbers: blocks of the same weight are counted together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from linkrisk.arrays import IndexArray


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of blocks.

    Attributes
    ----------
    kind : ndarray of intp, shape (blocks,)
        Which of the weights that occur is that of the block.
    numbers : sequence of int
        These weights, times `unit`.
    unit : int
    """

    kind: IndexArray
    numbers: Sequence[int]
    unit: int

    def of(self, block: int) -> Fraction:
        """The weight of a block."""
        return Fraction(self.numbers[self.kind[block]], self.unit)

    def total(self, blocks: Iterable[int] | None = None) -> Fraction:
        """What linking some blocks counts, or all."""
        often = self._often(blocks)
        return Fraction(sum(many * own for many, own in zip(often, self.numbers, strict=True)), self.unit)

    def most_within(self, blocks: Iterable[int], bound: Fraction) -> int:
        """How many of some blocks can count a bound together, or less: the lightest first."""
        left, count = math.floor(bound * self.unit), 0
        for number, many in sorted(zip(self.numbers, self._often(blocks), strict=True)):
            fitting = min(many, max(left, 0) // number)
            count, left = count + fitting, left - fitting * number
            if fitting < many:
                break
        return count

    @property
    def heaviest(self) -> tuple[Fraction, bool]:
        """The largest weight of a block, and whether all have it."""
        return Fraction(max(self.numbers), self.unit), len(set(self.numbers)) == 1

    def _often(self, blocks: Iterable[int] | None) -> list[int]:
        """How many of the blocks have each of the weights."""
        own = self.kind if blocks is None else self.kind[np.fromiter(blocks, dtype=np.intp)]
        often: list[int] = np.bincount(own, minlength=len(self.numbers)).tolist()
        return often


def weights_of(sampling: Sequence[Fraction] | None, copies: IndexArray) -> Weights:
    """The weights of blocks: sampling weights, or ones, divided by numbers of copies."""
    own = [Fraction(1)] if sampling is None else sorted(set(sampling))
    place = {weight: at for at, weight in enumerate(own)}
    drawn = [0] * copies.size if sampling is None else [place[weight] for weight in sampling]
    both, kind = np.unique(np.stack([drawn, copies], axis=1), axis=0, return_inverse=True)
    weights = [own[at] / many for at, many in both.tolist()]
    unit = math.lcm(*(weight.denominator for weight in weights))
    return Weights(kind.reshape(-1), [int(weight * unit) for weight in weights], unit)
