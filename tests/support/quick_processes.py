"""Processes that tests start are copies of one that has imported the program: a hundredth of the time.

A fresh interpreter takes two seconds of the processor to import what a task needs, and the tests start
hundreds. What a process is given, and what it gives back, goes the same way as in a fresh one.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
from collections.abc import Iterator
from multiprocessing.context import BaseContext

IMPORTED = (
    "linkrisk.solver.worst_case.operations.compare",
    "linkrisk.solver.worst_case.operations.fitting",
    "linkrisk.solver.linkage.operations.link",
    "distributed",
)

_get_context = multiprocessing.get_context
_fresh = False


def install() -> None:
    """Let whoever asks for fresh processes get copies, where these are safe once numerics are imported."""
    if sys.platform == "linux":
        _get_context("forkserver").set_forkserver_preload(list(IMPORTED))
        multiprocessing.get_context = _copies


def _copies(method: str | None = None) -> BaseContext:
    return _get_context("forkserver" if method == "spawn" and not _fresh else method)


@contextlib.contextmanager
def fresh() -> Iterator[None]:
    """Processes as the program starts them: for tests of the processes themselves."""
    global _fresh
    before, _fresh = _fresh, True
    try:
        yield
    finally:
        _fresh = before
