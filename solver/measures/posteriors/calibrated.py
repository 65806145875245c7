"""What a distance says as a probability: the likelier the nearer, with a rate that fits the truth best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from linkrisk.arrays import FloatArray, IndexArray

_EXPONENTS = (-4.0, 6.0)
"""Powers of ten, of the rate in terms of a usual distance, between which it is sought."""


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A probability for every candidate."""

    # (blocks, candidates): ``exp(-rate * d_ij) / sum_l exp(-rate * d_il)``; rows sum to one
    probability: FloatArray
    rate: float  # 1 / distance


def calibrated(distance: FloatArray, partner: IndexArray) -> Calibrated:
    """The conditional logit of a distance: one parameter, by maximum likelihood of the true partners.

    Which truth it is fitted to makes little difference, as it has one parameter. The likelihood is concave in
    the rate; where every partner is nearest it has no maximum, and a large rate is taken.

    `distance` (blocks, candidates): inf where a candidate is impossible; lower is nearer, of any sign.
    `partner` (blocks,).
    """
    possible = np.isfinite(distance)
    nearest = np.where(possible, distance, np.inf).min(axis=1, keepdims=True)
    nearest = np.where(np.isfinite(nearest), nearest, 0.0)
    # Distances from the nearest candidate: nothing overflows. Where nothing is possible, all are alike.
    apart = np.where(possible, distance - nearest, np.inf)
    apart[~possible.any(axis=1)] = 0.0
    own = apart[np.arange(partner.size), partner]
    told = np.isfinite(own)
    usual = float(apart[np.isfinite(apart)].mean()) or 1.0

    def loss(exponent: float) -> float:
        rate = 10.0**exponent / usual
        return float((rate * own[told] + np.log(np.exp(-rate * apart[told]).sum(axis=1))).sum())

    found = minimize_scalar(loss, bounds=_EXPONENTS, method="bounded", options={"xatol": 1e-3})
    rate = 10.0 ** float(found.x) / usual
    weight = np.exp(-rate * apart)
    return Calibrated(np.asarray(weight / weight.sum(axis=1, keepdims=True)), rate)
