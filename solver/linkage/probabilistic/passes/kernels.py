"""Compiled code that walks over the pairs of passes, and counts their agreement patterns."""

from __future__ import annotations

from typing import NamedTuple

from linkrisk.arrays import ByteArray, FloatArray, IntArray, LongArray
from linkrisk.formulations.compiled import kernel


class Groups(NamedTuple):
    """Candidates by their keys, P passes one after the other."""

    key: LongArray  # (queries, P): code of each query's key, -1 when missing or met by no candidate
    first: LongArray  # (codes + 1,): where the members of each code begin
    member: IntArray  # candidates with that key


@kernel
def fill_pairs(
    groups: Groups,
    first: int,
    last: int,
    mark: LongArray,
    query: IntArray,
    candidate: IntArray,
    at: ByteArray,
) -> int:
    """Write the pairs of queries `first`..`last`-1, each once with the first pass that has it.

    `mark` holds the last query that each candidate was found with. Returns how many pairs there are.
    """
    size = 0
    for row in range(first, last):
        for p in range(groups.key.shape[1]):
            key = groups.key[row, p]
            if key < 0:
                continue
            for place in range(groups.first[key], groups.first[key + 1]):
                other = groups.member[place]
                if mark[other] != row:
                    mark[other] = row
                    query[size], candidate[size], at[size] = row, other, p
                    size += 1
    return size


@kernel
def equal_levels(
    first: IntArray, second: IntArray, query: IntArray, candidate: IntArray, level: ByteArray
) -> None:
    """Write 0 where a code is missing, 2 where both are equal, 1 elsewhere."""
    for at in range(query.size):
        a, b = first[query[at]], second[candidate[at]]
        level[at] = 0 if a < 0 or b < 0 else (2 if a == b else 1)


@kernel
def near_levels(
    first: FloatArray,
    second: FloatArray,
    thresholds: FloatArray,
    rounding: float,
    query: IntArray,
    candidate: IntArray,
    level: ByteArray,
) -> None:
    """Write 0 where a number is missing, else 1 plus the thresholds that the difference does not exceed."""
    for at in range(query.size):
        a, b = first[query[at]], second[candidate[at]]
        level[at] = 0
        if a == a and b == b:
            level[at] = 1
            for threshold in thresholds:
                # As where all pairs are compared: the larger value or threshold decides what is rounding.
                if abs(a - b) <= threshold + rounding * (abs(a) + threshold):
                    level[at] += 1


@kernel
def add_agreement(
    first: IntArray,
    second: IntArray,
    extra: FloatArray,
    query: IntArray,
    candidate: IntArray,
    weight: FloatArray,
) -> None:
    """Add to the weight of every pair with equal codes what is due to their value."""
    for at in range(query.size):
        a = first[query[at]]
        if a >= 0 and a == second[candidate[at]]:
            weight[at] += extra[a]
