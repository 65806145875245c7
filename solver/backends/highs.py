"""HiGHS through its own Python interface, the model handed over as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.programs import Cuts, MilpModel
from linkrisk.solver.backends.base import SolveOptions, Watcher
from linkrisk.solver.backends.highs_run import SMALLEST_COEFFICIENT, HighsRun, highs_options
from linkrisk.solver.backends.silent_highs import silent_highspy
from linkrisk.solver.backends.template import Outcome, TemplateBackend
from linkrisk.solver.run.clock import Clock

if TYPE_CHECKING:
    import highspy


def load_highs(model: MilpModel) -> highspy.Highs:
    """Make a silent `highspy.Highs` object that holds `model`; `RuntimeError` when HiGHS refuses it."""
    highspy = silent_highspy()
    rows, columns = model.shape
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
        model.integer.astype(np.int32),
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
    install: ClassVar[str] = "highspy: pip install linkrisk"
    takes_start: ClassVar[bool] = True
    takes_watcher: ClassVar[bool] = True

    def version(self) -> str:
        """Version of HiGHS."""
        return str(silent_highspy().Highs().version())

    def build(self, model: MilpModel, options: SolveOptions) -> highspy.Highs:
        """Pass the model's arrays to HiGHS."""
        highs = load_highs(model)
        for option, value in highs_options(options).items():
            highs.setOptionValue(option, value)
        return highs

    def run(
        self,
        built: highspy.Highs,
        model: MilpModel,
        clock: Clock,
        *,
        starts: Sequence[FloatArray],
        watch: Watcher | None,
    ) -> Outcome:
        """Run HiGHS in a thread of its own."""
        return HighsRun(built).run(model, clock, starts=starts, watch=watch)

    def extend(
        self,
        built: highspy.Highs,
        model: MilpModel,  # noqa: ARG002
        cuts: Cuts,
        options: SolveOptions,  # noqa: ARG002
    ) -> highspy.Highs:
        """Add the rows to the same HiGHS object."""
        add_rows(built, cuts)
        return built
