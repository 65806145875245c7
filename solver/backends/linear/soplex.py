"""Keep linear programs in SoPlex between solves, through PySCIPOpt's interface to it."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.programs import LinearModel
from linkrisk.solver.backends.linear.base import (
    LinearOptions,
    LinearProgram,
    LinearSolution,
    LinearStatus,
)

if TYPE_CHECKING:
    import pyscipopt

_MOST_ITERATIONS = 2**31 - 1

_NOTHING = 1e-9
"""Multipliers up to this size are rounding errors."""

_PROVEN = 1e-6
"""Relative tolerance between an optimum and its dual bound."""


class SoplexProgram(LinearProgram):
    """SoPlex: the dual simplex method, one thread. Slower to change than HiGHS, one number at a time."""

    name: ClassVar[str] = "soplex"
    requires: ClassVar[tuple[str, ...]] = ("pyscipopt",)

    def change_objective(self, positions: NDArray[Any], objective: FloatArray) -> None:
        """Give columns other costs."""
        for column, cost in zip(positions.tolist(), objective.tolist(), strict=True):
            self._lp.chgObj(column, cost)

    def change_column_bounds(self, positions: NDArray[Any], lower: FloatArray, upper: FloatArray) -> None:
        """Give columns other bounds."""
        for column, low, high in zip(positions.tolist(), *self._bounds(lower, upper), strict=True):
            self._lp.chgBound(column, low, high)

    def change_row_bounds(self, positions: NDArray[Any], lower: FloatArray, upper: FloatArray) -> None:
        """Give rows other bounds."""
        for row, low, high in zip(positions.tolist(), *self._bounds(lower, upper), strict=True):
            self._lp.chgSide(row, low, high)

    def solve(self, *, seconds: float | None = None, iterations: int | None = None) -> LinearSolution:
        """Solve from the last basis."""
        from pyscipopt import SCIP_LPPARAM

        self._lp.setRealParam(SCIP_LPPARAM.LPTILIM, self._infinity if seconds is None else seconds)
        self._lp.setIntParam(SCIP_LPPARAM.LPITLIM, _MOST_ITERATIONS if iterations is None else iterations)
        try:
            self._lp.solve()
            sound = not self._lp.isOptimal() or self._is_proven()
        except Exception:  # deleted rows may leave no basis
            sound = False
        if not sound:
            self.forget_basis()
            self._lp.solve()
        spent = int(self._lp.getNIterations())
        status, ray = self._ended(limited=(seconds is not None, iterations is not None))
        found = status is LinearStatus.OPTIMAL
        point = np.array(self._lp.getPrimal()) if found else np.zeros(self.columns)
        duals = np.array(self._lp.getDual()) if found else np.zeros(self.rows)
        objective = float(self._lp.getObjVal()) + self._constant if found else None
        return LinearSolution(status, objective, lambda: point, lambda: duals, ray, spent)

    def forget_basis(self) -> None:
        """Solve from the slack basis next time."""
        from pyscipopt import SCIP_BASESTAT

        lower, upper = self._lp.getBounds() if self.columns else ([], [])
        columns = [
            SCIP_BASESTAT.LOWER
            if low > -self._infinity
            else SCIP_BASESTAT.UPPER
            if high < self._infinity
            else SCIP_BASESTAT.ZERO
            for low, high in zip(lower, upper, strict=True)
        ]
        self._lp.setBase(columns, [SCIP_BASESTAT.BASIC] * self.rows)

    def _is_proven(self) -> bool:
        """Check an optimum by its duals: after a bound was relaxed, SoPlex has reported an old point."""
        sides = self._lp.getSides() if self.rows else ([], [])
        bounds = self._lp.getBounds() if self.columns else ([], [])
        proven = 0.0
        for multipliers, (lower, upper) in ((self._lp.getDual(), sides), (self._lp.getRedcost(), bounds)):
            factor = np.array(multipliers)
            limit = np.where(factor > 0.0, lower, upper)
            proven += float((factor * np.where(np.abs(factor) <= _NOTHING, 0.0, limit)).sum())
        value = float(self._lp.getObjVal())
        return abs(value - proven) <= _PROVEN * max(1.0, abs(value))

    def _ended(self, limited: tuple[bool, bool]) -> tuple[LinearStatus, FloatArray | None]:
        if self._lp.isOptimal():
            return LinearStatus.OPTIMAL, None
        ray = self._lp.getDualRay()
        if ray is not None:
            return LinearStatus.INFEASIBLE, np.array(ray)
        if self._lp.getPrimalRay() is not None:
            return LinearStatus.UNBOUNDED, None
        by_time, by_iterations = limited
        if by_iterations:
            return LinearStatus.ITERATIONS, None
        return (LinearStatus.TIME if by_time else LinearStatus.FAILED), None

    def _bounds(self, lower: FloatArray, upper: FloatArray) -> tuple[list[float], list[float]]:
        infinity = self._infinity
        return np.maximum(lower, -infinity).tolist(), np.minimum(upper, infinity).tolist()

    def _load(self, model: LinearModel, options: LinearOptions) -> None:
        from pyscipopt import LP, SCIP_LPPARAM

        self._lp, self._constant = LP(), model.constant
        self._infinity = min(float(self._lp.infinity()), math.inf)
        self._lp.setRealParam(SCIP_LPPARAM.FEASTOL, options.feasibility)
        self._lp.setRealParam(SCIP_LPPARAM.DUALFEASTOL, options.optimality)
        bounds = self._bounds(model.column_lower, model.column_upper)
        self._lp.addCols([[] for _ in range(self.columns)], model.objective.tolist(), *bounds)
        if model.shape[0]:
            matrix = model.matrix
            self._add_rows(matrix.indptr[:-1], matrix.indices, matrix.data, model.row_lower, model.row_upper)

    def _add_rows(
        self,
        starts: NDArray[Any],
        columns: NDArray[Any],
        values: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> None:
        entries = _entries(np.append(starts, values.size), columns, values)
        self._lp.addRows(entries, *self._bounds(lower, upper))

    def _delete_rows(self, positions: IndexArray) -> None:
        for row in positions[::-1].tolist():
            self._lp.delRows(row, row)

    _lp: pyscipopt.LP


def _entries(starts: NDArray[Any], places: NDArray[Any], values: FloatArray) -> list[list[tuple[int, float]]]:
    pairs = list(zip(places.tolist(), values.tolist(), strict=True))
    ends = starts.tolist()
    return [pairs[begin:end] for begin, end in pairwise(ends)]
