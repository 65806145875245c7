"""Which pairs the passes compare: a sort-merge join on keys, in batches.

Candidates are sorted by key once for each pass. A query then finds its candidates one after the other, so the
pairs need never be joined, sorted or freed of duplicates as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import ByteArray, IntArray, LongArray
from linkrisk.solver.linkage.linker import LinkageTask
from linkrisk.solver.linkage.probabilistic.passes.kernels import Groups, fill_pairs
from linkrisk.solver.linkage.probabilistic.passes.key_values import pass_codes
from linkrisk.solver.linkage.probabilistic.passes.keys import Pass
from linkrisk.solver.run.errors import UsageError

MOST_PAIRS = 200_000_000
"""Pairs of all passes together, each of which is kept: 21 bytes for one, 4.2 GB in all."""

MOST_PASSES = 100

PAIRS_AT_ONCE = 1 << 20
"""Pairs that are compared together."""


class Pairs(NamedTuple):
    """Some pairs of records.

    Attributes
    ----------
    query, candidate : ndarray of int32
        Their rows.
    first_pass : ndarray of uint8
        The first pass that compares them, from 0.
    """

    query: IntArray
    candidate: IntArray
    first_pass: ByteArray

    def part(self, which: slice) -> Pairs:
        """Some of them."""
        return Pairs(self.query[which], self.candidate[which], self.first_pass[which])


@dataclass(frozen=True, eq=False)
class JoinedFiles:
    """Two files joined by the keys of every pass.

    Attributes
    ----------
    passes : tuple of Pass
    groups : Groups
    pairs : tuple of int
        Pairs that agree on all keys of each pass.
    without_key : tuple of (int, int)
        Queries and candidates that have no value of a key of each pass.
    candidates : int
    """

    passes: tuple[Pass, ...]
    groups: Groups
    pairs: tuple[int, ...]
    without_key: tuple[tuple[int, int], ...]
    candidates: int

    @classmethod
    def of(cls, task: LinkageTask, passes: Sequence[Pass]) -> JoinedFiles:
        """Join the files of a task.

        Raises
        ------
        UsageError
            If a key cannot be used, or there are more than `MOST_PAIRS` pairs.
        """
        codes, members, sizes, pairs, without = [], [], [np.zeros(1, dtype=np.int64)], [], []
        seen = 0
        for one in passes:
            code, slot = pass_codes(task, one)
            slots = int(max(code.max(), slot.max())) + 1
            size = np.bincount(slot[slot >= 0], minlength=slots)
            pairs.append(int(size[code[code >= 0]].sum()))
            _check_pairs(pairs, passes, len(code) * len(slot))
            order = np.argsort(slot, kind="stable")
            members.append(order[np.count_nonzero(slot < 0) :].astype(np.int32))
            codes.append(np.where(code >= 0, code + seen, -1))
            sizes.append(size)
            without.append((int((code < 0).sum()), int((slot < 0).sum())))
            seen += slots
        groups = Groups(
            key=np.ascontiguousarray(np.stack(codes, axis=1), dtype=np.int64),
            first=np.cumsum(np.concatenate(sizes)).astype(np.int64),
            member=np.concatenate(members),
        )
        return cls(tuple(passes), groups, tuple(pairs), tuple(without), len(task.candidates))

    @property
    def queries(self) -> int:
        """How many queries there are."""
        return len(self.groups.key)

    def ranges(self, at_once: int | None = None) -> list[tuple[int, int]]:
        """Queries in their order, in ranges that have at most so many pairs, but one query at least."""
        key, first = self.groups.key, self.groups.first
        before = np.concatenate([[0], np.cumsum(np.append(np.diff(first), 0)[key].sum(axis=1))])
        found, row = [], 0
        while row < self.queries:
            after = int(np.searchsorted(before, before[row] + (at_once or PAIRS_AT_ONCE), side="right")) - 1
            found.append((row, min(max(after, row + 1), self.queries)))
            row = found[-1][1]
        return found

    def batches(self, ranges: Sequence[tuple[int, int]] | None = None) -> Iterator[Pairs]:
        """All pairs, each once, in the order of queries; some of them at a time."""
        mark = np.full(self.candidates, -1, dtype=np.int64)
        for first, last in self.ranges() if ranges is None else ranges:
            yield found_pairs(self.groups, first, last, mark)

    def agree(self, query: LongArray, candidate: LongArray) -> NDArray[np.bool_]:
        """Which passes compare the given pairs, shape (pairs, passes)."""
        groups = self.groups
        slot = np.full((self.candidates, len(self.passes)), -2, dtype=np.int64)
        code_of_member = np.repeat(np.arange(groups.first.size - 1), np.diff(groups.first))
        ends = np.cumsum([0, *(self.candidates - lacking for _, lacking in self.without_key)])
        for p, (begin, end) in enumerate(pairwise(ends.tolist())):
            slot[groups.member[begin:end], p] = code_of_member[begin:end]
        return np.asarray(groups.key[query] == slot[candidate])


def found_pairs(groups: Groups, first: int, last: int, mark: LongArray) -> Pairs:
    """The pairs of some queries; `mark` has no row of theirs, and as many entries as there are candidates."""
    size = np.append(np.diff(groups.first), 0)  # the last one for keys that no candidate has
    room = int(size[groups.key[first:last]].sum())
    found = Pairs(np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.uint8))
    return found.part(slice(fill_pairs(groups, first, last, mark, *found)))


def _check_pairs(pairs: Sequence[int], passes: Sequence[Pass], every: int) -> None:
    """Refuse passes with more pairs than could be looked at, naming the last one."""
    if sum(pairs) <= MOST_PAIRS:
        return
    one = passes[len(pairs) - 1]
    before = f" after {sum(pairs[:-1]):,} of the passes before it" if len(pairs) > 1 else ""
    raise UsageError(
        f"pass '{one}' compares {pairs[-1]:,} of {every:,} pairs{before}; all passes together may compare "
        f"{MOST_PAIRS:,}: add a key to it, or use a finer one"
    )
