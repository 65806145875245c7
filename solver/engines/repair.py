"""Linear programs that mend an attack: widen its margin, link one more block, give up the right blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from formulations.block_system import BlockSystem
from solver.engines.base import Clock
from solver.engines.linear import GrowingProgram
from solver.engines.scoring import STRICT, Scorer

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_MOST_ROUNDS = 60


class WidestMargin:
    """Maximise t such that every row of some open blocks has activity at least t.

    The rows enter as they are violated, so only a few dozen of thousands ever do.

    Parameters
    ----------
    system : BlockSystem
    scorer : Scorer
    clock : Clock
        Stops the rounds of row generation.
    """

    def __init__(self, system: BlockSystem, scorer: Scorer, clock: Clock) -> None:
        self._system, self._scorer, self._clock = system, scorer, clock
        self._program = GrowingProgram(
            system.aggregator, cost=np.array([-1.0]), lower=np.array([-1.0]), upper=np.array([1.0])
        )
        self._inside = np.zeros(system.open_blocks.size, dtype=bool)
        self._position: dict[int, int] = {}

    def require(self, blocks: IndexArray) -> None:
        """Ask for exactly these open blocks, switching off the rows of all others."""
        inside = np.zeros_like(self._inside)
        inside[blocks] = True
        self._inside = inside
        owner = self._system.row_open
        gone = [row for row in self._position if not inside[owner[row]]]
        self._program.relax(np.array([self._position.pop(row) for row in gone], dtype=np.intp))

    def solve(self) -> tuple[FloatArray, float] | None:
        """The parameters of widest margin and that margin; None when time ran out.

        The margin is that of all rows, so a value at or below zero says that the blocks cannot all be
        linked, up to the solver's tolerance.
        """
        for _ in range(_MOST_ROUNDS):
            point = self._program.solve(self._clock.remaining)
            if point is None or self._clock.expired:
                return None
            theta, margin = point[:-1], float(point[-1])
            if margin <= STRICT:
                return theta, margin
            rows, smallest = self._scorer.tightest_rows(theta)
            short = np.flatnonzero(self._inside & (smallest < margin - 1e-7))
            fresh = [row for row in rows[short] if row not in self._position]
            if not fresh:
                return theta, min(margin, float(smallest[self._inside].min(initial=margin)))
            block = self._system.matrix[fresh]
            ones = sparse.csr_array(np.full((len(fresh), 1), -1.0))
            places = self._program.add(
                sparse.csr_array(sparse.hstack([block, ones], format="csr")), np.zeros(len(fresh))
            )
            self._position.update(zip(fresh, places.tolist(), strict=True))
        return None


def hinge(
    system: BlockSystem, scorer: Scorer, clock: Clock, theta: FloatArray, width: float, rounds: int = 4
) -> list[FloatArray]:
    """Points that minimise a reweighted sum of shortfalls ``max(0, width - activity)`` over the blocks.

    The first is the hinge-loss linear program; each further one weighs a block by the inverse of its last
    shortfall, which approaches the count of blocks that fall short (Candes, Wakin and Boyd 2008).

    Parameters
    ----------
    system, scorer, clock
        As in `WidestMargin`.
    theta : ndarray of float64, shape (dimension,)
        Where the first rows are looked for.
    width : float
        The activity that every row should reach.
    rounds : int
        Times the blocks are weighed again.

    Returns
    -------
    list of ndarray
        Every point on the way, all inside the domain up to the solver's tolerance.
    """
    blocks = system.open_blocks.size
    program = GrowingProgram(
        system.aggregator, cost=system.open_weight, lower=np.zeros(blocks), upper=np.full(blocks, np.inf)
    )
    added: set[int] = set()
    points: list[FloatArray] = []
    shortfall = np.zeros(blocks)
    for weighing in range(rounds):
        for _ in range(25):
            rows, smallest = scorer.tightest_rows(theta)
            short = np.flatnonzero(smallest < width - shortfall - 1e-6)
            fresh = [row for row in rows[short] if row not in added]
            if (not fresh and points) or clock.expired:
                break
            owner = system.row_open[fresh]
            slack = sparse.csr_array(
                (np.ones(len(fresh)), owner, np.arange(len(fresh) + 1)), shape=(len(fresh), blocks)
            )
            rows_with_slack = sparse.hstack([system.matrix[fresh], slack], format="csr")
            program.add(sparse.csr_array(rows_with_slack), np.full(len(fresh), width))
            added.update(fresh)
            point = program.solve(clock.remaining)
            if point is None:
                return points
            theta, shortfall = point[: -blocks or None], point[-blocks:]
            points.append(theta)
        if clock.expired or weighing == rounds - 1:
            break
        program.price(system.open_weight * width / (shortfall + 0.1 * width))
        point = program.solve(clock.remaining)
        if point is None:
            break
        theta, shortfall = point[:-blocks], point[-blocks:]
        points.append(theta)
    return points
