"""Claims of an intruder who does not know whether his target is in the file, by the distance he accepts.

He claims that a target is the nearest masked record wherever that is within a distance t. Of targets who are
in the file it is known what becomes of such claims. A target who is not is claimed too, and always wrongly;
how many of them there are is estimated from the members: with g_i(t) = 1 where the nearest record of
*somebody else* is within t of member i, and sampling weights ``w_i = 1 / pi_i``, the estimate is

    ``F(t) = sum over the sample of (w_i - 1) g_i(t)``.

Under Poisson sampling (persons are in the sample independently of each other, with probabilities pi_i), and
masking of each record by itself, it is unbiased: whether i is in the sample does not depend on who else is,
so ``E sum_s (w_i - 1) g_i = sum_U (1 - pi_i) E g_i``, the expected sum of g_i over U without s (Horvitz and
Thompson 1952). With the g_i given, its variance is ``sum_U g_i (1 - pi_i) / pi_i``, which
``V = sum_s w_i (w_i - 1) g_i`` estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import chi2

from linkrisk.arrays import FloatArray

KEPT = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Shares of the right links that distances are chosen to keep."""

_TAIL = 0.025


@dataclass(frozen=True, eq=False)
class Members:
    """What a distance makes of the records that have a partner; all arrays have shape (n,)."""

    # what a claim of the record is right for: 1 where it is linked, 1/k where it shares ties; else 0
    right: FloatArray
    own: FloatArray  # distance to the partner; inf where that is impossible
    other: FloatArray  # distance to the nearest masked record of somebody else; inf where there is none
    absent: FloatArray  # persons outside the file whom the record stands for, at least 0: ``w_i - 1``


@dataclass(frozen=True, eq=False)
class ClaimsByDistance:
    """Claims within each distance; all arrays have shape (distances,)."""

    kept: FloatArray  # share of the right links that have no larger distance
    # the largest that is claimed, in units of the attack's distance; inf where every target is claimed
    distance: FloatArray
    right: FloatArray  # right claims of targets that are in the file
    wrong_inside: FloatArray  # wrong ones. Known, as `right` is
    wrong_outside: FloatArray  # claims of targets that are not in the file, by estimate
    low_outside: FloatArray  # their 95 % confidence interval
    high_outside: FloatArray

    @property
    def share(self) -> FloatArray:
        """Share of the claims that are right; NaN where there are none. More is worse."""
        return self._share(self.wrong_outside)

    @property
    def low(self) -> FloatArray:
        """Lower end of its interval."""
        return self._share(self.high_outside)

    @property
    def high(self) -> FloatArray:
        """Upper end of its interval."""
        return self._share(self.low_outside)

    def _share(self, wrong_outside: FloatArray) -> FloatArray:
        claims = self.right + self.wrong_inside + wrong_outside
        return np.where(claims > 0.0, self.right / np.where(claims > 0.0, claims, 1.0), np.nan)

    def to_frame(self) -> pd.DataFrame:
        """One row per distance, as the attributes are described, then share, low and high."""
        ends = {"share": self.share, "low": self.low, "high": self.high}
        return pd.DataFrame({**vars(self), **ends})


def claims_by_distance(members: Members, kept: Sequence[float] = KEPT) -> ClaimsByDistance:
    """Claims within the distances that keep these shares of the right links, and of all targets.

    `kept`: above 0, at most 1. Distances are those of right links, so that shares are at least these. Without
    any right link there is only the last row, of all targets.
    """
    rows = [_row(members, distance) for distance in _distances(members, kept)]
    columns = np.array([*rows, _row(members, np.inf)], dtype=np.float64).T
    return ClaimsByDistance(*columns)


def claimed_outside(members: Members, distance: float) -> tuple[float, float, float]:
    """F(t), and the ends of its 95 % interval.

    The interval is Fay and Feuer's (1997) for weighted sums of Poisson counts, which is valid near 0, too:
    with no claim at all its upper end is 3.69 times the largest weight.
    """
    everybody = float(members.absent.sum())
    if distance == np.inf:  # then all are claimed
        return everybody, everybody, everybody
    near = members.other <= distance
    absent = members.absent[near]
    value, variance = float(absent.sum()), float((absent * (absent + 1.0)).sum())
    largest = float(members.absent.max(initial=0.0))
    one = largest + 1.0  # a weight: so much does one more claim of a member count
    above = (value + one, variance + one * one)
    low = 0.0 if value == 0.0 else _scaled_limit(value, variance, _TAIL)
    high = _scaled_limit(*above, 1.0 - _TAIL)
    return value, min(low, value), min(max(high, value), everybody)


def _scaled_limit(value: float, variance: float, level: float) -> float:
    """``v / (2 y) chi2^-1(level; 2 y^2 / v)``."""
    return variance / (2.0 * value) * float(chi2.ppf(level, 2.0 * value * value / variance))


def _distances(members: Members, kept: Sequence[float]) -> FloatArray:
    """The smallest distances that keep these shares of the right links."""
    linked = np.flatnonzero(members.right > 0.0)
    if not linked.size:
        return np.empty(0)
    order = linked[np.argsort(members.own[linked], kind="stable")]
    sums = np.cumsum(members.right[order])
    at = np.searchsorted(sums, np.array(kept) * sums[-1] * (1.0 - 1e-12))
    return np.asarray(members.own[order][at])


def _row(members: Members, distance: float) -> tuple[float, ...]:
    """Share of right links, distance, right, wrong inside, and outside with its interval."""
    everything = float(members.right.sum())
    right = float(members.right[members.own <= distance].sum())
    claimed = int((np.minimum(members.own, members.other) <= distance).sum())
    outside = claimed_outside(members, distance)
    return (right / everything if everything else 1.0, distance, right, claimed - right, *outside)
