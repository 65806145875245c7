"""Multivariate microaggregation (MDAV), each group of attributes by itself with a k of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import about, random_generator, standardised
from linkrisk.datasets.masking.choosing import (
    TABLE,
    choose_attributes,
    chosen_by_default,
    values_of,
    with_values,
)
from linkrisk.datasets.masking.known_patterns import partition_by_pattern
from linkrisk.datasets.masking.parameters import AttributeGroup, MicroaggregationParameters
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.errors import called

DEFAULT_K = 3
"""The least number of records in a group where none is given."""


@dataclass(frozen=True)
class Microaggregation(MicroaggregationParameters):
    """Microaggregation: similar records form groups of k to 2k-1, each value becomes its group's mean.

    The groups of records are found by MDAV on standardised attributes (each with mean 0 and standard
    deviation 1 in the table), separately for every group of attributes; the means are in original units.
    D11.2 (Torra 2013), section 3.2, protects its files this way.

    Missing values stay missing. Records that have values of the same attributes form groups among themselves
    (`partition_by_pattern`), and a mean of fewer than k values is withheld: these values become missing.

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
    """

    name: ClassVar[str] = "microaggregation"
    chance: ClassVar[bool] = False

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

    def candidates(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """Name every numeric key variable."""
        return chosen_by_default(frame, source, self.schema, numeric=True)

    def masked_attributes(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """Name the attributes of this table that `apply` would mask."""
        return tuple(name for group in self._resolved(frame, source) for name in group.attributes)

    def restricted(self, attributes: tuple[str, ...]) -> Self:
        """The same method with these attributes to mask, all together."""
        return replace(self, attributes=attributes, groups=())

    def describe(self, frame: pd.DataFrame) -> str:
        """Say in one line what `apply` does to this table."""
        parts = [f"{shown_names(group.attributes)} with k = {group.k}" for group in self._resolved(frame)]
        return "microaggregation (MDAV) of " + "; of ".join(parts)

    def apply(self, frame: pd.DataFrame, seed: int | None = None, *, source: str = TABLE) -> pd.DataFrame:
        """Mask a table (see `MaskingMethod.apply`); nothing is left to chance."""
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
        chosen = self.groups or (
            AttributeGroup(choose_attributes(frame, self.attributes, source, self.schema)),
        )
        return tuple(
            AttributeGroup(choose_attributes(frame, group.attributes, source), self._k_of(group))
            for group in chosen
        )


def check_group_size(k: int) -> None:
    """Raise a DataError when k is below 2."""
    if k < 2:
        raise DataError(f"k is {k}; a group needs at least 2 records")


def check_enough_records(records: int, k: int, what: str = "record") -> None:
    """Raise a DataError when there are fewer than k records, or values."""
    if k > records:
        found = f"is only 1 {what}" if records == 1 else f"are only {records} {what}s"
        raise DataError(f"k is {k}, but there {found}; choose a smaller k")


def check_enough_values(
    values: npt.NDArray[np.float64], attributes: Sequence[str], k: int, source: str
) -> None:
    """Raise a DataError for the first attribute that has values, but fewer than k."""
    for name, count in zip(attributes, (~np.isnan(values)).sum(axis=0).tolist(), strict=True):
        if count:
            with about(f"{source}, column {name!r}"):
                check_enough_records(count, k, "value")


def group_means(
    values: npt.NDArray[np.float64], groups: Sequence[npt.NDArray[np.intp]], *, least: int = 1
) -> npt.NDArray[np.float64]:
    """Replace every known value of an array (n, a) by the mean of the known ones of its group.

    Parameters
    ----------
    values : float64 array (n, a)
        The records, NaN where a value is missing.
    groups : sequence of intp arrays
        Row numbers, each row in at most one group.
    least : int
        Of so many values a mean is made at least.

    Returns
    -------
    float64 array (n, a)
        NaN where a value is missing, is in no group, or is one of fewer than `least` in its group.
    """
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
