"""Run optimisers in processes of their own: memory measured, time limits enforced, crashes contained."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import pickle
import signal
import tempfile
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from linkrisk.arrays import FloatArray
from linkrisk.errors import Spelling, spell_by, spelling
from linkrisk.formulations.programs import MilpModel
from linkrisk.solver.backends.base import (
    NOTHING_KNOWN,
    TICK,
    Backend,
    BackendProgress,
    BackendResult,
    SolveOptions,
    Watcher,
)
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Limit, Status
from linkrisk.solver.run.processes import (
    MemoryMeter,
    MemoryWatch,
    children_allowed,
    end_with_parent,
    interrupt_held_back,
    main_module_hidden,
)


class Job(ABC):
    """Work for a child process, to which it is pickled."""

    title: str  # Name for messages: ``backend 'highs'``
    name: str  # Backend named by the result when the child has not answered
    time_limit: float | None  # Seconds for `run`
    takes_watcher: bool  # Whether `run` calls `watch`

    @abstractmethod
    def prepare(self) -> None:
        """Import the dependencies, before the clock starts."""

    @abstractmethod
    def run(self, watch: Watcher | None) -> BackendResult:
        """Do the work; `RuntimeError` when it fails."""


class SolveJob(Job):
    """Solves a model on a backend."""

    def __init__(
        self, backend: Backend, model: MilpModel, options: SolveOptions, starts: Sequence[FloatArray]
    ) -> None:
        self._backend, self._model, self._options, self._starts = backend, model, options, starts
        self.title, self.name = f"backend {backend.name!r}", backend.name
        self.time_limit, self.takes_watcher = options.time_limit, backend.takes_watcher

    def prepare(self) -> None:
        """Import the optimiser."""
        self._backend.version()

    def run(self, watch: Watcher | None) -> BackendResult:
        """Solve."""
        return self._backend.solve(self._model, self._options, starts=self._starts, watch=watch)


GRACE = 10.0
"""Seconds beyond the time limit before the child is killed; some layers cannot stop while they build."""

STOP_GRACE = 5.0
"""Seconds that a child asked to stop may take before it is killed: more saves answers, and delays Ctrl-C."""


@dataclass(frozen=True)
class IsolatedResult:
    """A result with its memory use."""

    result: BackendResult  # What the backend returned in the child
    # Peak resident memory of the child: the interpreter, the imported packages (about 100 MB), the model's
    # arrays, the optimiser, and its largest child program (CBC). Of a killed child, the last measurement. 0
    # where the system does not report it.
    peak_memory_bytes: int


def solve_isolated(
    name: str,
    model: MilpModel,
    options: SolveOptions,
    starts: Sequence[FloatArray] = (),
    watch: Watcher | None = None,
) -> IsolatedResult:
    """Solve a model by a backend in a child process.

    On Ctrl-C, or when `watch` answers True, the child is asked for what it has, where the backend can be
    asked, else killed; Ctrl-C again kills it. A child that overruns the time limit by `GRACE` seconds is
    killed. A killed child's result has no solution, its last bound, and the memory that it was seen to hold.
    `watch` is called here, about every tenth of a second. RuntimeError when the optimiser failed, or the
    child died, with the last line that it wrote.
    """
    return run_isolated(SolveJob(get_backend(name), model, options, starts), watch)


def run_isolated(job: Job, watch: Watcher | None = None) -> IsolatedResult:
    """Run any job in a fresh child process, as `solve_isolated` runs a backend."""
    with tempfile.TemporaryDirectory(prefix="linkrisk-") as folder, contextlib.ExitStack() as held_back:
        held_back.enter_context(interrupt_held_back())
        child = _Child(job, folder)
        try:
            held_back.close()  # a Ctrl-C that came meanwhile is raised here
            child.hand_over(job)
            return child.wait(watch, ask=job.takes_watcher)
        except KeyboardInterrupt:
            return child.stop(ask=job.takes_watcher)
        finally:
            child.kill()


class _Child:
    """A child process that does one job, and the pipe to it."""

    def __init__(self, job: Job, folder: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._title, self._name, self._time_limit = job.title, job.name, job.time_limit
        self._progress = NOTHING_KNOWN
        self._started = time.monotonic()
        self._deadline = math.inf
        self._errors = Path(folder, "stderr.txt")
        self._pipe, far_end = context.Pipe()
        self._process: BaseProcess = context.Process(
            target=_run_in_child, args=(far_end, folder, spelling()), daemon=True
        )
        with main_module_hidden(), children_allowed():
            self._process.start()
        assert self._process.pid is not None
        self._memory = MemoryWatch(self._process.pid)
        far_end.close()
        self._busy = False

    def hand_over(self, job: Job) -> None:
        """Send the job."""
        # Protocol 5 writes arrays without a copy; `wait` notices a child that has died.
        with contextlib.suppress(ConnectionError):
            self._pipe.send_bytes(pickle.dumps(job, protocol=5))
        self._busy = True

    def wait(self, watch: Watcher | None, *, ask: bool) -> IsolatedResult:
        """Wait for the answer, report progress to `watch`, and apply the time limit.

        When `watch` answers True, the child is asked to stop, or killed where it cannot be asked.
        """
        while time.monotonic() < self._deadline:
            if self._pipe.poll(TICK):
                answer = self._receive()
                if isinstance(answer, IsolatedResult):
                    return answer
                self._take_note(answer)
            self._memory.look()
            if watch is not None:
                told, self._progress = self._progress, replace(self._progress, point=None)
                if watch(told):
                    return self.stop(ask=ask)
        return self._unanswered(Status.NO_SOLUTION, Limit.TIME)

    def stop(self, *, ask: bool) -> IsolatedResult:
        """Stop the child and return its answer, or the last progress without one."""
        deadline = time.monotonic() + STOP_GRACE
        ask = ask and self._busy  # the child cannot read messages after half a job
        with contextlib.suppress(ConnectionError, KeyboardInterrupt, RuntimeError):
            if ask:
                self._pipe.send_bytes(b"stop")
            while ask and time.monotonic() < deadline:
                answer = self._receive() if self._pipe.poll(TICK) else None
                if isinstance(answer, IsolatedResult):
                    return answer
                self._memory.look()
        return self._unanswered(Status.INTERRUPTED, Limit.USER)

    def _unanswered(self, status: Status, limit: Limit) -> IsolatedResult:
        result = BackendResult(
            status=status,
            limit=limit,
            objective=None,
            bound=self._progress.bound,
            values=None,
            build_seconds=0.0,
            solve_seconds=time.monotonic() - self._started,
            backend=self._name,
            version="unknown",
        )
        return IsolatedResult(result, self._memory.look())

    def kill(self) -> None:
        """Kill the child and its child programs."""
        if self._process.is_alive() and self._process.pid is not None:
            if hasattr(os, "killpg"):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
        self._process.join()
        self._pipe.close()

    def _receive(self) -> Any:
        try:
            answer = pickle.loads(self._pipe.recv_bytes())
        except (EOFError, OSError):
            self._process.join()
            raise RuntimeError(f"{self._title} died: {self._last_words()}") from None
        if isinstance(answer, RuntimeError):
            raise answer
        return answer

    def _take_note(self, answer: BackendProgress | None) -> None:
        if answer is not None:
            self._progress = answer
        elif self._time_limit is not None:  # the child has imported everything and starts
            self._started = time.monotonic()
            self._deadline = self._started + self._time_limit + GRACE

    def _last_words(self) -> str:
        lines = self._errors.read_text(errors="replace").split("\n") if self._errors.exists() else []
        written = [line.strip() for line in lines if line.strip()]
        return written[-1] if written else f"exit code {self._process.exitcode}"


def _run_in_child(pipe: Connection, folder: str, spelled: Spelling) -> None:
    """Do the job from the pipe; return the answer or the error by it."""
    if hasattr(os, "setsid"):
        os.setsid()  # so that Ctrl-C reaches the parent only, which can kill the process group
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    tempfile.tempdir = folder
    spell_by(spelled)
    _redirect_output(Path(folder, "stderr.txt"))
    job: Job = pickle.loads(pipe.recv_bytes())

    def tell(progress: BackendProgress) -> bool:
        pipe.send_bytes(pickle.dumps(progress))
        return pipe.poll()

    meter = MemoryMeter()
    try:
        job.prepare()
        pipe.send_bytes(pickle.dumps(None))
        result = job.run(tell if job.takes_watcher else None)
        answer: object = IsolatedResult(result, meter.peak())
    except Exception as error:
        traceback.print_exc()
        answer = (
            error if isinstance(error, RuntimeError) else RuntimeError(f"{type(error).__name__}: {error}")
        )
    pipe.send_bytes(pickle.dumps(answer, protocol=5))


def _redirect_output(errors: Path) -> None:
    """Redirect both streams, native code included, to a file that the parent reads after a crash."""
    descriptor = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    os.close(descriptor)
