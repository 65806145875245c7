"""What a run is doing, as lines that programs read."""

from __future__ import annotations

import json
import math
import threading
import time
from typing import Any, TextIO

from linkrisk.solver.commands.display import Display
from linkrisk.solver.run.progress import Progress, phase_name


class ProgressJson(Display):
    """A JSON object per line for every change, for programs: at most five a second.

    The last state is always written, of each family or measure too.

    Keys: ``seconds`` since the beginning, ``phase``, ``about`` (the family, measure, masking or backend),
    ``linked``, ``bound`` and ``total`` (of a search; ``cost`` and ``bound`` of one for the least), ``work``
    (how much of the phase), ``done`` (share of the whole call, 0 to 1; it grows in steps), ``limit`` (seconds
    that the whole call may take). What is not known is null.
    """

    every = 0.2
    """Seconds between two lines at least."""

    def __init__(self, stream: TextIO, text: str, limit: float | None = None) -> None:
        self._limit = limit
        self._lock, self._changed = threading.RLock(), threading.Event()
        self._changed.set()
        self._state = self._of(0.0, Progress.uncounted(text))
        self._written: dict[str, Any] = {}
        super().__init__(stream, text, limit)

    def show(self, text: str) -> None:
        """Name what is done as a phase of its own."""
        self.report(Progress.uncounted(text))

    def report(self, progress: Progress) -> None:
        """Note the state, to be written in its turn."""
        state = self._of(time.monotonic() - self._began, progress)
        with self._lock:
            if state["about"] != self._state["about"]:  # the last state of each family and measure is kept
                self._write_change()
            self._state = state
        self._changed.set()

    def _of(self, seconds: float, progress: Progress) -> dict[str, Any]:
        return {
            "seconds": round(seconds, 3),
            "phase": phase_name(progress.phase),
            "about": progress.about or None,
            "linked": _finite(progress.value),
            "cost": _finite(progress.cost),
            "bound": _finite(progress.bound),
            "total": progress.total,
            "work": progress.work or None,
            "done": None if progress.done is None else round(progress.done, 4),
            "limit": self._limit,
        }

    def close(self) -> None:
        """Write the last state, and no more."""
        self._done.set()
        self._changed.set()
        self._thread.join()
        self._write_change()

    def _run(self) -> None:
        while not self._done.is_set():
            self._changed.wait()
            self._changed.clear()
            self._write_change()
            self._done.wait(self.every)

    def _write_change(self) -> None:
        with self._lock:
            if _timeless(self._state) != _timeless(self._written):
                self._written = self._state
                self._write(json.dumps(self._state) + "\n")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _timeless(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name != "seconds"}
