"""Finds rows that gain a match by suppressing values in a record, if missing values match anything.

A record that differs from a row in the variables D matches it once all of D are taken out. For patterns P of
all records at once, the rows covered are those with D within P: a sum over subsets, one bit for each row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, LongArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.kernel_parts import put, put_rows
from linkrisk.formulations.suppression.key_table import MISSING, Codes, RowTypes

WordArray = NDArray[np.uint64]

WORD = 64
"""Rows in one word of bits."""


@dataclass(frozen=True, eq=False)
class Ways:
    """Patterns of row types that cover some rows, while no smaller ones do."""

    row_type: LongArray  # (w,)
    pattern: LongArray  # (w,): as bits
    cost: LongArray  # (w,): for one record
    covers: WordArray  # (w, words): the rows, as bits

    def __len__(self) -> int:
        return len(self.row_type)

    def covered(self, rows: int) -> BoolArray:
        """Covered rows (w, rows) as booleans."""
        bits = self.covers[:, :, None] >> np.arange(WORD, dtype=np.uint64) & np.uint64(1)
        return np.asarray(bits.reshape(len(self), self.covers.shape[1] * WORD)[:, :rows] == 1)


def ways_to_cover(
    types: RowTypes, rows: Codes, cost: LongArray, allowed: int, apart: BoolArray, bound_to: LongArray
) -> Ways:
    """List the ways in which records come to match rows (R, q) that they do not match yet.

    Types in `apart` (T,) are touched or not as such, and pairs of row type and pattern in `bound_to` (b, 2)
    are considered further: for these also single values, and patterns above such a pattern, are listed.
    """
    keys = types.codes.shape[1]
    words = max(-(-len(rows) // WORD), 1)
    places = np.array([at for at in range(keys) if allowed >> at & 1], dtype=np.int64)
    bound = np.sort(bound_to[:, 0] << len(places) | _short(bound_to[:, 1], places))
    owner, short, covers = _ways(types.codes, rows, places, words, apart, bound)
    pattern = np.zeros(len(short), dtype=np.int64)
    price = np.zeros(len(short), dtype=np.int64)
    for bit, at in enumerate(places):
        taken = (short >> bit & 1).astype(np.int64)
        pattern |= taken << int(at)
        price += taken * cost[at]
    return Ways(owner, pattern, price, covers)


def _short(pattern: LongArray, places: LongArray) -> LongArray:
    """Patterns over all variables as patterns over the places."""
    found = np.zeros(len(pattern), dtype=np.int64)
    for bit, at in enumerate(places):
        found |= (pattern >> int(at) & 1) << bit
    return found


@kernel
def _ways(
    codes: Codes, rows: Codes, places: LongArray, words: int, apart: BoolArray, bound: LongArray
) -> tuple[LongArray, LongArray, WordArray]:
    """Row type, pattern over `places`, and covered rows of every way that is not needlessly large."""
    many = 1 << len(places)
    room, found = 1024, 0
    owner, short = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    covers = np.empty((room, words), dtype=np.uint64)
    table = np.empty((many, words), dtype=np.uint64)
    for at in range(len(codes)):
        _tabulate(codes[at], rows, places, table)
        for pattern in range(1, many):
            if not _present(codes[at], places, pattern):
                continue
            if not _needs_all(table, pattern, apart[at], at << len(places), bound):
                continue
            if found == room:
                room *= 2
                owner, short, covers = _grown(owner, room), _grown(short, room), _grown_rows(covers, room)
            owner[found], short[found] = at, pattern
            put(table[pattern], covers[found])
            found += 1
    return owner[:found].copy(), short[:found].copy(), covers[:found].copy()


@kernel
def _tabulate(code: NDArray[np.int32], rows: Codes, places: LongArray, table: WordArray) -> None:
    """Fill a table (patterns, words) of the rows that a record covers under each pattern."""
    table[:] = 0
    _mark(code, rows, places, table)
    for bit in range(len(places)):  # sums over subsets
        for pattern in range(len(table)):
            if pattern >> bit & 1:
                for word in range(table.shape[1]):
                    table[pattern, word] |= table[pattern ^ (1 << bit), word]


@kernel
def _mark(code: NDArray[np.int32], rows: Codes, places: LongArray, table: WordArray) -> None:
    """Mark every row under the variables in which it differs, if these may be taken and there are any."""
    for row in range(len(rows)):
        different, free = 0, True
        for at in range(len(code)):
            if code[at] == rows[row, at] or code[at] == MISSING or rows[row, at] == MISSING:
                continue
            bit = -1
            for place in range(len(places)):
                if places[place] == at:
                    bit = place
            if bit < 0:
                free = False
                break
            different |= 1 << bit
        if free and different:
            table[different, row // 64] |= np.uint64(1) << np.uint64(row % 64)


@kernel
def _present(code: NDArray[np.int32], places: LongArray, pattern: int) -> bool:
    """Whether there is a value wherever the pattern takes one."""
    lacking = 0
    for bit in range(len(places)):
        if code[places[bit]] == MISSING:
            lacking |= 1 << bit
    return pattern & lacking == 0


@kernel
def _needs_all(table: WordArray, pattern: int, apart: bool, owner: int, bound: LongArray) -> bool:
    """Whether no smaller pattern covers the same rows."""
    bit = 0
    while pattern >> bit:
        if pattern >> bit & 1:
            smaller = pattern ^ (1 << bit)
            free = smaller != 0 if apart else True  # to take nothing is not to be touched
            if free and apart and len(bound):
                at = np.searchsorted(bound, owner | smaller)
                free = at == len(bound) or bound[at] != owner | smaller
            if free and (table[pattern] == table[smaller]).all():
                return False
        bit += 1
    return True


@kernel
def _grown(values: LongArray, room: int) -> LongArray:
    larger = np.empty(room, dtype=np.int64)
    put(values, larger)
    return larger


@kernel
def _grown_rows(values: WordArray, room: int) -> WordArray:
    larger = np.empty((room, values.shape[1]), dtype=np.uint64)
    put_rows(values, larger)
    return larger
