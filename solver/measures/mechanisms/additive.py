"""Normal noise that was added, independent or correlated like the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.datasets.masking.base import centred_and_deviation
from linkrisk.datasets.masking.noise import DEPENDENT, AdditiveNoise
from linkrisk.solver.measures.mechanisms.base import Mechanism, UnfitError, both_missing_or_none


class Noise(Mechanism):
    """``y = x + e`` with e normal of mean 0, as `AdditiveNoise` draws it.

    ``log f(y | x) = -(y - x)' C^-1 (y - x) / 2`` but for a constant, with ``C = (percent / 100)^2 S``. S is
    the diagonal of the variances of the original attributes, or their covariance matrix.
    """

    def __init__(
        self,
        method: AdditiveNoise,
        original: FloatArray,
        masked: FloatArray,
        attributes: tuple[str, ...],
        compared: Sequence[int],
    ) -> None:
        self.attributes = attributes
        before = original[:, list(compared)]
        _, deviation = centred_and_deviation(before, lost=1)
        spread = method.percent / 100.0 * deviation
        if method.correlated:
            if np.isnan(before).any() or np.isnan(masked).any():
                raise UnfitError("correlated noise is not followed where values are missing")
            root = _inverse_root(_correlation(original)[np.ix_(compared, compared)], spread)
            self._before, self._after = before @ root, masked @ root
        else:
            self._before, self._after = before / spread, masked / spread

    def log_likelihood(self) -> FloatArray:
        """The normal density (see `Mechanism.log_likelihood`)."""
        found = np.zeros((len(self._before), len(self._after)))
        for before, after in zip(self._before.T, self._after.T, strict=True):
            apart = np.nan_to_num(after)[None, :] - np.nan_to_num(before)[:, None]
            density = np.where(np.isnan(before)[:, None], 0.0, -0.5 * apart * apart)
            found += np.where(both_missing_or_none(before, after), density, -np.inf)
        return found


def _correlation(values: FloatArray) -> FloatArray:
    """Correlations of the records without missing values, as the method takes them."""
    complete = values[~np.isnan(values).any(axis=1)]
    return np.atleast_2d(np.corrcoef(complete, rowvar=False))


def _inverse_root(correlation: FloatArray, spread: FloatArray) -> FloatArray:
    """R with ``R R' = C^-1``."""
    covariance = correlation * np.outer(spread, spread)
    if float(np.linalg.eigvalsh(correlation)[0]) < np.sqrt(DEPENDENT):
        raise UnfitError("correlated noise on attributes that follow from each other has no density")
    return np.asarray(np.linalg.cholesky(np.linalg.inv(covariance)))
