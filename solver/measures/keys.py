"""Code key variables, and measure k-anonymity and individual risk by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.schema import Role
from linkrisk.errors import called
from linkrisk.formulations.suppression.posterior_risk import household_risk, posterior_risk
from linkrisk.solver.linkage.records_table import MOST_ROWS
from linkrisk.solver.measures.base import OF_RECORDS, Finding, Measure, MeasureResult, Unit
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import percent

Codes = NDArray[np.int64]
Groups = NDArray[np.intp]

MISSING = -1
"""Code of a missing value."""

MOST_WORK = 50_000_000
"""Work limit for wildcards: patterns of missing values times distinct combinations of values."""


def column_codes(column: pd.Series) -> Codes:
    """Code values as 0, 1, 2, ... in order of appearance; a missing one as `MISSING`."""
    codes: Codes = pd.factorize(column, use_na_sentinel=True)[0].astype(np.int64)
    return codes


def fold(groups: Groups, codes: Codes) -> Groups:
    """Split groups by one more column, missing being a value; numbered from 0 without gaps."""
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
    """Sum the weights of each record's group, for every record; their number without weights."""
    total: FloatArray = np.bincount(groups, weight).astype(np.float64)[groups]
    return total


def wildcard_sums(codes: Codes, weights: tuple[FloatArray | None, ...]) -> tuple[FloatArray, ...] | None:
    """Sum weights over the records that agree, where a missing value matches any (`freqCalc`).

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
    """Coded key variables of one file."""

    names: tuple[str, ...]  # the key variables, a of them
    codes: Codes  # (n, a): equal codes for equal values; declared missing codes are values

    @property
    def incomplete(self) -> bool:
        """Whether a value is missing."""
        return bool((self.codes == MISSING).any())

    def wildcards(self, *weights: FloatArray | None) -> tuple[FloatArray, ...] | None:
        """Compute `wildcard_sums`; None also where no value is missing."""
        return wildcard_sums(self.codes, weights) if self.incomplete else None

    def uncounted(self, wildcards: object) -> tuple[str, ...]:
        """Note that values are missing, but wildcards were not counted."""
        if not self.incomplete or wildcards is not None:
            return ()
        return ("values are missing in too many patterns to count them as values that fit any",)


def key_names(task: RiskTask) -> tuple[str, ...]:
    """List the key variables that both files have."""
    return tuple(name for name in task.keys if name in task.files.masked.columns)


def without_keys(task: RiskTask) -> str | None:
    """Report that the masked file has none of the key variables, if so."""
    if key_names(task):
        return None
    return f"the masked file has none of the key variables {shown_names(list(task.keys))}"


def key_notes(task: RiskTask) -> tuple[str, ...]:
    """Note key variables that the masked file does not have."""
    gone = [name for name in task.keys if name not in task.files.masked.columns]
    if not gone:
        return ()
    return (f"key variables that the masked file does not have are not counted: {shown_names(gone)}",)


def masked_keys(task: RiskTask) -> KeyFile:
    """Code the key variables as released, of all masked records."""
    return _key_file(task.files.masked, key_names(task), task.files.coded[1])


def original_keys(task: RiskTask) -> KeyFile:
    """Code the same variables of all original records."""
    return _key_file(task.files.original, key_names(task), task.files.coded[0])


def masked_weights(task: RiskTask) -> tuple[FloatArray | None, tuple[str, ...]]:
    """Determine the number of persons that each masked record represents, with notes.

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
    """Number the households of masked records from 0; None without such a column."""
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
    """A result with numbers of every record, which the JSON omits for large files."""

    per_record: ClassVar[tuple[str, ...]]  # the fields with a row for each record

    def written(self, name: str) -> Any:
        """Convert a field for the JSON: `per_record` is None for more than 100,000 records."""
        value = getattr(self, name)
        if name in self.per_record and value is not None and len(value) > MOST_ROWS:
            return None
        return value


def _key_file(frame: pd.DataFrame, names: tuple[str, ...], coded: Mapping[str, pd.Series]) -> KeyFile:
    codes = np.empty((len(frame), len(names)), dtype=np.int64, order="F")
    for at, name in enumerate(names):
        codes[:, at] = column_codes(coded.get(name, frame[name]))
    return KeyFile(names, codes)


LEVELS = (2, 3, 5)
"""Values of k for k-anonymity, those that sdcMicro prints."""

_MANY = 0.5
"""Share of distinct values above which a key variable makes nearly all records unique."""


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
        """Report shares of records below k, of the masked file and for k = 2 of the original."""
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
        """Report uniques after and before masking, and the other levels."""
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
        """Note keys that the masked file lacks, and keys that are not categories."""
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


class KeyMeasure(Measure):
    """Base of measures on key variables that the masked file has."""

    unit: ClassVar[str] = OF_RECORDS

    def lacking(self, task: RiskTask) -> str | None:
        """Require key variables."""
        return without_keys(task)


class UniquenessOfKeys(KeyMeasure):
    """Counts sample uniques and k-anonymity."""

    name: ClassVar[str] = "uniqueness"
    title: ClassVar[str] = "Uniqueness on the key variables"
    cost: ClassVar[float] = 0.1
    growth: ClassVar[float] = 1.0

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
    """Compute f_k of every record, missing being a category, and also by wildcards if values are missing."""
    own = sums(groups).astype(np.int64)
    fitting = keys.wildcards(None)
    return own, None if fitting is None else fitting[0].astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class IndividualRisk(PerRecord):
    """Benedetti and Franconi's risk of every masked record (`posterior_risk` has formula and sources)."""

    measure: ClassVar[str] = "individual-risk"
    per_record: ClassVar[tuple[str, ...]] = ("risk", "household", "frequency", "population")
    keys: tuple[str, ...]
    weighted: bool  # whether by weights or a sampling fraction; without, risk is 1/f
    # (records,): probability that an intruder who knows the key, and knows that someone with it is in the
    # sample, picks the right person of the population, 0 to 1. More is worse. A missing value is a category
    # of its own
    risk: FloatArray
    expected: float  # sum of all: expected number of re-identifications. More is worse
    expected_wildcard: float | None  # where a missing value fits any; None where none is missing
    household: FloatArray | None  # (records,): that a member of the household is re-identified
    frequency: FloatArray  # (records,): f_k, records with the key
    population: FloatArray  # (records,): estimate of F_k: the sum of their weights; f_k without weights
    remarks: tuple[str, ...] = ()  # on weights and on key variables

    @property
    def global_risk(self) -> float:
        """Mean risk: the re-identification rate, 0 to 1."""
        return self.expected / self.risk.size

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Global risk, expected number, highest risk, and the same by household."""
        found = [
            Finding("global_risk", "global risk (mean of individual risks)", self.global_risk),
            Finding("expected", "expected re-identifications", self.expected, Unit.NUMBER),
            Finding("highest_risk", "highest individual risk", float(self.risk.max())),
        ]
        if self.household is not None:
            mean = float(self.household.mean())
            found.append(Finding("global_household_risk", "mean of household risks", mean))
        if self.expected_wildcard is not None:
            share = self.expected_wildcard / self.risk.size
            found.append(Finding("global_risk_wildcard", "global risk, missing values fit any", share))
        return tuple(found)

    @property
    def paragraph(self) -> str:
        """Report the expected number, the highest risk, and that of households."""
        n, highest = self.risk.size, float(self.risk.max())
        basis = "with the sampling weights" if self.weighted else "without sampling weights (risk 1/f)"
        text = (
            f"{basis}, {self.expected:,.4g} of {n:,} masked records are expected to be re-identified by "
            f"their keys ({percent(self.global_risk)}), and the highest risk of a record is "
            f"{percent(highest)}."
        )
        if self.household is None:
            return text
        return (
            f"{text} Counted by household, where one member leads to the others, the mean is "
            f"{percent(float(self.household.mean()))}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Note assumptions."""
        if self.weighted:
            return self.remarks
        return (
            *self.remarks,
            f"individual risk: no sampling weights and no {called('fraction')}, so the file is taken for the "
            "whole population",
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per masked record: row (from 1), frequency, population, risk, and household where known."""
        columns = {
            "row": np.arange(1, self.risk.size + 1),
            "frequency": self.frequency.astype(np.int64),
            "population": self.population,
            "risk": self.risk,
        }
        if self.household is not None:
            columns["household"] = self.household
        return pd.DataFrame(columns)


class IndividualRiskOfKeys(KeyMeasure):
    """Computes the posterior risk of every record and household."""

    name: ClassVar[str] = "individual-risk"
    title: ClassVar[str] = "Individual risk (Benedetti and Franconi)"
    cost: ClassVar[float] = 0.1
    growth: ClassVar[float] = 2.0

    def take(self, task: RiskTask, clock: Clock) -> IndividualRisk:
        """Compute risks from frequencies and weights."""
        del clock
        weight, remarks = masked_weights(task)
        household = masked_households(task)
        return measured(masked_keys(task), weight, household, (*remarks, *key_notes(task)))


def measured(
    keys: KeyFile,
    weight: FloatArray | None,
    household: NDArray[np.intp] | None,
    remarks: tuple[str, ...] = (),
) -> IndividualRisk:
    """Compute the risks of one file of n records, with `weight` (n,) above 0 and `household` (n,)."""
    groups = groups_of(keys.codes)
    frequency, population = sums(groups), sums(groups, weight)
    risk = posterior_risk(frequency, population)
    fitting = keys.wildcards(None, weight)
    return IndividualRisk(
        keys.names,
        weight is not None,
        risk,
        float(risk.sum()),
        None if fitting is None else float(posterior_risk(*fitting).sum()),
        None if household is None else household_risk(risk, household),
        frequency,
        population,
        (*remarks, *keys.uncounted(fitting)),
    )
