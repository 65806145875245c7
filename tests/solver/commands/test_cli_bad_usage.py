"""Wrong usage, and files that cannot be used: one line, exit code 2, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
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
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return ["evaluate", "--parameters", name]


@pytest.fixture(params=["fit", "compare", "evaluate"])
def command(request) -> list[str]:
    if request.param == "evaluate":
        return [*write_parameters({"parameters": EQUAL}), *PAIR, "--json", "out.json"]
    return [request.param, *PAIR, "--json", "out.json"]


# Commands and options


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], f"which command? {KNOWN} " + SEE.format(" ")),
        (["fitt"], "unknown command 'fitt': did you mean 'fit'? " + SEE.format(" ")),
        (["--aggregator", "owa"], f"give the command before '--aggregator': {KNOWN} " + SEE.format(" ")),
        (
            ["fit", "--agregator", "owa"],
            "unknown option '--agregator': did you mean '--aggregator'? " + SEE.format(" fit "),
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
            ["unsafe", "--data", "people.csv"],
            "unknown option '--data': did you mean '--input'? " + SEE.format(" unsafe "),
        ),
    ],
)
def test_commands_and_options(argv, message, capsys):
    refuse(capsys, message, *argv)


def test_a_model_is_of_all_records(capsys):
    message = "a model is of all records: leave --sample, --samples and --strata out, or run twice"
    refuse(capsys, message, "fit", *PAIR, "--write-model", "out.lp", "--sample", "5")


def test_a_measure_on_thirteen_attributes(capsys):
    rows = [[chance for start in range(5) for chance in row][:13] for row in noisy(survey())]
    for name in ("original.csv", "masked.csv"):
        Path(name).write_text(csv_text(rows, tuple(f"q{k}" for k in range(1, 14))), encoding="utf-8")
    message = (
        "a fuzzy measure on 13 attributes has 8,191 non-empty subsets; at most 12 attributes are possible: "
        "choose fewer with --attributes, or use --k-additive 2"
    )
    refuse(capsys, message, "fit", *PAIR, "--aggregator", "choquet")


def test_one_additive_is_the_weighted_mean(command, capsys):
    message = "--k-additive must be at least 2, not 1: the 1-additive integral is --aggregator weighted-mean"
    refuse(capsys, message, *command, "--aggregator", "choquet", "--k-additive", "1")


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


# Parameters

GIVE = "; give the file that `fit --json` or `link --json` wrote"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"records": 3,\n "linked"}', f"fit.json is not valid JSON (line 2, column 10){GIVE}"),
        ("[" * 100_000, f"fit.json is not valid JSON{GIVE}"),
        ("{}", f"fit.json has no parameters{GIVE}"),
        (
            {"parameters": EQUAL, "aggregator": "choquet"},
            "fit.json: parameters of choquet need the key 'measure' with one number per name",
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
    ],
)
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


WHOLE = {
    "fit": ["fit", "--json", "out.json", "--report", "out.html"],
    "compare": ["compare", "--backends", "scipy", "--json", "out.json", "--table", "out.csv"],
    "evaluate": ["evaluate", "--parameters", "fit.json", "--json", "out.json", "--table", "out.csv"],
}


@pytest.fixture(params=WHOLE)
def whole_command(request) -> list[str]:
    weights = {"parameters": {"weights": dict.fromkeys(NAMES, 1 / len(NAMES))}}
    Path("fit.json").write_text(json.dumps(weights), encoding="utf-8")
    return WHOLE[request.param]


def write(text: str | bytes, name: str = "masked.csv") -> None:
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())


def write_cell(row: int, column: int, cell: object, name: str = "masked.csv") -> None:
    rows: list[list[object]] = [list(answers) for answers in noisy(survey())]
    rows[row - 1][column] = cell
    write(csv_text(rows), name)  # type: ignore[arg-type]


def write_constant(name: str) -> None:
    write(csv_text([[age, 7, hours] for age, _, hours in survey()]), name)


def write_with_ids(name: str, ids: list[object]) -> None:
    rows = [[ids[at], *row] for at, row in enumerate(survey()[: len(ids)])]
    write(csv_text(rows, ("id", *NAMES)), name)  # type: ignore[arg-type]


BY_ID = ["--id", "id"]
Spoil = Callable[[], object]

CASES: dict[str, tuple[Spoil, list[str], str]] = {
    "missing file": (
        lambda: Path("masked.csv").unlink(),
        [],
        "masked.csv cannot be read: there is no such file",
    ),
    "only one file": (
        lambda: None,
        ["--masked"],
        "the masked file is missing: give both --original and --masked, or neither",
    ),
    "undecodable": (
        lambda: write(b"age,income,hours\n1,2,3\n1,\x81,3\n"),
        [],
        "masked.csv, line 3: byte 0x81 is neither UTF-8 nor Windows-1252; save the file as UTF-8",
    ),
    "two ways to say who is who": (
        lambda: None,
        ["--id", "id", "--row-by-row"],
        "--id and --row-by-row are two ways to align the records; give one of them",
    ),
    "text": (
        lambda: write_cell(4, 1, "many"),
        [],
        "masked.csv, column 'income', row 4: 'many' is not a number; fix it or choose other --attributes",
    ),
    "constant": (
        lambda: write_constant("masked.csv"),
        [],
        "masked.csv: constant attributes cannot be compared: income; leave them out with --drop-constant or "
        "--attributes",
    ),
    "duplicate ids": (
        lambda: (write_with_ids("original.csv", [1, 2, 3]), write_with_ids("masked.csv", [1, 3, "3.0"])),
        BY_ID,
        "masked.csv, column 'id': the id '3' is in rows 2 and 3; ids must be unique",
    ),
    "unknown id": (
        lambda: (write_with_ids("original.csv", [1, 2]), write_with_ids("masked.csv", [1, 2])),
        ["--id", "ID"],
        "original.csv has no column 'ID' (--id); did you mean 'id'?",
    ),
    "attribute misspelt": (
        lambda: None,
        ["--attributes", "age, Incom"],
        "original.csv has no column 'Incom' (attribute); did you mean 'income'?",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_files_that_cannot_be_used(case, whole_command, capsys):
    spoil, more, message = CASES[case]
    spoil()
    argv = [*whole_command, *PAIR, *more]
    if more == ["--masked"]:
        argv = [*whole_command, *PAIR[:2]]
    refuse(capsys, message, *argv)


def test_original_file_missing(whole_command, capsys):
    message = "the original file is missing: give both --original and --masked, or neither"
    refuse(capsys, message, *whole_command, *PAIR[2:])
