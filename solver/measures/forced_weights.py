"""How much of an importance is forced: its range over all parameters that keep the linked records linked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.aggregators.base import SimplexAggregator
from linkrisk.formulations.linkage.aggregators.mahalanobis import Mahalanobis
from linkrisk.formulations.linkage.block_system import BlockSystem, block_system, system_of
from linkrisk.formulations.linkage.domains import Polytope, Simplex
from linkrisk.formulations.linkage.pair import LinkagePair

_AT_ONCE = 200
"""Rows that a program begins with, and that each round adds at most."""

_ROUNDED = 1e-6
"""Ends this near to 0 or 1 are these: optimisers keep rows to a tenth of it."""

MOST_PAIRS = 40_000_000
"""Pairs of a linked record and a candidate up to which rows are made."""

_MISSED = 1e-9
"""By what a row of unit length may be missed."""


@dataclass(frozen=True, eq=False)
class Importances:
    """What people read as the importance of attributes, linear in the parameters."""

    owners: tuple[str, ...]  # attributes; of an OWA ranks
    matrix: FloatArray  # (owners, dimension): ``matrix @ theta`` are the importances


def importances(aggregator: Aggregator) -> Importances:
    """Weights, Shapley values (linear in the measure), or the diagonal of the quadratic form, as a matrix."""
    units = np.eye(aggregator.dimension)
    if isinstance(aggregator, Mahalanobis):
        first, second = aggregator.domain.triangle
        return Importances(aggregator.attributes, units[first == second])
    shares = [aggregator.importance(unit) for unit in units]
    if isinstance(aggregator, SimplexAggregator) or shares[0] is None:
        named = aggregator.dimension == len(aggregator.attributes) and shares[0] is not None
        owners = aggregator.attributes if named else tuple(f"rank {k + 1}" for k in range(len(units)))
        return Importances(owners, units)
    columns = [[share[name] for name in aggregator.attributes] for share in shares if share is not None]
    return Importances(aggregator.attributes, np.array(columns).T)


@dataclass(frozen=True, eq=False)
class ForcedRange:
    """Ranges of importances; all arrays have shape (owners,)."""

    low: FloatArray  # NaN where there was no time
    high: FloatArray
    outer: bool  # whether the true range may be smaller, as the domain was relaxed


def forced_range(
    pair: LinkagePair, aggregator: Aggregator, theta: FloatArray, linked: BoolArray, stop: Callable[[], bool]
) -> ForcedRange:
    """Bound every importance ``a @ theta`` where all linked records (blocks,) stay linked.

    Two linear programs each over the domain, with ``rows @ theta >= 0`` for the rows of the linked blocks,
    separated as they are violated. Other parameters may link as many other records: the true freedom is no
    smaller.
    """
    measured = importances(aggregator).matrix
    ends = np.full((2, len(measured)), np.nan)
    outer = not isinstance(aggregator.domain, Simplex | Polytope)
    if int(linked.sum()) * len(pair.candidates) > MOST_PAIRS:
        return ForcedRange(ends[0], ends[1], outer)
    system = _system(pair, aggregator, linked, stop)
    cell = _Cell(aggregator, system, theta)
    for k, row in enumerate(measured):
        for side, sign in enumerate((1.0, -1.0)):
            if system.complete and not stop():
                ends[side, k] = sign * cell.least(sign * row)
    ends[np.abs(ends) < _ROUNDED] = 0.0
    ends[np.abs(ends - 1.0) < _ROUNDED] = 1.0
    # The parameters themselves are in the cell; what an optimiser leaves out of it by rounding is not.
    own = measured @ theta
    return ForcedRange(np.minimum(ends[0], own), np.maximum(ends[1], own), outer)


def _system(
    pair: LinkagePair, aggregator: Aggregator, linked: BoolArray, stop: Callable[[], bool]
) -> BlockSystem:
    """The rows of the linked blocks; none where none is linked."""
    if linked.any():
        blocks = np.flatnonzero(linked).astype(np.intp)
        return block_system(pair.part(blocks), aggregator, expired=stop)
    nothing = np.empty(0, dtype=np.intp)
    return system_of(pair, aggregator, nothing, nothing, ~linked, complete=True)


class _Cell:
    """The parameters that keep some blocks linked, by the rows that have mattered so far."""

    def __init__(self, aggregator: Aggregator, system: BlockSystem, theta: FloatArray) -> None:
        self._matrix = system.matrix
        rows = aggregator.domain.rows
        equal = rows.row_lower == rows.row_upper
        above, below = np.isfinite(rows.row_lower) & ~equal, np.isfinite(rows.row_upper) & ~equal
        self._equal = rows.matrix[equal], rows.row_lower[equal]
        self._below = (
            sparse.vstack([-rows.matrix[above], rows.matrix[below]]),
            np.concatenate([-rows.row_lower[above], rows.row_upper[below]]),
        )
        self._bounds = np.stack([rows.column_lower, rows.column_upper], axis=1)
        self._chosen = np.argsort(self._matrix @ theta)[:_AT_ONCE]

    def least(self, costs: FloatArray) -> float:
        """The least of ``costs @ theta``; NaN where the optimiser fails."""
        program: Any = linprog  # its types know no sparse rows
        while True:
            matrix = sparse.vstack([self._below[0], -self._matrix[self._chosen]], "csr")
            most = np.concatenate([self._below[1], np.zeros(self._chosen.size)])
            found = program(costs, matrix, most, *self._equal, bounds=self._bounds, method="highs")
            if found.x is None:
                return float("nan")
            activity = self._matrix @ found.x
            missed = np.setdiff1d(np.flatnonzero(activity < -_MISSED), self._chosen)
            if missed.size == 0:
                return float(found.fun)
            worst = missed[np.argsort(activity[missed])[:_AT_ONCE]]
            self._chosen = np.concatenate([self._chosen, worst])
