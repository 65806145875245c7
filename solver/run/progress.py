"""Report progress: incumbent, bound, phase and share done; and find out whether a notebook shows it."""

from __future__ import annotations

import importlib
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

MEASURES, CONTEST, SWEEP = "measures", "contest", "sweep"
"""Phases of `risk`, `compare` and `sweep`; searches name theirs themselves."""

TASKS = "tasks"
"""Phase of a run with progress in tasks of the pool."""

# Short, so that the numbers and the advice fit a terminal of 80 columns.
_WORDS = {
    "compile": "compiling",
    "tasks": "comparing records",
    "compare": "comparing",
    "attack": "attacking",
    "build": "building",
    "solve": "proving",
    "branch and bound": "proving",
    "branch and cut": "proving",
    "hitting sets": "proving",
    CONTEST: "solving",
    MEASURES: "measuring",
}


@dataclass(frozen=True)
class Progress:
    """What a run knows so far.

    Attributes
    ----------
    seconds : float
        Of the clock of what is being done.
    value, bound : float
        Best value, and bound on every other: linked records of a `fit`; NaN where nothing is searched.
    phase : str
        What it is doing.
    work : str
        How much of it, such as ``1085 cores``; empty where there is nothing to count.
    about : str
        The family, measure or masking it does this for; empty where there is none.
    total : float or None
        Records (or weight) that there are, where they are known.
    done : float or None
        Share of the whole call that is done, from 0 to 1, where it is known. It grows in steps.
    cost : float
        Instead of a value, where the least is searched: that of the best answer; `bound` is below it. NaN
        else.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> seen = []
    >>> result = linkrisk.fit(iris, masked, on_progress=seen.append)
    >>> isinstance(seen[0], linkrisk.Progress)
    True
    """

    seconds: float
    value: float
    bound: float
    phase: str
    work: str = ""
    about: str = ""
    total: float | None = None
    done: float | None = None
    cost: float = math.nan

    @classmethod
    def of_cost(cls, phase: str, cost: float, bound: float, work: str, *, about: str = "") -> Progress:
        """Make the progress of a minimisation, whose `work` has cost and bound in words."""
        return cls(0.0, math.nan, bound, phase, work, about, cost=cost)

    @classmethod
    def uncounted(cls, phase: str, work: str = "", *, about: str = "", done: float | None = None) -> Progress:
        """Make the progress of work without value and bound, such as compilation."""
        return cls(0.0, math.nan, math.nan, phase, work, about, None, done)

    @property
    def counted(self) -> bool:
        """Whether there is a value and a bound."""
        return math.isfinite(self.value) and math.isfinite(self.bound)


def phase_name(phase: str) -> str:
    """Name a phase for people and programs, with one name for all kinds of proof."""
    return _WORDS.get(phase, phase)


Reporter = Callable[[Progress], None]
"""Callback for progress, called in the thread that reports it."""


def of_search(report: Reporter | None, about: str, total: float, unit: float) -> Reporter | None:
    """Make the reporter of one search, with values in multiples of `unit` and their `total`."""
    if report is None:
        return None
    inner = report

    def tell(progress: Progress) -> None:
        value, bound = progress.value * unit, progress.bound * unit
        inner(replace(progress, value=value, bound=bound, about=about, total=total))

    return tell


def part_of_call(report: Reporter | None, low: float, high: float) -> Reporter | None:
    """Make the reporter of a part of a call, between two shares of it."""
    if report is None:
        return None
    inner = report

    def tell(progress: Progress) -> None:
        inner(replace(progress, done=low + (high - low) * (progress.done or 0.0)))

    return tell


SILENT = "LINKRISK_PROGRESS"
"""Environment variable that disables progress in commands and notebooks if it is ``none``."""


def notebook() -> Any | None:
    """Import `IPython.display` in a notebook kernel; None elsewhere."""
    ipython = sys.modules.get("IPython")
    if ipython is None or os.environ.get(SILENT) == "none":
        return None
    shell = ipython.get_ipython()
    if getattr(shell, "kernel", None) is None:  # such as IPython on a terminal
        return None
    return importlib.import_module("IPython.display")
