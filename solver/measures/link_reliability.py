"""How reliable links are, given their weight: logistic regression on checked links."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.measures.base import OF_RECORDS, Finding, Kind, Measure, MeasureResult, Unit, Worse
from linkrisk.solver.measures.links.best_candidates import best_candidates, linker_task
from linkrisk.solver.measures.links.logistic import LogisticFit, fit_logistic
from linkrisk.solver.measures.links.reliability_model import (
    Estimate,
    GroupedFit,
    grouped_fit,
    proportion,
    reliability_at,
    weight_at,
)
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError

TARGET = 0.9
"""The reliability whose weight is asked for, as in paper 002."""

MOST_PAIRS = 400_000_000
"""Pairs that the measure compares at most, which takes minutes."""

_SLOPE_LEVEL = 0.05
_FIT_LEVEL = 0.01
"""Levels of the tests of ``b = 0`` and of the fit."""


@dataclass(frozen=True, eq=False, repr=False)
class LinkReliability(MeasureResult):
    """The probability that a link is right, from checked links of the grey area from LOW to UPP.

    Higher reliability means more disclosure for whoever releases the file, and better links for whoever
    makes them.

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
        """What the weight of a link says."""
        said = f"{self.right:,} of {self.links:,} checked links of {self.scored_by} are right"
        if self.at_lower is None or self.at_upper is None or self.weight_at_target is None:
            assert self.share.low is not None
            return (
                f"{said}, {self.share.value:.1%}, and with 95 % confidence {self.share.low:.1%} or more. "
                f"The weight of a link says no more: {self.fallback}."
            )
        assert self.model is not None
        return (
            f"{said}. A link of weight W is right with logit(p) = {self.model.intercept:.3g} + "
            f"{self.model.slope:.3g} W: {self.at_lower.value:.1%} at W = {self.lower:.4g}, "
            f"{self.at_upper.value:.1%} at W = {self.upper:.4g}, and {self.target:.0%} at "
            f"W = {self.weight_at_target.value:.4g}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Whether all links were looked at."""
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
    """How reliable links are, given their weight (Bernier, paper 002).

    The model is used where ``b = 0`` is refused, b is above 0 and grouped links agree with it; else the share
    of right links stands for all of the grey area.

    Parameters
    ----------
    scores : array_like of float, shape (links,)
        Weights of checked links, of any linker; larger ones make likelier links.
    right : array_like of bool, shape (links,)
        Whether each was found to be right: by the truth, or by people
        (`linkrisk.solver.inputs.decisions.read_checked_links`).
    lower, upper : float, optional
        LOW and UPP, the ends of the grey area; by default the least and the largest weight. Links outside are
        not looked at.
    target : float
        Between 0 and 1: the reliability whose weight is asked for.
    scored_by : str
        What to call the linker.

    Raises
    ------
    UsageError
        If the two do not fit together, a weight is not finite, or no link is in the grey area.
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
    """The links as arrays."""
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
    """Why the model cannot be used."""
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
    """The match weights of probabilistic record linkage, calibrated by the truth."""

    name: ClassVar[str] = "link-reliability"
    title: ClassVar[str] = "Reliability of probabilistic links"
    unit: ClassVar[str] = OF_RECORDS
    cost: ClassVar[float] = 3.0

    def lacking(self, task: RiskTask) -> str | None:
        """A file of which all pairs can be compared."""
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
