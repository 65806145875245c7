"""The linear program of a hitting set, which grows by inequalities and is solved again after fixings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.programs import box_model
from linkrisk.solver.backends.linear.base import LinearOptions, LinearSolution, linear_program
from linkrisk.solver.certificates.checking.hitting import Inequality
from linkrisk.solver.certificates.writing.certifiable import CertificateError

_FINEST = 1e-10
"""How nearly optimal a program is where weights differ: HiGHS takes no less."""


class Relaxation:
    """Minimise ``weight . x`` for x in [0, 1] under the inequalities added so far.

    Parameters
    ----------
    weight : ndarray of float64, shape (blocks,)
    """

    def __init__(self, weight: FloatArray) -> None:
        self._scale = float(weight.max(initial=1.0))
        alike = bool((weight == self._scale).all())
        options = LinearOptions() if alike else LinearOptions(optimality=_FINEST)
        self._program = linear_program(box_model(weight / self._scale), options)
        self._solution: LinearSolution | None = None
        self._blocks = weight.size
        self._fixed: dict[int, bool] = {}
        self._rows: list[int] = []
        self._present: set[int] = set()

    def fresh(self, indices: Sequence[int]) -> list[int]:
        """Those inequalities that were not added yet; others are violated within the tolerance of HiGHS."""
        return [index for index in indices if index not in self._present]

    def add(self, index: int, inequality: Inequality) -> None:
        """Take an inequality; `index` is what `duals` calls it."""
        self._present.add(index)
        self._rows.append(index)
        blocks = np.array(list(inequality.coefficients), dtype=np.intp)
        values = np.array(list(inequality.coefficients.values()), dtype=np.float64)
        first, least, above = (
            np.zeros(1, dtype=np.intp),
            np.array([float(inequality.least)]),
            np.array([np.inf]),
        )
        self._program.add_row_entries(first, blocks, values, least, above)

    def fix(self, fixed: Mapping[int, bool]) -> None:
        """Give up or keep these blocks, and free all others."""
        freed = [*(self._fixed.keys() - fixed.keys())]
        self._program.change_column_bounds(
            np.array(freed, dtype=np.intp), np.zeros(len(freed)), np.ones(len(freed))
        )
        values = np.array([*fixed.values()], dtype=np.float64)
        self._program.change_column_bounds(np.array([*fixed], dtype=np.intp), values, values)
        self._fixed = dict(fixed)

    def solve(self) -> FloatArray:
        """A best point, shape (blocks,)."""
        if not self._rows:
            return np.array([float(self._fixed.get(block, False)) for block in range(self._blocks)])
        self._solution = self._program.solve()
        if not self._solution.optimal:
            raise CertificateError("the linear program of a hitting set could not be solved")
        return self._solution.point

    def duals(self) -> list[tuple[int, float]]:
        """(inequality, multiplier) where the multiplier is not zero, in units of the weights."""
        if self._solution is None:
            return []
        values = self._solution.duals * self._scale
        return [(index, float(value)) for index, value in zip(self._rows, values, strict=True) if value > 0.0]
