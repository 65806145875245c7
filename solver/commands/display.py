"""Whatever shows what a run is doing: a thread of its own, and the words for a phase."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from typing import ClassVar, TextIO

from linkrisk.solver.compiling.ahead import PHASE
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.run.pool import TASKS
from linkrisk.solver.run.progress import CONTEST, SWEEP, Progress, phase_name


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
        """Say something else, at once if possible."""
        self.show(text)

    def show(self, text: str) -> None:
        """Say something else from the next time on."""
        self._text = text

    def report(self, progress: Progress) -> None:
        """Show what a running call says of itself."""
        self._count_compiling(progress.phase == PHASE)
        if progress.phase == PHASE:
            self.announce("compiling, once for this machine: a minute or two")
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
        return f"solving {'with the engine' if progress.about == ExactEngine.name else 'on'} {progress.about}"
    what = progress.work or progress.about
    return f"{phase_name(progress.phase)}: {what}" if what else phase_name(progress.phase)


def _short(value: float) -> str:
    """Six digits, and whole numbers whole."""
    return str(int(value)) if float(value).is_integer() else f"{value:g}"
