"""Attribute distances: standardise two files and compare their records attribute by attribute."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.distance_tables import DistanceTables, check_positions
from linkrisk.formulations.linkage.moments import moments

SMALLEST_RANGE = 1e-150
"""Differences below this vanish when they are squared."""


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


class FileMoments(NamedTuple):
    """Means and standard deviations that two files are standardised by.

    Attributes
    ----------
    original, masked : pair of ndarray of float64, each of shape (attributes,)
        Mean and deviation of each numeric attribute, for values of this file.
    """

    original: tuple[FloatArray, FloatArray]
    masked: tuple[FloatArray, FloatArray]


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
    original: FloatArray,
    masked: FloatArray,
    how: Standardisation | FileMoments = Standardisation.OWN,
    names: Sequence[str] | None = None,
) -> Standardised:
    """Standardise both files (D11.2, Eq. 1), by means and deviations that are correctly rounded.

    Parameters
    ----------
    original : ndarray of float64, shape (n, attributes)
    masked : ndarray of float64, shape (m, attributes)
    how : Standardisation or FileMoments
        Whose moments to use; or moments that other records had.
    names : sequence of str, optional
        What to call the attributes in messages; their numbers from 1 when absent.

    Returns
    -------
    Standardised

    Raises
    ------
    FormulationError
        If an attribute is constant where its standard deviation is needed, no double can hold that with all
        its digits, or a file's values of an attribute differ by next to nothing in these units.
    """
    names = names or [str(k + 1) for k in range(original.shape[1])]
    used = how if isinstance(how, FileMoments) else file_moments(original, masked, how, names)
    if used is None:
        _check_ranges((original, masked), names)
        return Standardised(original.copy(), masked.copy(), np.zeros(original.shape[1]))
    results, offset = [], np.zeros(original.shape[1])
    for values, (mean, deviation) in zip((original, masked), used, strict=True):
        results.append((values - mean) / deviation)
        offset = offset + np.abs(mean) / deviation
    _check_ranges(results, names)
    return Standardised(results[0], results[1], offset)


def file_moments(
    original: FloatArray, masked: FloatArray, how: Standardisation, names: Sequence[str] | None = None
) -> FileMoments | None:
    """The moments that two files are standardised by (see `standardise`); None where values stay as they are.

    Raises
    ------
    FormulationError
        If an attribute has no value in a file, or no usable standard deviation where it is needed.
    """
    names = names or [str(k + 1) for k in range(original.shape[1])]
    for values in (original, masked):
        _check_some_value(values, names)
    if how is Standardisation.NONE:
        return None
    if how is Standardisation.OWN:
        return FileMoments(_usable_moments(original, names), _usable_moments(masked, names))
    source = original if how is Standardisation.ORIGINAL else np.vstack([original, masked])
    both = _usable_moments(source, names)
    return FileMoments(both, both)


def _usable_moments(source: FloatArray, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Means and deviations of the known values, which all can be divided by."""
    # Checked first: a constant column has a deviation of rounding noise, and one record has none at all.
    lowest, highest = _extremes(source)
    constant = lowest == highest
    if constant.any():
        raise FormulationError(
            f"attribute {names[int(np.argmax(constant))]} is constant, so it has no standard deviation: "
            "leave it out"
        )
    columns = [moments(source[~np.isnan(source[:, k])][:, [k]]) for k in range(source.shape[1])]
    mean, deviation = (np.array([column[at][0] for column in columns]) for at in (0, 1))
    unusable = ~((deviation >= np.finfo(np.float64).tiny) & np.isfinite(deviation))
    if unusable.any():
        raise FormulationError(
            f"attribute {names[int(np.argmax(unusable))]} has a standard deviation outside the range of "
            "double precision: use another unit"
        )
    return mean, deviation


def _check_some_value(values: FloatArray, names: Sequence[str]) -> None:
    """Refuse attributes that are missing in all records of a file."""
    empty = np.isnan(values).all(axis=0)
    if empty.any():
        raise FormulationError(
            f"attribute {names[int(np.argmax(empty))]} has no value in one of the files, so it cannot be "
            "compared: leave it out"
        )


def _extremes(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The lowest and the highest known value of each attribute; inf and -inf where none is known."""
    lacking = np.isnan(values)
    return np.where(lacking, np.inf, values).min(axis=0), np.where(lacking, -np.inf, values).max(axis=0)


def _check_ranges(files: Sequence[FloatArray], names: Sequence[str]) -> None:
    """Refuse attributes whose values differ, but by so little that squares do not tell."""
    for values in files:
        lowest, highest = _extremes(values)
        spread = highest - lowest
        lost = (spread > 0.0) & (spread <= SMALLEST_RANGE)
        if lost.any():
            at = int(np.argmax(lost))
            raise FormulationError(
                f"attribute {names[at]} differs by at most {spread[at]:g} in the units that it is compared "
                "in, which becomes zero when squared: standardise each file by itself, or use another unit"
            )


def standardised_files(
    original: FloatArray,
    masked: FloatArray,
    how: Standardisation | FileMoments,
    tables: Sequence[FloatArray | None] | None,
    names: Sequence[str] | None = None,
) -> Standardised:
    """Both files with their numeric attributes standardised; the offset of others is zero.

    Parameters
    ----------
    original : ndarray of float64, shape (n, attributes)
    masked : ndarray of float64, shape (m, attributes)
    how : Standardisation or FileMoments
    tables : sequence of ndarray or None, optional
        Tables of distances of categorical attributes, whose values are positions and stay as they are; None
        for numeric ones.
    names : sequence of str, optional
        What to call the attributes in messages; their numbers from 1 when absent.

    Raises
    ------
    FormulationError
        If a numeric attribute cannot be standardised, or a value is not a position in its table.
    """
    names = names or [str(k + 1) for k in range(original.shape[1])]
    if tables is None:
        return standardise(original, masked, how, names)
    if len(tables) != original.shape[1]:
        raise FormulationError(f"{len(tables)} tables for {original.shape[1]} attributes: give one for each")
    numeric = [k for k, table in enumerate(tables) if table is None]
    results = Standardised(original.copy(), masked.copy(), np.zeros(original.shape[1]))
    first, second = (np.ascontiguousarray(values[:, numeric]) for values in (original, masked))
    for whole, part in zip(
        results, standardise(first, second, how, [names[k] for k in numeric]), strict=True
    ):
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
        Finite; the values of impossible pairs (`DistanceTables.possible`) mean nothing.
    """
    difference: FloatArray = queries - candidates
    if tables is not None:
        tables.place(difference, queries, candidates)
    return of_kind(difference, kind)


def of_kind(difference: FloatArray, kind: Differences) -> FloatArray:
    """Differences squared, without their sign, or as they are; in place."""
    if kind is Differences.SQUARED:
        return np.square(difference, out=difference)
    if kind is Differences.ABSOLUTE:
        return np.abs(difference, out=difference)
    return difference
