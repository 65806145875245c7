"""The exact optimum of a tiny pair: whether all blocks of a set can be linked, asked for every set.

Nothing here is shared with the product; a linear program answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, pairwise

import brute_force as plain
import highspy
import numpy as np

from linkrisk.arrays import FloatArray


@dataclass(frozen=True)
class Family:
    """A family of distances, linear in its parameters, with the polytope (or cone) they lie in.

    `features` turns attribute distances into the coefficients of the parameters; ``upper @ x <= limit`` and
    ``equal @ x == value`` with free x is the domain. Where the domain is a cone besides, `cone` gives rows
    that separate x from it (none when x is inside), and the point of the cone at or near x.
    """

    kind: str
    features: Callable[[Sequence[float]], list[float]]
    upper: np.ndarray
    limit: np.ndarray
    equal: np.ndarray
    value: np.ndarray
    cone: Callable[[np.ndarray], tuple[list[np.ndarray], np.ndarray]] | None = None


def _simplex(kind, n, features):
    return Family(kind, features, -np.eye(n), np.zeros(n), np.ones((1, n)), np.ones(1))


def weighted_mean_family(n):
    return _simplex("squared", n, list)


def owa_family(n):
    return _simplex("squared", n, lambda c: sorted(c, reverse=True))


def k_additive_family(n, k):
    """All monotone measures whose Moebius transform vanishes on sets of more than k attributes."""
    sets = plain.subsets(n, k)
    rows = []
    for larger in plain.subsets(n):
        for i in larger:  # mu(larger) - mu(larger without i) >= 0
            gained = [1.0 if b <= larger and i in b else 0.0 for b in sets]
            rows.append([-g for g in gained])
    return Family(
        "squared",
        lambda c: [min(c[k] for k in b) for b in sets],
        np.array(rows),
        np.zeros(len(rows)),
        np.ones((1, len(sets))),
        np.ones(1),
    )


def choquet_family(n):
    """Values mu(A) themselves, monotone for every inclusion (not only those by one attribute)."""
    sets = plain.subsets(n)
    place = {a: at for at, a in enumerate(sets)}

    def features(c):
        row = [0.0] * len(sets)
        order = sorted(range(n), key=lambda k: c[k])
        for at, k in enumerate(order):
            row[place[frozenset(order[at:])]] += c[k] - (c[order[at - 1]] if at else 0.0)
        return row

    rows = [-np.eye(len(sets))]
    for a, b in combinations(sets, 2):
        for small, large in ((a, b), (b, a)):
            if small < large:
                row = np.zeros(len(sets))
                row[place[small]], row[place[large]] = 1.0, -1.0
                rows.append(row[None, :])
    upper = np.vstack(rows)
    whole = np.zeros((1, len(sets)))
    whole[0, place[frozenset(range(n))]] = 1.0
    return Family("squared", features, upper, np.zeros(len(upper)), whole, np.ones(1))


def bilinear_family(n, kind="signed"):
    """Positive semidefinite matrices of trace one: entries within [-1, 1], cut by eigenvectors."""
    cells = [(k, m) for k in range(n) for m in range(k, n)]

    def features(c):
        return [c[k] * c[m] * (1.0 if k == m else 2.0) for k, m in cells]

    def cone(x):
        matrix = np.zeros((n, n))
        for (k, m), value in zip(cells, x, strict=True):
            matrix[k, m] = matrix[m, k] = value
        values, vectors = np.linalg.eigh(matrix)
        rows = [np.array(features(v)) for value, v in zip(values, vectors.T, strict=True) if value < 0.0]
        inside = (vectors * values.clip(0.0)) @ vectors.T
        inside = inside / np.trace(inside)
        return rows, np.array([inside[k, m] for k, m in cells])

    size = len(cells)
    trace = np.array([[1.0 if k == m else 0.0 for k, m in cells]])
    upper = np.vstack([np.eye(size), -np.eye(size)])
    return Family(kind, features, upper, np.ones(2 * size), trace, np.ones(1), cone)


def block_rows(files: plain.Records, family: Family, block):
    """Features of every rival minus those of the partner, in unit length; None when one of them vanishes."""
    c = files.distances(block, family.kind)
    own = np.array(family.features(c[files.partner[block]]))
    rows = []
    for j in files.rivals(block):
        other = np.array(family.features(c[j]))
        row = other - own
        length = math.sqrt(float(row @ row))
        if length <= 1e-11 * (np.abs(other).max() + np.abs(own).max()):
            return None
        rows.append(row / length)
    return np.array(rows).reshape(len(rows), len(own))


def _program(family: Family, rows, cuts):
    """Parameters and the largest t, up to 1, such that they give every row at least t."""
    size = family.equal.shape[1]
    parts = [(family.upper, family.limit, 0.0), (-rows, np.zeros(len(rows)), 1.0)]
    parts.append((-cuts, np.zeros(len(cuts)), 0.0))
    answer = least(
        np.append(np.zeros(size), -1.0),
        upper=(
            np.vstack([np.hstack([a, np.full((len(a), 1), t)]) for a, _, t in parts]),
            np.concatenate([b for _, b, _ in parts]),
        ),
        equal=(np.hstack([family.equal, np.zeros((len(family.equal), 1))]), family.value),
        bounds=(np.full(size + 1, -np.inf), np.append(np.full(size, np.inf), 1.0)),
    )
    return answer.x[:-1], -answer.fun


def linkable(family: Family, rows, margin, cuts: list):
    """Whether some parameters give every row more than `margin`; `cuts`, valid for all, are added to."""
    for _ in range(1000):
        x, widest = _program(family, rows, np.array(cuts).reshape(-1, family.equal.shape[1]))
        if widest <= margin:
            return False
        if family.cone is None:
            return True
        fresh, inside = family.cone(x)
        if (rows @ inside).min() > margin:
            return True
        cuts.extend(fresh)
    raise AssertionError("undecided: the margin lies too near")


def optimum(files: plain.Records, family: Family, margin=1e-9):
    """Largest weight of blocks that some parameters of the family link together, each by `margin`."""
    rows = [block_rows(files, family, block) for block in range(len(files.queries))]
    weights = files.weights
    cuts: list = []
    alone = [
        block
        for block, own in enumerate(rows)
        if own is not None and (len(own) == 0 or linkable(family, own, margin, cuts))
    ]
    chosen = chain.from_iterable(combinations(alone, size) for size in range(len(alone), -1, -1))
    by_weight = sorted(chosen, key=lambda blocks: -sum(weights[block] for block in blocks))
    for blocks in by_weight:
        together = np.vstack([rows[block] for block in blocks]) if blocks else np.empty((0, 0))
        if len(together) == 0 or linkable(family, together, margin, cuts):
            return sum(weights[block] for block in blocks)
    raise AssertionError("the empty set can always be linked")


def overlap_optimum(files: plain.Records, features=list, kind="squared"):
    """Two attributes: each block is an open interval of the first weight; the most that overlap in a point.

    Exact for hundreds of records, and made without any linear program.
    """
    intervals = []
    for block, own in enumerate(files.partner):
        c = [features(x) for x in files.distances(block, kind)]
        low, high = 0.0, 1.0
        for j in files.rivals(block):
            # (1 - p) * second + p * first > 0, closed at the ends of [0, 1]
            first, second = c[j][0] - c[own][0], c[j][1] - c[own][1]
            if abs(first - second) <= 1e-13:
                if second <= 1e-13:
                    low, high = 1.0, 0.0
                continue
            root = -second / (first - second)
            low, high = (max(low, root), high) if first > second else (low, min(high, root))
        if high - low > 1e-9:
            intervals.append((low, high))
    middles = sorted({x for interval in intervals for x in interval})
    points = [(a + b) / 2 for a, b in pairwise(middles) if b - a > 1e-9]
    return max((sum(low < p < high for low, high in intervals) for p in points), default=0)


# Linear programs of a few rows, without the milliseconds that `scipy.optimize.linprog` adds to each


_Status = highspy.HighsModelStatus


@dataclass(frozen=True)
class Least:
    """A smallest point and its cost."""

    x: FloatArray
    fun: float


def least(
    cost: FloatArray,
    upper: tuple[FloatArray, FloatArray],
    equal: tuple[FloatArray, FloatArray],
    bounds: tuple[FloatArray, FloatArray],
) -> Least:
    """Minimise ``cost @ x`` where ``A x <= b``, ``C x == d`` and ``low <= x <= high``.

    Parameters
    ----------
    cost : ndarray of float64, shape (n,)
    upper, equal : tuple of ndarray
        A and b, C and d.
    bounds : tuple of ndarray
        Infinite where there are none.
    """
    matrix = np.vstack([upper[0], equal[0]])
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(cost), len(matrix)
    program.col_cost_, (program.col_lower_, program.col_upper_) = cost, bounds
    program.row_lower_ = np.concatenate([np.full(len(upper[1]), -np.inf), equal[1]])
    program.row_upper_ = np.concatenate([upper[1], equal[1]])
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.arange(len(matrix) + 1, dtype=np.int32) * len(cost)
    program.a_matrix_.index_ = np.tile(np.arange(len(cost), dtype=np.int32), len(matrix))
    program.a_matrix_.value_ = matrix.ravel()
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.passModel(program)
    solver.run()
    assert solver.getModelStatus() == _Status.kOptimal, solver.getModelStatus()
    return Least(np.array(solver.getSolution().col_value), solver.getInfo().objective_function_value)
