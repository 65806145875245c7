"""Computes risk by key variables before and after suppression, and the fate of the riskiest combinations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.datasets.microdata.values import spelled
from linkrisk.formulations.suppression.key_table import (
    MATCHES_ANYTHING,
    OWN_CATEGORY,
    MissingMeaning,
    frequencies,
    row_types,
)
from linkrisk.formulations.suppression.posterior_risk import household_risk, posterior_risk
from linkrisk.solver.suppression.audit import BeforeAndAfter
from linkrisk.solver.suppression.problem import key_codes

MEANINGS = (OWN_CATEGORY, MATCHES_ANYTHING)
"""Meanings of a missing value in counts."""

SIZES = (2, 3, 5)
"""Records with fewer than so many like them are counted."""

RISKIEST = 10


@dataclass(frozen=True, eq=False)
class KeyRisk:
    """Risk of each record of a table by its key variables."""

    frequency: FloatArray  # (n,): records with the same values, f
    sample: FloatArray  # (n,): 1/f
    population: FloatArray | None  # (n,): posterior mean of 1/F, with sampling weights
    household: FloatArray | None  # (n,): that some member of the record's household is re-identified

    @classmethod
    def of(cls, table: pd.DataFrame, keys: BeforeAndAfter, meaning: MissingMeaning) -> KeyRisk:
        """The risk of the records of input or output."""
        types = row_types(key_codes(table, keys.names), keys.weights)
        frequency = frequencies(types.codes, types.count.astype(np.float64), meaning)
        population = None
        if keys.weights is not None:
            population = posterior_risk(frequency, frequencies(types.codes, types.weight, meaning))[types.of]
        frequency = frequency[types.of]
        sample = 1.0 / frequency
        risk = sample if population is None else population
        household = None if keys.household is None else household_risk(risk, keys.household)
        return cls(frequency, sample, population, household)

    @property
    def own(self) -> FloatArray:
        """Of each record by itself: in the population where there are weights."""
        return self.sample if self.population is None else self.population

    def to_dict(self) -> dict[str, Any]:
        """Sums over all records."""
        return {
            "below": {str(size): int((self.frequency < size).sum()) for size in SIZES},
            "smallest": int(self.frequency.min()),
            "expected": float(self.sample.sum()),
            "population": None if self.population is None else float(self.population.sum()),
            "household": None if self.household is None else float(self.household.sum()),
        }


def suppression_risk(keys: BeforeAndAfter, meaning: MissingMeaning) -> dict[str, Any]:
    """Risk before and after under both meanings of a missing value, and the riskiest combinations before."""
    found = {
        name: [KeyRisk.of(table, keys, MissingMeaning.parse(name)) for table in (keys.before, keys.after)]
        for name in MEANINGS
    }
    nearest = MATCHES_ANYTHING if meaning.alpha == 1.0 else OWN_CATEGORY
    after = {name: two[1] for name, two in found.items()}
    lines, as_risky = _riskiest(keys, found[nearest][0], after)
    return {
        "risk": {
            name: {"before": two[0].to_dict(), "after": two[1].to_dict()} for name, two in found.items()
        },
        "riskiest": {"missing": nearest, "as_risky": as_risky, "combinations": lines},
    }


def _riskiest(
    keys: BeforeAndAfter, before: KeyRisk, after: dict[str, KeyRisk]
) -> tuple[list[dict[str, Any]], int]:
    """The riskiest combinations, of equal ones those of the rarest values; how many are as risky as these."""
    codes = key_codes(keys.before, keys.names)
    types = row_types(codes)
    first = np.zeros(len(types), dtype=np.int64)
    first[types.of] = np.arange(len(codes))
    risk, rarity = before.own[first], _rarity(codes)[first]
    order = np.lexsort((rarity, -np.round(risk, 12)))[:RISKIEST]
    lines = []
    for at in order:
        members = np.flatnonzero(types.of == at)
        values = keys.before.iloc[members[0]]
        lost = keys.taken[members].sum(axis=0)
        lines.append(
            {
                "values": {
                    name: None if pd.isna(value) else spelled(value)
                    for name, value in zip(keys.names, values, strict=True)
                },
                "records": len(members),
                "frequency": int(before.frequency[members[0]]),
                "risk": float(risk[at]),
                "suppressed": {name: int(many) for name, many in zip(keys.names, lost, strict=True) if many},
                "after": {
                    name: {
                        "frequency": int(one.frequency[members].min()),
                        "risk": float(one.own[members].max()),
                    }
                    for name, one in after.items()
                },
            }
        )
    return lines, int((risk >= risk[order[-1]] - 1e-12).sum())


def _rarity(codes: NDArray[np.int32]) -> FloatArray:
    """Of each record, the sum over its values of the logarithm of how often they occur."""
    found = np.zeros(len(codes))
    for column in codes.T:
        found += np.log(np.bincount(column + 1)[column + 1])
    return found
