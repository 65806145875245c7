"""What respondents contribute to each cell: sums, the largest contributions, and who made them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray, LongArray

EXPANDED, SAMPLE, KNOWN = "expanded", "sample", "known"
WEIGHTINGS = (EXPANDED, SAMPLE, KNOWN)
"""What rules make of sampling weights (`Concentration.of`)."""

_DECIMALS = 9
_WHOLE = 2.0**52


@dataclass(frozen=True, eq=False)
class Parts:
    """Contributions, one by one: n of them, sorted by cell, the largest of a cell first.

    Attributes
    ----------
    cell, holder : ndarray of int64, shape (n,)
        Where it belongs, and whose it is.
    amount : ndarray of float64, shape (n,)
        What was observed, not below 0.
    weighted : ndarray of float64, shape (n,)
        What it adds to the cell.
    weight : ndarray of float64, shape (n,)
    first : ndarray of int64, shape (n,)
        Where its cell begins.
    """

    cell: LongArray
    holder: LongArray
    amount: FloatArray
    weighted: FloatArray
    weight: FloatArray
    first: LongArray

    @classmethod
    def of(
        cls, cell: LongArray, holder: LongArray, amount: FloatArray, weighted: FloatArray, weight: FloatArray
    ) -> Parts:
        """Join what a holder contributes to a cell, and sort."""
        order = np.lexsort((holder, cell))
        new = np.ones(order.size, dtype=np.bool_)
        new[1:] = (np.diff(cell[order]) != 0) | (np.diff(holder[order]) != 0)
        starts = np.flatnonzero(new)
        sums = [
            np.add.reduceat(one[order], starts) if starts.size else np.zeros(0)
            for one in (amount, weighted, weight)
        ]
        cell, holder = cell[order][starts], holder[order][starts]
        order = np.lexsort((-sums[1], -sums[0], cell))  # of equal ones the one that makes up most comes first
        cell = cell[order]
        first = np.searchsorted(cell, cell).astype(np.int64)
        return cls(cell, holder[order], sums[0][order], sums[1][order], sums[2][order], first)

    @property
    def rank(self) -> LongArray:
        """From 0, in its cell, shape (n,)."""
        return np.arange(self.cell.size, dtype=np.int64) - self.first


@dataclass(frozen=True, eq=False)
class Concentration:
    """What rules look at, cell by cell.

    Attributes
    ----------
    total : ndarray of float64, shape (n,)
        X.
    largest : ndarray of float64, shape (n, w)
        The w largest contributors, the largest first.
    first : ndarray of float64, shape (n,)
        What the largest respondent contributed.
    units : ndarray of float64, shape (n,)
        How many contributors there are.
    """

    total: FloatArray
    largest: FloatArray
    first: FloatArray
    units: FloatArray

    @classmethod
    def of(cls, parts: Parts, cells: int, width: int, weighting: str) -> Concentration:
        """Of contributions.

        With weights there are three ways (Handbook on SDC, section 4.2.1, sampling weights):

        * ``expanded``: a record of weight w is w contributors of its amount each; of the next largest, as
          much as fills up the number that is looked at, so that weights need not be whole. This is what
          τ-ARGUS does.
        * ``sample``: an intruder is a respondent of the sample and does not know weights: the largest
          amounts that were observed, of the weighted total.
        * ``known``: weights are known, so that a respondent takes off w times its amount.

        Parameters
        ----------
        parts : Parts
        cells : int
            How many there are.
        width : int
            w.
        weighting : str
            One of `WEIGHTINGS`.
        """
        ones = np.ones(parts.cell.size)
        weight = parts.weight if weighting == EXPANDED else ones
        amount = parts.weighted if weighting == KNOWN else parts.amount
        end = np.cumsum(weight)
        begin = end - weight
        offset = begin[parts.first] if parts.cell.size else begin
        begin, end = begin - offset, end - offset  # along the contributors of a cell, the largest first
        largest = np.zeros((cells, width))
        for at in range(width):
            share = np.clip(np.minimum(end, at + 1.0) - np.maximum(begin, float(at)), 0.0, None)
            share = np.where(np.abs(share - np.round(share)) < 1e-9, np.round(share), share)
            largest[:, at] = np.bincount(parts.cell, share * amount, cells)
        first = np.zeros(cells)
        leading = parts.rank == 0
        first[parts.cell[leading]] = parts.amount[leading]
        total = exact_sums(parts.cell, parts.weighted, cells)
        return cls(total, largest, first, np.bincount(parts.cell, weight, cells).astype(np.float64))


def exact_sums(group: LongArray, amount: FloatArray, groups: int) -> FloatArray:
    """The sum of each group, exact where amounts have few decimals: sums of sums then are those of parts."""
    for decimals in range(_DECIMALS + 1):
        scaled = amount * 10.0**decimals
        whole = np.round(scaled)
        if not np.abs(whole).sum() < _WHOLE:
            break
        if (np.abs(scaled - whole) <= 1e-12 * np.abs(scaled)).all():
            return np.asarray(np.bincount(group, whole, groups) / 10.0**decimals, dtype=np.float64)
    return np.bincount(group, amount, groups).astype(np.float64)
