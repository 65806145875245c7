"""The logbook of a batch: its commands and what came of them, with times, added to the file at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.record import version
from linkrisk.datasets.microdata.writing import write_whole
from linkrisk.datasets.tables.argus.batch_file import logbook_of
from linkrisk.solver.run.clock import Clock

_STAMP = "%d-%b-%Y %H:%M:%S"
_LINE = re.compile(rb"\s*\d\d-\w{3}-\d{4} \d\d:\d\d:\d\d :")
"""How a line begins, here and in what the program has written before."""


class Logbook:
    """Lines that are added to a file, all of them or none; without a file they are forgotten.

    Attributes
    ----------
    file : Path or None
    """

    def __init__(self, batch: str | Path) -> None:
        self.file = logbook_of(batch)
        self._lines: list[str] = []
        self._clock = Clock(None)
        self.note(f"Start of run: linkrisk {version()}, batch {batch}")

    def note(self, text: str) -> None:
        """Write a line, with the time."""
        self._lines.append(f"{datetime.now().strftime(_STAMP)} : {' '.join(text.split())}")

    def lap(self) -> str:
        """Seconds since this was asked last."""
        seconds, self._clock = self._clock.seconds, Clock(None)
        return f"{seconds:.1f} s"

    def content(self) -> bytes:
        """What is in the file already, and these lines.

        Raises
        ------
        DataError
            If the file is none of a logbook: it may be data.
        """
        assert self.file is not None
        try:
            before = self.file.read_bytes() if self.file.exists() else b""
        except OSError as error:
            raise DataError(f"{self.file}: cannot be read as a logbook: {error.strerror}") from error
        if before.strip() and _LINE.match(before) is None:
            raise DataError(f"{self.file} is there, and no logbook; give <LOGBOOK> another name")
        if before and not before.endswith(b"\n"):
            before += b"\n"
        return before + "".join(f"{line}\n" for line in self._lines).encode()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Write it when what is done ends with an error, which is its last but one line."""
        if self.file is not None:
            self.content()  # refused before anything is done
        try:
            yield
        except BaseException as error:
            if self._lines[-1].endswith(" written"):  # which failed
                self._lines.pop()
            self.note(f"Failure: {str(error) or 'interrupted'}")
            self.note("End of run: nothing is written")
            if self.file is not None:
                with suppress(DataError):  # what went wrong before is what counts
                    write_whole(self.file, self.content())
            raise
