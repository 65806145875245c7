"""The examples of docs/how-to/extend.md do what its text says of them."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from worked_aggregator import (
    AS_PLUGIN,
    HEADING,
    NAME,
    ROOT,
    as_module,
    code_of,
    environment,
    files_of,
    placed,
    text_of,
)

import linkrisk
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking import parameters
from linkrisk.datasets.options.option import options_of
from linkrisk.formulations.programs import MilpModel
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.registry import BACKENDS, get_backend
from linkrisk.solver.certificates.checking.rounded import ROUNDED
from linkrisk.solver.certificates.core.families import FAMILIES
from linkrisk.solver.commands.program import main
from linkrisk.solver.options.operations import OPERATIONS
from linkrisk.solver.options.taking import taking
from linkrisk.solver.options.worst_case import EvaluateCommand, EvaluateOptions
from linkrisk.solver.run.clock import Status

QUICK = (
    *("formulations/linkage/test_aggregator_distances.py", "formulations/linkage/test_aggregator_domains.py"),
    *("formulations/linkage/test_aggregator_errors.py", "solver/certificates/test_checks.py"),
    *("solver/engines/exact/test_exact_engine.py", "solver/worst_case/operations/test_fit_optimum.py"),
)
MORE = (
    *("formulations", "solver/certificates", "solver/engines", "solver/linkage/test_evaluator.py"),
    *("solver/linkage/test_assignment.py", "solver/worst_case"),
)
FILES = ["--original", "original.csv", "--masked", "masked.csv"]
CHECK = ["verify", "fit.json", "--certificate", "proof.json", *FILES]


def passed(places: tuple[str, ...]) -> int:
    """How many of the tests there run on the worked aggregator; none may fail."""
    command = [sys.executable, "-m", "pytest", "-p", AS_PLUGIN, "-q", "-p", "no:cacheprovider", "-k", NAME]
    paths = [str(ROOT / "tests" / place) for place in places]
    answer = subprocess.run([*command, *paths], capture_output=True, text=True, cwd=ROOT, env=environment())
    assert answer.returncode == 0, answer.stdout[-4000:] + answer.stderr[-1000:]
    found = re.search(r"(\d+) passed", answer.stdout)
    assert found is not None
    return int(found[1])


def test_the_worked_aggregator_agrees_with_brute_force():
    """Features, form and definition; the domain; the exact engine and `fit` against the exact optimum."""
    assert passed(QUICK) > 60


@pytest.mark.slow
def test_all_tests_of_aggregators_run_on_the_worked_one():
    assert passed(MORE) > 150


STEPS = {
    HEADING: [
        "formulations/linkage/aggregators/mean_and_ends.py",
        *("formulations/linkage/aggregators/registry.py", "solver/options/names.py"),
        *("solver/certificates/core/families.py", "solver/certificates/checking/rounded.py"),
        *("tests/support/brute_optimum.py", "tests/support/aggregator_cases.py", "docs/methods/distances.md"),
    ],
    "How to add a backend": [
        *("solver/backends/cvxpy_scipy.py", "solver/backends/registry.py", "pyproject.toml"),
        *("constraints.txt", "docs/methods/milp-engine.md"),
    ],
    "How to add an option": [
        *("solver/options/pair.py", "solver/options/worst_case.py", "solver/options/names.py"),
        *("solver/options/types.py", "solver/linkage/operations/evaluate.py", "solver/schemas/linkage.py"),
        "tests/golden/help-evaluate.txt",
    ],
    "How to add a masking method": [
        *("datasets/masking/parameters.py", "datasets/masking/truncation.py", "datasets/masking/registry.py"),
        *("tests/datasets/masking/test_truncation.py", "tests/datasets/masking/test_masking_registry.py"),
        "docs/how-to/masking.md",
    ],
}
NEW = ("mean", "cvxpy_scipy", "truncation")


@pytest.mark.parametrize("heading", STEPS)
def test_the_steps_name_these_files_and_no_others(heading):
    files = files_of(heading)
    assert files == STEPS[heading]
    absent = [name for name in files if not (ROOT / name).exists()]
    assert absent == [name for name in files if any(word in name for word in NEW)]


@pytest.fixture
def worked(tmp_path_factory):
    with placed(tmp_path_factory.mktemp("worked")):
        yield


def fitted(*more: str) -> tuple[dict[str, Any], dict[str, Any]]:
    command = ["fit", *FILES, "--aggregator", NAME, "--time-limit", "none"]
    assert main([*command, "--json", "fit.json", "--certificate", "proof.json", *more]) == 0
    fit, proof = (json.loads(Path(name).read_text("utf-8")) for name in ("fit.json", "proof.json"))
    return fit, proof


@pytest.mark.usefixtures("survey_folder", "worked")
def test_the_command_line_knows_the_worked_aggregator(capsys):
    fit, _ = fitted("--report", "fit.html")
    printed, report = capsys.readouterr().out, Path("fit.html").read_text("utf-8")
    assert main(["evaluate", *FILES, "--parameters", "fit.json", "--json", "again.json"]) == 0
    again = json.loads(Path("again.json").read_text("utf-8"))
    assert (fit["aggregator"], fit["status"]) == (NAME, "optimal")
    assert list(fit["parameters"]["weights"]) == ["mean", "max", "min"]
    assert again["linked"] == fit["linked"] >= fit["baselines"]["euclid"]
    assert "weight of the mean, the largest and the smallest attribute distance\n" in printed
    assert "mean that leans to its ends" in printed
    assert "mean that leans to its ends" in report
    assert "Part of the attribute distances" in report
    assert "rank" not in printed.lower()


@pytest.mark.usefixtures("survey_folder", "worked")
def test_the_worked_aggregator_is_proved_and_a_forged_claim_is_not(capsys):
    fit, proof = fitted()
    assert proof["bound"]["linked_weight"] == fit["linked"] < fit["records"]
    capsys.readouterr()
    assert main(CHECK) == 0
    assert (
        f"no mean that leans to its ends whose distances differ by more than a tie links more than "
        f"{fit['linked']} of {fit['records']}" in capsys.readouterr().out
    )
    for forged_fit, forged_proof, message in (
        ({"linked_upper_bound": fit["linked"] - 1}, {}, "linked_upper_bound"),
        (
            {"linked_upper_bound": fit["linked"] - 1, "linked": fit["linked"] - 1},
            {"linked": fit["linked"] - 1},
            "linked",
        ),
        ({}, {"bound": {"unit": 1, "linked_weight": fit["linked"] - 1}}, "bound"),
        ({"parameters": {"weights": {"mean": 0.5, "max": 0.7, "min": -0.2}}}, {}, "a weight is below zero"),
    ):
        Path("fit.json").write_text(json.dumps({**fit, **forged_fit}), "utf-8")
        Path("proof.json").write_text(json.dumps({**proof, **forged_proof}), "utf-8")
        assert main(CHECK) == 1
        assert message in capsys.readouterr().err


@pytest.mark.usefixtures("worked")
def test_a_mean_of_whole_numbers_is_told_by_its_denominator():
    family = FAMILIES[NAME].of("ABC", {})
    assert (family.factor, family.features([1, 2, 2])) == (3, [5, 6, 3])
    rounded = ROUNDED[type(family)](family).features(np.array([[1.0, 2.0, 2.0]]))[0]
    np.testing.assert_allclose(family.features([1, 2, 2]), family.factor * rounded)


def test_the_worked_backend_solves_a_model(monkeypatch):
    (code,) = code_of("How to add a backend")
    module = as_module("linkrisk.solver.backends.cvxpy_scipy", code)
    line = re.search(r'`"(cvxpy-scipy)": "(\S+:CvxpyScipyBackend)"', text_of("How to add a backend"))
    monkeypatch.setitem(BACKENDS, line[1], line[2])
    model = MilpModel(
        objective=np.array([-5.0, -4.0, -3.0]),
        matrix=sparse.csr_array(np.array([[2.0, 3.0, 1.0], [4.0, 1.0, 2.0]])), row_lower=np.full(2, -np.inf),
        row_upper=np.array([5.0, 6.0]), column_lower=np.zeros(3), column_upper=np.ones(3),
        integer=np.ones(3, dtype=bool), constant=1.0,
    )  # fmt: skip
    result = get_backend(line[1]).solve(model, SolveOptions())
    assert type(get_backend(line[1])) is module.CvxpyScipyBackend
    assert (result.status, result.values.round().tolist()) == (Status.OPTIMAL, [1.0, 1.0, 0.0])
    assert result.objective == pytest.approx(-8.0)
    assert result.bound == pytest.approx(-8.0)


def test_the_worked_masking_method_cuts(monkeypatch):
    declared, code = code_of("How to add a masking method")
    made = dict(vars(parameters))
    exec(compile(declared, "extend.md", "exec"), made)
    monkeypatch.setattr(parameters, "TruncationParameters", made["TruncationParameters"], raising=False)
    truncation = as_module("linkrisk.datasets.masking.truncation", code).Truncation
    frame = pd.DataFrame({"age": [14, 15, 25, 26], "town": list("abca")})
    assert truncation(base=10.0).apply(frame)["age"].tolist() == [10, 10, 20, 20]
    assert truncation(base=10.0).describe(frame) == "truncation to multiples of 10 of age"
    assert list(options_of(truncation)) == ["attributes", "schema", "base"]
    with pytest.raises(DataError) as caught:
        truncation(base=0.0)
    assert str(caught.value) == "base is 0; it must be above 0"


@pytest.mark.usefixtures("survey_folder")
def test_the_worked_option_is_on_every_face(monkeypatch, capsys):
    (code,) = code_of("How to add an option")
    remark = as_module("linkrisk.solver.options.remark", code).Remark
    typed = type("Typed", (EvaluateCommand, remark), {"__doc__": "With a remark."})
    asked = type("Asked", (EvaluateOptions, remark), {"__doc__": "With a remark."})
    typed, asked = (dataclass(frozen=True, kw_only=True)(one) for one in (typed, asked))
    monkeypatch.setattr(f"{__name__}.Typed", typed, raising=False)
    monkeypatch.setitem(OPERATIONS, "evaluate", f"{__name__}:Typed")
    made = taking(asked)(linkrisk.evaluate.__wrapped__)
    monkeypatch.setattr("linkrisk.solver.linkage.operations.evaluate.evaluate", made)
    with pytest.raises(SystemExit):
        main(["evaluate", "--help"])
    assert "\nremark:\n  --remark TEXT" in capsys.readouterr().out
    Path("own.json").write_text('{"parameters": {"weights": {"income": 1.0}}}', encoding="utf-8")
    command = ["evaluate", *FILES, "--parameters", "own.json", "--attributes", "income"]
    assert main([*command, "--remark", "last year", "--json", "counted.json"]) == 0
    assert json.loads(Path("counted.json").read_text("utf-8"))["remark"] == "last year"
    assert "remark : str, optional\n    A remark that the JSON keeps.\n" in inspect.getdoc(made)
