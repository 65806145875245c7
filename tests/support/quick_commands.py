"""Runs of the application, and their commands, in copies of a process that has imported the program.

A process of its own takes two seconds of the processor for its imports, a run of the application has one for
each command and another that starts these. Words, folder, environment, files, signals and exit codes are the
same as of fresh ones, which tests of the processes themselves have.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from multiprocessing import forkserver
from multiprocessing import process as processes
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import quick_processes


class _Copy:
    """What the queue knows of the process of a run."""

    def __init__(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdout: Any, **_: Any
    ) -> None:
        self._process = _started(argv, cwd, env, stdout.name)
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode


class _Look:
    """What the server knows of the process that finds out what is in a file."""

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self._process = _started(argv, cwd, env, os.devnull)
        self.kill = self._process.kill

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    async def wait(self) -> None:
        await asyncio.to_thread(self._process.join)


async def _look(*argv: str, cwd: Path, env: Mapping[str, str], **_: Any) -> _Look:
    return _Look(argv, cwd, env)


RUNS = SimpleNamespace(Popen=_Copy, DEVNULL=subprocess.DEVNULL)
"""Stands in for `subprocess` in `solver.app.runs`."""

LOOKS = SimpleNamespace(create_subprocess_exec=_look, subprocess=asyncio.subprocess)
"""Stands in for `asyncio` in `solver.app.looking`."""


def quicken(patch: pytest.MonkeyPatch) -> None:
    """Let the queue start copies, where these are safe."""
    if sys.platform == "linux":
        patch.setattr("linkrisk.solver.app.runs.subprocess", RUNS)


def serve() -> None:
    """Run the program with the words of this process; what its server starts are copies."""
    from linkrisk.__main__ import start
    from linkrisk.solver.app import looking, runs

    if sys.platform == "linux":
        quick_processes.install()
        quick_processes.start()
        runs.subprocess, looking.asyncio = RUNS, LOOKS  # type: ignore[assignment]
    start()


def _started(argv: Sequence[str], cwd: Path, env: Mapping[str, str], output: str) -> Any:
    quick_processes.start()
    server = forkserver._forkserver._forkserver_address
    context = multiprocessing.get_context("forkserver")
    begun, tells = context.Pipe(duplex=False)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    process = context.Process(
        target=_begin, args=(tells, blocked, server, list(argv), str(cwd), dict(env), output)
    )
    process.start()
    processes._children.discard(process)  # it outlives this process, which waits for no run when it ends
    tells.close()
    with begun:
        begun.recv()  # it is deaf to what this process is deaf to
    return process


def _begin(
    begun: Connection,
    blocked: set[signal.Signals],
    server: str,
    argv: list[str],
    cwd: str,
    env: dict[str, str],
    output: str,
) -> None:
    """Be a process of its own session that writes to a file; what it starts are copies, too."""
    os.setsid()
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    with begun:
        begun.send(True)
    quick_processes.install()
    quick_processes.start = lambda: None
    forkserver._forkserver._forkserver_address = server
    forkserver._forkserver.ensure_running = lambda: None
    with open(os.devnull, "rb") as nothing, open(output, "ab") as file:  # noqa: PTH123
        streams = nothing.fileno(), file.fileno(), file.fileno()
        subprocess.Popen = _Step  # type: ignore[assignment,misc]
        os.nice = lambda _: 0  # no page waits for the processor here, but a test for its run
        _be(argv, cwd, env, streams)


class _Step:
    """What the process of a run knows of that of a command: `subprocess.Popen` with a pipe for errors."""

    real = subprocess.Popen

    def __init__(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdout: Any, **_: Any
    ) -> None:
        read, write = os.pipe()
        streams = os.open(os.devnull, os.O_RDONLY), stdout.fileno(), write
        copies = multiprocessing.get_context("fork")
        self._process = copies.Process(target=_command, args=(argv, str(cwd), dict(env), streams))
        self._process.start()
        os.close(write)
        os.close(streams[0])
        self.stderr = open(read, errors="replace")  # noqa: PTH123, SIM115

    def send_signal(self, number: int) -> None:
        if self._process.exitcode is None:
            os.kill(self._process.pid or 0, number)

    def wait(self) -> int:
        self._process.join()
        return self._process.exitcode or 0


def _command(argv: Sequence[str], cwd: str, env: Mapping[str, str], streams: tuple[int, int, int]) -> None:
    subprocess.Popen = _Step.real  # type: ignore[misc]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _be(argv, cwd, env, streams)


def _be(argv: Sequence[str], cwd: str, env: Mapping[str, str], streams: tuple[int, int, int]) -> None:
    """Go on as the interpreter would that is started with these words."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    _, *words = (word for word in argv if word != "-P")
    is_module = words[0] == "-m"
    sys.argv = words[is_module:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # it has been imported before
        (runpy.run_module if is_module else runpy.run_path)(sys.argv[0], run_name="__main__")
