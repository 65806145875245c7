"""Separation inside SCIP's tree: a constraint handler that asks a separator about every solution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkrisk.formulations.programs import Cuts, Separator
from linkrisk.solver.backends.scip_rows import constraints

if TYPE_CHECKING:
    import pyscipopt


_VIOLATED = 1e-6
"""SCIP takes rows for satisfied that are violated by less."""


class TreeSeparation:
    """What a SCIP problem has been told by a separator.

    Attributes
    ----------
    cuts : int
        Rows added.
    failure : BaseException or None
        What the separator raised; the solve was interrupted then.
    """

    def __init__(self, scip: pyscipopt.Model, variables: list[Any], separator: Separator) -> None:
        self._scip, self._variables, self._separator = scip, variables, separator
        self.cuts = 0
        self.failure: BaseException | None = None
        handler = _handler(self)
        scip.includeConshdlr(
            handler,
            "separator",
            "rows that are added when they are violated",
            sepapriority=0,
            enfopriority=-1,  # after integrality
            chckpriority=-1,
            sepafreq=1 if separator.fractional else -1,
            needscons=False,
        )

    def violated(self, solution: Any) -> Cuts | None:
        """Rows that a solution of SCIP violates, of the relaxation when None; None if there are none."""
        x = np.array([self._scip.getSolVal(solution, variable) for variable in self._variables])
        try:
            cuts = self._separator(x)
        except BaseException as error:
            self.failure = self.failure or error
            self._scip.interruptSolve()
            return None
        return cuts if cuts.violation(x) > _VIOLATED else None

    def add(self, cuts: Cuts) -> None:
        """Add rows to the problem that is being solved."""
        for constraint in constraints(cuts.matrix, cuts.lower, cuts.upper, self._variables):
            self._scip.addCons(constraint)
        self.cuts += cuts.count

    def lock(self, count: int) -> None:
        """Tell SCIP that either direction of any variable may violate rows."""
        for variable in self._variables:
            self._scip.addVarLocks(variable, count, count)


def _handler(separation: TreeSeparation) -> Any:
    from pyscipopt import SCIP_RESULT, Conshdlr

    class Handler(Conshdlr):  # type: ignore[misc, unused-ignore]
        def conscheck(self, _constraints: Any, solution: Any, *_: Any) -> dict[str, Any]:
            violated = separation.violated(solution) is not None or separation.failure is not None
            return {"result": SCIP_RESULT.INFEASIBLE if violated else SCIP_RESULT.FEASIBLE}

        def consenfolp(self, *_: Any) -> dict[str, Any]:
            return self._added(SCIP_RESULT.FEASIBLE)

        def consenfops(self, *_: Any) -> dict[str, Any]:
            violated = separation.violated(None) is not None
            return {"result": SCIP_RESULT.SOLVELP if violated else SCIP_RESULT.FEASIBLE}

        def conssepalp(self, *_: Any) -> dict[str, Any]:
            return self._added(SCIP_RESULT.DIDNOTFIND)

        def conslock(self, _constraint: Any, _kind: Any, positive: int, negative: int) -> None:
            separation.lock(positive + negative)

        def _added(self, otherwise: Any) -> dict[str, Any]:
            cuts = separation.violated(None)
            if cuts is None:
                return {"result": otherwise}
            separation.add(cuts)
            return {"result": SCIP_RESULT.CONSADDED}

    return Handler()
