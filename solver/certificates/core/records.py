"""States the linkage problem of two files in integers.

A *block* is a record whose true partner is in the other file; its *rivals* are the other candidates. Values
are standardised in double precision, ``(x - mean) / deviation``, with the doubles nearest to the exact
moments. From there on each double is an integer times a power of two, and nothing is rounded.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, chain, pairwise
from statistics import mean, median, stdev
from typing import ClassVar, NamedTuple

from .claims import Problem, RejectedError, demand

Values = Sequence[float]  # of one attribute: NaN for missing values, positions for categories

# A rival ties up to ``1 + 2**-TIE`` times the partner's attribute distances, of differences that are widened
# by the power of two above ``2**-ROUNDING`` times the values that go into them. Distances grow besides by the
# square of a grain, or by ``2**-GRAIN`` grains where they are not squares. A quadratic form of n attributes
# is taken to be off by ``n (n + 2) 2**-CANCELLATION`` times the rival's squares.
SHIFTS = {"tie": 36, "rounding": 49, "grain": 18, "cancellation": 50}
TIE, ROUNDING, GRAIN, CANCELLATION = SHIFTS.values()
TOLERANCES = {name: 2.0**-shift for name, shift in SHIFTS.items()}

SAME = 2.0**-48  # values of one file are the same within this share of their size


@dataclass(frozen=True)
class Files:
    """Two microdata files: the values of all records by attribute, and other columns.

    `partner` is the masked record of each original record, -1 if it is not in the masked file. Other columns
    by name: whether the original file has it, and its cells.
    """

    original: Sequence[Values]
    masked: Sequence[Values]
    partner: Sequence[int]
    columns: Mapping[str, tuple[bool, Sequence[str]]] = field(default_factory=dict)


class Partner(NamedTuple):
    """Partner of a block: its attribute distances, and the ties (in units of ``2**-TIE``)."""

    distances: list[int]
    tied: list[int]


def exact(value: float, shift: int) -> int:
    """Return a double as an integer number of units of ``2**-shift``."""
    numerator, denominator = value.as_integer_ratio()
    return (numerator << shift) // denominator


class Attribute:
    """Standardised values of one attribute, or positions of categories, of blocks (`queries`) and candidates.

    `table` has distances of a query's category (rows) to a candidate's, inf if it cannot be masked to that.
    `missing`, if values are missing: the difference of each block to a missing value, of a missing value to
    each candidate, and of two missing values. `widths`: bounds on the rounding error of the difference of
    each block to its partner, 0 for categories. `grain`: a length far below all differences of the attribute.
    `offset`: sum of ``|mean| / deviation`` over both files. All are multiples of ``2**-shift``.
    """

    def __init__(
        self, problem: Problem, name: str, files: list[Values], blocks: Sequence[int], partner: Sequence[int]
    ) -> None:
        if name in problem.steps:
            files = [[_recoded(value, problem.steps[name]) for value in files[0]], files[1]]
        backwards = problem.direction == "masked-to-original"
        self.table: list[list[float]] | None = None
        self.missing: tuple[Values, Values, float] | None = None
        self.offset = 0.0
        if name in problem.categories:
            table = _with_unknown(problem.table(name), files, problem.missing)
            self.table = [list(column) for column in zip(*table, strict=True)] if backwards else table
            apart = [value for row in table for value in row if 0.0 < value < math.inf]
            self.grain = grain_of(max(apart, default=0.0), min(apart, default=math.inf))
        else:
            files = self.standardised(files, problem.standardisation, name)
            self.grain = self.numeric_grain(files)
        queries, self.candidates = files[::-1] if backwards else files
        self.queries = self.chosen(queries, blocks)
        if self.table is None:
            self.missing = _to_missing(queries, self.queries, self.candidates, problem.missing)
        self.widths = self.all_widths(partner)
        self.shift = max(GRAIN + _digits([self.grain]), self.digits())

    def difference(self, block: int, candidate: int, shift: int) -> int:
        """Return the exact difference to a possible candidate."""
        query, other = self.queries[block], self.candidates[candidate]
        if self.table is None and query == query and other == other:
            return exact(query, shift) - exact(other, shift)
        return exact(self.rounded(block, candidate), shift)

    def rounded(self, block: int, candidate: int) -> float:
        """Return the difference as a double; inf if masking cannot lead to this candidate."""
        query, other = self.queries[block], self.candidates[candidate]
        if self.table is not None:
            return self.table[int(query)][int(other)]
        if self.missing is None or (query == query and other == other):
            return query - other
        to_missing, from_missing, both = self.missing
        return to_missing[block] if query == query else from_missing[candidate] if other == other else both

    def width(self, block: int, other: int) -> float:
        """Return the power of two above ``2**-ROUNDING`` times the values that enter a difference."""
        size = abs(self.queries[block]) + abs(self.candidates[other]) + self.offset
        if size != size:
            away = abs(self.rounded(block, other))
            size = away + away + self.offset
        share = 2.0**-ROUNDING * size
        return math.ldexp(1.0, math.frexp(share)[1]) if share > 0.0 else 0.0

    # ---- slow on large files

    def chosen(self, values: Values, blocks: Sequence[int]) -> Values:
        """Return the values of blocks."""
        return [values[at] for at in blocks]

    def standardised(self, files: list[Values], how: str, name: str) -> list[Values]:
        """Standardise both files."""
        both, made = [*files[0], *files[1]], []
        whose: dict[str, list[Values]] = {"own": files, "original": [files[0]] * 2, "pooled": [both] * 2}
        for values, source in zip(files, whose.get(how, []), strict=False):
            known = [value for value in source if value == value]
            demand(len(known) > 1, f"{name} has fewer than two values")
            middle, deviation = moments(known)
            demand(0.0 < deviation < math.inf, f"{name} cannot be standardised")
            made.append([(value - middle) / deviation for value in values])
            self.offset += abs(middle) / deviation
        return [*made] or files

    def numeric_grain(self, files: list[Values]) -> float:
        """Return ``2**-GRAIN`` of the spread, at most a sixteenth of the smallest difference."""
        known = [sorted(value for value in values if value == value) for values in files]
        middle = float(median(chain(*known)))
        away = [abs(value - middle) for values in known for value in values]
        most = max(away) or 1.0
        total = math.fsum(share * share for share in (value / most for value in away))
        gaps = (
            above - below
            for values in known
            for below, above in pairwise(values)
            if above - below > SAME * (abs(above) + abs(below) + self.offset)
        )
        return grain_of(most * math.sqrt(total / len(away)), min(gaps, default=math.inf))

    def all_widths(self, partner: Sequence[int]) -> Values:
        """Return the width of the difference of each block to its partner."""
        return [0.0 if self.table else self.width(block, other) for block, other in enumerate(partner)]

    def digits(self) -> int:
        """Return the least s >= 0 for which all values and differences times ``2**s`` are integral."""
        to_missing, from_missing, both = self.missing or ((), (), 0.0)
        known = chain(self.queries, self.candidates, self.widths, to_missing, from_missing, [both])
        return _digits(value for value in chain(known, *(self.table or ())) if math.isfinite(value))


class Records:
    """Blocks and their candidates, with exact numbers computed on demand.

    `original` and `masked` are the rows of each block in the two files, `partner` is its candidate.
    Differences are integers in units of ``2**-shift``.
    """

    attribute: ClassVar[type[Attribute]] = Attribute

    def __init__(self, files: Files, problem: Problem) -> None:
        self.problem = problem
        backwards = problem.direction == "masked-to-original"
        own = [at for at, other in enumerate(files.partner) if other >= 0]
        if backwards:
            own.sort(key=files.partner.__getitem__)
        self.original, self.masked = own, [files.partner[at] for at in own]
        blocks, self.partner = (self.masked, self.original) if backwards else (self.original, self.masked)
        sides = zip(problem.attributes, files.original, files.masked, strict=True)
        self.attributes = [self.attribute(problem, name, pair, blocks, self.partner) for name, *pair in sides]
        self.shift = max(one.shift for one in self.attributes)
        self.blocks, self.candidates = len(self.partner), len(self.attributes[0].candidates)
        self._columns = files.columns
        self.sampling = None if problem.weight is None else self._sampling_weights(problem.weight)

    def column(self, name: str, what: str) -> list[tuple[str, str]]:
        """Return the places and cells of blocks in a column, from the original file if possible."""
        demand(name in self._columns, f"{what}: neither file has a column {name!r}")
        of_original, cells = self._columns[name]
        file, rows = ("original", self.original) if of_original else ("masked", self.masked)
        return [(f"{what}: {name!r}, row {row + 1} of the {file} file", cells[row]) for row in rows]

    # ---- weights

    def _sampling_weights(self, name: str) -> list[float]:
        """Read the sampling weight of each block."""
        found = []
        for place, cell in self.column(name, "weight"):
            try:
                found.append(float(cell))
            except ValueError:
                raise RejectedError(f"{place}, is no number") from None
            demand(0.0 < found[-1] < math.inf, f"{place}, is not above zero")
        return found

    @cached_property
    def weights(self) -> tuple[list[int], int]:
        """Return the weight of each block, as an integer divided by the second number."""
        copies = self.copies if self.problem.share else [1] * self.blocks
        own = [1.0] * self.blocks if self.sampling is None else self.sampling
        exact = [Fraction(weight) / many for weight, many in zip(own, copies, strict=True)]
        unit = math.lcm(*{weight.denominator for weight in exact})
        return [int(weight * unit) for weight in exact], unit

    def weight(self, blocks: Iterable[int]) -> Fraction:
        """Return the total weight of some blocks."""
        numbers, unit = self.weights
        return Fraction(sum(numbers[block] for block in blocks), unit)

    def in_units(self, block: int, unit: Fraction) -> int:
        """Return the weight of a block in units of 1 / `unit`, rounded up, to compare it with a bound."""
        return -(-self.weights[0][block] * unit.numerator // (self.weights[1] * unit.denominator))

    @cached_property
    def total_weight(self) -> Fraction:
        """Return the size of the population represented by all blocks, with shared candidates in full."""
        numbers, unit = self.weights
        copies = self.copies if self.problem.share else [1] * self.blocks
        return Fraction(sum(map(operator.mul, numbers, copies)), unit)

    @cached_property
    def heaviest(self) -> tuple[Fraction, bool]:
        """Return the largest weight of a block, and whether all blocks have it."""
        numbers, unit = self.weights
        return Fraction(max(numbers), unit), min(numbers) == max(numbers)

    def most_within(self, blocks: Iterable[int], bound: Fraction) -> int:
        """Return how many blocks fit within a weight, the lightest first."""
        numbers, unit = self.weights
        return bisect_right(list(accumulate(sorted(numbers[block] for block in blocks))), bound * unit)

    # ---- rivals

    @cached_property
    def twin(self) -> list[int]:
        """Number the candidates, with the same number for those that agree on every attribute."""
        known: dict[tuple[float | None, ...], int] = {}
        columns = ((None if value != value else value for value in one.candidates) for one in self.attributes)
        return [known.setdefault(row, len(known)) for row in zip(*columns, strict=True)]

    @cached_property
    def copies(self) -> list[int]:
        """Count the candidates equal to the partner of each block, itself included."""
        often = Counter(self.twin)
        return [often[self.twin[other]] for other in self.partner]

    def possible(self, block: int, candidate: int) -> bool:
        """Tell whether the block's record can have been masked to the candidate."""
        return all(one.rounded(block, candidate) < math.inf for one in self.attributes if one.table)

    def reachable(self, block: int) -> bool:
        """Tell whether the block's own partner is possible; otherwise the block is never linked."""
        return self.possible(block, self.partner[block])

    def is_rival(self, block: int, candidate: int) -> bool:
        """Tell whether the candidate must be farther than the partner for the block to be linked."""
        own = self.partner[block]
        apart = 0 <= candidate < self.candidates and candidate != own
        if apart and self.problem.share:
            apart = self.twin[candidate] != self.twin[own]
        return apart and self.possible(block, candidate)

    def rivals(self, block: int) -> list[int]:
        """Return all rivals of a block."""
        return [other for other in range(self.candidates) if self.is_rival(block, other)]

    # ---- distances

    def distances(self, block: int, candidate: int) -> list[int]:
        """Return attribute distances c_k to a possible candidate, in a common unit."""
        values = [one.difference(block, candidate, self.shift) for one in self.attributes]
        if self.problem.differences == "squared":
            return [value * value for value in values]
        return [abs(value) for value in values] if self.problem.differences == "absolute" else values

    def partner_of(self, block: int, squares: bool) -> Partner:
        """Return the partner of a block, with ties as squares or as attribute distances."""
        own, tied = self.partner[block], []
        for one in self.attributes:
            grain = exact(one.grain, self.shift)
            size = abs(one.difference(block, own, self.shift)) + exact(one.widths[block], self.shift)
            as_squares = squares or self.problem.differences == "squared"
            value = size * size + grain * grain if as_squares else size + (grain >> GRAIN)
            tied.append((value << TIE) + value)
        return Partner(self.distances(block, own), tied)

    def sizes(self, block: int, candidate: int, ranked: bool = False) -> list[float]:
        """Return the differences as doubles, by attribute or by rank, for lexicographic orders."""
        found = [abs(one.rounded(block, candidate)) for one in self.attributes]
        return sorted(found, reverse=True) if ranked else found

    def tied_sizes(self, block: int, ranked: bool = False) -> list[float]:
        """Return the differences up to which a rival ties with the partner, as doubles."""
        pairs = zip(self.sizes(block, self.partner[block]), self.attributes, strict=True)
        found = [(size + one.widths[block]) * (1.0 + 2.0**-TIE) for size, one in pairs]
        return sorted(found, reverse=True) if ranked else found


def moments(values: Sequence[float]) -> tuple[float, float]:
    """Return the doubles nearest to the mean and to the sample deviation of at least two numbers."""
    try:
        return mean(values), stdev(values)
    except OverflowError:
        return mean(values), math.inf


def _digits(values: Iterable[float]) -> int:
    return max((value.as_integer_ratio()[1] for value in values), default=1).bit_length() - 1


def grain_of(spread: float, gap: float) -> float:
    """Return the largest power of two within both limits."""
    most = min(2.0**-GRAIN * spread, gap / 16.0)
    return math.ldexp(1.0, math.frexp(most)[1] - 1) if most > 0.0 else 0.0


def _recoded(value: float, steps: Sequence[tuple[float, float | None]]) -> float:
    """Recode an original value by the last step at or below it."""
    at = bisect_right(steps, value, key=lambda step: step[0]) - 1
    becomes = steps[max(0, at)][1]
    return value if becomes is None or value != value else becomes


# ---- missing values


def _to_missing(
    side: Values, queries: Values, candidates: Values, rule: str
) -> tuple[Values, Values, float] | None:
    """Return differences to any value of a file; None if no value is missing."""
    known = [[value for value in values if value == value] for values in (side, candidates)]
    if [len(side), len(candidates)] == [len(values) for values in known]:
        return None
    demand(all(known), "an attribute has no value in one of the files")
    ours, theirs = map(_spread, known)
    to_missing = [_apart(_spread([value]), theirs, rule) for value in queries]
    from_missing = [_apart(ours, _spread([value]), rule) for value in candidates]
    return to_missing, from_missing, _apart(ours, theirs, rule)


def _spread(values: Sequence[float]) -> tuple[float, float, float, float]:
    """Return mean, deviation, minimum and maximum of the values that may be missing."""
    return *(moments(values) if len(values) > 1 else (values[0], 0.0)), min(values), max(values)


def _apart(one: tuple[float, ...], other: tuple[float, ...], rule: str) -> float:
    """Return the difference of two values by a rule: nearest, farthest or expected; one may be missing."""
    middle = one[0] - other[0]
    if rule == "nearest" and middle == middle:
        return 0.0
    if rule == "farthest" and middle == middle:
        least, most = one[2] - other[3], one[3] - other[2]
        return least if abs(least) >= abs(most) else most
    return math.copysign(math.sqrt(middle * middle + one[1] * one[1] + other[1] * other[1]), middle)


def _with_unknown(table: list[list[float]], files: list[Values], rule: str) -> list[list[float]]:
    """Extend the table by a row and a column for missing values, if there are any."""
    size = len(table)
    often = [Counter(map(int, values)) for values in files]
    if not any(counts[size] for counts in often):
        return table
    rows, columns = ([counts[at] for at in range(size)] for counts in often)
    demand(any(rows) and any(columns), "an attribute has no value in one of the files")
    made = [[*row, _to_unknown(row, columns, rule)] for row in table]
    last = [_to_unknown(column, rows, rule) for column in zip(*table, strict=True)]
    together = [many * times for many in rows for times in columns]
    return [*made, [*last, _to_unknown(list(chain(*table)), together, rule)]]


def _to_unknown(distances: Sequence[float], often: Sequence[int], rule: str) -> float:
    """Return the distance to a missing category, over those that are possible and occur."""
    possible = [(one, many) for one, many in zip(distances, often, strict=True) if one < math.inf]
    drawn = [(one, many) for one, many in possible if many] or [(one, 1) for one, _ in possible]
    if rule == "nearest" or not possible:
        return min((one for one, _ in possible), default=math.inf)
    if rule == "farthest":
        return max(one for one, _ in drawn)
    return math.sqrt(math.fsum(many * (one * one) for one, many in drawn) / sum(many for _, many in drawn))
