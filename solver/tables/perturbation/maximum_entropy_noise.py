"""Compute the perturbation tables of the cell-key method: noise of maximum entropy."""

from __future__ import annotations

import numpy as np
from scipy.optimize import LinearConstraint, linprog, minimize

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.cell_key import NoiseDesign, PerturbationTable
from linkrisk.formulations.tables.magnitude_noise import MagnitudeDesign, MagnitudeTable

_LEAST = 1e-9
_NONE = 1e-7
"""Probability treated as 0, as in `ptable`."""

_STAY_STEP, _STAY_TRIES = 0.05, 20
_VARIANCE_MET = 5e-4
_TINY = 1e-15


def perturbation_table(design: NoiseDesign) -> PerturbationTable:
    """Compute the perturbation table of counts of a design, with noise of maximum entropy."""
    rows = np.zeros((design.counts + 1, 2 * design.most + 1))
    rows[0, design.most] = 1.0
    for count in range(1, design.counts + 1):
        noise = design.noise(count)
        rows[count, noise + design.most] = _probabilities(design, count, noise)
    return PerturbationTable(rows)


def magnitude_table(design: MagnitudeDesign) -> MagnitudeTable:
    """Compute the perturbation table of sums of a design."""
    every = design.noise(design.most)
    rows = np.zeros((len(design.rows) + 1, every.size))
    rows[0, every == 0] = 1.0
    for row, level in enumerate(design.rows, 1):
        noise = design.noise(level)
        rows[row, every.size - noise.size :] = _probabilities(design, level, noise)
    return MagnitudeTable(np.array([0.0, *design.rows]), every, rows)


def _probabilities(
    design: NoiseDesign | MagnitudeDesign, count: int, noise: LongArray | FloatArray
) -> FloatArray:
    stay, found = design.stay or 0.0, None
    for _ in range(_STAY_TRIES):
        found = _most_entropy(noise, design.variance, stay, design.monotone)
        met = found is not None and abs(found @ noise**2 - design.variance) <= _VARIANCE_MET
        if met or stay <= 0 or 0 not in noise:
            break
        stay = max(0.0, stay - _STAY_STEP)
    if found is None:
        raise FormulationError(
            f"no noise of at most {design.most} with variance {design.variance:g} is unbiased for a count of "
            f"{count}; raise the variance or the largest noise, or allow smaller counts"
        )
    return found


def _information(p: FloatArray) -> float:
    """Return the negative entropy."""
    return float(np.sum(p * np.log2(np.maximum(p, _TINY))))


def _its_slope(p: FloatArray) -> FloatArray:
    return np.asarray(np.log2(np.maximum(p, _TINY)) + 1.0 / np.log(2.0))


def _most_entropy(
    noise: LongArray | FloatArray, variance: float, stay: float, monotone: bool
) -> FloatArray | None:
    """Maximise entropy; return None if infeasible."""
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
        _information,
        np.full(size, 1.0 / size),
        jac=_its_slope,
        method="SLSQP",
        bounds=[(float(one), 1.0) for one in least],
        constraints=[
            LinearConstraint(equal, sums, sums),
            LinearConstraint(below, -np.inf, limits),
        ],
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return _exact(np.where(found.x < _NONE, 0.0, found.x), equal, sums)


def _exact(p: FloatArray, equal: FloatArray, sums: FloatArray) -> FloatArray:
    """Project probabilities onto the exact sums, which an optimiser meets up to its tolerance."""
    used = p > 0
    part = equal[:, used]
    p[used] -= part.T @ np.linalg.lstsq(part @ part.T, part @ p[used] - sums, rcond=None)[0]
    if (p < 0).any() or np.abs(equal @ p - sums).max() > 1e-9:
        raise AssertionError("the noise that was found is biased")
    return p
