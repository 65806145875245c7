"""Link rates of repeated splits: the interval of their mean, and of a difference within splits."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from linkrisk.arrays import FloatArray

Ends = tuple[float, float]

LEVEL = 0.95
"""Of all intervals."""

_NORMAL = float(stats.norm.ppf((1.0 + LEVEL) / 2.0))


def rate_interval(rates: FloatArray, most: float) -> Ends:
    """The 95 % interval of the mean link rate over random splits of one file.

    `rates` (splits,): of the attacked records of each split; between 0 and 1.

    The file is given and who is known to the intruder is random, so that splits are independent draws, though
    they share records: ``v = s**2 / S`` is the variance of the mean p of S rates. The interval is that of
    Wilson for ``n* = p (1 - p) / v * (z / t)**2`` records, at most `most`, where t is the quantile of Student
    with S - 1 degrees of freedom: what Korn and Graubard (1998, Survey Methodology 24, 193-201) do for
    proportions of few clusters, with Wilson's interval as in Franco, Little, Louis and Slud (2019, Journal of
    Survey Statistics and Methodology 7, 334-364). Where splits agree by chance, as where none links anybody,
    `most`
    keeps it from shrinking to a point. Of one split it is Wilson's.
    """
    mean = float(rates.mean())
    size = most
    if rates.size > 1:
        variance = float(rates.var(ddof=1)) / rates.size
        student = float(stats.t.ppf((1.0 + LEVEL) / 2.0, rates.size - 1))
        spread = mean * (1.0 - mean)
        if variance > 0.0 and spread > 0.0:
            size = min(most, spread / variance * (_NORMAL / student) ** 2)
    return wilson(mean, size)


def wilson(share: float, size: float) -> Ends:
    """Wilson's 95 % interval of a share of `size` records (Wilson 1927, JASA 22, 209-212)."""
    square = _NORMAL**2
    middle = (share + square / (2.0 * size)) / (1.0 + square / size)
    half = (
        _NORMAL / (1.0 + square / size) * math.sqrt(share * (1.0 - share) / size + square / (4.0 * size**2))
    )
    # Of 0 and 1 the ends are these, but for rounding.
    low = 0.0 if share <= 0.0 else max(0.0, min(share, middle - half))
    high = 1.0 if share >= 1.0 else min(1.0, max(share, middle + half))
    return low, high


def mean_interval(values: FloatArray) -> Ends | None:
    """Student's 95 % interval of the mean of a difference within splits; None of a single split."""
    if values.size < 2:
        return None
    student = float(stats.t.ppf((1.0 + LEVEL) / 2.0, values.size - 1))
    half = student * float(values.std(ddof=1)) / math.sqrt(values.size)
    return float(values.mean()) - half, float(values.mean()) + half


def independent_records(weight: FloatArray) -> float:
    """How many records of equal weight say as much as these: ``(sum w)**2 / sum w**2``."""
    return float(weight.sum() ** 2 / np.square(weight).sum())
