"""The pieces of a table shared out: in this process, or to several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.workers import Here, Processes, Workers
from linkrisk.solver.tables.attackers.furthest import Furthest
from linkrisk.solver.tables.attackers.pieces import Piece

Task = TypeVar("Task")
Answer = TypeVar("Answer")


@dataclass(eq=False)
class Work:
    """What all tasks share; each process makes the programs of the pieces that its tasks are about."""

    pieces: list[Piece]
    _now: tuple[int, Furthest] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, object]:
        """Without the program in the hands of the optimiser."""
        return {"pieces": self.pieces, "_now": None}

    def program(self, number: int) -> Furthest:
        """That of a piece; the last one is kept, with all that was seen in it."""
        if self._now is None or self._now[0] != number:
            self._now = (number, Furthest(self.pieces[number]))
        return self._now[1]


def answers(
    work: Work,
    do: Callable[[Work, tuple[int, Task], Clock], Answer],
    tasks: Sequence[Task],
    clock: Clock,
    workers: int | None,
) -> Iterator[tuple[Task, Answer]]:
    """The answers to tasks as they come, whoever gives them, as far as there is time.

    `do`: at the top level of a module; its task comes with a number. `workers`: processes beside this one.
    """
    here = Here(work)
    crew: Workers[Work] = here if workers is None else Processes(work, workers, 1)
    left = dict(enumerate(tasks))
    try:
        for who in (crew, here):  # a process that died must not cost an answer
            for (number, task), answer in who.each(do, list(left.items()), clock, lambda _: clock.remaining):
                del left[number]
                yield task, answer
    finally:
        crew.close()
