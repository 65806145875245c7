"""Declare the interface of a backend, which solves a `MilpModel`, and run one in a thread."""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from linkrisk.arrays import FloatArray
from linkrisk.errors import MissingExtraError, needs_extra
from linkrisk.formulations.programs import MilpModel
from linkrisk.solver.run.clock import Limit, Status


@dataclass(frozen=True)
class SolveOptions:
    """Limits and settings that every backend supports."""

    time_limit: float | None = None  # Seconds of wall time for building and solving; None for no limit
    threads: int = 1  # Threads that the optimiser may use
    seed: int = 0  # Seed of the optimiser's own randomness
    # The solve may stop when objective minus bound is at most this; with an integer objective a number just
    # under 1 proves optimality.
    absolute_gap: float = 1e-6
    relative_gap: float = 0.0  # The same as a share of the objective
    # Rounds of cutting planes at the root, from a separator that accepts fractional points, before the first
    # integer solve.
    root_rounds: int = 50

    def closed(self, objective: float, bound: float) -> bool:
        """Whether the gap of a solution is within the limits."""
        return objective - bound <= max(self.absolute_gap, self.relative_gap * abs(objective))


@dataclass(frozen=True)
class BackendProgress:
    """Progress of a running solve."""

    # Its incumbent value; inf if there is none. With lazy constraints, that solution may violate rows not
    # separated yet.
    objective: float
    bound: float  # Its dual bound; -inf if there is none
    # (columns,) The solution that violated separated rows, reported once
    point: FloatArray | None = None


Watcher = Callable[[BackendProgress], bool]
"""Callback of a running solve; True requests to stop with the incumbent."""


@dataclass(frozen=True)
class BackendResult:
    """The result of a backend, in a common form."""

    status: Status  # Status by the backend's own claim; the engine recounts the solution
    limit: Limit | None  # The limit that was hit, if any
    # Value of `values` in the (minimised) model, constant included; None without a solution.
    objective: float | None
    bound: float  # Dual bound: no solution has a smaller objective. -inf when the backend has none
    values: FloatArray | None  # (columns,) The best solution found
    build_seconds: float  # Wall time for handing over the model, and for solving it
    solve_seconds: float
    backend: str  # Name of the backend and version of the optimiser
    version: str
    cuts: int = 0  # Number of cutting planes and lazy rows

    @property
    def gap(self) -> float:
        """Absolute gap: objective minus bound; inf while either is missing."""
        return float("inf") if self.objective is None else max(0.0, self.objective - self.bound)


class Backend(ABC):
    """An optimiser. Subclasses import it inside their methods only, so that listing costs nothing.

    Attributes
    ----------
    name : str
        What `--backend` takes.
    requires : tuple of str
        Importable modules that must be installed.
    takes_start : bool
        Whether `starts` are used: the best of them at least.
    takes_watcher : bool
        Whether `watch` is called while solving (progress and interruption from outside).
    """

    name: ClassVar[str]
    requires: ClassVar[tuple[str, ...]]
    takes_start: ClassVar[bool] = False
    takes_watcher: ClassVar[bool] = False

    @classmethod
    def check_installed(cls) -> None:
        """Refuse where what it requires is not installed; nothing is imported."""
        needs_extra(f"backend {cls.name!r}", *cls.requires)

    @classmethod
    def is_available(cls) -> bool:
        """Whether what it requires is installed."""
        try:
            cls.check_installed()
        except MissingExtraError:
            return False
        return True

    @abstractmethod
    def version(self) -> str:
        """Read the version of the optimiser (not only of its Python interface)."""

    @abstractmethod
    def solve(
        self,
        model: MilpModel,
        options: SolveOptions,
        *,
        starts: Sequence[FloatArray] = (),
        watch: Watcher | None = None,
    ) -> BackendResult:
        """Solve `model`, the rows of its separator included.

        Parameters
        ----------
        model : MilpModel
            What to minimise.
        options : SolveOptions
            Limits.
        starts : sequence of ndarray of float64, shape (columns,)
            Points to start from, where `takes_start`; those that are not feasible are left out.
        watch : callable, optional
            Called with the progress, where `takes_watcher`; answering True stops the solve.

        Returns
        -------
        BackendResult
            Never an exception for a limit; `RuntimeError` when the optimiser itself failed.
        """


TICK = 0.1
"""Seconds between two progress checks."""

NOTHING_KNOWN = BackendProgress(math.inf, -math.inf)
"""Progress before the first solution and the first bound."""


def run_in_background(
    run: Callable[[], None],
    *,
    stop: Callable[[], None] | None = None,
    progress: Callable[[], BackendProgress] = lambda: NOTHING_KNOWN,
    watch: Watcher | None = None,
) -> None:
    """Run an optimiser in another thread and wait for it, reacting to Ctrl-C and to `watch`.

    Ctrl-C once, or `watch` answering True, calls `stop` and waits for the run to end by itself; Ctrl-C again,
    or once when there is no `stop`, raises `KeyboardInterrupt` and abandons the run. Exceptions of `run` are
    raised here; an exception of `watch` stops the run and is raised when it has ended. `stop` and `watch` are
    called on this thread, `watch` every tenth of a second. `run` must release the interpreter's lock.
    """
    done = threading.Event()
    failure: list[BaseException] = []

    def body() -> None:
        try:
            run()
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=body, name="optimiser", daemon=True)
    try:
        thread.start()
        while not done.wait(TICK):
            if stop is not None and watch is not None and watch(progress()):
                stop()
                done.wait()
    except BaseException as error:
        if stop is None:
            raise
        stop()
        done.wait()
        if not isinstance(error, KeyboardInterrupt):
            raise
    thread.join()
    if failure:
        raise failure[0]
