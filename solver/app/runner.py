"""The process of a run, which executes its commands one by one and keeps their output.

It outlives the server that has started it. Ctrl-C is handed on to the command that runs, and waits for one
that has not begun; those after it follow if it has ended well, so that an interval that was stopped is still
certified and verified.
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
from linkrisk.solver.app.runs import LOG, OUTPUT, PROGRESS, RESULT, Run, spelled
from linkrisk.solver.run.interruption import block_interrupt, unblock_interrupt

POLITE = 5
"""So much nicer than the server are its commands, so that pages stay quick while all processors prove."""


def main(folder: str) -> int:
    """Run the commands of a run's folder."""
    path = Path(folder).resolve()
    run = Run(Project(path.parent.parent), path.name)
    assert path.parent.name == RUNS
    block_interrupt()  # until there is a command to hand it on to
    told = _Told()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, told)
    with contextlib.suppress(OSError):
        os.nice(POLITE)
    codes: list[int] = []
    command = run.command
    for at, argv in enumerate(command["steps"]):
        codes.append(_step(run, at, argv, command["outputs"][at], told))
        if codes[-1]:
            break
    answered = not any(codes) or (run.folder / RESULT).exists()
    run.end(codes, cancelled=bool(run.stops) and not answered)
    return max(codes, default=0)


class _Told:
    """Hands Ctrl-C and SIGTERM on to the command that runs, to which both are a stop."""

    process: subprocess.Popen[str] | None = None

    def __call__(self, number: int, _: object) -> None:
        if self.process is not None:
            self.process.send_signal(number)


def _step(run: Run, at: int, argv: list[str], output: str, told: _Told) -> int:
    """One command; what it prints goes to a file, lines of progress to another, and messages to the log."""
    with contextlib.ExitStack() as files:
        out, progress, log = (
            files.enter_context((run.folder / name).open("a", encoding="utf-8"))
            for name in (output, PROGRESS, LOG)
        )
        if output == OUTPUT:
            print(f"$ {spelled(argv)}", file=out, flush=True)
        block_interrupt()  # the command unblocks it, when it can be asked to stop
        told.process = process = subprocess.Popen(
            program(*argv),
            cwd=run.project.folder,
            env={**os.environ, "LINKRISK_PROGRESS": "json"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        unblock_interrupt()
        assert process.stderr is not None
        for line in process.stderr:
            is_progress = line.startswith("{")
            print(
                _numbered(line, at) if is_progress else line,
                file=progress if is_progress else log,
                end="",
                flush=True,
            )
        return process.wait()


def _numbered(line: str, step: int) -> str:
    """A line of progress with the number of its command."""
    with contextlib.suppress(ValueError, TypeError):
        return json.dumps({**json.loads(line), "step": step}) + "\n"
    return ""


def program(*argv: str) -> list[str]:
    """The words that start a command: by this Python, and never by a file of the folder that it runs in."""
    return [sys.executable, "-P", "-m", "linkrisk", *argv]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
