"""Measure interval disclosure: how often the original value lies in an interval around the masked one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial import KDTree

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.errors import called, needs_extra
from linkrisk.solver.measures.base import OF_RECORDS, Finding, Kind, Measure, MeasureResult
from linkrisk.solver.measures.released import ReleasedAttribute, released, spread, unreadable
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import percent as written

RMD_WIDTH = 0.05
"""sdcMicro's factor of the robust Mahalanobis distance, beside its k."""

RMD_K = 0.01
"""sdcMicro's default k of RMDID1."""

MOST_SCATTERED = 10_000
"""Records for the robust covariance matrix; beyond, a random sample."""

Late = Callable[[], bool]
"""Predicate that tells whether time has run out."""

_AT_ONCE = 50_000
"""Records whose neighbours are searched between two time checks."""

RMD_K2 = 0.05
"""sdcMicro's default k2 of RMDID2: another masked record within this distance protects a record."""


def never() -> bool:
    """Never run out of time."""
    return False


@dataclass(frozen=True, eq=False)
class RankedValues:
    """Sorted values of one masked attribute, for rank intervals of any width."""

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
        """Restrict to some records, with ranks among all."""
        return replace(self, place=self.place[rows])

    def around(self, percent: int) -> tuple[FloatArray, FloatArray]:
        """Compute the ends of intervals within `percent` of the records by rank, each (records,).

        D11.2, definition 1; from Domingo-Ferrer, Mateo-Sanz and Torra (2001). NaN for a missing value.
        """
        width = percent * self.known / 100.0
        low = self.values[np.searchsorted(self.rank, self.rank - width, side="right")]
        high = self.values[np.searchsorted(self.rank, self.rank + width, side="left") - 1]
        # The last one is that of missing values.
        return np.append(low, np.nan)[self.place], np.append(high, np.nan)[self.place]


def deviation(masked: FloatArray) -> float:
    """Compute the standard deviation of a masked attribute with m - 1; 0 for a constant one.

    SDID of Mateo-Sanz, Sebe and Domingo-Ferrer (2004), with the masked file's deviation as in sdcMicro's
    ``dRisk``.
    """
    return float(np.nan_to_num(spread(masked[:, None]))[0])


def inside(original: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Tell whether original values lie in intervals, ends included; not where either value is missing."""
    return np.asarray((low <= original) & (original <= high))


@dataclass(frozen=True, eq=False)
class RobustDisclosure:
    """Disclosure by intervals proportional to a record's robust distance, as in sdcMicro's ``dRiskRMD``."""

    distance: FloatArray  # (records,): robust Mahalanobis distance of each original record
    unsafe: BoolArray  # (records,): RMDID1: some masked value lies in the interval around its original
    alone: BoolArray  # (records,): RMDID2: unsafe, and no other masked record is near

    @property
    def shares(self) -> tuple[float, float, float]:
        """Compute RMDID1, RMDID1 weighted by the distance (from 0 to 1, unlike sdcMicro's), RMDID2."""
        total = float(self.distance.sum())
        weighted = float(self.distance[self.unsafe].sum()) / total if total > 0.0 else 0.0
        return float(self.unsafe.mean()), weighted, float(self.alone.mean())


def robust_disclosure(
    original: FloatArray, masked: FloatArray, k: float, seed: int, late: Late = never
) -> RobustDisclosure | None:
    """Compute RMDID1 and RMDID2 (Templ and Meindl, 2008) of complete partners, each (records, attributes).

    As sdcMicro's ``dRiskRMD``: both files are standardised, each by its own means and deviations; ``d_i`` is
    the Mahalanobis distance of original record i to the mean, with the covariance matrix of the minimum
    covariance determinant; a record is unsafe where ``|x'_ij - x_ij| < k * 0.05 * d_i`` for *any* attribute
    j, and alone where moreover no other masked record is within `RMD_K2`. None where that matrix is singular:
    more than half of the records lie on a plane, or there are too few. `late` is called from time to time.
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
    """Find records with no other record within `RMD_K2`; TimeoutError when time runs out."""
    tree = KDTree(values)
    alone = np.zeros(len(values), dtype=np.bool_)
    neighbours = tree.indices[
        asked[tree.indices]
    ]  # in the order of the tree: their neighbours are in the cache
    for rows in np.array_split(neighbours, max(1, neighbours.size // _AT_ONCE)):
        if late():
            raise TimeoutError
        # The nearest record is oneself; the second one may be at the same place.
        near = tree.query(values[rows], k=2, distance_upper_bound=1.001 * RMD_K2, workers=-1)[0]
        alone[rows] = np.asarray(near)[:, 1] > RMD_K2
    return alone


def _determinant(values: FloatArray, seed: int) -> FloatArray | None:
    """Compute the minimum covariance determinant estimate, independent of the order of the records."""
    needs_extra("the robust distance of interval disclosure", "sklearn")
    from sklearn.covariance import MinCovDet

    ordered = values[np.lexsort(values.T)]
    if len(ordered) > MOST_SCATTERED:
        some = np.random.default_rng(seed).choice(len(ordered), MOST_SCATTERED, replace=False)
        ordered = ordered[np.sort(some)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of singular matrices: eigenvalues decide
        try:
            scatter = MinCovDet(random_state=seed).fit(ordered).covariance_
        except ValueError:
            return None
    sizes = np.linalg.eigvalsh(scatter)
    # The values are standardised: what is no part of their deviation is none, in one dimension as well.
    return None if sizes[0] <= 1e-10 * max(float(sizes[-1]), 1e-10) else np.asarray(scatter)


Intervals = Iterable[tuple[FloatArray, FloatArray]]

PERCENT = tuple(range(1, 11))
"""Interval widths: percent of the records, or of a standard deviation (Mateo-Sanz et al., 2004: 1 to 10)."""

_SDCMICRO = 5
"""Percentage of a standard deviation in sdcMicro's dRisk."""


@dataclass(frozen=True, eq=False)
class Disclosed:
    """Shares of records whose original values lie in intervals; higher is worse."""

    attributes: tuple[str, ...]
    each: FloatArray  # (widths, attributes): of the records that have an original value
    jointly: FloatArray  # (widths,): share of the records with *all* of their values inside
    but_one: FloatArray  # (widths,): share of the records with at most one value outside


@dataclass(frozen=True, eq=False)
class RobustShares:
    """sdcMicro's ``dRiskRMD``; shares from 0 to 1, higher is worse."""

    attributes: tuple[str, ...]
    records: int  # with all values in both files
    k: float  # factor of the intervals' length
    rmdid1: float  # share of unsafe records; weighted by robust distance; unsafe and alone
    rmdid1w: float
    rmdid2: float


@dataclass(frozen=True, eq=False, repr=False)  # that of all measures
class IntervalDisclosure(MeasureResult):
    """Interval disclosure of masked attributes with an order: shares from 0 to 1, higher is worse."""

    measure: ClassVar[str] = "interval-disclosure"
    records: int  # records with a partner
    unchanged: tuple[str, ...]  # attributes that were left as they are, and do not count
    ranks: Disclosed  # rank intervals, of numeric and ordinal attributes
    deviations: Disclosed | None  # SDID, of numeric attributes; None without any
    robust: RobustShares | None  # RMDID; None where robust distances do not exist
    late: bool = False  # whether RMDID was left out for want of time

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The mean over widths of 1 to 10 % with its range over attributes, the joint share, SDID, RMDID."""
        found = [
            _over_attributes("rank_intervals", "within 1 to 10 % of the ranks", self.ranks),
            Finding("rank_intervals_jointly", "all attributes within 10 %", float(self.ranks.jointly[-1])),
        ]
        if self.deviations is not None:
            at = PERCENT.index(_SDCMICRO)
            found += [
                _over_attributes("sdid", "within 1 to 10 % of a std. deviation (SDID)", self.deviations),
                Finding(
                    "sdid_jointly", "all attributes within 10 % (SDID)", float(self.deviations.jointly[-1])
                ),
            ]
            if len(self.deviations.attributes) > 1:  # one attribute alone may always be outside
                share = float(self.deviations.but_one[at])
                found.append(Finding("sdcmicro_drisk", "sdcMicro's dRisk, k = 0.05", share))
        if self.robust is not None:
            found.append(Finding("rmdid1", f"RMDID1, k = {self.robust.k:g}", self.robust.rmdid1))
            found.append(Finding("rmdid2", "RMDID2, unsafe and alone", self.robust.rmdid2))
        return tuple(found)

    @property
    def paragraph(self) -> str:
        """Report the closeness of masked values, and the attribute with the closest ones."""
        mean = self.ranks.each.mean(axis=0)
        worst = int(np.argmax(mean))
        text = (
            f"within 1 to 10 % of the ranks around the masked value lie {written(float(mean.mean()))} "
            f"of the original values on average, most of {self.ranks.attributes[worst]} "
            f"({written(float(mean[worst]))}). All of a record's values are within 10 % for "
            f"{written(float(self.ranks.jointly[-1]))} of the records"
        )
        if self.deviations is None:
            return text + "."
        share = written(float(self.deviations.each.mean()))
        return f"{text}. Within 1 to 10 % of a standard deviation lie {share} of the values."

    @property
    def notes(self) -> tuple[str, ...]:
        """Note attributes that were left out, and why there is no RMDID."""
        notes = []
        if self.unchanged and set(self.unchanged) != set(self.ranks.attributes):
            names = ", ".join(self.unchanged)
            notes.append(f"interval disclosure is that of masked attributes; released as they are: {names}")
        if self.late:
            notes.append(f"no time was left for RMDID; a longer {called('time_limit')} would take it too")
        elif self.deviations is not None and self.robust is None:
            notes.append("there is no RMDID: an attribute is constant, or half of the records lie on a plane")
        return tuple(notes)

    def to_frame(self) -> pd.DataFrame:
        """One row per kind of interval, percent and attribute; ``(all)``, ``(all but one)`` are joint."""
        rows: list[tuple[str, int, str, float]] = []
        for kind, found in (("ranks", self.ranks), ("standard deviations", self.deviations)):
            if found is None:
                continue
            for at, percent in enumerate(PERCENT):
                rows += [
                    (kind, percent, *each) for each in zip(found.attributes, found.each[at], strict=True)
                ]
                rows.append((kind, percent, "(all)", float(found.jointly[at])))
                rows.append((kind, percent, "(all but one)", float(found.but_one[at])))
        return pd.DataFrame(rows, columns=["kind", "percent", "attribute", "share"])


class IntervalDisclosureMeasure(Measure):
    """Computes rank intervals, SDID, RMDID."""

    name: ClassVar[str] = "interval-disclosure"
    title: ClassVar[str] = "Interval disclosure"
    unit: ClassVar[str] = OF_RECORDS
    cost: ClassVar[float] = 0.5
    growth: ClassVar[float] = 4.0

    def lacking(self, task: RiskTask) -> str | None:
        """Require an attribute with ordered values."""
        wrong = unreadable(task)
        if wrong is not None or any(attribute.ranked for attribute in released(task)):
            return wrong
        return "needs a numeric or an ordinal attribute: nominal categories have no order"

    def take(self, task: RiskTask, clock: Clock) -> IntervalDisclosure:
        """Count values in intervals."""
        return interval_disclosure(released(task), task.seed, lambda: clock.expired)


def interval_disclosure(
    attributes: Sequence[ReleasedAttribute], seed: int = 0, late: Late = never
) -> IntervalDisclosure:
    """Compute interval disclosure of the masked ones among some attributes; of all where none is masked."""
    ranked = [each for each in attributes if each.ranked]
    masked = [each for each in ranked if each.is_masked] or ranked
    numeric = [each for each in masked if each.numeric]
    records = int((ranked[0].partner >= 0).sum())
    checked = late if records > MOST_SCATTERED else never  # the others take a moment
    by_ranks, by_deviations = _by_ranks(masked), _by_deviations(numeric) if numeric else None
    cut = False
    try:
        robust = _robust(numeric, seed, checked) if numeric else None
    except TimeoutError:
        robust, cut = None, True
    return IntervalDisclosure(
        records,
        tuple(each.name for each in ranked if not each.is_masked),
        by_ranks,
        by_deviations,
        robust,
        cut,
    )


def _by_ranks(attributes: Sequence[ReleasedAttribute]) -> Disclosed:

    def around(masked: FloatArray, partner: IndexArray) -> Intervals:
        return map(RankedValues.of(masked).of_records(partner).around, PERCENT)

    return _disclosed(attributes, around)


def _by_deviations(attributes: Sequence[ReleasedAttribute]) -> Disclosed:
    """Compute shares by intervals of masked values plus and minus parts of a standard deviation."""

    def around(masked: FloatArray, partner: IndexArray) -> Intervals:
        values, unit = masked[partner], deviation(masked)
        widths = (percent / 100.0 * unit for percent in PERCENT)
        return ((values - width, values + width) for width in widths)

    return _disclosed(attributes, around)


def _disclosed(
    attributes: Sequence[ReleasedAttribute], around: Callable[[FloatArray, IndexArray], Intervals]
) -> Disclosed:
    """Compute shares by intervals of every width around the masked values of partners."""
    known = attributes[0].partner >= 0
    partner = attributes[0].partner[known]
    each = np.zeros((len(PERCENT), len(attributes)))
    outside = np.zeros((len(PERCENT), partner.size), dtype=np.int32)
    for k, attribute in enumerate(attributes):
        original = attribute.original[known]
        given = ~np.isnan(original)
        for width, (low, high) in enumerate(around(attribute.masked, partner)):
            within = inside(original, low, high)
            each[width, k] = np.count_nonzero(within) / max(int(np.count_nonzero(given)), 1)
            outside[width] += given & ~within
    names = tuple(attribute.name for attribute in attributes)
    return Disclosed(names, each, (outside == 0).mean(axis=1), (outside <= 1).mean(axis=1))


def _robust(attributes: Sequence[ReleasedAttribute], seed: int, late: Late) -> RobustShares | None:
    """Compute RMDID of attributes that vary, on complete records; TimeoutError when time runs out."""
    if late():
        raise TimeoutError
    pairs = [each.paired for each in attributes]
    original, masked = (np.column_stack([pair[side] for pair in pairs]) for side in (0, 1))
    complete = ~np.isnan(original + masked).any(axis=1)
    found = robust_disclosure(original[complete], masked[complete], RMD_K, seed, late)
    if found is None:
        return None
    names = tuple(attribute.name for attribute in attributes)
    return RobustShares(names, int(complete.sum()), RMD_K, *found.shares)


def _over_attributes(key: str, words: str, disclosed: Disclosed) -> Finding:
    """Compute the mean over widths and attributes, and its range over attributes."""
    mean = disclosed.each.mean(axis=0)
    low, high = float(mean.min()), float(mean.max())
    return Finding(key, words, float(mean.mean()), low=low, high=high, kind=Kind.RANGE)
