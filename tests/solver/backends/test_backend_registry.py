"""Names to backends, without importing an optimiser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from linkrisk.solver.backends import registry
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.registry import BACKENDS, available_backends, get_backend
from linkrisk.solver.run.clock import Status
from linkrisk.solver.run.errors import UsageError


def test_the_backends_that_linkrisk_depends_on_are_available():
    assert {"highs", "pulp", "pulp-cbc", "cvxpy", "scipy"} <= set(available_backends())


@pytest.mark.parametrize("name", BACKENDS)
def test_name_of_the_class_is_the_name_in_the_registry(name):
    assert registry._load(name).name == name


def test_listing_imports_no_optimiser():
    script = (
        "import sys\n"
        "from linkrisk.solver.backends.registry import available_backends\n"
        "assert len(available_backends()) >= 5\n"
        "from linkrisk.solver.backends.registry import optimisers\n"
        "print(sorted((optimisers() | {'scipy.optimize'}) & set(sys.modules)))"
    )
    listed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert listed.stdout.strip() == "[]"


def test_not_installed(monkeypatch):
    monkeypatch.setattr(registry._load("scip"), "requires", ("no_such_module_anywhere",))
    assert "scip" not in available_backends()
    with pytest.raises(UsageError) as error:
        get_backend("scip")
    assert str(error.value) == "backend 'scip' needs PySCIPOpt: pip install 'linkrisk[scip]'"


NEW_BACKEND = """
from linkrisk.solver.backends.highs import HighsBackend

class MyBackend(HighsBackend):
    name = "mine"
"""


def test_a_new_backend_is_one_file_and_one_line(tmp_path: Path, monkeypatch):
    (tmp_path / "my_backend.py").write_text(NEW_BACKEND)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(registry.BACKENDS, "mine", "my_backend:MyBackend")
    from backend_problems import knapsack

    assert "mine" in available_backends()
    result = get_backend("mine").solve(knapsack(), SolveOptions())
    assert (result.status, result.backend, result.objective) == (Status.OPTIMAL, "mine", -23.0)
