"""Processes that tests start are copies of one that has imported the program: a hundredth of the time.

A fresh interpreter takes two seconds of the processor to import what a task needs, and the tests start
hundreds. What a process is given, and what it gives back, goes the same way as in a fresh one.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import sys
from collections.abc import Iterator
from multiprocessing import forkserver
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest

SUPPORT = str(Path(__file__).parent)

IMPORTED = (
    "linkrisk.solver.worst_case.operations.compare",
    "linkrisk.solver.worst_case.operations.fit",
    "linkrisk.solver.linkage.operations.link",
    "linkrisk.solver.app.runner",
    "linkrisk.solver.certificates.writing.table",
    "linkrisk.solver.commands.pairs",
    "linkrisk.solver.commands.tables",
    "linkrisk.solver.report.page",
    "linkrisk.solver.tables.operations.suppress_and_audit",
    "linkrisk.solver.tables.pages.build",
    "altair",
    "distributed",
    "highspy",
    "warm_process",
)

_get_context = multiprocessing.get_context
_fresh = False


def install() -> None:
    """Let whoever asks for fresh processes get copies, where these are safe once numerics are imported."""
    if sys.platform == "linux":
        _get_context("forkserver").set_forkserver_preload(list(IMPORTED))
        multiprocessing.get_context = _copies


def _copies(method: str | None = None) -> BaseContext:
    if method != "spawn" or _fresh:
        return _get_context(method)
    start()
    return _get_context("forkserver")


@functools.cache
def start() -> None:
    """Have the process that others are copies of; it finds `warm_process` beside this module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", SUPPORT, prepend=os.pathsep)
        forkserver.ensure_running()


@contextlib.contextmanager
def fresh() -> Iterator[None]:
    """Processes as the program starts them: for tests of the processes themselves."""
    global _fresh
    before, _fresh = _fresh, True
    try:
        yield
    finally:
        _fresh = before
