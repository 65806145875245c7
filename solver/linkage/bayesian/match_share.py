"""The share of pairs that are matches, and from it the probability that a pair is one."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from linkrisk.arrays import FloatArray

_LEAST = -60.0
"""The logit of the smallest share that is told from none, about 1e-26."""


def match_probabilities(weights: FloatArray, match_share: float) -> FloatArray:
    """Posterior probability of a match, ``p BF / (p BF + 1 - p)`` (Smith 2016, Eq. 4).

    Parameters
    ----------
    weights : ndarray of float64
        Match weights, log2 BF.
    match_share : float
        p, the probability of a match before anything is known of the pair.
    """
    return np.asarray(expit(weights * np.log(2.0) + logit(match_share)), dtype=np.float64)


def estimated_match_share(weights: FloatArray) -> float:
    """The share p of matches among pairs of which we have the match weights.

    EM takes the mean of the posterior probabilities as the next p until it stays the same (Smith 2016,
    section 4). It climbs the likelihood ``prod (1 - p + p BF)``, whose logarithm is concave in p, so it ends
    at the only maximum. We look for that end directly, because near 0 EM creeps.

    Parameters
    ----------
    weights : ndarray of float64, any shape
        Match weights, log2 BF, of all pairs.

    Returns
    -------
    float
        p; 0 when the likelihood is largest without any matches, 1 when it is when all pairs match.
    """
    logs = weights * np.log(2.0)
    small = np.exp(-np.abs(logs))

    def slope(log_odds: float) -> float:
        """Slope of the log likelihood, the mean of ``(BF - 1) / (1 - p + p BF)``: it falls as p grows."""
        p, rest = expit(log_odds), expit(-log_odds)
        return float(
            np.where(logs > 0, (1 - small) / (rest * small + p), (small - 1) / (rest + p * small)).mean()
        )

    if slope(_LEAST) <= 0.0:
        return 0.0
    if slope(-_LEAST) >= 0.0:
        return 1.0
    return float(expit(brentq(slope, _LEAST, -_LEAST, xtol=1e-12)))
