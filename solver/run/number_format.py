"""Format numbers for readers: counts with their nouns, percentages, gaps."""

from __future__ import annotations

import math
from decimal import Decimal

MINUS = "\N{MINUS SIGN}"


def persons(value: float) -> str:
    """Format a sum of sampling weights as an integer number of persons."""
    return count(round(value))


def count(value: float) -> str:
    """Format a count: ``12,345``; with one or two decimals for expected links."""
    text = f"{int(value):,}" if value == int(value) else f"{value:,.2f}".rstrip("0").rstrip(".")
    return text.replace("-", MINUS)


def several(many: int, what: str, plural: str | None = None) -> str:
    """Format a number with its noun; `plural` replaces the form in s."""
    return f"{count(many)} {what if many == 1 else plural or what + 's'}"


_MOST_DIGITS = 5
_ROUNDING = 1e-13


def percent(share: float) -> str:
    """Format a share of one: ``93.0 %``, with more digits near 0 and 100 %.

    Shares that differ from 1 or 0 by the rounding of sums of weights are 1 or 0.
    """
    value = 100.0 if math.isclose(share, 1.0, rel_tol=1e-12) else 100.0 * share + 0.0  # no negative zero
    value = 0.0 if abs(share) < _ROUNDING else value
    for digits in range(1, _MOST_DIGITS + 1):
        text = f"{value:.{digits}f}"
        if value == 0.0 or abs(value) >= 100.0 or abs(float(text)) not in (0.0, 100.0):
            return f"{text} %"
    sign, larger = ("-", abs(value) < 1.0) if value < 0.0 else ("", abs(value) > 1.0)
    least = 10.0**-_MOST_DIGITS
    end = least if abs(value) < 1.0 else 100.0 - least
    return f"{'>' if larger else '<'} {sign}{end:.{_MOST_DIGITS}f} %"


def confident(confidence: float) -> str:
    """Format a confidence level: ``95 % confidence``; 100 only for certainty."""
    return f"{100.0 * confidence:.10g} % confidence"


def with_confidence(confidence: float | None) -> str:
    """Format the clause on an uncertain limit: ``, with 95 % confidence``."""
    return "" if confidence is None else f", with {confident(confidence)}"


def two_digits(value: float) -> str:
    """Format a gap in per cent: ``1.7``, ``0.0001`` for all below, ``45``; 100 only for the trivial bound."""
    if 0.0 < value < 0.0001:
        return "0.0001"
    if 99.5 <= value < 100.0:
        return f"{math.floor(10.0 * value) / 10.0:.1f}"
    return format(Decimal(f"{value:.2g}"), "f")


NO_BOUND = "no bound above 0 was found"

_SHOWN = 5e-7
"""Values below this are 0 at the six decimals of texts; for costs below 1, it is a share."""


def has_bound(cost: float, bound: float) -> bool:
    """Whether a dual bound is non-trivial: a cost is always at least 0."""
    return bound >= _SHOWN * min(1.0, cost)


def gap(cost: float, bound: float) -> float:
    """Compute the relative gap of a cost and its bound, in per cent."""
    return 100.0 * (cost - bound) / cost if cost > 0 else 0.0


def no_less(claim: str, cost: float, bound: float, shown: str) -> str:
    """Format the dual bound on a cost after a claim such as ``no pattern that protects costs less than``."""
    if not has_bound(cost, bound):
        return NO_BOUND
    return f"{claim} {shown}, a gap of {two_digits(gap(cost, bound))} %"
