"""Selects the branching cell: reliability branching, and conflict scores where bounds give no guidance.

Pseudo-costs rank cells, with strong branching where they are not yet reliable: Achterberg, Koch and Martin
(2005) Branching rules revisited, Operations Research Letters 33, 42-54.

Where all cells cost the same, most branches leave the bound unchanged until a node is infeasible. Conflict
scores then rank cells: the fixings whose reduced costs have the wrong sign caused the infeasibility, and
cells that were often and recently among them lead to the next one soonest (weighted degrees of constraints:
Boussemart, Hemery, Lecoutre and Sais 2004, Boosting systematic search by weighting constraints; for conflicts
of mixed-integer programs: Achterberg and Berthold 2009, Hybrid branching).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.solver.tables import steering, tolerances
from linkrisk.solver.tables.suppression.relaxation import Relaxation


class Conflicts:
    """Conflict scores: how often each cell took part in an infeasibility.

    `cells`: their number. `weight` (cells,).
    """

    def __init__(self, cells: int) -> None:
        self.weight, self._step = np.zeros(cells), 1.0

    def found(self, ones: LongArray, zeros: LongArray, reduced: FloatArray) -> None:
        """Record a pruned node.

        Parameters
        ----------
        ones, zeros : ndarray of int64
            Cells that it suppresses, and publishes.
        reduced : ndarray of float64, shape (cells,)
            Of the relaxation there; 0 of cells that are decided for good.
        """
        guilty = np.concatenate(
            [ones[reduced[ones] > tolerances.REDUCED_COST], zeros[reduced[zeros] < -tolerances.REDUCED_COST]]
        )
        self.weight[guilty] += self._step
        self._step *= steering.CONFLICT_GROWTH
        if self._step > tolerances.LARGEST_WEIGHT:
            self.weight /= tolerances.LARGEST_WEIGHT
            self._step = 1.0


@dataclass(frozen=True)
class _Effort:
    """Effort of strong branching."""

    reliable: int  # trials from which the pseudo-costs of a cell are reliable
    iterations: int  # of the simplex method per trial
    most: int
    patience: int  # cells tried without improvement before it stops


_FEW, _MANY = _Effort(4, 40, 10, 4), _Effort(8, 400, 16, 6)


class PseudoCosts:
    """Pseudo-costs: the rise of the bound per unit of change of each cell.

    `cells`: their number. `alike`: whether all cost the same; strong branching then says little.
    """

    def __init__(self, cells: int, *, alike: bool = False) -> None:
        self._gain, self._count = np.zeros((2, cells)), np.zeros((2, cells))
        self._wide = np.inf if alike else steering.FAR_FROM_CUTOFF
        self.conflicts = Conflicts(cells)

    def choose(
        self, relaxation: Relaxation, point: FloatArray, bound: float, cutoff: float, *, flat: bool = False
    ) -> tuple[int, tuple[float, float]] | None:
        """Return a cell with the bounds of its branches to 0 and 1, or None if the point is integral.

        `relaxation`: just solved. `point` (k,). `bound`: of the node. `cutoff`: branches above it are pruned.
        `flat`: whether bounds give no guidance, so that conflict scores decide.
        """
        part = np.minimum(point, 1.0 - point)
        tried = np.flatnonzero(part > tolerances.INTEGRAL)
        if not tried.size:
            return None
        weight = self.conflicts.weight[relaxation.cells[tried]] * part[tried]
        if flat and weight.max() > 0.0:
            return int(tried[np.argmax(weight)]), (bound, bound)
        steps = np.stack([point[tried], 1.0 - point[tried]])
        guessed = self._guess(relaxation.cells[tried], relaxation.objective[tried]) * steps
        score = np.maximum(guessed[0], tolerances.LEAST_GAIN) * np.maximum(guessed[1], tolerances.LEAST_GAIN)
        order = np.argsort(-score, kind="stable")
        effort = _MANY if cutoff - bound > self._wide * cutoff else _FEW
        chosen, best, sides, idle, looks = int(tried[order[0]]), -1.0, (bound, bound), 0, 0
        for at in order:
            cell = int(tried[at])
            found = (bound, bound)
            if self._count[:, relaxation.cells[cell]].min() < effort.reliable and looks < effort.most:
                found = self._trial_bounds(relaxation, cell, bound, steps[:, at], effort.iterations)
                looks += 1
                if max(found) > cutoff:  # one branch is infeasible: branch on it at once
                    return cell, found
                gains = (found[0] - bound, found[1] - bound)
            else:
                gains = (guessed[0, at], guessed[1, at])
            value = max(gains[0], tolerances.LEAST_GAIN) * max(gains[1], tolerances.LEAST_GAIN)
            if value > best:
                chosen, best, sides, idle = cell, value, found, 0
            elif (idle := idle + 1) >= effort.patience:
                break
        return chosen, sides

    def _trial_bounds(
        self, relaxation: Relaxation, cell: int, bound: float, steps: FloatArray, iterations: int
    ) -> tuple[float, float]:
        sides = [max(bound, relaxation.look(cell, value, iterations)) for value in (0.0, 1.0)]
        for side in (0, 1):
            if np.isfinite(sides[side]):
                self._gain[side, relaxation.cells[cell]] += (sides[side] - bound) / steps[side]
                self._count[side, relaxation.cells[cell]] += 1
        return sides[0], sides[1]

    def _guess(self, tried: LongArray, objective: FloatArray) -> FloatArray:
        """Estimate the gain per unit, shape (2, t): from the cell, else from all cells by their costs."""
        known = self._count[:, tried]
        usual = self._gain.sum() / max(1.0, self._count.sum())
        share = np.sqrt(objective / max(float(objective.mean()), 1e-12))
        return np.where(
            known > 0, self._gain[:, tried] / np.maximum(known, 1), max(usual, tolerances.LEAST_GAIN) * share
        )
