"""The intruder who knows one record and the masking: the probability of each candidate, by Bayes' theorem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.pair import Direction

EQUAL = 1e-9
"""Probabilities that differ by a smaller share are the same but for rounding."""


def one_record_posterior(log_likelihood: FloatArray, rows: IndexArray, direction: Direction) -> FloatArray:
    """Probability of each candidate to be the partner of each query.

    With ``f_ij`` the probability (density) that the original record i becomes the masked record j, and
    ``P(i | j) = f_ij / sum_k f_kj``,

    - original-to-masked: one of m masked records was made from i, and each may be it alike; the others have
      the density ``g_ij = sum_{k != i} f_kj / (n - 1)``. So ``P(j | i)`` is proportional to ``f_ij / g_ij``,
      and so to the odds ``P(i | j) / (1 - P(i | j))``;
    - masked-to-original: of n original records each may be the one alike, so ``P(i | j)`` itself.

    `log_likelihood` (n, m): ``log f_ij``. `rows` (queries,): of the queries in their own file. Returns shape
    (queries, candidates): rows sum to one.
    """
    if direction is Direction.MASKED_TO_ORIGINAL:
        chosen = log_likelihood.T[rows]
        return np.asarray(np.exp(chosen - logsumexp(chosen, axis=1, keepdims=True)))
    odds = _log_odds(log_likelihood)[rows]
    # What no other record can have become is certain.
    certain = np.isposinf(odds)
    odds = np.where(certain.any(axis=1, keepdims=True), np.where(certain, 0.0, -np.inf), odds)
    return np.asarray(np.exp(odds - logsumexp(odds, axis=1, keepdims=True)))


def _log_odds(log_likelihood: FloatArray) -> FloatArray:
    """``log(f_ij / sum_{k != i} f_kj)``, shape (n, m), without loss where one record has nearly all."""
    columns = np.arange(log_likelihood.shape[1])
    first = log_likelihood.argmax(axis=0)
    largest = log_likelihood[first, columns]
    others = log_likelihood.copy()
    others[first, columns] = -np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        beside = logsumexp(others, axis=0)
        share = np.exp(others - np.logaddexp(beside, largest))  # at most one half: nothing is lost
        odds = np.log(share) - np.log1p(-share)
        odds[first, columns] = largest - beside
    odds[np.isneginf(log_likelihood)] = -np.inf
    return np.asarray(odds)


def best_claims(probability: FloatArray) -> NDArray[np.bool_]:
    """The most probable candidates of each row, shape as `probability`: several where they are equal."""
    largest = probability.max(axis=1, keepdims=True)
    return np.asarray(probability >= largest * (1.0 - EQUAL))


def right_claims(probability: FloatArray, partner: IndexArray) -> FloatArray:
    """How often the best candidate is the partner, shape (rows,), when lots decide between equals."""
    best = best_claims(probability)
    return np.asarray(best[np.arange(len(best)), partner] / best.sum(axis=1))
