"""Estimate the reliability of links from their match weight, by logistic regression on checked links.

Source: J. Bernier, Quantitative evaluation of the linkage operations of the 1996 Census Reverse Record Check,
Record Linkage Techniques 1997, whose symbols are used: the weight W, ``logit(p) = a + b W``, LOW
and UPP.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.special import expit, logit, xlog1py, xlogy
from scipy.stats import beta, chi2, norm

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.measures.base import OF_RECORDS, Finding, Kind, Measure, MeasureResult, Unit, Worse
from linkrisk.solver.measures.linker_attacks import best_candidates, linker_task
from linkrisk.solver.measures.logistic import logistic
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """``logit(p) = a + b W``."""

    intercept: float  # ``a`` and ``b``
    slope: float
    covariance: FloatArray  # (2, 2): of ``a`` and ``b``: the inverse of the information
    log_likelihood: float  # of the fit, and of the best one with ``b = 0``
    constant_log_likelihood: float

    @property
    def p_value(self) -> float:
        """Compute the p-value of ``b = 0`` by the likelihood ratio test."""
        ratio = max(0.0, 2.0 * (self.log_likelihood - self.constant_log_likelihood))
        return float(chi2.sf(ratio, 1))


def separated(weight: FloatArray, right: BoolArray) -> bool:
    """Whether a threshold separates correct from wrong links, so that there is no finite fit."""
    if right.all() or not right.any():
        return True
    yes, no = weight[right], weight[~right]
    return bool(yes.min() >= no.max() or yes.max() <= no.min())


def fit_logistic(weight: FloatArray, right: BoolArray) -> LogisticFit | None:
    """Fit by maximum likelihood without a penalty; None if the data are separated (`separated`)."""
    if separated(weight, right):
        return None
    centre, spread = float(weight.mean()), float(weight.std())
    x, y = (weight - centre) / spread, right.astype(np.float64)
    theta, _ = logistic(x[:, None], right)
    p, design = expit(theta[0] + theta[1] * x), np.column_stack((np.ones_like(x), x))
    back = np.array([[1.0, -centre / spread], [0.0, 1.0 / spread]])  # to the units of W
    covariance = back @ np.linalg.inv((design.T * (p * (1.0 - p))) @ design) @ back.T
    intercept, slope = (float(each) for each in back @ theta)
    likelihood, constant = (float((xlogy(y, q) + xlog1py(1.0 - y, -q)).sum()) for q in (p, y.mean()))
    return LogisticFit(intercept, slope, covariance, likelihood, constant)


CONFIDENCE = 0.95

_GROUPS = 10
_LINKS = 10
"""Minimum number of links in a group."""

_EXPECTED = 2.0
"""Expected correct and wrong links per group for the chi-square approximation."""


@dataclass(frozen=True)
class Estimate:
    """An estimate with its 95 % confidence interval."""

    value: float
    low: float | None = None  # None where the interval has no such end
    high: float | None = None


@dataclass(frozen=True)
class ReliabilityLine:
    """``logit(p) = a + b W``: the reliability p of a link of weight W."""

    intercept: float  # ``a`` and ``b``
    slope: float

    def at(self, weight: float) -> float:
        """Compute the reliability of a link of this weight, from 0 to 1."""
        return float(expit(self.intercept + self.slope * weight))

    def weight_at(self, reliability: float) -> float:
        """Compute the weight at which links have this reliability: ``(logit(p) - a) / b``."""
        return float((logit(reliability) - self.intercept) / self.slope)


def reliability_at(fit: LogisticFit, weight: float) -> Estimate:
    """Compute the reliability at a weight, with an interval by the covariance of a and b."""
    middle = fit.intercept + fit.slope * weight
    direction = np.array([1.0, weight])
    half = _normal() * math.sqrt(float(direction @ fit.covariance @ direction))
    return Estimate(float(expit(middle)), float(expit(middle - half)), float(expit(middle + half)))


def weight_at(fit: LogisticFit, reliability: float) -> Estimate:
    """Compute the weight at which links have a reliability, with an interval by the delta method."""
    value = ReliabilityLine(fit.intercept, fit.slope).weight_at(reliability)
    direction = np.array([-1.0, -value]) / fit.slope
    half = _normal() * math.sqrt(float(direction @ fit.covariance @ direction))
    return Estimate(value, value - half, value + half)


def _normal() -> float:
    return float(norm.ppf((1.0 + CONFIDENCE) / 2.0))


def proportion(right: int, links: int) -> Estimate:
    """Compute the share of correct links, and its one-sided 95 % lower bound (Clopper and Pearson)."""
    low = 0.0 if right == 0 else float(beta.ppf(1.0 - CONFIDENCE, right, links - right + 1))
    return Estimate(right / links, low, None)


@dataclass(frozen=True, eq=False)
class GroupedFit:
    """Goodness of fit of the model on links grouped by weight."""

    groups: pd.DataFrame  # low, high, midpoint, links, right, share, fitted (mean of the model)
    line: ReliabilityLine | None  # the same regression on the midpoints of the groups
    # ``sum (O - E)^2 / (E (1 - E / n))`` over groups that are joined until some right and some wrong links
    # are expected in each (Hosmer and Lemeshow)
    statistic: float | None
    p_value: float | None  # chi-square, two degrees of freedom fewer than groups


def grouped_fit(fit: LogisticFit | None, weight: FloatArray, right: BoolArray) -> GroupedFit:
    """Group links into at most ten intervals of weight with similar numbers, and test the model."""
    edges = _edges(weight)
    size = edges.size - 1
    group: IndexArray = np.clip(np.searchsorted(edges, weight, side="right") - 1, 0, size - 1)
    links = np.bincount(group, minlength=size)
    observed = np.asarray(np.bincount(group, weights=right, minlength=size), dtype=np.float64)
    fitted = np.full(weight.size, np.nan) if fit is None else expit(fit.intercept + fit.slope * weight)
    expected = np.asarray(np.bincount(group, weights=fitted, minlength=size), dtype=np.float64)
    midpoint = (edges[1:] + edges[:-1]) / 2.0
    table = pd.DataFrame(
        {
            "low": edges[:-1],
            "high": edges[1:],
            "midpoint": midpoint,
            "links": links,
            "right": observed.astype(np.intp),
            "share": observed / links,
            "fitted": expected / links,
        }
    )
    by_midpoint = fit_logistic(midpoint[group], right)
    line = None if by_midpoint is None else ReliabilityLine(by_midpoint.intercept, by_midpoint.slope)
    statistic = p_value = None
    if fit is not None:
        statistic, p_value = _chi_square(links, observed, expected)
    return GroupedFit(table, line, statistic, p_value)


def _edges(weight: FloatArray) -> FloatArray:
    """Compute interval ends at quantiles; every interval has some link."""
    many = max(1, min(_GROUPS, weight.size // _LINKS))
    edges = np.unique(np.quantile(weight, np.linspace(0.0, 1.0, many + 1), method="higher"))
    return edges if edges.size > 1 else np.repeat(edges, 2)


def _chi_square(
    links: IndexArray, observed: FloatArray, expected: FloatArray
) -> tuple[float | None, float | None]:
    """Test the fit by chi-square, on groups merged from the lowest weight on."""
    joined: list[list[float]] = [[0.0, 0.0, 0.0]]
    for row in zip(links.tolist(), observed.tolist(), expected.tolist(), strict=True):
        joined[-1] = [a + b for a, b in zip(joined[-1], row, strict=True)]
        if _enough(joined[-1]):
            joined.append([0.0, 0.0, 0.0])
    rest = joined.pop()
    if joined:
        joined[-1] = [a + b for a, b in zip(joined[-1], rest, strict=True)]
    if len(joined) < 3:
        return None, None
    n, o, e = np.array(joined).T
    statistic = float(((o - e) ** 2 / (e * (1.0 - e / n))).sum())
    return statistic, float(chi2.sf(statistic, len(joined) - 2))


def _enough(group: list[float]) -> bool:
    links, _, expected = group
    return expected >= _EXPECTED and links - expected >= _EXPECTED


TARGET = 0.9
"""Reliability for which the weight is computed, as in the paper."""

MOST_PAIRS = 400_000_000
"""Most pairs that the measure compares, which takes minutes."""

_SLOPE_LEVEL = 0.05
_FIT_LEVEL = 0.01
"""Significance levels of the tests of ``b = 0`` and of the fit."""


@dataclass(frozen=True, eq=False, repr=False)
class LinkReliability(MeasureResult):
    """Probability that a link is correct, from checked links of the clerical band from LOW to UPP.

    Higher reliability means more disclosure for a data holder, and better links for a linker.

    Attributes
    ----------
    scored_by : str
        Whose weights these are.
    links, right : int
        Checked links in the grey area, and those of them that are right.
    lower, upper : float
        LOW and UPP, in units of the weight (bits for the linker prl).
    model : LogisticFit or None
        ``logit(p) = a + b W``; None where it has no finite solution.
    slope_p_value : float or None
        Of ``b = 0``, by the likelihood ratio. None without the fit.
    grouped : GroupedFit
        The model beside grouped links, with its test.
    fallback : str or None
        Why the share of right links is reported instead of the model; None where the model is.
    share : Estimate
        Of right links in the grey area: at most the reliability at UPP, at least that at LOW. `low` is its
        one-sided 95 % bound.
    at_lower, at_upper : Estimate or None
        Reliability at LOW: links below it have at most this; and at UPP: links above it have at least this.
        None without the model.
    target : float
    weight_at_target : Estimate or None
        The weight at which the reliability is `target`. None without the model.
    unchecked : int
        Records that there was no time for.
    """

    measure: ClassVar[str] = "link-reliability"
    scored_by: str
    links: int
    right: int
    lower: float
    upper: float
    model: LogisticFit | None
    slope_p_value: float | None
    grouped: GroupedFit
    fallback: str | None
    share: Estimate
    at_lower: Estimate | None
    at_upper: Estimate | None
    target: float
    weight_at_target: Estimate | None
    unchecked: int = 0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The share of right links; by the model, reliability at thresholds and the weight of the target."""
        share = Finding(
            "right", "best candidates that are right", self.share.value,
            low=self.share.low, high=1.0, kind=Kind.CONFIDENCE,
        )  # fmt: skip
        if self.at_lower is None or self.at_upper is None or self.weight_at_target is None:
            return (share,)
        return (
            share,
            _finding("reliability_lower", f"reliability at weight {self.lower:.3g}", self.at_lower),
            _finding("reliability_upper", f"reliability at weight {self.upper:.3g}", self.at_upper),
            replace(
                _finding(
                    "weight_at_target", f"weight of {self.target:.0%} reliability", self.weight_at_target
                ),
                unit=Unit.NUMBER,
                worse=Worse.LOWER,
            ),
        )

    @property
    def paragraph(self) -> str:
        """Report the reliability by weight."""
        text = f"{self.right:,} of {self.links:,} checked links of {self.scored_by} are right"
        if self.at_lower is None or self.at_upper is None or self.weight_at_target is None:
            assert self.share.low is not None
            return (
                f"{text}, {self.share.value:.1%}, and with 95 % confidence {self.share.low:.1%} or more. "
                f"The weight of a link says no more: {self.fallback}."
            )
        assert self.model is not None
        return (
            f"{text}. A link of weight W is right with logit(p) = {self.model.intercept:.3g} + "
            f"{self.model.slope:.3g} W: {self.at_lower.value:.1%} at W = {self.lower:.4g}, "
            f"{self.at_upper.value:.1%} at W = {self.upper:.4g}, and {self.target:.0%} at "
            f"W = {self.weight_at_target.value:.4g}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Whether all links were counted."""
        if not self.unchecked:
            return ()
        return (f"link reliability: there was no time for {self.unchecked:,} further records",)

    def to_frame(self) -> pd.DataFrame:
        """One row per interval of weights: low, high, midpoint, links, right, share, fitted."""
        return self.grouped.groups


def _finding(key: str, words: str, found: Estimate) -> Finding:
    return Finding(key, words, found.value, low=found.low, high=found.high, kind=Kind.CONFIDENCE)


def link_reliability(
    scores: Any,
    right: Any,
    *,
    lower: float | None = None,
    upper: float | None = None,
    target: float = TARGET,
    scored_by: str = "the linker",
) -> LinkReliability:
    """How reliable links are, given their weight (Bernier 1997).

    The model is used where ``b = 0`` is refused, b is above 0 and grouped links agree with it; else the share
    of right links stands for all of the grey area.

    Parameters
    ----------
    scores : array_like of float, shape (links,)
        Weights of checked links, of any linker; larger ones make likelier links.
    right : array_like of bool, shape (links,)
        Whether each was found to be right: by the truth, or by people
        (`linkrisk.solver.inputs.link_tasks.read_checked_links`).
    lower, upper : float, optional
        LOW and UPP, the ends of the grey area; by default the least and the largest weight. Links outside are
        not looked at.
    target : float
        Between 0 and 1: the reliability whose weight is computed.
    scored_by : str
        What to call the linker.

    Raises
    ------
    UsageError
        If the two do not fit together, a weight is not finite, or no link is in the grey area.

    Examples
    --------
    >>> from linkrisk.measures import link_reliability
    >>> found = link_reliability([1.0, 2.0, 3.0, 4.0, 5.0], [False, False, True, True, True])
    >>> found.share.value, found.links
    (0.6, 5)
    """
    weight, valid = _checked(scores, right, target)
    low = float(weight.min()) if lower is None else float(lower)
    high = float(weight.max()) if upper is None else float(upper)
    inside = (weight >= low) & (weight <= high)
    if not inside.any():
        raise UsageError(f"no link has a weight from {low:g} to {high:g}; choose other thresholds")
    weight, valid = weight[inside], valid[inside]
    model = fit_logistic(weight, valid)
    grouped = grouped_fit(model, weight, valid)
    fallback = _fallback(model, grouped, valid)
    used = model if fallback is None else None
    count = int(np.count_nonzero(valid))
    return LinkReliability(
        scored_by,
        weight.size,
        count,
        low,
        high,
        model,
        None if model is None else model.p_value,
        grouped,
        fallback,
        proportion(count, weight.size),
        None if used is None else reliability_at(used, low),
        None if used is None else reliability_at(used, high),
        target,
        None if used is None else weight_at(used, target),
    )


def _checked(scores: Any, right: Any, target: float) -> tuple[FloatArray, BoolArray]:
    weight, valid = np.asarray(scores, dtype=np.float64), np.asarray(right)
    if weight.ndim != 1 or weight.shape != valid.shape:
        raise UsageError(
            f"there are {weight.size} weights and {valid.size} judgements of links; give one of each"
        )
    if not weight.size:
        raise UsageError("there is no checked link; reliability needs some")
    if not np.isfinite(weight).all():
        raise UsageError("a weight is not finite; leave out pairs that cannot be links")
    if not np.isin(valid, (0, 1)).all():
        raise UsageError("a judgement is neither true nor false; leave out links that are still open")
    if not 0.0 < target < 1.0:
        raise UsageError(f"the reliability is {target:g}; it must be between 0 and 1")
    return weight, valid.astype(np.bool_)


def _fallback(model: LogisticFit | None, grouped: GroupedFit, right: BoolArray) -> str | None:
    if right.all() or not right.any():
        return f"all links are {'right' if right.all() else 'wrong'}"
    if model is None:
        return "a threshold separates right from wrong links, or all weights are the same"
    if model.p_value > _SLOPE_LEVEL:
        return f"b = 0 is not refused (p = {model.p_value:.2g}): too few links are wrong, or too few right"
    if model.slope <= 0.0:
        return "larger weights make wrong links likelier"
    if grouped.p_value is not None and grouped.p_value < _FIT_LEVEL:
        return f"grouped links refuse a linear logit (p = {grouped.p_value:.2g})"
    return None


class ReliabilityOfLinks(Measure):
    """Calibrates the match weights of probabilistic record linkage by the true links."""

    name: ClassVar[str] = "link-reliability"
    title: ClassVar[str] = "Reliability of probabilistic links"
    unit: ClassVar[str] = OF_RECORDS
    cost: ClassVar[float] = 3.0

    def lacking(self, task: RiskTask) -> str | None:
        """Require a file small enough to compare all pairs."""
        pairs = len(task.files.original) * len(task.files.masked)
        if pairs > MOST_PAIRS:
            return f"it compares all pairs of records, {pairs:.1g} here; take a sample of the files"
        return None

    def take(self, task: RiskTask, clock: Clock) -> LinkReliability:
        """Learn match weights, link each record to its best candidate, and check these links."""
        given, truth = linker_task(task)
        linker = Probabilistic()
        claims = best_candidates(linker.learn(given), truth, task.seed, clock)
        found = link_reliability(claims.score, claims.right, scored_by=linker.name)
        return replace(found, unchecked=truth.query_rows.size - claims.record.size)
