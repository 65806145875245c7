"""Rows about cells that are alone in a relation: cheap to find, and found before any attack is made."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.programs import Cuts
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.implied_relations import ImpliedBridges
from linkrisk.formulations.tables.suppression_model import BridgeRows

LEAST = 1e-3
"""By how much a point must violate such a row."""

MANY = 100
"""Where a point violates so many, nothing else is looked for: what else it violates may go with them."""


class Bridges:
    """Free cells suppressed by more than all others of a relation together, be it given or implied."""

    def __init__(self, table: CellTable) -> None:
        self._given, self._implied = BridgeRows(table), ImpliedBridges(table)

    def __call__(self, x: FloatArray) -> Cuts:
        """Rows that a point, shape (n,), violates; of implied relations where it keeps most given ones."""
        given = self._given(x, LEAST)
        if given.count >= MANY:
            return given
        implied = self._implied(x, LEAST)
        return together([one for one in (given, implied) if one.count] or [given])


def together(found: list[Cuts]) -> Cuts:
    """All of several lots of rows, which have lower bounds only."""
    if len(found) == 1:
        return found[0]
    matrix = sparse.csr_array(sparse.vstack([one.matrix for one in found], format="csr"))
    lower = np.concatenate([one.lower for one in found])
    return Cuts(matrix, lower, np.full(lower.size, np.inf))
