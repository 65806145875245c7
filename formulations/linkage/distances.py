"""Attribute distances: standardisation by exact moments, tables of categories, differences of records.

Standardised values are what every claim about two files speaks of, so moments are correctly rounded: nothing
depends on the order of a summation or the program. Categories are given by their positions in a table of
distances; an infinite one makes two records impossible partners, whatever the parameters, and never enters
arithmetic (`DistanceTables.possible` comes first).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, FloatArray, IndexArray, LongArray
from linkrisk.formulations.errors import FormulationError


def nominal_table(categories: int) -> FloatArray:
    """0 for equal categories, 1 for all others (Domingo-Ferrer and Torra 2002, Definition 1.1)."""
    return np.asarray(1.0 - np.eye(categories))


def ordinal_table(categories: int) -> FloatArray:
    """``|i - j| / |D(V)|`` for the i-th and j-th of ``|D(V)|`` categories, shape (categories, categories).

    Domingo-Ferrer and Torra 2002, Definition 1.2, counts the categories from one to the other with both ends:
    that is ``1 / |D(V)|`` more, for equal categories as well, and the same order of records wherever
    attributes have fixed weights.
    """
    position = np.arange(categories, dtype=np.float64)
    return np.asarray(np.abs(position[:, None] - position[None, :]) / categories)


def restricted(table: FloatArray, possible: BoolArray | None) -> FloatArray:
    """The table with inf where masking cannot have made the column's category of the row's."""
    return table if possible is None else np.where(possible, table, np.inf)


@dataclass(frozen=True, eq=False)
class DistanceTables:
    """The tables of some attributes, one after the other."""

    attributes: IndexArray  # (tables,): which attributes are looked up, ascending
    values: FloatArray  # (cells of all tables,): not negative; inf for impossible pairs
    first: IndexArray  # (tables,): where each table begins
    # (tables,): how many categories a candidate can have: the distance of i and j is at ``first + i * width +
    # j``
    width: IndexArray

    @classmethod
    def of(cls, tables: Sequence[FloatArray | None]) -> Self:
        """Concatenate the tables of all attributes, None for numeric ones; rows are for queries."""
        given = [
            (k, np.asarray(table, dtype=np.float64)) for k, table in enumerate(tables) if table is not None
        ]
        for k, table in given:
            if table.ndim != 2 or not (table >= 0.0).all():
                raise FormulationError(
                    f"the distances between categories of attribute {k + 1} must be a table of numbers from 0"
                )
        sizes = np.array([0, *(table.size for _, table in given)], dtype=np.intp)
        return cls(
            attributes=np.array([k for k, _ in given], dtype=np.intp),
            values=np.concatenate([np.empty(0), *(table.ravel() for _, table in given)]),
            first=np.cumsum(sizes)[:-1],
            width=np.array([table.shape[1] for _, table in given], dtype=np.intp),
        )

    def table(self, at: int) -> FloatArray:
        """The table of the attribute ``attributes[at]``."""
        end = self.first[at + 1] if at + 1 < self.first.size else self.values.size
        return self.values[self.first[at] : end].reshape(-1, self.width[at])

    def transposed(self) -> DistanceTables:
        """The same distances with queries and candidates swapped."""
        tables: list[FloatArray | None] = [None] * (int(self.attributes.max(initial=-1)) + 1)
        for at, k in enumerate(self.attributes.tolist()):
            tables[k] = self.table(at).T
        return DistanceTables.of(tables)

    def _cells(self, at: int, queries: FloatArray, candidates: FloatArray) -> FloatArray:
        k = self.attributes[at]
        rows, columns = queries[..., k].astype(np.intp), candidates[..., k].astype(np.intp)
        return np.asarray(self.values[self.first[at] + rows * self.width[at] + columns])

    def place(self, distances: FloatArray, queries: FloatArray, candidates: FloatArray) -> None:
        """Write distances of categories into `distances`, shape (..., attributes); 0 for impossible pairs."""
        for at, k in enumerate(self.attributes):
            cells = self._cells(at, queries, candidates)
            distances[..., k] = np.where(np.isinf(cells), 0.0, cells)

    def possible(self, queries: FloatArray, candidates: FloatArray) -> BoolArray:
        """Whether two records can be partners: no distance between their categories is infinite."""
        shape = np.broadcast_shapes(queries.shape, candidates.shape)[:-1]
        possible = np.ones(shape, dtype=np.bool_)
        for at in range(self.attributes.size):
            possible &= np.isfinite(self._cells(at, queries, candidates))
        return possible


def category_counts(tables: DistanceTables | None, attributes: int) -> IndexArray:
    """How many categories a candidate can have in each attribute; 0 for numeric ones."""
    counts = np.zeros(attributes, dtype=np.intp)
    if tables is not None:
        counts[tables.attributes] = tables.width
    return counts


def check_positions(attribute: int, table: FloatArray, original: FloatArray, masked: FloatArray) -> None:
    """FormulationError unless all values of an attribute are positions in its table."""
    for values, size in zip((original, masked), table.shape, strict=True):
        wrong = ~((values >= 0) & (values < size) & (values == np.floor(values)))
        if wrong.any():
            raise FormulationError(
                f"attribute {attribute + 1}: {values[wrong][0]:g} is not a position among {size} categories"
            )


_DIGITS = 53
_LIMB = 18
"""Bits of a limb. A double is three of them, and sums of 2**25 products of two of them fit 64 bits."""

_MOST_AT_ONCE = 1 << 25


def moments(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and sample standard deviation (denominator n - 1) of each column (n, attributes), n >= 2.

    Both are correctly rounded; a deviation beyond the range of doubles becomes zero or inf.
    """
    pairs = [_moments(np.ascontiguousarray(values[:, k])) for k in range(values.shape[1])]
    mean, deviation = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return mean, deviation


def _moments(column: FloatArray) -> tuple[float, float]:
    count = column.size
    total, squares = Fraction(0), Fraction(0)
    for first in range(0, count, _MOST_AT_ONCE):
        part = _exact_sums(column[first : first + _MOST_AT_ONCE])
        total, squares = total + part[0], squares + part[1]
    variance = (squares - total * total / count) / (count - 1)
    return float(total / count), rounded_root(variance)


def _exact_sums(column: FloatArray) -> tuple[Fraction, Fraction]:
    """Exact sums of at most `_MOST_AT_ONCE` values and of their squares.

    A value is an integer of 53 bits times a power of two. Values of one power are added together, limb by
    limb, in 64 bits.
    """
    share, power = np.frexp(column)
    order = np.argsort(power, kind="stable")
    whole = np.ldexp(share, _DIGITS).astype(np.int64)[order]
    power = power[order].astype(np.int64)
    starts = np.flatnonzero(np.concatenate([[True], power[1:] != power[:-1]]))
    size = np.abs(whole)
    limbs = [(size >> (_LIMB * at)) & ((1 << _LIMB) - 1) for at in range(3)]
    sign = np.sign(whole)
    total, squares = Fraction(0), Fraction(0)
    sums = [_by_power(sign * limb, starts) for limb in limbs]
    products = {
        (a, b): _by_power(limbs[a] * limbs[b] * (1 if a == b else 2), starts)
        for a in range(3)
        for b in range(a, 3)
    }
    for at, start in enumerate(starts.tolist()):
        unit = int(power[start]) - _DIGITS
        total += _scaled(sum(part[at] << (_LIMB * limb) for limb, part in enumerate(sums)), unit)
        square = sum(part[at] << (_LIMB * (a + b)) for (a, b), part in products.items())
        squares += _scaled(square, 2 * unit)
    return total, squares


def _by_power(values: LongArray, starts: NDArray[np.intp]) -> list[int]:
    sums: list[int] = np.add.reduceat(values, starts).tolist()
    return sums


def _scaled(number: int, power: int) -> Fraction:
    """``number * 2**power``."""
    return Fraction(number << power) if power >= 0 else Fraction(number, 1 << -power)


def rounded_root(value: Fraction) -> float:
    """The double nearest to the square root of a number that is not negative; inf beyond all doubles.

    The root is found in integers to 60 bits or more. One bit behind them says whether anything is left,
    so that rounding to a double, once, rounds the root itself.
    """
    size = value.numerator.bit_length() - value.denominator.bit_length()
    shift = max(0, 61 - size // 2)
    numerator = value.numerator << 2 * shift
    root = math.isqrt(numerator // value.denominator)
    rest = root * root * value.denominator != numerator
    try:
        return (2 * root + rest) / (2 << shift)
    except OverflowError:
        return math.inf


SMALLEST_RANGE = 1e-150
"""Differences below this vanish when they are squared."""


class Standardisation(StrEnum):
    """Whose mean and standard deviation scale the attributes."""

    OWN = "own"  # each file's own (D11.2, Eq. 1)
    ORIGINAL = "original"  # the original file's for both
    POOLED = "pooled"  # those of both files together
    NONE = "none"  # values as they are


class Differences(StrEnum):
    """What an aggregator is given for attribute k, with ``z_k`` the difference of standardised values.

    Of categories ``z_k`` is the tabulated distance; it has no sign.
    """

    SQUARED = "squared"  # z_k ** 2 (D11.2, Eq. 3)
    ABSOLUTE = "absolute"  # |z_k|
    SIGNED = "signed"  # z_k


class FileMoments(NamedTuple):
    """Means and standard deviations that two files are standardised by."""

    # original, masked (attributes,): mean and deviation of each numeric attribute, for values of this file
    original: tuple[FloatArray, FloatArray]
    masked: tuple[FloatArray, FloatArray]


class Standardised(NamedTuple):
    """Two files in units of standard deviations."""

    original: FloatArray  # original, masked: (rows, attributes)
    masked: FloatArray
    # (attributes,): ``|mean| / deviation`` of the moments of both, added: what rounding of values is relative
    # to, besides themselves. Zero where values stay as they are
    offset: FloatArray


def standardise(
    original: FloatArray,
    masked: FloatArray,
    how: Standardisation | FileMoments = Standardisation.OWN,
    names: Sequence[str] | None = None,
) -> Standardised:
    """Standardise both files (D11.2, Eq. 1) by correctly rounded moments, or by those given.

    FormulationError if an attribute is constant where its deviation is needed, that is outside of doubles, or
    values of a file differ by next to nothing in these units. `names` are for messages.
    """
    names = names or [str(k + 1) for k in range(original.shape[1])]
    used = how if isinstance(how, FileMoments) else file_moments(original, masked, how, names)
    if used is None:
        _check_ranges((original, masked), names)
        return Standardised(original.copy(), masked.copy(), np.zeros(original.shape[1]))
    results, offset = [], np.zeros(original.shape[1])
    for values, (mean, deviation) in zip((original, masked), used, strict=True):
        results.append((values - mean) / deviation)
        offset = offset + np.abs(mean) / deviation
    _check_ranges(results, names)
    return Standardised(results[0], results[1], offset)


def file_moments(
    original: FloatArray, masked: FloatArray, how: Standardisation, names: Sequence[str] | None = None
) -> FileMoments | None:
    """Moments that two files are standardised by (see `standardise`); None where values stay as they are."""
    names = names or [str(k + 1) for k in range(original.shape[1])]
    for values in (original, masked):
        _check_some_value(values, names)
    if how is Standardisation.NONE:
        return None
    if how is Standardisation.OWN:
        return FileMoments(_usable_moments(original, names), _usable_moments(masked, names))
    source = original if how is Standardisation.ORIGINAL else np.vstack([original, masked])
    both = _usable_moments(source, names)
    return FileMoments(both, both)


def _usable_moments(source: FloatArray, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Means and deviations of the known values, which all can be divided by."""
    # Checked first: a constant column has a deviation of rounding noise, and one record has none at all.
    lowest, highest = _extremes(source)
    constant = lowest == highest
    if constant.any():
        raise FormulationError(
            f"attribute {names[int(np.argmax(constant))]} is constant, so it has no standard deviation: "
            "leave it out"
        )
    columns = [moments(source[~np.isnan(source[:, k])][:, [k]]) for k in range(source.shape[1])]
    mean, deviation = (np.array([column[at][0] for column in columns]) for at in (0, 1))
    unusable = ~((deviation >= np.finfo(np.float64).tiny) & np.isfinite(deviation))
    if unusable.any():
        raise FormulationError(
            f"attribute {names[int(np.argmax(unusable))]} has a standard deviation outside the range of "
            "double precision: use another unit"
        )
    return mean, deviation


def _check_some_value(values: FloatArray, names: Sequence[str]) -> None:
    """Refuse attributes that are missing in all records of a file."""
    empty = np.isnan(values).all(axis=0)
    if empty.any():
        raise FormulationError(
            f"attribute {names[int(np.argmax(empty))]} has no value in one of the files, so it cannot be "
            "compared: leave it out"
        )


def _extremes(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The lowest and the highest known value of each attribute; inf and -inf where none is known."""
    lacking = np.isnan(values)
    return np.where(lacking, np.inf, values).min(axis=0), np.where(lacking, -np.inf, values).max(axis=0)


def _check_ranges(files: Sequence[FloatArray], names: Sequence[str]) -> None:
    """Refuse attributes whose values differ, but by too little for their squares."""
    for values in files:
        lowest, highest = _extremes(values)
        spread = highest - lowest
        lost = (spread > 0.0) & (spread <= SMALLEST_RANGE)
        if lost.any():
            at = int(np.argmax(lost))
            raise FormulationError(
                f"attribute {names[at]} differs by at most {spread[at]:g} in the units that it is compared "
                "in, which becomes zero when squared: standardise each file by itself, or use another unit"
            )


def standardised_files(
    original: FloatArray,
    masked: FloatArray,
    how: Standardisation | FileMoments,
    tables: Sequence[FloatArray | None] | None,
    names: Sequence[str] | None = None,
) -> Standardised:
    """Standardise the numeric attributes of both files; positions of categories stay, with an offset of zero.

    `tables` has the distances of each categorical attribute, None for numeric ones. FormulationError as in
    `standardise`, or if a value is not a position in its table.
    """
    names = names or [str(k + 1) for k in range(original.shape[1])]
    if tables is None:
        return standardise(original, masked, how, names)
    if len(tables) != original.shape[1]:
        raise FormulationError(f"{len(tables)} tables for {original.shape[1]} attributes: give one for each")
    numeric = [k for k, table in enumerate(tables) if table is None]
    results = Standardised(original.copy(), masked.copy(), np.zeros(original.shape[1]))
    first, second = (np.ascontiguousarray(values[:, numeric]) for values in (original, masked))
    for whole, part in zip(
        results, standardise(first, second, how, [names[k] for k in numeric]), strict=True
    ):
        whole[..., numeric] = part
    for k, table in enumerate(tables):
        if table is not None:
            check_positions(k, table, original[:, k], masked[:, k])
    return results


def of_kind(difference: FloatArray, kind: Differences) -> FloatArray:
    """Square differences, drop their sign, or keep them; in place."""
    if kind is Differences.SQUARED:
        return np.square(difference, out=difference)
    if kind is Differences.ABSOLUTE:
        return np.abs(difference, out=difference)
    return difference
