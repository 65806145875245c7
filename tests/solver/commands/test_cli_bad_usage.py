"""Wrong usage: options out of range, unknown names, parameters that do not fit. One line, exit code 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_runs import PAIR, refuse, run
from small_files import NAMES, csv_text, noisy, survey

from linkrisk.solver.backends import registry
from linkrisk.solver.backends.scip import ScipBackend

pytestmark = pytest.mark.usefixtures("survey_folder")

KNOWN = (
    "fit, compare, evaluate, verify, link, find-links, risk, report, sweep, mask, unsafe, suppress, tables, "
    "run-protocol, app, describe, datasets, compile"
)
SEE = "(see `python -m solver{}--help`)"
EQUAL = {"weights": dict.fromkeys(NAMES, 1 / 3)}


def write_parameters(content: Any, name: str = "fit.json") -> list[str]:
    """Write a parameters file and give the command that reads it."""
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return ["evaluate", "--parameters", name]


@pytest.fixture(params=["fit", "compare", "evaluate"])
def command(request) -> list[str]:
    """A command with its file pair."""
    if request.param == "evaluate":
        return [*write_parameters({"parameters": EQUAL}), *PAIR, "--json", "out.json"]
    return [request.param, *PAIR, "--json", "out.json"]


# Commands and options


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            [],
            f"which command? {KNOWN} " + SEE.format(" "),
        ),
        (["fitt"], "unknown command 'fitt': did you mean 'fit'? " + SEE.format(" ")),
        (["xyz"], "unknown command 'xyz' " + SEE.format(" ")),
        (
            ["--aggregator", "owa"],
            f"give the command before '--aggregator': {KNOWN} " + SEE.format(" "),
        ),
        (
            ["fit", "--agregator", "owa"],
            "unknown option '--agregator': did you mean '--aggregator'? " + SEE.format(" fit "),
        ),
        (
            ["fit", "--attribute=age"],
            "unknown option '--attribute': did you mean '--attributes'? " + SEE.format(" fit "),
        ),
        (["compare", "--quick"], "unknown option '--quick' " + SEE.format(" compare ")),
        (
            ["compare", "original.csv"],
            "unexpected argument 'original.csv': did you mean '--original'? " + SEE.format(" compare "),
        ),
        (["fit", "--original"], "argument --original: expected one argument " + SEE.format(" fit ")),
        (
            ["describe", "--input", "people.csv"],
            "unknown option '--input': FILE is given without one, as in `python -m solver describe FILE` "
            + SEE.format(" describe "),
        ),
        (
            ["verify", "--result=fit.json", "--original", "o.csv"],
            "unknown option '--result': FIT.json is given without one, as in "
            "`python -m solver verify FIT.json` " + SEE.format(" verify "),
        ),
        (
            ["unsafe", "--data", "people.csv"],
            "unknown option '--data': did you mean '--input'? " + SEE.format(" unsafe "),
        ),
        (
            ["evaluate"],
            "the following arguments are required: --parameters " + SEE.format(" evaluate "),
        ),
    ],
)
def test_commands_and_options(argv, message, capsys):
    refuse(capsys, message, *argv)


PROBLEM = [
    (
        "--differences",
        "signed",
        "the weighted-mean aggregator takes squared or absolute differences, not signed",
    ),
    ("--k-additive", "2", "--k-additive is an option of choquet, not of weighted-mean: leave it out"),
]


@pytest.mark.parametrize(("option", "value", "message"), PROBLEM)
def test_problem_is_checked_before_the_files_are_read(option, value, message, command, capsys):
    refuse(capsys, message, *command, "--original", "nowhere.csv", option, value)


def test_one_additive_is_the_weighted_mean(command, capsys):
    message = "--k-additive must be at least 2, not 1: the 1-additive integral is --aggregator weighted-mean"
    refuse(capsys, message, *command, "--aggregator", "choquet", "--k-additive", "1")


@pytest.mark.parametrize("more", [[], ["--k-additive", "3"]])
def test_a_measure_on_thirteen_attributes(more, command, capsys):
    names = tuple(f"q{k}" for k in range(1, 14))
    rows = [[chance for start in range(5) for chance in row][:13] for row in noisy(survey())]
    for name in ("original.csv", "masked.csv"):
        Path(name).write_text(csv_text(rows, names), encoding="utf-8")
    what = "a fuzzy measure on 13 attributes has 8,191 non-empty subsets"
    if more:
        what = "a 3-additive measure on 13 attributes needs 53,248 monotonicity rows"
    message = (
        f"{what}; at most 12 attributes are possible: choose fewer with --attributes, or use --k-additive 2"
    )
    refuse(capsys, message, *command, "--aggregator", "choquet", *more)


def test_samples_are_checked_before_the_files_are_read(capsys):
    message = "there are no samples to draw where all records are searched: leave the sample out"
    files = ["--original", "nowhere.csv", "--masked", "masked.csv"]
    refuse(capsys, message, "fit", *files, "--sample", "none", "--samples", "3")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ["--sample", "31"],
            "a sample of 31 is more than the 30 records there are: take a smaller one, or search all records "
            "without a sample",
        ),
        (
            ["--sample", "11", "--samples", "3"],
            "3 samples of 11 records are 33, more than the 30 there are: take fewer or smaller ones",
        ),
        (["--strata", "region"], "there is no column region to draw by: the files have "),
    ],
)
def test_samples_that_the_file_does_not_have(given, message, capsys):
    if given[0] == "--strata":
        message += ", ".join(sorted(NAMES))
    refuse(capsys, message, "fit", *PAIR, *given)


def test_a_model_is_of_all_records(capsys):
    message = "a model is of all records: leave --sample, --samples and --strata out, or run twice"
    refuse(capsys, message, "fit", *PAIR, "--write-model", "out.lp", "--sample", "5")


@pytest.mark.parametrize("argv", [["fit", "--backend", "scip"], ["compare", "--backends", "highs,scip"]])
def test_backend_that_is_not_installed(argv, monkeypatch, capsys):
    monkeypatch.setattr(ScipBackend, "requires", ("a_module_that_is_not_there",))
    refuse(capsys, f"backend 'scip' needs {ScipBackend.install}", *argv, *PAIR)


def test_compare_leaves_out_what_is_not_installed(monkeypatch, capsys):
    few = {name: registry.BACKENDS[name] for name in ("highs", "scipy")}
    monkeypatch.setattr(registry, "BACKENDS", few)
    monkeypatch.setattr(
        "linkrisk.solver.backends.scipy.ScipyBackend.requires", ("a_module_that_is_not_there",)
    )
    printed = run(capsys, "compare", *PAIR)
    assert "2 of 2 claim a proof" in printed  # highs and the exact engine
    assert "scipy" not in printed


@pytest.mark.parametrize("name", ["fit", "compare"])
def test_too_many_comparisons_for_the_model(name, monkeypatch, capsys):
    monkeypatch.setattr("linkrisk.solver.worst_case.search_state.LARGEST_SYSTEM", 899)
    message = (
        "30 records and 30 candidates make 900 comparisons, more than the 899 that the big-C model can hold: "
        "take a sample of the records, fit with --engine exact, or judge given parameters with `evaluate`"
    )
    argv = [name, *PAIR, *(["--engine", "milp"] if name == "fit" else [])]
    refuse(capsys, message, *argv, "--json", "out.json")
    if name == "fit":
        refuse(capsys, message, *argv, "--write-model", "out.lp")


def test_too_many_distances_for_one_to_one(monkeypatch, capsys):
    monkeypatch.setattr("linkrisk.solver.linkage.matching.LARGEST_MATRIX", 899)
    message = (
        "one-to-one assignment needs a matrix of 30 x 30 distances, more than the 899 that are allowed: "
        "take a sample, or leave --one-to-one out"
    )
    refuse(capsys, message, *write_parameters({"parameters": EQUAL}), *PAIR, "--one-to-one")


# Parameters

GIVE = "; give the file that `fit --json` or `link --json` wrote"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", f"fit.json is not valid JSON (line 1, column 1){GIVE}"),
        ('{"records": 3,\n "linked"}', f"fit.json is not valid JSON (line 2, column 10){GIVE}"),
        ("[" * 100_000, f"fit.json is not valid JSON{GIVE}"),
        (
            '{"parameters": {"weights": {"A": 1.0, "B": 0.0, "A": 0.0}}}',
            f'fit.json cannot be used: the key "A" is twice in an object{GIVE}',
        ),
        (
            '{"parameters": {"weights": {"A": NaN}}}',
            f"fit.json cannot be used: NaN is not a JSON number{GIVE}",
        ),
        (
            '{"parameters": {"weights": {"A": -Infinity}}}',
            f"fit.json cannot be used: -Infinity is not a JSON number{GIVE}",
        ),
        (
            '{"parameters": {"weights": {"A": 1e999}}}',
            f"fit.json cannot be used: the number 1e999 is too large{GIVE}",
        ),
        ("[1]", f"fit.json has no parameters{GIVE}"),
        ("{}", f"fit.json has no parameters{GIVE}"),
        ({"parameters": [1, 2, 3]}, f"fit.json has no parameters{GIVE}"),
        (
            {"parameters": EQUAL, "aggregator": "choquet"},
            "fit.json: parameters of choquet need the key 'measure' with one number per name",
        ),
        (
            {"parameters": {"weights": {"age": 1, "salary": 0}}, "attributes": ["age", "income"]},
            "fit.json: parameters of weighted-mean have no 'income': they were learned on other attributes "
            "(weights: age, salary)",
        ),
        (
            {"parameters": {"weights": {"age": 1, "salary": 0}}, "attributes": ["age", "salary"]},
            "original.csv has no column 'salary' (attribute); there are: age, income, hours",
        ),
        (
            {"parameters": EQUAL, "attributes": ["age", "hours"]},
            "fit.json: parameters of weighted-mean have the unknown name 'income': they were learned on "
            "other attributes (weights: age, income, hours)",
        ),
        (
            {"parameters": {"weights": {"age": "much", "income": 0, "hours": 0}}},
            "fit.json: weighted-mean weights must be finite numbers",
        ),
        (
            {"parameters": {"weights": {"age": -0.5, "income": 0.5, "hours": 1}}},
            "fit.json: these are not parameters of weighted-mean: p_age is -0.5, below 0; take them from the "
            "JSON of a fit",
        ),
        (
            {"parameters": {"matrix": [[1, 0], [0, 1]]}, "aggregator": "mahalanobis"},
            "fit.json: the mahalanobis matrix must have 3 rows and columns, one per attribute",
        ),
        (
            {"parameters": {"matrix": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}, "aggregator": "mahalanobis"},
            "fit.json: the mahalanobis matrix must be symmetric",
        ),
        (
            {"parameters": {"matrix": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}, "aggregator": "mahalanobis"},
            "fit.json: the mahalanobis matrix must be positive semidefinite",
        ),
    ],
)  # fmt: skip
def test_parameters(content, message, capsys):
    argv = write_parameters(content)
    refuse(capsys, message, *argv, *PAIR, "--json", "out.json", "--table", "out.csv")


def test_parameters_that_cannot_be_read(capsys):
    message = "nowhere.json cannot be read: no such file or directory" + GIVE
    refuse(capsys, message, "evaluate", "--parameters", "nowhere.json", *PAIR)
    Path("folder").mkdir()
    message = "folder cannot be read: is a directory" + GIVE
    refuse(capsys, message, "evaluate", "--parameters", "folder", *PAIR)
    Path("fit.json").write_bytes(b"\xff")
    refuse(capsys, f"fit.json is not valid JSON{GIVE}", "evaluate", "--parameters", "fit.json", *PAIR)


def test_parameters_of_another_aggregator(capsys):
    run(capsys, "fit", *PAIR, "--aggregator", "owa", "--json", "fit.json")
    message = (
        "fit.json: parameters of weighted-mean have no 'age': they were learned on other attributes "
        "(weights: 1, 2, 3)"
    )
    refuse(capsys, message, "evaluate", "--parameters", "fit.json", *PAIR, "--aggregator", "weighted-mean")
