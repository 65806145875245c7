"""SCIP through PySCIPOpt."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.programs import MilpModel
from linkrisk.solver.backends.background import NOTHING_KNOWN, run_in_background
from linkrisk.solver.backends.base import BackendProgress, SolveOptions, Watcher
from linkrisk.solver.backends.scip_rows import constraints, finite
from linkrisk.solver.backends.scip_separation import TreeSeparation
from linkrisk.solver.backends.template import Ending, Outcome, TemplateBackend
from linkrisk.solver.run.clock import Clock

if TYPE_CHECKING:
    import pyscipopt

INFINITY = 1e20
"""SCIP's infinity, also what it answers while it has no bound."""

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
    """Names and values of the SCIP parameters for `options`, the time limit left out."""
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
    """Write SCIP's infinity as a float's."""
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
        """Offer a point; SCIP checks it and drops it when it is not feasible."""
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
        """Ask SCIP to stop: now, and again at its next event, should now be before it started."""
        self._stop.set()
        self._scip.interruptSolve()

    def on_event(self) -> None:
        """Take note of the bounds, and pass a request to stop on to SCIP."""
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
    """SCIP: one thread, start points, progress and interruption; rows are separated inside its tree."""

    name: ClassVar[str] = "scip"
    requires: ClassVar[tuple[str, ...]] = ("pyscipopt",)
    install: ClassVar[str] = "PySCIPOpt: pip install 'linkrisk[scip]'"
    takes_start: ClassVar[bool] = True
    takes_watcher: ClassVar[bool] = True

    def version(self) -> str:
        """Version of SCIP."""
        import pyscipopt

        return f"{pyscipopt.Model().version()} (PySCIPOpt {pyscipopt.__version__})"

    def build(self, model: MilpModel, options: SolveOptions) -> BuiltScip:
        """Add variables and rows to a SCIP problem."""
        built = BuiltScip(model)
        built.scip.setParams(scip_parameters(options))
        return built

    def run(
        self,
        built: BuiltScip,
        model: MilpModel,
        clock: Clock,
        *,
        starts: Sequence[FloatArray],
        watch: Watcher | None,
    ) -> Outcome:
        """Run SCIP in a thread of its own."""
        for start in starts:
            built.add_start(model, start)
        built.scip.setParam("limits/time", min(clock.time_left, INFINITY))
        ScipRun(built.scip).run(watch)
        separated = 0
        if built.separation is not None:
            if built.separation.failure is not None:
                raise built.separation.failure
            separated = built.separation.cuts
        ending = scip_ending(built.scip.getStatus())
        bound = scip_bound(built.scip.getDualbound())
        return Outcome(ending, built.best_values(), bound, separated)
