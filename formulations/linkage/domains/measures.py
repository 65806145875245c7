"""Polytopes of monotone fuzzy measures: by the values of all subsets, or by Moebius coefficients of some."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.domains.base import DomainRows
from linkrisk.formulations.linkage.domains.exactness import monotone, raised
from linkrisk.formulations.linkage.domains.polytope import Polytope
from linkrisk.formulations.linkage.domains.simplex import sample_simplex
from linkrisk.formulations.linkage.fuzzy_measures import additive_measure, subset_names, symmetric_measure


class Measures(Polytope):
    """All fuzzy measures on some attributes; ``theta[A - 1]`` is mu(A) for the bit mask A.

    Parameters
    ----------
    attributes : tuple of str
        Their names, for those of the rows.
    """

    def __init__(self, attributes: tuple[str, ...]) -> None:
        self.attributes = attributes
        self.dimension = int(2 ** len(attributes) - 1)

    @property
    def names(self) -> tuple[str, ...]:
        """``mu_<attributes of the subset>`` for each entry of ``theta``."""
        return tuple("mu_" + name.replace(",", "+") for name in subset_names(self.attributes))

    @cached_property
    def rows(self) -> DomainRows:
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
        names = self.names
        lower = np.zeros(self.dimension)
        lower[-1] = 1.0
        return DomainRows(
            matrix=matrix,
            row_lower=np.zeros(low.size),
            row_upper=np.full(low.size, np.inf),
            column_lower=lower,
            column_upper=np.ones(self.dimension),
            row_names=tuple(f"monotone_{names[a]}_{names[b]}" for a, b in zip(low, high, strict=True)),
        )

    def repair(self, theta: FloatArray) -> FloatArray:
        """Raise each value to the largest of its subsets, after clipping to [0, 1] and ``mu(V) = 1``."""
        return _normalised(np.concatenate([[0.0], np.clip(theta, 0.0, 1.0)]))[1:]

    def exact(self, theta: FloatArray) -> FloatArray:
        """Monotone, value for value."""
        return monotone(np.concatenate([[0.0], theta]))[1:]

    def sample(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Random measures between an additive one, a symmetric one and one that is only monotone."""
        n = len(self.attributes)
        weights = sample_simplex(count, n, generator)
        orders = sample_simplex(count, n, generator)
        shares = sample_simplex(count, 3, generator)
        free = generator.uniform(size=(count, 2**n)) ** generator.uniform(0.3, 3.0, size=(count, 1))
        points = np.empty((count, self.dimension))
        for at in range(count):
            parts = (additive_measure(weights[at]), symmetric_measure(orders[at]), _normalised(free[at]))
            points[at] = sum(share * part for share, part in zip(shares[at], parts, strict=True))[1:]
        return points


class MoebiusMeasures(Polytope):
    """Fuzzy measures with Moebius coefficients ``theta`` on given subsets, those of one attribute first.

    Parameters
    ----------
    attributes : tuple of str
        Their names, for those of the rows.
    subsets : sequence of tuple of int
        The subsets, as positions of attributes.
    """

    def __init__(self, attributes: tuple[str, ...], subsets: Sequence[tuple[int, ...]]) -> None:
        self.attributes = attributes
        self.masks = [sum(1 << k for k in subset) for subset in subsets]
        self.dimension = len(self.masks)

    @cached_property
    def rows(self) -> DomainRows:
        """Monotone: ``sum of m(B), i in B, B within A`` is non-negative for i in A; the sum of all is 1."""
        n, masks = len(self.attributes), np.array(self.masks)
        sets = np.arange(2**n)
        rows, names = [np.ones((1, masks.size))], ["sum_to_one"]
        for k in range(n):
            holding = sets[(sets >> k) & 1 == 1]
            inside = (masks[None, :] & ~holding[:, None]) == 0
            rows.append((inside & ((masks >> k) & 1 == 1)[None, :]).astype(np.float64))
            names.extend(f"monotone_{self.attributes[k]}_in_{mask:b}" for mask in holding)
        bound = 2.0 ** (np.bitwise_count(masks) - 1)
        count = len(names)
        return DomainRows(
            matrix=sparse.csr_array(np.vstack(rows)),
            row_lower=np.array([1.0] + [0.0] * (count - 1)),
            row_upper=np.array([1.0] + [np.inf] * (count - 1)),
            column_lower=np.where(bound == 1.0, 0.0, -bound),
            column_upper=bound,
            row_names=tuple(names),
        )

    @property
    def _equal(self) -> FloatArray:
        """Equal weights, no interaction."""
        n = len(self.attributes)
        return np.concatenate([np.full(n, 1.0 / n), np.zeros(self.dimension - n)])

    def repair(self, theta: FloatArray) -> FloatArray:
        """Move towards equal weights by the smallest share that satisfies every row."""
        total = float(theta.sum())
        if total <= 0.0:
            return self._equal
        matrix, equal = self.rows.matrix, self._equal
        point = theta / total
        inside, slack = matrix @ equal, matrix @ point
        short = slack < 0.0
        share = float((-slack[short] / (inside[short] - slack[short])).max()) if short.any() else 0.0
        return self.exact(np.asarray(point + share * (equal - point)))

    def exact(self, theta: FloatArray) -> FloatArray:
        """Monotone: coefficients of single attributes are raised where rounding has cost them something."""
        return raised(theta, self.masks, len(self.attributes))

    def sample(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Mixtures of measures that look at the smallest, or at the largest, of a few attributes."""
        masks = np.array(self.masks)
        inside = (masks[:, None] & masks[None, :]) == masks[None, :]
        signs = np.where(np.bitwise_count(masks) % 2 == 1, 1.0, -1.0)
        corners = np.vstack([np.eye(masks.size), inside * signs])
        return np.asarray(sample_simplex(count, len(corners), generator) @ corners)


def _normalised(table: FloatArray) -> FloatArray:
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
