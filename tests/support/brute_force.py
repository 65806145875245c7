"""The mathematics once more, slowly and by definition: nothing here is shared with the product.

Records are compared one by one, and aggregators follow their textbook definitions. The exact optimum of a
tiny pair is in `brute_optimum.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, combinations, pairwise

import numpy as np

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


@cache
def _moments(values):
    mean = math.fsum(values) / len(values)
    return mean, math.fsum((x - mean) ** 2 for x in values) / (len(values) - 1)


def apart(a, b, known, rule):
    """Difference of two values, either of which may be missing; `known` are those of both files."""
    if not math.isnan(a - b):
        return a - b
    if rule == "nearest":
        return 0.0
    lists = [own if math.isnan(x) else (x,) for x, own in zip((a, b), known, strict=True)]
    if rule == "farthest":
        return max((x - y for x in lists[0] for y in lists[1]), key=lambda d: (abs(d), -d))
    means, variances = zip(*(_moments(own) if len(own) > 1 else (own[0], 0.0) for own in lists), strict=True)
    middle = means[0] - means[1]
    return math.copysign(math.sqrt(middle**2 + sum(variances)), middle)


def compare(first, second, kind="squared", known=None, rule="expected"):
    """Attribute distances of two standardised records; `known` are the values of both files, by attribute."""
    differences = [
        apart(float(a), float(b), known and known[k], rule)
        for k, (a, b) in enumerate(zip(first, second, strict=True))
    ]
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
    sampling: Sequence[float] | None = None
    rule: str = "expected"

    @cached_property
    def known(self):
        """By attribute, the values of queries and of candidates that are not missing."""
        return [
            [tuple(x for x in column if not math.isnan(x)) for column in columns]
            for columns in zip(self.queries.T.tolist(), self.candidates.T.tolist(), strict=True)
        ]

    @cached_property
    def _found(self):
        return {}

    def rounding(self, block):
        """The power of two above 16 units in the last place of all that the partner's differences are of."""
        own = self.candidates[self.partner[block]]
        offset = np.zeros(len(own)) if self.offset is None else self.offset
        distance = self.distances(block, "absolute")[self.partner[block]]
        sizes = [
            (2 * d if math.isnan(a + b) else abs(float(a)) + abs(float(b))) + float(more)
            for a, b, d, more in zip(self.queries[block], own, distance, offset, strict=True)
        ]
        return [math.ldexp(1.0, math.frexp(ROUNDING * size)[1]) if size else 0.0 for size in sizes]

    def tied(self, block, kind):
        """Attribute distances up to which a rival ties with the partner."""
        if ("tied", block, kind) not in self._found:
            self._found["tied", block, kind] = self._tied(block, kind)
        return self._found["tied", block, kind]

    def _tied(self, block, kind):
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
        """Attribute distances to every candidate; looked at again and again, so kept."""
        if (block, kind) not in self._found:
            self._found[block, kind] = [
                compare(self.queries[block], candidate, kind, self.known, self.rule)
                for candidate in self.candidates
            ]
        return self._found[block, kind]

    def twins(self, block):
        own = self.candidates[self.partner[block]]
        return [j for j, each in enumerate(self.candidates) if np.array_equal(each, own, equal_nan=True)]

    def rivals(self, block):
        excluded = self.twins(block) if self.share else [self.partner[block]]
        return [j for j in range(len(self.candidates)) if j not in excluded]

    def weight(self, block):
        own = 1.0 if self.sampling is None else self.sampling[block]
        return own / len(self.twins(block)) if self.share else own

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


def of_pair(pair, rule="expected"):
    """The records of a pair that the product has made: its standardised values are taken over.

    Where values are missing, all queries must have a partner.
    """
    share, partner = pair.ties == "share", pair.partner.tolist()
    return Records(pair.queries, pair.candidates, partner, share, pair.offset, pair.grains, rule=rule)


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
