"""Solve by SCIP through PySCIPOpt, with cutting planes separated in the tree."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.programs import Cuts, MilpModel, Separator
from linkrisk.solver.backends.base import (
    NOTHING_KNOWN,
    BackendProgress,
    SolveOptions,
    Watcher,
    run_in_background,
)
from linkrisk.solver.backends.template import Ending, Outcome, Solve, TemplateBackend

if TYPE_CHECKING:
    import pyscipopt


def finite(bound: float) -> float | None:
    """Convert an infinite bound to SCIP's."""
    return None if math.isinf(bound) else bound


def constraints(
    matrix: sparse.csr_array, row_lower: FloatArray, row_upper: FloatArray, variables: Sequence[Any]
) -> Iterator[Any]:
    """Convert each row to SCIP's form."""
    from pyscipopt.scip import Expr, ExprCons, Term

    # One term object per column, and expressions from dictionaries: sums would copy and sort.
    terms = [Term(variable) for variable in variables]
    row_terms = [terms[column] for column in matrix.indices.tolist()]
    coefficients, starts = matrix.data.tolist(), matrix.indptr.tolist()
    lower, upper = row_lower.tolist(), row_upper.tolist()
    for row in range(matrix.shape[0]):
        begin, end = starts[row], starts[row + 1]
        expression = Expr(dict(zip(row_terms[begin:end], coefficients[begin:end], strict=True)))
        yield ExprCons(expression, finite(lower[row]), finite(upper[row]))


_VIOLATED = 1e-6
"""Feasibility tolerance of SCIP for rows."""


class TreeSeparation:
    """Constraint handler of a separator's rows; its exceptions interrupt the solve and are kept."""

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
            enfopriority=-1,  # called after integrality
            chckpriority=-1,
            sepafreq=1 if separator.fractional else -1,
            needscons=False,
        )

    def violated(self, solution: Any) -> Cuts | None:
        """Separate rows that a solution (None: that of the relaxation) violates; None if there are none."""
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
        """Lock all variables in both directions, as any change may violate rows."""
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


INFINITY = 1e20
"""SCIP's infinity, also its answer while it has no bound."""

ENDINGS: Mapping[str, Ending] = {
    "optimal": Ending.COMPLETE,
    "gaplimit": Ending.COMPLETE,
    "infeasible": Ending.INFEASIBLE,
    "unbounded": Ending.UNBOUNDED,
    "inforunbd": Ending.INFEASIBLE_OR_UNBOUNDED,
    "timelimit": Ending.TIME,
    "memlimit": Ending.MEMORY,
    "userinterrupt": Ending.USER,
}
"""What `pyscipopt.Model.getStatus` answers; anything else is a failure."""


def scip_parameters(options: SolveOptions) -> dict[str, Any]:
    """Translate `options` to SCIP's parameters, without the time limit."""
    return {
        "limits/gap": options.relative_gap,
        "limits/absgap": options.absolute_gap,
        "randomization/randomseedshift": options.seed,
        # A handler of SCIP's own would take Ctrl-C away from Python.
        "misc/catchctrlc": False,
        # Dual reductions may cut off solutions that a caller's start point or later rows rely on.
        "misc/allowstrongdualreds": False,
        "misc/allowweakdualreds": False,
    }


def scip_bound(bound: float) -> float:
    """Convert SCIP's infinity to a float's."""
    return math.copysign(math.inf, bound) if abs(bound) >= INFINITY else float(bound)


def scip_ending(status: str) -> Ending:
    """Translate a SCIP status; `RuntimeError` when it is a failure."""
    if status not in ENDINGS:
        raise RuntimeError(f"SCIP failed with status {status}")
    return ENDINGS[status]


class BuiltScip:
    """A SCIP problem and its variables, in the order of the model's columns."""

    def __init__(self, model: MilpModel) -> None:
        import pyscipopt

        self.scip = pyscipopt.Model()
        self.scip.hideOutput()
        self.variables = [
            self.scip.addVar(obj=cost, lb=finite(lower), ub=finite(upper), vtype="I" if integer else "C")
            for cost, lower, upper, integer in zip(
                model.objective.tolist(),
                model.column_lower.tolist(),
                model.column_upper.tolist(),
                model.integer.tolist(),
                strict=True,
            )
        ]
        self.scip.addObjoffset(model.constant)
        for constraint in constraints(model.matrix, model.row_lower, model.row_upper, self.variables):
            self.scip.addCons(constraint)
        self.separation: TreeSeparation | None = None
        if model.separator is not None:
            self.separation = TreeSeparation(self.scip, self.variables, model.separator)

    def add_start(self, model: MilpModel, start: FloatArray) -> None:
        """Offer a start; SCIP drops an infeasible one."""
        solution = self.scip.createSol()
        rounded = np.where(model.integer, np.round(start), start)
        for variable, value in zip(self.variables, rounded.tolist(), strict=True):
            self.scip.setSolVal(solution, variable, value)
        self.scip.addSol(solution)

    def best_values(self) -> FloatArray | None:
        """Read the best solution, if there is one."""
        if self.scip.getNSols() == 0:
            return None
        solution = self.scip.getBestSol()
        return np.array([self.scip.getSolVal(solution, variable) for variable in self.variables])


class ScipRun:
    """One interruptible run: SCIP works in a thread of its own and reports through an event handler."""

    def __init__(self, scip: pyscipopt.Model) -> None:
        self._scip = scip
        self._stop = threading.Event()
        self._progress = NOTHING_KNOWN
        self._listen()

    def run(self, watch: Watcher | None) -> None:
        """Solve, reacting to Ctrl-C and to `watch`."""
        run_in_background(
            self._scip.optimizeNogil, stop=self.stop, progress=lambda: self._progress, watch=watch
        )

    def stop(self) -> None:
        """Interrupt SCIP now, and again at its next event in case it had not started."""
        self._stop.set()
        self._scip.interruptSolve()

    def on_event(self) -> None:
        """Record the bounds, and pass a request to stop on to SCIP."""
        primal, dual = self._scip.getPrimalbound(), self._scip.getDualbound()
        self._progress = BackendProgress(scip_bound(primal), scip_bound(dual))
        if self._stop.is_set():
            self._scip.interruptSolve()

    def _listen(self) -> None:
        from pyscipopt import SCIP_EVENTTYPE, Eventhdlr

        kinds = (
            SCIP_EVENTTYPE.PRESOLVEROUND,
            SCIP_EVENTTYPE.BESTSOLFOUND,
            SCIP_EVENTTYPE.NODEEVENT,
            SCIP_EVENTTYPE.LPEVENT,
        )
        run = self

        class Listener(Eventhdlr):  # type: ignore[misc, unused-ignore]
            def eventinit(self) -> None:
                for kind in kinds:
                    self.model.catchEvent(kind, self)

            def eventexit(self) -> None:
                for kind in kinds:
                    self.model.dropEvent(kind, self)

            def eventexec(self, _event: Any) -> None:
                run.on_event()

        self._scip.includeEventhdlr(Listener(), "linkrisk", "tells progress and stops on request")


class ScipBackend(TemplateBackend[BuiltScip]):
    """SCIP: one thread, warm starts, progress and interruption; rows are separated in the tree."""

    name: ClassVar[str] = "scip"
    requires: ClassVar[tuple[str, ...]] = ("pyscipopt",)
    takes_start: ClassVar[bool] = True
    takes_watcher: ClassVar[bool] = True

    def version(self) -> str:
        """Version of SCIP."""
        import pyscipopt

        return f"{pyscipopt.Model().version()} (PySCIPOpt {pyscipopt.__version__})"

    def build(self, solve: Solve) -> BuiltScip:
        """Add variables and rows to a SCIP problem."""
        built = BuiltScip(solve.model)
        built.scip.setParams(scip_parameters(solve.options))
        return built

    def run(self, built: BuiltScip, solve: Solve) -> Outcome:
        """Run SCIP in a thread of its own."""
        for start in solve.starts:
            built.add_start(solve.model, start)
        built.scip.setParam("limits/time", min(solve.clock.time_left, INFINITY))
        ScipRun(built.scip).run(solve.watch)
        separated = 0
        if built.separation is not None:
            if built.separation.failure is not None:
                raise built.separation.failure
            separated = built.separation.cuts
        ending = scip_ending(built.scip.getStatus())
        bound = scip_bound(built.scip.getDualbound())
        return Outcome(ending, built.best_values(), bound, separated)
