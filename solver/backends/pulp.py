"""HiGHS through PuLP's modelling layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.programs import Cuts, MilpModel
from linkrisk.solver.backends.base import SolveOptions, Watcher
from linkrisk.solver.backends.highs import add_rows
from linkrisk.solver.backends.highs_run import HighsRun, highs_options
from linkrisk.solver.backends.pulp_model import PulpModel, make_pulp_model
from linkrisk.solver.backends.silent_highs import silent_highspy
from linkrisk.solver.backends.template import Outcome, TemplateBackend
from linkrisk.solver.run.clock import Clock

if TYPE_CHECKING:
    import highspy


@dataclass(frozen=True)
class BuiltPulp:
    """A PuLP problem and the HiGHS object that PuLP made of it."""

    model: PulpModel
    highs: highspy.Highs

    @property
    def columns(self) -> IndexArray:
        """Where the model's columns are in that object: PuLP sorts its variables by name."""
        return np.array([variable.index for variable in self.model.variables], dtype=np.intp)


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
        import pulp

        return f"{silent_highspy().Highs().version()} (PuLP {pulp.__version__})"

    def build(self, model: MilpModel, options: SolveOptions) -> BuiltPulp:
        """Make PuLP's objects, and let PuLP pass them to HiGHS row by row."""
        import pulp

        silent_highspy()
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
        starts: Sequence[FloatArray],
        watch: Watcher | None,
    ) -> Outcome:
        """Run PuLP's HiGHS object in a thread of its own."""
        run = HighsRun(built.highs)
        return run.run(model, clock, starts=starts, watch=watch, columns=built.columns)

    def extend(
        self,
        built: BuiltPulp,
        model: MilpModel,  # noqa: ARG002
        cuts: Cuts,
        options: SolveOptions,  # noqa: ARG002
    ) -> BuiltPulp:
        """Add the rows to the HiGHS object that PuLP made."""
        add_rows(built.highs, cuts, built.columns)
        return built
