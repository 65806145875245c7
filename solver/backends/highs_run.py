"""Running a `highspy.Highs` object that holds a model: options, start, progress, interruption, outcome."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.programs import MilpModel
from linkrisk.solver.backends.background import NOTHING_KNOWN, run_in_background
from linkrisk.solver.backends.base import BackendProgress, SolveOptions, Watcher
from linkrisk.solver.backends.template import Ending, Outcome
from linkrisk.solver.run.clock import Clock

if TYPE_CHECKING:
    import highspy

SMALLEST_COEFFICIENT = 1e-12
"""HiGHS drops matrix entries below `small_matrix_value`, 1e-9 by default; this is the least it accepts."""


ENDINGS: Mapping[str, Ending] = {
    "kOptimal": Ending.COMPLETE,
    "kModelEmpty": Ending.COMPLETE,
    "kInfeasible": Ending.INFEASIBLE,
    "kUnbounded": Ending.UNBOUNDED,
    "kUnboundedOrInfeasible": Ending.INFEASIBLE_OR_UNBOUNDED,
    "kTimeLimit": Ending.TIME,
    "kMemoryLimit": Ending.MEMORY,
    "kInterrupt": Ending.USER,
}
"""Names of `HighsModelStatus`; any other one is a failure."""

SOLUTION_FEASIBLE = 2
"""`kSolutionStatusFeasible` of `HighsInfo.primal_solution_status`."""


def highs_options(options: SolveOptions) -> dict[str, Any]:
    """Names and values of the HiGHS options for `options`, the time limit left out."""
    return {
        "threads": options.threads,
        "random_seed": options.seed,
        "mip_rel_gap": options.relative_gap,
        "mip_abs_gap": options.absolute_gap,
        "small_matrix_value": SMALLEST_COEFFICIENT,
    }


def ending_of(status: str) -> Ending:
    """Translate the name of a `HighsModelStatus`; `RuntimeError` when it is a failure."""
    if status not in ENDINGS:
        raise RuntimeError(f"HiGHS failed with model status {status}")
    return ENDINGS[status]


def outcome_of(status: str, info: highspy.HighsInfo, values: FloatArray, model: MilpModel) -> Outcome:
    """Read what HiGHS found from the name of its model status, its info and its column values."""
    ending = ending_of(status)
    found = ending is Ending.COMPLETE or info.primal_solution_status == SOLUTION_FEASIBLE
    if model.integer.any():
        bound = float(info.mip_dual_bound)
    else:
        # The dual bound of the branch and bound is not set for a linear programme, which has one when solved.
        bound = float(info.objective_function_value) if ending is Ending.COMPLETE else -math.inf
    return Outcome(ending, values if found else None, bound)


class HighsRun:
    """One interruptible run of a `highspy.Highs` object.

    HiGHS releases the interpreter's lock while it runs, so the run has a thread of its own and the
    calling thread stays free to receive Ctrl-C and to call `watch`. HiGHS asks back several times a
    second whether it shall stop.
    """

    def __init__(self, highs: highspy.Highs) -> None:
        self._highs = highs
        self._stop = threading.Event()
        self._progress = NOTHING_KNOWN

    def run(
        self,
        model: MilpModel,
        clock: Clock,
        *,
        starts: Sequence[FloatArray] = (),
        watch: Watcher | None = None,
        columns: IndexArray | None = None,
    ) -> Outcome:
        """Solve within what is left on the clock.

        Parameters
        ----------
        model : MilpModel
            What the HiGHS object holds.
        clock : Clock
            The time limit.
        starts, watch
            As in `Backend.solve`.
        columns : ndarray of int, optional, shape (columns,)
            Where the model's columns are in the HiGHS object, when in another order.
        """
        order = np.arange(model.shape[1]) if columns is None else columns
        if starts:  # HiGHS takes one point
            # It tests integrality before it accepts a point; rounding noise must not cost it.
            self._set_start(np.where(model.integer, np.round(starts[0]), starts[0]), order)
        self._listen()
        self._highs.setOptionValue("time_limit", clock.time_left)
        run_in_background(self._run, stop=self._stop.set, progress=lambda: self._progress, watch=watch)
        return self._read(model, order)

    def _read(self, model: MilpModel, order: IndexArray) -> Outcome:
        highs = self._highs
        values = np.array(highs.getSolution().col_value)
        return outcome_of(
            highs.getModelStatus().name, highs.getInfo(), values[order] if values.size else values, model
        )

    def _set_start(self, start: FloatArray, order: IndexArray) -> None:
        import highspy

        values = np.empty_like(start)
        values[order] = start
        solution = highspy.HighsSolution()
        solution.col_value = values.tolist()
        self._highs.setSolution(solution)

    def _listen(self) -> None:
        import highspy

        kinds = highspy.cb.HighsCallbackType
        self._highs.setCallback(self._on_callback, None)
        for kind in (
            kinds.kCallbackMipInterrupt,
            kinds.kCallbackMipImprovingSolution,
            kinds.kCallbackMipLogging,
            kinds.kCallbackSimplexInterrupt,
            kinds.kCallbackIpmInterrupt,
        ):
            self._highs.startCallback(kind)
        self._progress_kinds = {
            kinds.kCallbackMipInterrupt,
            kinds.kCallbackMipImprovingSolution,
            kinds.kCallbackMipLogging,
        }

    def _on_callback(self, kind: Any, _message: str, output: Any, answer: Any, _data: Any) -> None:
        if kind in self._progress_kinds:
            self._progress = BackendProgress(output.mip_primal_bound, output.mip_dual_bound)
        if self._stop.is_set():
            answer.user_interrupt = True

    def _run(self) -> None:
        import highspy

        try:
            self._highs.run()
        finally:
            # The scheduler keeps the number of threads of its first run; a run with another number fails.
            highspy.Highs.resetGlobalScheduler(True)
            self._highs.setCallback(None, None)
