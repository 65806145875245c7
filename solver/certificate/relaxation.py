"""The linear program of a hitting set, which grows by inequalities and is solved again after fixings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from solver.certificate.certifiable import CertificateError
from solver.verification.hitting import Inequality

FloatArray = NDArray[np.float64]


class Relaxation:
    """Minimise ``weight . x`` for x in [0, 1] under the inequalities added so far.

    Parameters
    ----------
    weight : ndarray of float64, shape (blocks,)
    """

    def __init__(self, weight: FloatArray) -> None:
        import highspy

        self._scale = float(weight.max(initial=1.0))
        self._highs = highspy.Highs()
        self._highs.setOptionValue("output_flag", False)
        self._highs.setOptionValue("threads", 1)
        blocks = weight.size
        none = np.empty(0, dtype=np.int32)
        self._highs.addCols(
            blocks, weight / self._scale, np.zeros(blocks), np.ones(blocks), 0, none, none, np.empty(0)
        )
        self._blocks = blocks
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
        blocks = np.array(list(inequality.coefficients), dtype=np.int32)
        values = np.array(list(inequality.coefficients.values()), dtype=np.float64)
        self._highs.addRow(float(inequality.least), np.inf, blocks.size, blocks, values)

    def fix(self, fixed: Mapping[int, bool]) -> None:
        """Give up or keep these blocks, and free all others."""
        for block in self._fixed.keys() - fixed.keys():
            self._highs.changeColBounds(block, 0.0, 1.0)
        for block, given_up in fixed.items():
            self._highs.changeColBounds(block, float(given_up), float(given_up))
        self._fixed = dict(fixed)

    def solve(self) -> FloatArray:
        """A best point, shape (blocks,)."""
        import highspy

        if not self._rows:
            return np.array([float(self._fixed.get(block, False)) for block in range(self._blocks)])
        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise CertificateError("HiGHS did not solve the linear program of a hitting set")
        return np.asarray(self._highs.getSolution().col_value)

    def duals(self) -> list[tuple[int, float]]:
        """(inequality, multiplier) where the multiplier is not zero, in units of the weights."""
        if not self._rows:
            return []
        values = np.asarray(self._highs.getSolution().row_dual) * self._scale
        return [(index, float(value)) for index, value in zip(self._rows, values, strict=True) if value > 0.0]
