"""Ctrl-C while the program is imported, and when it is done: one line, one exit code, no traceback.

The modules that are imported press it themselves, so that nothing hangs on the speed of the machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from worked_table import ASKED, write_worked_table

ROOT = Path(__file__).parents[3]
PRESS = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nfor _ in range(1000): pass\n"
SWALLOWED = f"""
try:
    exec({PRESS!r})
except BaseException:
    raise ImportError("initialization failed")
"""
"""As compiled modules do that import others."""


def ended(*argv: str) -> tuple[int, str, str]:
    """A process in this folder, whose modules come before all others."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", *argv]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_worked_table(tmp_path)


@pytest.mark.parametrize("program", ["solver", "linkrisk"])
@pytest.mark.parametrize("module", ["difflib", "pandas"])  # of the program, and of a command
@pytest.mark.parametrize("body", [PRESS, SWALLOWED])
def test_while_it_is_imported(program, module, body):
    Path(f"{module}.py").write_text(body, encoding="utf-8")
    assert ended(program, "tables", "suppress", *ASKED, "--output", "safe.csv") == (1, "", "interrupted\n")
    assert not Path("safe.csv").exists()


def test_a_second_one_does_not_wait_for_the_import():
    Path("difflib.py").write_text(PRESS * 2 + "print('not reached')", encoding="utf-8")
    assert ended("solver", "--version") == (1, "", "interrupted\n")


def test_one_at_the_end_changes_nothing():
    """When Python ends, and all is written."""
    late = "import atexit, os, signal\natexit.register(os.kill, os.getpid(), signal.SIGINT)\n"
    Path("difflib.py").write_text(late, encoding="utf-8")
    code, printed, errors = ended("solver", "--version")
    assert (code, printed.split()[0], errors) == (0, "linkrisk", "")


def test_a_program_that_passes_over_it_still_does():
    Path("difflib.py").write_text(PRESS, encoding="utf-8")
    script = "import signal, subprocess, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    script += "sys.exit(subprocess.call([sys.executable, '-m', 'solver', '--version']))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
