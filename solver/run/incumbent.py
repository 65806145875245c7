"""Keep the incumbent of an optimisation, its dual bound, and the trace of both."""

from __future__ import annotations

import copy
import logging
from dataclasses import dataclass, field, replace
from enum import Enum
from threading import RLock
from typing import Generic, TypeVar

from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter

_log = logging.getLogger(__name__)

Solution = TypeVar("Solution")

PROVEN = 1e-9
"""Tolerance within which value and bound are equal: both are sums of doubles."""


class Sense(Enum):
    """Direction of optimisation: values are multiplied by this, and larger ones are better."""

    MAXIMISE = 1.0
    MINIMISE = -1.0


@dataclass
class Incumbent(Generic[Solution]):
    """Keeps the incumbent, the dual bound and their trace; several threads may write to it."""

    clock: Clock
    solution: Solution
    value: float
    bound: float  # on the value of every solution
    report: Reporter | None = None
    phase: str = "attack"  # and `work`, such as the number of cores
    work: str = ""
    sense: Sense = Sense.MAXIMISE
    tolerance: float = PROVEN  # up to which value and bound are equal
    trace: list[tuple[float, float, float]] = field(default_factory=list)  # seconds, value, bound
    _lock: RLock = field(default_factory=RLock, init=False, repr=False, compare=False)

    @property
    def gap(self) -> float:
        """By how much the bound is better than the value; below zero where the value refutes the bound."""
        return self.sense.value * (self.bound - self.value)

    @property
    def proven(self) -> bool:
        """Whether value and bound meet."""
        return self.gap <= self.tolerance

    @property
    def refuted(self) -> bool:
        """Whether the solution is better than the bound allows, so that the bound is wrong."""
        return self.gap < -self.tolerance

    def better(self, value: float, than: float) -> bool:
        """Whether a value is better than another."""
        return self.sense.value * (value - than) > 0.0

    def frozen(self) -> Incumbent[Solution]:
        """Copy the state, unaffected by later changes."""
        with self._lock:
            return replace(self, solution=copy.copy(self.solution), trace=list(self.trace))

    def improve(self, solution: Solution, value: float, *, even: bool = False) -> bool:
        """Accept a better solution, or with `even` an equal one; True when it is better."""
        with self._lock:
            better = self.better(value, self.value)
            if better or (even and value == self.value):
                self.solution, self.value = copy.copy(solution), value
            if better:
                self.note()
        return better

    def tighten(self, bound: float) -> bool:
        """Accept a tighter bound; True when it is one."""
        with self._lock:
            sharper = self.better(self.bound, bound)
            if sharper:
                self.bound = bound
                self.note()
        return sharper

    def enter(self, phase: str) -> None:
        """Begin a phase of the run."""
        if phase != self.phase and _log.isEnabledFor(logging.INFO):
            _log.info("%.3f s: %s", self.clock.seconds, phase)
        self.phase = phase

    def note(self) -> None:
        """Extend the trace and report."""
        with self._lock:
            seconds = self.clock.seconds
            self.trace.append((round(seconds, 4), self.value, self.bound))
            _log.debug("%.3f s: value %g, bound %g", seconds, self.value, self.bound)
            self.tell()

    def tell(self) -> None:
        """Report the current state."""
        if self.report is not None:
            with self._lock:
                self.report(Progress(self.clock.seconds, self.value, self.bound, self.phase, self.work))
