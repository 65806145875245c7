"""The few shapes that an aggregated distance takes once its parameters are fixed.

An aggregator turns its parameters into one of these; the evaluator counts with compiled code for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.tie_tolerance import cancellation


class FormKind(IntEnum):
    """How the attribute distances ``c`` of a pair become one number."""

    WEIGHTED_SUM = 0  # sum_k p_k c_k
    ORDERED_SUM = 1  # sum_r p_r c_(r), the largest first
    CHOQUET = 2  # Choquet integral with the measure p, a table indexed by bit mask
    PAIRWISE = 3  # sum_k P_kk c_k + sum_{k<l} P_kl min(c_k, c_l)
    QUADRATIC = 4  # sum_k sum_l P_kl c_k c_l


@dataclass(frozen=True)
class DistanceForm:
    """An aggregated distance with its parameters fixed."""

    kind: FormKind  # the shape
    differences: Differences  # which attribute distances it takes
    parameters: FloatArray  # ``p``, one-dimensional, or ``P``, two-dimensional, as `FormKind` says

    @property
    def noise(self) -> float:
        """Cancelling terms move the distance of ``c`` by less than ``noise * sum_k P_kk c_k**2``."""
        return cancellation(len(self.parameters)) if self.kind is FormKind.QUADRATIC else 0.0

    @property
    def importance(self) -> FloatArray:
        """About how much the distance grows with each attribute distance, shape (attributes,)."""
        p = self.parameters
        if self.kind is FormKind.ORDERED_SUM:
            return np.ones(p.size)
        if self.kind is FormKind.CHOQUET:
            single = 1 << np.arange(p.size.bit_length() - 1)
            return np.asarray((p[single] + p[-1] - p[p.size - 1 - single]) / 2.0)
        if self.kind is FormKind.PAIRWISE:
            above = np.triu(p, 1)
            return np.asarray(np.diag(p) + (above + above.T).sum(axis=1) / 2.0)
        return np.asarray(np.diag(p) if p.ndim == 2 else p)

    def monotone(self) -> tuple[DistanceForm, float]:
        """A monotone distance nowhere below this one, and by how much it exceeds it at most.

        The excess is a factor of the largest attribute distance: parameters that are monotone but for
        rounding are raised until they are so to the last digit. ValueError for `QUADRATIC`.
        """
        p = self.parameters
        if self.kind is FormKind.QUADRATIC:
            raise ValueError("a quadratic form is not monotone")
        if self.kind is FormKind.PAIRWISE:
            above = np.triu(p, 1)
            lacking = -np.minimum(np.diag(p) + np.minimum(above + above.T, 0.0).sum(axis=1), 0.0)
            return replace(self, parameters=p + np.diag(lacking)), float(lacking.sum())
        if self.kind is FormKind.CHOQUET:
            raised = p.copy()
            for k in range(p.size.bit_length() - 1):
                halves = raised.reshape(-1, 2, 1 << k)  # without and with the attribute
                np.maximum(halves[:, 0], halves[:, 1], out=halves[:, 1])
            return replace(self, parameters=raised), float((raised - p).max())
        raised = np.maximum(p, 0.0)
        return replace(self, parameters=raised), float((raised - p).sum())

    def diagonal(self) -> DistanceForm:
        """A weighted sum of squares that is nowhere above a quadratic form, by more than its `noise`.

        With S the roots of the diagonal of P, ``c' P c >= s * sum_k P_kk c_k**2``, where s is the smallest
        eigenvalue of ``S**-1 P S**-1`` on the attributes that P has anything of.
        """
        own = np.diag(self.parameters).clip(0.0)
        roots = np.sqrt(np.where(own > 0.0, own, 1.0))
        without = np.diag(np.where(self.parameters.any(axis=0), 0.0, 1.0))
        smallest = float(np.linalg.eigvalsh(self.parameters / np.outer(roots, roots) + without)[0])
        share = max(0.0, smallest * (1.0 - 1e-9) - 1e-12 - 4.0 * self.noise)
        return DistanceForm(FormKind.WEIGHTED_SUM, Differences.SQUARED, share * own)

    def without(self, attributes: Sequence[int]) -> DistanceForm:
        """The distance as it would be if records never differed in these attributes.

        Not for `ORDERED_SUM`, whose parameters belong to ranks.
        """
        gone, parameters = list(attributes), self.parameters.copy()
        if self.kind is FormKind.ORDERED_SUM:
            raise ValueError("an ordered sum has no parameters of attributes")
        if self.kind is FormKind.CHOQUET:
            # Sets of attributes that differ by more than any amount are counted without these.
            subsets = np.arange(parameters.size)
            parameters = parameters[subsets & ~sum(1 << k for k in gone)]
        else:
            parameters[gone] = 0.0
            parameters[..., gone] = 0.0
        return replace(self, parameters=parameters)

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
