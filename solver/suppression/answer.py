"""What is taken from each record, what that costs, and the bound that no other answer goes below."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import BoolArray, LongArray

PHASE = "suppressing"
"""What a reporter is told is being done."""

SCALE = 1_000_000
"""Costs are whole numbers of millionths, so that sums are exact."""


def said_of(cost: int, bound: int, work: str = "") -> str:
    """What a reporter is told of an answer."""
    return f"cost {cost / SCALE:,.6g}, at least {bound / SCALE:,.6g}{'; ' + work if work else ''}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer:
    """What is taken from each record.

    Attributes
    ----------
    taken : ndarray of int64, shape (n,)
        Key variables, as bits.
    cost : int
        Of all that is taken, in parts of `problem.SCALE`.
    bound : int
        No other answer costs less.
    proof : str
        What proves that.
    """

    taken: LongArray
    cost: int
    bound: int
    proof: str

    def cells(self, keys: int) -> BoolArray:
        """Which cells are taken, shape (n, q)."""
        return (self.taken[:, None] >> np.arange(keys) & 1).astype(np.bool_)
