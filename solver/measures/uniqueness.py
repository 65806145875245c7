"""Sample frequencies of the key variables: who is unique, and who has fewer than k of a kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import LongArray
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.solver.measures.base import OF_RECORDS, Finding, Measure
from linkrisk.solver.measures.keys import (
    Groups,
    KeyFile,
    PerRecord,
    groups_of,
    key_notes,
    masked_keys,
    original_keys,
    sums,
    without_keys,
)
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock

LEVELS = (2, 3, 5)
"""The k of k-anonymity that are counted, those that sdcMicro prints."""

_MANY = 0.5
"""A key variable with more different values than this share of records makes nearly all unique."""


@dataclass(frozen=True)
class Anonymity:
    """Records that violate k-anonymity: fewer than k records, themselves included, have their key."""

    k: int
    masked: int  # records of either file; a missing value is a category of its own. More are worse
    original: int
    masked_wildcard: int | None  # where a missing value fits any; None where that is not counted
    original_wildcard: int | None


@dataclass(frozen=True, eq=False, repr=False)
class Uniqueness(PerRecord):
    """Sample frequencies on the key variables (Hundepool et al. 2012, Chapter 3; Samarati 2001)."""

    measure: ClassVar[str] = "uniqueness"
    per_record: ClassVar[tuple[str, ...]] = ("frequency", "wildcard")
    keys: tuple[str, ...]
    records: int
    original_records: int
    combinations: int  # different keys in the masked file
    anonymity: tuple[Anonymity, ...]  # for k = 2, 3 and 5; below 2 are the sample uniques
    frequency: LongArray  # (records,): f_k: how many masked records have the key of this one, itself included
    wildcard: LongArray | None  # (records,): the same where a missing value fits any
    many_values: tuple[str, ...]  # key variables whose values are nearly all different
    without: tuple[str, ...] = ()  # notes on what was not counted

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Shares of records below k, of the masked file and for k = 2 of the original."""
        unique, *others = self.anonymity
        n, before = self.records, self.original_records
        found = [Finding("below_2_anonymity", "sample uniques (below 2-anonymity)", unique.masked / n)]
        if unique.masked_wildcard is not None:
            words = "the same, missing values fit any"
            found.append(Finding("below_2_anonymity_wildcard", words, unique.masked_wildcard / n))
        found += [
            Finding(f"below_{each.k}_anonymity", f"below {each.k}-anonymity", each.masked / n)
            for each in others
        ]
        words = "sample uniques of the original file"
        return (*found, Finding("original_below_2_anonymity", words, unique.original / before))

    @property
    def paragraph(self) -> str:
        """Uniques now and before, and the other levels."""
        unique, *others = self.anonymity
        below = " and ".join(f"{each.masked:,} have fewer than {each.k} of their kind" for each in others)
        variables = "key variable" if len(self.keys) == 1 else "key variables"
        text = (
            f"{unique.masked:,} of {self.records:,} masked records are unique on {len(self.keys)} "
            f"{variables} ({unique.original:,} of {self.original_records:,} in the original file); {below}."
        )
        if unique.masked_wildcard is None:
            return text
        return f"{text} Where a missing value fits any, {unique.masked_wildcard:,} are unique."

    @property
    def notes(self) -> tuple[str, ...]:
        """Keys that the masked file lacks, and keys that are not categories."""
        if not self.many_values:
            return self.without
        return (
            *self.without,
            "key variables count as their values, and more than half of these are different in "
            f"{shown_names(list(self.many_values))}: a schema can say which columns are key variables",
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per masked record: row (from 1), frequency, and wildcard where values are missing."""
        columns = {"row": np.arange(1, self.records + 1), "frequency": self.frequency}
        if self.wildcard is not None:
            columns["wildcard"] = self.wildcard
        return pd.DataFrame(columns)


class UniquenessOfKeys(Measure):
    """Sample uniques and k-anonymity."""

    name: ClassVar[str] = "uniqueness"
    title: ClassVar[str] = "Uniqueness on the key variables"
    unit: ClassVar[str] = OF_RECORDS
    cost: ClassVar[float] = 0.1
    growth: ClassVar[float] = 1.0

    def lacking(self, task: RiskTask) -> str | None:
        """Key variables."""
        return without_keys(task)

    def take(self, task: RiskTask, clock: Clock) -> Uniqueness:
        """Count both files."""
        del clock
        masked, original = masked_keys(task), original_keys(task)
        groups = groups_of(masked.codes)
        now, now_fitting = _frequencies(masked, groups)
        before, before_fitting = _frequencies(original, groups_of(original.codes))
        levels = tuple(
            Anonymity(
                k,
                *(int((f < k).sum()) for f in (now, before)),
                *(None if f is None else int((f < k).sum()) for f in (now_fitting, before_fitting)),
            )
            for k in LEVELS
        )
        # Codes go from 0, or `MISSING`, without a gap.
        different = masked.codes.max(axis=0, initial=-1) - masked.codes.min(axis=0, initial=0) + 1
        many = tuple(np.array(masked.names)[different > _MANY * len(now)].tolist())
        return Uniqueness(
            masked.names,
            len(now),
            len(before),
            int(groups.max(initial=-1)) + 1,
            levels,
            now,
            now_fitting,
            many,
            (*key_notes(task), *masked.uncounted(now_fitting)),
        )


def _frequencies(keys: KeyFile, groups: Groups) -> tuple[LongArray, LongArray | None]:
    """f_k of every record, with missing values as a category, and fitting any where there are some."""
    own = sums(groups).astype(np.int64)
    fitting = keys.wildcards(None)
    return own, None if fitting is None else fitting[0].astype(np.int64)
