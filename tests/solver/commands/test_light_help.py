"""Help without waiting: nothing heavy is imported for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from linkrisk.solver.commands.program import COMMANDS

ROOT = Path(__file__).resolve().parents[3]
HEAVY = {
    "altair", "cvxpy", "highspy", "jinja2", "llvmlite", "networkx", "numba", "numpy", "openpyxl", "pandas",
    "polars", "pooch", "psutil", "pulp", "pyarrow", "pyreadr", "pyreadstat", "pyscipopt", "rapidfuzz", "rich",
    "scipy", "sklearn",
}  # fmt: skip
CODE = f"""
import contextlib, io, json, sys
from linkrisk.solver.commands.program import main
found = []
for argv in json.loads(sys.argv[1]):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            code = main(argv)
        except SystemExit as end:
            code = end.code or 0
    found.append((printed.getvalue()[:60], code, sorted({HEAVY!r} & set(sys.modules))))
print(json.dumps(found))
"""
ASKED = [
    *((["--help"], "usage: python -m solver ", 0), (["--version"], "linkrisk ", 0)),
    *(([name, "--help"], f"usage: python -m solver {name}", 0) for name in COMMANDS),
    (["datasets", "fetch", "--help"], "usage: python -m solver datasets fetch", 0),
    (["tables", "audit", "--help"], "usage: python -m solver tables audit", 0),
    *((["fitt"], "", 2), ([], "", 2), (["fit", "--agregator", "owa"], "", 2)),
    (["mask", "--input", "a.csv"], "", 2),
]


def test_help_version_and_wrong_usage_import_nothing_heavy():
    """One after the other in one fresh interpreter; a command that runs does import them."""
    argv = [*(argv for argv, *_ in ASKED), ["datasets", "list"]]
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(argv)],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True,
    )  # fmt: skip
    *found, last = json.loads(done.stdout)
    for (words, start, expected), (printed, code, heavy) in zip(ASKED, found, strict=True):
        assert (printed[: len(start)], code, heavy) == (start, expected, []), words
    assert {"numpy", "pandas"} <= set(last[2])
