"""Solves the linear relaxation with mixed-integer rounding cuts and safe dual bounds.

The relaxation keeps its cutting planes and holds the open cells only; fixed cells move to the right-hand
sides.

Rounding cuts combine rows into one that integral points satisfy and the optimum of the relaxation violates.
For multipliers u >= 0 the rows give ``u A x >= u b``. With v = u A and f0 the fractional part of u b, every
integral x >= 0 satisfies ``sum (floor(v_j) + min(1, frac(v_j) / f0)) x_j >= ceil(u b)`` (mixed integer
rounding, Nemhauser and Wolsey 1990). The multipliers are rows of the basis inverse without their integral
parts, and multiples of them: with determinant 2 these are the zero-half cuts of Caprara and Fischetti (1996).

Some multipliers are negative. The slack s >= 0 of such a row is continuous, with ``u A x + |u| s >= u b``;
its coefficient in the rounded row is ``|u| / f0`` (Gomory 1960), and it is substituted by ``A x - b``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.programs import Cuts, LinearModel
from linkrisk.solver.backends.linear.base import LinearOptions, LinearProgram, LinearSolution, linear_program
from linkrisk.solver.tables import steering, tolerances

_OPTIONS = LinearOptions(own={"presolve": "off"})


@dataclass(frozen=True, eq=False)
class Solved:
    """Result of solving the relaxation."""

    point: FloatArray  # (k,) of the open cells
    # dual bound, rounded safely; inf if the relaxation is infeasible
    bound: float
    # (k,) least rise of the bound per cell that leaves its bound
    reduced: FloatArray
    optimal: bool  # False if the solve was cut short or the relaxation is infeasible


class Relaxation:
    """Linear program: ``minimise objective x`` over rows ``matrix x >= right`` and the bounds.

    `rows`: over all cells; lower bounds only. `objective`, `lower`, `upper` (n,): a cell whose bounds are
    equal is fixed. `cells` (k,): the open ones. `objective`, `lower`, `upper` (k,): theirs. `constant`: cost
    of the fixed cells. `matrix` (r, k). `right` (r,). `age`: solves after which a row that was slack in all
    of them is removed.
    """

    def __init__(self, rows: Cuts, objective: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
        self.cells: LongArray = np.flatnonzero(upper > lower)
        self._decided = np.where(upper > lower, 0.0, lower)
        self._place = np.full(objective.size, -1)
        self._place[self.cells] = np.arange(self.cells.size)
        self.constant = float(objective @ self._decided)
        self.objective = objective[self.cells]
        self.lower, self.upper = lower[self.cells].copy(), upper[self.cells].copy()
        self._now = (self.lower, self.upper)
        self.matrix, self.right = self.open_part(rows)
        self.age = steering.ROW_AGE
        self._kept, self._age = self.right.size, np.zeros(self.right.size)
        self._everyone = np.arange(self.cells.size)
        self._program = self._handed_over()

    def whole_point(self, point: FloatArray) -> FloatArray:
        """Extend a point to all cells, shape (n,)."""
        found = self._decided.copy()
        found[self.cells] = point
        return found

    def bounds_where(self, ones: LongArray, zeros: LongArray) -> tuple[FloatArray, FloatArray] | None:
        """Return bounds of the open cells with some cells suppressed and some published.

        None if one of them is fixed otherwise.
        """
        lower, upper = self.lower.copy(), self.upper.copy()
        for cells, value in ((ones, 1.0), (zeros, 0.0)):
            place = self._place[cells]
            gone = place < 0
            if (self._decided[cells[gone]] != value).any():
                return None
            place = place[~gone]
            if ((value < lower[place]) | (value > upper[place])).any():
                return None
            lower[place] = upper[place] = value
        return lower, upper

    @property
    def program(self) -> LinearProgram:
        """The program of the optimiser."""
        return self._program

    def rows(self) -> Cuts:
        """All rows, over all cells."""
        spread = sparse.csr_array(
            (self.matrix.data, self.cells[self.matrix.indices], self.matrix.indptr),
            shape=(self.right.size, self._decided.size),
        )
        return Cuts(spread, self.right, np.full(self.right.size, np.inf))

    def restrict(self, lower: FloatArray, upper: FloatArray) -> None:
        """Set the bounds for the next solves, shape (k,)."""
        self._now = (lower, upper)
        self._program.change_column_bounds(self._everyone, lower, upper)

    def solve(self, iterations: int | None = None) -> Solved:
        """Solve with a warm start from the last basis."""
        found = self._program.solve(iterations=iterations)
        if self._impossible(found, self._now):
            return Solved(self.lower, np.inf, np.zeros(self.lower.size), optimal=False)
        bound, reduced = self._safe(found.duals)
        point = np.clip(found.point, *self._now)
        if found.optimal:
            slack = self.matrix @ point - self.right
            self._age = np.where(slack > tolerances.SLACK, self._age + 1.0, 0.0)
        return Solved(point, bound, reduced, found.optimal)

    def look(self, place: int, value: float, iterations: int) -> float:
        """Strong branching: bound with one cell fixed, after few iterations."""
        lower, upper = self._now
        at, given = np.array([place]), np.array([value])
        self._program.change_column_bounds(at, given, given)
        found = self._program.solve(iterations=iterations)
        self._program.change_column_bounds(at, lower[at], upper[at])
        low, high = lower.copy(), upper.copy()
        low[place] = high[place] = value
        return np.inf if self._impossible(found, (low, high)) else self._safe(found.duals, (low, high))[0]

    def add_open(self, matrix: sparse.csr_array, right: FloatArray) -> None:
        """Add rows over the open cells and remove those that were slack for long."""
        if not right.size:
            return
        self._purge()
        self._program.add_rows(matrix, right, np.full(right.size, np.inf))
        self.matrix = _stacked(self.matrix, matrix)
        self.right = np.concatenate([self.right, right])
        self._age = np.concatenate([self._age, np.zeros(right.size)])

    def decide(self, zeros: BoolArray, ones: BoolArray) -> None:
        """Fix cells as published or suppressed, shape (k,), for the rest of the search.

        Earlier fixings stay: the reduced cost of a fixed cell does not exclude the other value.
        """
        still = self.upper > self.lower
        self.upper[zeros & still], self.lower[ones & still] = 0.0, 1.0

    def smaller(self, objective: FloatArray) -> Relaxation:
        """Return the relaxation without the cells fixed since; `objective` is that of all cells."""
        none = np.zeros(objective.size, dtype=np.bool_)
        return self.where(none, none, objective)

    def where(self, zeros: BoolArray, ones: BoolArray, objective: FloatArray) -> Relaxation:
        """Return the relaxation with some cells published and some suppressed, unless fixed otherwise."""
        lower, upper = self.limits(zeros, ones)
        found = Relaxation(self.rows(), objective, lower, upper)
        found._kept = self._kept
        return found

    def limits(self, zeros: BoolArray, ones: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return bounds of all cells with some published and some suppressed, unless fixed otherwise."""
        lower, upper = self._decided.copy(), self._decided.copy()
        lower[self.cells], upper[self.cells] = self.lower, self.upper
        still = upper > lower
        upper[zeros & still], lower[ones & still] = 0.0, 1.0
        return lower, upper

    def open_ones(self) -> BoolArray:
        """Tell which of all cells are open, shape (n,)."""
        found = np.zeros(self._decided.size, dtype=np.bool_)
        found[self.cells] = self.upper > self.lower
        return found

    # ---- parts

    def open_part(self, rows: Cuts) -> tuple[sparse.csr_array, FloatArray]:
        """Restrict rows to the open cells; the others move to the right-hand sides."""
        matrix = rows.matrix
        right = rows.lower - matrix @ self._decided
        place = self._place[matrix.indices]
        inside = place >= 0
        kept = np.concatenate([[0], np.cumsum(inside)])[matrix.indptr]
        return _rows_of(matrix.data[inside], place[inside], kept, self.cells.size), right

    def _handed_over(self) -> LinearProgram:
        model = LinearModel(
            objective=self.objective,
            matrix=self.matrix,
            row_lower=self.right,
            row_upper=np.full(self.right.size, np.inf),
            column_lower=self.lower,
            column_upper=self.upper,
        )
        return linear_program(model, _OPTIONS)

    def _purge(self) -> None:
        roomy = self.right.size <= steering.ROWS_PER_CELL * self.cells.size
        old = np.flatnonzero(self._age > (self.age if roomy else steering.ROW_AGE))
        old = old[old >= self._kept]
        if old.size < steering.ROWS_REMOVED:
            return
        self._program.delete_rows(old)
        stays = np.ones(self.right.size, dtype=np.bool_)
        stays[old] = False
        self.matrix, self.right, self._age = self.matrix[stays], self.right[stays], self._age[stays]

    def _impossible(self, found: LinearSolution, bounds: tuple[FloatArray, FloatArray]) -> bool:
        """Prove infeasibility by multipliers whose row no point within the bounds satisfies."""
        if found.status != "infeasible" or found.ray is None:
            return bool(found.status == "infeasible")
        for ray in (found.ray, -found.ray):
            y = np.maximum(ray, 0.0)
            row = self.matrix.T @ y
            most, wanted = float(np.maximum(row * bounds[0], row * bounds[1]).sum()), float(y @ self.right)
            if wanted - most > tolerances.INFEASIBLE * (abs(most) + float(y @ np.abs(self.right))):
                return True
        return False

    def _safe(
        self, duals: FloatArray, bounds: tuple[FloatArray, FloatArray] | None = None
    ) -> tuple[float, FloatArray]:
        """Return a safe dual bound for any multipliers, and reduced costs.

        ``c x >= y b + (c - y A) x`` for every y >= 0, and the last term is at least its minimum over the
        bounds. A sum of k products is off by at most k u times the sum of their absolute values (Higham,
        Accuracy and stability of numerical algorithms, section 3.1), which is subtracted.
        """
        lower, upper = self._now if bounds is None else bounds
        used = np.flatnonzero(duals > 0.0)
        rows, y, right = self.matrix[used], duals[used], self.right[used]
        reduced = self.objective - rows.T @ y
        parts = np.minimum(reduced * lower, reduced * upper)
        size = float(y @ np.abs(right)) + float(np.abs(parts).sum()) + abs(self.constant)
        size += float(self.objective.sum()) + float(np.abs(rows.data) @ np.repeat(y, np.diff(rows.indptr)))
        error = size * (y.size + parts.size + 8) * np.finfo(np.float64).eps
        return self.constant + float(y @ right) + float(parts.sum()) - error, reduced


def _rows_of(data: FloatArray, columns: LongArray, starts: LongArray, width: int) -> sparse.csr_array:
    return sparse.csr_array((data, columns, starts), shape=(starts.size - 1, width))


def _stacked(first: sparse.csr_array, second: sparse.csr_array) -> sparse.csr_array:
    return _rows_of(
        np.concatenate([first.data, second.data]),
        np.concatenate([first.indices, second.indices]),
        np.concatenate([first.indptr, first.indptr[-1] + second.indptr[1:]]),
        first.shape[1],
    )


def rounding_cuts(relaxation: Relaxation, point: FloatArray) -> tuple[sparse.csr_array, FloatArray]:
    """Return violated rounding cuts over the open cells, with their right-hand sides.

    `relaxation`: just solved. `point` (k,): its optimum.
    """
    basic = relaxation.program.basic_columns()
    part = np.where(basic >= 0, np.minimum(point, 1.0 - point)[np.maximum(basic, 0)], 0.0)
    places = np.argsort(-part, kind="stable")[: min(steering.BASIS_ROWS, int((part > 1e-3).sum()))]
    if not places.size:
        return sparse.csr_array((0, point.size)), np.zeros(0)
    inverse = relaxation.program.inverse_rows(places)
    multipliers = np.concatenate([multiple * inverse for multiple in steering.BASIS_ROW_MULTIPLES])
    multipliers -= np.floor(multipliers + tolerances.CUT_ZERO)
    multipliers[multipliers < tolerances.CUT_ZERO] = 0.0
    rows, right = _mixed(relaxation, np.concatenate([multipliers, inverse, -inverse]), point)
    kept = _chosen(rows, right, point)
    return sparse.csr_array(rows[kept]), right[kept]


def _mixed(
    relaxation: Relaxation, multipliers: FloatArray, point: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Round rows by multipliers of either sign, shape (c, r)."""
    rows, right, rest = rounded(multipliers @ relaxation.matrix, multipliers @ relaxation.right, point)
    below = np.maximum(-multipliers, 0.0)
    mixed = np.flatnonzero((below > tolerances.CUT_ZERO).any(axis=1) & (rest > 0.0))
    share = (tolerances.CUT_UP / rest[mixed])[:, None] * below[mixed]
    more, most = share @ relaxation.matrix, share @ relaxation.right
    rows[mixed] += more
    right[mixed] += most - tolerances.CUT_MARGIN * (
        1.0 + np.abs(more).sum(axis=1) + share @ np.abs(relaxation.right)
    )
    tiny = np.abs(rows) < tolerances.CUT_COEFFICIENT * np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    right -= np.where(tiny, np.maximum(rows, 0.0), 0.0).sum(axis=1)
    rows[tiny] = 0.0
    return rows, right


def rounded(
    sums: FloatArray, right: FloatArray, point: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Round rows ``sums x >= right`` into ones that all points of zeros and ones satisfy.

    Cells near 1 are complemented: for ``1 - x`` the same holds as for x.

    `sums` (c, k). `right` (c,). `point` (k,): to be cut off. Returns: a row of zeros where rounding gives
    nothing. Returns (c,): f0; 0 where rounding gives nothing.
    """
    turned = point > 1.0 - 1e-6
    right = right - sums[:, turned].sum(axis=1)
    sums = np.where(turned, -sums, sums)
    whole = np.floor(sums + tolerances.CUT_ZERO)
    part = np.maximum(sums - whole, 0.0)
    little = part < tolerances.CUT_ZERO
    right = (
        right
        - np.where(little, part, 0.0).sum(axis=1)
        - tolerances.CUT_MARGIN * (1.0 + np.abs(sums).sum(axis=1))
    )
    part[little] = 0.0
    below = np.floor(right)
    rest = right - below
    useful = (rest > steering.LEAST_FRACTION) & (rest < steering.MOST_FRACTION)
    rows = whole + np.minimum(
        1.0, part * tolerances.CUT_UP / np.maximum(rest, steering.LEAST_FRACTION)[:, None]
    )
    rows = np.where(useful[:, None], np.where(turned, -rows, rows), 0.0)
    return rows, np.where(useful, below + 1.0 + rows[:, turned].sum(axis=1), 0.0), np.where(useful, rest, 0.0)


def _chosen(rows: FloatArray, right: FloatArray, point: FloatArray) -> list[int]:
    """Select the deepest cuts, no two of them nearly parallel."""
    there = point > 1e-6  # other cells are in no violation, however many there are
    shown = rows[:, there]
    length = np.sqrt((shown * shown).sum(axis=1))
    length[length == 0.0] = 1.0
    depth = (right - shown @ point[there]) / length
    order = np.argsort(-depth, kind="stable")
    order = order[depth[order] > steering.LEAST_CUT_DEPTH][: 5 * steering.CUTS_PER_ROUND]
    normal = shown[order] / length[order, None]
    alike = normal @ normal.T
    kept: list[int] = []
    for at in range(order.size):
        if not kept or alike[at, kept].max() < steering.PARALLEL_CUTS:
            kept.append(at)
            if len(kept) == steering.CUTS_PER_ROUND:
                break
    return [int(order[at]) for at in kept]
