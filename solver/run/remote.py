"""Serialise tasks and objects for other processes: limits, answers, deferred data, recipes."""

from __future__ import annotations

import io
import pickle
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from linkrisk.errors import Spelling, spell_by, spelling
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.interruption import Cancel

Answer = TypeVar("Answer")
Made = TypeVar("Made", covariant=True)


class Asked(Cancel):
    """A token that polls a function for cancellation."""

    def __init__(self, stop: Callable[[], bool]) -> None:
        super().__init__()
        self._stop = stop

    @property
    def cancelled(self) -> bool:
        """Whether the function asks to stop."""
        return self._stop()


@dataclass(frozen=True)
class Allowance:
    """Seconds, units of work and threads allowed to a remote task, and the spelling of options."""

    seconds: float | None
    units: float | None
    threads: int | None
    spelled: Spelling = field(default_factory=spelling)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Spell options in the receiving process as in the sending one."""
        self.__dict__.update(state)
        spell_by(self.spelled)

    @classmethod
    def of(cls, clock: Clock, limit: float | None, threads: int | None) -> Allowance:
        """Allot a share of a run's remaining time or work."""
        if clock.counts:
            return cls(clock.seconds_left, limit, threads)
        return cls(limit, None, threads)

    def clock(self, cancel: Cancel) -> Clock:
        """Start the clock of the task."""
        return Clock(self.seconds, work_limit=self.units, cancel=cancel, most_threads=self.threads)


@dataclass(frozen=True)
class Done(Generic[Answer]):
    """The answer of a remote task, with the operations that it took."""

    answer: Answer
    operations: float

    def counted(self, clock: Clock) -> Answer:
        """Count the task's work in this process, and return the answer."""
        clock.spend(self.operations)
        return self.answer


class Deferred(Generic[Made]):
    """Data that are created when a task runs here or is sent: only the data are sent then."""

    def __init__(self, make: Callable[..., Made], *given: Any) -> None:
        self._make, self._given = make, given

    def made(self) -> Made:
        """Create the data."""
        return self._make(*self._given)

    def __reduce__(self) -> tuple[Any, ...]:
        return Deferred, (_itself, self.made())


def _itself(given: Any) -> Any:
    return given


class Recipe(Protocol):
    """Picklable recipe by which workers rebuild an object from what they have."""

    def make(self) -> object | None:
        """Rebuild the object; None if that is impossible or would give another object."""


Known = Sequence[tuple[object, Recipe]]
"""Objects that workers can rebuild, each with its recipe."""


class UnmadeError(Exception):
    """Raised by a worker that cannot rebuild an object, which then has to be sent."""


class _Packer(pickle.Pickler):
    def __init__(self, target: io.BytesIO, known: Known) -> None:
        super().__init__(target, protocol=pickle.HIGHEST_PROTOCOL)
        self._recipes = {id(thing): recipe for thing, recipe in known}

    def persistent_id(self, obj: object) -> Recipe | None:
        return self._recipes.get(id(obj))


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, pid: Recipe) -> object:
        made = pid.make()
        if made is None:
            raise UnmadeError("it has to be sent")
        return made


class Packed:
    """A pickled object with recipes in place of the parts that workers can rebuild, once each."""

    def __init__(self, given: object, known: Known = (), content: bytes | None = None) -> None:
        self._lock = threading.Lock()
        self._content, self._made = content, [] if known or content else [given]
        if known:
            target = io.BytesIO()
            _Packer(target, known).dump(given)
            self._content = target.getvalue()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Packed, (self._made[0],)) if self._content is None else (Packed, (None, (), self._content))

    @property
    def given(self) -> Any:
        """Restore the object; UnmadeError if a part cannot be rebuilt here."""
        with self._lock:
            if not self._made:
                self._made.append(_Unpacker(io.BytesIO(self._content or b"")).load())
            return self._made[0]
