"""Domains of parameters: simplex, polytopes of fuzzy measures, spectrahedron; rows, points and chords.

Engines register what they can do for a type of domain, so an aggregator with one of these needs no engine of
its own. Solvers return points that miss their domain by a rounding, and proofs are about the domain itself:
`exact` moves points inside by no more than that, as rational numbers up to a common factor, which no
comparison sees.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.fuzzy_measures import additive_measure, subset_names, symmetric_measure


@dataclass(frozen=True)
class DomainRows:
    """Linear rows of a domain: ``row_lower <= matrix @ theta <= row_upper`` within column bounds."""

    matrix: sparse.csr_array  # (rows, dimension)
    row_lower: FloatArray  # row_lower, row_upper: (rows,)
    row_upper: FloatArray
    column_lower: FloatArray  # column_lower, column_upper: (dimension,): finite
    column_upper: FloatArray
    row_names: tuple[str, ...]  # what each row says, for model files

    def violation(self, theta: FloatArray) -> float:
        """Largest violation of a row or bound at `theta` (dimension,)."""
        activity = self.matrix @ theta
        parts = (
            self.row_lower - activity,
            activity - self.row_upper,
            self.column_lower - theta,
            theta - self.column_upper,
        )
        return max((float(part.max()) for part in parts if part.size), default=0.0)


class Domain(ABC):
    """A convex set of parameters ``theta`` of shape (dimension,).

    What an engine can do for a domain depends on its type: it looks that up in a registry of its own, from
    the type to those that it is derived from.

    Attributes
    ----------
    dimension : int
        Length of ``theta``.
    """

    dimension: int

    @property
    @abstractmethod
    def rows(self) -> DomainRows:
        """All rows of a polytope; of another domain rows that hold on it, a relaxation."""

    @abstractmethod
    def repair(self, theta: FloatArray) -> FloatArray:
        """The domain's point at or near `theta`: solvers return points that miss it by a rounding."""

    def exact(self, theta: FloatArray) -> FloatArray:
        """`theta` as it is written down: moved by a few roundings, so that it is in the domain exactly.

        That is, as rational numbers and up to a common factor. What is counted of a result, and proved about
        it, is counted for these.
        """
        return theta

    @abstractmethod
    def sample(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Random points, shape (count, dimension), spread over the domain and its extremes."""

    @abstractmethod
    def chord(self, theta: FloatArray, direction: FloatArray) -> tuple[float, float]:
        """Range of t for which ``theta + t * direction`` stays in the domain, `theta` being inside."""

    @abstractmethod
    def cuts(self, theta: FloatArray) -> FloatArray:
        """Rows, shape (any, dimension), non-negative on the domain and negative at `theta`.

        None where `theta` is in the domain, or violates only `rows`.
        """


class Polytope(Domain):
    """A domain that `rows` describe completely.

    A subclass defines `rows`, `repair` and `sample`, and `exact` where rounding could matter.
    """

    def chord(self, theta: FloatArray, direction: FloatArray) -> tuple[float, float]:
        """Where the first row or bound is met in either direction."""
        rows = self.rows
        activity, slope = rows.matrix @ theta, rows.matrix @ direction
        room = [activity - rows.row_lower, rows.row_upper - activity]
        slack = np.concatenate([*room, theta - rows.column_lower, rows.column_upper - theta])
        loss = np.concatenate([-slope, slope, -direction, direction])
        # Rows that the direction follows (a fixed sum) lose nothing but a rounding.
        noise = 1e-12 * np.abs(direction).max(initial=1e-300)
        left = np.clip(slack, 0.0, None)
        forward = np.isfinite(slack) & (loss > noise)
        backward = np.isfinite(slack) & (loss < -noise)
        high = (left[forward] / loss[forward]).min(initial=1e6)
        low = (left[backward] / loss[backward]).max(initial=-1e6)
        return float(low), float(high)

    def cuts(self, theta: FloatArray) -> FloatArray:
        """None: `rows` are complete."""
        del theta
        return np.empty((0, self.dimension))


class Simplex(Polytope):
    """All non-negative weights that sum to one (D11.2, Table 1)."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension

    @cached_property
    def rows(self) -> DomainRows:
        """Non-negative weights that sum to one."""
        return DomainRows(
            matrix=sparse.csr_array(np.ones((1, self.dimension))),
            row_lower=np.ones(1),
            row_upper=np.ones(1),
            column_lower=np.zeros(self.dimension),
            column_upper=np.ones(self.dimension),
            row_names=("sum_to_one",),
        )

    def repair(self, theta: FloatArray) -> FloatArray:
        """Clip and normalise."""
        return on_simplex(theta)

    def exact(self, theta: FloatArray) -> FloatArray:
        """No weight below zero; that the sum is one up to rounding is a common factor."""
        return np.clip(theta, 0.0, None)

    def sample(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Dirichlet draws of several concentrations."""
        return sample_simplex(count, self.dimension, generator)


def on_simplex(theta: FloatArray) -> FloatArray:
    """Clip negative entries and divide by the sum."""
    clipped = np.clip(theta, 0.0, None)
    total = clipped.sum()
    if total <= 0.0:
        return np.full(theta.shape, 1.0 / theta.size)
    return np.asarray(clipped / total)


def sample_simplex(count: int, dimension: int, generator: np.random.Generator) -> FloatArray:
    """Points of the simplex, from its middle to its corners: Dirichlet draws of several concentrations."""
    concentration = generator.choice([0.2, 0.5, 1.0, 3.0], size=count)
    draws = generator.standard_gamma(concentration[:, None], size=(count, dimension)) + 1e-300
    return np.asarray(draws / draws.sum(axis=1, keepdims=True))


class Measures(Polytope):
    """All fuzzy measures on named attributes; ``theta[A - 1]`` is mu(A) for the bit mask A."""

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
    """Fuzzy measures with Moebius coefficients ``theta`` on given subsets, those of one attribute first."""

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
        """Mixtures of measures that depend on the minimum, or the maximum, of a few attributes."""
        masks = np.array(self.masks)
        inside = (masks[:, None] & masks[None, :]) == masks[None, :]
        signs = np.where(np.bitwise_count(masks) % 2 == 1, 1.0, -1.0)
        corners = np.vstack([np.eye(masks.size), inside * signs])
        return np.asarray(sample_simplex(count, len(corners), generator) @ corners)


def _normalised(table: FloatArray) -> FloatArray:
    """The smallest monotone measure above `table`, scaled to ``mu(V) = 1`` and ``mu(empty) = 0``."""
    out = table.copy()
    out[0] = 0.0
    raise_to_subsets(out)
    if out[-1] <= 0.0:
        out[-1] = 1.0
    return np.asarray(np.minimum(out / out[-1], 1.0))


EIGENVALUE_TOLERANCE = 1e-9
"""A matrix of trace one with no eigenvalue below minus this is semidefinite up to rounding."""


class Spectrahedron(Domain):
    """All positive semidefinite matrices M of trace one; ``theta`` is the upper triangle, row by row.

    It is not a polytope, so `rows` are a relaxation: non-negative on every sum and difference of two
    coordinates (``M_kk + M_ll >= 2 |M_kl|``). `cuts` separates what they let through.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.dimension = len(names) * (len(names) + 1) // 2

    @property
    def triangle(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Row and column of each entry of ``theta``."""
        return np.triu_indices(len(self.names))

    def matrix(self, theta: FloatArray) -> FloatArray:
        """The symmetric matrix whose upper triangle is `theta`."""
        n = len(self.names)
        matrix = np.zeros((n, n))
        matrix[self.triangle] = theta
        return np.asarray(matrix + np.triu(matrix, 1).T)

    def theta(self, matrix: FloatArray) -> FloatArray:
        """The upper triangle of the symmetric part of a matrix."""
        return np.asarray(((matrix + matrix.T) / 2)[self.triangle])

    def products(self, x: FloatArray) -> FloatArray:
        """``x_k**2`` on the diagonal, ``2 x_k x_l`` off it, such that ``products @ theta`` is ``x' M x``.

        Shape (..., coordinates) becomes (..., dimension).
        """
        first, second = self.triangle
        return np.asarray(x[..., first] * x[..., second] * np.where(first == second, 1.0, 2.0))

    @cached_property
    def rows(self) -> DomainRows:
        """Trace one, and ``M_kk + M_ll +- 2 M_kl >= 0`` for every pair: a relaxation of semidefiniteness."""
        n, (first, second) = len(self.names), self.triangle
        diagonal = first == second
        position = {(int(k), int(m)): at for at, (k, m) in enumerate(zip(first, second, strict=True))}
        rows: list[FloatArray] = [diagonal.astype(np.float64)]
        names = ["trace_one"]
        for k in range(n):
            for m in range(k + 1, n):
                for sign, word in ((2.0, "plus"), (-2.0, "minus")):
                    row = np.zeros(self.dimension)
                    row[position[k, k]] = row[position[m, m]] = 1.0
                    row[position[k, m]] = sign
                    rows.append(row)
                    names.append(f"nonnegative_{self.names[k]}_{word}_{self.names[m]}")
        return DomainRows(
            matrix=sparse.csr_array(np.vstack(rows)),
            row_lower=np.array([1.0] + [0.0] * (len(rows) - 1)),
            row_upper=np.array([1.0] + [np.inf] * (len(rows) - 1)),
            column_lower=np.where(diagonal, 0.0, -0.5),
            column_upper=np.where(diagonal, 1.0, 0.5),
            row_names=tuple(names),
        )

    def repair(self, theta: FloatArray) -> FloatArray:
        """Lift negative eigenvalues to zero and divide by the trace."""
        values, vectors = np.linalg.eigh(self.matrix(theta))
        # A hair above zero: reassembling the matrix costs a rounding that must not turn it indefinite.
        lifted = np.maximum(values, 1e-14 * max(values[-1], 1e-300)) if values[0] <= 0.0 else values
        matrix = (vectors * lifted) @ vectors.T
        return self.exact(self.theta(matrix / np.trace(matrix)))

    def exact(self, theta: FloatArray) -> FloatArray:
        """Positive semidefinite, entry for entry."""
        return self.theta(semidefinite(self.matrix(theta)))

    def cuts(self, theta: FloatArray) -> FloatArray:
        """``v' M v >= 0`` for each eigenvector v of a negative eigenvalue."""
        values, vectors = np.linalg.eigh(self.matrix(theta))
        return self.products(vectors[:, values < -EIGENVALUE_TOLERANCE].T)

    def sample(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Random semidefinite matrices: Wishart draws with random scales, some nearly diagonal."""
        n = len(self.names)
        scales = np.sqrt(sample_simplex(count, n, generator))
        factors = generator.standard_normal((count, n, n)) * scales[:, :, None]
        wishart = factors @ factors.transpose(0, 2, 1)
        share = generator.uniform(size=(count, 1, 1))
        diagonal = np.einsum("sk,kl->skl", scales**2, np.eye(n))
        matrices = share * wishart + (1 - share) * diagonal
        traces = np.trace(matrices, axis1=1, axis2=2)[:, None, None]
        return np.stack([self.theta(matrix) for matrix in matrices / traces])

    def chord(self, theta: FloatArray, direction: FloatArray) -> tuple[float, float]:
        """Where the matrix stays semidefinite: by the eigenvalues of the direction relative to it."""
        matrix, change = self.matrix(theta), self.matrix(direction)
        matrix = matrix + 1e-12 * np.eye(len(matrix))
        from scipy.linalg import eigh  # which takes long to import, and no other domain uses

        values = eigh(change, matrix, eigvals_only=True)
        low = -1.0 / values[-1] if values[-1] > 1e-6 else -1e6
        high = -1.0 / values[0] if values[0] < -1e-6 else 1e6
        return float(low), float(high)


def monotone(table: FloatArray) -> FloatArray:
    """The smallest monotone set function above `table`, cut at the value of the whole set; by bit mask."""
    out = np.minimum(np.clip(table, 0.0, None), table[-1])
    raise_to_subsets(out)
    return np.asarray(out)


def raise_to_subsets(table: FloatArray) -> None:
    """Raise each value of a set function to the largest of its subsets, in place."""
    for k in range(int(table.size).bit_length() - 1):
        halves = table.reshape(-1, 2, 1 << k)
        np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])


def raised(coefficients: FloatArray, masks: Sequence[int], attributes: int) -> FloatArray:
    """Raise Moebius coefficients of single attributes as far as makes the measure monotone, exactly.

    What attribute k adds to a set is a sum with its own coefficient, and no other single attribute's: it is
    raised by what the least of these sums is short of. `masks` are the subsets, those of one attribute first.
    """
    exact = [Fraction(value) for value in coefficients.tolist()]
    unit = max(value.denominator for value in exact)  # denominators of doubles are powers of two
    table = [0] * (1 << attributes)
    for mask, value in zip(masks, exact, strict=True):
        table[mask] = int(value * unit)
    for k in range(attributes):
        for mask in range(len(table)):
            if mask >> k & 1:
                table[mask] += table[mask ^ 1 << k]
    out = coefficients.copy()
    for k in range(attributes):
        least = min(table[mask] - table[mask ^ 1 << k] for mask in range(len(table)) if mask >> k & 1)
        if least < 0:
            out[k] = _rounded_up(exact[k] - Fraction(least, unit))
    return out


def semidefinite(matrix: FloatArray) -> FloatArray:
    """A symmetric matrix with its diagonal raised by as little as makes it positive semidefinite exactly."""
    step = math.ldexp(float(np.trace(matrix)), -52)
    shift = 0.0
    while True:
        lifted = matrix + shift * np.eye(len(matrix))
        if is_semidefinite(lifted):
            return np.asarray(lifted)
        shift = max(step, 2.0 * shift)


def is_semidefinite(matrix: FloatArray) -> bool:
    """Whether ``x' M x >= 0`` for all x, in integers: fraction-free elimination (Bareiss 1968)."""
    exact = [[Fraction(value) for value in row] for row in matrix.tolist()]
    unit = max(value.denominator for row in exact for value in row)
    rest = [[int(value * unit) for value in row] for row in exact]
    before = 1
    for k in range(len(rest)):
        pivot = rest[k][k]
        if pivot < 0 or (pivot == 0 and any(rest[k][k:])):
            return False
        if pivot > 0:
            for i in range(k + 1, len(rest)):
                for j in range(i, len(rest)):
                    rest[i][j] = (rest[i][j] * pivot - rest[k][i] * rest[k][j]) // before
            before = pivot
    return True


def _rounded_up(value: Fraction) -> float:
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
