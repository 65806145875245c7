"""Perturbation tables of the cell-key method: noise of maximum entropy with given properties.

For a count i the noise v is drawn with the probabilities p that

    maximise    - sum of p_v log2 p_v
    subject to  sum of p_v = 1,   sum of v p_v = 0 (unbiased),   sum of v^2 p_v <= V,
                |v| <= D,   i + v not negative, and none of the small counts 1 to js,
                p_v not falling on the way up to v = 0 (monotone),   p_0 at least pstay

so that a count of 0 stays (Marley and Leaver 2011, A method for confidentialising user-defined tables;
Giessing 2016, Computational issues in the design of transition probabilities, PSD 2016, LNCS 9867, 237-251).
It is the definition of the R package `ptable`. The variance is V wherever the other conditions leave it so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.errors import FormulationError

MOST_NOISE = 20


@dataclass(frozen=True)
class NoiseDesign:
    """Required properties of the noise.

    Attributes
    ----------
    most : int
        D, its largest absolute value, from 1.
    variance : float
        V, above 0.
    small : int
        js: perturbed counts are never 1 to js; 0 allows all.
    stay : float or None
        pstay: the least probability of no noise; less by steps of 0.05 where V cannot be reached else.
    monotone : bool
        Whether probabilities do not fall on the way up to no noise.

    Raises
    ------
    FormulationError
        If a number is not in its range.
    """

    most: int
    variance: float
    small: int = 0
    stay: float | None = None
    monotone: bool = True

    def __post_init__(self) -> None:
        for wrong, why in (
            (not 1 <= self.most <= MOST_NOISE, f"the largest noise is 1 to {MOST_NOISE}, not {self.most}"),
            (not self.variance > 0, f"the variance of noise is above 0, not {self.variance:g}"),
            (self.small < 0, f"small counts are none (0) or 1 to N, not {self.small}"),
            (
                self.stay is not None and not 0 <= self.stay < 1,
                f"the probability of no noise is from 0 to less than 1, not {self.stay}",
            ),
        ):
            if wrong:
                raise FormulationError(why)

    @property
    def counts(self) -> int:
        """Count from which the noise is the same for all."""
        return self.most + self.small

    def noise(self, count: int) -> LongArray:
        """Return the possible noise of a count."""
        noise = np.arange(-self.most, self.most + 1)
        after = count + noise
        found: LongArray = noise[(after >= 0) & ((after == 0) | (after > self.small))]
        return found


@dataclass(frozen=True, eq=False)
class PerturbationTable:
    """Probabilities of noise for each count.

    Attributes
    ----------
    probability : ndarray of float64, shape (c + 1, 2 D + 1)
        Of the noise -D to D, for the counts 0 to c; larger counts have that of c.

    Raises
    ------
    FormulationError
        If a row is no distribution, is biased, or makes a count negative.
    """

    probability: FloatArray

    def __post_init__(self) -> None:
        p = self.probability
        for count in range(len(p)):
            bias = float(p[count] @ self.noise)
            for wrong, why in (
                ((p[count] < 0).any(), "has a probability below 0"),
                (abs(p[count].sum() - 1.0) > 1e-6, f"has probabilities that sum to {p[count].sum():g}"),
                (abs(bias) > 1e-4, f"has noise of mean {bias:g}, which makes tables biased"),
                ((p[count][count + self.noise < 0] > 0).any(), "can become negative"),
            ):
                if wrong:
                    raise FormulationError(f"the perturbation table: a count of {count} {why}")

    @property
    def most(self) -> int:
        """Return D, the largest noise."""
        return (int(self.probability.shape[1]) - 1) // 2

    @property
    def noise(self) -> LongArray:
        """Return -D to D."""
        return np.arange(-self.most, self.most + 1)

    @property
    def variance(self) -> FloatArray:
        """Return the variance of the noise of each count, shape (c + 1,)."""
        return np.asarray(self.probability @ self.noise.astype(np.float64) ** 2)

    @cached_property
    def _ends(self) -> FloatArray:
        """Return the upper ends of the key intervals of each noise."""
        ends = np.cumsum(self.probability, axis=1)
        last = ends.shape[1] - 1 - np.argmax(self.probability[:, ::-1] > 0, axis=1)
        ends[np.arange(ends.shape[1]) >= last[:, None]] = 1.0  # exactly 1, without rounding errors
        return np.asarray(ends)

    def intervals(self) -> tuple[FloatArray, FloatArray]:
        """Return the key intervals of each noise, both ends shaped like the probabilities."""
        return np.hstack([np.zeros((len(self._ends), 1)), self._ends[:, :-1]]), self._ends

    def look_up(self, counts: LongArray, keys: FloatArray) -> LongArray:
        """Look up the noise of cells.

        Parameters
        ----------
        counts : ndarray of int64, shape (n,)
            Not negative.
        keys : ndarray of float64, shape (n,)
            From 0 to less than 1.
        """
        rows = np.minimum(counts, len(self.probability) - 1)
        return np.asarray((self._ends[rows] <= keys[:, None]).sum(axis=1) - self.most, dtype=np.int64)


_WHOLE_KEY = 2.0**52


def cell_keys(record_keys: FloatArray, cell: LongArray, record: LongArray, cells: int) -> FloatArray:
    """Return the fractional part of the sum of the record keys of each cell.

    Keys are summed as integers, so that the order of records does not matter: a cell with the same records
    has the same key in every table, to the last bit.

    Parameters
    ----------
    record_keys : ndarray of float64, shape (r,)
        From 0 to less than 1.
    cell, record : ndarray of int64, shape (k,)
        Which record is in which cell.
    cells : int

    Returns
    -------
    ndarray of float64, shape (cells,)
    """
    whole = np.floor(record_keys * _WHOLE_KEY).astype(np.uint64)
    sums = np.zeros(cells, dtype=np.uint64)
    np.add.at(sums, cell, whole[record])  # what overflows is a multiple of 1
    return np.asarray((sums % np.uint64(2**52)).astype(np.float64) / _WHOLE_KEY)
