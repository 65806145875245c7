"""Expectation maximisation: m- and u-probabilities and the share of matches, from pattern counts.

The model of Fellegi and Sunter (1969), with the algorithm of Jaro (1989): a pair is a match with
probability p; given that it is one, or not, attributes agree independently of each other. A missing value
is no evidence: its factor is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from solver.linkage.probabilistic.patterns import PatternCounts

FloatArray = NDArray[np.float64]

BOUND = 1e-9
"""Least m- and u-probability of a level, and least distance of p from 0 and 1."""

START_M = 0.9
"""The m-probability of full agreement to start from; the other levels share the rest."""


@dataclass(frozen=True)
class EMSettings:
    """What to estimate, and how long.

    Attributes
    ----------
    p : float, optional
        The share of matches, when it is known; estimated otherwise.
    start_p : float
        Where its estimate starts.
    fixed_u : bool
        Take u-probabilities from the agreement of all pairs, which are hardly ever matches, instead of
        estimating them.
    prior : float
        Pairs added to each level of each attribute, for m and for u: the parameters of the Dirichlet
        priors (Beta with two levels) are 1 + prior.
    tolerance : float
        Converged when no probability moves by more, p as a share of itself.
    most_iterations : int
    """

    p: float | None = None
    start_p: float = 0.01
    fixed_u: bool = False
    prior: float = 0.0
    tolerance: float = 1e-6
    most_iterations: int = 5000


@dataclass(frozen=True, eq=False)
class Estimate:
    """What EM found.

    Attributes
    ----------
    m, u : tuple of ndarray of float64
        For each attribute the probability of each level among matches and among other pairs,
        disagreement first; each sums to one.
    p : float
        The share of matches among the compared pairs.
    log_posterior : tuple of float
        Before each iteration and at the end: the log-likelihood of the pattern counts plus the log of the
        priors up to a constant. It never falls.
    converged : bool
    match_probability : ndarray of float64, shape (G,)
        Of each pattern.
    """

    m: tuple[FloatArray, ...]
    u: tuple[FloatArray, ...]
    p: float
    log_posterior: tuple[float, ...]
    converged: bool
    match_probability: FloatArray

    @property
    def iterations(self) -> int:
        """How many steps were made."""
        return len(self.log_posterior) - 1


class _Model:
    """Pattern counts as a sparse matrix: one row per pattern, one column per level of each attribute."""

    def __init__(self, counts: PatternCounts, levels: Sequence[int], settings: EMSettings) -> None:
        self.counts = counts.counts
        self.pairs = counts.pairs
        self.settings = settings
        self.ends = np.cumsum(levels)[:-1]
        first = np.concatenate([[0], self.ends]).astype(np.intp)
        row, k = np.nonzero(counts.patterns)
        column = first[k] + counts.patterns[row, k] - 1
        shape = (len(counts.patterns), int(np.sum(levels)))
        self.design = sparse.csr_array((np.ones(row.size), (row, column)), shape=shape)
        self.transposed = self.design.T.tocsr()

    def per_level(self, amounts: FloatArray) -> FloatArray:
        """The sum over patterns of some amounts, for each level of each attribute."""
        return np.asarray(self.transposed @ amounts, dtype=np.float64)

    def proportions(self, counts: FloatArray) -> FloatArray:
        """The most likely level probabilities of every attribute given expected counts of the levels."""
        with_prior = counts + self.settings.prior
        return np.concatenate([bounded_proportions(part) for part in np.split(with_prior, self.ends)])

    def expect(self, m: FloatArray, u: FloatArray, p: float) -> tuple[FloatArray, float]:
        """Match probability of every pattern, and the log-posterior."""
        log_m, log_u = np.log(m), np.log(u)
        match = np.log(p) + self.design @ log_m
        other = np.log1p(-p) + self.design @ log_u
        either = np.logaddexp(match, other)
        prior = self.settings.prior * (log_m.sum() + (0.0 if self.settings.fixed_u else log_u.sum()))
        return np.exp(match - either), float(self.counts @ either + prior)

    def maximise(self, match: FloatArray, u: FloatArray, p: float) -> tuple[FloatArray, FloatArray, float]:
        """The most likely m, u and p given the match probability of every pattern."""
        matches = self.counts * match
        if self.settings.p is None:
            p = float(np.clip(matches.sum() / self.pairs, BOUND, 1 - BOUND))
        if not self.settings.fixed_u:
            u = self.proportions(self.per_level(self.counts * (1.0 - match)))
        return self.proportions(self.per_level(matches)), u, p


def estimate(counts: PatternCounts, levels: Sequence[int], settings: EMSettings) -> Estimate:
    """Estimate m, u and p by expectation maximisation.

    It starts from m = `START_M` at full agreement, u as it is among all pairs, and p = `start_p`.

    Parameters
    ----------
    counts : PatternCounts
        At least one pair.
    levels : sequence of int, length K
        How many levels each attribute has.
    settings : EMSettings
    """
    model = _Model(counts, levels, settings)
    m = np.concatenate([np.append(np.full(n - 1, (1 - START_M) / (n - 1)), START_M) for n in levels])
    u = model.proportions(model.per_level(model.counts))
    p = float(np.clip(settings.start_p if settings.p is None else settings.p, BOUND, 1 - BOUND))
    match, value = model.expect(m, u, p)
    trace, converged = [value], False
    while not converged and len(trace) <= settings.most_iterations:
        new_m, new_u, new_p = model.maximise(match, u, p)
        moved = max(float(np.abs(new_m - m).max()), float(np.abs(new_u - u).max()), abs(new_p / p - 1.0))
        m, u, p = new_m, new_u, new_p
        match, value = model.expect(m, u, p)
        trace.append(value)
        converged = moved <= settings.tolerance
    return Estimate(
        m=tuple(np.split(m, model.ends)),
        u=tuple(np.split(u, model.ends)),
        p=p,
        log_posterior=tuple(trace),
        converged=converged,
        match_probability=match,
    )


def bounded_proportions(counts: FloatArray) -> FloatArray:
    """Maximise ``sum_l counts_l log(theta_l)`` over probabilities that are all at least `BOUND`.

    Levels that would fall below are put at the bound, the others share the rest in proportion.
    """
    total = counts.sum()
    if total == 0:
        return np.full(counts.size, 1.0 / counts.size)
    low = np.zeros(counts.size, dtype=np.bool_)
    while True:
        rest = (1.0 - BOUND * low.sum()) / counts[~low].sum()
        theta = np.where(low, BOUND, counts * rest)
        if (theta >= BOUND).all():
            return theta
        low |= theta < BOUND
