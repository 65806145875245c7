"""Missing values: what a value that is not there differs by from one that is.

Masking suppresses values on purpose, and some are missing in originals as well. A rule says, attribute by
attribute, what the difference of a value z and a missing one is, from the values y of the file in which it is
missing:

- nearest: 0, as if the missing value were the same;
- expected: the root of the square of ``z - y`` that is to be expected, ``(z - mean(y))**2 + variance(y)``,
  with the sign of ``z - mean(y)``;
- farthest: the ``z - y`` that is largest in absolute value.

The difference is a number like any other from then on, so every distance stays linear in its parameters.
Where both values are missing, both are drawn. Distances of categories have no sign, and get a category more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.moments import moments

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
        quadratic form tells signs apart, and everybody has to come to the same.
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
    """Differences of numeric attributes where a value is missing, which records hold as NaN.

    Attributes
    ----------
    attributes : ndarray of int, shape (any,)
        Those in which a value is missing, ascending.
    of_queries : ndarray of float64, shape (queries, attributes)
        Differences of the values of queries to a missing one of a candidate; NaN where they are missing.
    of_candidates : ndarray of float64, shape (candidates, attributes)
        Differences of a missing value of a query to the values of candidates.
    of_both : ndarray of float64, shape (attributes,)
        Differences of a missing value of a query to a missing one of a candidate.
    """

    attributes: IndexArray
    of_queries: FloatArray
    of_candidates: FloatArray
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
    """The known values of the attributes of two files.

    Attributes
    ----------
    queries, candidates : mapping of int to Known
        By the number of the attribute.
    """

    queries: Mapping[int, Known]
    candidates: Mapping[int, Known]

    @classmethod
    def of(cls, queries: FloatArray, candidates: FloatArray, attributes: IndexArray) -> KnownValues:
        """Of standardised records, shape (rows, attributes), and the attributes that are asked for."""
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
    """Differences to missing values by a rule; None where no value is missing.

    Parameters
    ----------
    queries, candidates : ndarray of float64, shape (rows, attributes)
        Standardised records of both files, NaN where a value is missing.
    numeric : ndarray of int, shape (any,)
        The attributes that are not looked up.
    rule : Missing
    known : KnownValues, optional
        What missing values may be, of all numeric attributes; as in these records when absent.
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
    """A table of distances of categories with one category more on either side: the missing one, the last.

    Parameters
    ----------
    table : ndarray of float64, shape (n, m)
        Distances of categories of original records (rows) to those of masked ones; inf where the second
        cannot have been made of the first. A missing value can have been made of any, and any of one.
    before, after : ndarray of float64, shape (n,), (m,)
        How many records of each file have each category; some of either.
    rule : Missing

    Returns
    -------
    ndarray of float64, shape (n + 1, m + 1)
        Finite where a value is missing, unless nothing at all is possible.

    Raises
    ------
    FormulationError
        If a file has no record whose category is known.
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
