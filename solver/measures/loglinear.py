"""Fit Poisson log-linear models of key variables, and estimate population uniques.

``F_k`` of the population is Poisson with mean ``lambda_k``, and each of its units is in the sample with
probability ``pi``, so that ``f_k`` is Poisson with mean ``mu_k = pi lambda_k`` and ``F_k - f_k``, independent
of it, Poisson with mean ``(1 - pi) lambda_k``.

Only cells that can have a positive mean are held. Where no record has a pair of categories, maximum
likelihood gives mean 0 to all cells with this pair, so that cells are joined key by key, and most never come
up.

Sources: E. A. H. Elamir and C. J. Skinner, Record level measures of disclosure risk for survey microdata,
Journal of Official Statistics 22 (2006), 525-539; C. J. Skinner and N. Shlomo, Assessing identification risk
in survey microdata using log-linear models, Journal of the American Statistical Association 103 (2008),
989-1001.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import exprel, gammainc, rel_entr

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.categories import occurring
from linkrisk.formulations.proportional_fitting import proportional_fit
from linkrisk.solver.run.clock import Clock

Pairs = tuple[tuple[int, int], ...]
"""Interactions of a model, by positions of its keys; none is independence."""

MOST_CELLS = 4_000_000
"""Most cells with a positive mean held at a time: some 300 MB with two-way margins of 6 keys."""

TOLERANCE = 1e-3
"""Tolerance of proportional fitting, in records of each fitted margin."""


@dataclass(frozen=True, eq=False)
class CodedKeys:
    """Coded key variables; a missing value is a category."""

    names: tuple[str, ...]
    categories: tuple[tuple[str | None, ...], ...]  # what the codes of each key mean; None is a missing value
    codes: IndexArray  # (records, keys): from 0, each code occurring
    levels: tuple[int, ...]  # how many there are
    cell: IndexArray  # (records,): the observed cell of each record, from 0

    @classmethod
    def of(cls, frame: pd.DataFrame, keys: Sequence[str]) -> CodedKeys:
        """Code columns, at least one, of at least one record."""
        columns, categories = [], []
        for name in keys:
            found = occurring(frame[name])
            values, column = np.unique(found.codes, return_inverse=True)
            columns.append(column)
            categories.append(tuple(None if code < 0 else found.names[code] for code in values.tolist()))
        codes = np.stack(columns, axis=1).astype(np.intp)
        _, cell = np.unique(codes, axis=0, return_inverse=True)
        levels = tuple(int(column.max()) + 1 for column in codes.T)
        return cls(tuple(keys), tuple(categories), codes, levels, cell.reshape(-1).astype(np.intp))

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.codes)

    @property
    def counts(self) -> IndexArray:
        """Count the records with the same keys, for each record, shape (records,)."""
        return np.asarray(np.bincount(self.cell)[self.cell], dtype=np.intp)

    def codes_of(self, frame: pd.DataFrame) -> IndexArray:
        """Code other records in the same way, shape (others, keys); -1 for an unknown category."""
        columns = []
        for name, categories in zip(self.names, self.categories, strict=True):
            found = occurring(frame[name])
            place = {category: at for at, category in enumerate(categories)}
            table = np.array([place.get(category, -1) for category in (*found.names, None)], dtype=np.intp)
            columns.append(table[found.codes])
        return np.stack(columns, axis=1)

    @property
    def pairs(self) -> Pairs:
        """Rank all interactions by the test of independence, ``(G^2 - df) / sqrt(2 df)``, largest first."""
        pairs = combinations(range(len(self.levels)), 2)
        return tuple(sorted(pairs, key=lambda pair: (-self._dependence(*pair), pair)))

    def _dependence(self, first: int, second: int) -> float:
        shape = self.levels[first], self.levels[second]
        table = np.zeros(shape)
        np.add.at(table, (self.codes[:, first], self.codes[:, second]), 1.0)
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / self.records
        ratio = 2.0 * float(rel_entr(table, expected).sum())
        degrees = (shape[0] - 1) * (shape[1] - 1)
        return (ratio - degrees) / math.sqrt(2.0 * degrees) if degrees else -math.inf

    def margins(self, pairs: Pairs) -> tuple[tuple[int, ...], ...]:
        """List the margins that a model with these interactions reproduces."""
        inside = {key for pair in pairs for key in pair}
        return (*pairs, *((key,) for key in range(len(self.levels)) if key not in inside))


@dataclass(frozen=True, eq=False)
class FittedCells:
    """Cells with the means of a model."""

    interactions: tuple[tuple[str, str], ...]  # the pairs of keys whose interaction the model has
    cell: IndexArray  # (records,): the place of each record's cell
    count: FloatArray  # (cells,): sample frequency ``f_k``
    mean: FloatArray  # (cells,): its fitted expectation ``mu_k``
    groups: tuple[IndexArray, ...]  # (cells,): of every margin, to which of its categories each cell belongs
    whole: bool  # whether all cells with a positive mean are here; else only those that occur in the sample
    gap: float  # how far a fitted margin is from the observed one at most, in records
    levels: tuple[int, ...]
    numbers: IndexArray  # (cells,): of every cell, in ascending order: its codes as one number

    def at(self, codes: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Look up frequency and mean of other records' cells (`CodedKeys.codes_of`); 0 where absent."""
        count, mean = np.zeros(len(codes)), np.zeros(len(codes))
        known = np.flatnonzero((codes >= 0).all(axis=1))
        number = _numbers(codes[known], self.levels)
        place = np.minimum(np.searchsorted(self.numbers, number), self.numbers.size - 1)
        here = self.numbers[place] == number
        count[known[here]], mean[known[here]] = self.count[place[here]], self.mean[place[here]]
        return count, mean


def fit(
    keys: CodedKeys, pairs: Pairs, clock: Clock, most: int = MOST_CELLS, tolerance: float = TOLERANCE
) -> FittedCells | None:
    """Fit a model by maximum likelihood (iterative proportional fitting); None with more than `most` cells.

    Independence has the closed form ``n prod_j (n_j / n)``, which is all that is used with too many cells.
    `tolerance`: by how many records a fitted margin may miss the observed one.
    """
    cells = possible_cells(keys, pairs, most)
    if cells is None:
        return None if pairs else _observed_only(keys)
    cell = np.searchsorted(_numbers(cells, keys.levels), _numbers(keys.codes, keys.levels)).astype(np.intp)
    count = np.bincount(cell, minlength=len(cells)).astype(np.float64)
    groups = tuple(_group(cells, margin, keys.levels) for margin in keys.margins(pairs))
    mean = _independent(keys, cells)
    gap = proportional_fit(mean, count, groups, lambda: clock.expired, tolerance)
    interactions = tuple((keys.names[first], keys.names[second]) for first, second in pairs)
    return FittedCells(
        interactions, cell, count, mean, groups, True, gap, keys.levels, _numbers(cells, keys.levels)
    )


def possible_cells(keys: CodedKeys, pairs: Pairs, most: int) -> IndexArray | None:
    """List cells in which no fitted margin is 0, shape (cells, keys); None with more than `most`."""
    cells = np.arange(keys.levels[0], dtype=np.intp)[:, None]
    for key in range(1, len(keys.levels)):
        levels = keys.levels[key]
        if len(cells) * levels > 50 * most:
            return None
        possible = np.ones((len(cells), levels), dtype=np.bool_)
        for other in (first for first, second in pairs if second == key):
            together = np.zeros((keys.levels[other], levels), dtype=np.bool_)
            together[keys.codes[:, other], keys.codes[:, key]] = True
            possible &= together[cells[:, other]]
        if np.count_nonzero(possible) > most:
            return None
        row, level = np.nonzero(possible)
        cells = np.column_stack((cells[row], level)).astype(np.intp)
    return cells if len(cells) <= most else None


def _independent(keys: CodedKeys, cells: IndexArray) -> FloatArray:
    mean = np.full(len(cells), float(keys.records))
    for key, levels in enumerate(keys.levels):
        share = np.bincount(keys.codes[:, key], minlength=levels) / keys.records
        mean *= share[cells[:, key]]
    return mean


def _observed_only(keys: CodedKeys) -> FittedCells:
    """Fit independence on the cells of the sample alone."""
    _, first = np.unique(keys.cell, return_index=True)
    count = np.bincount(keys.cell).astype(np.float64)
    cells = keys.codes[first]
    mean = _independent(keys, cells)
    numbers = _numbers(cells, keys.levels)
    return FittedCells((), keys.cell, count, mean, (), False, 0.0, keys.levels, numbers)


def _numbers(cells: IndexArray, levels: tuple[int, ...]) -> IndexArray:
    number = np.zeros(len(cells), dtype=object if math.prod(levels) >= 2**62 else np.intp)
    for column, size in zip(cells.T, levels, strict=True):
        number = number * size + column
    return number


def _group(cells: IndexArray, margin: tuple[int, ...], levels: tuple[int, ...]) -> IndexArray:
    shape = tuple(levels[key] for key in margin)
    return np.ravel_multi_index(tuple(cells[:, key] for key in margin), shape).astype(np.intp)


_SWEEPS = 50


def population_unique(unseen: FloatArray) -> FloatArray:
    """Compute ``P(F = 1 | f = 1) = exp(-(1 - pi) lambda)``; the argument is ``(1 - pi) lambda``."""
    return np.exp(-unseen)


def correct_match(unseen: FloatArray, derivative: int = 0) -> FloatArray:
    """Compute ``E(1 / F | f = 1) = (1 - exp(-x)) / x``, ``x = (1 - pi) lambda``, or a derivative.

    The k-th one is ``(-1)^k`` times the integral of ``t^k exp(-t x)`` from 0 to 1 (an incomplete gamma).
    """
    if not derivative:
        return np.asarray(exprel(-unseen))
    x, order = np.maximum(unseen, 1e-90), derivative + 1  # as good as 0, and no division by it
    sign = (-1.0) ** derivative * math.factorial(derivative)
    return np.asarray(sign * gammainc(order, x) / x**order)


@dataclass(frozen=True)
class ModelRisk:
    """Disclosure risk by one model, with diagnostics."""

    interactions: tuple[tuple[str, str], ...]  # pairs of keys; none for independence
    cells: int | None  # cells with a positive mean; None where only those of the sample count
    tau_1: float  # expected number of sample uniques that are population uniques, in records; higher is worse
    tau_2: float  # expected right links of sample uniques to one of their ``F_k`` equals, in records
    # estimated bias of the two because the model does not fit, in records: above 0 where the model leaves out
    # interactions and says too much, below 0 where it has too many. None where cells are left out
    b_1: float | None
    b_2: float | None
    z_1: float | None  # the same in standard deviations; beyond 2 the model does not fit
    z_2: float | None
    gap: float  # how far a margin of the fit is from that of the sample at most, in records

    @property
    def words(self) -> str:
        """Describe the model."""
        count = len(self.interactions)
        return "independence" if not count else f"{count} interaction{'s' if count > 1 else ''}"

    @property
    def misfit(self) -> float:
        """The larger of the two test statistics; infinite without one."""
        return max(math.inf if z is None else abs(z) for z in (self.z_1, self.z_2))


def model_risk(fitted: FittedCells, fraction: float) -> ModelRisk:
    """Compute risk and diagnostics of a fitted model, by the sampling fraction ``pi``.

    ``tau_1 = sum over f_k = 1 of exp(-(1 - pi) mu_k / pi)`` and
    ``tau_2 = sum over f_k = 1 of (1 - exp(-x_k)) / x_k`` with ``x_k = (1 - pi) mu_k / pi``.
    """
    unseen = unseen_mean(fitted.mean, fraction)
    unique = fitted.count == 1.0
    b_1 = z_1 = b_2 = z_2 = None
    if fitted.whole:
        rest, alone = 1.0 - fraction, population_unique(unseen)
        first, second = correct_match(unseen, 1), correct_match(unseen, 2)
        b_1, z_1 = bias(fitted, fraction, -rest * alone, rest**2 * alone)
        b_2, z_2 = bias(fitted, fraction, rest * first, rest**2 * second)
    tau_1, tau_2 = (float(each(unseen[unique]).sum()) for each in (population_unique, correct_match))
    cells = fitted.mean.size if fitted.whole else None
    return ModelRisk(fitted.interactions, cells, tau_1, tau_2, b_1, b_2, z_1, z_2, fitted.gap)


def unseen_mean(mean: FloatArray, fraction: float) -> FloatArray:
    """Compute ``(1 - pi) mu / pi``: the expected persons with the same keys outside the sample."""
    return mean * ((1.0 - fraction) / fraction)


def bias(
    fitted: FittedCells, fraction: float, slope: FloatArray, curvature: FloatArray
) -> tuple[float, float | None]:
    """Estimate the bias of ``sum over f_k = 1 of h(lambda_k)`` under a wrong model, and ``B / sqrt(v)``.

    ``B = sum over k of lambda exp(-mu) { -h'(lambda) (f - mu) + h''(lambda) ((f - mu)^2 - f) / (2 pi) }``,
    near 0 where the model fits (Skinner and Shlomo 2008). Its variance is that for Poisson counts, whose
    first part is ``sum mu c^2`` for coefficients ``c`` of ``f - mu``: less what the fitted margins take away
    from it, as ``sum x_k (f_k - mu_k) = 0`` for every term x of the model. ``f - mu`` and ``(f - mu)^2 - f``
    are not correlated; the latter has variance ``2 mu^2``.
    """
    mean, count = fitted.mean, fitted.count
    often = mean / fraction * np.exp(-mean)
    linear, square = -often * slope, often * curvature / (2.0 * fraction)
    value = float((linear * (count - mean) + square * ((count - mean) ** 2 - count)).sum())
    left = _beyond_margins(linear, mean, fitted.groups)
    variance = float((mean * left**2 + 2.0 * (mean * square) ** 2).sum())
    return value, value / math.sqrt(variance) if variance > 0.0 else None


def _beyond_margins(coefficient: FloatArray, mean: FloatArray, groups: tuple[IndexArray, ...]) -> FloatArray:
    """Compute residuals of a coefficient on the model's terms, by least squares weighted by the means."""
    left = coefficient.copy()
    sums = [np.bincount(group, weights=mean) for group in groups]
    before = math.inf
    for _ in range(_SWEEPS):
        for group, total in zip(groups, sums, strict=True):
            part = np.bincount(group, weights=mean * left)
            left -= np.divide(part, total, out=np.zeros_like(part), where=total > 0.0)[group]
        now = float((mean * left**2).sum())
        if now >= 0.999 * before:
            break
        before = now
    return left
