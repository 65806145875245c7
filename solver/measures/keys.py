"""The key variables of a release as codes, and how many records share a combination of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.schema import Role
from linkrisk.solver.linkage.records_table import MOST_ROWS
from linkrisk.solver.measures.base import MeasureResult
from linkrisk.solver.measures.task import RiskTask

Codes = NDArray[np.int64]
Groups = NDArray[np.intp]

MISSING = -1
"""The code of a missing value."""

MOST_WORK = 50_000_000
"""Patterns of missing values times different combinations of values beyond which no wildcards are counted."""


def column_codes(column: pd.Series) -> Codes:
    """Values as 0, 1, 2, ... in the order in which they come up; a missing one as `MISSING`."""
    codes: Codes = pd.factorize(column, use_na_sentinel=True)[0].astype(np.int64)
    return codes


def fold(groups: Groups, codes: Codes) -> Groups:
    """Groups split by one more column, with a missing value as a value; numbered from 0 without a gap."""
    if not codes.size or int(groups.max()) + 1 == groups.size:  # each a group alone
        return groups
    # Below n^2, so that int64 holds it for any file that memory holds.
    joint = groups.astype(np.int64) * (int(codes.max()) + 2) + (codes + 1)
    return np.asarray(pd.factorize(joint)[0], dtype=np.intp)


def groups_of(codes: Codes) -> Groups:
    """Number the combinations of values (n, a) from 0 in order of appearance; `MISSING` is a value."""
    groups = np.zeros(len(codes), dtype=np.intp)
    for column in codes.T:
        groups = fold(groups, column)
    return groups


def sums(groups: Groups, weight: FloatArray | None = None) -> FloatArray:
    """Sum of the weights of each record's group, for every record; their number without weights."""
    total: FloatArray = np.bincount(groups, weight).astype(np.float64)[groups]
    return total


def wildcard_sums(codes: Codes, weights: tuple[FloatArray | None, ...]) -> tuple[FloatArray, ...] | None:
    """Sum each of the weights over the records that agree, where a missing value fits any (`freqCalc`).

    Two records agree when they have the same value in every column in which both have one. That is not
    transitive: there are no groups, and a record with missing values is counted with several. Combinations
    with the same columns missing are compared pattern by pattern; None where that is more than `MOST_WORK`.
    """
    groups = groups_of(codes)
    rows = np.unique(groups, return_index=True)[1]
    different, lacking = codes[rows], codes[rows] == MISSING
    pattern = groups_of(lacking.astype(np.int64))
    patterns = int(pattern.max()) + 1 if pattern.size else 0
    if patterns * len(different) > MOST_WORK:
        return None
    held = [np.bincount(groups, weight).astype(np.float64) for weight in weights]
    found = [np.zeros(len(different)) for _ in weights]
    members = [np.flatnonzero(pattern == at) for at in range(patterns)]
    for these in members:
        for others in members:
            shared = ~(lacking[these[0]] | lacking[others[0]])
            joint = groups_of(different[np.concatenate([these, others])][:, shared])
            ours, theirs = joint[: these.size], joint[these.size :]
            for total, each in zip(found, held, strict=True):
                total[these] += np.bincount(theirs, each[others], minlength=int(joint.max()) + 1)[ours]
    return tuple(total[groups] for total in found)


@dataclass(frozen=True, eq=False)
class KeyFile:
    """The key variables of one file."""

    names: tuple[str, ...]  # the key variables, a of them
    codes: Codes  # (n, a): equal codes for equal values; declared missing codes are values

    @property
    def incomplete(self) -> bool:
        """Whether a value is missing."""
        return bool((self.codes == MISSING).any())

    def wildcards(self, *weights: FloatArray | None) -> tuple[FloatArray, ...] | None:
        """`wildcard_sums`; None where no value is missing, too."""
        return wildcard_sums(self.codes, weights) if self.incomplete else None

    def uncounted(self, wildcards: object) -> tuple[str, ...]:
        """What has to be said where values are missing and no wildcards were counted."""
        if not self.incomplete or wildcards is not None:
            return ()
        return ("values are missing in too many patterns to count them as values that fit any",)


def key_names(task: RiskTask) -> tuple[str, ...]:
    """The key variables that both files have."""
    return tuple(name for name in task.keys if name in task.files.masked.columns)


def without_keys(task: RiskTask) -> str | None:
    """What is lacking where the masked file has none of the key variables."""
    if key_names(task):
        return None
    return f"the masked file has none of the key variables {shown_names(list(task.keys))}"


def key_notes(task: RiskTask) -> tuple[str, ...]:
    """Key variables that were left out of the masked file."""
    gone = [name for name in task.keys if name not in task.files.masked.columns]
    if not gone:
        return ()
    return (f"key variables that the masked file does not have are not counted: {shown_names(gone)}",)


def masked_keys(task: RiskTask) -> KeyFile:
    """The key variables as they are released, of all masked records."""
    return _key_file(task.files.masked, key_names(task), task.files.coded[1])


def original_keys(task: RiskTask) -> KeyFile:
    """The same variables of all original records."""
    return _key_file(task.files.original, key_names(task), task.files.coded[0])


def masked_weights(task: RiskTask) -> tuple[FloatArray | None, tuple[str, ...]]:
    """How many of the population each masked record stands for, and notes on it.

    The weight of its original record (see `SurveyDesign`), else that of the masked file, else the mean of all
    others, with a note. A sampling fraction is a weight that all have.
    """
    files, fraction = task.files, task.choices.fraction
    design = files.design
    if fraction is not None:
        return np.full(len(files.masked), 1.0 / fraction), ()
    if design.weight is None:
        return None, ()
    weight = np.full(len(files.masked), np.nan)
    known = files.partner >= 0
    weight[files.partner[known]] = design.weight[known]
    if design.weight_column in files.masked.columns:
        own = pd.to_numeric(files.masked[design.weight_column], errors="coerce").to_numpy(np.float64)
        usable = np.isnan(weight) & np.isfinite(own) & (own > 0.0)
        weight[usable] = own[usable]
    without = np.isnan(weight)
    if not without.any():
        return weight, ()
    weight[without] = weight[~without].mean()
    note = f"{int(without.sum()):,} masked records have no known sampling weight; the mean of the others"
    return weight, (f"{note} is taken for them",)


def masked_households(task: RiskTask) -> Groups | None:
    """The household of each masked record, from 0, its own where it has none; None without such a column."""
    files = task.files
    names = () if task.schema is None else task.schema.select(role=Role.HOUSEHOLD)
    held = next((name for name in names if name in files.masked.columns), None)
    if held is not None:
        found = column_codes(files.masked[held])
    else:
        held = next((name for name in names if name in files.original.columns), None)
        if held is None:
            return None
        found = np.full(len(files.masked), MISSING, dtype=np.int64)
        known = files.partner >= 0
        found[files.partner[known]] = column_codes(files.original[held])[known]
    alone = found == MISSING
    found[alone] = int(found.max(initial=0)) + 1 + np.arange(int(alone.sum()))
    return np.asarray(pd.factorize(found)[0], dtype=np.intp)


class PerRecord(MeasureResult):
    """A result with numbers of every record, which its JSON leaves out where records are many."""

    per_record: ClassVar[tuple[str, ...]]  # the fields with a row for each record

    def written(self, name: str) -> Any:
        """What the JSON has of a field: of `per_record` None for more than 100,000 records."""
        value = getattr(self, name)
        if name in self.per_record and value is not None and len(value) > MOST_ROWS:
            return None
        return value


def _key_file(frame: pd.DataFrame, names: tuple[str, ...], coded: Mapping[str, pd.Series]) -> KeyFile:
    codes = np.empty((len(frame), len(names)), dtype=np.int64, order="F")
    for at, name in enumerate(names):
        codes[:, at] = column_codes(coded.get(name, frame[name]))
    return KeyFile(names, codes)
