"""How many links are right when records are matched at random: the exact distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import factorial

from linkrisk.arrays import FloatArray

_MOST = 64
"""Right links whose probability is more than a double can tell from nothing: it is below 1 / 64!."""


@dataclass(frozen=True, eq=False)
class ChanceMatches:
    """The number of right links of a random one-to-one matching."""

    probability: FloatArray  # (any,): of 0, 1, 2, ... right links
    mean: float

    def quantile(self, share: float) -> int:
        """The least number that is not exceeded with this probability."""
        return int(np.searchsorted(np.cumsum(self.probability), share - 1e-12))


def chance_matches(records: int, candidates: int) -> ChanceMatches:
    """The distribution where each of `records` gets another one of `candidates`, all matchings alike.

    `records`: all of which have a partner. `candidates`: at least as many.

    The r-th factorial moment of the number K of right links is ``[n]_r / [m]_r``, with n records, m
    candidates and falling factorials, so by inclusion and exclusion (Riordan, An Introduction to
    Combinatorial Analysis, 1958, chapter 3)
    ``P(K = k) = 1/k! sum_j (-1)^j / j! [n]_(k+j) / [m]_(k+j)``. For n = m these are the rencontres numbers
    over n!.
    """
    steps = (records - np.arange(2 * _MOST)) / np.maximum(candidates - np.arange(2 * _MOST), 1)
    moments = np.cumprod(np.concatenate([[1.0], steps.clip(0.0)]))
    right, j = np.arange(min(records, _MOST) + 1), np.arange(_MOST)
    signed = np.where(j % 2, -1.0, 1.0) / factorial(j)
    probability = (moments[right[:, None] + j] * signed).sum(axis=1) / factorial(right)
    return ChanceMatches(probability.clip(0.0), records / candidates)
