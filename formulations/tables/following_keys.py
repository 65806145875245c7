"""Derives keys from cell keys, for the noise of the second contribution and later ones."""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.errors import FormulationError

MOST_DIGITS = 15


def next_keys(keys: FloatArray, which: int) -> FloatArray:
    """Keys that follow from cell keys and are independent of them to all appearances.

    The bits of a key and a number are mixed (the finalizer of SplitMix64: Steele, Lea and Flood 2014, Fast
    splittable pseudorandom number generators, OOPSLA), so that equal keys have equal followers.

    Parameters
    ----------
    keys : ndarray of float64, shape (n,)
        From 0 to less than 1.
    which : int
        Which of its followers, from 1.
    """
    bits = np.floor(keys * 2.0**52).astype(np.uint64)
    bits = bits + np.uint64(which * 0x9E3779B97F4A7C15 % 2**64)  # overflow is intended
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    bits = bits ^ (bits >> np.uint64(31))
    return np.asarray((bits >> np.uint64(12)).astype(np.float64) / 2.0**52)


def turned_keys(keys: FloatArray, which: int, digits: int) -> FloatArray:
    """Cell keys whose decimal digits are turned round: 0.1234 is followed by 0.2341.

    As tau-ARGUS and the R package `cellKey` have them. They depend on one another: a key below 0.05 is
    followed by one below 0.5.

    Parameters
    ----------
    keys : ndarray of float64, shape (n,)
        From 0 to less than 1.
    which : int
        By how many digits they are turned, from 1.
    digits : int
        How many there are; the others are rounded away.

    Raises
    ------
    FormulationError
        If there are not 1 to 15 of them.
    """
    if not 1 <= digits <= MOST_DIGITS:
        raise FormulationError(f"keys have 1 to {MOST_DIGITS} digits that are turned, not {digits}")
    every, first = 10**digits, 10 ** (digits - which % digits)
    whole = np.rint(keys * every).astype(np.int64) % every
    return np.asarray((whole % first * (every // first) + whole // first) / every)
