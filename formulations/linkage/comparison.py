"""Two files made comparable: standardised values, tables of categories, rules for missing values.

A rule says what the difference of a value z and a missing one is, from the values y of the file that
lacks it:

- nearest: 0, as if the missing value were the same;
- expected: the root of the expected square of ``z - y``, ``(z - mean(y))**2 + variance(y)``, with the sign of
  ``z - mean(y)``;
- farthest: the ``z - y`` that is largest in absolute value.

The difference is a number like any other from then on, so every distance stays linear in its parameters.
Where both values are missing, both are drawn. Distances of categories have no sign, and get a category more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.distances import (
    DistanceTables,
    FileMoments,
    Standardisation,
    moments,
    standardised_files,
)
from linkrisk.formulations.linkage.tie_tolerance import grain, table_grain

Rows = IndexArray | np.intp | slice
"""Which rows of an array: numbers that broadcast with others, one number, or a stretch."""


class Missing(StrEnum):
    """What a missing value is compared as."""

    NEAREST = "nearest"
    EXPECTED = "expected"
    FARTHEST = "farthest"


class Known(NamedTuple):
    """What a value of an attribute may be: one of the known values of a file, or for certain a known one.

    Its numbers are arrays, one entry for each value, where it is of several values.
    """

    mean: FloatArray
    deviation: FloatArray
    lowest: FloatArray
    highest: FloatArray

    @classmethod
    def of(cls, values: FloatArray) -> Known:
        """A missing value: any of standardised values, shape (rows,), some of them known; NaN where not."""
        known: FloatArray = values[~np.isnan(values)]
        mean, deviation = moments(known[:, None]) if known.size > 1 else (known, np.zeros(1))
        return cls(mean[0], deviation[0], known.min(), known.max())

    @classmethod
    def only(cls, values: FloatArray) -> Known:
        """Values that are known; NaN where one is not."""
        return cls(values, np.zeros(()), values, values)

    def minus(self, other: Known, rule: Missing) -> FloatArray:
        """The difference to a value of the other file by a rule; NaN stays.

        A value in the middle of all others has two farthest ones, and no side on which it lies. Whichever of
        the two is missing, the difference then is the negative one, or for `EXPECTED` the positive one: a
        quadratic form tells signs apart, and both directions have to agree.
        """
        centred = self.mean - other.mean
        if rule is Missing.NEAREST:
            return centred * 0.0
        if rule is Missing.EXPECTED:
            # Not `hypot`: every machine must come to the same double, as verifiers do.
            squares = centred * centred + self.deviation * self.deviation + other.deviation * other.deviation
            return np.copysign(np.sqrt(squares), centred)
        low, high = self.lowest - other.highest, self.highest - other.lowest
        return np.where(np.abs(low) >= np.abs(high), low, high)


@dataclass(frozen=True, eq=False)
class MissingDifferences:
    """Differences of numeric attributes where a value is missing, which records hold as NaN."""

    attributes: IndexArray  # (any,): those in which a value is missing, ascending
    # (queries, attributes): differences of the values of queries to a missing one of a candidate; NaN where
    # they are missing
    of_queries: FloatArray
    # (candidates, attributes): differences of a missing value of a query to the values of candidates
    of_candidates: FloatArray
    # (attributes,): differences of a missing value of a query to a missing one of a candidate
    of_both: FloatArray

    def part(self, queries: IndexArray) -> MissingDifferences:
        """The same of some of the queries."""
        return MissingDifferences(self.attributes, self.of_queries[queries], self.of_candidates, self.of_both)

    def place(self, differences: FloatArray, blocks: Rows, candidates: Rows) -> None:
        """Write into `differences`, shape (..., attributes), what is missing there and is NaN."""
        for k in self.attributes.tolist():
            self.fill(differences[..., k], k, blocks, candidates)

    def fill(self, differences: FloatArray, k: int, blocks: Rows, candidates: Rows) -> None:
        """The same of one attribute, whose differences have shape (...)."""
        known, lacking = self.of_queries[blocks, k], self.of_candidates[candidates, k]
        either = np.where(np.isnan(known), lacking, known)
        either = np.where(np.isnan(known) & np.isnan(lacking), self.of_both[k], either)
        np.copyto(differences, either, where=np.isnan(differences))


class KnownValues(NamedTuple):
    """The known values of the attributes of two files."""

    queries: Mapping[int, Known]  # queries, candidates: by the number of the attribute
    candidates: Mapping[int, Known]

    @classmethod
    def of(cls, queries: FloatArray, candidates: FloatArray, attributes: IndexArray) -> KnownValues:
        """Of standardised records, shape (rows, attributes), of some attributes."""
        first, second = (
            {k: Known.of(values[:, k]) for k in attributes.tolist()} for values in (queries, candidates)
        )
        return cls(first, second)


def missing_differences(
    queries: FloatArray,
    candidates: FloatArray,
    numeric: IndexArray,
    rule: Missing,
    known: KnownValues | None = None,
) -> MissingDifferences | None:
    """Differences to missing values of the `numeric` attributes by a rule; None where no value is missing.

    `known` says what missing values may be; by default any known value of the same file.
    """
    lacking = np.isnan(queries[:, numeric]).any(axis=0) | np.isnan(candidates[:, numeric]).any(axis=0)
    attributes: IndexArray = numeric[lacking]
    if attributes.size == 0:
        return None
    of_queries, of_candidates = np.full_like(queries, np.nan), np.full_like(candidates, np.nan)
    of_both = np.zeros(queries.shape[1])
    known = known or KnownValues.of(queries, candidates, attributes)
    for k in attributes.tolist():
        own, other = known.queries[k], known.candidates[k]
        of_queries[:, k] = Known.only(queries[:, k]).minus(other, rule)
        of_candidates[:, k] = own.minus(Known.only(candidates[:, k]), rule)
        of_both[k] = own.minus(other, rule)
    return MissingDifferences(attributes, of_queries, of_candidates, of_both)


def with_missing(table: FloatArray, before: FloatArray, after: FloatArray, rule: Missing) -> FloatArray:
    """Append the missing category to a table of distances (n, m): shape (n + 1, m + 1).

    `before` (n,) and `after` (m,) are frequencies of the categories in the two files. A missing value can
    have been made of any category, and any of one. FormulationError if no value is known in a file.
    """
    if before.sum() == 0.0 or after.sum() == 0.0:
        raise FormulationError("a categorical attribute without any known value cannot be compared")
    result = np.empty((table.shape[0] + 1, table.shape[1] + 1))
    result[:-1, :-1] = table
    result[:-1, -1] = [_to_missing(row, after, rule) for row in table]
    result[-1, :-1] = [_to_missing(column, before, rule) for column in table.T]
    result[-1, -1] = _to_missing(table.ravel(), np.outer(before, after).ravel(), rule)
    return result


def _to_missing(distances: FloatArray, often: FloatArray, rule: Missing) -> float:
    """The distance to a category that is not known, of those that are possible; frequencies are weights."""
    possible = np.isfinite(distances)
    occurring = possible & (often > 0.0)
    if not possible.any():
        return math.inf
    if rule is Missing.NEAREST:
        return float(distances[possible].min())
    # Where masking cannot have made any category that occurs, the missing one was another.
    some, weight = (values[occurring] for values in (distances, often))
    if not occurring.any():
        some, weight = distances[possible], np.ones(int(possible.sum()))
    if rule is Missing.FARTHEST:
        return float(some.max())
    return math.sqrt(math.fsum((weight * (some * some)).tolist()) / math.fsum(weight.tolist()))


class Direction(StrEnum):
    """Which file's records are linked (the blocks) to which file's (the candidates)."""

    ORIGINAL_TO_MASKED = "original-to-masked"
    MASKED_TO_ORIGINAL = "masked-to-original"


@dataclass(frozen=True)
class Comparison:
    """All records of two files, in standardised units or categories."""

    # (queries, attributes): records of the file that is linked; categories as their positions, NaN where a
    # number is missing
    queries: FloatArray
    candidates: FloatArray  # (candidates, attributes): records of the other file
    attributes: tuple[str, ...]  # names of the attributes
    # (attributes,): how far from zero values were before they were standardised (`Standardised`)
    offset: FloatArray
    # (attributes,): what is far below any difference that the attributes show (`ties.grain`)
    grains: FloatArray
    # distances between categories, of a query and of a candidate; all other attributes are numeric
    tables: DistanceTables | None = None
    missing: MissingDifferences | None = None  # what numeric attributes differ by where a value is missing

    def part(self, queries: IndexArray, candidates: IndexArray) -> Comparison:
        """Some of the queries with some of the candidates."""
        missing = self.missing
        if missing is not None:
            of_queries = missing.part(queries)
            missing = replace(of_queries, of_candidates=missing.of_candidates[candidates])
        return replace(
            self, queries=self.queries[queries], candidates=self.candidates[candidates], missing=missing
        )

    def attribute(self, k: int, rows: IndexArray) -> tuple[FloatArray, BoolArray | None]:
        """Differences of attribute `k` of queries `rows` to all candidates, finite, and which are possible.

        The mask is None where all pairs are possible; shapes are (rows, candidates).
        """
        if self.tables is not None and k in self.tables.attributes:
            table = self.tables.table(int(np.searchsorted(self.tables.attributes, k)))
            queries = self.queries[rows, k].astype(np.intp)
            distances = table[queries].take(self.candidates[:, k].astype(np.intp), axis=1)
            possible = np.isfinite(distances)
            return np.where(possible, distances, 0.0), None if np.isfinite(table).all() else possible
        differences: FloatArray = self.queries[rows, k][:, None] - self.candidates[:, k]
        if self.missing is not None:
            self.missing.fill(differences, k, rows[:, None], np.arange(len(self.candidates)))
        return differences, None


@dataclass(frozen=True)
class Columns:
    """What the columns of two files are, and what their values are compared as."""

    names: tuple[str, ...] | None = None  # of the attributes; ``V1``, ``V2``, ... when absent
    # for each attribute None, or the distance of each category of an original record (rows) to each of a
    # masked one (columns), not negative; inf where the first cannot have become the second. The values of
    # such an attribute are positions in its table. All attributes are numeric when absent
    tables: Sequence[FloatArray | None] | None = None
    missing: Missing = Missing.EXPECTED  # what a missing value of a numeric attribute is compared as
    # what missing values may be, in the units of comparison, where other records say that
    known: KnownValues | None = None


NUMERIC = Columns()


def compare_files(
    original: FloatArray,
    masked: FloatArray,
    *,
    columns: Columns = NUMERIC,
    direction: Direction = Direction.ORIGINAL_TO_MASKED,
    standardisation: Standardisation | FileMoments = Standardisation.OWN,
) -> Comparison:
    """Make two files comparable (arguments of `pair.make_pair`); FormulationError if that is impossible."""
    tables, attributes = columns.tables, columns.names
    looked_up = None if tables is None else DistanceTables.of(tables)
    called = [repr(name) for name in attributes or ()]
    queries, candidates, offset = standardised_files(original, masked, standardisation, tables, called)
    if direction is Direction.MASKED_TO_ORIGINAL:
        queries, candidates = candidates, queries
        looked_up = None if looked_up is None else looked_up.transposed()
    names = attributes or tuple(f"V{k + 1}" for k in range(original.shape[1]))
    categorical = np.empty(0, dtype=np.intp) if looked_up is None else looked_up.attributes
    numeric = np.setdiff1d(np.arange(len(names)), categorical).astype(np.intp)
    return Comparison(
        queries=queries,
        candidates=np.ascontiguousarray(candidates),
        attributes=names,
        offset=offset,
        grains=_grains(queries, candidates, offset, looked_up),
        tables=looked_up,
        missing=missing_differences(queries, candidates, numeric, columns.missing, columns.known),
    )


def _grains(
    first: FloatArray, second: FloatArray, offset: FloatArray, tables: DistanceTables | None
) -> FloatArray:
    """The grain of each attribute, shape (attributes,)."""
    grains = grain(first, second, offset)
    if tables is not None:
        for at, k in enumerate(tables.attributes.tolist()):
            grains[k] = table_grain(tables.table(at))
    return grains
