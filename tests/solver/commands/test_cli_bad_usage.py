"""Wrong usage, and files that cannot be used: one line, exit code 2, and nothing else."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest
from cli_runs import PAIR, check_refusals, refuse, run
from small_files import NAMES, csv_text, noisy, survey, write_pair

from linkrisk.solver.backends import registry

pytestmark = pytest.mark.usefixtures("survey_folder")

EQUAL = {"weights": dict.fromkeys(NAMES, 1 / 3)}


def test_usage(capsys):
    fit = ["fit", *PAIR]
    usage = [
        *([], ["fitt"], ["--aggregator", "owa"], ["fit", "--agregator", "owa"], ["compare", "--quick"]),
        *(["compare", "original.csv"], ["fit", "--original"], ["describe", "--input", "people.csv"]),
        ["unsafe", "--data", "people.csv"],
    ]
    requests = [
        [*fit, "--write-model", "out.lp", "--sample", "5"],
        [*fit, "--sample", "31"],
        [*fit, "--sample", "11", "--samples", "3"],
        [*fit, "--strata", "region"],
        *([*one, "--aggregator", "choquet", "--k-additive", "1"] for one in (fit, ["compare", *PAIR])),
        fit[:-2],
        ["compare", *PAIR[2:]],
        [*fit, "--id", "id", "--row-by-row"],
    ]
    check_refusals(capsys, "usage", [*usage, *requests])


def test_a_measure_on_thirteen_attributes(capsys):
    rows = [[chance for start in range(5) for chance in row][:13] for row in noisy(survey())]
    for name in ("original.csv", "masked.csv"):
        write(csv_text(rows, tuple(f"q{k}" for k in range(1, 14))), name)
    check_refusals(capsys, "thirteen-attributes", [["fit", *PAIR, "--aggregator", "choquet"]])


@pytest.mark.parametrize("argv", [["fit", "--backend", "scip"], ["compare", "--backends", "highs,scip"]])
def test_backend_that_is_not_installed(argv, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    refuse(capsys, "backend 'scip' needs the extra 'scip': pip install 'linkrisk[scip]'", *argv, *PAIR)


def test_compare_leaves_out_what_is_not_installed(monkeypatch, capsys):
    few = {name: registry.BACKENDS[name] for name in ("highs", "scipy")}
    monkeypatch.setattr(registry, "BACKENDS", few)
    monkeypatch.setattr(
        "linkrisk.solver.backends.scipy.ScipyBackend.requires", ("a_module_that_is_not_there",)
    )
    printed = run(capsys, "compare", *PAIR)
    assert "2 of 2 claim a proof" in printed  # highs and the exact engine
    assert "scipy" not in printed


def test_too_many_comparisons_for_the_model(monkeypatch, capsys):
    monkeypatch.setattr("linkrisk.solver.worst_case.search_state.LARGEST_SYSTEM", 899)
    fit = ["fit", *PAIR, "--engine", "milp"]
    asked = [
        [*fit, "--json", "out.json"],
        [*fit, "--write-model", "out.lp"],
        ["compare", *PAIR, "--json", "out.json"],
    ]
    check_refusals(capsys, "large-models", asked)


def test_parameters(capsys):
    evaluate = ["evaluate", *PAIR, "--parameters"]
    Path("folder").mkdir()

    def given():
        for content in (
            *('{"records": 3,\n "linked"}', "[" * 100_000, "{}"),
            {"parameters": EQUAL, "aggregator": "choquet"},
            {"parameters": {"weights": {"age": 1, "salary": 0}}, "attributes": ["age", "salary"]},
            {"parameters": EQUAL, "attributes": ["age", "hours"]},
            {"parameters": {"weights": {"age": "much", "income": 0, "hours": 0}}},
            {"parameters": {"weights": {"age": -0.5, "income": 0.5, "hours": 1}}},
        ):
            text = content if isinstance(content, str) else json.dumps(content)
            Path("fit.json").write_text(text, encoding="utf-8")
            yield text[:100], [*evaluate, "fit.json", "--json", "out.json", "--table", "out.csv"]
        Path("fit.json").write_bytes(b"\xff")
        yield from ([*evaluate, name] for name in ("nowhere.json", "folder", "fit.json"))

    check_refusals(capsys, "parameters", given())


WHOLE = [
    ["fit", "--json", "out.json", "--report", "out.html"],
    ["compare", "--backends", "scipy", "--json", "out.json", "--table", "out.csv"],
    ["evaluate", "--parameters", "fit.json", "--json", "out.json", "--table", "out.csv"],
]


def write(text: str | bytes, name: str = "masked.csv") -> None:
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())


def write_with_ids(*ids: list[object]) -> None:
    for name, own in zip(("original.csv", "masked.csv"), ids, strict=True):
        rows = [[one, *row] for one, row in zip(own, survey(), strict=False)]
        write(csv_text(rows, ("id", *NAMES)), name)  # type: ignore[arg-type]


CASES: dict[str, tuple[Callable[[], object], list[str]]] = {
    "missing file": (lambda: Path("masked.csv").unlink(), []),
    "undecodable": (lambda: write(b"age,income,hours\n1,2,3\n1,\x81,3\n"), []),
    "text": (lambda: write(csv_text(noisy(survey())).replace("\n", "\nmany", 1)), []),
    "constant": (lambda: write(csv_text([[age, 7, hours] for age, _, hours in survey()])), []),
    "duplicate ids": (lambda: write_with_ids([1, 2, 3], [1, 3, "3.0"]), ["--id", "id"]),
    "unknown id": (lambda: write_with_ids([1, 2], [1, 2]), ["--id", "ID"]),
    "attribute misspelt": (lambda: None, ["--attributes", "age, Incom"]),
}


def test_files_that_cannot_be_used(capsys):
    Path("fit.json").write_text(json.dumps({"parameters": EQUAL}), encoding="utf-8")

    def given():
        for (case, (spoil, more)), whole in zip(CASES.items(), cycle(WHOLE)):
            write_pair(Path())
            spoil()
            yield f"{case}: {whole[0]}", [*whole, *PAIR, *more]

    check_refusals(capsys, "pairs", given())
