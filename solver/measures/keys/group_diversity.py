"""What a group of records with the same key says about a confidential attribute: l-diversity and t-closeness.

References
----------
Machanavajjhala, A., Kifer, D., Gehrke, J., Venkitasubramaniam, M. (2007) l-diversity: privacy beyond
k-anonymity. ACM TKDD 1(1), 3.
Li, N., Li, T., Venkatasubramanian, S. (2007) t-closeness: privacy beyond k-anonymity and l-diversity. ICDE.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.solver.measures.keys.frequencies import MISSING, Codes, Groups

CONSTANT = 2.0
"""The c of recursive (c, l)-diversity: sdcMicro's `l_recurs_c`."""


class Entries(NamedTuple):
    """Every value that occurs in a group, by group and by value."""

    group: LongArray  # (entries,)
    value: LongArray
    frequency: LongArray
    size: LongArray  # (groups,): records of each group

    @property
    def share(self) -> FloatArray:
        """Share of the group's records that have the value."""
        return self.frequency / self.size[self.group]


class LDiversity(NamedTuple):
    """Of each group; fewer are worse."""

    distinct: LongArray  # (groups,): different values
    # (groups,): ``exp(-sum p log p)`` over the shares p of values: as many equally frequent values say as
    # little
    entropy: FloatArray
    # (groups,): the largest l with ``r_1 < c (r_l + r_(l+1) + ...)`` for the counts r in descending order; at
    # least 1
    recursive: LongArray


def entries_of(groups: Groups, values: Codes) -> Entries:
    """Count the values of every group.

    `groups` (n,): from 0 without a gap. `values` (n,): from 0; records of value `MISSING` are not counted.
    """
    known = values != MISSING
    size = np.bincount(groups[known], minlength=int(groups.max()) + 1)
    width = int(values.max()) + 1 if known.any() else 1
    joint, count = np.unique(groups[known].astype(np.int64) * width + values[known], return_counts=True)
    return Entries(joint // width, joint % width, count.astype(np.int64), size.astype(np.int64))


def l_diversity(entries: Entries, constant: float = CONSTANT) -> LDiversity:
    """Distinct, entropy and recursive l of every group."""
    groups = entries.size.size
    share = entries.share
    distinct = np.bincount(entries.group, minlength=groups).astype(np.int64)
    entropy = np.exp(np.bincount(entries.group, -share * np.log(share), minlength=groups))
    order = np.lexsort((-entries.frequency, entries.group))
    group, count = entries.group[order], entries.frequency[order]
    # What is left of the group from each rank on, and the count of its first rank.
    first = np.cumsum(distinct) - distinct
    rest = entries.size[group] - (np.cumsum(count) - count - (np.cumsum(count) - count)[first[group]])
    holds = count[first[group]] < constant * rest
    recursive = np.maximum(1, np.bincount(group, holds, minlength=groups)).astype(np.int64)
    return LDiversity(distinct, entropy, recursive)


def t_closeness(entries: Entries, *, ordered: bool) -> FloatArray:
    """Distance of each group's distribution P to that of the whole file Q.

    The earth mover's distance of Li et al. (2007): for m ordered values, neighbours ``1/(m-1)`` apart,
    ``1/(m-1) sum_i |P(1..i) - Q(1..i)|``; for categories, all 1 apart, the total variation
    ``1/2 sum_i |p_i - q_i|``. Time and memory grow with the values that occur in groups, not with groups
    times values: between two values of a group P stays as it is, and prefix sums of Q give the rest.

    Returns shape (groups,): 0 (the group says nothing) to 1; 0 for groups without a known value.
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
    """``sum |P(1..i) - Q(1..i)|`` from each value of a group up to its next; before its first, with that."""
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
