"""Runs as folders of commands and results, which hold all of their state; and their queue."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Any

import psutil

from linkrisk.datasets.microdata.names import shell_name
from linkrisk.datasets.microdata.writing import SECRET, write_whole
from linkrisk.solver.app.project import MASKED, PRIVATE, RUNS, Project, alive, environment, private, read_json
from linkrisk.solver.app.security import Access
from linkrisk.solver.run.interruption import block_interrupt, unblock_interrupt

COMMAND, PROCESS, ENDED, STOPS = "command.json", "process.json", "ended.json", "stops.json"
PROGRESS, LOG, OUTPUT = "progress.jsonl", "log.txt", "output.txt"
RESULT, REPORT = "result.json", "report.html"
CERTIFICATE, VERIFICATION = "certificate.json", "verification.txt"
PUBLISHED_STEM, INTERNAL_STEM = "table-published", "table-internal"
"""How files of a protected table begin: what may be published, and what stays in the house."""

INTERNAL, OUTSIDE = f"{INTERNAL_STEM}.csv", "report-outside.html"
"""What always stays in the house, and the page for readers outside."""

CONTRIBUTORS, RECORD = "table-contributors.csv", "masking-record.json"
"""Who contributed how much to which cell; and how a file was masked, by which masking can be undone."""

SEED = "masking-seed.json"
"""A seed that was asked for: commands name the file, so that nobody reads it in a list of commands."""

OWN_FILES = frozenset((COMMAND, PROCESS, ENDED, STOPS, PROGRESS, LOG, SEED))
"""What the application writes beside the files of the commands."""

_PROTECTING = ("tables", "suppress", "unsafe")
"""Kinds of runs whose results and reports have values that are not published."""


class RunState(StrEnum):
    """State of a run."""

    WAITING = "waiting"
    RUNNING = "running"
    STOPPING = "stopping"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self not in (RunState.WAITING, RunState.RUNNING, RunState.STOPPING)


@dataclass(frozen=True)
class Run:
    """One run of a project, by the name of its folder, such as ``0001-fit``."""

    project: Project
    name: str

    @property
    def folder(self) -> Path:
        """Where all its files are."""
        return self.project.folder / RUNS / self.name

    @property
    def command(self) -> dict[str, Any]:
        """Title, kind, inputs and steps, as they were asked for."""
        unknown = {"title": self.name, "kind": "", "steps": [], "created": 0.0}
        return read_json(self.folder / COMMAND) or unknown

    @property
    def lines(self) -> list[str]:
        """The commands that do the same again, from the project folder."""
        return [spelled(step) for step in self.command["steps"]]

    @property
    def script(self) -> str:
        """The same as a script, to be run in the project folder."""
        head = ["#!/bin/sh", f"# {self.name}: run this in the project folder", "set -e"]
        return "\n".join([*head, *self.lines]) + "\n"

    @property
    def result(self) -> Any:
        """The JSON of the result; None while there is none."""
        return read_json(self.folder / RESULT)

    @property
    def state(self) -> RunState:
        """Read from the folder, whichever server has started it."""
        ended = read_json(self.folder / ENDED)
        if ended is not None:
            if ended.get("cancelled"):
                return RunState.CANCELLED
            answers = self.command.get("answers", (0,))
            return RunState.DONE if set(ended["codes"]) <= set(answers) else RunState.FAILED
        process = read_json(self.folder / PROCESS)
        if process is None:
            return RunState.WAITING
        if alive(process):
            return RunState.STOPPING if self.stops else RunState.RUNNING
        if read_json(self.folder / ENDED) is not None:  # it has ended between the two questions
            return self.state
        return RunState.CANCELLED if self.stops else RunState.LOST

    @property
    def stops(self) -> int:
        """How often it was asked to stop."""
        return len(read_json(self.folder / STOPS) or [])

    @property
    def seconds(self) -> float | None:
        """How long it has run, or ran; None while it waits."""
        process = read_json(self.folder / PROCESS)
        if process is None:
            return None
        ended = read_json(self.folder / ENDED)
        end = ended["at"] if ended else time.time()
        return max(0.0, float(end - process["started"]))

    def files(self) -> list[str]:
        """What the commands have written so far, by name."""
        there = (path for path in self.folder.iterdir() if path.is_file() and self.project.holds(path))
        return sorted(path.name for path in there if path.name not in OWN_FILES)

    def leaving(self) -> list[str]:
        """Those of them that may leave the house: of what is protected the result, and no masking record."""
        files = self.files()
        if self.command["kind"] in _PROTECTING:
            safe = [name for name in files if name.startswith(f"{PUBLISHED_STEM}.") or MASKED in name]
            return [*safe, *([OUTSIDE] if OUTSIDE in files else [])]
        return [name for name in files if name != RECORD]

    def keep(self, name: str, content: Any) -> None:
        """Write a file of the application, readable by its owner alone."""
        write_whole(self.folder / name, json.dumps(content, indent=2, ensure_ascii=False) + "\n", mode=SECRET)

    def text(self, name: str, most: int = 20_000) -> str:
        """The end of one of its text files; empty where there is none."""
        with contextlib.suppress(OSError), (self.folder / name).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - most))
            return file.read().decode("utf-8", "replace")
        return ""

    def stop(self) -> None:
        """Stop it as Ctrl-C does: a search gives its interval. Asked three times it is ended at once."""
        state = self.state
        if state is RunState.WAITING:
            self.end(cancelled=True)
        elif not state.over:
            asked = [*(read_json(self.folder / STOPS) or []), time.time()]
            self.keep(STOPS, asked)
            pid = read_json(self.folder / PROCESS)["pid"]
            with contextlib.suppress(ProcessLookupError):
                if len(asked) < 3:
                    os.kill(pid, signal.SIGINT)  # which the process hands on to its command
                else:
                    os.killpg(pid, signal.SIGKILL)

    def end(self, codes: Sequence[int] = (), *, cancelled: bool = False) -> None:
        """Write down that it has ended."""
        self.keep(ENDED, {"codes": list(codes), "at": time.time(), "cancelled": cancelled})


def runs_of(project: Project) -> list[Run]:
    """All runs, the newest first."""
    folders = sorted((project.folder / RUNS).glob("*/" + COMMAND), reverse=True)
    return [Run(project, path.parent.name) for path in folders if project.holds(path)]


def find_run(project: Project, name: str) -> Run | None:
    """The run of this name; None where there is none."""
    return next((run for run in runs_of(project) if run.name == name), None)


def new_folder(project: Project, kind: str) -> Run:
    """Make the folder of a new run, with the next number."""
    numbers = [int(path.name[:4]) for path in (project.folder / RUNS).glob("[0-9][0-9][0-9][0-9]-*")]
    for number in count(max(numbers, default=0) + 1):
        run = Run(project, f"{number:04d}-{kind}")
        with contextlib.suppress(FileExistsError):
            run.folder.mkdir(mode=PRIVATE)
            return run
    raise AssertionError


def spelled(argv: Sequence[str]) -> str:
    """A command as it is typed."""
    return " ".join(["python -m solver", *map(shell_name, argv)])


class Queue:
    """Runs of a project in order, so many `at_once`."""

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

        `kind`, `title`: its main command, and what people call it. `steps`: the arguments of each command.
        `run`: its folder, made by `folder`. `outputs`: in which file the output of a step is kept, where that
        is not the one of all. `inputs`: files it reads, by what they are. `answers`: with which exit codes
        its commands have answered.
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
        free = self.at_once - sum(not state.over and state is not RunState.WAITING for _, state in states)
        for run in [run for run, state in states if state is RunState.WAITING][: max(0, free)]:
            self._start(run)

    def _start(self, run: Run) -> None:
        block_interrupt()  # a stop in its first moments waits until the process has a handler
        try:
            with private(), (run.folder / LOG).open("ab") as log:
                child = subprocess.Popen(
                    runner(str(run.folder)),
                    cwd=self.project.folder,
                    env=environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # it outlives this process, and its Ctrl-C
                )
        finally:
            unblock_interrupt()
        self._children.append(child)
        created = time.time()
        with contextlib.suppress(psutil.Error):
            created = psutil.Process(child.pid).create_time()
        run.keep(PROCESS, {"pid": child.pid, "created": created, "started": time.time()})


def runner(folder: str) -> list[str]:
    """The words that start the process of a run."""
    return [sys.executable, "-P", "-m", "linkrisk.solver.app.runner", folder]


@dataclass(frozen=True)
class State:
    """What every page of an application knows: its project, its queue, and who may ask."""

    project: Project
    queue: Queue
    access: Access
