"""How good guesses of a confidential attribute are, against the best guess of one who sees no release."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray

_Z = 1.959963984540054
"""Of the standard normal distribution, for both ends of 95 % confidence intervals."""


@dataclass(frozen=True)
class Guesses:
    """Guesses of one attribute, with 95 % confidence intervals."""

    records: int  # records whose true value is known
    # of categories the share of right guesses, from 0 to 1, where more is worse for the release; of numbers
    # the root mean squared error, in units of the attribute, where less is worse. None without records
    learned: float | None
    # ends of its interval: Wilson's for a share; for an error that of the ratio to `baseline`
    low: float | None
    high: float | None
    baseline: float | None  # the same of the best guess without the release: the mode, or the mean
    # ``(learned - baseline) / (1 - baseline)`` of shares, ``1 - learned / baseline`` of errors: 1 where all
    # is learned, 0 or less where nothing is. None where the attribute is constant
    risk: float | None
    risk_low: float | None
    risk_high: float | None


_NOTHING = Guesses(0, None, None, None, None, None, None, None)


def wilson(right: float, records: int) -> tuple[float, float]:
    """Wilson's 95 % confidence interval of a probability (JASA 22, 1927)."""
    share, extra = right / records, _Z**2 / records
    centre = (share + extra / 2.0) / (1.0 + extra)
    half = _Z / (1.0 + extra) * math.sqrt(share * (1.0 - share) / records + extra / (4.0 * records))
    return max(0.0, centre - half), min(1.0, centre + half)


def guessed_categories(truth: FloatArray, guess: FloatArray) -> Guesses:
    """Guesses of categories, each shape (records,), against the mode of the true ones.

    Where there is no guess (NaN) the mode is guessed. The interval of the risk (anonymeter's: Giomi et al.,
    PoPETs 2023) takes the baseline as known.
    """
    truth, guess = _known(truth, guess)
    if truth.size == 0:
        return _NOTHING
    codes, counts = np.unique(truth, return_counts=True)
    baseline = float(counts.max() / truth.size)
    right = float((np.where(np.isnan(guess), codes[np.argmax(counts)], guess) == truth).sum())
    low, high = wilson(right, truth.size)
    share = right / truth.size
    if baseline == 1.0:
        return Guesses(truth.size, share, low, high, baseline, None, None, None)
    risk, least, most = ((each - baseline) / (1.0 - baseline) for each in (share, low, high))
    return Guesses(truth.size, share, low, high, baseline, risk, least, most)


def guessed_numbers(truth: FloatArray, guess: FloatArray) -> Guesses:
    """Guesses of numbers, each shape (records,), against the mean of the true ones.

    Where there is no guess (NaN) the mean is guessed. With squared errors e of the guesses and b of the mean,
    ``R = sqrt(mean(e) / mean(b))`` has the interval ``R exp(+-z s)``, where
    ``s**2 = var(e / mean(e) - b / mean(b)) / (4 n)`` is the variance of log R by the delta method.
    """
    truth, guess = _known(truth, guess)
    if truth.size == 0:
        return _NOTHING
    mean = truth.mean()
    own, best = (np.where(np.isnan(guess), mean, guess) - truth) ** 2, (truth - mean) ** 2
    learned, baseline = math.sqrt(own.mean()), math.sqrt(best.mean())
    if baseline <= 1e-12 * float(np.abs(truth).max()):
        return Guesses(truth.size, learned, learned, learned, baseline, None, None, None)
    if learned == 0.0:
        return Guesses(truth.size, 0.0, 0.0, 0.0, baseline, 1.0, 1.0, 1.0)
    apart = own / own.mean() - best / best.mean()
    factor = math.exp(_Z * math.sqrt(float(apart.var()) / (4.0 * truth.size)))
    low, high = learned / factor, learned * factor
    risk, least, most = (1.0 - each / baseline for each in (learned, high, low))
    return Guesses(truth.size, learned, low, high, baseline, risk, least, most)


def _known(truth: FloatArray, guess: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Those whose true value is known."""
    known = ~np.isnan(truth)
    return truth[known], guess[known]
