"""An engine in a process of its own, so that its memory is its own and its time limit is enforced."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.backends.base import TICK, BackendProgress, BackendResult, Watcher
from linkrisk.solver.backends.guard import Job
from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.engines.registry import get_engine
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.incumbent import Incumbent


class EngineJob(Job):
    """An engine's run, whose answer is worded as a backend's: it minimises the weight that is not linked."""

    def __init__(
        self,
        name: str,
        system: BlockSystem,
        theta: FloatArray,
        linked: float,
        options: EngineOptions,
        time_limit: float | None,
        threads: int | None = None,
    ) -> None:
        self.title, self.name = f"engine {name!r}", name
        self.time_limit, self.takes_watcher = time_limit, True
        self._system, self._theta, self._linked, self._options = system, theta, linked, options
        self._threads = threads

    def prepare(self) -> None:
        """Nothing: reading this job has imported the engines."""

    def run(self, watch: Watcher | None) -> BackendResult:
        """Run the engine from the parameters given."""
        system, total = self._system, self._system.total_weight
        clock = Clock(self.time_limit, most_threads=self._threads)
        incumbent = Incumbent(clock, self._theta, self._linked, system.kept_weight)
        with _watched(incumbent, total, watch):
            engine = get_engine(self.name, self._options)
            outcome = engine.run(system, incumbent, Evaluator(system.pair, self._threads), self._options)
        return BackendResult(
            status=outcome.status,
            limit=outcome.limit,
            objective=total - incumbent.value,
            bound=total - incumbent.bound,
            values=incumbent.solution,
            build_seconds=0.0,
            solve_seconds=clock.seconds,
            backend=self.name,
            version="",
        )


@contextmanager
def _watched(incumbent: Incumbent[FloatArray], total: float, watch: Watcher | None) -> Iterator[None]:
    """Report to `watch` ten times a second, and stop the run when it answers True.

    In a thread of its own, because an engine reports only improvements.
    """
    if watch is None:
        yield
        return
    done = threading.Event()

    def look() -> None:
        while not done.wait(TICK):
            if watch(BackendProgress(total - incumbent.value, total - incumbent.bound)):
                incumbent.clock.stop()
                return

    thread = threading.Thread(target=look, name="watcher", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
