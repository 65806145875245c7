"""Choquet integral over an unconstrained fuzzy measure (D11.2, DBRLCI)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.aggregators.base import Aggregator, Domain, FloatArray, Lift, named_values
from linkrisk.formulations.linkage.aggregators.exact_domains import monotone
from linkrisk.formulations.linkage.aggregators.owa import OrderedWeightedAverage
from linkrisk.formulations.linkage.aggregators.simplex import on_simplex, sample_simplex
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.fuzzy_measures import (
    additive_measure,
    interaction_indices,
    moebius,
    shapley_values,
    subset_names,
    symmetric_measure,
)

MOST_ATTRIBUTES = 12
"""An unconstrained measure on more attributes has more subsets than a model can hold."""


class Choquet(Aggregator):
    """The Choquet integral of attribute distances; ``theta[A - 1]`` is mu(A) for the bit mask A.

    The measure is unconstrained: all ``2**n - 1`` non-empty subsets, monotone, ``mu(V) = 1``.
    """

    name: ClassVar[str] = "choquet"

    def __init__(self, attributes: tuple[str, ...], differences: Differences | str | None = None) -> None:
        super().__init__(attributes, differences)
        n = len(self.attributes)
        if n > MOST_ATTRIBUTES:
            raise FormulationError(
                f"a fuzzy measure on {n} attributes has {2**n - 1:,} non-empty subsets; at most "
                f"{MOST_ATTRIBUTES} attributes are possible: choose fewer with --attributes, or take "
                "--k-additive 2"
            )

    @property
    def dimension(self) -> int:
        """One value per non-empty subset."""
        return int(2 ** len(self.attributes) - 1)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """``mu_<attributes of the subset>``."""
        return tuple("mu_" + name.replace(",", "+") for name in subset_names(self.attributes))

    def features(self, c: FloatArray) -> sparse.csr_array:
        """``c_s(i) - c_s(i-1)`` at the subset ``A_s(i)`` of the attributes that are at least ``c_s(i)``."""
        rows, n = c.shape
        order = np.argsort(c, axis=1, kind="stable")
        steps = np.diff(np.take_along_axis(c, order, axis=1), axis=1, prepend=0.0)
        subsets = np.cumsum(np.left_shift(1, order)[:, ::-1], axis=1)[:, ::-1]
        where = (np.repeat(np.arange(rows), n), (subsets - 1).ravel())
        matrix = sparse.coo_array((steps.ravel(), where), shape=(rows, self.dimension)).tocsr()
        matrix.eliminate_zeros()
        return matrix

    def domain(self) -> Domain:
        """``mu(A + i) >= mu(A)`` for every subset A and attribute i outside it, ``mu(V) = 1``."""
        n = len(self.attributes)
        subsets = np.arange(1, 2**n)
        smaller, larger = [], []
        for k in range(n):
            without = subsets[(subsets >> k) & 1 == 0]
            smaller.append(without)
            larger.append(without | (1 << k))
        low, high = np.concatenate(smaller) - 1, np.concatenate(larger) - 1
        rows = np.arange(low.size)
        matrix = sparse.coo_array(
            (
                np.concatenate([np.ones(low.size), -np.ones(low.size)]),
                (np.concatenate([rows, rows]), np.concatenate([high, low])),
            ),
            shape=(low.size, self.dimension),
        ).tocsr()
        names = self.parameter_names
        lower = np.zeros(self.dimension)
        lower[-1] = 1.0
        return Domain(
            matrix=matrix,
            row_lower=np.zeros(low.size),
            row_upper=np.full(low.size, np.inf),
            column_lower=lower,
            column_upper=np.ones(self.dimension),
            row_names=tuple(f"monotone_{names[a]}_{names[b]}" for a, b in zip(low, high, strict=True)),
        )

    def measure(self, theta: FloatArray) -> FloatArray:
        """The measure as a table of ``2**n`` values indexed by bit mask."""
        return np.concatenate([[0.0], theta])

    def form(self, theta: FloatArray) -> DistanceForm:
        """A Choquet integral; ``mu({k}) c_k`` bounds it from below."""
        table = self.measure(theta)
        floor = table[1 << np.arange(len(self.attributes))]
        return DistanceForm(FormKind.CHOQUET, self.differences, table, floor)

    def decode(self, theta: FloatArray) -> dict[str, Any]:
        """``{"measure": {attributes joined by commas: mu}}`` for every non-empty subset."""
        return {"measure": dict(zip(subset_names(self.attributes), theta.tolist(), strict=True))}

    def encode(self, parameters: Mapping[str, Any]) -> FloatArray:
        """Read ``{"measure": {...}}``."""
        return self.admit(
            named_values(parameters, "measure", tuple(subset_names(self.attributes)), self.name)
        )

    def repair(self, theta: FloatArray) -> FloatArray:
        """Raise each value to the largest of its subsets, after clipping to [0, 1] and ``mu(V) = 1``."""
        return _monotone(self.measure(np.clip(theta, 0.0, 1.0)))[1:]

    def exact(self, theta: FloatArray) -> FloatArray:
        """Monotone, value for value."""
        return monotone(self.measure(theta))[1:]

    def equal(self) -> FloatArray:
        """The additive measure with equal weights: the arithmetic mean."""
        return self.lift(np.full(len(self.attributes), 1.0 / len(self.attributes)))

    def sample(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Random measures between an additive one, a symmetric one and one that is only monotone."""
        n = len(self.attributes)
        weights = sample_simplex(count, n, generator)
        orders = sample_simplex(count, n, generator)
        shares = sample_simplex(count, 3, generator)
        free = generator.uniform(size=(count, 2**n)) ** generator.uniform(0.3, 3.0, size=(count, 1))
        points = np.empty((count, self.dimension))
        for at in range(count):
            parts = (additive_measure(weights[at]), symmetric_measure(orders[at]), _monotone(free[at]))
            points[at] = sum(share * part for share, part in zip(shares[at], parts, strict=True))[1:]
        return points

    def relative(self) -> tuple[WeightedMean, Lift]:
        """The weighted mean: the integrals over additive measures."""
        return WeightedMean(self.attributes, self.differences), self.lift

    def lift(self, theta: FloatArray) -> FloatArray:
        """The additive measure of the weights."""
        return self.repair(additive_measure(theta)[1:])

    def lift_from(self, other: Aggregator) -> Lift | None:
        """The weighted mean, and the OWA: the integrals over symmetric measures."""
        if isinstance(other, OrderedWeightedAverage) and other.differences is self.differences:
            return lambda theta: self.repair(symmetric_measure(on_simplex(theta))[1:])
        return super().lift_from(other)

    def importance(self, theta: FloatArray) -> dict[str, float]:
        """Shapley value of each attribute; they sum to one."""
        shapley = shapley_values(self.measure(theta))
        return dict(zip(self.attributes, shapley.tolist(), strict=True))

    def interaction(self, theta: FloatArray) -> list[list[float]]:
        """Pairwise interaction indices (Murofushi and Soneda 1993)."""
        indices: list[list[float]] = interaction_indices(self.measure(theta)).tolist()
        return indices

    def moebius(self, theta: FloatArray) -> FloatArray:
        """Moebius transform of the measure."""
        return moebius(self.measure(theta))


def _monotone(table: FloatArray) -> FloatArray:
    """The smallest monotone measure above `table`, scaled to ``mu(V) = 1`` and ``mu(empty) = 0``."""
    out = table.copy()
    out[0] = 0.0
    n = int(out.size).bit_length() - 1
    for k in range(n):
        halves = out.reshape(-1, 2, 1 << k)
        np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])
    if out[-1] <= 0.0:
        out[-1] = 1.0
    return np.asarray(np.minimum(out / out[-1], 1.0))
