"""The linkage problem of two files, in whole numbers.

A *block* is a record whose true partner is in the other file; its *rivals* are the other candidates. Values
are standardised in double precision, ``(x - mean) / deviation``, with the doubles nearest to the exact
moments. From there on a double is the whole number times a power of two that it is, and nothing is rounded.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, chain, pairwise, repeat
from statistics import median

from .claims import RejectedError, demand
from .problem import Problem

Values = Sequence[float]
"""Of one attribute: NaN where a value is missing, for categories their positions."""

TIE = 36
"""A rival ties up to ``1 + 2**-36`` times the partner's widened attribute distances."""

ROUNDING = 49
"""They are widened by the power of two above ``2**-49`` times the values that go into a difference."""

GRAIN = 18
"""They grow by the square of a grain, or by ``2**-18`` grains where distances are not squares."""

CANCELLATION = 50
"""A quadratic form of n attributes is taken to be off by ``n (n + 2) 2**-50`` times the rival's squares."""

TOLERANCES = {
    name: 2.0**-shift
    for name, shift in {
        "tie": TIE, "rounding": ROUNDING, "grain": GRAIN, "cancellation": CANCELLATION
    }.items()
}  # fmt: skip
"""As certificates name them."""

SAME = 2.0**-48
"""Values of one file within this share of their size are the same."""


@dataclass(frozen=True)
class Files:
    """Two microdata files: values of all records by attribute, and columns besides.

    `partner` is the masked record of each original record, -1 where it is not in the masked file. Other
    columns by name: whether the original file has it, and its cells.
    """

    original: Sequence[Values]
    masked: Sequence[Values]
    partner: Sequence[int]
    columns: Mapping[str, tuple[bool, Sequence[str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Partner:
    """A block's partner: its attribute distances, and up to which rivals tie (in units of ``2**-TIE``)."""

    distances: list[int]
    tied: list[int]


class Records:
    """The blocks and their candidates; exact numbers are made when they are needed.

    `original` and `masked` are the rows of each block in the two files, `partner` the candidate that it
    belongs to. Differences are whole numbers of units of ``2**-shift``.
    """

    def __init__(self, files: Files, problem: Problem) -> None:
        self.problem = problem
        backwards = problem.direction == "masked-to-original"
        own = [at for at, other in enumerate(files.partner) if other >= 0]
        if backwards:
            own.sort(key=files.partner.__getitem__)
        self.original, self.masked = array("q", own), array("q", (files.partner[at] for at in own))
        blocks, self.partner = (self.masked, self.original) if backwards else (self.original, self.masked)
        self.attributes = [
            Attribute(problem, name, files.original[k], files.masked[k], blocks, self.partner)
            for k, name in enumerate(problem.attributes)
        ]
        self.shift = max(one.shift for one in self.attributes)
        self._limited = [one for one in self.attributes if one.table and math.inf in chain(*one.table)]
        self.sampling = _sampling_weights(files, problem, self.original, self.masked)

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.partner)

    @property
    def candidates(self) -> int:
        """Number of candidates."""
        return len(self.attributes[0].candidates)

    # ---- weights

    @cached_property
    def weights(self) -> tuple[list[int], int]:
        """What linking each block counts, as a whole number of one over the second number."""
        if self.sampling is None and not self.problem.share:
            return [1] * self.blocks, 1
        own = repeat(1.0, self.blocks) if self.sampling is None else self.sampling
        kinds = list(zip(own, self.copies if self.problem.share else repeat(1), strict=False))
        exact = {kind: Fraction(kind[0]) / kind[1] for kind in set(kinds)}
        unit = math.lcm(*(weight.denominator for weight in exact.values()))
        numbers = {kind: int(weight * unit) for kind, weight in exact.items()}
        return [numbers[kind] for kind in kinds], unit

    def weight(self, blocks: Iterable[int]) -> Fraction:
        """The weight of some blocks together."""
        numbers, unit = self.weights
        return Fraction(sum(numbers[block] for block in blocks), unit)

    def in_units(self, block: int, unit: Fraction) -> int:
        """The weight of a block, `unit` times as large, rounded up: against a bound."""
        return -(-self.weights[0][block] * unit.numerator // (self.weights[1] * unit.denominator))

    @cached_property
    def total_weight(self) -> Fraction:
        """How many of the population all blocks stand for: candidates that share do so in full."""
        numbers, unit = self.weights
        copies = self.copies if self.problem.share else repeat(1)
        return Fraction(sum(one * many for one, many in zip(numbers, copies, strict=False)), unit)

    @cached_property
    def heaviest(self) -> tuple[Fraction, bool]:
        """The largest weight of a block, and whether all have it."""
        numbers, unit = self.weights
        return Fraction(max(numbers), unit), min(numbers) == max(numbers)

    def most_within(self, blocks: Iterable[int], bound: Fraction) -> int:
        """Number of blocks that weigh no more than a bound together: the lightest first."""
        numbers, unit = self.weights
        return bisect_right(list(accumulate(sorted(numbers[block] for block in blocks))), bound * unit)

    # ---- rivals

    @cached_property
    def twin(self) -> list[int]:
        """A number for each candidate, the same for those that are equal on every attribute."""
        known: dict[tuple[float | None, ...], int] = {}
        columns = ((None if value != value else value for value in one.candidates) for one in self.attributes)
        return [known.setdefault(row, len(known)) for row in zip(*columns, strict=True)]

    @cached_property
    def copies(self) -> list[int]:
        """How many candidates equal the partner of each block, itself included."""
        often = Counter(self.twin)
        return [often[self.twin[other]] for other in self.partner]

    def possible(self, block: int, candidate: int) -> bool:
        """Whether masking can have made the candidate of the block's record."""
        return all(one.rounded(block, candidate) < math.inf for one in self._limited)

    def reachable(self, block: int) -> bool:
        """Whether the block's own partner is possible; otherwise the block is never linked."""
        return self.possible(block, self.partner[block])

    def is_rival(self, block: int, candidate: int) -> bool:
        """Whether the candidate must be farther than the partner for the block to be linked."""
        own = self.partner[block]
        if not 0 <= candidate < self.candidates or candidate == own:
            return False
        if self.problem.share and self.twin[candidate] == self.twin[own]:
            return False
        return self.possible(block, candidate)

    def rivals(self, block: int) -> Iterator[int]:
        """All rivals of a block."""
        return (other for other in range(self.candidates) if self.is_rival(block, other))

    # ---- distances

    def distances(self, block: int, candidate: int) -> list[int]:
        """Attribute distances c_k to a possible candidate, in a unit common to all."""
        values = [one.difference(block, candidate, self.shift) for one in self.attributes]
        if self.problem.differences == "squared":
            return [value * value for value in values]
        return [abs(value) for value in values] if self.problem.differences == "absolute" else values

    def partner_of(self, block: int, squares: bool) -> Partner:
        """The partner of a block; what ties are squares, or as the attribute distances are."""
        own, tied = self.partner[block], []
        for one in self.attributes:
            size = abs(one.difference(block, own, self.shift)) + one.exact(one.widths[block], self.shift)
            grain = one.exact(one.grain, self.shift)
            as_squares = squares or self.problem.differences == "squared"
            value = size * size + grain * grain if as_squares else size + (grain >> GRAIN)
            tied.append((value << TIE) + value)
        return Partner(self.distances(block, own), tied)

    def sizes(self, block: int, candidate: int) -> list[float]:
        """Sizes of the differences as doubles: what orders of attributes compare."""
        return [abs(one.rounded(block, candidate)) for one in self.attributes]

    def tied_sizes(self, block: int) -> list[float]:
        """Sizes up to which a rival ties with the partner, as doubles."""
        pairs = zip(self.sizes(block, self.partner[block]), self.attributes, strict=True)
        return [(size + one.widths[block]) * (1.0 + 2.0**-TIE) for size, one in pairs]


class Attribute:
    """Standardised values of one attribute, or positions of categories, of blocks (`queries`) and candidates.

    `table` has distances of a query's category (rows) to a candidate's, inf where one cannot become the
    other. `to_missing` and `from_missing` are differences of each block to a missing value, and of a missing
    value to each candidate, where values are missing. `widths`: by how much rounding may have moved the
    difference of each block to its partner, 0 for categories. `grain`: a length far below any difference that
    the attribute shows. `offset`: ``|mean| / deviation`` of both files, added. All are whole numbers of units
    of ``2**-shift``.
    """

    def __init__(
        self,
        problem: Problem,
        name: str,
        original: Values,
        masked: Values,
        blocks: Sequence[int],
        partner: Sequence[int],
    ) -> None:
        backwards = problem.direction == "masked-to-original"
        if name in problem.steps:
            original = [_recoded(value, problem.steps[name]) for value in original]
        self.table: list[Values] | None = None
        self.offset, self.both_missing = 0.0, math.nan
        self.to_missing, self.from_missing = array("d"), array("d")
        if name in problem.categories:
            table = _with_unknown(list(problem.table(name)), original, masked, problem.missing)
            self.table = [list(column) for column in zip(*table, strict=True)] if backwards else table
            distances = [value for row in table for value in row if 0.0 < value < math.inf]
            self.grain = _grain(max(distances), min(distances)) if distances else 0.0
        else:
            original, masked, self.offset = _standardised(name, original, masked, problem.standardisation)
            self.grain = _numeric_grain(original, masked, self.offset)
        queries, candidates = (masked, original) if backwards else (original, masked)
        self.queries, self.candidates = array("d", (queries[at] for at in blocks)), array("d", candidates)
        if self.table is None:
            self._compare_missing(queries, problem.missing)
            self.widths = array("d", map(_above, self._sizes(partner)))
        else:
            self.widths = array("d", bytes(8 * len(partner)))
        known = chain(self.queries, self.candidates, set(self.widths), self.to_missing, self.from_missing)
        finite = (value for value in chain(known, *(self.table or ())) if math.isfinite(value))
        both = 0.0 if math.isnan(self.both_missing) else self.both_missing
        self.shift = max(GRAIN + _digits([self.grain]), _digits(finite), _digits([both]))
        self._exact: dict[float, int] = {}

    def exact(self, value: float, shift: int) -> int:
        """A double as the whole number of units of ``2**-shift`` that it is."""
        if value not in self._exact:
            numerator, denominator = value.as_integer_ratio()
            self._exact[value] = (numerator << shift) // denominator
        return self._exact[value]

    def difference(self, block: int, candidate: int, shift: int) -> int:
        """The difference to a possible candidate, exactly."""
        query, other = self.queries[block], self.candidates[candidate]
        if self.table is None and query == query and other == other:
            return self.exact(query, shift) - self.exact(other, shift)
        return self.exact(self.rounded(block, candidate), shift)

    def rounded(self, block: int, candidate: int) -> float:
        """The difference as a double; inf where masking cannot have made this of that."""
        query, other = self.queries[block], self.candidates[candidate]
        if self.table is not None:
            return self.table[int(query)][int(other)]
        if query == query and other == other:
            return query - other
        if query == query:
            return self.to_missing[block]
        return self.from_missing[candidate] if other == other else self.both_missing

    def _sizes(self, partner: Sequence[int]) -> Iterator[float]:
        """``2**-ROUNDING`` times the values that go into the difference of each block to its partner."""
        share, offset, candidates = 2.0**-ROUNDING, self.offset, self.candidates
        for block, (query, other) in enumerate(zip(self.queries, partner, strict=True)):
            size = abs(query) + abs(candidates[other]) + offset
            if size != size:
                away = abs(self.rounded(block, other))
                size = away + away + offset
            yield share * size

    def _compare_missing(self, queries: Values, rule: str) -> None:
        """Set the differences where one of two values is missing, or both are: they are drawn from files."""
        ours, theirs = ([one for one in side if one == one] for side in (queries, self.candidates))
        if len(ours) == len(queries) and len(theirs) == len(self.candidates):
            return
        demand(bool(ours and theirs), "an attribute has no value in one of the files")
        any_query, any_candidate = _Range.of(ours), _Range.of(theirs)
        self.both_missing = any_query.apart(any_candidate, rule)
        self.to_missing = array("d", (_Range.of([x]).apart(any_candidate, rule) for x in self.queries))
        self.from_missing = array("d", (any_query.apart(_Range.of([x]), rule) for x in self.candidates))


def _above(value: float) -> float:
    """The power of two above a value; 0 of 0."""
    return math.ldexp(1.0, math.frexp(value)[1]) if value > 0.0 else 0.0


def _digits(values: Iterable[float]) -> int:
    """The least s of 0 or more for which each of these times ``2**s`` is whole."""
    return max((value.as_integer_ratio()[1] for value in values), default=1).bit_length() - 1


def _sampling_weights(
    files: Files, problem: Problem, original: Sequence[int], masked: Sequence[int]
) -> Sequence[float] | None:
    """How many of the population each block stands for; None where the fit names no column of weights."""
    if problem.weight is None:
        return None
    demand(problem.weight in files.columns, f"weight: neither file has a column {problem.weight!r}")
    of_original, cells = files.columns[problem.weight]
    found = array("d")
    for row in original if of_original else masked:
        where = f"weight: {problem.weight!r}, row {row + 1} of the {('masked', 'original')[of_original]} file"
        try:
            found.append(float(cells[row]))
        except ValueError:
            raise RejectedError(f"{where}, is no number") from None
        demand(0.0 < found[-1] < math.inf, f"{where}, is not above zero")
    return found


# ---- standardised values


def _standardised(name: str, original: Values, masked: Values, how: str) -> tuple[Values, Values, float]:
    """Both files in units of deviations, and ``|mean| / deviation`` of both added."""
    if how == "none":
        return original, masked, 0.0
    both = [*original, *masked] if how == "pooled" else []
    sources = {"own": (original, masked), "original": (original, original), "pooled": (both, both)}[how]
    made, offset, known = [], 0.0, {}
    for values, source in zip((original, masked), sources, strict=True):
        if id(source) not in known:
            some = [value for value in source if value == value]
            demand(len(some) > 1, f"{name} has fewer than two values")
            known[id(source)] = moments(some)
        mean, deviation = known[id(source)]
        demand(0.0 < deviation < math.inf, f"{name} cannot be standardised")
        made.append(array("d", [(value - mean) / deviation for value in values]))
        offset += abs(mean) / deviation
    return made[0], made[1], offset


def moments(values: Sequence[float]) -> tuple[float, float]:
    """The doubles nearest to the mean and to the sample deviation of at least two numbers."""
    ratios = [value.as_integer_ratio() for value in values]
    unit, count = max(denominator for _, denominator in ratios), len(values)
    numbers = [numerator * (unit // denominator) for numerator, denominator in ratios]
    total = sum(numbers)
    spread = count * sum(number * number for number in numbers) - total * total
    return total / (count * unit), nearest_root(spread, count * (count - 1) * unit * unit)


def nearest_root(numerator: int, denominator: int) -> float:
    """The double nearest to the root of a fraction, from its first 600 bits and whether others follow."""
    shift = max(0, 1200 + denominator.bit_length() - numerator.bit_length()) // 2
    whole = math.isqrt((numerator << 2 * shift) // denominator)
    left = whole * whole * denominator != numerator << 2 * shift
    try:
        return (2 * whole + left) / (1 << shift + 1)
    except OverflowError:
        return math.inf


def _numeric_grain(original: Values, masked: Values, offset: float) -> float:
    """``2**-GRAIN`` of the spread about the median, at most a sixteenth of the smallest difference."""
    files = [[value for value in values if value == value] for values in (original, masked)]
    middle = float(median([*files[0], *files[1]]))
    away = [abs(value - middle) for values in files for value in values]
    most = max(away) or 1.0
    total = math.fsum(share * share for share in (value / most for value in away))
    return _grain(most * math.sqrt(total / len(away)), min(_smallest_gap(one, offset) for one in files))


def _smallest_gap(values: Values, offset: float) -> float:
    gaps = (
        above - below
        for below, above in pairwise(sorted(values))
        if above - below > SAME * (abs(above) + abs(below) + offset)
    )
    return min(gaps, default=math.inf)


def _grain(spread: float, gap: float) -> float:
    """The largest power of two within both limits."""
    most = min(2.0**-GRAIN * spread, gap / 16.0)
    return math.ldexp(1.0, math.frexp(most)[1] - 1) if most > 0.0 else 0.0


def _recoded(value: float, steps: Sequence[tuple[float, float | None]]) -> float:
    """An original value as it is compared: what the last step that begins at or below it makes of it."""
    at = bisect_right(steps, value, key=lambda step: step[0]) - 1
    becomes = steps[max(0, at)][1]
    return value if becomes is None or value != value else becomes


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

    def apart(self, other: _Range, rule: str) -> float:
        """The difference of two values by a rule: nearest, farthest or expected."""
        middle = self.mean - other.mean
        if rule == "nearest" and middle == middle:
            return 0.0
        if rule == "farthest" and middle == middle:
            least, most = self.least - other.most, self.most - other.least
            return least if abs(least) >= abs(most) else most
        ours, theirs = self.deviation, other.deviation
        return math.copysign(math.sqrt(middle * middle + ours * ours + theirs * theirs), middle)


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
    together = [many * often for many in rows for often in columns]
    return [*made, [*last, _to_unknown(list(chain(*table)), together, rule)]]


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
