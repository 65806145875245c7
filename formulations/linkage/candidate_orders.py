"""What is computed of the candidates alone: once, whatever blocks are looked at, and by several threads."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.box_tree import BoxTree, box_tree

_TREES_KEPT = 6


class BoxedCandidates(NamedTuple):
    """Candidates in the boxes of a tree.

    Attributes
    ----------
    tree : BoxTree
    records : ndarray of float64, shape (candidates, attributes)
        Each in its place.
    place : ndarray of int, shape (candidates,)
        Where each candidate has gone.
    """

    tree: BoxTree
    records: FloatArray
    place: IndexArray


class CandidateOrders:
    """Orders and groups of candidates; what has been asked for is kept, but does not go to other processes.

    Parameters
    ----------
    candidates : ndarray of float64, shape (candidates, attributes)
    """

    def __init__(self, candidates: FloatArray) -> None:
        self.candidates = candidates
        self._orders: dict[int, tuple[IndexArray, FloatArray]] = {}
        self._boxed: dict[Hashable, BoxedCandidates] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"candidates": self.candidates, "_orders": {}, "_boxed": {}}

    @cached_property
    def twin_group(self) -> IndexArray:
        """Label of each candidate, shape (candidates,): equal labels mean equal on every attribute.

        What is missing in both is equal: no distance tells such records apart.
        """
        # NaN differs from itself, inf does not.
        comparable = np.where(np.isnan(self.candidates), np.inf, self.candidates)
        order = np.lexsort(comparable.T)
        ordered = comparable[order]
        labels = np.zeros(len(order), dtype=np.intp)
        labels[order[1:]] = np.cumsum((ordered[1:] != ordered[:-1]).any(axis=1))
        return labels

    @cached_property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """The lowest and the highest known value of each attribute; NaN where none is known."""
        low = np.fmin.reduce(self.candidates, initial=np.nan)
        return low, np.fmax.reduce(self.candidates, initial=np.nan)

    def order(self, attribute: int) -> IndexArray:
        """The candidates by an attribute, shape (candidates,)."""
        return self._ordered(attribute)[0]

    def values(self, attribute: int) -> FloatArray:
        """The values of an attribute in that order, shape (candidates,)."""
        return self._ordered(attribute)[1]

    def _ordered(self, attribute: int) -> tuple[IndexArray, FloatArray]:
        if attribute not in self._orders:
            values = self.candidates[:, attribute]
            order = np.argsort(values, kind="stable")
            self._orders[attribute] = (order, values[order])
        return self._orders[attribute]

    def boxed(
        self,
        key: Hashable,
        importance: FloatArray,
        categories: IndexArray | None = None,
        points: Callable[[], FloatArray] | None = None,
    ) -> BoxedCandidates:
        """The candidates in a tree of boxes; of the trees asked for, the last few are kept.

        Parameters
        ----------
        key : hashable
            What the tree goes by.
        importance : ndarray of float64, shape (dimensions,)
        categories : ndarray of int, shape (dimensions,), optional
            As in `box_tree`.
        points : callable, optional
            Gives where the candidates are, shape (candidates, dimensions), if it is not their values.
        """
        known = self._boxed.pop(key, None)
        if known is None:
            tree = box_tree(self.candidates if points is None else points(), importance, categories)
            place = np.empty_like(tree.order)
            place[tree.order] = np.arange(tree.order.size)
            known = BoxedCandidates(tree, self.candidates[tree.order], place)
        # A new dictionary: other threads may be reading the old one.
        self._boxed = dict([*self._boxed.items(), (key, known)][-_TREES_KEPT:])
        return known

    def has_boxed(self, key: Hashable) -> bool:
        """Whether a tree is kept."""
        return key in self._boxed
