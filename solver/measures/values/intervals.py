"""Intervals around values, by ranks, standard deviations and robust distances, and who lies in them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.solver.measures.values.moments import spread

RMD_WIDTH = 0.05
"""sdcMicro's factor of the robust Mahalanobis distance, beside its k."""

RMD_K = 0.01
"""sdcMicro's default k of RMDID1."""

MOST_SCATTERED = 10_000
"""Records that the robust covariance matrix is estimated from; of more so many by lot."""

Late = Callable[[], bool]
"""Whether time has run out."""

_AT_ONCE = 50_000
"""Records whose neighbours are sought between two questions whether it is late."""

RMD_K2 = 0.05
"""sdcMicro's default k2 of RMDID2: another masked record as near as this protects a record."""


def never() -> bool:
    """That there is time, whatever the clock says."""
    return False


@dataclass(frozen=True, eq=False)
class RankedValues:
    """Values of one attribute of the masked file with their ranks, for intervals of any width."""

    place: NDArray[np.intp]  # (m,): which of `values` each record has; -1 where it is missing
    values: FloatArray  # (different values,): ascending; equal values have the mean of their ranks
    rank: FloatArray
    known: int  # records that have a value

    @classmethod
    def of(cls, masked: FloatArray) -> RankedValues:
        """Rank values, shape (m,), NaN where one is missing."""
        known = ~np.isnan(masked)
        values, inverse, counts = np.unique(masked[known], return_inverse=True, return_counts=True)
        place = np.full(masked.size, -1, dtype=np.intp)
        place[known] = inverse.reshape(-1)
        return cls(place, values, np.cumsum(counts) - (counts - 1) / 2.0, int(known.sum()))

    def of_records(self, rows: NDArray[np.intp]) -> RankedValues:
        """The same values, ranked among all records, of some records alone."""
        return replace(self, place=self.place[rows])

    def around(self, percent: int) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest value of each record's interval (`rank_intervals`)."""
        width = percent * self.known / 100.0
        low = self.values[np.searchsorted(self.rank, self.rank - width, side="right")]
        high = self.values[np.searchsorted(self.rank, self.rank + width, side="left") - 1]
        # The last one is that of missing values.
        return np.append(low, np.nan)[self.place], np.append(high, np.nan)[self.place]


def rank_intervals(masked: FloatArray, percent: int) -> tuple[FloatArray, FloatArray]:
    """The interval around each masked value that holds the values with nearby ranks.

    `masked` (m,): values of one attribute of the masked file, NaN where one is missing. `percent`: ``p``:
    ranks in the interval differ from the value's own by less than p percent of the records. Equal values have
    the mean of their ranks. Returns `low, high` (m,): the smallest and the largest masked value of each
    interval; NaN for a missing value.

    D11.2, definition 1; from Domingo-Ferrer, Mateo-Sanz and Torra (2001).
    """
    return RankedValues.of(masked).around(percent)


def deviation(masked: FloatArray) -> float:
    """Standard deviation of a masked attribute with m - 1, 0 of a constant one: what intervals are parts of.

    SDID of Mateo-Sanz, Sebe and Domingo-Ferrer (2004), with the masked file's deviation as in sdcMicro's
    ``dRisk``; of a constant attribute the interval is its value.
    """
    return float(np.nan_to_num(spread(masked[:, None]))[0])


def inside(original: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Whether original values lie in intervals, ends included; not where there is no original value.

    A missing masked value has no interval, so that nothing is disclosed.
    """
    return np.asarray((low <= original) & (original <= high))


@dataclass(frozen=True, eq=False)
class RobustDisclosure:
    """Intervals as long as a record is far from the others, as in sdcMicro's ``dRiskRMD``."""

    distance: FloatArray  # (records,): robust Mahalanobis distance of each original record
    unsafe: BoolArray  # (records,): RMDID1: some masked value lies in the interval around its original
    alone: BoolArray  # (records,): RMDID2: unsafe, and no other masked record is near

    @property
    def shares(self) -> tuple[float, float, float]:
        """RMDID1, RMDID1 weighted by the distance (from 0 to 1, unlike sdcMicro's), RMDID2."""
        total = float(self.distance.sum())
        weighted = float(self.distance[self.unsafe].sum()) / total if total > 0.0 else 0.0
        return float(self.unsafe.mean()), weighted, float(self.alone.mean())


def robust_disclosure(
    original: FloatArray, masked: FloatArray, k: float, seed: int, late: Late = never
) -> RobustDisclosure | None:
    """RMDID1 and RMDID2 (Templ and Meindl, 2008) of complete partners, each shape (records, attributes).

    As sdcMicro's ``dRiskRMD``: both files are standardised, each by its own means and deviations; ``d_i`` is
    the Mahalanobis distance of original record i to the mean, with the covariance matrix of the minimum
    covariance determinant; a record is unsafe where ``|x'_ij - x_ij| < k * 0.05 * d_i`` for *any* attribute
    j, and alone where moreover no other masked record is within `RMD_K2`. None where that matrix is singular:
    more than half of the records lie on a plane, or there are too few. `late` is asked from time to time.
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
    return RobustDisclosure(distance, unsafe, _alone(second, unsafe, late))


def _alone(values: FloatArray, asked: BoolArray, late: Late) -> BoolArray:
    """Which of some records have no other record within `RMD_K2`; TimeoutError when it is late."""
    tree = KDTree(values)
    alone = np.zeros(len(values), dtype=np.bool_)
    neighbours = tree.indices[asked[tree.indices]]  # one after the other: what one looks at is at hand
    for rows in np.array_split(neighbours, max(1, neighbours.size // _AT_ONCE)):
        if late():
            raise TimeoutError
        # The nearest record is oneself; the second one may be at the same place.
        near = tree.query(values[rows], k=2, distance_upper_bound=1.001 * RMD_K2, workers=-1)[0]
        alone[rows] = np.asarray(near)[:, 1] > RMD_K2
    return alone


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
    # The values are standardised: what is no part of their deviation is none, in one dimension as well.
    return None if sizes[0] <= 1e-10 * max(float(sizes[-1]), 1e-10) else np.asarray(scatter)
