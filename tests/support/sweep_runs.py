"""Maskings of a small survey, and how to sweep them quickly."""

from __future__ import annotations

from dataclasses import replace

MASKINGS = [
    "microaggregation k=3,4 attributes=age,income",
    "noise percent=60",
    "rank-swapping percent=10 attributes=age + noise percent=30 attributes=income",
    "microaggregation k=40",
]
QUICK = {"workers": 1, "time_limit": None, "measures": "information-loss", "aggregator": "weighted-mean,owa"}


def numbers(result):
    """All but what a clock measured."""
    return [replace(run, seconds=0.0) for run in result.runs]
