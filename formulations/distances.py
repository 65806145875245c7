"""Attribute distances: standardise two files and compare their records attribute by attribute."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from formulations.distance_tables import DistanceTables, check_positions
from formulations.errors import FormulationError
from formulations.moments import moments

FloatArray = NDArray[np.float64]

TIE_TOLERANCE = 1e-11
"""A rival ties with the partner unless it is farther by more than this times the partner's size.

The size of attribute distances c is the largest of them, ``max_k c_k``, times the value of the parameters
where all attribute distances are one; of a quadratic form it is ``trace(M) * |c|**2``.

Rounding puts distances that are equal on paper a little apart. Standardising leaves an error of a few
1e-16 times ``|z| + |mean| / deviation`` in each standardised value z, and with it a relative error of about
1e-15 times ``(|z| + |mean| / deviation) / |d|`` in the square of a difference d. The tolerance covers
partners that differ in some attribute by at least about a ten-thousandth of ``|z| + |mean| / deviation``:
those of most data, by far. Ties of a record with a partner nearer than that may be told apart by rounding.

The tolerance also keeps records that exclude each other a little apart, where their distances would
otherwise meet: it is what makes a proof of that survive floating point.
"""

CANCELLATION_TOLERANCE = 1e-14
"""What rounding can move a rival's quadratic form ``d' M d`` by, relative to ``trace(M) * |d|**2``.

Its terms may cancel, and the error is relative to them, not to what is left: for n attributes it is at
most about ``(n + 2) * 1.2e-16 * |d|' |M| |d|``, and ``|d|' |M| |d| <= trace(M) * |d|**2`` for a positive
semidefinite M. This covers 80 attributes; it is a part of every tie of two quadratic forms.
"""

ROW_TIE_TOLERANCE = 0.9 * TIE_TOLERANCE
ROW_CANCELLATION_TOLERANCE = 0.5 * CANCELLATION_TOLERANCE
"""What the rows of models and engines take for a tie: a little less than the evaluator does.

So whatever the evaluator links is linked by the rows as well, for all that rounding may do to either, and a
bound on the rows is a bound on its count. The slack, 1e-12 of the partner's size, is far above the rounding
of its distance, and half of `CANCELLATION_TOLERANCE` is above that of the terms that cancel.
"""


class Standardisation(StrEnum):
    """Whose mean and standard deviation scale the attributes."""

    OWN = "own"  # each file's own (D11.2, Eq. 1)
    ORIGINAL = "original"  # the original file's for both
    POOLED = "pooled"  # those of both files together
    NONE = "none"  # values as they are


class Differences(StrEnum):
    """What an aggregator is given for attribute k, with ``z_k`` the difference of standardised values.

    Where distances of categories are looked up, ``z_k`` is the distance; it has no sign.
    """

    SQUARED = "squared"  # z_k ** 2 (D11.2, Eq. 3)
    ABSOLUTE = "absolute"  # |z_k|
    SIGNED = "signed"  # z_k


def standardise(
    original: FloatArray, masked: FloatArray, how: Standardisation = Standardisation.OWN
) -> tuple[FloatArray, FloatArray]:
    """Standardise both files (D11.2, Eq. 1), by means and deviations that are correctly rounded.

    Parameters
    ----------
    original : ndarray of float64, shape (n, attributes)
    masked : ndarray of float64, shape (m, attributes)
    how : Standardisation
        Whose moments to use.

    Returns
    -------
    tuple of ndarray
        The two files in units of standard deviations.

    Raises
    ------
    FormulationError
        If an attribute is constant where its standard deviation is needed, or no double can hold that.
    """
    if how is Standardisation.NONE:
        return original.copy(), masked.copy()
    sources = {
        Standardisation.OWN: (original, masked),
        Standardisation.ORIGINAL: (original, original),
        Standardisation.POOLED: (np.vstack([original, masked]),) * 2,
    }[how]
    results = []
    for values, source in zip((original, masked), sources, strict=True):
        # Checked first: a constant column has a deviation of rounding noise, and one record has none at all.
        constant = (source == source[:1]).all(axis=0)
        if constant.any():
            position = int(np.flatnonzero(constant)[0]) + 1
            raise FormulationError(
                f"attribute {position} is constant, so it has no standard deviation: leave it out"
            )
        mean, deviation = moments(source)
        usable = (deviation > 0.0) & np.isfinite(deviation)
        if not usable.all():
            position = int(np.flatnonzero(~usable)[0]) + 1
            raise FormulationError(
                f"attribute {position} has a standard deviation that no double can hold: take another unit"
            )
        results.append((values - mean) / deviation)
    return results[0], results[1]


def standardised_files(
    original: FloatArray,
    masked: FloatArray,
    how: Standardisation,
    tables: Sequence[FloatArray | None] | None,
) -> tuple[FloatArray, FloatArray]:
    """Both files with their numeric attributes standardised.

    Parameters
    ----------
    original : ndarray of float64, shape (n, attributes)
    masked : ndarray of float64, shape (m, attributes)
    how : Standardisation
    tables : sequence of ndarray or None, optional
        Tables of distances of categorical attributes, whose values are positions and stay as they are; None
        for numeric ones.

    Raises
    ------
    FormulationError
        If a numeric attribute is constant, or a value no position in its table.
    """
    if tables is None:
        return standardise(original, masked, how)
    if len(tables) != original.shape[1]:
        raise FormulationError(f"{len(tables)} tables for {original.shape[1]} attributes: give one for each")
    numeric = [k for k, table in enumerate(tables) if table is None]
    results = original.copy(), masked.copy()
    first, second = (np.ascontiguousarray(values[:, numeric]) for values in results)
    for values, part in zip(results, standardise(first, second, how), strict=True):
        values[:, numeric] = part
    for k, table in enumerate(tables):
        if table is not None:
            check_positions(k, table, original[:, k], masked[:, k])
    return results


def attribute_distances(
    queries: FloatArray, candidates: FloatArray, kind: Differences, tables: DistanceTables | None = None
) -> FloatArray:
    """Compare records attribute by attribute; the leading axes broadcast.

    Parameters
    ----------
    queries, candidates : ndarray of float64, shape (..., attributes)
        Standardised records.
    kind : Differences
        Squared, absolute or signed.
    tables : DistanceTables, optional
        Distances of the attributes that are looked up; all others are numeric.

    Returns
    -------
    ndarray of float64, shape (..., attributes)
        Finite: what is said of pairs that cannot be (`DistanceTables.possible`) means nothing.
    """
    difference: FloatArray = queries - candidates
    if tables is not None:
        tables.place(difference, queries, candidates)
    if kind is Differences.SQUARED:
        return np.square(difference, out=difference)
    if kind is Differences.ABSOLUTE:
        return np.abs(difference, out=difference)
    return difference
