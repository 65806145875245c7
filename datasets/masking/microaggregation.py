"""Microaggregation: multivariate by MDAV, univariate at the least loss, and the protections of D11.2."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.attributes import (
    TABLE,
    checked_attributes,
    values_of,
    with_values,
)
from linkrisk.datasets.masking.base import (
    AttributeMethod,
    NumericMethod,
    about,
    of_known,
    random_generator,
    standardised,
)
from linkrisk.datasets.masking.mdav import mdav_partition
from linkrisk.datasets.masking.microaggregation_kernels import shortest_path
from linkrisk.datasets.masking.parameters import (
    AttributeGroup,
    MicroaggregationParameters,
    NumericParameters,
    OptimalMicroaggregationParameters,
)
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.errors import called

DEFAULT_K = 3
"""The least number of records in a group where none is given."""


@dataclass(frozen=True)
class Microaggregation(MicroaggregationParameters, AttributeMethod):
    """Microaggregation: similar records form groups of k to 2k-1, each value becomes its group's mean.

    The groups of records are found by MDAV on standardised attributes (each with mean 0 and standard
    deviation 1 in the table), separately for every group of attributes; the means are in original units.
    D11.2 (Torra 2013), section 3.2, protects its files this way.

    Missing values stay missing. Records that have values of the same attributes form groups among
    themselves (`partition_by_pattern`), and a mean of fewer than k values is withheld: these values become
    missing.

    Attributes
    ----------
    attributes : tuple of str, optional
        The attributes to mask, all together; by default every numeric key variable.
    k : int, optional
        The least number of records in a group, for all groups without a k of their own; 3 when absent.
    groups : tuple of AttributeGroup
        Groups of attributes with a k each, instead of `attributes`.
    schema : Schema, optional
        Roles, scales and missing codes of the columns.

    Raises
    ------
    DataError
        If k is below 2, an attribute is in two groups, both `attributes` and `groups` are given, or `k` is
        given though every group has its own.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> method = linkrisk.masking.Microaggregation(k=3)
    >>> masked = linkrisk.mask(iris, method).table
    >>> int(masked.groupby(list(masked)).size().min())
    3
    """

    name: ClassVar[str] = "microaggregation"
    chance: ClassVar[bool] = False
    numeric: ClassVar[bool | None] = True

    def __post_init__(self) -> None:
        if self.attributes is not None and self.groups:
            raise DataError(
                f"give either {called('attributes')} or {called('groups')}, not both", option="groups"
            )
        for k in (self.k, *(group.k for group in self.groups)):
            if k is not None:
                check_group_size(k)
        if self.k is not None and self.groups and all(group.k is not None for group in self.groups):
            raise DataError(
                f"{called('k')} has no effect where every one of {called('groups')} has its own k; leave "
                f"{called('k')} out",
                option="k",
            )
        seen: set[str] = set()
        for group in self.groups:
            for attribute in group.attributes:
                if attribute in seen:
                    raise DataError(
                        f"the attribute {attribute!r} is given twice in {called('groups')}; give it once",
                        option="groups",
                    )
                seen.add(attribute)

    @property
    def named(self) -> tuple[str, ...] | None:
        """See `MaskingMethod.named`."""
        return tuple(name for group in self.groups for name in group.attributes) or self.attributes

    def masked_attributes(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """See `MaskingMethod.masked_attributes`."""
        return tuple(name for group in self._resolved(frame, source) for name in group.attributes)

    def restricted(self, attributes: tuple[str, ...]) -> Self:
        """See `MaskingMethod.restricted`: the attributes form one group."""
        return replace(self, attributes=attributes, groups=())

    def describe(self, frame: pd.DataFrame) -> str:
        """See `MaskingMethod.describe`."""
        parts = [f"{shown_names(group.attributes)} with k = {group.k}" for group in self._resolved(frame)]
        return "microaggregation (MDAV) of " + "; of ".join(parts)

    def apply(self, frame: pd.DataFrame, seed: int | None = None, *, source: str = TABLE) -> pd.DataFrame:
        """See `MaskingMethod.apply`."""
        random_generator(seed)
        masked = frame
        for group in self._resolved(frame, source):
            k = self._k_of(group)
            values = values_of(frame, group.attributes, source, self.schema)
            with about(source):
                check_enough_records(len(frame), k)
            check_enough_values(values, group.attributes, k, source)
            with about(source):
                groups = partition_by_pattern(standardised(values), k)
            means = group_means(values, groups, least=k)
            masked = with_values(masked, group.attributes, values, means, self.schema)
        return masked

    def _k_of(self, group: AttributeGroup) -> int:
        return next(k for k in (group.k, self.k, DEFAULT_K) if k is not None)

    def _resolved(self, frame: pd.DataFrame, source: str = TABLE) -> tuple[AttributeGroup, ...]:
        chosen = self.groups or (AttributeGroup(super().masked_attributes(frame, source=source)),)
        return tuple(
            AttributeGroup(checked_attributes(frame, group.attributes, source), self._k_of(group))
            for group in chosen
        )


def check_group_size(k: int) -> None:
    """Raise a DataError if k is below 2."""
    if k < 2:
        raise DataError(f"k is {k}; a group needs at least 2 records")


def check_enough_records(records: int, k: int, what: str = "record") -> None:
    """Raise a DataError if there are fewer than k records, or values."""
    if k > records:
        found = f"is only 1 {what}" if records == 1 else f"are only {records} {what}s"
        raise DataError(f"k is {k}, but there {found}; choose a smaller k")


def check_enough_values(
    values: npt.NDArray[np.float64], attributes: Sequence[str], k: int, source: str
) -> None:
    """Raise a DataError for the first attribute with some values, but fewer than k."""
    for name, count in zip(attributes, (~np.isnan(values)).sum(axis=0).tolist(), strict=True):
        if count:
            with about(f"{source}, column {name!r}"):
                check_enough_records(count, k, "value")


def group_means(
    values: npt.NDArray[np.float64], groups: Sequence[npt.NDArray[np.intp]], *, least: int = 1
) -> npt.NDArray[np.float64]:
    """Group means (n, a) of the known values; NaN for missing values and means of fewer than `least`."""
    means = np.full_like(values, np.nan)
    if not groups:
        return means
    order, sizes = np.concatenate(groups), np.array([len(rows) for rows in groups])
    group_of = np.repeat(np.arange(len(groups)), sizes)
    for position, column in enumerate(values[order].T):
        known = ~np.isnan(column)
        counts = np.bincount(group_of[known], minlength=len(groups))
        ends, cells = np.cumsum(counts).tolist(), column[known].tolist()
        found = [
            # Exactly rounded sums do not depend on the order of the records.
            math.fsum(cells[end - count : end]) / count if count >= least else math.nan
            for end, count in zip(ends, counts.tolist(), strict=True)
        ]
        means[order[known], position] = np.repeat(found, counts)
    return means


def partition_by_pattern(points: FloatArray, k: int) -> list[IndexArray]:
    """Partition records (n, a) by MDAV, those with the same attributes known among themselves.

    A pattern is the set of attributes that a record has a value of. Records of a pattern that k records or
    more have form groups by `mdav_partition`. Every other record joins the nearest group: of the groups
    whose pattern has most attributes in common with its own, the one with the least sum of squared
    differences to the mean of the group in these attributes; the first of several. Records without any
    value are in no group.
    """
    known = ~np.isnan(points)
    if known.all():
        return mdav_partition(points, k)
    patterns, found, counts = np.unique(known, axis=0, return_inverse=True, return_counts=True)
    some = patterns.any(axis=1)
    common = np.flatnonzero(some & (counts >= k))
    groups: list[IndexArray] = []
    pattern_of_group: list[int] = []
    for pattern in common.tolist():
        rows = np.flatnonzero(found == pattern)
        made = mdav_partition(np.ascontiguousarray(points[np.ix_(rows, patterns[pattern])]), k)
        groups += [rows[group] for group in made]
        pattern_of_group += [pattern] * len(made)
    rare = np.flatnonzero(some & (counts < k))
    if rare.size == 0:
        return groups
    if not groups:
        raise DataError(
            f"no {k} records have a value of the same attributes; choose a smaller k, or mask fewer "
            "attributes together"
        )
    means = np.array([points[group].mean(axis=0) for group in groups])
    joined: list[list[int]] = [[] for _ in groups]
    for pattern in rare.tolist():
        rows = np.flatnonzero(found == pattern)
        _join(joined, points, rows, means, patterns[pattern_of_group] & patterns[pattern])
    return [
        np.sort(np.append(group, more).astype(np.intp)) for group, more in zip(groups, joined, strict=True)
    ]


def _join(
    joined: list[list[int]], points: FloatArray, rows: IndexArray, means: FloatArray, shared: BoolArray
) -> None:
    """Let records of one pattern join the nearest of the groups that share most attributes with it."""
    overlap = shared.sum(axis=1)
    if overlap.max() == 0:
        return
    eligible = np.flatnonzero(overlap == overlap.max())
    for row in rows.tolist():
        distances = np.zeros(eligible.size)
        # Attribute by attribute, without matrix products: their rounding depends on the machine.
        for position in np.flatnonzero(shared[eligible].any(axis=0)).tolist():
            difference = means[eligible, position] - points[row, position]
            distances += np.where(shared[eligible, position], difference * difference, 0.0)
        joined[int(eligible[np.argmin(distances)])].append(row)


@dataclass(frozen=True, kw_only=True)
class OptimalMicroaggregation(OptimalMicroaggregationParameters, NumericMethod):
    """Microaggregation of every attribute by itself, with the least sum of squared errors.

    S. Hansen and S. Mukherjee, A polynomial algorithm for optimal univariate microaggregation, IEEE Trans.
    on Knowledge and Data Engineering 15(4), 2003: an optimal grouping has groups of k to 2k-1 consecutive
    values of the sorted attribute, and is a shortest path. Missing values stay missing and are in no group.

    Attributes
    ----------
    k : int
        The least number of records in a group.

    Raises
    ------
    DataError
        If k is below 2.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> method = linkrisk.masking.OptimalMicroaggregation(k=5, attributes=("sepal_length",))
    >>> masked = linkrisk.mask(iris, method).table
    >>> int(masked["sepal_length"].value_counts().min())
    5
    """

    name: ClassVar[str] = "optimal-microaggregation"
    chance: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_group_size(self.k)

    @property
    def action(self) -> str:
        """See `NumericMethod`."""
        return f"optimal univariate microaggregation with k = {self.k}, each attribute by itself,"

    def mask_values(
        self,
        values: FloatArray,
        generator: np.random.Generator,  # noqa: ARG002 - nothing is left to chance
    ) -> FloatArray:
        """See `NumericMethod.mask_values`."""
        check_enough_records(len(values), self.k)
        return of_known(values, self._means)

    def _means(self, column: FloatArray) -> FloatArray:
        check_enough_records(len(column), self.k, "value")
        return group_means(column[:, np.newaxis], optimal_partition(column, self.k))[:, 0]


def optimal_partition(values: FloatArray, k: int) -> list[IndexArray]:
    """Partition numbers (n,) into groups of k to 2k-1 with the least sum of squared errors, in O(n k).

    Groups are by ascending values. Equal values keep the order of their rows; among equal partitions the
    one whose first groups are smaller wins.
    """
    order = np.argsort(values, kind="stable")
    size = shortest_path(values[order], k)
    n = len(values)
    groups, start = [], 0
    while start < n:
        groups.append(np.sort(order[start : start + size[start]]))
        start += int(size[start])
    return groups


@dataclass(frozen=True)
class Protection(NumericParameters, AttributeMethod):
    """Microaggregation of the first few key variables in consecutive groups with a k each.

    D11.2 (Torra 2013), section 3.2. M5-38, for example, is five attributes: the first three with k = 3, the
    last two with k = 8.

    Attributes
    ----------
    name : str
        What the protection is called.
    sizes : tuple of (int, int)
        For each group of attributes how many there are and their k.
    attributes : tuple of str, optional
        The key variables, of which the first are masked; by default all numeric ones of the table.
    schema : Schema, optional
        Roles, scales and missing codes of the columns.
    """

    name: str
    sizes: tuple[tuple[int, int], ...]

    chance: ClassVar[bool] = False
    numeric: ClassVar[bool | None] = True

    @property
    def width(self) -> int:
        """Number of attributes that it masks."""
        return sum(count for count, _ in self.sizes)

    def method(self, frame: pd.DataFrame, *, source: str = TABLE) -> Microaggregation:
        """The microaggregation of a table that it stands for."""
        names = super().masked_attributes(frame, source=source)
        if len(names) < self.width:
            raise DataError(
                f"{source}: {self.name} masks {self.width} attributes but there are {len(names)} "
                f"({shown_names(names)}); name more with {called('attributes')} or choose another protection",
                option="attributes",
            )
        groups, start = [], 0
        for count, k in self.sizes:
            groups.append(AttributeGroup(names[start : start + count], k))
            start += count
        return Microaggregation(groups=tuple(groups), schema=self.schema)

    def masked_attributes(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """See `MaskingMethod.masked_attributes`."""
        return self.method(frame, source=source).masked_attributes(frame, source=source)

    def describe(self, frame: pd.DataFrame) -> str:
        """See `MaskingMethod.describe`."""
        return f"{self.name}, {self.method(frame).describe(frame)}"

    def apply(self, frame: pd.DataFrame, seed: int | None = None, *, source: str = TABLE) -> pd.DataFrame:
        """See `MaskingMethod.apply`."""
        return self.method(frame, source=source).apply(frame, seed, source=source)


PROTECTIONS: Mapping[str, Protection] = MappingProxyType(
    {
        protection.name: protection
        for protection in (
            Protection("M4-33", ((2, 3), (2, 3))),
            Protection("M4-28", ((2, 2), (2, 8))),
            Protection("M4-82", ((2, 8), (2, 2))),
            Protection("M5-38", ((3, 3), (2, 8))),
            Protection("M6-385", ((2, 3), (2, 8), (2, 5))),
            Protection("M6-853", ((2, 8), (2, 5), (2, 3))),
        )
    }
)
"""The protections of D11.2 by name: digits after the dash are the k of each group of attributes."""
