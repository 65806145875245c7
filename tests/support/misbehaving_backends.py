"""Backends that go wrong, to see that `solve_isolated` contains them; not a test module."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any, ClassVar

import numpy as np

from linkrisk.solver.backends.base import Backend, BackendProgress, BackendResult, Watcher

GREED = 200 * 2**20


class Misbehaving(Backend):
    requires: ClassVar[tuple[str, ...]] = ()
    takes_watcher: ClassVar[bool] = True

    def version(self) -> str:
        return "0"


class Crashing(Misbehaving):
    name: ClassVar[str] = "crashing"

    def solve(self, *_: Any, **__: Any) -> BackendResult:
        os.write(2, b"free(): invalid pointer\n\n")
        os._exit(134)


class Deaf(Misbehaving):
    """Tells a bound once, then heeds neither the time limit nor a request to stop."""

    name: ClassVar[str] = "deaf"

    def solve(self, *_: Any, watch: Watcher | None = None, **__: Any) -> BackendResult:
        assert watch is not None
        print("chatter that nobody shall see")
        print("more of it", file=sys.stderr)
        watch(BackendProgress(5.0, 3.0))
        time.sleep(600)
        raise AssertionError


class Greedy(Misbehaving):
    """Takes `GREED` bytes, says so, and never looks at its limit; nor does the program that it started."""

    name: ClassVar[str] = "greedy"

    def solve(self, *_: Any, watch: Watcher | None = None, **__: Any) -> BackendResult:
        assert watch is not None
        taken = np.ones(GREED, dtype=np.uint8)
        script = f"x = b'1' * {GREED}; print(flush=True); input()"
        with subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as program:
            assert program.stdout is not None
            program.stdout.readline()
            watch(BackendProgress(5.0, float(taken[-1])))
            program.wait()
        raise AssertionError


class Failing(Misbehaving):
    name: ClassVar[str] = "failing"

    def solve(self, *_: Any, **__: Any) -> BackendResult:
        raise ZeroDivisionError("division by zero")
