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
from scipy.optimize import LinearConstraint, linprog, minimize

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.cell_table import FloatArray, IntArray

MOST_NOISE = 20
_LEAST = 1e-9
_NONE = 1e-7
"""Probabilities below it are 0, as in `ptable`."""

_STAY_STEP, _STAY_TRIES = 0.05, 20
_VARIANCE_MET = 5e-4


@dataclass(frozen=True)
class NoiseDesign:
    """What the noise of the cell-key method shall be like.

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
        If a number is not in its range, or no noise has these properties; it names the count.
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
        """From which count on the noise is the same for all."""
        return self.most + self.small

    def table(self) -> PerturbationTable:
        """The perturbation table."""
        rows = np.zeros((self.counts + 1, 2 * self.most + 1))
        rows[0, self.most] = 1.0
        for count in range(1, self.counts + 1):
            noise = self._noise(count)
            rows[count, noise + self.most] = self._probabilities(count, noise)
        return PerturbationTable(rows)

    def _noise(self, count: int) -> IntArray:
        """What can happen to a count."""
        noise = np.arange(-self.most, self.most + 1)
        after = count + noise
        return noise[(after >= 0) & ((after == 0) | (after > self.small))]

    def _probabilities(self, count: int, noise: IntArray) -> FloatArray:
        stay, found = self.stay or 0.0, None
        for _ in range(_STAY_TRIES):
            found = _most_entropy(noise, self.variance, stay, self.monotone)
            met = found is not None and abs(found @ noise**2 - self.variance) <= _VARIANCE_MET
            if met or stay <= 0 or 0 not in noise:
                break
            stay = max(0.0, stay - _STAY_STEP)
        if found is None:
            raise FormulationError(
                f"no noise of at most {self.most} with variance {self.variance:g} is unbiased for a count of "
                f"{count}; raise the variance or the largest noise, or allow smaller counts"
            )
        return found


def _most_entropy(noise: IntArray, variance: float, stay: float, monotone: bool) -> FloatArray | None:
    """Probabilities of most entropy; None where there are none."""
    size, v = noise.size, noise.astype(np.float64)
    least = np.full(size, _LEAST)
    least[noise == 0] = max(stay, _LEAST)
    rows = [v**2]
    if monotone and 0 in noise:
        for at in range(int(np.flatnonzero(noise == 0)[0])):
            row = np.zeros(size)
            row[at], row[at + 1] = 1.0, -1.0
            rows.append(row)
    below, limits = np.array(rows), np.zeros(len(rows))
    limits[0] = variance
    equal, sums = np.array([np.ones(size), v]), np.array([1.0, 0.0])
    start = linprog(
        np.zeros(size), A_ub=below, b_ub=limits, A_eq=equal, b_eq=sums, bounds=[(one, 1.0) for one in least]
    )
    if start.status != 0:
        return None
    found = minimize(
        lambda p: float(np.sum(p * np.log2(np.maximum(p, 1e-15)))),
        np.full(size, 1.0 / size),
        jac=lambda p: np.log2(np.maximum(p, 1e-15)) + 1.0 / np.log(2.0),
        method="SLSQP",
        bounds=[(one, 1.0) for one in least],
        constraints=[
            LinearConstraint(equal, sums, sums),
            LinearConstraint(below, -np.inf, limits),
        ],
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return _exact(np.where(found.x < _NONE, 0.0, found.x), equal, sums)


def _exact(p: FloatArray, equal: FloatArray, sums: FloatArray) -> FloatArray:
    """The nearest probabilities with exactly these sums, which an optimiser meets up to its tolerance."""
    used = p > 0
    part = equal[:, used]
    p[used] -= part.T @ np.linalg.lstsq(part @ part.T, part @ p[used] - sums, rcond=None)[0]
    if (p < 0).any() or np.abs(equal @ p - sums).max() > 1e-9:
        raise AssertionError("the noise that was found is biased")
    return p


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
        """D, the largest noise."""
        return (self.probability.shape[1] - 1) // 2

    @property
    def noise(self) -> IntArray:
        """-D to D."""
        return np.arange(-self.most, self.most + 1)

    @property
    def variance(self) -> FloatArray:
        """Of the noise of each count, shape (c + 1,)."""
        return np.asarray(self.probability @ self.noise.astype(np.float64) ** 2)

    @cached_property
    def _ends(self) -> FloatArray:
        """Where the interval of keys of each noise ends."""
        ends = np.cumsum(self.probability, axis=1)
        last = ends.shape[1] - 1 - np.argmax(self.probability[:, ::-1] > 0, axis=1)
        ends[np.arange(ends.shape[1]) >= last[:, None]] = 1.0  # and not a bit less by rounding
        return np.asarray(ends)

    def intervals(self) -> tuple[FloatArray, FloatArray]:
        """From which cell key to which each noise is taken, both shaped like the probabilities."""
        return np.hstack([np.zeros((len(self._ends), 1)), self._ends[:, :-1]]), self._ends

    def look_up(self, counts: IntArray, keys: FloatArray) -> IntArray:
        """The noise of cells.

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


def cell_keys(record_keys: FloatArray, cell: IntArray, record: IntArray, cells: int) -> FloatArray:
    """The fractional part of the sum of the record keys of each cell.

    Summed in whole numbers, so that the order of records does not matter: a cell with the same records has
    the same key in every table, to the last bit.

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
