"""Solve by HiGHS through its own Python interface, interruptibly and without its banner."""

from __future__ import annotations

import math
import os
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.programs import Cuts, LinearModel, MilpModel
from linkrisk.solver.backends.base import (
    NOTHING_KNOWN,
    BackendProgress,
    SolveOptions,
    run_in_background,
)
from linkrisk.solver.backends.template import Ending, Outcome, Solve, TemplateBackend

if TYPE_CHECKING:
    import highspy


_STDOUT = 1
"""File descriptor of C's standard output, whatever `sys.stdout` is."""

_once = threading.Lock()


def silent_highspy() -> ModuleType:
    """Import `highspy`, and create its first object with the banner suppressed.

    Call this before creating a `Highs` object. Options come too late: the banner is printed before any can be
    set, once per process.
    """
    with _once:
        return _imported()


@cache
def _imported() -> ModuleType:
    import highspy

    if sys.stdout is not None:
        sys.stdout.flush()
    with ExitStack() as stack:
        try:
            printed = stack.enter_context(tempfile.TemporaryFile())
            outer = os.dup(_STDOUT)
            stack.callback(os.close, outer)
        except OSError:  # there is no standard output, or no space for a temporary file
            highspy.Highs()
            return highspy
        os.dup2(printed.fileno(), _STDOUT)
        try:
            highspy.Highs()
        finally:
            os.dup2(outer, _STDOUT)
        printed.seek(0)
        if others := _without_banner(printed.read()):  # output of other threads meanwhile
            os.write(outer, others)
    return highspy


def _without_banner(printed: bytes) -> bytes:
    """Drop HiGHS's lines from the output."""
    banner = (b"Running HiGHS ", b"Includes third-party software")
    return b"".join(line for line in printed.splitlines(keepends=True) if not line.startswith(banner))


SMALLEST_COEFFICIENT = 1e-12
"""Least accepted `small_matrix_value`, below which HiGHS drops matrix entries (1e-9 by default)."""


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
    """Translate `options` to options of HiGHS, without the time limit."""
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
    """Read HiGHS's result from the name of its model status, its info and its column values."""
    ending = ending_of(status)
    found = ending is Ending.COMPLETE or info.primal_solution_status == SOLUTION_FEASIBLE
    if model.integer.any():
        bound = float(info.mip_dual_bound)
    else:
        # The MIP dual bound is not set for a linear program, which has one when solved.
        bound = float(info.objective_function_value) if ending is Ending.COMPLETE else -math.inf
    return Outcome(ending, values if found else None, bound)


class HighsRun:
    """One interruptible run of a `highspy.Highs` object.

    HiGHS releases the interpreter's lock while it runs, so the run has a thread of its own and the
    calling thread stays free to receive Ctrl-C and to call `watch`. HiGHS asks back several times a
    second whether it shall stop.

    `columns` (columns,): places of the model's columns in HiGHS.
    """

    def __init__(self, highs: highspy.Highs, solve: Solve, columns: IndexArray | None = None) -> None:
        self._highs, self._solve = highs, solve
        self._order = np.arange(solve.model.shape[1]) if columns is None else columns
        self._stop = threading.Event()
        self._progress = NOTHING_KNOWN

    def run(self) -> Outcome:
        """Solve, or stop early."""
        highs, solve = self._highs, self._solve
        self._set_start()
        self._listen()
        highs.setOptionValue("time_limit", solve.clock.time_left)
        run_in_background(self._run, stop=self._stop.set, progress=lambda: self._progress, watch=solve.watch)
        values = np.array(highs.getSolution().col_value)
        values = values[self._order] if values.size else values
        return outcome_of(highs.getModelStatus().name, highs.getInfo(), values, solve.model)

    def _set_start(self) -> None:
        """Pass the best start to HiGHS, which accepts one."""
        import highspy

        if not self._solve.starts:
            return
        start = self._solve.starts[0]
        values = np.empty_like(start)
        # HiGHS checks integrality before it accepts a point; rounding noise must not cost it.
        values[self._order] = np.where(self._solve.model.integer, np.round(start), start)
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


def load_highs(model: LinearModel, integer: BoolArray | None = None) -> highspy.Highs:
    """Make a silent `highspy.Highs` object that holds `model`; `RuntimeError` when HiGHS refuses it.

    `integer`: its integer columns; without it the linear relaxation of a mixed-integer program is loaded.
    """
    highspy = silent_highspy()
    rows, columns = model.shape
    integer = np.zeros(columns, dtype=np.bool_) if integer is None else integer
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("small_matrix_value", SMALLEST_COEFFICIENT)
    status = highs.passModel(
        columns,
        rows,
        model.nonzeros,
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMinimize),
        model.constant,
        np.asarray(model.objective, dtype=np.float64),
        np.asarray(model.column_lower, dtype=np.float64),
        np.asarray(model.column_upper, dtype=np.float64),
        np.asarray(model.row_lower, dtype=np.float64),
        np.asarray(model.row_upper, dtype=np.float64),
        model.matrix.indptr.astype(np.int32, copy=False),
        model.matrix.indices.astype(np.int32, copy=False),
        np.asarray(model.matrix.data, dtype=np.float64),
        integer.astype(np.int32),
    )
    if status == highspy.HighsStatus.kError:
        raise RuntimeError("HiGHS refused the model: look for NaN or for coefficients above 1e15")
    return highs


def add_rows(highs: highspy.Highs, cuts: Cuts, columns: IndexArray | None = None) -> None:
    """Add rows to a HiGHS object; `columns` says where the model's columns are there, if in another order."""
    places = cuts.matrix.indices if columns is None else columns[cuts.matrix.indices]
    highs.addRows(
        cuts.count,
        cuts.lower,
        cuts.upper,
        cuts.matrix.nnz,
        cuts.matrix.indptr[:-1].astype(np.int32, copy=False),
        places.astype(np.int32, copy=False),
        cuts.matrix.data.astype(np.float64, copy=False),
    )


class HighsBackend(TemplateBackend["highspy.Highs"]):
    """HiGHS, the default: the fastest hand-over, start points, progress and interruption."""

    name: ClassVar[str] = "highs"
    requires: ClassVar[tuple[str, ...]] = ("highspy",)
    takes_start: ClassVar[bool] = True
    takes_watcher: ClassVar[bool] = True

    def version(self) -> str:
        """Version of HiGHS."""
        return str(silent_highspy().Highs().version())

    def build(self, solve: Solve) -> highspy.Highs:
        """Pass the model's arrays to HiGHS."""
        highs = load_highs(solve.model, solve.model.integer)
        for option, value in highs_options(solve.options).items():
            highs.setOptionValue(option, value)
        return highs

    def run(self, built: highspy.Highs, solve: Solve) -> Outcome:
        """Run HiGHS in a thread of its own."""
        return HighsRun(built, solve).run()

    def extend(self, built: highspy.Highs, solve: Solve, cuts: Cuts) -> highspy.Highs:  # noqa: ARG002
        """Add the rows to the same HiGHS object."""
        add_rows(built, cuts)
        return built
