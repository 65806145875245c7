"""Lagrangian bound on the cost of k-anonymity by prices of records, exact in integers.

The program. Of row type t, x_e records take entry e (a pattern, and so a node g); y_g says whether node g is
used: minimise the cost of all x, where each type's entries sum to its n_t records, each used node holds k or
more, and x_e <= n_t y_g. With a price u_t for each record of type t instead of the first demand, the nodes
are apart from each other, and

    L(u) = sum_t n_t u_t - sum_g max(0, max { sum_e (u_t - c_e) x_e : sum_e x_e >= k, 0 <= x_e <= n_t })

is a bound for whatever prices (Lagrangian duality). The inner maximum takes all records that gain, and where
these are fewer than k the least losers. Its largest value is that of the linear relaxation, which the volume
algorithm (Barahona and Anbil 2000) approaches. Prices are rounded to integers, so that the bound holds
without any tolerance and a stranger can check it from the prices alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, IntArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.suppression.nodes import Nodes

_GROWTH = 1.03
"""How much more each step counts in the averaged point than the one before."""

_PATIENCE = 20
_LEAST_SHARE, _MOST_SHARE = 0.01, 0.1


def bound_of(nodes: Nodes, prices: LongArray) -> int:
    """Lagrangian bound of integer prices (T,), in units of cost: no k-anonymous suppression costs less."""
    surplus = np.empty(len(nodes.count), dtype=np.int64)
    opened, share = np.zeros(len(nodes), dtype=np.bool_), np.zeros(nodes.entries, dtype=np.float32)
    return int(_lagrangian(_entries(nodes), nodes.count, nodes.k, prices, opened, surplus, share, 0.0))


def penalties(nodes: Nodes, prices: LongArray) -> LongArray:
    """Rise (E,) of the bound of these prices if some record takes an entry.

    Where bound and penalty together reach the cost of a solution, no better one uses the entry.
    """
    found = np.empty(nodes.entries, dtype=np.int64)
    _penalties(_entries(nodes), nodes.count, nodes.k, prices, found)
    return found


class _Entries(NamedTuple):
    """Entries of each node: their start, and the row type and cost of each."""

    start: LongArray
    row_type: IntArray
    cost: LongArray


def _entries(nodes: Nodes) -> _Entries:
    return _Entries(nodes.start, nodes.row_type, nodes.cost)


class Volume:
    """The volume algorithm: prices (T,) that rise towards the largest bound, and an averaged point.

    `most`, the cost of suppressing all, limits prices. `left` (T,) are records without a place, `opened`
    (G,) nodes that hold k records already; `bound` is that of the program only while all records are left.
    """

    def __init__(self, nodes: Nodes, most: int) -> None:
        self._nodes, self._most = nodes, most
        self.left = nodes.count.copy()
        self.opened = np.zeros(len(nodes), dtype=np.bool_)
        self.prices = np.full(len(nodes.count), most, dtype=np.int64)
        np.minimum.at(self.prices, nodes.row_type, nodes.cost)  # each record by itself
        self._surplus = np.empty(len(nodes.count), dtype=np.int64)
        self._share = np.zeros(nodes.entries, dtype=np.float32)
        self.restart()

    def restart(self) -> None:
        """Forget the averaged point, once records are placed or nodes opened."""
        self._share[:] = 0.0
        self._weight, self._sum = 1.0, 0.0
        self.bound = self._value(self.prices, 0.0)
        self._mean = self._surplus.astype(np.float64)
        self._step, self._failures = 0.05, 0

    def _value(self, prices: LongArray, weight: float) -> int:
        nodes = self._nodes
        return int(
            _lagrangian(
                _entries(nodes), self.left, nodes.k, prices, self.opened, self._surplus, self._share, weight
            )
        )

    @property
    def average(self) -> NDArray[np.float32]:
        """Mean records (E,) of each entry: nearly an optimum of the relaxation."""
        return np.asarray(self._share / np.float32(max(self._sum, 1e-30)))

    def advance(self) -> bool:
        """Take one step; whether the bound has risen."""
        mean = self._mean
        target = max(1.03 * self.bound, self.bound + 1.0)
        length = self._step * (target - self.bound) / (float(mean @ mean) + 1e-9)
        trial = np.clip(np.rint(self.prices + length * mean), 0, self._most).astype(np.int64)
        self._weight *= _GROWTH
        if self._weight > 1e30:  # single precision ends at 1e38
            self._share /= np.float32(self._weight)
            self._sum, self._weight = self._sum / self._weight, 1.0
        value = self._value(trial, self._weight)
        self._sum += self._weight
        fresh = self._surplus.astype(np.float64)
        apart = fresh - mean
        part = -float(mean @ apart) / max(float(apart @ apart), 1e-9)
        agrees = float(fresh @ mean) > 0.0
        self._mean = mean + min(max(part, _LEAST_SHARE), _MOST_SHARE) * apart
        if value <= self.bound:
            self._failures += 1
            if self._failures == _PATIENCE:
                self._step, self._failures = 0.66 * self._step, 0
            return False
        self.prices, self.bound, self._failures = trial, value, 0
        if agrees:
            self._step = min(1.1 * self._step, 2.0)
        return True


@kernel
def _lagrangian(
    entries: _Entries,
    left: LongArray,
    k: int,
    prices: LongArray,
    opened: BoolArray,
    surplus: LongArray,
    share: NDArray[np.float32],
    weight: float,
) -> int:
    """L(u) of the records left.

    Fills `surplus` with records of each type in excess of those that nodes take, a direction of ascent;
    adds to `share` the records of each entry, times `weight`.
    """
    start, row_type, cost = entries
    total = 0
    for at in range(len(left)):
        total += left[at] * prices[at]
        surplus[at] = left[at]
    losses, losers = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    for node in range(len(start) - 1):
        begin, end = start[node], start[node + 1]
        gain, taken = _gain(begin, end, entries, left, prices)
        if gain == 0:
            continue
        wanted = 0 if opened[node] else max(k - taken, 0)
        filled = _least_losers(begin, end, entries, left, wanted, prices, losses, losers)
        gain -= losses[:filled].sum()
        if filled < wanted or gain <= 0:
            continue
        total -= gain
        for at in range(begin, end):
            owner = row_type[at]
            if prices[owner] > cost[at] and left[owner] > 0:
                surplus[owner] -= left[owner]
                share[at] += weight * left[owner]
        for place in range(filled):
            surplus[row_type[losers[place]]] -= 1
            share[losers[place]] += weight
    return total


@kernel
def _gain(begin: int, end: int, entries: _Entries, left: LongArray, prices: LongArray) -> tuple[int, int]:
    """Gain of all records that gain by being in a node, and their number."""
    _, row_type, cost = entries
    gain, taken = 0, 0
    for at in range(begin, end):
        more = prices[row_type[at]] - cost[at]
        if more > 0:
            gain += more * left[row_type[at]]
            taken += left[row_type[at]]
    return gain, taken


@kernel
def _least_losers(
    begin: int,
    end: int,
    entries: _Entries,
    left: LongArray,
    wanted: int,
    prices: LongArray,
    losses: LongArray,
    losers: LongArray,
) -> int:
    """Sort in at most `wanted` records of a node that gain nothing, those that lose least; their number."""
    _, row_type, cost = entries
    filled = 0
    if wanted == 0:
        return 0
    for at in range(begin, end):
        loss = cost[at] - prices[row_type[at]]
        if loss < 0:
            continue
        for _ in range(min(left[row_type[at]], wanted)):
            if filled < wanted:
                place = filled
                filled += 1
            elif loss < losses[filled - 1]:
                place = filled - 1
            else:
                break
            while place > 0 and losses[place - 1] > loss:
                losses[place], losers[place] = losses[place - 1], losers[place - 1]
                place -= 1
            losses[place], losers[place] = loss, at
    return filled


@kernel
def _penalties(
    entries: _Entries,
    count: LongArray,
    k: int,
    prices: LongArray,
    found: LongArray,
) -> None:
    """Loss of the node of each entry if it is open and a record takes the entry."""
    start, row_type, cost = entries
    losses, losers = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    for node in range(len(start) - 1):
        begin, end = start[node], start[node + 1]
        gain, taken = _gain(begin, end, entries, count, prices)
        wanted = max(k - taken, 0)
        filled = _least_losers(begin, end, entries, count, wanted, prices, losses, losers)
        worth = gain - losses[:filled].sum()  # when open; every node listed can be filled
        closed = max(worth, 0)
        last = losses[filled - 1] if filled else 0
        for at in range(begin, end):
            loss = cost[at] - prices[row_type[at]]
            # The record takes the place of the last loser, or comes on top of all that gain.
            more = max(loss - last, 0) if loss >= 0 else 0
            found[at] = closed - worth + more
