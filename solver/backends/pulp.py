"""HiGHS through PuLP's modelling layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from formulations.milp import MilpModel
from solver.backends.base import FloatArray, SolveOptions, Watcher
from solver.backends.highs_run import HighsRun, highs_options
from solver.backends.pulp_model import PulpModel, make_pulp_model
from solver.backends.template import Outcome, TemplateBackend
from solver.clock import Clock

if TYPE_CHECKING:
    import highspy


@dataclass(frozen=True)
class BuiltPulp:
    """A PuLP problem and the HiGHS object that PuLP made of it."""

    model: PulpModel
    highs: highspy.Highs


class PulpBackend(TemplateBackend[BuiltPulp]):
    """PuLP with its class `HiGHS`: PuLP builds, and HiGHS itself is asked what it found.

    PuLP's own status is not used: it says "Optimal" at a time limit, and forgets the bound.
    """

    name: ClassVar[str] = "pulp"
    requires: ClassVar[tuple[str, ...]] = ("pulp", "highspy")
    install: ClassVar[str] = "PuLP and highspy: pip install linkrisk"
    takes_start: ClassVar[bool] = True
    takes_watcher: ClassVar[bool] = True

    def version(self) -> str:
        """Version of HiGHS, and of PuLP."""
        import highspy
        import pulp

        return f"{highspy.Highs().version()} (PuLP {pulp.__version__})"

    def build(self, model: MilpModel, options: SolveOptions) -> BuiltPulp:
        """Make PuLP's objects, and let PuLP pass them to HiGHS row by row."""
        import pulp

        built = make_pulp_model(model)
        solver = pulp.HiGHS(msg=False, **highs_options(options))
        solver.createAndConfigureSolver(built.problem)
        solver.buildSolverModel(built.problem)
        highs = built.problem.solverModel
        highs.changeObjectiveOffset(model.constant)  # PuLP keeps the constant to itself
        return BuiltPulp(built, highs)

    def run(
        self,
        built: BuiltPulp,
        model: MilpModel,
        clock: Clock,
        *,
        start: FloatArray | None,
        watch: Watcher | None,
    ) -> Outcome:
        """Run PuLP's HiGHS object in a thread of its own."""
        # PuLP sorts its variables by name.
        columns = np.array([variable.index for variable in built.model.variables])
        run = HighsRun(built.highs)
        return run.run(model, clock, start=start, watch=watch, columns=columns)
