"""Ctrl-C and SIGTERM while the program is imported, and when it is done: one line and one exit code.

The modules that are imported press it themselves, so that nothing hangs on the speed of the machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_tables import ASKED, write_table_files

ROOT = Path(__file__).parents[3]
PRESS = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nfor _ in range(1000): pass\n"
TERMINATE = PRESS.replace("SIGINT", "SIGTERM")
LIKE_DIFFLIB = "def get_close_matches(*_, **__): return []\n"
"""What the program takes of the module that these tests put before it."""


def swallowed(body: str) -> str:
    """As compiled modules do that import others."""
    return f"""
try:
    exec({body!r})
except BaseException:
    raise ImportError("initialization failed")
"""


def ended(*argv: str) -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", *argv]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table_files(tmp_path)


@pytest.mark.parametrize(
    ("program", "module", "body"),
    [
        ("solver", "difflib", PRESS),  # a module of the program; pandas is one of a command
        ("linkrisk", "difflib", swallowed(TERMINATE * 2)),
        ("linkrisk", "pandas", PRESS),
        ("solver", "pandas", swallowed(PRESS)),
    ],
)
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
    Path("difflib.py").write_text(late + LIKE_DIFFLIB, encoding="utf-8")
    code, printed, errors = ended("solver", "--version")
    assert (code, printed.split()[0], errors) == (0, "linkrisk", "")


def test_a_program_that_passes_over_it_still_does():
    Path("difflib.py").write_text(PRESS + LIKE_DIFFLIB, encoding="utf-8")
    assert in_background("--version") == (0, "")


def test_sigterm_is_heard_in_the_background_of_a_script_too():
    """There Ctrl-C is not."""
    Path("difflib.py").write_text(TERMINATE, encoding="utf-8")
    assert in_background("--version") == (1, "interrupted\n")


def in_background(*argv: str) -> tuple[int, str]:
    script = "import signal, subprocess, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    script += f"sys.exit(subprocess.call([sys.executable, '-m', 'solver', *{argv!r}]))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr
