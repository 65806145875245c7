"""A task on its way to another process: what it may take there, and its answer with the work that it was.

What it says there is said as here: options are spelled as whoever asked knows them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from linkrisk.errors import Spelling, spell_by, spelling
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.interruption import Cancel

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Allowance:
    """What a task may take in another process.

    Attributes
    ----------
    seconds : float or None
    units : float or None
        Of work, where that is counted.
    threads : int or None
        As many as there are processors where None.
    spelled : callable
        How options are called in what is said there.
    """

    seconds: float | None
    units: float | None
    threads: int | None
    spelled: Spelling = field(default_factory=spelling)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Arrive in another process, where options are spelled as here from now on."""
        self.__dict__.update(state)
        spell_by(self.spelled)

    @classmethod
    def of(cls, clock: Clock, limit: float | None, threads: int | None) -> Allowance:
        """A share of what a run has left, measured as its `now`."""
        if clock.counts:
            return cls(clock.seconds_left, limit, threads)
        return cls(limit, None, threads)

    def clock(self, cancel: Cancel) -> Clock:
        """The clock of the task, there."""
        return Clock(self.seconds, work_limit=self.units, cancel=cancel, most_threads=self.threads)


@dataclass(frozen=True)
class Done(Generic[Answer]):
    """What comes back.

    Attributes
    ----------
    answer : any
    operations : float
        Of work; zero where none is counted.
    """

    answer: Answer
    operations: float

    def counted(self, clock: Clock) -> Answer:
        """The answer, and its work counted here, too."""
        clock.spend(self.operations)
        return self.answer


def done(answer: Answer, clock: Clock) -> Done[Answer]:
    """The answer of a task that had this clock."""
    return Done(answer, clock.operations)
