"""Help without waiting: nothing heavy is imported for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from linkrisk.solver.commands.program import COMMANDS

ROOT = Path(__file__).resolve().parents[3]
HEAVY = {
    "altair", "cvxpy", "highspy", "jinja2", "llvmlite", "networkx", "numba", "numpy", "openpyxl", "pandas",
    "polars", "pooch", "psutil", "pulp", "pyarrow", "pyreadr", "pyreadstat", "pyscipopt", "rapidfuzz", "rich",
    "scipy", "sklearn",
}  # fmt: skip
CODE = f"""
import sys
from linkrisk.solver.commands.program import main
try:
    code = main(sys.argv[1:])
except SystemExit as end:
    code = end.code or 0
print(code, sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)
"""


def asked(*argv: str) -> tuple[str, str]:
    """What a fresh interpreter prints, and the last line of its errors: exit code and heavy modules."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", CODE, *argv]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return done.stdout, done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "words",
    [[], *([name] for name in COMMANDS), ["datasets", "fetch"], ["tables", "audit"]],
    ids=lambda words: "-".join(words),
)
def test_help_imports_nothing_heavy(words):
    printed, last = asked(*words, "--help")
    assert printed.startswith(" ".join(["usage: python -m solver", *words]))
    assert last == "0 []"


@pytest.mark.parametrize(
    ("argv", "printed", "code"),
    [
        (["--version"], "linkrisk ", 0),
        (["fitt"], "", 2),
        ([], "", 2),
        (["fit", "--agregator", "owa"], "", 2),
        (["mask", "--input", "a.csv"], "", 2),
    ],
)
def test_nor_do_the_version_and_wrong_usage(argv, printed, code):
    out, last = asked(*argv)
    assert out.startswith(printed)
    assert last == f"{code} []"


def test_the_check_would_notice():
    """A command that runs does import them."""
    _, last = asked("datasets", "list")
    code, found = last.split(" ", 1)
    assert code == "0"
    assert {"numpy", "pandas"} <= set(json.loads(found.replace("'", '"')))
