"""What can be done in a process of its own: solving a model on a backend, or what an engine makes of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from linkrisk.arrays import FloatArray
from linkrisk.formulations.programs import MilpModel
from linkrisk.solver.backends.base import Backend, BackendResult, SolveOptions, Watcher


class Job(ABC):
    """Work for a process of its own. It goes there pickled.

    Attributes
    ----------
    title : str
        What works, for messages: ``backend 'highs'``.
    name : str
        The backend that the result names when the process has not answered.
    time_limit : float or None
        Seconds for `run`.
    takes_watcher : bool
        Whether `run` calls `watch`.
    """

    title: str
    name: str
    time_limit: float | None
    takes_watcher: bool

    @abstractmethod
    def prepare(self) -> None:
        """Import what the work needs, before the clock starts."""

    @abstractmethod
    def run(self, watch: Watcher | None) -> BackendResult:
        """Do the work; `RuntimeError` when it fails."""


class SolveJob(Job):
    """Solving a model on a backend."""

    def __init__(
        self, backend: Backend, model: MilpModel, options: SolveOptions, starts: Sequence[FloatArray]
    ) -> None:
        self._backend, self._model, self._options, self._starts = backend, model, options, starts
        self.title, self.name = f"backend {backend.name!r}", backend.name
        self.time_limit, self.takes_watcher = options.time_limit, backend.takes_watcher

    def prepare(self) -> None:
        """Import the optimiser."""
        self._backend.version()

    def run(self, watch: Watcher | None) -> BackendResult:
        """Solve."""
        return self._backend.solve(self._model, self._options, starts=self._starts, watch=watch)
