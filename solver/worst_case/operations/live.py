"""Display the closing gap in a notebook during a call."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.documents.notebook import card
from linkrisk.solver.run.number_format import count
from linkrisk.solver.run.progress import MEASURES, Progress, Reporter, notebook, phase_name
from linkrisk.solver.schemas.intervals import is_bound, percents, shares_of

EVERY = 0.5
"""Minimum seconds between two updates: fewer updates cost the search less."""

_ROWS = 6
"""Number of searches shown, the last ones of a sweep."""


@contextmanager
def watched(on_progress: Reporter | None) -> Iterator[Reporter | None]:
    """Yield the caller's progress callback, or the display of the notebook's cell."""
    display = notebook() if on_progress is None else None
    if display is None:
        yield on_progress
        return
    live = Live(display)
    try:
        yield live.report
    finally:
        live.draw()


class Live:
    """Display of the state of each search, updated at most twice a second."""

    def __init__(self, display: Any) -> None:
        self._display, self._thread = display, threading.get_ident()
        self._searches: dict[str, Progress] = {}
        self._last: Progress | None = None
        self._began = self._drawn = time.monotonic()
        self._handle: Any | None = None
        self._lock = threading.Lock()

    def report(self, progress: Progress) -> None:
        """Record the state; update the display in the thread of the cell, to which its output belongs."""
        with self._lock:
            self._last = progress
            if progress.counted and progress.phase != MEASURES:
                self._searches.pop(progress.about, None)
                self._searches[progress.about] = progress
        if threading.get_ident() == self._thread and time.monotonic() - self._drawn >= EVERY:
            self.draw()

    def draw(self) -> None:
        """Update the display, unless nothing has been reported."""
        with self._lock:
            searches, last = list(self._searches.values())[-_ROWS:], self._last
        if last is None:
            return
        picture = Picture(searches, last, time.monotonic() - self._began)
        if self._handle is None:
            self._handle = self._display.display(picture, display_id=True)
        else:
            self._handle.update(picture)
        self._drawn = time.monotonic()


class Picture:
    """State of a call, as HTML and as text."""

    def __init__(self, searches: list[Progress], last: Progress, seconds: float) -> None:
        self._searches, self._last, self._seconds = searches, last, seconds

    def _repr_html_(self) -> str | None:
        lines: list[str | tuple[float, float]] = []
        for one in self._searches:
            lines += [_said(one), shares_of(one.value, one.bound, one.total or 0.0)]
        return card(self._doing, lines)

    def __repr__(self) -> str:
        return "\n".join([self._doing, *map(_said, self._searches)])

    @property
    def _doing(self) -> str:
        last = self._last
        about = f" {last.about}" if last.phase == MEASURES else ""
        work = f", {last.work}" if last.work else ""
        done = "" if last.done is None else f", {100.0 * last.done:.0f} % of the call done"
        return f"{self._seconds:.1f} s, {phase_name(last.phase)}{about}{work}{done}"


def _said(search: Progress) -> str:
    title = words_of(search.about).title
    total = search.total or 0.0
    shares = shares_of(search.value, search.bound, total)
    known = (search.value, search.bound) if is_bound(*shares, 1.0) else (search.value,)
    ends = " to ".join(map(count, dict.fromkeys(known)))  # one where they meet
    said = f"{ends} of {count(total)} ({percents(*shares)})"
    return f"{title[:1].upper()}{title[1:]}: {said}"
