"""Representatives of records: OWA operators and Sugeno integrals of their values, one per quantifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.linkage.representatives.quantifiers import Quantifier, values_at

Aggregation = Callable[[FloatArray, Sequence[Quantifier]], FloatArray]


def owa(values: FloatArray, quantifiers: Sequence[Quantifier]) -> FloatArray:
    """``OWA_Q(a) = sum_i (Q(i/N) - Q((i-1)/N)) a_(i)`` with ``a_(1) >= a_(2) >= ...``.

    Definition 2 of Torra and Nin (2008).

    Parameters
    ----------
    values : ndarray of float64, shape (n, attributes)
        NaN where missing. A missing value is left out: N is the number of values that a record has.
    quantifiers : sequence of Quantifier
        k of them.

    Returns
    -------
    ndarray of float64, shape (n, k)
        NaN for records without any value.
    """
    return _by_size(values, quantifiers, _owa)


def sugeno(values: FloatArray, quantifiers: Sequence[Quantifier]) -> FloatArray:
    """``SI_Q(a) = max_i min(Q(i/N), a_(i))`` with ``a_(1) >= a_(2) >= ...``.

    Definition 3 of Torra and Nin (2008): the Sugeno integral for the symmetric fuzzy measure
    ``mu(A) = Q(|A|/N)``. It compares values with measures, so it means what its theory says for values in
    [0, 1] only; to others the formula is applied as it stands.
    Parameters and result are those of `owa`.
    """
    return _by_size(values, quantifiers, _sugeno)


def _by_size(values: FloatArray, quantifiers: Sequence[Quantifier], aggregation: Aggregation) -> FloatArray:
    """Aggregate complete records of one size at a time."""
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
    # Not by matrix product: equal records have equal representatives, wherever they stand in the file.
    return np.stack([(descending * row).sum(axis=1) for row in weights], axis=1)


def _sugeno(descending: FloatArray, quantifiers: Sequence[Quantifier]) -> FloatArray:
    measures = values_at(quantifiers, descending.shape[1])[:, 1:]
    return np.stack([np.minimum(descending, row).max(axis=1) for row in measures], axis=1)
