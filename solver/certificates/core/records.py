"""The linkage problem of two files, in whole numbers.

A *block* is a record whose true partner is in the other file; its *rivals* are the other candidates. Values
are standardised in double precision, ``(x - mean) / deviation``, with the doubles nearest to the exact
moments. From there on a double is the whole number times a power of two that it is, and nothing is rounded.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from statistics import mean, median, stdev

from .claims import RejectedError, demand
from .problem import Problem

Values = list[float]
"""Of one attribute: NaN where a value is missing, for categories their positions."""

TIE = 36
"""A rival ties up to ``1 + 2**-36`` times the partner's widened attribute distances."""

ROUNDING = 49
"""They are widened by the power of two above ``2**-49`` times the values that go into a difference."""

GRAIN = 18
"""They grow by the square of a grain, or by ``2**-18`` grains where distances are not squares."""

CANCELLATION = 50
"""A quadratic form of n attributes is taken to be off by ``n (n + 2) 2**-50`` times the rival's squares."""

TOLERANCES = {"tie": TIE, "rounding": ROUNDING, "grain": GRAIN, "cancellation": CANCELLATION}
"""As certificates name them, which say ``2**-x``."""


@dataclass(frozen=True)
class Files:
    """Two microdata files, as they are read.

    Attributes
    ----------
    original, masked : list of list of float
        For each attribute of the problem the values of all records (`Values`).
    partner : list of int
        The masked record of each original record, -1 where it is not in the masked file.
    columns : dict of str to (bool, list of str)
        Other columns by name: whether the original file has it, and its cells.
    """

    original: list[Values]
    masked: list[Values]
    partner: list[int]
    columns: dict[str, tuple[bool, list[str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Partner:
    """A block's partner: its attribute distances, and up to which rivals tie (in units of ``2**-TIE``)."""

    distances: list[int]
    tied: list[int]


class Records:
    """The blocks and their candidates.

    Parameters
    ----------
    files : Files
    problem : Problem

    Attributes
    ----------
    rows : list of (int, int)
        The original and the masked record of each block.
    partner : list of int
        The candidate that each block belongs to.
    candidates : int
        How many there are.
    weights : list of Fraction
        What linking each block counts.
    """

    def __init__(self, files: Files, problem: Problem) -> None:
        self.problem = problem
        backwards = problem.direction == "masked-to-original"
        pairs = [(own, other) for own, other in enumerate(files.partner) if other >= 0]
        self.rows = sorted(pairs, key=lambda pair: pair[backwards])
        blocks = [pair[backwards] for pair in self.rows]
        self.partner = [pair[not backwards] for pair in self.rows]
        self._columns = [
            _Attribute(problem, name, files.original[k], files.masked[k], backwards, blocks, self.partner)
            for k, name in enumerate(problem.attributes)
        ]
        self._shift = max(column.shift for column in self._columns)
        for column in self._columns:
            column.scale(self._shift)
        self.candidates = len(files.original[0] if backwards else files.masked[0])
        self._twin = self._twins()
        copies = Counter(self._twin)
        own = _sampling_weights(files, problem, self.rows)
        self.copies = [copies[self._twin[other]] for other in self.partner]
        self.weights = [
            weight / many if problem.share else weight for weight, many in zip(own, self.copies, strict=True)
        ]
        self.total_weight = sum(own, Fraction(0))

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.partner)

    def weight(self, blocks: Iterable[int]) -> Fraction:
        """The weight of some blocks together."""
        return sum((self.weights[block] for block in blocks), Fraction(0))

    def most_within(self, blocks: Iterable[int], bound: Fraction) -> int:
        """Number of blocks that weigh no more than a bound together: the lightest first."""
        return bisect_right(list(accumulate(sorted(self.weights[block] for block in blocks))), bound)

    def _twins(self) -> list[int]:
        """A number for each candidate, the same for those that are equal on every attribute."""
        known: dict[tuple[float | None, ...], int] = {}
        rows = zip(*(column.named_candidates for column in self._columns), strict=True)
        return [known.setdefault(row, len(known)) for row in rows]

    def possible(self, block: int, candidate: int) -> bool:
        """Whether masking can have made the candidate of the block's record."""
        return all(column.difference(block, candidate) is not None for column in self._columns)

    def reachable(self, block: int) -> bool:
        """Whether the block's own partner is possible; otherwise the block is never linked."""
        return self.possible(block, self.partner[block])

    def is_rival(self, block: int, candidate: int) -> bool:
        """Whether the candidate must be farther than the partner for the block to be linked."""
        own = self.partner[block]
        if not 0 <= candidate < self.candidates or candidate == own:
            return False
        if self.problem.share and self._twin[candidate] == self._twin[own]:
            return False
        return self.possible(block, candidate)

    def rivals(self, block: int) -> Iterator[int]:
        """All rivals of a block."""
        return (other for other in range(self.candidates) if self.is_rival(block, other))

    def differences(self, block: int, candidate: int) -> list[int]:
        """Differences to a possible candidate, in a unit common to all."""
        found = [column.difference(block, candidate) for column in self._columns]
        return [value for value in found if value is not None]

    def distances(self, block: int, candidate: int) -> list[int]:
        """Attribute distances c_k to a possible candidate, in a unit common to all."""
        values = self.differences(block, candidate)
        if self.problem.differences == "squared":
            return [value * value for value in values]
        return [abs(value) for value in values] if self.problem.differences == "absolute" else values

    def partner_of(self, block: int, squares: bool) -> Partner:
        """The partner of a block; what ties are squares, or as the attribute distances are."""
        own = self.partner[block]
        widened = [
            abs(value) + column.widths[block]
            for value, column in zip(self.differences(block, own), self._columns, strict=True)
        ]
        grains = [column.grain for column in self._columns]
        if squares or self.problem.differences == "squared":
            widened = [value * value + grain * grain for value, grain in zip(widened, grains, strict=True)]
        else:
            widened = [value + (grain >> GRAIN) for value, grain in zip(widened, grains, strict=True)]
        return Partner(self.distances(block, own), [(value << TIE) + value for value in widened])

    def sizes(self, block: int, candidate: int) -> list[float]:
        """Sizes of the differences as doubles: what orders of attributes compare."""
        return [abs(column.rounded(block, candidate)) for column in self._columns]

    def tied_sizes(self, block: int) -> list[float]:
        """Sizes up to which a rival ties with the partner, as doubles."""
        sizes = self.sizes(block, self.partner[block])
        wide = [
            size + column.rounded_widths[block] for size, column in zip(sizes, self._columns, strict=True)
        ]
        return [size * (1.0 + 2.0**-TIE) for size in wide]


class _Attribute:
    """One attribute of all blocks and candidates.

    Attributes
    ----------
    shift : int
        Everything is a whole number of units of ``2**-shift``.
    rounded_widths : list of float
        By how much rounding may have moved the difference of each block to its partner.
    widths : list of int
        The same, in the units of `scale`.
    grain : int
        A length far below any difference that the attribute shows.
    """

    def __init__(
        self,
        problem: Problem,
        name: str,
        original: Values,
        masked: Values,
        backwards: bool,
        blocks: Sequence[int],
        partner: Sequence[int],
    ) -> None:
        if name in problem.steps:
            original = [_recoded(value, problem.steps[name]) for value in original]
        self._table: list[Values] | None = None
        offset = 0.0
        if name in problem.categories:
            table = _with_unknown(problem.table(name), original, masked, problem.missing)
            self._table = [list(column) for column in zip(*table, strict=True)] if backwards else table
            distances = [value for row in table for value in row if 0.0 < value < math.inf]
            grain = _grain(max(distances), min(distances)) if distances else 0.0
        else:
            original, masked, offset = _standardised(name, original, masked, problem.standardisation)
            grain = _numeric_grain(original, masked, offset)
        queries, candidates = (masked, original) if backwards else (original, masked)
        self._queries, self._candidates = [queries[at] for at in blocks], candidates
        self._missing = (
            None if self._table is not None else _Missing.of(queries, blocks, candidates, problem.missing)
        )
        self.rounded_widths = [0.0] * len(blocks)
        if self._table is None:
            self.rounded_widths = [self._width(block, other, offset) for block, other in enumerate(partner)]
        self._grain = grain
        known = [*self._queries, *candidates, *self.rounded_widths]
        known += [] if self._table is None else [value for row in self._table for value in row]
        known += [] if self._missing is None else self._missing.values()
        finite = [value for value in known if math.isfinite(value)]
        self.shift = max(GRAIN + _digits(grain), *map(_digits, finite))

    def scale(self, shift: int) -> None:
        """Make whole numbers, in units of ``2**-shift``."""
        self._shift = shift
        self.widths = [self._whole(value) for value in self.rounded_widths]
        self.grain = self._whole(self._grain)
        self._exact_queries = [self._whole(value) for value in self._queries]
        self._exact_candidates = [self._whole(value) for value in self._candidates]

    def _whole(self, value: float) -> int:
        if math.isnan(value):
            return 0
        numerator, denominator = value.as_integer_ratio()
        return (numerator << self._shift) // denominator

    def difference(self, block: int, candidate: int) -> int | None:
        """The difference in whole units; None where masking cannot have made this of that."""
        if self._table is not None:
            distance = self._table[int(self._queries[block])][int(self._candidates[candidate])]
            return None if math.isinf(distance) else self._whole(distance)
        if self._lacks(block, candidate):
            return self._whole(self.rounded(block, candidate))
        return self._exact_queries[block] - self._exact_candidates[candidate]

    def rounded(self, block: int, candidate: int) -> float:
        """The difference as a double."""
        query, other = self._queries[block], self._candidates[candidate]
        if self._table is not None:
            return self._table[int(query)][int(other)]
        if self._missing is not None and self._lacks(block, candidate):
            return self._missing.difference(block, candidate)
        return query - other

    def _lacks(self, block: int, candidate: int) -> bool:
        return math.isnan(self._queries[block]) or math.isnan(self._candidates[candidate])

    def _width(self, block: int, candidate: int, offset: float) -> float:
        """The power of two above ``2**-ROUNDING`` times the values of a difference; 0 where these are 0."""
        query, other = abs(self._queries[block]), abs(self._candidates[candidate])
        if self._lacks(block, candidate):
            query = other = abs(self.rounded(block, candidate))
        size = query + other + offset
        return math.ldexp(1.0, math.frexp(2.0**-ROUNDING * size)[1]) if size > 0.0 else 0.0

    @property
    def named_candidates(self) -> list[float | None]:
        """The values of candidates, None where they are missing: such ones equal each other."""
        return [None if math.isnan(value) else value for value in self._candidates]


def _digits(value: float) -> int:
    """The least s of 0 or more for which ``value * 2**s`` is whole."""
    return value.as_integer_ratio()[1].bit_length() - 1


def _sampling_weights(files: Files, problem: Problem, rows: Sequence[tuple[int, int]]) -> list[Fraction]:
    """How many of the population each block stands for; 1 where the fit names no column of weights."""
    if problem.weight is None:
        return [Fraction(1)] * len(rows)
    demand(problem.weight in files.columns, f"weight: neither file has a column {problem.weight!r}")
    of_original, cells = files.columns[problem.weight]
    found = []
    for own, other in rows:
        row = own if of_original else other
        try:
            found.append(Fraction(float(cells[row])))
        except (ValueError, OverflowError):
            raise RejectedError(f"weight: {problem.weight!r}, row {row + 1}, is no number") from None
        demand(found[-1] > 0, f"weight: {problem.weight!r}, row {row + 1}, is not above zero")
    return found


# ---- standardised values


def _standardised(name: str, original: Values, masked: Values, how: str) -> tuple[Values, Values, float]:
    """Both files in units of deviations, and ``|mean| / deviation`` of both added."""
    if how == "none":
        return original, masked, 0.0
    both = [*original, *masked]
    sources = {"own": (original, masked), "original": (original, original), "pooled": (both, both)}[how]
    made, offset = [], 0.0
    for values, source in zip((original, masked), sources, strict=True):
        known = [value for value in source if not math.isnan(value)]
        demand(len(known) > 1, f"{name} has fewer than two values")
        middle, deviation = moments(known)
        demand(0.0 < deviation < math.inf, f"{name} cannot be standardised")
        made.append([(value - middle) / deviation for value in values])
        offset += abs(middle) / deviation
    return made[0], made[1], offset


def moments(values: Sequence[float]) -> tuple[float, float]:
    """The doubles nearest to the mean and to the sample deviation of at least two numbers.

    Python computes both in fractions, and rounds once.
    """
    try:
        return mean(values), stdev(values)
    except OverflowError:
        return 0.0, math.inf


def _numeric_grain(original: Values, masked: Values, offset: float) -> float:
    """``2**-GRAIN`` of the spread about the median, at most a sixteenth of the smallest difference."""
    files = [[value for value in values if not math.isnan(value)] for values in (original, masked)]
    middle = float(median([*files[0], *files[1]]))
    away = [abs(value - middle) for values in files for value in values]
    most = max(away) or 1.0
    total = math.fsum(share * share for share in (value / most for value in away))
    return _grain(most * math.sqrt(total / len(away)), min(_smallest_gap(one, offset) for one in files))


def _smallest_gap(values: Values, offset: float) -> float:
    ascending = sorted(values)
    gaps = (
        above - below
        for below, above in pairwise(ascending)
        if above - below > 2.0**-48 * (abs(above) + abs(below) + offset)
    )
    return min(gaps, default=math.inf)


def _grain(spread: float, gap: float) -> float:
    """The largest power of two within both limits."""
    most = min(2.0**-GRAIN * spread, gap / 16.0)
    return math.ldexp(1.0, math.frexp(most)[1] - 1) if most > 0.0 else 0.0


def _recoded(value: float, steps: Sequence[tuple[float, float | None]]) -> float:
    """An original value as it is compared: what the last step that begins at or below it makes of it."""
    if math.isnan(value):
        return value
    becomes = steps[max(0, bisect_right(steps, value, key=lambda step: step[0]) - 1)][1]
    return value if becomes is None else becomes


# ---- missing values


@dataclass(frozen=True)
class _Range:
    """What a value may be: a known one, or any of a file."""

    mean: float
    deviation: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> _Range:
        middle, deviation = moments(values) if len(values) > 1 else (values[0], 0.0)
        return cls(middle, deviation, min(values), max(values))

    @classmethod
    def only(cls, value: float) -> _Range:
        return cls(value, 0.0, value, value)

    def apart(self, other: _Range, rule: str) -> float:
        """The difference of two values by a rule: nearest, farthest or expected."""
        if math.isnan(self.mean) or math.isnan(other.mean):
            return math.nan
        if rule == "nearest":
            return 0.0
        if rule == "farthest":
            least, most = self.least - other.most, self.most - other.least
            return least if abs(least) >= abs(most) else most
        middle, ours, theirs = self.mean - other.mean, self.deviation, other.deviation
        return math.copysign(math.sqrt(middle * middle + ours * ours + theirs * theirs), middle)


@dataclass(frozen=True)
class _Missing:
    """Differences of a numeric attribute where one of two values is missing, or both are."""

    queries: Values
    candidates: Values
    both: float

    @classmethod
    def of(cls, queries: Values, blocks: Sequence[int], candidates: Values, rule: str) -> _Missing | None:
        """By a rule; None where nothing is missing."""
        ours, theirs = ([one for one in side if not math.isnan(one)] for side in (queries, candidates))
        if len(ours) == len(queries) and len(theirs) == len(candidates):
            return None
        demand(bool(ours and theirs), "an attribute has no value in one of the files")
        mine, other = _Range.of(ours), _Range.of(theirs)
        return cls(
            [_Range.only(queries[at]).apart(other, rule) for at in blocks],
            [mine.apart(_Range.only(value), rule) for value in candidates],
            mine.apart(other, rule),
        )

    def difference(self, block: int, candidate: int) -> float:
        """Of a block to a candidate."""
        if not math.isnan(self.queries[block]):
            return self.queries[block]
        return self.both if math.isnan(self.candidates[candidate]) else self.candidates[candidate]

    def values(self) -> Values:
        """All of them."""
        return [value for value in (*self.queries, *self.candidates, self.both) if not math.isnan(value)]


def _with_unknown(table: list[Values], original: Values, masked: Values, rule: str) -> list[Values]:
    """The table, with a last row and column for missing values where there are any."""
    size = len(table)
    before, after = Counter(map(int, original)), Counter(map(int, masked))
    if not before[size] and not after[size]:
        return table
    rows, columns = [before[at] for at in range(size)], [after[at] for at in range(size)]
    demand(any(rows) and any(columns), "an attribute has no value in one of the files")
    made = [[*row, _to_unknown(row, columns, rule)] for row in table]
    last = [_to_unknown(column, rows, rule) for column in zip(*table, strict=True)]
    everything = [value for row in table for value in row]
    together = [many * often for many in rows for often in columns]
    return [*made, [*last, _to_unknown(everything, together, rule)]]


def _to_unknown(distances: Sequence[float], often: Sequence[int], rule: str) -> float:
    """The distance to a category that is missing, of those that are possible and occur."""
    possible = [(one, many) for one, many in zip(distances, often, strict=True) if one < math.inf]
    if not possible:
        return math.inf
    if rule == "nearest":
        return min(one for one, _ in possible)
    drawn = [(one, many) for one, many in possible if many] or [(one, 1) for one, _ in possible]
    if rule == "farthest":
        return max(one for one, _ in drawn)
    return math.sqrt(math.fsum(many * (one * one) for one, many in drawn) / sum(many for _, many in drawn))
