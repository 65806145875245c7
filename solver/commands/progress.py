"""Progress of a run: a line redrawn on a terminal, lines of a log, or JSON for programs."""

from __future__ import annotations

import json
import math
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Protocol, TextIO

from linkrisk.solver.compiling.parts import PHASE, READY
from linkrisk.solver.documents.terminal import columns
from linkrisk.solver.options.names import ENGINES
from linkrisk.solver.options.run import SECONDS
from linkrisk.solver.run.progress import CONTEST, SILENT, SWEEP, TASKS, Progress, Reporter, phase_name

_TICK = 0.25
"""Seconds between two drawings."""

JSON = "json"
"""The environment variable `SILENT` with this value asks for lines that programs read."""


class Display(ABC):
    """Says what a run is doing, from a thread of its own, so that its clock runs on while the work is silent.

    Parameters
    ----------
    stream : text stream
    text : str
        What to say first.
    limit : float, optional
        Seconds that all of it may take.
    """

    def __init__(self, stream: TextIO, text: str, limit: float | None = None) -> None:
        self._stream, self._text, self._limit = stream, text, limit
        self._began = time.monotonic()
        self._compiling: float | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
        self._thread.start()

    def announce(self, text: str) -> None:
        """Say that something has begun that happens once."""
        self.show(text)

    def show(self, text: str) -> None:
        """Say something else from the next time on."""
        self._text = text

    def report(self, progress: Progress) -> None:
        """Show the progress of a running call."""
        compiling = progress.phase == PHASE and progress.work != READY
        self._count_compiling(compiling)
        if compiling:
            self.announce("compiling, once for this machine")
        elif progress.phase == PHASE:
            self.show("compiled")
        elif progress.counted and progress.phase != SWEEP:
            phase, details = phase_name(progress.phase), [progress.work] if progress.work else []
            if progress.done is not None:  # a part of the call: which one says more than its work
                phase, details = f"{progress.done:.0%} {phase} {progress.about}".rstrip(), []
            gap = f", gap {_short(progress.bound - progress.value)}" if details else ""
            linked = f"linked {_short(progress.value)}, at most {_short(progress.bound)}{gap}"
            short = details or progress.done is not None or self._limit is not None
            advice = self.short_advice if short else self.advice
            self.show(f"{phase}: {', '.join([linked, *details])}{advice}")
        else:
            self.show(_uncounted(progress) + ("" if progress.phase == TASKS else self.short_advice))

    def _count_compiling(self, compiling: bool) -> None:
        """Leave the time of compiling out: no limit counts it."""
        now = time.monotonic()
        if self._compiling is not None:
            self._began += now - self._compiling
        self._compiling = now if compiling else None

    of: ClassVar[str] = "of"
    advice: ClassVar[str] = ""
    short_advice: ClassVar[str] = ""

    @abstractmethod
    def _run(self) -> None:
        """Show the current state until all is done."""

    @property
    def _line(self) -> str:
        hidden = self._limit is None or self._compiling is not None
        most = "" if hidden else f" {self.of} {self._limit:g}"
        return f"{time.monotonic() - self._began:6.1f}{most} s  {self._text}"

    def close(self) -> None:
        """Say no more."""
        self._done.set()
        self._thread.join()

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the reader is gone; the work goes on
            self._done.set()


def _uncounted(progress: Progress) -> str:
    """Words for what has no value and bound."""
    if progress.phase == SWEEP:
        return progress.work
    if progress.phase == CONTEST:
        return f"solving {'with the engine' if progress.about == ENGINES[0] else 'on'} {progress.about}"
    what = progress.work or progress.about
    return f"{phase_name(progress.phase)}: {what}" if what else phase_name(progress.phase)


def _short(value: float) -> str:
    """Format a number in six digits; integers without decimals."""
    return str(int(value)) if float(value).is_integer() else f"{value:g}"


class ProgressLine(Display):
    """One line, redrawn again and again.

    It needs no control codes but the carriage return and leaves the cursor as it is: whatever ends the
    process, the terminal stays usable.
    """

    advice = "  (Ctrl-C: stop with this)"
    short_advice = "  (Ctrl-C stops)"

    def close(self) -> None:
        """Take the line away."""
        super().close()
        self._draw("")

    def _run(self) -> None:
        while not self._done.wait(_TICK):
            self._draw(self._line)

    def _draw(self, line: str) -> None:
        width = columns(self._stream) - 1
        self._write("\r" + line[:width].ljust(width) + ("" if line else "\r"))


class ProgressLog(Display):
    """A plain line now and then, for logs and pipes: nothing for work that is done within a few seconds.

    `text`: what to say first. `limit`: seconds that all of it may take. `first`, `every`: seconds before the
    first line, and between two.
    """

    of = "of at most"
    patience: ClassVar[float] = 1.0
    """Seconds that something may take before it is announced."""

    def __init__(
        self,
        stream: TextIO,
        text: str,
        limit: float | None = None,
        first: float = 10.0,
        every: float = 30.0,
    ) -> None:
        self._first, self._every = first, every
        self._announced = False
        super().__init__(stream, text, limit)

    def announce(self, text: str) -> None:
        """Write the line when it has taken more than a second, and never again: others say what is done."""
        self.show(text.split(",")[0])
        timer = threading.Timer(self.patience, self._announce, [text])
        timer.daemon = True
        timer.start()

    def _announce(self, text: str) -> None:
        if self._compiling is not None and not self._announced and not self._done.is_set():
            self._announced = True
            self._write(text + "\n")

    def _run(self) -> None:
        wait = self._first
        while not self._done.wait(wait):
            self._write(self._line.lstrip() + "\n")
            wait = self._every


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


@contextmanager
def progress_line(text: str, limit: float | None = None) -> Iterator[Display | None]:
    """Show progress on standard error while the block runs.

    `text`: what to say first. `limit`: seconds that the block may take, which stand beside those that have
    passed. Yields: None where there is no standard error, or `SILENT` says so.
    """
    stream = sys.stderr
    if stream is None or os.environ.get(SILENT) == "none":
        yield None
        return
    kind: type[Display] = ProgressLine if stream.isatty() else ProgressLog
    line = (ProgressJson if os.environ.get(SILENT) == JSON else kind)(stream, text, limit)
    try:
        yield line
    finally:
        line.close()


class Limited(Protocol):
    """A request with a limit of all that a command does."""

    @property
    def time_limit(self) -> float | str | None:
        """Seconds, ``auto`` or None."""


def limit_of(asked: Limited) -> float | None:
    """Seconds that a command may take; None for no limit, and for a value that will be refused."""
    seconds = asked.time_limit
    if isinstance(seconds, str):
        seconds = SECONDS if getattr(asked, "work_limit", None) is None else None
    return seconds if seconds is not None and 0.0 < seconds < math.inf else None


def reporter(line: Display | None) -> Reporter | None:
    """Return the reporter of a line of progress, if there is one."""
    return None if line is None else line.report
