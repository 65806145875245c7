"""What is computed of the candidates alone: once, whatever blocks are looked at, and by several threads."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


class SortedCandidates(NamedTuple):
    """Candidates sorted by an attribute.

    Attributes
    ----------
    records : ndarray of float64, shape (candidates, attributes)
    group : ndarray of int, shape (candidates,)
        Their twin groups.
    place : ndarray of int, shape (candidates,)
        Where each candidate has gone.
    order : ndarray of int, shape (candidates,)
        Who is in each place.
    """

    records: FloatArray
    group: IndexArray
    place: IndexArray
    order: IndexArray


class CandidateOrders:
    """Orders and groups of candidates; what has been asked for is kept, but does not go to other processes.

    Parameters
    ----------
    candidates : ndarray of float64, shape (candidates, attributes)
    """

    def __init__(self, candidates: FloatArray) -> None:
        self.candidates = candidates
        self._orders: dict[int, IndexArray] = {}
        self._sorted: dict[int, SortedCandidates] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"candidates": self.candidates, "_orders": {}, "_sorted": {}}

    @cached_property
    def twin_group(self) -> IndexArray:
        """Label of each candidate, shape (candidates,): equal labels mean equal on every attribute.

        What is missing in both is equal: no distance tells such records apart.
        """
        # NaN differs from itself, inf does not.
        comparable = np.where(np.isnan(self.candidates), np.inf, self.candidates)
        _, labels = np.unique(comparable, axis=0, return_inverse=True)
        return labels.reshape(-1).astype(np.intp)

    @cached_property
    def spread(self) -> FloatArray:
        """Standard deviation of each attribute, shape (attributes,)."""
        return np.asarray(self.candidates.std(axis=0))

    def order(self, attribute: int) -> IndexArray:
        """The candidates by an attribute, shape (candidates,)."""
        if attribute not in self._orders:
            self._orders[attribute] = np.argsort(self.candidates[:, attribute], kind="stable")
        return self._orders[attribute]

    def sorted_by(self, attribute: int) -> SortedCandidates:
        """The candidates sorted by an attribute."""
        if attribute not in self._sorted:
            order = self.order(attribute)
            place = np.empty_like(order)
            place[order] = np.arange(order.size)
            records = np.ascontiguousarray(self.candidates[order])
            self._sorted[attribute] = SortedCandidates(records, self.twin_group[order], place, order)
        return self._sorted[attribute]
