"""The few shapes that an aggregated distance takes once its parameters are fixed.

An aggregator turns its parameters into one of these; the evaluator counts with compiled code for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.ties import cancellation

FloatArray = NDArray[np.float64]


class FormKind(IntEnum):
    """How the attribute distances ``c`` of a pair become one number."""

    WEIGHTED_SUM = 0  # sum_k p_k c_k
    ORDERED_SUM = 1  # sum_r p_r c_(r), the largest first
    CHOQUET = 2  # Choquet integral with the measure p, a table indexed by bit mask
    PAIRWISE = 3  # sum_k P_kk c_k + sum_{k<l} P_kl min(c_k, c_l)
    QUADRATIC = 4  # sum_k sum_l P_kl c_k c_l


@dataclass(frozen=True)
class DistanceForm:
    """An aggregated distance with its parameters fixed.

    Attributes
    ----------
    kind : FormKind
        The shape.
    differences : Differences
        Which attribute distances it takes.
    parameters : ndarray of float64
        ``p``, one-dimensional, or ``P``, two-dimensional, as `FormKind` says.
    floor : ndarray of float64, shape (attributes,)
        The distance is at least ``floor[k] * z_k**2`` (``floor[k] * |z_k|`` for absolute differences):
        what lets the evaluator skip candidates that are far in one attribute. Zero where the `noise` of
        ``c`` can be more than a ten-thousandth of the distance: there, rounding could make skipped
        candidates tie.
    """

    kind: FormKind
    differences: Differences
    parameters: FloatArray
    floor: FloatArray

    @property
    def noise(self) -> float:
        """Cancelling terms move the distance of ``c`` by less than ``noise * sum_k P_kk c_k**2``."""
        return cancellation(len(self.parameters)) if self.kind is FormKind.QUADRATIC else 0.0

    def without(self, attributes: Sequence[int]) -> DistanceForm:
        """The distance as it would be if records never differed in these attributes.

        Not for `ORDERED_SUM`, whose parameters belong to ranks. The floor of the other attributes stays.
        """
        gone, parameters, floor = list(attributes), self.parameters.copy(), self.floor.copy()
        floor[gone] = 0.0
        if self.kind is FormKind.ORDERED_SUM:
            raise ValueError("an ordered sum has no parameters of attributes")
        if self.kind is FormKind.CHOQUET:
            # Sets of attributes that differ by more than any amount are counted without these.
            subsets = np.arange(parameters.size)
            parameters = parameters[subsets & ~sum(1 << k for k in gone)]
        else:
            parameters[gone] = 0.0
            parameters[..., gone] = 0.0
        return replace(self, parameters=parameters, floor=floor)

    def __call__(self, c: FloatArray) -> FloatArray:
        """Aggregate attribute distances of shape (..., attributes) to shape (...)."""
        return _EVALUATE[self.kind](c, self.parameters)


def _weighted_sum(c: FloatArray, p: FloatArray) -> FloatArray:
    return np.asarray(c @ p)


def _ordered_sum(c: FloatArray, p: FloatArray) -> FloatArray:
    return np.asarray(-np.sort(-c, axis=-1) @ p)


def _choquet(c: FloatArray, p: FloatArray) -> FloatArray:
    order = np.argsort(c, axis=-1, kind="stable")
    ascending = np.take_along_axis(c, order, axis=-1)
    steps = np.diff(ascending, axis=-1, prepend=0.0)
    bits = np.left_shift(1, order)
    above = np.cumsum(bits[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray((steps * p[above]).sum(axis=-1))


def _pairwise(c: FloatArray, p: FloatArray) -> FloatArray:
    total = np.asarray(c @ np.diag(p))
    for k, row in enumerate(p):
        for other in range(k + 1, len(p)):
            if row[other] != 0.0:
                total = total + row[other] * np.minimum(c[..., k], c[..., other])
    return total


def _quadratic(c: FloatArray, p: FloatArray) -> FloatArray:
    return np.asarray(((c @ p) * c).sum(axis=-1))


_EVALUATE = {
    FormKind.WEIGHTED_SUM: _weighted_sum,
    FormKind.ORDERED_SUM: _ordered_sum,
    FormKind.CHOQUET: _choquet,
    FormKind.PAIRWISE: _pairwise,
    FormKind.QUADRATIC: _quadratic,
}
