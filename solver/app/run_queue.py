"""The queue: runs that wait are started in order, so many at a time; it knows what their folders say."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

import psutil

from linkrisk.solver.app.elsewhere import environment
from linkrisk.solver.app.project import Project, private
from linkrisk.solver.app.run_folder import (
    COMMAND,
    LOG,
    OUTPUT,
    PROCESS,
    Run,
    State,
    new_folder,
    runs_of,
)
from linkrisk.solver.run.interruption import block_interrupt, unblock_interrupt


class Queue:
    """Runs of a project in order.

    Parameters
    ----------
    project : Project
    at_once : int
        So many run at a time.
    """

    def __init__(self, project: Project, at_once: int = 1) -> None:
        self.project, self.at_once = project, at_once
        self._children: list[subprocess.Popen[bytes]] = []

    def folder(self, kind: str) -> Run:
        """The folder of a new run, before its commands are known: these name files in it."""
        return new_folder(self.project, kind)

    def add(
        self,
        kind: str,
        title: str,
        steps: Sequence[Sequence[str]],
        *,
        run: Run,
        outputs: Mapping[int, str] | None = None,
        inputs: Mapping[str, str] | None = None,
        answers: Sequence[int] = (0,),
    ) -> Run:
        """Put a run at the end of the queue.

        Parameters
        ----------
        kind : str
            Its main command.
        title : str
            What people call it.
        steps : sequence of sequences of str
            The arguments of each command.
        run : Run
            Its folder, made by `folder`.
        outputs : mapping of int to str, optional
            In which file the output of a step is kept, where that is not the one of all.
        inputs : mapping of str to str, optional
            Files it reads, by what they are.
        answers : sequence of int
            With which exit codes its commands have answered.
        """
        content = {
            "kind": kind,
            "title": title,
            "created": time.time(),
            "inputs": dict(inputs or {}),
            "steps": [[*step, *self.project.reading] for step in steps],
            **({} if set(answers) == {0} else {"answers": list(answers)}),
            "outputs": [(outputs or {}).get(at, OUTPUT) for at in range(len(steps))],
        }
        run.keep(COMMAND, content)
        return run

    @property
    def idle(self) -> bool:
        """Whether no process is left of those that this queue has started."""
        self._children = [child for child in self._children if child.poll() is None]
        return not self._children

    def tick(self) -> None:
        """Start what may start now; to be called often."""
        _ = self.idle  # takes note of those that have ended
        states = [(run, run.state) for run in reversed(runs_of(self.project))]
        free = self.at_once - sum(not state.over and state is not State.WAITING for _, state in states)
        for run in [run for run, state in states if state is State.WAITING][: max(0, free)]:
            self._start(run)

    def _start(self, run: Run) -> None:
        # A stop in its first moments waits until the process has a handler.
        block_interrupt()
        try:
            child = self._process(run)
        finally:
            unblock_interrupt()
        self._children.append(child)
        try:
            created = psutil.Process(child.pid).create_time()
        except psutil.Error:
            created = time.time()
        run.keep(PROCESS, {"pid": child.pid, "created": created, "started": time.time()})

    def _process(self, run: Run) -> subprocess.Popen[bytes]:
        with private(), (run.folder / LOG).open("ab") as log:
            return subprocess.Popen(
                runner(str(run.folder)),
                cwd=self.project.folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # it outlives this process, and its Ctrl-C
            )


def runner(folder: str) -> list[str]:
    """The words that start the process of a run."""
    return [sys.executable, "-P", "-m", "linkrisk.solver.app.runner", folder]
