"""Intervals around values, by ranks, standard deviations and robust distances, and who lies in them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from linkrisk.solver.measures.values.moments import spread

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

RMD_WIDTH = 0.05
"""sdcMicro's factor of the robust Mahalanobis distance, beside its k."""

RMD_K = 0.01
"""sdcMicro's default k of RMDID1."""

MOST_SCATTERED = 10_000
"""Records that the robust covariance matrix is estimated from; of more so many by lot."""

RMD_K2 = 0.05
"""sdcMicro's default k2 of RMDID2: another masked record as near as this protects a record."""


@dataclass(frozen=True, eq=False)
class RankedValues:
    """Values of one attribute of the masked file with their ranks, for intervals of any width.

    Attributes
    ----------
    place : ndarray of int, shape (m,)
        Which of `values` each record has; -1 where it is missing.
    values, rank : ndarray of float64, shape (different values,)
        Ascending; equal values have the mean of their ranks.
    known : int
        Records that have a value.
    """

    place: NDArray[np.intp]
    values: FloatArray
    rank: FloatArray
    known: int

    @classmethod
    def of(cls, masked: FloatArray) -> RankedValues:
        """Rank values, shape (m,), NaN where one is missing."""
        known = ~np.isnan(masked)
        values, inverse, counts = np.unique(masked[known], return_inverse=True, return_counts=True)
        place = np.full(masked.size, -1, dtype=np.intp)
        place[known] = inverse.reshape(-1)
        return cls(place, values, np.cumsum(counts) - (counts - 1) / 2.0, int(known.sum()))

    def around(self, percent: int) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest value of each record's interval (`rank_intervals`)."""
        width = percent * self.known / 100.0
        low = self.values[np.searchsorted(self.rank, self.rank - width, side="right")]
        high = self.values[np.searchsorted(self.rank, self.rank + width, side="left") - 1]
        # The last one is that of missing values.
        return np.append(low, np.nan)[self.place], np.append(high, np.nan)[self.place]


def rank_intervals(masked: FloatArray, percent: int) -> tuple[FloatArray, FloatArray]:
    """The interval around each masked value that holds the values with nearby ranks.

    Parameters
    ----------
    masked : ndarray of float64, shape (m,)
        Values of one attribute of the masked file, NaN where one is missing.
    percent : int
        ``p``: ranks in the interval differ from the value's own by less than p percent of the records. Equal
        values have the mean of their ranks.

    Returns
    -------
    low, high : ndarray of float64, shape (m,)
        The smallest and the largest masked value of each interval; NaN for a missing value.

    Notes
    -----
    D11.2, definition 1; from Domingo-Ferrer, Mateo-Sanz and Torra (2001).
    """
    return RankedValues.of(masked).around(percent)


def deviation_intervals(masked: FloatArray, share: float) -> tuple[FloatArray, FloatArray]:
    """Masked values plus and minus `share` standard deviations of the masked attribute, each shape (m,).

    SDID of Mateo-Sanz, Sebe and Domingo-Ferrer (2004), with the masked file's deviation as in sdcMicro's
    ``dRisk``; of a constant attribute the interval is its value.
    """
    width = share * float(np.nan_to_num(spread(masked[:, None]))[0])
    return masked - width, masked + width


def inside(original: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Whether original values lie in intervals, ends included: 1, 0, NaN where there is no original value.

    A missing masked value has no interval, so that nothing is disclosed: 0.
    """
    within = ((low <= original) & (original <= high)).astype(np.float64)
    return np.where(np.isnan(original), np.nan, within)


@dataclass(frozen=True, eq=False)
class RobustDisclosure:
    """Intervals as long as a record is far from the others, as in sdcMicro's ``dRiskRMD``.

    Attributes
    ----------
    distance : ndarray of float64, shape (records,)
        Robust Mahalanobis distance of each original record.
    unsafe : ndarray of bool, shape (records,)
        RMDID1: some masked value lies in the interval around its original.
    alone : ndarray of bool, shape (records,)
        RMDID2: unsafe, and no other masked record is near.
    """

    distance: FloatArray
    unsafe: BoolArray
    alone: BoolArray

    @property
    def shares(self) -> tuple[float, float, float]:
        """RMDID1, RMDID1 weighted by the distance (from 0 to 1, unlike sdcMicro's), RMDID2."""
        total = float(self.distance.sum())
        weighted = float(self.distance[self.unsafe].sum()) / total if total > 0.0 else 0.0
        return float(self.unsafe.mean()), weighted, float(self.alone.mean())


def robust_disclosure(
    original: FloatArray, masked: FloatArray, k: float, seed: int
) -> RobustDisclosure | None:
    """RMDID1 and RMDID2 (Templ and Meindl, 2008) of complete partners, each shape (records, attributes).

    As sdcMicro's ``dRiskRMD``: both files are standardised, each by its own means and deviations; ``d_i`` is
    the Mahalanobis distance of original record i to the mean, with the covariance matrix of the minimum
    covariance determinant; a record is unsafe where ``|x'_ij - x_ij| < k * 0.05 * d_i`` for *any* attribute
    j, and alone where moreover no other masked record is within `RMD_K2`. None where that matrix is singular:
    more than half of the records lie on a plane, or there are too few.
    """
    if len(original) <= 2 * original.shape[1] or np.isnan(spread(original) + spread(masked)).any():
        return None
    first, second = ((values - values.mean(axis=0)) / spread(values) for values in (original, masked))
    scatter = _determinant(first, seed)
    if scatter is None:
        return None
    distance = np.sqrt(np.einsum("ij,jk,ik->i", first, np.linalg.inv(scatter), first))
    width = (k * RMD_WIDTH * distance)[:, None]
    unsafe = (np.abs(second - first) < width).any(axis=1)
    # The nearest record is oneself; the second one may be at the same place.
    alone = unsafe.copy()
    alone[unsafe] = np.asarray(KDTree(second).query(second[unsafe], k=2)[0])[:, 1] > RMD_K2
    return RobustDisclosure(distance, unsafe, alone)


def _determinant(values: FloatArray, seed: int) -> FloatArray | None:
    """Covariance matrix of the minimum covariance determinant, whatever the order of the records."""
    from sklearn.covariance import MinCovDet

    ordered = values[np.lexsort(values.T)]
    if len(ordered) > MOST_SCATTERED:
        some = np.random.default_rng(seed).choice(len(ordered), MOST_SCATTERED, replace=False)
        ordered = ordered[np.sort(some)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of singular matrices: the eigenvalues tell
        try:
            scatter = MinCovDet(random_state=seed).fit(ordered).covariance_
        except ValueError:
            return None
    sizes = np.linalg.eigvalsh(scatter)
    return None if sizes[0] < 1e-10 * sizes[-1] else np.asarray(scatter)
