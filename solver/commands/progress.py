"""A line on the terminal that says what a run is doing; nothing where there is no terminal."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from solver.engines.base import EngineProgress

# Short, so that the numbers and the advice fit a terminal of 80 columns.
_PHASES = {
    "attack": "attacking",
    "build": "building",
    "solve": "proving",
    "branch and bound": "proving",
    "hitting sets": "proving",
}
_TICK = 0.25
"""Seconds between two drawings."""


class ProgressLine:
    """One line, redrawn by a thread of its own, so that its clock runs on while the work is silent.

    It needs no control codes but the carriage return and leaves the cursor as it is: whatever ends the
    process, the terminal stays usable.

    Parameters
    ----------
    stream : text stream
        A terminal.
    text : str
        What to say first.
    """

    def __init__(self, stream: TextIO, text: str) -> None:
        self._stream, self._text = stream, text
        self._began = time.monotonic()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
        self._thread.start()

    def show(self, text: str) -> None:
        """Say something else from the next drawing on."""
        self._text = text

    def report(self, progress: EngineProgress) -> None:
        """Show the attack and the bound of a running engine."""
        phase = _PHASES.get(progress.phase, progress.phase)
        interval = f"{phase}: linked {progress.linked:g}, at most {progress.bound:g}"
        if progress.work:
            gap = progress.bound - progress.linked
            self.show(f"{interval}, gap {gap:g}, {progress.work}  (Ctrl-C stops)")
        else:
            self.show(f"{interval}  (Ctrl-C: stop with this)")

    def close(self) -> None:
        """Take the line away."""
        self._done.set()
        self._thread.join()
        self._draw("")

    def _run(self) -> None:
        while not self._done.wait(_TICK):
            self._draw(f"{time.monotonic() - self._began:6.1f} s  {self._text}")

    def _draw(self, line: str) -> None:
        width = _width(self._stream) - 1
        try:
            self._stream.write("\r" + line[:width].ljust(width) + ("" if line else "\r"))
            self._stream.flush()
        except (OSError, ValueError):  # the terminal is gone; the work goes on
            self._done.set()


@contextmanager
def progress_line(text: str) -> Iterator[ProgressLine | None]:
    """Show progress on standard error while the block runs.

    Parameters
    ----------
    text : str
        What to say first.

    Yields
    ------
    ProgressLine or None
        None when standard error is no terminal.
    """
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield None
        return
    line = ProgressLine(stream, text)
    try:
        yield line
    finally:
        line.close()


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
