"""The pool of workers of a run: this process, others of this machine, or the workers of a scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from linkrisk.solver.run.cluster import Cluster, Connection
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.remote import Recipe
from linkrisk.solver.run.workers import Given, Processes, Workers

TASKS = "tasks"
"""The phase of a run whose tasks are shared out and counted."""

_ONE_THREAD = 1
"""Of each process, so that N processes use N processors."""


@dataclass(frozen=True)
class PoolChoice:
    """The workers that the user wants: a Dask scheduler's, or processes of this machine."""

    scheduler: str | None = None  # its address
    # with a scheduler, only the number of samples depends on it
    workers: int | None = None

    @property
    def any(self) -> bool:
        """Whether there are to be workers besides this process."""
        return self.scheduler is not None or self.workers is not None


def pool_choice(scheduler: object, workers: object) -> PoolChoice:
    """Check the options before any file is read; UsageError where they are none."""
    if scheduler is not None and (not isinstance(scheduler, str) or not scheduler.strip()):
        raise UsageError(f"the scheduler must be an address such as tcp://127.0.0.1:8786, not {scheduler!r}")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise UsageError(f"the workers must be a whole number of at least 1, not {workers!r}")
    return PoolChoice(scheduler, workers)


class WorkerPool:
    """Workers for each step that a run shares out; UsageError where the scheduler cannot be reached."""

    def __init__(self, choice: PoolChoice | None = None) -> None:
        self.choice = choice or PoolChoice()
        self._open: list[Workers[Any]] = []
        self._known: list[tuple[object, Recipe]] = []
        self._connection = None if self.choice.scheduler is None else Connection(self.choice.scheduler)
        self._slots = None if self._connection is None else self._connection.slots

    def workers(self, given: Given) -> Workers[Given] | None:
        """Start workers that share something; None where the user wants none."""
        if self._connection is not None:
            return self._opened(Cluster(given, self._connection, tuple(self._known)))
        if self.choice.workers is not None:
            return self._opened(Processes(given, self.choice.workers, _ONE_THREAD))
        return None

    def holders(self, parts: Any) -> Workers[Any] | None:
        """Start workers of other machines that hold some parts each; None where there are none."""
        if self._connection is None:
            return None
        return self._opened(Cluster(parts, self._connection, parted=True))

    def _opened(self, workers: Workers[Given]) -> Workers[Given]:
        self._open.append(workers)
        return workers

    def know(self, thing: object, recipe: Recipe | None) -> None:
        """Have workers of other machines rebuild an object, wherever it is in what they share."""
        if recipe is not None and all(other is not thing for other, _ in self._known):
            self._known.append((thing, recipe))

    def prepare(self, do: Callable[..., object], *given: object) -> None:
        """Have the workers of other machines do what this machine does beforehand, such as compiling."""
        if self._connection is not None:
            self._connection.everywhere(do, *given)

    def describe(self) -> dict[str, Any]:
        """Describe the workers for the JSON."""
        if not self.choice.any:
            return {}
        return {
            "workers": {
                "scheduler": self.choice.scheduler,
                "asked": self.choice.workers,
                "at_start": self.choice.workers if self._slots is None else self._slots,
            }
        }

    def rest(self) -> None:
        """End all tasks, and let go of what they share; other workers can be started."""
        while self._open:
            self._open.pop().close()

    def close(self) -> None:
        """End all tasks, and the connection."""
        self.rest()
        if self._connection is not None:
            self._connection.close()


@contextmanager
def open_pool(choice: PoolChoice) -> Iterator[WorkerPool]:
    """Open a pool until the run is over; UsageError where that is impossible."""
    pool = WorkerPool(choice)
    try:
        yield pool
    finally:
        pool.close()
