"""Shares as a reader wants them: in per cent, and never 0 or 100 for what is not exactly that."""

from __future__ import annotations

import math
from decimal import Decimal

_MOST_DIGITS = 5
_ROUNDING = 1e-13


def percent(share: float) -> str:
    """Write a share of one: ``93.0 %``, and with more digits what would look like nothing or like all.

    Parameters
    ----------
    share : float
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
    """Write how sure a limit is: ``95 % confidence``; and 100 only for what is certain."""
    return f"{100.0 * confidence:.10g} % confidence"


def with_confidence(confidence: float | None) -> str:
    """Write the end of a sentence whose limit is not certain: ``, with 95 % confidence``."""
    return "" if confidence is None else f", with {confident(confidence)}"


def two_digits(value: float) -> str:
    """Write how many per cent a gap is: ``1.7``, ``0.0001`` for all below, ``45``; and 100 only for all."""
    if 0.0 < value < 0.0001:
        return "0.0001"
    if 99.5 <= value < 100.0:
        return f"{math.floor(10.0 * value) / 10.0:.1f}"
    return format(Decimal(f"{value:.2g}"), "f")
