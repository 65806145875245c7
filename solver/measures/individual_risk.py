"""Individual and household risk of re-identification from the keys of a sample and its weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.errors import called
from linkrisk.formulations.suppression.posterior_risk import household_risk, posterior_risk
from linkrisk.solver.measures.base import OF_RECORDS, Finding, Measure, Unit
from linkrisk.solver.measures.keys import (
    KeyFile,
    PerRecord,
    groups_of,
    key_notes,
    masked_households,
    masked_keys,
    masked_weights,
    sums,
    without_keys,
)
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import percent


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
        """Expected number, the highest, the household's."""
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
        """What was assumed."""
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


class IndividualRiskOfKeys(Measure):
    """Posterior risk of every record, and of its household."""

    name: ClassVar[str] = "individual-risk"
    title: ClassVar[str] = "Individual risk (Benedetti and Franconi)"
    unit: ClassVar[str] = OF_RECORDS
    cost: ClassVar[float] = 0.1
    growth: ClassVar[float] = 2.0

    def lacking(self, task: RiskTask) -> str | None:
        """Key variables."""
        return without_keys(task)

    def take(self, task: RiskTask, clock: Clock) -> IndividualRisk:
        """Frequencies and weights to risks."""
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
    """The risks of one file of n records, with `weight` (n,) above 0 and `household` (n,)."""
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
