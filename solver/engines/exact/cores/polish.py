"""Multipliers with more digits than a linear program gives: iterative refinement in scaled programs.

Where blocks exclude each other by no more than a tie, the multipliers that prove it must be right to some
fourteen digits; a simplex method stops at a tolerance of 1e-7. So the error of its answer, scaled up, is
solved for by another program of the same matrix, and again (Gleixner, Steffy and Wolter, Iterative refinement
for linear programming, INFORMS Journal on Computing 28, 2016).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.domains import DomainRows
from linkrisk.solver.engines.attacks.growing_program import new_program
from linkrisk.solver.engines.attacks.repair import Multipliers

_SCALES = (1.0, 1e6, 1e8, 1e10)
"""By how much the error is enlarged, step by step: 1e-7 of the last is the rounding of one."""


class Polished(NamedTuple):
    """A point of (nearly) the widest margin, that margin, and multipliers that prove it to be the widest.

    Those of rows and cuts are not negative; those of the domain's rows have either sign.
    """

    theta: FloatArray
    margin: float
    multipliers: Multipliers


def polished(domain: DomainRows, rows: sparse.csr_array, cuts: FloatArray) -> Iterator[Polished]:
    """Find the largest t such that ``rows @ theta >= t`` in the domain, with more and more digits.

    `rows` (any, dimension): rows of unit length. `cuts` (any, dimension): rows that must be non-negative
    besides. Yields: each better than the one before, until HiGHS sees no more than rounding.
    """
    (count, dimension), others = rows.shape, len(cuts) + domain.row_lower.size
    t = sparse.csr_array(-np.repeat([0.0, 1.0], [others, count])[:, None])
    activity = sparse.hstack([sparse.vstack([sparse.csr_array(cuts), domain.matrix, rows]), t])
    # One column for each row's activity, so that all rows are equations and only columns have bounds.
    matrix = sparse.csr_array(sparse.hstack([activity, -sparse.eye_array(others + count)]))
    bounds = (
        np.concatenate([domain.column_lower, [-1.0], np.zeros(len(cuts)), domain.row_lower, np.zeros(count)]),
        np.concatenate(
            [domain.column_upper, [1.0], np.full(len(cuts), np.inf), domain.row_upper, np.full(count, np.inf)]
        ),
    )
    cost = np.zeros(matrix.shape[1])
    cost[dimension] = -1.0
    for point, duals in _refined(matrix, *bounds, cost):
        of_cuts, of_domain, of_rows = np.split(duals, [len(cuts), others])
        multipliers = Multipliers(np.clip(of_rows, 0.0, None), np.clip(of_cuts, 0.0, None), of_domain)
        yield Polished(point[:dimension], float(point[dimension]), multipliers)


def _refined(
    matrix: sparse.csr_array, lower: FloatArray, upper: FloatArray, cost: FloatArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Solutions and duals of ``min cost @ x``, ``matrix @ x = 0``, ``lower <= x <= upper``, ever better."""
    point, duals = np.zeros(cost.size), np.zeros(matrix.shape[0])
    for scale in _SCALES:
        error = -scale * (matrix @ point)
        reduced = scale * (cost - matrix.T @ duals)
        program = new_program(matrix, reduced, scale * (lower - point), scale * (upper - point), error, error)
        solution = program.solve()
        if not solution.optimal:
            return
        point = point + solution.point / scale
        duals = duals + solution.duals / scale
        yield point, duals
