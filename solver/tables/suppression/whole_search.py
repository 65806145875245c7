"""The search for a pattern of least cost among all, with searches of parts beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.programs import Cuts, Separator
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.suppression_model import suppression_model
from linkrisk.solver.tables.suppression.branch_and_cut import BranchAndCut, Part
from linkrisk.solver.tables.suppression.exclusion import Exclusion
from linkrisk.solver.tables.suppression.incumbent import Incumbent, Supports, Thinned
from linkrisk.solver.tables.suppression.neighbourhoods import Neighbourhoods
from linkrisk.solver.tables.suppression.relaxation import Relaxation


class WholeSearch(BranchAndCut):
    """A search of all patterns; neighbourhoods of the best one, and the last units, are searched apart.

    `separator`: knows what every pattern that protects keeps. `start` (n,): a pattern that protects. `cost`
    (n,): of the cells, in units of which all costs are whole multiples where `whole`. `thinning`: makes a
    pattern smaller that protects. `rows`: to begin with. `bound`: that is known to hold already.
    """

    def __init__(
        self,
        table: CellTable,
        separator: Separator,
        start: BoolArray,
        cost: FloatArray,
        thinning: Thinned,
        *,
        whole: bool,
        rows: Cuts | None = None,
        bound: float = 0.0,
    ) -> None:
        objective = np.where(table.free, cost, 0.0)
        everything = Part(_relaxation(table, objective, rows), Supports(separator, thinning))
        super().__init__(table, separator, everything, Incumbent(start, objective, whole=whole), bound)
        self._near, self._exclusion = Neighbourhoods(), Exclusion()

    def _beside(self) -> None:
        self._look_near()
        if self._incumbent.whole:
            self._exclude()

    def _look_near(self) -> None:
        """Search neighbourhoods of the best pattern, as many as are affordable."""
        near, relaxation = self._near, self._relaxation
        while self._goes_on and near.affordable(self.nodes, self.solves):
            reduced = np.where(relaxation.open_ones(), self._root_reduced, np.inf)
            zeros, ones = near.choose(self.best, self._root_point, reduced)
            found = self._apart(zeros, ones, near.nodes)
            near.searched(found.solves, better=found.cost < self.cost, whole=found.bound > found._cutoff)
            self._incumbent.take(found.best)

    def _exclude(self) -> None:
        """Search for the least cost that is not excluded by itself, where few others are below the best."""
        exclusion, none = self._exclusion, np.zeros(len(self._table), dtype=np.bool_)
        while self._goes_on and exclusion.due(self.nodes, self._root_bound, self.bound, self._cutoff):
            least = float(np.ceil(self.bound - 1e-9))
            found = self._apart(none, none, exclusion.nodes, least)
            self._incumbent.take(found.best)
            self.bound = max(self.bound, min(found.bound, self.cost))
            exclusion.searched(excluded=found.bound > least or self.bound > self._cutoff)

    @property
    def _goes_on(self) -> bool:
        return self.bound <= self._cutoff and not self._clock.expired

    def _apart(
        self, zeros: BoolArray, ones: BoolArray, most_nodes: int, most: float = np.inf
    ) -> BranchAndCut:
        """A search of the patterns that publish some cells, suppress others, and cost no more than `most`."""
        within = self._relaxation.where(zeros, ones, self._objective)
        part = replace(self._part, relaxation=within, most_nodes=most_nodes)
        found = BranchAndCut(self._table, self._separator, part, self._incumbent.up_to(most), self.bound)
        found.run(self._clock, lambda _: None, self._tell)
        return found


def _relaxation(table: CellTable, objective: FloatArray, rows: Cuts | None) -> Relaxation:
    model = suppression_model(table, None)
    given = Cuts(model.matrix, model.row_lower, model.row_upper)
    relaxation = Relaxation(given, objective, model.column_lower, model.column_upper)
    if rows is not None:
        relaxation.add_open(*relaxation.open_part(rows))
    return relaxation
