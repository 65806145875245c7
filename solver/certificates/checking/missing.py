"""Missing values: the differences of attributes that a rule gives them, by code of its own.

They are doubles by definition, each the outcome of a few operations that every machine rounds alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.certificates.checking.moments import moments
from linkrisk.solver.certificates.core.claims import demand

RULES = ("nearest", "expected", "farthest")


@dataclass(frozen=True, eq=False)
class MissingDifferences:
    """Differences of one numeric attribute where a value is missing.

    Attributes
    ----------
    queries : ndarray of float64, shape (blocks,)
        Of each query's value to a missing one; NaN where it is missing.
    candidates : ndarray of float64, shape (candidates,)
        Of a missing value to each candidate's; NaN where it is missing.
    both : float
        Of a missing value to a missing one.
    """

    queries: FloatArray
    candidates: FloatArray
    both: float

    def of(self, blocks: int | IndexArray, candidates: IndexArray) -> FloatArray:
        """The differences of a block to some candidates, where the value is missing in one or both.

        Or of blocks, one for each of the candidates.
        """
        known, other = self.queries[blocks], self.candidates[candidates]
        result: FloatArray = np.where(np.isnan(known), np.where(np.isnan(other), self.both, other), known)
        return result

    def doubles(self) -> FloatArray:
        """All of them."""
        values = np.concatenate([self.queries, self.candidates, [self.both]])
        return np.asarray(values[~np.isnan(values)])


def missing_differences(
    queries: FloatArray, blocks: Sequence[int], candidates: FloatArray, rule: str
) -> MissingDifferences | None:
    """The differences of an attribute by a rule; None where nothing is missing.

    Parameters
    ----------
    queries, candidates : ndarray of float64, shape (rows,)
        Standardised values of all records of both files, NaN where missing.
    blocks : sequence of int
        The queries that are linked.
    rule : str
    """
    ours, theirs = (column[~np.isnan(column)].tolist() for column in (queries, candidates))
    if len(ours) == queries.size and len(theirs) == candidates.size:
        return None
    demand(bool(ours and theirs), "an attribute has no value in one of the files")
    any_query, any_candidate = _Draw.of(ours), _Draw.of(theirs)
    return MissingDifferences(
        np.array([_apart(_Draw.only(x), any_candidate, rule) for x in queries[list(blocks)].tolist()]),
        np.array([_apart(any_query, _Draw.only(x), rule) for x in candidates.tolist()]),
        _apart(any_query, any_candidate, rule),
    )


class _Draw(NamedTuple):
    """What a value may be: mean, deviation, least and most; NaN where it is missing and not drawn."""

    mean: float
    deviation: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> _Draw:
        mean, deviation = moments(values) if len(values) > 1 else (values[0], 0.0)
        return cls(mean, deviation, min(values), max(values))

    @classmethod
    def only(cls, value: float) -> _Draw:
        return cls(value, 0.0, value, value)


def _apart(first: _Draw, second: _Draw, rule: str) -> float:
    """The difference of two values by a rule; NaN where one of them is."""
    if math.isnan(first.mean) or math.isnan(second.mean):
        return math.nan
    if rule == "nearest":
        return 0.0
    if rule == "farthest":
        least, most = first.least - second.most, first.most - second.least
        return least if abs(least) >= abs(most) else most
    middle, ours, theirs = first.mean - second.mean, first.deviation, second.deviation
    return math.copysign(math.sqrt(middle * middle + ours * ours + theirs * theirs), middle)


def with_unknown(table: FloatArray, before: FloatArray, after: FloatArray, rule: str) -> FloatArray:
    """A table of distances of categories with a last row and column for values that are missing.

    Parameters
    ----------
    table : ndarray of float64, shape (n, m)
    before, after : ndarray of float64, shape (n,), (m,)
        How many records of each file have each category.
    rule : str
    """
    rows = [[*row, _category(row, after.tolist(), rule)] for row in table.tolist()]
    last = [_category(column, before.tolist(), rule) for column in table.T.tolist()]
    together = np.outer(before, after).ravel().tolist()
    return np.array([*rows, [*last, _category(table.ravel().tolist(), together, rule)]])


def _category(distances: Sequence[float], often: Sequence[float], rule: str) -> float:
    """The distance to a category that nobody knows, drawn from those that are possible and occur."""
    possible = [(d, n) for d, n in zip(distances, often, strict=True) if d < math.inf]
    if not possible:
        return math.inf
    if rule == "nearest":
        return min(d for d, _ in possible)
    drawn = [(d, n) for d, n in possible if n > 0.0] or [(d, 1.0) for d, _ in possible]
    if rule == "farthest":
        return max(d for d, _ in drawn)
    return math.sqrt(math.fsum(n * (d * d) for d, n in drawn) / math.fsum(n for _, n in drawn))
