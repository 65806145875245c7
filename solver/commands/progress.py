"""What a run is doing: a line that is redrawn on a terminal, a plain line now and then in a log."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

from linkrisk.solver.commands.display import Display
from linkrisk.solver.commands.progress_json import ProgressJson
from linkrisk.solver.documents.terminal import columns
from linkrisk.solver.options.run import SECONDS
from linkrisk.solver.run.progress import SILENT, Reporter

_TICK = 0.25
"""Seconds between two drawings."""


JSON = "json"
"""The environment variable `SILENT` with this value asks for lines that programs read."""


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

    def __init__(
        self,
        stream: TextIO,
        text: str,
        limit: float | None = None,
        first: float = 10.0,
        every: float = 30.0,
    ) -> None:
        self._first, self._every = first, every
        super().__init__(stream, text, limit)

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


def limit_shown(arguments: argparse.Namespace, usual: float | None) -> float | None:
    """Seconds that a command may take, which has a `--time-limit` for all that it does; None for no limit.

    What is no limit is left to whoever refuses it.
    """
    if arguments.time_limit is None:
        return usual if getattr(arguments, "work_limit", None) is None else None
    try:
        seconds = float(arguments.time_limit)
    except ValueError:
        return None
    return seconds if 0.0 < seconds < math.inf else None


class Limited(Protocol):
    """A request with a limit of all that a command does."""

    @property
    def time_limit(self) -> float | str | None:
        """Seconds, ``auto`` or None."""


def limit_of(asked: Limited) -> float | None:
    """Seconds that a command may take; None for no limit. What is no limit is left to whoever refuses it."""
    seconds = asked.time_limit
    if isinstance(seconds, str):
        seconds = SECONDS if getattr(asked, "work_limit", None) is None else None
    return seconds if seconds is not None and 0.0 < seconds < math.inf else None


def reporter(line: Display | None) -> Reporter | None:
    """What a search or a compilation tells its progress to: the line, if there is one."""
    return None if line is None else line.report
