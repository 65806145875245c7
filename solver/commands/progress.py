"""What a run is doing: a line that is redrawn on a terminal, a plain line now and then in a log."""

from __future__ import annotations

import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, TextIO

from linkrisk.solver.compiling.ahead import PHASE
from linkrisk.solver.linkage.spreading import TASKS
from linkrisk.solver.run.incumbent import Progress, Reporter

# Short, so that the numbers and the advice fit a terminal of 80 columns.
_PHASES = {
    "compare": "comparing",
    "attack": "attacking",
    "build": "building",
    "solve": "proving",
    "branch and bound": "proving",
    "branch and cut": "proving",
    "hitting sets": "proving",
}
_TICK = 0.25
"""Seconds between two drawings."""

SILENT = "LINKRISK_PROGRESS"
"""Set this environment variable to ``none`` to show no progress."""


class Display(ABC):
    """Says what a run is doing, from a thread of its own, so that its clock runs on while the work is silent.

    Parameters
    ----------
    stream : text stream
    text : str
        What to say first.
    """

    def __init__(self, stream: TextIO, text: str) -> None:
        self._stream, self._text = stream, text
        self._began = time.monotonic()
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
        """Show the attack and the bound of a running engine."""
        if progress.phase == PHASE:
            self.announce("compiling, once for this machine: a minute or two")
            return
        if progress.phase == TASKS:
            self.show(f"comparing records: {progress.work}")
            return
        phase = _PHASES.get(progress.phase, progress.phase)
        interval = f"{phase}: linked {_short(progress.value)}, at most {_short(progress.bound)}"
        if progress.work:
            gap = progress.bound - progress.value
            interval = f"{interval}, gap {_short(gap)}, {progress.work}"
        self.show(interval + (self.short_advice if progress.work else self.advice))

    advice: ClassVar[str] = ""
    short_advice: ClassVar[str] = ""

    @abstractmethod
    def _run(self) -> None:
        """Show the current state until all is done."""

    @property
    def _line(self) -> str:
        return f"{time.monotonic() - self._began:6.1f} s  {self._text}"

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
        width = _width(self._stream) - 1
        self._write("\r" + line[:width].ljust(width) + ("" if line else "\r"))


class ProgressLog(Display):
    """A plain line now and then, for logs and pipes: nothing for work that is done within a few seconds.

    Parameters
    ----------
    stream : text stream
    text : str
        What to say first.
    first, every : float
        Seconds before the first line, and between two.
    """

    def __init__(self, stream: TextIO, text: str, first: float = 10.0, every: float = 30.0) -> None:
        self._first, self._every = first, every
        super().__init__(stream, text)

    def announce(self, text: str) -> None:
        """Write the line now."""
        super().announce(text)
        self._write(text + "\n")

    def _run(self) -> None:
        wait = self._first
        while not self._done.wait(wait):
            self._write(self._line.lstrip() + "\n")
            wait = self._every


@contextmanager
def progress_line(text: str) -> Iterator[Display | None]:
    """Show progress on standard error while the block runs.

    Parameters
    ----------
    text : str
        What to say first.

    Yields
    ------
    Display or None
        None where there is no standard error, or `SILENT` says so.
    """
    stream = sys.stderr
    if stream is None or os.environ.get(SILENT) == "none":
        yield None
        return
    line = ProgressLine(stream, text) if stream.isatty() else ProgressLog(stream, text)
    try:
        yield line
    finally:
        line.close()


def reporter(line: Display | None) -> Reporter | None:
    """What a search or a compilation tells its progress to: the line, if there is one."""
    return None if line is None else line.report


def _short(value: float) -> str:
    """Six digits, and whole numbers whole."""
    return str(int(value)) if value.is_integer() else f"{value:g}"


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
