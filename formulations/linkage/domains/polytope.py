"""A polytope of parameters: its rows describe it completely."""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.domains.base import Domain


class Polytope(Domain):
    """A domain that `rows` describe completely.

    A subclass defines `rows`, `repair` and `sample`, and `exact` where rounding could matter.
    """

    def chord(self, theta: FloatArray, direction: FloatArray) -> tuple[float, float]:
        """Where the first row or bound is met in either direction."""
        rows = self.rows
        activity, slope = rows.matrix @ theta, rows.matrix @ direction
        room = [activity - rows.row_lower, rows.row_upper - activity]
        slack = np.concatenate([*room, theta - rows.column_lower, rows.column_upper - theta])
        loss = np.concatenate([-slope, slope, -direction, direction])
        # Rows that the direction follows (a fixed sum) lose nothing but a rounding.
        noise = 1e-12 * np.abs(direction).max(initial=1e-300)
        left = np.clip(slack, 0.0, None)
        forward = np.isfinite(slack) & (loss > noise)
        backward = np.isfinite(slack) & (loss < -noise)
        high = (left[forward] / loss[forward]).min(initial=1e6)
        low = (left[backward] / loss[backward]).max(initial=-1e6)
        return float(low), float(high)

    def cuts(self, theta: FloatArray) -> FloatArray:
        """None: `rows` are complete."""
        del theta
        return np.empty((0, self.dimension))
