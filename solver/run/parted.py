"""Workers on other machines that share something too large for each: every part of it is with a few of them.

A task needs one part, and is done by a worker that holds it. So nobody holds more than the parts that fall to
it, however large the whole is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeVar

from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.cluster import Cluster, Connection, Wrapped
from linkrisk.solver.run.workers import Answer, Do, Here, Share, Task, Workers

Part = TypeVar("Part", covariant=True)


class Parts(Protocol[Part]):
    """What tasks share, in parts, which may be made when they are asked for."""

    def __len__(self) -> int:
        """How many parts."""

    def __getitem__(self, number: int) -> Part:
        """One of them."""


class HereInParts(Here[Any]):
    """One task after the other in this process, each with the part that it needs (`task.part`)."""

    def each(
        self, do: Do[Any, Task, Answer], tasks: Iterable[Task], clock: Clock, share: Share
    ) -> Iterator[tuple[Task, Answer]]:
        """Do the tasks part by part."""
        parts = self._given
        for number, some in sorted(_by_part(tasks).items()):
            if not clock.expired:
                yield from Here(parts[number]).each(do, some, clock, share)


def _by_part(tasks: Iterable[Task]) -> dict[int, list[Task]]:
    found: dict[int, list[Task]] = {}
    for task in tasks:
        found.setdefault(task.part, []).append(task)  # type: ignore[attr-defined]
    return found


class PartedCluster(Cluster[Any]):
    """The workers of a scheduler, each of which holds some of the parts.

    Part p goes to one worker where there are no more workers than parts, else to several, so that each has
    work to do. Tasks go to whoever holds their part (`task.part`) and to nobody else.

    Parameters
    ----------
    parts : Parts
    connection : Connection
        Stays open when these workers are closed.
    """

    begun = 4  # tasks wait for certain workers: with fewer on their way, some of these would wait for tasks

    def __init__(self, parts: Parts[Any], connection: Connection) -> None:
        super().__init__(parts, connection)
        self._homes: dict[int, tuple[Any, list[str]]] = {}

    def placed(self, task: Any) -> tuple[Any, list[str]]:
        """The part that a task needs, and who holds it; sent again where they have died."""
        number = task.part
        known = self._homes.get(number)
        if known is None or known[0].status != "finished":
            self._homes.pop(number, None)
            who = self._choose()
            client = self.connection.client
            wrapped = Wrapped(self._given[number])
            future = client.scatter(wrapped, workers=who, broadcast=len(who) > 1, hash=False)
            known = self._homes[number] = (future, who)
        return known

    def _choose(self) -> list[str]:
        """Who is to hold one more part: those that hold the fewest."""
        holding = dict.fromkeys(self.connection.addresses, 0)
        if not holding:
            raise OSError("the scheduler has no workers")
        for _, who in self._homes.values():
            for address in who:
                if address in holding:
                    holding[address] += 1
        parts = len(self._given)
        return sorted(holding, key=lambda address: (holding[address], address))[
            : max(1, len(holding) // parts)
        ]

    def here(self) -> Workers[Any]:
        """Whoever does what is left in this process, part by part."""
        return HereInParts(self._given)

    def close(self) -> None:
        """Cancel whatever is still being done, and let workers forget their parts."""
        super().close()
        self._homes = {}
