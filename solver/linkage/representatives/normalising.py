"""Values of one file on a common scale: ranged, standardised, or through the normal distribution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd
from scipy.special import ndtr

from linkrisk.arrays import FloatArray
from linkrisk.datasets.microdata.numeric import LARGEST
from linkrisk.datasets.microdata.schema import Scale, Schema
from linkrisk.solver.run.errors import UsageError


def attribute_values(frame: pd.DataFrame, attributes: Sequence[str], schema: Schema) -> FloatArray:
    """Take attributes out of a table as numbers; a category of an ordinal one counts as its position.

    Parameters
    ----------
    frame : DataFrame
        n rows.
    attributes : sequence of str
        Columns of the table, numeric or ordinal.
    schema : Schema
        Scale and categories of these attributes.

    Returns
    -------
    ndarray of float64, shape (n, attributes)
        NaN where missing.

    Raises
    ------
    UsageError
        If there are none, one is nominal, or a value is not one of the categories or too large.
    """
    if not attributes:
        raise UsageError("representatives need at least one attribute in each file")
    values = np.empty((len(frame), len(attributes)))
    for position, name in enumerate(attributes):
        attribute = schema[name]
        if attribute.scale is Scale.NOMINAL:
            raise UsageError(
                f"attribute {name!r} is nominal and has no order that a representative could use; "
                "leave it out or declare it ordinal"
            )
        if attribute.scale is Scale.ORDINAL:
            values[:, position] = _positions(frame[name], name, attribute.categories or ())
        else:
            values[:, position] = pd.to_numeric(frame[name]).to_numpy(dtype=np.float64, na_value=np.nan)
        if (np.abs(values[:, position]) > LARGEST).any():
            raise UsageError(f"attribute {name!r} has a value beyond {LARGEST:g}; correct it or leave it out")
    return values


def _positions(column: pd.Series, name: str, categories: Sequence[str]) -> FloatArray:
    position = {category: float(at) for at, category in enumerate(categories)}
    found = [np.nan if pd.isna(value) else position.get(str(value), -1.0) for value in column.to_list()]
    if -1.0 in found:
        row = found.index(-1.0)
        raise UsageError(
            f"attribute {name!r}, record {row + 1}: {str(column.iloc[row])!r} is not one of its categories"
        )
    return np.array(found)


def ranged(values: FloatArray) -> FloatArray:
    """``(x - min) / (max - min)`` of each column: normalisation N1 of Torra and Nin (2008).

    NaN stays; a column of equal values becomes 0.
    """
    lowest, highest = _of_known(np.minimum, values, np.inf), _of_known(np.maximum, values, -np.inf)
    spread = highest - lowest
    return np.asarray((values - lowest) / np.where(spread > 0.0, spread, 1.0))


def standardised(values: FloatArray) -> FloatArray:
    """``(x - mean) / standard deviation`` (divisor n) of each column: N2 of Torra and Nin (2008).

    NaN stays; a column of equal values becomes 0.
    """
    known = np.maximum(np.count_nonzero(~np.isnan(values), axis=0), 1)
    # Ranged first: the mean of equal numbers is that number only up to rounding, the mean of zeros is zero.
    ranges = ranged(values)
    centred = ranges - np.nansum(ranges, axis=0) / known
    deviation = np.sqrt(np.nansum(centred * centred, axis=0) / known)
    return np.asarray(centred / np.where(deviation > 0.0, deviation, 1.0))


def normal_probabilities(values: FloatArray) -> FloatArray:
    """The standard normal distribution function of the standardised values: not in the papers.

    Numbers in [0, 1] as the Sugeno integral wants them, where one outlier does not press all others together
    as it does in ranging.
    """
    return np.asarray(ndtr(standardised(values)))


def _of_known(choose: np.ufunc, values: FloatArray, none: float) -> FloatArray:
    """Minimum or maximum of the known values of each column, 0 where none is known."""
    chosen = choose.reduce(np.where(np.isnan(values), none, values), axis=0, initial=none)
    return np.where(np.isfinite(chosen), chosen, 0.0)


NORMALISATIONS: Mapping[str, Callable[[FloatArray], FloatArray]] = MappingProxyType(
    {"ranging": ranged, "standardising": standardised, "normal": normal_probabilities}
)
"""How values are brought on a common scale, by name; every file by itself."""


def normalised(values: FloatArray, normalisation: str, missing: str) -> FloatArray:
    """Bring the columns of one file on a common scale; missing values stay NaN, or become 0 after it."""
    result = NORMALISATIONS[normalisation](values)
    return np.nan_to_num(result, nan=0.0) if missing == "zero" else result
