"""Compute l-diversity and t-closeness of confidential attributes among records with the same key.

References
----------
Machanavajjhala, A., Kifer, D., Gehrke, J., Venkitasubramaniam, M. (2007) l-diversity: privacy beyond
k-anonymity. ACM TKDD 1(1), 3.

Li, N., Li, T., Venkatasubramanian, S. (2007) t-closeness: privacy beyond k-anonymity and l-diversity.
ICDE.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.schema import Attribute, Scale
from linkrisk.datasets.microdata.values import spelled
from linkrisk.solver.measures.base import OF_RECORDS, Finding, Measure, Unit, Worse
from linkrisk.solver.measures.keys import (
    MISSING,
    Codes,
    Groups,
    PerRecord,
    column_codes,
    groups_of,
    key_notes,
    masked_keys,
    without_keys,
)
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock

CONSTANT = 2.0
"""The c of recursive (c, l)-diversity: sdcMicro's `l_recurs_c`."""


class Entries(NamedTuple):
    """Values and their counts in every group."""

    group: LongArray  # (entries,)
    value: LongArray
    frequency: LongArray
    size: LongArray  # (groups,): records of each group

    @property
    def share(self) -> FloatArray:
        """Share of the group's records with the value."""
        return self.frequency / self.size[self.group]


class LDiversity(NamedTuple):
    """l-diversity of each group; less is worse."""

    distinct: LongArray  # (groups,): different values
    entropy: FloatArray  # (groups,): ``exp(-sum p log p)`` over the shares p of values
    recursive: LongArray  # (groups,): largest l with ``r_1 < c (r_l + r_(l+1) + ...)``, r descending


def entries_of(groups: Groups, values: Codes) -> Entries:
    """Count the values (n,), from 0, of every group; records of value `MISSING` are not counted."""
    known = values != MISSING
    size = np.bincount(groups[known], minlength=int(groups.max()) + 1)
    width = int(values.max()) + 1 if known.any() else 1
    joint, count = np.unique(groups[known].astype(np.int64) * width + values[known], return_counts=True)
    return Entries(joint // width, joint % width, count.astype(np.int64), size.astype(np.int64))


def l_diversity(entries: Entries, constant: float = CONSTANT) -> LDiversity:
    """Compute distinct, entropy and recursive l of every group."""
    groups = entries.size.size
    share = entries.share
    distinct = np.bincount(entries.group, minlength=groups).astype(np.int64)
    entropy = np.exp(np.bincount(entries.group, -share * np.log(share), minlength=groups))
    order = np.lexsort((-entries.frequency, entries.group))
    group, count = entries.group[order], entries.frequency[order]
    # Size of the rest of the group from each rank on, and the count of its first rank.
    first = np.cumsum(distinct) - distinct
    rest = entries.size[group] - (np.cumsum(count) - count - (np.cumsum(count) - count)[first[group]])
    holds = count[first[group]] < constant * rest
    recursive = np.maximum(1, np.bincount(group, holds, minlength=groups)).astype(np.int64)
    return LDiversity(distinct, entropy, recursive)


def t_closeness(entries: Entries, *, ordered: bool) -> FloatArray:
    """Compute the distance of each group's distribution P to that of the file Q, shape (groups,), 0 to 1.

    The earth mover's distance of Li et al. (2007): for m ordered values, neighbours ``1/(m-1)`` apart,
    ``1/(m-1) sum_i |P(1..i) - Q(1..i)|``; for categories, all 1 apart, the total variation
    ``1/2 sum_i |p_i - q_i|``. Time and memory grow with the values that occur in groups, not with groups
    times values: between two values of a group P stays as it is, and prefix sums of Q give the rest.
    """
    whole = np.bincount(entries.value, entries.frequency).astype(np.float64)
    whole /= max(1.0, whole.sum())
    groups, m = entries.size.size, whole.size
    if not ordered:
        # Where p exceeds q, which is half of all differences, the value occurs in the group.
        above = np.maximum(0.0, entries.share - whole[entries.value])
        return np.bincount(entries.group, above, minlength=groups).astype(np.float64)
    if m < 2:
        return np.zeros(groups)
    areas = _areas(entries, whole)
    return np.bincount(entries.group, areas, minlength=groups) / (m - 1)


def _areas(entries: Entries, whole: FloatArray) -> FloatArray:
    """Sum ``|P(1..i) - Q(1..i)|`` from each value of a group to its next; the first includes those before."""
    upto = np.cumsum(whole)
    total = np.concatenate([[0.0], np.cumsum(upto)])
    new = np.concatenate([[True], entries.group[1:] != entries.group[:-1]])
    last = np.concatenate([new[1:], [True]])
    counted = np.cumsum(entries.frequency)
    start = (counted - entries.frequency)[np.flatnonzero(new)][np.cumsum(new) - 1]
    level = (counted - start) / entries.size[entries.group]
    low = entries.value
    high = np.where(last, whole.size, np.concatenate([entries.value[1:], [0]]))
    crossing = np.clip(np.searchsorted(upto, level, side="right"), low, high)
    below = level * (crossing - low) - (total[crossing] - total[low])
    beyond = total[high] - total[crossing] - level * (high - crossing)
    found: FloatArray = np.maximum(0.0, below + beyond) + np.where(new, total[low], 0.0)
    return found


ENOUGH = 2
"""Number of values below which a group discloses one with certainty."""


@dataclass(frozen=True)
class AttributeDiversity:
    """One confidential attribute among records with the same key."""

    attribute: str
    ordered: bool  # whether t is that of ordered values
    least_distinct: int  # smallest l of a group, distinct and recursive with c = 2. Fewer are worse
    least_entropy: float  # smallest exponential entropy of a group, 1 or more. Less is worse
    least_recursive: int
    below_distinct: int  # records in groups with l below 2. More are worse
    below_entropy: int
    below_recursive: int
    most_t: float  # largest t of a group, 0 to 1. More is worse
    mean_t: float  # mean over records


@dataclass(frozen=True, eq=False, repr=False)
class Diversity(PerRecord):
    """Disclosure of confidential attributes by the masked file without identification (`group_diversity`)."""

    measure: ClassVar[str] = "diversity"
    per_record: ClassVar[tuple[str, ...]] = ("distinct", "closeness")
    keys: tuple[str, ...]
    groups: int  # different keys
    attributes: tuple[AttributeDiversity, ...]  # of each confidential attribute, c of them
    below: int  # records whose group has a single value of some attribute; more are worse
    distinct: NDArray[np.int64]  # (records, c): distinct l of the record's group
    closeness: FloatArray  # (records, c): its t
    remarks: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Report the worst of each number over all confidential attributes."""
        distinct = float(min(each.least_distinct for each in self.attributes))
        entropy = min(each.least_entropy for each in self.attributes)
        most = max(each.most_t for each in self.attributes)
        mean = max(each.mean_t for each in self.attributes)
        return (
            Finding(
                "below_2_diversity", "one confidential value in the group", self.below / len(self.distinct)
            ),
            Finding("least_distinct_l", "least distinct l", distinct, Unit.NUMBER, Worse.LOWER),
            Finding("least_entropy_l", "least entropy l", entropy, Unit.NUMBER, Worse.LOWER),
            Finding("most_t", "largest t (t-closeness)", most, Unit.NUMBER),
            Finding("mean_t", "mean t over records", mean, Unit.NUMBER),
        )

    @property
    def paragraph(self) -> str:
        """Report who is disclosed without identification, and by which attribute most."""
        records = len(self.distinct)
        worst = max(self.attributes, key=lambda each: each.below_distinct)
        far = max(self.attributes, key=lambda each: each.mean_t)
        return (
            f"{self.below:,} of {records:,} masked records share their key only with records of the same "
            f"confidential value ({worst.below_distinct:,} in {worst.attribute}), which the key discloses "
            "without a link. The distribution within a group is farthest from that of the file in "
            f"{far.attribute} (t {far.most_t:.2g} at most, {far.mean_t:.2g} on average)."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Note what was left out."""
        return self.remarks

    def to_frame(self) -> pd.DataFrame:
        """One row per confidential attribute; the columns are the fields of `AttributeDiversity`."""
        return pd.DataFrame([vars(each) for each in self.attributes])


class DiversityOfGroups(Measure):
    """Computes l-diversity and t-closeness."""

    name: ClassVar[str] = "diversity"
    title: ClassVar[str] = "Confidential attributes within a key"
    unit: ClassVar[str] = OF_RECORDS
    cost: ClassVar[float] = 0.1
    growth: ClassVar[float] = 1.0

    def lacking(self, task: RiskTask) -> str | None:
        """Require key variables and confidential attributes."""
        if not task.confidential:
            return "no schema names a confidential attribute"
        if not _confidential(task):
            return f"the masked file does not have {shown_names(list(task.confidential))}"
        if set(task.keys) <= set(task.confidential):
            return "there are no key variables beside the confidential attributes"
        return without_keys(task)

    def take(self, task: RiskTask, clock: Clock) -> Diversity:
        """Count the values of every group of the masked file."""
        del clock
        keys, names = masked_keys(task), _confidential(task)
        gone = [name for name in task.confidential if name not in names]
        remarks = (
            [f"the masked file does not have {shown_names(gone)}: no diversity of these"] if gone else []
        )
        used = [at for at, name in enumerate(keys.names) if name not in names]
        groups = groups_of(keys.codes[:, used])
        assert task.schema is not None
        found, distinct, closeness = [], [], []
        for name in names:
            each, l_of, t_of = attribute_diversity(task.schema.get(name), task.files.masked[name], groups)
            found.append(each)
            distinct.append(l_of)
            closeness.append(t_of)
        levels = np.column_stack(distinct)
        return Diversity(
            tuple(keys.names[at] for at in used),
            int(groups.max()) + 1,
            tuple(found),
            int((levels < ENOUGH).any(axis=1).sum()),
            levels,
            np.column_stack(closeness),
            (*(remarks if gone else ()), *key_notes(task)),
        )


def attribute_diversity(
    attribute: Attribute, column: pd.Series, groups: NDArray[np.intp]
) -> tuple[AttributeDiversity, NDArray[np.int64], FloatArray]:
    """Summarise one attribute, with distinct l and t of each record's group.

    A missing value is a category of its own; of ordered values, where it has no place, only for l.
    """
    ranked = _ranked(attribute, column)
    ordered = ranked is not None
    values = column_codes(column) if ranked is None else ranked
    complete = np.where(values == MISSING, int(values.max(initial=-1)) + 1, values)
    entries = entries_of(groups, complete)
    measured = l_diversity(entries)
    closeness = t_closeness(entries_of(groups, values) if ordered else entries, ordered=ordered)[groups]
    distinct = measured.distinct[groups]
    summary = AttributeDiversity(
        attribute.name,
        ordered,
        int(distinct.min()),
        float(measured.entropy.min()),
        int(measured.recursive.min()),
        int((distinct < ENOUGH).sum()),
        # exp(log 2) may be less than 2 by rounding
        int((measured.entropy[groups] < ENOUGH * (1.0 - 1e-12)).sum()),
        int((measured.recursive[groups] < ENOUGH).sum()),
        float(closeness.max()),
        float(closeness.mean()),
    )
    return summary, distinct, closeness


def _confidential(task: RiskTask) -> tuple[str, ...]:
    return tuple(name for name in task.confidential if name in task.files.masked.columns)


def _ranked(attribute: Attribute, column: pd.Series) -> Codes | None:
    """Compute ranks of ordered values without gaps: numbers and ordinal categories; else None."""
    known = column.notna().to_numpy(dtype=bool)
    ranks = np.full(len(column), MISSING, dtype=np.int64)
    if attribute.scale is Scale.ORDINAL and attribute.categories is not None:
        place = {category: at for at, category in enumerate(attribute.categories)}
        codes, values = pd.factorize(column[known])
        places = np.array([place.get(spelled(value), MISSING) for value in values], dtype=np.int64)
        ranks[known] = np.unique(places, return_inverse=True)[1].reshape(-1)[codes]
        return None if (places == MISSING).any() else ranks
    if attribute.scale not in (None, Scale.NUMERIC):
        return None
    if attribute.scale is None and not pd.api.types.is_numeric_dtype(column.dtype):
        return None
    numbers = pd.to_numeric(column[known], errors="coerce").to_numpy(dtype=np.float64)
    if np.isnan(numbers).any():
        return None
    ranks[known] = np.unique(numbers, return_inverse=True)[1].reshape(-1)
    return ranks
