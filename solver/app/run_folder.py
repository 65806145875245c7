"""A run: a folder with its commands and all that they have left; its state is read from there alone."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from linkrisk.datasets.microdata.names import shell_name
from linkrisk.datasets.microdata.writing import SECRET, write_whole
from linkrisk.solver.app.project import MASKED, PRIVATE, RUNS, Project, alive, read_json

COMMAND, PROCESS, ENDED, STOPS = "command.json", "process.json", "ended.json", "stops.json"
PROGRESS, LOG, OUTPUT = "progress.jsonl", "log.txt", "output.txt"
RESULT, REPORT, CERTIFICATE, VERIFICATION = (
    "result.json",
    "report.html",
    "certificate.json",
    "verification.txt",
)
PUBLISHED_STEM, INTERNAL_STEM = "table-published", "table-internal"
"""How files of a protected table begin: what may be published, and what stays in the house."""

INTERNAL, OUTSIDE = f"{INTERNAL_STEM}.csv", "report-outside.html"
"""What always stays in the house, and the page for readers outside."""

CONTRIBUTORS = "table-contributors.csv"
"""Of a table of microdata with insiders: who contributed how much to which cell."""

RECORD = "masking-record.json"
"""How a file was masked, with the seed: whoever has it can undo the masking."""

SEED = "masking-seed.json"
"""A seed that was asked for: commands name the file, so that nobody reads it in a list of commands."""

OWN_FILES = frozenset((COMMAND, PROCESS, ENDED, STOPS, PROGRESS, LOG, SEED))
"""What the application writes beside the files of the commands."""


_PROTECTING = ("tables", "suppress", "unsafe")
"""Kinds of runs whose results and reports have values that are not published."""


class State(StrEnum):
    """Where a run stands."""

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
        return self not in (State.WAITING, State.RUNNING, State.STOPPING)


@dataclass(frozen=True)
class Run:
    """One run of a project.

    Attributes
    ----------
    project : Project
    name : str
        Of its folder, such as ``0001-fit``.
    """

    project: Project
    name: str

    @property
    def folder(self) -> Path:
        """Where all its files are."""
        return self.project.folder / RUNS / self.name

    @property
    def command(self) -> dict[str, Any]:
        """Title, kind, inputs and steps, as they were asked for."""
        return read_json(self.folder / COMMAND) or {
            "title": self.name,
            "kind": "",
            "steps": [],
            "created": 0.0,
        }

    @property
    def lines(self) -> list[str]:
        """The commands that do the same again, from the project folder."""
        return [spelled(step) for step in self.command["steps"]]

    @property
    def result(self) -> Any:
        """The JSON of the result; None while there is none."""
        return read_json(self.folder / RESULT)

    @property
    def state(self) -> State:
        """Read from the folder, whichever server has started it."""
        ended = read_json(self.folder / ENDED)
        if ended is not None:
            if ended.get("cancelled"):
                return State.CANCELLED
            answers = self.command.get("answers", (0,))
            return State.DONE if set(ended["codes"]) <= set(answers) else State.FAILED
        process = read_json(self.folder / PROCESS)
        if process is None:
            return State.WAITING
        if alive(process):
            return State.STOPPING if self.stops else State.RUNNING
        # It may have ended between the two questions.
        if read_json(self.folder / ENDED) is not None:
            return self.state
        return State.CANCELLED if self.stops else State.LOST

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
        return sorted(
            path.name
            for path in self.folder.iterdir()
            if path.is_file() and path.name not in OWN_FILES and self.project.holds(path)
        )

    def leaving(self) -> list[str]:
        """Those of them that may leave the house: of what is protected the result, and no masking record."""
        files = self.files()
        if self.command["kind"] in _PROTECTING:
            safe = [name for name in files if name.startswith(f"{PUBLISHED_STEM}.") or MASKED in name]
            return [*safe, *([OUTSIDE] if OUTSIDE in files else [])]
        return [name for name in files if name != RECORD]

    def keep(self, name: str, content: Any) -> None:
        """Write one of the files of the application, which nobody but its owner may read."""
        write_whole(self.folder / name, json.dumps(content, indent=2, ensure_ascii=False) + "\n", mode=SECRET)

    def text(self, name: str, most: int = 20_000) -> str:
        """The end of one of its text files; empty where there is none."""
        try:
            with (self.folder / name).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - most))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""

    def stop(self) -> None:
        """Stop it as Ctrl-C does: a search gives its interval. Asked three times it is ended at once."""
        state = self.state
        if state is State.WAITING:
            self.end(cancelled=True)
        elif not state.over:
            asked = [*(read_json(self.folder / STOPS) or []), time.time()]
            self.keep(STOPS, asked)
            pid = read_json(self.folder / PROCESS)["pid"]
            try:
                if len(asked) < 3:
                    os.kill(pid, signal.SIGINT)  # which the process hands on to its command
                else:
                    os.killpg(pid, signal.SIGKILL)
            except ProcessLookupError:
                return

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
    number = max(numbers, default=0) + 1
    while True:
        run = Run(project, f"{number:04d}-{kind}")
        try:
            run.folder.mkdir(mode=PRIVATE)
        except FileExistsError:
            number += 1
        else:
            return run


def spelled(argv: Sequence[str]) -> str:
    """A command as it is typed."""
    return " ".join(["python -m solver", *map(shell_name, argv)])
