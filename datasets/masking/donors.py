"""Donors for households to be swapped: alike, elsewhere, not yet swapped, and drawn by a key."""

from __future__ import annotations

import heapq
from collections import defaultdict

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray


class DonorPool:
    """The households of each profile by region, those with the largest key first.

    Parameters
    ----------
    profile : ndarray of int64, shape (H,)
        Only households of one profile are swapped with each other.
    region : ndarray of int64, shape (H,)
    key : ndarray of float64, shape (H,)
    used : ndarray of bool, shape (H,)
        Who has been swapped; looked at whenever one is drawn.
    """

    def __init__(self, profile: LongArray, region: LongArray, key: FloatArray, used: BoolArray) -> None:
        self._profile, self._region, self._key, self._used = profile, region, key, used
        self._order = np.lexsort((-key, region, profile))
        ordered = np.column_stack([profile, region])[self._order]
        changes = np.flatnonzero((ordered[1:] != ordered[:-1]).any(axis=1)) + 1
        self._ends = np.append(changes, len(profile))
        self._starts = np.append(0, changes)
        self._queues: dict[int, list[int]] = defaultdict(list)
        for queue, start in enumerate(self._starts):
            self._queues[int(ordered[start, 0])].append(queue)
        self._at = self._starts.copy()
        self._heaps: dict[int, list[tuple[float, int]]] = {}

    def draw(self, household: int) -> int | None:
        """The donor with the largest key in another region; None where there is none."""
        profile, own = int(self._profile[household]), self._region[household]
        if profile not in self._heaps:
            self._heaps[profile] = [
                self._head(queue) for queue in self._queues[profile] if self._goes_on(queue)
            ]
            heapq.heapify(self._heaps[profile])
        heap, aside, found = self._heaps[profile], [], None
        while heap and found is None:
            queue = heap[0][1]
            if not self._goes_on(queue):
                heapq.heappop(heap)
            elif heap[0] != self._head(queue):  # its first one has been swapped since
                heapq.heapreplace(heap, self._head(queue))
            elif self._region[self._order[self._at[queue]]] == own:
                aside.append(heapq.heappop(heap))
            else:
                found = int(self._order[self._at[queue]])
        for entry in aside:
            heapq.heappush(heap, entry)
        return found

    def _goes_on(self, queue: int) -> bool:
        """Whether a queue has one left; goes to it."""
        at, end = int(self._at[queue]), int(self._ends[queue])
        while at < end and self._used[self._order[at]]:
            at += 1
        self._at[queue] = at
        return at < end

    def _head(self, queue: int) -> tuple[float, int]:
        return -float(self._key[self._order[self._at[queue]]]), queue
