"""Estimate sample uniques that are unique in the population, by log-linear models, under masked keys.

Source of the latter: N. Shlomo and C. Skinner, Assessing the protection provided by misclassification-based
disclosure limitation methods for survey microdata, Annals of Applied Statistics 4 (2010), 1291-1310.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.masking.base import Recoding, Transition
from linkrisk.datasets.microdata.categories import Categories, occurring
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.roles import CATEGORICAL
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.errors import called
from linkrisk.solver.measures.base import Finding, Measure, MeasureResult, Unit, Worse
from linkrisk.solver.measures.known_masking import known_recodings
from linkrisk.solver.measures.loglinear import (
    CodedKeys,
    FittedCells,
    ModelRisk,
    correct_match,
    fit,
    model_risk,
    population_unique,
    unseen_mean,
)
from linkrisk.solver.measures.task import RiskTask, portion
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError


class Source(StrEnum):
    """Source of the misclassification probabilities of a key variable."""

    UNCHANGED = "unchanged"
    RECODED = "recoded"
    KNOWN = "known"
    ESTIMATED = "estimated"


@dataclass(frozen=True, eq=False)
class KeyChange:
    """Misclassification of one key variable by masking."""

    key: str
    # ``unchanged``; ``recoded``, where each category always became the same other one, which an intruder does
    # with what he knows too; ``known``, of the masking method; or ``estimated`` from the two files
    source: Source
    stays: float  # share of the records that have the same value in both files
    of_record: FloatArray  # (masked records,): ``M_jj``, that its category is the true one


def correct_match_probability(
    population: Sequence[float] | FloatArray, into: Sequence[float] | FloatArray, own: int, fraction: float
) -> float:
    """Estimate the probability that the link of a sample unique is correct in the population.

    ``(M_jj / (1 - pi M_jj)) / sum_k F_k M_kj / (1 - pi M_kj)``, for a unit with true category j that is
    linked to the only released record of category j; every unit is in the sample with probability pi, and a
    unit of category k is released as j with probability ``M_kj`` (Shlomo and Skinner 2010). For a small pi,
    or little misclassification, it is near ``M_jj / F~_j``, with ``F~_j = sum_k F_k M_kj``.
    """
    count, chance = np.asarray(population, dtype=np.float64), np.asarray(into, dtype=np.float64)
    odds = chance / (1.0 - fraction * chance)
    return float(odds[own] / (count * odds).sum())


def key_changes(files: FilePair, keys: Sequence[str], masking: Sequence[object]) -> tuple[KeyChange, ...]:
    """Determine the misclassification of each key variable, by known methods or estimates."""
    known = known_recodings(files, keys, masking)
    return tuple(_change(files, key, known.get(key)) for key in keys)


def _change(files: FilePair, key: str, known: Recoding | None) -> KeyChange:
    row = np.flatnonzero(files.partner >= 0)
    before, after = occurring(files.original[key]), occurring(files.masked[key])
    first = _as_codes(before, after)[row]
    second = after.codes[files.partner[row]]
    size = len(after.names)
    stays = float((first == second).mean())
    if stays == 1.0:
        return KeyChange(key, Source.UNCHANGED, 1.0, np.ones(after.codes.size))
    if isinstance(known, Transition):
        probability = _diagonal(known, after.names)
        return KeyChange(key, Source.KNOWN, stays, _spread(probability, after.codes))
    if _is_function(before.codes[row], second) and not set(after.names) >= set(before.names):
        return KeyChange(key, Source.RECODED, stays, np.ones(after.codes.size))
    kept = np.bincount(first[(first == second) & (first >= 0)], minlength=size)
    all_of = np.bincount(first[first >= 0], minlength=size)
    probability = np.divide(kept, all_of, out=np.zeros(size), where=all_of > 0)
    return KeyChange(key, Source.ESTIMATED, stays, _spread(probability, after.codes))


def recoded_alike(files: FilePair, changes: Sequence[KeyChange]) -> pd.DataFrame:
    """Recode the keys of the original file as the masked ones, for the intruder's comparison."""
    frame = files.original.copy()
    row = np.flatnonzero(files.partner >= 0)
    for change in changes:
        if change.source is Source.RECODED:
            before, after = occurring(files.original[change.key]), occurring(files.masked[change.key])
            becomes = dict(zip(before.codes[row], after.codes[files.partner[row]], strict=True))
            # Categories that no record with a partner has stay what they are.
            cells = [
                (*after.names, None)[becomes[code]] if code in becomes else (*before.names, None)[code]
                for code in before.codes
            ]
            frame[change.key] = pd.Series(cells, dtype=object)
    return frame


def _as_codes(before: Categories, after: Categories) -> IndexArray:
    """Code original records by the categories of the masked file; -2 for other categories."""
    place = {name: at for at, name in enumerate(after.names)}
    table = np.array([*(place.get(name, -2) for name in before.names), -1], dtype=np.intp)
    return np.asarray(table[before.codes], dtype=np.intp)


def _is_function(first: IndexArray, second: IndexArray) -> bool:
    """Whether equal codes of the original file have equal codes in the masked one."""
    pairs = pd.DataFrame({"first": first, "second": second}).drop_duplicates()
    return not bool(pairs["first"].duplicated().any())


def _diagonal(known: Transition, names: Sequence[str]) -> FloatArray:
    """Compute the probability that each category stays, 0 for unobserved ones."""
    before = {name: at for at, name in enumerate(known.before)}
    after = {name: at for at, name in enumerate(known.after)}
    return np.array(
        [known.probability[before[name], after[name]] if name in before else 0.0 for name in names]
    )


def _spread(probability: FloatArray, codes: IndexArray) -> FloatArray:
    """Look up the probability of each record's category; missing values stay missing."""
    return np.append(probability, 1.0)[codes]


def unknown() -> str:
    """Say that it is not known how large the population is, and how to say it."""
    return (
        f"without sampling weights or {called('fraction')} it is not known how large the population is; give "
        "a column of the schema the role weight"
    )


TOO_SMALL = "the sampling weights sum to less than the number of records; they must count the population"

_ROUNDING = 1e-9


def sampling_fraction(task: RiskTask) -> float | None:
    """Estimate ``pi = n / sum w_i`` over the n original records with a weight; None without any."""
    if task.weight is None:
        return None
    known = task.weight[np.isfinite(task.weight)]
    return float(known.size / known.sum())


def without_population(task: RiskTask) -> str | None:
    """Name what the population size requires; None where it is known."""
    fraction = sampling_fraction(task)
    if fraction is None:
        return unknown()
    return TOO_SMALL if fraction > 1.0 + _ROUNDING else None


MISFIT = 2.0
"""Standard deviations from which a model is rejected."""


@dataclass(frozen=True, eq=False)
class UniquesRisk:
    """Risk of the sample uniques of one file, by every model and by the one of best fit."""

    fraction: float  # the sampling fraction ``pi``
    models: tuple[ModelRisk, ...]  # in the order in which they were fitted, with the diagnostics of each
    chosen: ModelRisk  # the one whose larger test statistic is least
    count: IndexArray  # (records,): ``f_k`` of each record's cell
    mean: FloatArray  # (records,): ``mu_k`` of each record's cell, by the chosen model
    # (others,): of other records, the probability that a person of the population has their keys: 1 where
    # a person in the sample has, else ``1 - exp(-(1 - pi) lambda)``
    occupied: FloatArray

    @property
    def unique(self) -> NDArray[np.bool_]:
        """Mark the sample uniques."""
        return np.asarray(self.count == 1)

    @property
    def uniques(self) -> int:
        """How many there are."""
        return int(np.count_nonzero(self.unique))

    @property
    def population_unique(self) -> FloatArray:
        """Probability that each record is a population unique; 0 unless it is a sample unique."""
        return np.where(self.unique, population_unique(unseen_mean(self.mean, self.fraction)), 0.0)

    @property
    def correct_match(self) -> FloatArray:
        """Probability that the link of a sample unique is correct; NaN for other records."""
        return np.where(self.unique, correct_match(unseen_mean(self.mean, self.fraction)), np.nan)

    @property
    def fits(self) -> bool:
        """Whether the chosen model is not rejected."""
        return self.chosen.misfit <= MISFIT


def uniques_risk(
    frame: pd.DataFrame,
    keys: Sequence[str],
    fraction: float,
    clock: Clock | None = None,
    others: pd.DataFrame | None = None,
) -> UniquesRisk:
    """Estimate the population uniqueness of a file's sample uniques, by log-linear models.

    Independence of the keys, which says too much where it does not fit; for three keys or more, all two-way
    interactions (of two keys these would be the sample itself), which may say too little; and models between
    them, with the interactions of the keys that depend on each other most, as many as make ``B_2`` change its
    sign: the forward selection of Skinner and Shlomo (2008), by bisection.
    """
    if not keys or not len(frame):
        raise UsageError("population uniqueness needs a key variable and a record; give at least one of each")
    if not 0.0 < fraction <= 1.0:
        raise UsageError(f"the sampling fraction is {fraction:g}; it must be above 0 and at most 1")
    clock = Clock(None) if clock is None else clock
    coded = CodedKeys.of(frame, keys)
    found = list(_tried(coded, fraction, clock))
    fitted, chosen = min(reversed(found), key=lambda pair: pair[1].misfit)
    models = tuple(risk for _, risk in found)
    occupied = np.empty(0)
    if others is not None:
        count, mean = fitted.at(coded.codes_of(others))
        occupied = np.where(count > 0.0, 1.0, -np.expm1(-unseen_mean(mean, fraction)))
    return UniquesRisk(fraction, models, chosen, coded.counts, fitted.mean[fitted.cell], occupied)


def _tried(keys: CodedKeys, fraction: float, clock: Clock) -> Iterator[tuple[FittedCells, ModelRisk]]:
    """List the models: independence, all interactions, and some between the two."""
    simple = fit(keys, (), clock)
    assert simple is not None
    yield simple, model_risk(simple, fraction)
    pairs = keys.pairs if len(keys.levels) > 2 else ()
    few, many = 0, len(pairs)
    at = many
    while few < at <= many and not clock.expired:
        fitted = fit(keys, pairs[:at], clock)
        if fitted is None:  # fewer interactions leave even more cells
            return
        risk = model_risk(fitted, fraction)
        yield fitted, risk
        if risk.b_2 is not None and risk.b_2 > 0.0:
            few = at
        else:
            many = at
        at = (few + many) // 2


_ENOUGH = 1.0
"""Tolerance on fitted margins, in records, above which a note is made."""


@dataclass(frozen=True, eq=False, repr=False)
class PopulationUniqueness(MeasureResult):
    """Sample uniques that are population uniques, and correct links of sample uniques."""

    measure: ClassVar[str] = "population-uniqueness"
    keys: tuple[str, ...]  # the categorical key variables
    left_out: tuple[str, ...]  # key variables that are not categorical
    labels: tuple[str, ...]  # what to call the original records
    partner: IndexArray  # (original records,): the masked row of each, -1 where it has none
    original: UniquesRisk  # by the true keys: the risk if keys were released as they are
    released: UniquesRisk  # by the keys of the masked file, with misclassification
    changes: tuple[KeyChange, ...]  # with what probability each key of a masked record is the true one
    occupied: FloatArray  # (masked records,): that a person of the population has its keys
    # (masked records,): of each sample unique of the masked file, the probability that it is the record of
    # a person of the population who has its keys: ``M_jj E(1 / F~_j | f~_j = 1)``; NaN for others. Higher is
    # worse
    right: FloatArray

    @property
    def expected_right(self) -> float:
        """Expected right links to masked uniques; masking alone makes keys that no person has."""
        return float(np.nansum(self.right * self.occupied))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Shares of the records: unique in the file, in the population, rightly linked before and after."""
        first, records = self.original, len(self.original.count)
        found = [
            Finding("sample_uniques", "unique in the file on its keys", first.uniques / records),
            Finding("tau_1", "unique in the population too", first.chosen.tau_1 / records),
            Finding("tau_2", "right links to uniques, keys unmasked", first.chosen.tau_2 / records),
            Finding(
                "tau_2_released", "right links to uniques, as released", self.expected_right / self.right.size
            ),
        ]
        z = first.chosen.z_2
        words = "misfit of the model, in deviations"
        test = Finding("misfit", words, z, unit=Unit.NUMBER, worse=Worse.NEITHER)
        return (*found, test)

    @property
    def paragraph(self) -> str:
        """Report uniques, those in the population, and what misclassification leaves."""
        first = self.original
        text = (
            f"{first.uniques:,} of {len(first.count):,} records are unique on {shown_names(self.keys)}; by "
            f"the best model ({first.chosen.words}) some {first.chosen.tau_1:.1f} of them are unique in the "
            f"population too, and linking each to one of its equals there would be right for some "
            f"{first.chosen.tau_2:.1f}."
        )
        if all(change.source is Source.UNCHANGED for change in self.changes):
            return f"{text} The keys were not masked."
        return (
            f"{text} Of the {self.released.uniques:,} uniques of the masked file some "
            f"{self.expected_right:.1f} links are right, as masking may have changed keys."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Keys that are left out, models that do not fit, and where misclassification is known from."""
        notes = []
        if self.left_out:
            notes.append(
                f"population uniqueness leaves out {shown_names(self.left_out)}: not categorical; name them "
                f"in {called('ordinal')} or {called('nominal')} if an intruder would know their exact values"
            )
        for which, risk in (("original", self.original), ("masked", self.released)):
            notes += _fit_notes(which, risk, len(self.keys))
        for source, words in (
            (Source.KNOWN, f"known from {called('masking')}"),
            (Source.ESTIMATED, "estimated as the share of records of each category that kept it"),
            (Source.RECODED, "1, as they are recoded: an intruder recodes what he knows"),
        ):
            keys = [change.key for change in self.changes if change.source is source]
            if keys:
                notes.append(f"probability that a key is the true one, for {shown_names(keys)}: {words}")
        return tuple(notes)

    def to_frame(self) -> pd.DataFrame:
        """One row per original record.

        Columns: record; sample_count (records with the same keys); mean (``mu_k``); population_unique and
        correct_match (probabilities; the latter of sample uniques only); released_count and released_right
        (of the masked record that it became).
        """
        first, row = self.original, self.partner
        known = row >= 0
        right, count = (np.full(row.size, np.nan) for _ in range(2))
        right[known], count[known] = self.right[row[known]], self.released.count[row[known]]
        return pd.DataFrame(
            {
                "record": self.labels,
                "sample_count": first.count,
                "mean": first.mean,
                "population_unique": first.population_unique,
                "correct_match": first.correct_match,
                "released_count": count,
                "released_right": right,
            }
        )


def _fit_notes(which: str, risk: UniquesRisk, keys: int) -> list[str]:
    notes, best = [], risk.chosen
    if not risk.fits and best.z_2 is not None:
        signs = {z is not None and z > 0.0 for z in (best.z_1, best.z_2)}
        bias = {frozenset({True}): "says too much", frozenset({False}): "says too little"}
        notes.append(
            f"no model fits the keys of the {which} file; the best one ({best.words}) misses by "
            f"{best.misfit:.1f} deviations: it probably {bias.get(frozenset(signs), 'misleads')}"
        )
    if best.z_2 is None:
        notes.append(f"the model of {best.words} of the keys of the {which} file could not be tested")
    if keys > 2 and not risk.fits and len(risk.models) == 1:
        notes.append(
            f"two-way interactions of the keys of the {which} file have too many cells, or took too long"
        )
    if best.gap > _ENOUGH:
        notes.append(f"the model ({best.words}) of the {which} file was not fitted to the end: time ran out")
    return notes


class PopulationUniques(Measure):
    """Estimates population uniqueness by Poisson log-linear models, with misclassified keys."""

    name: ClassVar[str] = "population-uniqueness"
    title: ClassVar[str] = "Uniqueness in the population"
    cost: ClassVar[float] = 5.0

    def lacking(self, task: RiskTask) -> str | None:
        """Require categorical keys, and weights or a sampling fraction."""
        if not _categorical_keys(task):
            return (
                "no key variable is categorical; name those that an intruder knows exactly in "
                f"{called('nominal')}, {called('ordinal')} or the schema"
            )
        return without_population(task)

    def take(self, task: RiskTask, clock: Clock) -> PopulationUniqueness:
        """Fit the models to the keys of both files."""
        files, keys = task.files, _categorical_keys(task)
        fraction = min(1.0, sampling_fraction(task) or 1.0)
        changes = key_changes(files, keys, task.first.options.masking)
        half = portion(clock, 0.5)
        original = uniques_risk(files.original, keys, fraction, half, files.masked)
        occupied = original.occupied
        if any(change.source is Source.RECODED for change in changes):
            as_known = recoded_alike(files, changes)
            occupied = uniques_risk(as_known, keys, fraction, half, files.masked).occupied
        released = uniques_risk(files.masked, keys, fraction, clock)
        stays = np.prod([change.of_record for change in changes], axis=0)
        return PopulationUniqueness(
            keys,
            tuple(name for name in task.keys if name not in keys),
            files.original_labels,
            files.partner,
            original,
            released,
            changes,
            occupied,
            np.asarray(stays * released.correct_match),
        )


def _categorical_keys(task: RiskTask) -> tuple[str, ...]:
    schema, files = task.schema, task.files
    declared = {name for name in task.keys if schema is not None and schema.get(name).scale in CATEGORICAL}
    return tuple(
        name
        for name in task.keys
        if name in files.masked.columns and (name in files.categorical or name in declared)
    )
