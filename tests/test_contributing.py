"""The examples of CONTRIBUTING.md do what its text says of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from worked_aggregator import AS_PLUGIN, NAME, ROOT, as_module, code_of, environment, make_class, text_of

from linkrisk.datasets.errors import DataError
from linkrisk.formulations.linkage.aggregators import AGGREGATORS
from linkrisk.formulations.programs.mixed_integer import MilpModel
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.registry import BACKENDS, get_backend
from linkrisk.solver.commands.program import main
from linkrisk.solver.run.status import Status

# Tests that list all aggregators, by what step 5 says about them: they do not know this one.
LISTS = ("aggregator_errors", "importance_sums_to_one", "zero_floors")
QUICK = (
    "formulations/linkage/test_aggregator_distances.py",
    "formulations/linkage/test_aggregator_domains.py",
    "solver/engines/exact/test_exact_engine.py",
    "solver/api/test_fit_optimum.py",
)
MORE = (
    "formulations",
    "solver/engines/test_attacks.py",
    "solver/linkage/test_evaluator.py",
    "solver/engines/exact/test_exact_polytope.py",
    "solver/engines/exact/test_exact_ties.py",
    "solver/engines/test_milp_engine.py",
)


def passed(places: tuple[str, ...]) -> int:
    """How many of the tests there run on the worked aggregator; none may fail."""
    command = [sys.executable, "-m", "pytest", "-p", AS_PLUGIN, "-q", "-p", "no:cacheprovider"]
    chosen = " and ".join([NAME, *(f"not {name}" for name in LISTS)])
    paths = [str(ROOT / "tests" / place) for place in places]
    answer = subprocess.run(
        [*command, "-k", chosen, *paths], capture_output=True, text=True, cwd=ROOT, env=environment()
    )
    assert answer.returncode == 0, answer.stdout[-4000:] + answer.stderr[-1000:]
    found = re.search(r"(\d+) passed", answer.stdout)
    assert found is not None
    return int(found[1])


def test_the_worked_aggregator_agrees_with_brute_force():
    """Features, form and definition; the domain; the exact engine and `fit` against the exact optimum."""
    assert passed(QUICK) > 40


@pytest.mark.slow
def test_all_tests_of_aggregators_run_on_the_worked_one():
    assert passed(MORE) > 100


@pytest.fixture
def worked(monkeypatch):
    monkeypatch.setitem(AGGREGATORS, NAME, make_class())


@pytest.mark.usefixtures("survey_folder", "worked")
def test_the_command_line_knows_the_worked_aggregator(capsys):
    files = ["--original", "original.csv", "--masked", "masked.csv"]
    start = ["fit", *files, "--aggregator", NAME, "--time-limit", "none"]
    assert main([*start, "--json", "fit.json", "--report", "fit.html"]) == 0
    assert main(["evaluate", *files, "--parameters", "fit.json", "--json", "again.json"]) == 0
    fitted, again = (json.loads(Path(name).read_text("utf-8")) for name in ("fit.json", "again.json"))
    assert (fitted["aggregator"], fitted["status"]) == (NAME, "optimal")
    assert list(fitted["parameters"]["weights"]) == ["mean", "max", "min"]
    assert again["linked"] == fitted["linked"] >= fitted["baselines"]["euclid"]
    capsys.readouterr()
    assert main([*start, "--certificate", "proof.json"]) == 2
    assert "verify does not know such a problem" in capsys.readouterr().err


def test_the_worked_backend_solves_a_model(monkeypatch):
    (code,) = code_of("How to add a backend")
    module = as_module("linkrisk.solver.backends.cvxpy_scipy", code)
    line = re.search(r'`"(cvxpy-scipy)": "(\S+:CvxpyScipyBackend)"', text_of("How to add a backend"))
    monkeypatch.setitem(BACKENDS, line[1], line[2])
    model = MilpModel(
        objective=np.array([-5.0, -4.0, -3.0]),
        matrix=sparse.csr_array(np.array([[2.0, 3.0, 1.0], [4.0, 1.0, 2.0]])),
        row_lower=np.full(2, -np.inf),
        row_upper=np.array([5.0, 6.0]),
        column_lower=np.zeros(3),
        column_upper=np.ones(3),
        integer=np.ones(3, dtype=bool),
        constant=1.0,
    )
    result = get_backend(line[1]).solve(model, SolveOptions())
    assert type(get_backend(line[1])) is module.CvxpyScipyBackend
    assert (result.status, result.values.round().tolist()) == (Status.OPTIMAL, [1.0, 1.0, 0.0])
    assert result.objective == pytest.approx(-8.0)
    assert result.bound == pytest.approx(-8.0)


def test_the_worked_masking_method_rounds():
    (code,) = code_of("How to add a masking method")
    rounding = as_module("linkrisk.datasets.masking.rounding", code).Rounding
    frame = pd.DataFrame({"age": [14, 15, 25, 26], "town": list("abca")})
    assert rounding(base=10.0).apply(frame)["age"].tolist() == [10, 20, 20, 30]
    assert rounding(base=10.0).describe(frame) == "rounding to multiples of 10 of age"
    with pytest.raises(DataError) as caught:
        rounding(base=0.0)
    assert str(caught.value) == "base is 0; it must be above 0"
