"""The mathematics once more, slowly and by definition: nothing here is shared with the product.

Records are compared one by one, aggregators follow their textbook definitions, and the exact optimum of
a tiny pair is found by asking a linear program for every set of blocks whether all of them can be linked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, pairwise

import numpy as np
from scipy.optimize import linprog

TIE = 2.0**-36
ROUNDING = 2.0**-49
GRAIN = 2.0**-18
CANCELLATION = 2.0**-50

Distance = Callable[[Sequence[float]], float]


# ---------------------------------------------------------------- records and their attribute distances


def standardised(values, moments_of=None):
    """Every column minus its mean, divided by its sample standard deviation (denominator n - 1)."""
    source = np.asarray(values if moments_of is None else moments_of, dtype=float)
    columns = []
    for k in range(source.shape[1]):
        column = source[:, k].tolist()
        mean = math.fsum(column) / len(column)
        deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in column) / (len(column) - 1))
        columns.append([(float(x) - mean) / deviation for x in np.asarray(values)[:, k]])
    return np.array(columns).T


def offset(values):
    """How many deviations the mean of each column is from zero."""
    columns = np.asarray(values, dtype=float).T.tolist()
    means = [math.fsum(column) / len(column) for column in columns]
    squares = [math.fsum((x - mean) ** 2 for x in own) for own, mean in zip(columns, means, strict=True)]
    return [
        abs(mean) / math.sqrt(square / (len(column) - 1))
        for column, mean, square in zip(columns, means, squares, strict=True)
    ]


def grains(first, second, offsets):
    """Powers of two below both 2**-18 times the spread and a sixteenth of the smallest gap of a file."""
    lengths = []
    for k, more in enumerate(offsets):
        columns = [sorted(float(x) for x in values[:, k]) for values in (first, second)]
        pairs = [pair for column in columns for pair in pairwise(column)]
        gaps = [b - a for a, b in pairs if b - a > 2.0**-48 * (abs(a) + abs(b) + more)]
        both = sorted(columns[0] + columns[1])
        middle = (both[(len(both) - 1) // 2] + both[len(both) // 2]) / 2
        spread = math.sqrt(math.fsum((x - middle) ** 2 for x in both) / len(both))
        lengths.append(power_below(min([GRAIN * spread, *(gap / 16 for gap in gaps)])))
    return lengths


def power_below(value):
    return 2.0 ** math.floor(math.log2(value)) if value else 0.0


def compare(first, second, kind="squared"):
    """Attribute distances of two standardised records."""
    differences = [float(a) - float(b) for a, b in zip(first, second, strict=True)]
    if kind == "squared":
        return [z * z for z in differences]
    return [abs(z) for z in differences] if kind == "absolute" else differences


@dataclass(frozen=True)
class Records:
    """Queries, candidates and the candidate that each query belongs to."""

    queries: np.ndarray
    candidates: np.ndarray
    partner: list[int]
    share: bool = False
    offset: Sequence[float] | None = None
    lengths: Sequence[float] | None = None

    def rounding(self, block):
        """The power of two above 16 units in the last place of all that the partner's differences are of."""
        own = self.candidates[self.partner[block]]
        offset = np.zeros(len(own)) if self.offset is None else self.offset
        sizes = [
            abs(float(a)) + abs(float(b)) + float(more)
            for a, b, more in zip(self.queries[block], own, offset, strict=True)
        ]
        return [math.ldexp(1.0, math.frexp(ROUNDING * size)[1]) if size else 0.0 for size in sizes]

    def tied(self, block, kind):
        """Attribute distances up to which a rival ties with the partner."""
        own = self.distances(block, "absolute")[self.partner[block]]
        wide = [d + moved for d, moved in zip(own, self.rounding(block), strict=True)]
        if kind == "squared":
            return [(w * w + g * g) * (1.0 + TIE) for w, g in zip(wide, self.grains, strict=True)]
        return [(w + GRAIN * g) * (1.0 + TIE) for w, g in zip(wide, self.grains, strict=True)]

    @property
    def grains(self):
        """Lengths far below any difference that the attributes show."""
        return [0.0] * len(self.queries[0]) if self.lengths is None else self.lengths

    def distances(self, block, kind):
        return [compare(self.queries[block], candidate, kind) for candidate in self.candidates]

    def twins(self, block):
        own = self.candidates[self.partner[block]]
        return [j for j, candidate in enumerate(self.candidates) if (candidate == own).all()]

    def rivals(self, block):
        excluded = self.twins(block) if self.share else [self.partner[block]]
        return [j for j in range(len(self.candidates)) if j not in excluded]

    def weight(self, block):
        return 1.0 / len(self.twins(block)) if self.share else 1.0

    @property
    def weights(self):
        return [self.weight(block) for block in range(len(self.queries))]


def records(original, masked, direction="original-to-masked", share=False, partner=None):
    """Set up the linkage of two files, each standardised by its own moments."""
    first, second = standardised(original), standardised(masked)
    pairs = [(i, i if partner is None else partner[i]) for i in range(len(first))]
    pairs = [(i, j) for i, j in pairs if j >= 0]
    if direction == "masked-to-original":
        first, second = second, first
        pairs = sorted((j, i) for i, j in pairs)
    both = [sum(pair) for pair in zip(offset(original), offset(masked), strict=True)]
    return Records(
        first[[i for i, _ in pairs]], second, [j for _, j in pairs], share, both, grains(first, second, both)
    )


def of_pair(pair):
    """The records of a pair that the product has made: its standardised values are taken over."""
    return Records(
        pair.queries, pair.candidates, pair.partner.tolist(), pair.ties == "share", pair.offset, pair.grains
    )


# ---------------------------------------------------------------- aggregators by definition


def subsets(n, most=None):
    """All non-empty sets of attributes with at most `most` members."""
    sizes = range(1, (n if most is None else min(most, n)) + 1)
    return [frozenset(s) for s in chain.from_iterable(combinations(range(n), size) for size in sizes)]


def weighted_mean(c, weights):
    return math.fsum(w * x for w, x in zip(weights, c, strict=True))


def owa(c, weights):
    return math.fsum(w * x for w, x in zip(weights, sorted(c, reverse=True), strict=True))


def choquet(c, measure):
    """The sum over i of (c_s(i) - c_s(i-1)) mu({s(i), ..., s(n)}); `measure` maps frozensets to numbers."""
    order = sorted(range(len(c)), key=lambda k: c[k])
    total, before = [], 0.0
    for at, k in enumerate(order):
        total.append((c[k] - before) * measure[frozenset(order[at:])])
        before = c[k]
    return math.fsum(total)


def choquet_of_moebius(c, moebius):
    return math.fsum(value * min(c[k] for k in subset) for subset, value in moebius.items())


def measure_of_moebius(moebius, n):
    """mu(A) is the sum of m(B) over the subsets B of A."""
    return {a: math.fsum(value for b, value in moebius.items() if b <= a) for a in subsets(n)}


@dataclass(frozen=True)
class Bilinear:
    """``c' M c``, the terms of which can cancel: a tie covers what rounding may leave of them."""

    matrix: Sequence[Sequence[float]]

    def __call__(self, c):
        n = len(c)
        return math.fsum(c[k] * self.matrix[k][m] * c[m] for k in range(n) for m in range(n))

    def slack(self, partner, tied, rival):
        n, diagonal = len(partner), [row[k] for k, row in enumerate(self.matrix)]
        widened = math.fsum(m * (t - x * x) for m, t, x in zip(diagonal, tied, partner, strict=True))
        return widened + CANCELLATION * n * (n + 2) * math.fsum(
            m * y * y for m, y in zip(diagonal, rival, strict=True)
        )


def slack(files, block, distance, kind, rival):
    """By how much a rival at these attribute distances must be farther than the partner."""
    partner = files.distances(block, kind)[files.partner[block]]
    if isinstance(distance, Bilinear):
        return distance.slack(partner, files.tied(block, "squared"), rival)
    return distance(files.tied(block, kind)) - distance(partner)


# ---------------------------------------------------------------- counting


@dataclass(frozen=True)
class Outcome:
    linked: list[bool]
    rank: list[int]
    ties: list[int]
    distance: list[float]
    nearest_other: list[float]


def outcome(files: Records, distance: Distance, kind="squared"):
    """Settle every block by looking at every candidate."""
    columns = []
    for block, own in enumerate(files.partner):
        c = files.distances(block, kind)
        mine = distance(c[own])
        rivals = files.rivals(block)
        others = [distance(c[j]) for j in rivals]
        room = [slack(files, block, distance, kind, c[j]) for j in rivals]
        tied = [abs(x - mine) <= s for x, s in zip(others, room, strict=True)]
        nearer = sum(x < mine and not tie for x, tie in zip(others, tied, strict=True))
        linked = nearer == 0 and not any(tied)
        columns.append((linked, 1 + nearer, sum(tied), mine, min(others, default=math.inf)))
    return Outcome(*(list(column) for column in zip(*columns, strict=True)))


# ---------------------------------------------------------------- the exact optimum of tiny pairs


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
    sets = subsets(n, k)
    rows = []
    for larger in subsets(n):
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
    sets = subsets(n)
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


def block_rows(files: Records, family: Family, block):
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
    answer = linprog(
        np.append(np.zeros(size), -1.0),
        A_ub=np.vstack([np.hstack([a, np.full((len(a), 1), t)]) for a, _, t in parts]),
        b_ub=np.concatenate([b for _, b, _ in parts]),
        A_eq=np.hstack([family.equal, np.zeros((len(family.equal), 1))]),
        b_eq=family.value,
        bounds=[(None, None)] * size + [(None, 1.0)],
        method="highs",
    )
    assert answer.status == 0, answer.message
    return answer.x[:-1], -float(answer.fun)


def widest_margin(family: Family, rows):
    """The largest t of a polytope."""
    assert family.cone is None
    return _program(family, rows, np.empty((0, family.equal.shape[1])))[1]


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


def optimum(files: Records, family: Family, margin=1e-9):
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


def overlap_optimum(files: Records, features=list, kind="squared"):
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
