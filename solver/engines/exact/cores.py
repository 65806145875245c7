"""Infeasible cores: small sets of blocks that cannot all be linked, each with multipliers that prove it.

A core comes from the linear program of the widest margin: when no parameters give its rows a positive
margin, the dual multipliers combine the rows into one that is nowhere positive on the domain (Farkas). At
most dimension + 1 rows have a multiplier (Gleeson and Ryan 1990; Parker and Ryan 1996).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.block_system import BlockSystem
from solver.engines.base import Clock
from solver.engines.repair import WidestMargin
from solver.engines.scoring import STRICT, Scorer

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
Core = frozenset[int]

ROUNDING = 1e-14
"""More than the rounding error of a combination of rows of unit length with multipliers that sum to one."""

_MOST_CUT_ROUNDS = 25


class Answer(NamedTuple):
    """Parameters that link all the blocks asked for, or a core among them; neither when undecided."""

    theta: FloatArray | None = None
    core: Core | None = None


class CoreFinder:
    """Asks whether open blocks can all be linked, again and again, by one growing linear program.

    Parameters
    ----------
    system : BlockSystem
    scorer : Scorer
    clock : Clock
        Questions asked after its end stay undecided.
    """

    def __init__(self, system: BlockSystem, scorer: Scorer, clock: Clock) -> None:
        self._system, self._scorer, self._clock = system, scorer, clock
        self._program = WidestMargin(system, scorer, clock)
        self._domain = system.aggregator.domain()

    def ask(self, blocks: IndexArray) -> Answer:
        """Link all of these open blocks, or find a core among them."""
        self._program.require(blocks)
        for _ in range(_MOST_CUT_ROUNDS):
            solution = self._program.solve(widest=False)
            if solution is None:
                return Answer()
            theta, margin = solution
            if margin <= STRICT:
                return Answer(core=self._core())
            cuts = self._system.aggregator.cuts(theta)
            if len(cuts) == 0:
                return Answer(theta=theta)
            self._program.cut(cuts)
        return Answer()

    def shrink(self, core: Core, order: Sequence[int]) -> tuple[Core, list[FloatArray]]:
        """Leave blocks out of a core, in this order, as long as the rest is still one.

        Returns
        -------
        core : frozenset of int
            A core, and none of its blocks could be left out in its turn.
        points : list of ndarray
            Parameters that link the core without one of its blocks.
        """
        points: list[FloatArray] = []
        for block in order:
            if block not in core or len(core) == 1:
                continue
            answer = self.ask(np.array(sorted(core - {block}), dtype=np.intp))
            if answer.core is not None:
                core = answer.core
            elif answer.theta is not None:
                points.append(answer.theta)
        return core, points

    def _core(self) -> Core | None:
        """The blocks of the rows with multipliers, if these prove that they cannot all be linked."""
        rows, cuts, domain = self._program.multipliers()
        used = np.flatnonzero(rows > 1e-11 * rows.max(initial=0.0))
        total = rows[used].sum()
        if used.size == 0 or total <= 0.0:
            return None
        matrix = self._system.matrix[self._program.rows[used]]
        combined = matrix.T @ (rows[used] / total) + self._program.cuts.T @ (cuts / total)
        if self._largest(np.asarray(combined), -domain / total) >= -ROUNDING:
            return None
        return frozenset(self._system.row_open[self._program.rows[used]].tolist())

    def _largest(self, row: FloatArray, multipliers: FloatArray) -> float:
        """An upper bound of ``row @ theta`` over the domain: weak duality holds for any multipliers."""
        domain = self._domain
        allowed = np.where(np.isinf(domain.row_upper), np.minimum(multipliers, 0.0), multipliers)
        allowed = np.where(np.isinf(domain.row_lower), np.maximum(allowed, 0.0), allowed)
        upper = np.where(allowed > 0.0, domain.row_upper, domain.row_lower)
        fixed = float((allowed * np.where(allowed == 0.0, 0.0, upper)).sum())
        rest = row - domain.matrix.T @ allowed
        return fixed + float(np.maximum(rest * domain.column_lower, rest * domain.column_upper).sum())
