"""Solve by the HiGHS that SciPy carries, through `scipy.optimize.milp`."""

from __future__ import annotations

import importlib
import math
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from linkrisk.solver.backends.base import run_in_background
from linkrisk.solver.backends.highs import highs_options
from linkrisk.solver.backends.template import Ending, Outcome, Solve, TemplateBackend
from linkrisk.solver.run.clock import Clock

ENDINGS = {0: Ending.COMPLETE, 1: Ending.TIME, 2: Ending.INFEASIBLE, 3: Ending.UNBOUNDED}
"""`OptimizeResult.status` of `scipy.optimize.milp`; 4 is anything else, told apart by its message."""

UNDECIDED = "unbounded or infeasible"
"""SciPy's message for the one status 4 that is not a failure."""


@dataclass(frozen=True)
class MilpArguments:
    """Keyword arguments of `scipy.optimize.milp`, and the options that its `options` will hold."""

    arguments: dict[str, Any]
    options: dict[str, Any]


class ScipyBackend(TemplateBackend[MilpArguments]):
    """SciPy: no extra package, but neither start points nor progress."""

    name: ClassVar[str] = "scipy"
    requires: ClassVar[tuple[str, ...]] = ("scipy",)

    def version(self) -> str:
        """Version of SciPy's own HiGHS, and of SciPy."""
        import scipy

        try:
            highs = importlib.import_module("scipy.optimize._highspy._core")._Highs().version()
        except (ImportError, AttributeError):  # private to SciPy, and only for the record
            return f"of scipy {scipy.__version__}"
        return f"{highs} (scipy {scipy.__version__})"

    def build(self, solve: Solve) -> MilpArguments:
        """Wrap the model's arrays."""
        from scipy.optimize import Bounds, LinearConstraint

        model = solve.model
        arguments = {
            "c": model.objective,
            "integrality": model.integer.astype(np.uint8),
            "bounds": Bounds(model.column_lower, model.column_upper),
            "constraints": LinearConstraint(model.matrix.tocsc(), model.row_lower, model.row_upper),
        }
        return MilpArguments(arguments, {**highs_options(solve.options), "disp": False})

    def run(self, built: MilpArguments, solve: Solve) -> Outcome:
        """Call `scipy.optimize.milp`."""
        result = self._call(built, solve.clock)
        if failed(result):
            # The HiGHS 1.12 in SciPy 1.17 fails in presolve on some small models.
            result = self._call(built, solve.clock, presolve=False)
        if failed(result):
            raise RuntimeError(f"scipy.optimize.milp failed: {result.message}")
        ending = ENDINGS.get(result.status, Ending.INFEASIBLE_OR_UNBOUNDED)
        values = None if result.x is None else np.asarray(result.x, dtype=np.float64)
        bound = result.mip_dual_bound if solve.model.integer.any() else result.fun
        return Outcome(ending, values, -math.inf if bound is None else float(bound) + solve.model.constant)

    def _call(self, built: MilpArguments, clock: Clock, **extra: bool) -> Any:
        from scipy.optimize import milp

        results: list[Any] = []
        options: Any = {**built.options, **extra, "time_limit": clock.time_left}

        def call() -> None:
            with warnings.catch_warnings():
                # SciPy warns about every HiGHS option beyond its own five, and passes it on all the same.
                warnings.filterwarnings("ignore", "Unrecognized options", RuntimeWarning)
                results.append(milp(**built.arguments, options=options))

        # HiGHS keeps one scheduler per thread, with the number of threads of its first run.
        run_in_background(call)
        return results[0]


def failed(result: Any) -> bool:
    """Whether a result of `scipy.optimize.milp` leaves the model undecided."""
    return result.status not in ENDINGS and UNDECIDED not in result.message
