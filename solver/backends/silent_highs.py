"""HiGHS without its banner: the first `Highs` object of a process prints two lines since version 1.16."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from contextlib import ExitStack
from functools import cache
from types import ModuleType

_STDOUT = 1
"""The descriptor that C writes to, whatever `sys.stdout` is."""

_once = threading.Lock()


def silent_highspy() -> ModuleType:
    """Import `highspy`, and make its first object where nobody reads what it prints.

    Whoever makes a `Highs` object, or calls a library that does, calls this before. Options come too late:
    the banner is printed before any can be set, once in a process.
    """
    with _once:
        return _imported()


@cache
def _imported() -> ModuleType:
    import highspy

    if sys.stdout is not None:
        sys.stdout.flush()
    with ExitStack() as stack:
        try:
            printed = stack.enter_context(tempfile.TemporaryFile())
            outer = os.dup(_STDOUT)
            stack.callback(os.close, outer)
        except OSError:  # there is no standard output, or no place for what is printed
            highspy.Highs()
            return highspy
        os.dup2(printed.fileno(), _STDOUT)
        try:
            highspy.Highs()
        finally:
            os.dup2(outer, _STDOUT)
        printed.seek(0)
        if others := _without_banner(printed.read()):  # what other threads have printed meanwhile
            os.write(outer, others)
    return highspy


def _without_banner(printed: bytes) -> bytes:
    """The lines that are not of HiGHS."""
    banner = (b"Running HiGHS ", b"Includes third-party software")
    return b"".join(line for line in printed.splitlines(keepends=True) if not line.startswith(banner))
