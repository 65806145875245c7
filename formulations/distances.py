"""Attribute distances: standardise two files and compare their records attribute by attribute."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.distance_tables import DistanceTables, check_positions
from formulations.errors import FormulationError
from formulations.moments import moments

FloatArray = NDArray[np.float64]


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


class Standardised(NamedTuple):
    """Two files in units of standard deviations.

    Attributes
    ----------
    original, masked : ndarray of float64, shape (rows, attributes)
    offset : ndarray of float64, shape (attributes,)
        ``|mean| / deviation`` of the moments of both, added: what rounding of values is relative to, besides
        themselves. Zero where values stay as they are.
    """

    original: FloatArray
    masked: FloatArray
    offset: FloatArray


def standardise(
    original: FloatArray, masked: FloatArray, how: Standardisation = Standardisation.OWN
) -> Standardised:
    """Standardise both files (D11.2, Eq. 1), by means and deviations that are correctly rounded.

    Parameters
    ----------
    original : ndarray of float64, shape (n, attributes)
    masked : ndarray of float64, shape (m, attributes)
    how : Standardisation
        Whose moments to use.

    Returns
    -------
    Standardised

    Raises
    ------
    FormulationError
        If an attribute is constant where its standard deviation is needed, or no double can hold that.
    """
    if how is Standardisation.NONE:
        return Standardised(original.copy(), masked.copy(), np.zeros(original.shape[1]))
    sources = {
        Standardisation.OWN: (original, masked),
        Standardisation.ORIGINAL: (original, original),
        Standardisation.POOLED: (np.vstack([original, masked]),) * 2,
    }[how]
    results, offset = [], np.zeros(original.shape[1])
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
        offset = offset + np.abs(mean) / deviation
    return Standardised(results[0], results[1], offset)


def standardised_files(
    original: FloatArray,
    masked: FloatArray,
    how: Standardisation,
    tables: Sequence[FloatArray | None] | None,
) -> Standardised:
    """Both files with their numeric attributes standardised; the offset of others is zero.

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
    results = Standardised(original.copy(), masked.copy(), np.zeros(original.shape[1]))
    first, second = (np.ascontiguousarray(values[:, numeric]) for values in (original, masked))
    for whole, part in zip(results, standardise(first, second, how), strict=True):
        whole[..., numeric] = part
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
