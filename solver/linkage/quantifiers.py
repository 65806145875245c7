"""Aggregate the normalised values of records to representatives, by OWA operators or Sugeno integrals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd
from scipy.special import ndtr

from linkrisk.arrays import FloatArray
from linkrisk.datasets.microdata.numeric import LARGEST
from linkrisk.datasets.microdata.schema import Scale, Schema
from linkrisk.solver.run.errors import UsageError


def attribute_values(frame: pd.DataFrame, attributes: Sequence[str], schema: Schema) -> FloatArray:
    """Extract attributes of a table as numbers; an ordinal category becomes its position."""
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
    # Range first: the mean of equal numbers is exact only for zeros.
    ranges = ranged(values)
    centred = ranges - np.nansum(ranges, axis=0) / known
    deviation = np.sqrt(np.nansum(centred * centred, axis=0) / known)
    return np.asarray(centred / np.where(deviation > 0.0, deviation, 1.0))


def normal_probabilities(values: FloatArray) -> FloatArray:
    """Apply the standard normal distribution function to standardised values (not in the papers).

    The Sugeno integral requires numbers in [0, 1], and one outlier compresses all others under ranging.
    """
    return np.asarray(ndtr(standardised(values)))


def _of_known(choose: np.ufunc, values: FloatArray, none: float) -> FloatArray:
    """Compute the minimum or maximum of the known values of each column, 0 where none is known."""
    chosen = choose.reduce(np.where(np.isnan(values), none, values), axis=0, initial=none)
    return np.where(np.isfinite(chosen), chosen, 0.0)


NORMALISATIONS: Mapping[str, Callable[[FloatArray], FloatArray]] = MappingProxyType(
    {"ranging": ranged, "standardising": standardised, "normal": normal_probabilities}
)
"""Normalisations by name, applied to each file by itself."""


def normalised(values: FloatArray, normalisation: str, missing: str) -> FloatArray:
    """Normalise the columns of one file; missing values stay NaN, or become 0 afterwards."""
    result = NORMALISATIONS[normalisation](values)
    return np.nan_to_num(result, nan=0.0) if missing == "zero" else result


Family = tuple["Quantifier", ...]


@dataclass(frozen=True)
class Quantifier:
    """A non-decreasing function Q on [0, 1] with Q(0) = 0 and Q(1) = 1 (Torra and Nin 2008, Definition 2)."""

    kind: str  # ``power``, ``sigmoid``, ``threshold`` or ``points``
    # the parameter alpha; of ``points`` x1, Q(x1), x2, Q(x2), ..., between which Q is linear
    numbers: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise UsageError(f"there is no quantifier {self.kind!r}; use one of {', '.join(_KINDS)}")
        if not all(math.isfinite(number) for number in self.numbers):
            raise UsageError(f"quantifier {self}: every number must be finite")
        if self.kind == "points":
            _check_points(self)
        elif len(self.numbers) != 1:
            raise UsageError(f"quantifier {self}: give one alpha, as in {self.kind}:0.5")
        elif self.kind == "power" and self.numbers[0] <= 0.0:
            raise UsageError(f"quantifier {self}: the exponent must be above 0")

    def __str__(self) -> str:
        """Format the text that `parse_family` reads: ``power:0.5``, ``points:0 0 0.5 0.2 1 1``."""
        return f"{self.kind}:{' '.join(_shown(number) for number in self.numbers)}"

    def __call__(self, x: FloatArray) -> FloatArray:
        """Evaluate Q(x) for numbers in [0, 1].

        The sigmoid, and a threshold of 1 or below 0, miss Q(0) = 0 or Q(1) = 1; these two values are set, as
        in Smith (2016, section 5.1.2), so that weights always sum to one.
        """
        values = _KINDS[self.kind](x, self.numbers)
        return np.where(x <= 0.0, 0.0, np.where(x >= 1.0, 1.0, values))


def _shown(number: float) -> str:
    """Format a number as the shortest text that reads back."""
    return repr(float(number)).removesuffix(".0")


_KINDS: Mapping[str, Callable[[FloatArray, Sequence[float]], FloatArray]] = MappingProxyType(
    {
        "power": lambda x, numbers: x ** numbers[0],
        "sigmoid": lambda x, numbers: 1.0 / (1.0 + np.exp(np.clip(10.0 * (numbers[0] - x), -700.0, 700.0))),
        "threshold": lambda x, numbers: np.where(x <= numbers[0], 0.0, 1.0),
        "points": lambda x, numbers: np.interp(x, numbers[0::2], numbers[1::2]),
    }
)


def _check_points(quantifier: Quantifier) -> None:
    numbers = np.array(quantifier.numbers)
    if numbers.size < 4 or numbers.size % 2:
        raise UsageError(
            f"quantifier {quantifier}: give x and Q(x) of at least two points, as in 0 0 0.5 0.2 1 1"
        )
    x, values = numbers[0::2], numbers[1::2]
    if (x[0], values[0], x[-1], values[-1]) != (0.0, 0.0, 1.0, 1.0):
        raise UsageError(f"quantifier {quantifier}: the first point must be 0 0 and the last one 1 1")
    if (np.diff(x) <= 0.0).any():
        raise UsageError(f"quantifier {quantifier}: the points must have ascending x")
    if (np.diff(values) < 0.0).any():
        raise UsageError(f"quantifier {quantifier}: Q must not decrease from one point to the next")


_TENTHS = tuple(tenth / 10 for tenth in range(10))

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "power": tuple(Quantifier("power", (fifths / 5,)) for fifths in range(1, 11)),
        "sigmoid": tuple(Quantifier("sigmoid", (alpha,)) for alpha in _TENTHS),
        "threshold": tuple(Quantifier("threshold", (alpha,)) for alpha in _TENTHS),
    }
)
"""The three families of ten functions of Torra and Nin (2008, section 4.3).

``power`` is ``Q(x) = x**alpha`` for alpha = 1/5, ..., 10/5; ``sigmoid`` is ``1 / (1 + exp(10 (alpha - x)))``
for alpha = 0, 0.1, ..., 0.9 (they print ``exp((alpha - x) + 10)``, which is next to 0 everywhere; Smith 2016
and their own Figure 4 multiply by 10); ``threshold`` is 0 up to alpha and 1 above it, for the same alpha.
"""


def parse_family(text: str) -> Family:
    """Parse quantifiers: the name of a family, one with its own alphas, or points."""
    kind, colon, numbers = text.strip().partition(":")
    if not colon:
        if kind not in FAMILIES:
            raise UsageError(
                f"there is no quantifier family {text!r}; use one of {', '.join(FAMILIES)}, "
                "or points:0 0 ... 1 1"
            )
        return FAMILIES[kind]
    return tuple(
        Quantifier(kind, tuple(_number(word, text) for word in part.split())) for part in numbers.split(",")
    )


def _number(word: str, text: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise UsageError(f"quantifier {text!r}: {word!r} is not a number") from None


def values_at(quantifiers: Sequence[Quantifier], size: int) -> FloatArray:
    """Evaluate Q(i/N) of each quantifier for i = 0, ..., N, shape (quantifiers, N + 1)."""
    x = np.arange(size + 1) / size
    return np.vstack([quantifier(x) for quantifier in quantifiers])


Aggregation = Callable[[FloatArray, Sequence[Quantifier]], FloatArray]


def owa(values: FloatArray, quantifiers: Sequence[Quantifier]) -> FloatArray:
    """``OWA_Q(a) = sum_i (Q(i/N) - Q((i-1)/N)) a_(i)`` with ``a_(1) >= a_(2) >= ...``.

    Definition 2 of Torra and Nin (2008), of `values` (n, attributes) by k quantifiers, shape (n, k). Missing
    values are left out: N is the number of values that a record has; NaN for records without any.
    """
    return _by_size(values, quantifiers, _owa)


def sugeno(values: FloatArray, quantifiers: Sequence[Quantifier]) -> FloatArray:
    """``SI_Q(a) = max_i min(Q(i/N), a_(i))`` with ``a_(1) >= a_(2) >= ...``.

    Definition 3 of Torra and Nin (2008): the Sugeno integral for the symmetric fuzzy measure
    ``mu(A) = Q(|A|/N)``. It compares values with measures, so it means what its theory says for values in
    [0, 1] only; to others the formula is applied as it is. Parameters and result are those of `owa`.
    """
    return _by_size(values, quantifiers, _sugeno)


def _by_size(values: FloatArray, quantifiers: Sequence[Quantifier], aggregation: Aggregation) -> FloatArray:
    """Aggregate complete records of one size together."""
    # NaN is sorted to the end, behind the smallest value.
    descending = -np.sort(-values, axis=1)
    present = np.count_nonzero(~np.isnan(values), axis=1)
    result = np.full((len(values), len(quantifiers)), np.nan)
    for size in np.unique(present[present > 0]).tolist():
        rows = np.flatnonzero(present == size)
        result[rows] = aggregation(descending[rows, :size], quantifiers)
    return result


def _owa(descending: FloatArray, quantifiers: Sequence[Quantifier]) -> FloatArray:
    weights = np.diff(values_at(quantifiers, descending.shape[1]), axis=1)
    # No matrix product: equal records must have equal representatives at any position.
    return np.stack([(descending * row).sum(axis=1) for row in weights], axis=1)


def _sugeno(descending: FloatArray, quantifiers: Sequence[Quantifier]) -> FloatArray:
    measures = values_at(quantifiers, descending.shape[1])[:, 1:]
    return np.stack([np.minimum(descending, row).max(axis=1) for row in measures], axis=1)
