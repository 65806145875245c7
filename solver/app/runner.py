"""The process of a run: its commands one after the other, each as it would be typed, their output kept.

It outlives the server that has started it. Ctrl-C reaches the command that runs; those after it follow if it
has ended well, so that an interval that was stopped is still certified and verified.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from linkrisk.solver.app.project import RUNS, Project
from linkrisk.solver.app.run_folder import LOG, OUTPUT, PROGRESS, Run, spelled

POLITE = 5
"""So much nicer than the server are its commands, so that pages stay quick while all processors prove."""


def main(folder: str) -> int:
    """Run the commands of a run's folder."""
    path = Path(folder).resolve()
    run = Run(Project(path.parent.parent), path.name)
    assert path.parent.name == RUNS
    # A handler and not SIG_IGN, which the commands would inherit.
    signal.signal(signal.SIGINT, lambda *_: None)
    with contextlib.suppress(OSError):
        os.nice(POLITE)
    codes: list[int] = []
    command = run.command
    for at, argv in enumerate(command["steps"]):
        codes.append(_step(run, at, argv, command["outputs"][at]))
        if codes[-1]:
            break
    run.end(codes)
    return max(codes, default=0)


def _step(run: Run, at: int, argv: list[str], output: str) -> int:
    """One command; what it prints goes to a file, lines of progress to another, and messages to the log."""
    with (
        (run.folder / output).open("a", encoding="utf-8") as out,
        (run.folder / PROGRESS).open("a", encoding="utf-8") as progress,
        (run.folder / LOG).open("a", encoding="utf-8") as log,
    ):
        if output == OUTPUT:
            out.write(f"$ {spelled(argv)}\n")
            out.flush()
        process = subprocess.Popen(
            program(*argv),
            cwd=run.project.folder,
            env={**os.environ, "LINKRISK_PROGRESS": "json"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        assert process.stderr is not None
        for line in process.stderr:
            is_progress = line.startswith("{")
            (progress if is_progress else log).write(_numbered(line, at) if is_progress else line)
            (progress if is_progress else log).flush()
        return process.wait()


def _numbered(line: str, step: int) -> str:
    """A line of progress with the number of its command."""
    try:
        return json.dumps({**json.loads(line), "step": step}) + "\n"
    except (ValueError, TypeError):
        return ""


def program(*argv: str) -> list[str]:
    """The words that start a command: by this Python, and never by a file of the folder that it runs in."""
    return [sys.executable, "-P", "-m", "linkrisk", *argv]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
