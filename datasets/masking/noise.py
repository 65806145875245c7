"""Numbers perturbed one by one: additive noise, independent or correlated like the data, and rounding."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import NumericMethod, centred_and_deviation, check_percent
from linkrisk.datasets.masking.parameters import AdditiveNoiseParameters, RoundingParameters
from linkrisk.datasets.microdata.numeric import LARGEST

DEPENDENT = 1e-12
"""A share of variance below this means that an attribute is a linear combination of those before it."""


@dataclass(frozen=True, kw_only=True)
class AdditiveNoise(AdditiveNoiseParameters, NumericMethod):
    """Add normal noise with mean 0 and a standard deviation of `percent` % of each attribute's own.

    Independent noise draws every value by itself. Correlated noise (J. Kim, A method for limiting disclosure
    in microdata based on random noise and transformation, 1986) has the covariance (percent/100)^2 S, where S
    is the covariance of the data, so that correlations survive. R. Brand, Microdata protection through
    noise addition, 2002, reviews both. Standard deviations and S have the divisor n-1. Missing values stay
    missing; deviations are those of the known values, correlations those of the records without missing ones.

    Attributes
    ----------
    percent : float
        The standard deviation of the noise in percent of that of the attribute, above 0.
    correlated : bool
        Whether the noise is correlated like the data.

    Raises
    ------
    DataError
        If percent is not above 0, or so large that no command could read the values again.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> method = linkrisk.masking.AdditiveNoise(percent=10.0, attributes=("sepal_length",))
    >>> linkrisk.mask(iris, method, seed=1).masked
    ('sepal_length',)
    """

    name: ClassVar[str] = "noise"

    def __post_init__(self) -> None:
        check_percent(self.percent)

    @property
    def action(self) -> str:
        """See `NumericMethod`."""
        kind = "correlated" if self.correlated else "independent"
        return f"{kind} normal noise with {self.percent:g} % of the standard deviation"

    def mask_values(self, values: FloatArray, generator: np.random.Generator) -> FloatArray:
        """See `NumericMethod.mask_values`; a DataError if values leave the usual range."""
        noise = generator.standard_normal(values.shape)
        _, deviation = centred_and_deviation(values, lost=1)
        if self.correlated:
            noise = _combine(noise, _correlation_factor(_complete(values)))
        with np.errstate(over="ignore", invalid="ignore"):  # infinities and what they cancel to are refused
            masked: FloatArray = values + self.percent / 100 * deviation * noise
        if (np.abs(masked) > LARGEST).any() or (np.isnan(masked) > np.isnan(values)).any():
            raise DataError(
                f"percent is {self.percent:g}, which makes values beyond {LARGEST:g}; choose a smaller "
                "percent"
            )
        return masked


def _complete(values: FloatArray) -> FloatArray:
    """Records of an array (n, a) without missing values; a DataError if too few for correlations."""
    complete = values[~np.isnan(values).any(axis=1)]
    least = values.shape[1] + 1
    if len(complete) < min(least, len(values)):
        records = "1 record has" if len(complete) == 1 else f"{len(complete)} records have"
        raise DataError(
            f"correlated noise needs at least {least} records without missing values, but {records} a value "
            "of every attribute; mask fewer attributes together, or leave out correlated"
        )
    return complete


def _correlation_factor(values: FloatArray) -> FloatArray:
    """Cholesky factor L of the correlation matrix of values (n, a).

    Written out rather than taken from a linear algebra library: there the last digits depend on the
    machine, and matrices without full rank, as with a total and its parts, are refused.
    """
    centred, _ = centred_and_deviation(values, lost=0)
    length = np.sqrt((centred * centred).sum(axis=0))
    unit = centred / np.where(length > 0, length, 1.0)
    attributes = unit.shape[1]
    factor = np.zeros((attributes, attributes))
    for j in range(attributes):
        pivot = 1.0 - (factor[j, :j] ** 2).sum() if length[j] > 0 else 0.0
        if pivot <= DEPENDENT:
            continue
        factor[j, j] = np.sqrt(pivot)
        for i in range(j + 1, attributes):
            correlation = (unit[:, i] * unit[:, j]).sum()
            factor[i, j] = (correlation - (factor[i, :j] * factor[j, :j]).sum()) / factor[j, j]
    return factor


def _combine(noise: FloatArray, factor: FloatArray) -> FloatArray:
    """Multiply noise (n, a) by the transposed factor, term by term in a fixed order."""
    combined = np.zeros_like(noise)
    for i, row in enumerate(factor):
        for j in range(i + 1):
            combined[:, i] += row[j] * noise[:, j]
    return combined


_SLACK = 4 * float(np.finfo(np.float64).eps)
"""How much a quotient of two decimals may be off in doubles, relative to itself."""


@dataclass(frozen=True, kw_only=True)
class Rounding(RoundingParameters, NumericMethod):
    """Round every value to the nearest multiple of a base, halves away from 0 (Hundepool et al. 2012, 3.4).

    Exact amounts and sampling weights are known to intruders; rounded ones lead to fewer records. Missing
    values stay missing.

    Attributes
    ----------
    base : float
        Above 0.
    positive : bool
        Whether values above 0 become one base at least: a sampling weight of 0 would be no record.

    Raises
    ------
    DataError
        If the base is not above 0.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> method = linkrisk.masking.Rounding(base=0.5, attributes=("sepal_length",))
    >>> linkrisk.mask(iris, method).table["sepal_length"].head(3).tolist()
    [5.0, 5.5, 5.5]
    """

    name: ClassVar[str] = "rounding"
    chance: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.base > 0:
            raise DataError(f"base is {self.base:g}; it must be above 0")

    @property
    def action(self) -> str:
        """See `NumericMethod`."""
        least = f" (at least {self.base:g})" if self.positive else ""
        return f"rounding to multiples of {self.base:g}{least}"

    def mask_values(
        self,
        values: FloatArray,
        generator: np.random.Generator,  # noqa: ARG002 - nothing is left to chance
    ) -> FloatArray:
        """See `NumericMethod.mask_values`."""
        exact = np.abs(values) / self.base
        steps = np.floor(exact)
        # 5.05 is 50.499999999999993 times 0.1 in doubles: what no decimals of a file tell apart is a half.
        steps += exact - steps >= 0.5 - np.minimum(exact * _SLACK, 0.25)
        if self.positive:
            steps = np.where(values > 0, np.maximum(steps, 1.0), steps)
        # 0.1 times 3 is 0.30000000000000004: digits that the base has not say nothing.
        places = max(0, -int(Decimal(repr(float(self.base))).as_tuple().exponent))
        return np.asarray(np.copysign(np.round(steps * self.base, places), values) + 0.0, dtype=np.float64)
