"""Solve the big-C block-indicator model (D11.2, Eq. 6 to 9) on any backend."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.errors import called
from linkrisk.formulations.linkage.block_system import (
    BlockSystem,
    IndicatorModel,
    IndicatorOptions,
    indicator_model,
)
from linkrisk.solver.backends.base import BackendProgress, BackendResult, SolveOptions
from linkrisk.solver.backends.guard import solve_isolated
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.attacks.search import widen
from linkrisk.solver.engines.base import Engine, EngineOptions, EngineResult, rounded_bound, whole
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Status
from linkrisk.solver.run.incumbent import Incumbent

_BACKEND_TOLERANCE = 1e-6
"""Feasibility tolerance of backends."""

_REFUTED = "the attack links more than the model allows, by a margin below the model's: the bound is left out"


def indicator_options(options: EngineOptions) -> IndicatorOptions:
    """Choose the constant of the big-C model: the paper's C, or the smallest valid one of each scaled row."""
    return IndicatorOptions(margin=options.margin, big_c=options.big_c, scale=options.big_c is None)


def solve_options(options: EngineOptions, seconds: float | None, system: BlockSystem) -> SolveOptions:
    """Choose the limits of a backend; a gap below one proves an integer number of links."""
    gap = 0.999 if whole(system.pair.weight) else 1e-6
    return SolveOptions(seconds, options.threads, options.seed, absolute_gap=gap)


class MilpEngine(Engine):
    """Build the big-C model of all rows, solve it by a backend, and recount its answer."""

    name: ClassVar[str] = "milp"
    takes: ClassVar[tuple[str, ...]] = ("backend", "threads", "margin", "big_c")
    models: ClassVar[bool] = True

    def run(
        self,
        system: BlockSystem,
        incumbent: Incumbent[FloatArray],
        evaluator: Evaluator,
        options: EngineOptions,
    ) -> EngineResult:
        """Solve and recount."""
        run = _Run(system, incumbent, evaluator, options)
        if system.open_blocks.size and not incumbent.proven:
            run.solve()
        status = Status.INTERRUPTED if incumbent.clock.stopped else Status.FEASIBLE
        return EngineResult(
            status=Status.OPTIMAL if incumbent.proven else status,
            limit=None if incumbent.proven else incumbent.clock.limit,
            margin=options.margin,
            phases=run.phases,
            model=run.size,
            versions=run.versions,
            notes=tuple(run.notes),
        )


class _Run:
    """The state of one run."""

    def __init__(
        self,
        system: BlockSystem,
        incumbent: Incumbent[FloatArray],
        evaluator: Evaluator,
        options: EngineOptions,
    ) -> None:
        self.system, self.incumbent, self.evaluator, self.options = system, incumbent, evaluator, options
        self.phases = {"build": 0.0, "solve": 0.0}
        self.size: dict[str, int] | None = None
        self.versions: dict[str, str] = {}
        self.notes: list[str] = []
        self.claimed = 0.0

    def solve(self) -> None:
        """Solve the model, cutting planes of a relaxed domain included."""
        if not self.incumbent.clock.expired:
            self._solve()
        self._close()

    def _solve(self) -> None:
        clock = self.incumbent.clock
        self.incumbent.enter("build")
        began = clock.seconds
        model = self._model()
        self.phases["build"] = clock.seconds - began
        self.incumbent.enter("solve")
        began = clock.seconds
        try:
            result = self._backend(model)
        except (RuntimeError, MemoryError) as error:
            self._note(f"the backend failed ({error or type(error).__name__}): only the attack remains")
            return
        self.phases["solve"] = clock.seconds - began
        self.versions[result.backend] = result.version
        if self.size is not None:
            self.size["rows"] += result.cuts
        self._take(model, result)
        self.claimed = self._claim(model, result)

    def _close(self) -> None:
        """Recount the final parameters, and report where answer and bound disagree."""
        widen(self.system, Scorer(self.system), self.incumbent, self.evaluator)
        if self.incumbent.value < self.claimed - 1e-5 and not self.incumbent.proven:
            self._note(
                "the backend's answer links fewer records on recount than its bound: its tolerance is 1e-6, "
                f"so a {called('margin')} below that proves little"
            )
        if self.incumbent.refuted:
            # A bound was reported while solving, and the answer exceeds it by links below the model's margin.
            self._note(self._refuted)
            self.incumbent.bound = self.system.kept_weight
            self.incumbent.note()

    def _model(self) -> IndicatorModel:
        model = indicator_model(self.system, indicator_options(self.options))
        rows, columns = model.milp.shape
        self.size = {"rows": rows, "columns": columns, "nonzeros": model.milp.nonzeros}
        if not model.valid:
            self._note(
                f"the constant C = {self.options.big_c:g} cuts off parameters of this aggregator (C must be "
                f"at least {model.needed_c:.4g} here), so the model's bound is not an upper bound and is "
                "left out"
            )
        return model

    def _backend(self, model: IndicatorModel) -> BackendResult:
        """Run the backend, in a child process if it cannot be watched in this one."""
        clock = self.incumbent.clock
        options = solve_options(self.options, clock.seconds_left, self.system)
        start = model.point(self.incumbent.solution)
        # The paper's C can be too small for the start point.
        starts = (start,) if model.milp.violation(start) <= 1e-9 else ()

        def watch(progress: BackendProgress) -> bool:
            self._tighten(model, progress.bound)
            if progress.point is not None:
                self._recount(progress.point)
            self.incumbent.tell()
            return clock.stopped or clock.out_of_memory

        backend = get_backend(self.options.backend)
        if backend.takes_watcher:
            return backend.solve(model.milp, options, starts=starts, watch=watch)
        return solve_isolated(backend.name, model.milp, options, starts=starts, watch=watch).result

    def _take(self, model: IndicatorModel, result: BackendResult) -> None:
        """Recount the backend's answer and adopt its bound."""
        if result.status is Status.INTERRUPTED and not self.incumbent.clock.out_of_memory:
            self.incumbent.clock.stop()
        if result.values is not None:
            self._recount(result.values)
        self._tighten(model, result.bound)

    def _recount(self, point: FloatArray) -> None:
        """Recount the parameters in a point of the model as an attack."""
        aggregator = self.system.aggregator
        theta = aggregator.domain.repair(point[: aggregator.dimension])
        self.incumbent.improve(theta, self.evaluator.weight(aggregator.form(theta)))

    def _claim(self, model: IndicatorModel, result: BackendResult) -> float:
        """Return the weight that the backend proves to be optimal by its own claim; 0 without one."""
        sound = model.valid and np.isfinite(result.bound)
        if result.status is not Status.OPTIMAL or result.limit is not None or not sound:
            return 0.0
        return rounded_bound(model.linked_weight(result.bound), self.system.pair.weight)

    def _tighten(self, model: IndicatorModel, bound: float) -> None:
        """Adopt a dual bound, unless the model cannot guarantee it or a known attack refutes it."""
        if not np.isfinite(bound) or not model.valid:
            return
        linked = rounded_bound(model.linked_weight(bound), self.system.pair.weight)
        if linked < self.incumbent.value - 1e-9:
            self._note(self._refuted)
            return
        self.incumbent.tighten(linked)

    @property
    def _refuted(self) -> str:
        """Note that a bound is refuted, and suggest a smaller margin where the tolerance allows one."""
        return _REFUTED + (
            f"; run again with a smaller {called('margin')}"
            if self.options.margin > _BACKEND_TOLERANCE
            else ""
        )

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
