"""Can a record's file be told from its values? The propensity-score mean squared error, pMSE."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from linkrisk.arrays import FloatArray
from linkrisk.solver.measures.values.released import ReleasedAttribute

Rows = tuple[slice, slice] | tuple[NDArray[np.intp], NDArray[np.intp]]
"""Of the original and of the masked file."""

MOST_RECORDS = 200_000
"""Records of both files that a model is fitted to; of more so many by lot."""

_RECORDS_EACH = 10
"""A model has at most one parameter for so many records of the two files."""


class Terms(StrEnum):
    """What the model is made of, from rich to poor."""

    SECOND_ORDER = "main effects, squares and products"
    SQUARES = "main effects and squares"
    MAIN = "main effects"


@dataclass(frozen=True)
class Propensity:
    """How well a logistic regression tells masked from original records."""

    # ``1/N sum_i (p_i - c)**2``, from 0 (indistinguishable) to ``c (1 - c)`` (told apart for certain)
    pmse: float
    # its expectation if the masked records were drawn anew from the distribution that the original file
    # shows: ``(k - 1) (1 - c)**2 c / N``. Another sample of the population would have ``1 / (1 - c)`` times
    # as much, since the original file varies too
    expected: float
    parameters: int  # ``k``, with the intercept
    records: int  # ``N``, of both files
    share: float  # ``c``, of them masked
    terms: Terms
    converged: bool  # false where files can be told apart so well that the estimates have no limit

    @property
    def ratio(self) -> float:
        """``pmse / expected``: 0 for the same file, about 1 for one that is drawn from it."""
        return self.pmse / self.expected

    @property
    def standardised(self) -> float:
        """``(pmse - expected) / sd``, with the null's ``sd = sqrt(2 (k - 1)) (1 - c)**2 c / N``."""
        scale = math.sqrt(2.0 * (self.parameters - 1)) * (1.0 - self.share) ** 2 * self.share / self.records
        return (self.pmse - self.expected) / scale


def propensity(attributes: Sequence[ReleasedAttribute]) -> Propensity | None:
    """The pMSE of two files (Snoke, Raab, Nowok, Dibben and Slavkovic, JRSS A 181, 2018).

    Numeric attributes enter with squares and pairwise products, others by one indicator for each category but
    one, missing values by an indicator and the mean. Terms without any attribute that differs are left out:
    both files have the same values there. Of the models that leave `_RECORDS_EACH` records for each parameter
    the richest is taken. None where no attribute differs, or no model leaves so many. Of more than
    `MOST_RECORDS` records of both files so many are drawn, from either its part.
    """
    if not any(attribute.differs for attribute in attributes):
        return None
    rows = _drawn((len(attributes[0].original), len(attributes[0].masked)))
    n, m = len(attributes[0].original[rows[0]]), len(attributes[0].masked[rows[1]])
    for terms in Terms:
        columns = design(attributes, terms, rows)
        if columns.shape[1] + 1 > (n + m) / _RECORDS_EACH:
            continue
        basis = _basis(columns)
        if basis.shape[1] == 0:
            return None
        return _fitted(basis, n, m, terms)
    return None


def _drawn(sizes: tuple[int, int]) -> Rows:
    """Rows of both files that a model is fitted to."""
    part = MOST_RECORDS / sum(sizes)
    if part >= 1.0:
        return slice(None), slice(None)
    random = np.random.default_rng(0)
    first, second = (random.choice(size, int(part * size), replace=False) for size in sizes)
    return first, second


def design(
    attributes: Sequence[ReleasedAttribute], terms: Terms, rows: Rows = (slice(None), slice(None))
) -> FloatArray:
    """Columns of the model for original and then masked records (these rows), without the intercept."""
    numbers: list[tuple[FloatArray, bool]] = []
    columns: list[tuple[FloatArray, bool]] = []
    for attribute in attributes:
        values = np.concatenate([attribute.original[rows[0]], attribute.masked[rows[1]]])
        missing = np.isnan(values)
        if attribute.numeric:
            scale = np.nanstd(values) or 1.0
            numbers.append(
                (np.where(missing, 0.0, (values - np.nanmean(values)) / scale), attribute.is_masked)
            )
        else:
            present = np.unique(values[~missing])
            columns += [((values == code).astype(np.float64), attribute.differs) for code in present[1:]]
        if missing.any():
            columns.append((missing.astype(np.float64), attribute.differs))
    columns += numbers
    if terms is not Terms.MAIN:
        columns += [(values**2, masked) for values, masked in numbers]
    if terms is Terms.SECOND_ORDER:
        for at, (first, one) in enumerate(numbers):
            columns += [(first * second, one or other) for second, other in numbers[at + 1 :]]
    used = [values for values, masked in columns if masked]
    return np.column_stack(used) if used else np.empty((0, 0))


def _basis(columns: FloatArray) -> FloatArray:
    """An orthogonal basis, of variance 1, of what the columns span: the same fit without collinearity."""
    centred: FloatArray = columns - columns.mean(axis=0)
    scale = np.sqrt((centred**2).mean(axis=0))
    centred = centred[:, scale > 1e-9] / scale[scale > 1e-9]
    if centred.shape[1] == 0:
        return np.empty((len(columns), 0))
    q, r, _ = qr(centred, mode="economic", pivoting=True)
    size = np.abs(np.diag(r))
    return np.asarray(q[:, size > 1e-9 * size[0]] * math.sqrt(len(columns)))


def _fitted(basis: FloatArray, n: int, m: int, terms: Terms) -> Propensity:
    from sklearn.linear_model import LogisticRegression

    masked = np.repeat([0, 1], [n, m])
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-9, max_iter=200)
    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        model.fit(basis, masked)
    score = model.predict_proba(basis)[:, 1]
    total, k = n + m, basis.shape[1] + 1
    c = m / total
    pmse, expected = float(((score - c) ** 2).mean()), (k - 1) * (1.0 - c) ** 2 * c / total
    return Propensity(pmse, expected, k, total, c, terms, converged=not complaints)
