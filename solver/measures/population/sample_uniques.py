"""Sample uniques of one file, and what log-linear models say of them in the population."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.measures.population.loglinear import CodedKeys, FittedCells, fit
from linkrisk.solver.measures.population.poisson_uniqueness import (
    ModelRisk,
    correct_match,
    model_risk,
    population_unique,
    unseen_mean,
)
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError

MISFIT = 2.0
"""Standard deviations from which on a model does not fit."""


@dataclass(frozen=True, eq=False)
class UniquesRisk:
    """Sample uniques of one file, by every model and by the one that fits best."""

    fraction: float  # the sampling fraction ``pi``
    models: tuple[ModelRisk, ...]  # in the order in which they were fitted, with the diagnostics of each
    chosen: ModelRisk  # the one whose larger test statistic is least
    count: IndexArray  # (records,): ``f_k`` of each record's cell
    mean: FloatArray  # (records,): ``mu_k`` of each record's cell, by the chosen model
    # (others,): of other records, the probability that somebody in the population has their keys: 1 where
    # somebody in the sample has, else ``1 - exp(-(1 - pi) lambda)``
    occupied: FloatArray

    @property
    def unique(self) -> NDArray[np.bool_]:
        """Which records are sample uniques."""
        return np.asarray(self.count == 1)

    @property
    def uniques(self) -> int:
        """How many there are."""
        return int(np.count_nonzero(self.unique))

    @property
    def population_unique(self) -> FloatArray:
        """Of each record, the probability that it is a population unique; 0 for twins in the sample."""
        return np.where(self.unique, population_unique(unseen_mean(self.mean, self.fraction)), 0.0)

    @property
    def correct_match(self) -> FloatArray:
        """Of a sample unique, the probability that a link to one of its equals is right; NaN for others."""
        return np.where(self.unique, correct_match(unseen_mean(self.mean, self.fraction)), np.nan)

    @property
    def fits(self) -> bool:
        """Whether the chosen model is not refused."""
        return self.chosen.misfit <= MISFIT


def uniques_risk(
    frame: pd.DataFrame,
    keys: Sequence[str],
    fraction: float,
    clock: Clock | None = None,
    others: pd.DataFrame | None = None,
) -> UniquesRisk:
    """Population uniqueness of the sample uniques of a file, by log-linear models.

    Independence of the keys, which says too much where it does not fit; for three keys or more, all two-way
    interactions (of two keys these would be the sample itself), which may say too little; and models between
    them, with the interactions of the keys that depend on each other most, as many as make ``B_2`` change its
    sign: the forward selection of Skinner and Shlomo (2008), by bisection.

    `frame`: the sample. `keys`: key variables, taken as categories; a missing value is a category of its own.
    `fraction`: the sampling fraction ``pi``: share of the population that is in the sample. `others`: other
    records, for `UniquesRisk.occupied`.
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
    """Independence, all interactions, and models between the two."""
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
