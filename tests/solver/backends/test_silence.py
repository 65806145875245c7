"""Nothing but our own words reaches standard output, whatever optimisers print."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from backend_problems import PATIENCE

from linkrisk.solver.backends import highs as silent_highs

BANNER = (
    b"Running HiGHS 1.16.0 (git hash: f3f113d): Copyright (c) 2026 under MIT licence terms\n"
    b"Includes third-party software components, see THIRD_PARTY_NOTICES.md for full details\n"
)

SOLVES = """
import os
import numpy as np
from scipy import sparse
from backend_problems import infeasible, knapsack
from linkrisk.formulations.programs import LinearModel
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.linear.base import available_linear_programs, linear_program
from linkrisk.solver.backends.registry import available_backends, get_backend
from linkrisk.solver.run.clock import Status

def solved(name):
    backend = get_backend(name)
    assert backend.version()
    assert backend.solve(knapsack(), SolveOptions()).status is Status.OPTIMAL
    assert backend.solve(infeasible(), SolveOptions()).status is Status.INFEASIBLE

def solved_linear(name):
    one, names = np.ones(1), ("objective", "row_lower", "row_upper", "column_lower", "column_upper")
    model = LinearModel(matrix=sparse.csr_array([[1.0]]), **dict.fromkeys(names, one))
    assert linear_program(model, name=name).solve().optimal

jobs = [(solved, name) for name in available_backends()]
jobs += [(solved_linear, name) for name in available_linear_programs()]
for job, name in jobs:  # each in a process in which no optimiser has been used
    pid = os.fork()
    if pid == 0:
        job(name)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, name
"""


def printing(text: bytes) -> SimpleNamespace:
    return SimpleNamespace(Highs=lambda: os.write(1, text))


@pytest.mark.parametrize(
    ("printed", "shown"),
    [(BANNER, ""), (b"line of a thread\n" + BANNER + b"and another", "line of a thread\nand another")],
    ids=["alone", "beside what others print"],
)
def test_the_banner_of_highs_goes_and_what_others_print_stays(monkeypatch, capfd, printed, shown):
    monkeypatch.setitem(sys.modules, "highspy", printing(printed))
    silent_highs._imported.__wrapped__()
    assert capfd.readouterr().out == shown
    os.write(1, b"later\n")
    assert capfd.readouterr().out == "later\n"


def test_without_a_standard_output_there_is_nothing_to_keep_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(_: int) -> int:
        raise OSError(9, "Bad file descriptor")

    made = []
    monkeypatch.setitem(sys.modules, "highspy", SimpleNamespace(Highs=lambda: made.append(1)))
    monkeypatch.setattr(os, "dup", closed)
    silent_highs._imported.__wrapped__()
    assert made == [1]


def test_no_backend_prints_anything() -> None:
    """What the versions that are installed print: the job with the newest ones runs this, too."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SOLVES],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
