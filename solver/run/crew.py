"""Who does the work of a run: this process, others of this machine, or the workers of a scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from linkrisk.solver.run.cluster import Cluster, Connection
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.recipes import Recipe
from linkrisk.solver.run.workers import Given, Processes, Workers

_ONE_THREAD = 1
"""Of each process, so that N processes use N processors."""


@dataclass(frozen=True)
class CrewChoice:
    """What the user asks for.

    Attributes
    ----------
    scheduler : str, optional
        Address of a Dask scheduler.
    workers : int, optional
        Processes of this machine; with a scheduler, only for how many samples are planned.
    """

    scheduler: str | None = None
    workers: int | None = None

    @property
    def asked(self) -> bool:
        """Whether anybody but this process is to work."""
        return self.scheduler is not None or self.workers is not None


def crew_choice(scheduler: object, workers: object) -> CrewChoice:
    """What was asked for, checked before anything is read; UsageError when it cannot be."""
    if scheduler is not None and (not isinstance(scheduler, str) or not scheduler.strip()):
        raise UsageError(f"the scheduler must be an address such as tcp://127.0.0.1:8786, not {scheduler!r}")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise UsageError(f"the workers must be a whole number of at least 1, not {workers!r}")
    return CrewChoice(scheduler, workers)


class Crew:
    """Workers for whatever a run shares out, all closed at its end.

    Parameters
    ----------
    choice : CrewChoice

    Attributes
    ----------
    choice : CrewChoice
    """

    def __init__(self, choice: CrewChoice | None = None) -> None:
        self.choice = choice or CrewChoice()
        self._open: list[Workers[Any]] = []
        self._known: list[tuple[object, Recipe]] = []
        self._connection = None if self.choice.scheduler is None else Connection(self.choice.scheduler)
        self._slots = None if self._connection is None else self._connection.slots

    def workers(self, given: Given) -> Workers[Given] | None:
        """Workers that share something; None where none were asked for."""
        found: Workers[Given]
        if self._connection is not None:
            found = Cluster(given, self._connection, tuple(self._known))
        elif self.choice.workers is not None:
            found = Processes(given, self.choice.workers, _ONE_THREAD)
        else:
            return None
        self._open.append(found)
        return found

    def know(self, thing: object, recipe: Recipe | None) -> None:
        """Have workers of other machines make something themselves, wherever it is in what they share."""
        if recipe is not None and all(other is not thing for other, _ in self._known):
            self._known.append((thing, recipe))

    def prepare(self, do: Callable[..., object], *given: object) -> None:
        """Have the workers of other machines compile, or whatever this machine does beforehand."""
        if self._connection is not None:
            self._connection.everywhere(do, *given)

    def describe(self) -> dict[str, Any]:
        """What is said of it in the JSON; nothing where nobody was asked for."""
        if not self.choice.asked:
            return {}
        return {
            "workers": {
                "scheduler": self.choice.scheduler,
                "asked": self.choice.workers,
                "at_start": self.choice.workers if self._slots is None else self._slots,
            }
        }

    def rest(self) -> None:
        """End all that is still being done, and let go of what was shared; others can be had."""
        while self._open:
            self._open.pop().close()

    def close(self) -> None:
        """End all that is still being done."""
        self.rest()
        if self._connection is not None:
            self._connection.close()


@contextmanager
def hired(choice: CrewChoice) -> Iterator[Crew]:
    """A crew, until the run is over; UsageError where it cannot be had."""
    crew = Crew(choice)
    try:
        yield crew
    finally:
        crew.close()
