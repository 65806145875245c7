"""`compare`: what it writes, how loud it is when backends disagree, and backends that fail."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest
from cli_runs import PAIR, run

import solver.comparison
from solver.backends.isolated import IsolatedResult, solve_isolated
from solver.cli import main
from solver.comparison import BackendRow, disagreements

COMPARE = ["compare", *PAIR, "--backends", "highs,scipy", "--json", "out.json", "--csv", "out.csv"]

Change = Callable[[IsolatedResult], IsolatedResult]


def written() -> dict:
    return json.loads(Path("out.json").read_text(encoding="utf-8"))


@pytest.fixture
def tamper(monkeypatch) -> Callable[[Change], None]:
    """Change what the backend `scipy` returns before it is recounted."""

    def install(change: Change) -> None:
        def solve(name, *settings, **more):
            answer = solve_isolated(name, *settings, **more)
            return change(answer) if name == "scipy" else answer

        monkeypatch.setattr(solver.comparison, "solve_isolated", solve)

    return install


@pytest.mark.usefixtures("survey_folder")
def test_json_and_csv(capsys):
    run(capsys, *COMPARE, "--seed", "3", "--time-limit", "30")
    result = written()
    assert {key: result[key] for key in ("records", "attack", "seed", "time_limit", "disagreements")} == {
        "records": 30,
        "attack": 23,
        "seed": 3,
        "time_limit": 30,
        "disagreements": [],
    }
    assert [row["backend"] for row in result["backends"]] == ["highs", "scipy"]
    for row in result["backends"]:
        assert list(row) == [field.name for field in fields(BackendRow)]
        assert (row["status"], row["limit"], row["gap"]) == ("optimal", None, 0)
        assert (row["linked"], row["linked_with_margin"], row["linked_upper_bound"]) == (23, 23, 23)
        assert (row["rows"], row["columns"], row["nonzeros"]) == (170, 29, 679)
        assert row["build_seconds"] >= 0
        assert row["solve_seconds"] > 0
        assert 20 < row["peak_memory_mb"] < 1000
        assert row["version"][0].isdigit()
    with Path("out.csv").open(newline="", encoding="utf-8") as lines:
        table = list(csv.DictReader(lines))
    in_csv = [
        {key: "" if value is None else str(value) for key, value in row.items()} for row in result["backends"]
    ]
    assert table == in_csv


@pytest.mark.usefixtures("survey_folder")
def test_without_a_start_the_attack_is_that_of_equal_weights(capsys):
    run(capsys, *COMPARE, "--no-start")
    result = written()
    assert result["attack"] == 16
    assert [row["linked"] for row in result["backends"]] == [23, 23]


@pytest.mark.usefixtures("survey_folder")
def test_two_proofs_that_differ_are_loud(tamper, capsys):
    # A bound that rises by two misses proves an optimum of two records fewer.
    tamper(lambda answer: replace(answer, result=replace(answer.result, bound=answer.result.bound + 2)))
    assert main(COMPARE) == 1
    printed = capsys.readouterr()
    sentences = [
        "highs and scipy both claim a proof, but of different optima: 23 and 21",
        "highs links 23, more than the bound 21 of scipy",
        "scipy links 23, more than the bound 21 of scipy",
    ]
    assert written()["disagreements"] == sentences
    assert printed.err.splitlines() == [f"DISAGREEMENT: {sentence}" for sentence in sentences]
    assert printed.out.endswith(printed.err)


@pytest.mark.usefixtures("survey_folder")
def test_records_linked_by_less_than_the_margin_are_no_disagreement(capsys):
    printed = run(capsys, *COMPARE, "--margin", "0.1")
    rows = written()["backends"]
    assert any(row["linked"] > row["linked_upper_bound"] for row in rows)
    assert all(row["linked_with_margin"] <= row["linked_upper_bound"] for row in rows)
    assert "note: bounds hold for parameters that keep the margin of 0.1" in printed


@pytest.mark.usefixtures("survey_folder")
def test_a_backend_that_fails_is_a_row(tamper, capsys):
    def fail(_: IsolatedResult) -> IsolatedResult:
        raise RuntimeError("backend 'scipy' died:\nSegmentation fault")

    tamper(fail)
    printed = run(capsys, *COMPARE)
    first, second = written()["backends"]
    assert (first["status"], first["linked"]) == ("optimal", 23)
    assert (second["status"], second["version"]) == ("failed", "backend 'scipy' died: Segmentation fault")
    assert {second[key] for key in ("linked", "linked_upper_bound", "gap", "solve_seconds")} == {None}
    assert (second["rows"], second["columns"]) == (first["rows"], first["columns"])
    assert "1 of 2 claim a proof; no two contradict each other" in printed


@pytest.mark.usefixtures("survey_folder")
def test_shared_ties_compare_weights(capsys):
    run(capsys, *COMPARE, "--masked", "grouped.csv", "--ties", "share")
    for row in written()["backends"]:
        assert row["linked"] == pytest.approx(29 / 3)
        assert row["linked_upper_bound"] == pytest.approx(29 / 3)


@pytest.mark.usefixtures("survey_folder")
def test_nothing_to_solve(capsys):
    """Every masked record has identical others: no row is left, and all backends must say so."""
    run(capsys, *COMPARE, "--masked", "grouped.csv")
    for row in written()["backends"]:
        assert (row["status"], row["linked"], row["linked_with_margin"], row["linked_upper_bound"]) == (
            "optimal",
            0,
            0,
            0,
        )


# Disagreements, on rows made by hand


def row(backend: str, status: str, kept: float | None, bound: float | None) -> BackendRow:
    return BackendRow(
        "milp", backend, status, None, kept, kept, bound, None, 1, 1, 1, 0.0, 0.0, None, "1"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], []),
        ([row("a", "optimal", 5, 5)], []),
        ([row("a", "optimal", 5, 5), row("b", "optimal", 5, 5), row("c", "feasible", 4, 7)], []),
        ([row("a", "optimal", 5, 5), row("b", "failed", None, None)], []),
        ([row("a", "optimal", 5, 5), row("b", "no_solution", None, 9)], []),
        # Noise of the last digits is no contradiction.
        ([row("a", "optimal", 29 / 3, 29 / 3), row("b", "optimal", 29 / 3 + 1e-9, 29 / 3 + 1e-9)], []),
        # A proof of less than what another backend found.
        (
            [row("a", "optimal", 5, 5), row("b", "optimal", 6, 6)],
            [
                "a and b both claim a proof, but of different optima: 5 and 6",
                "b links 6, more than the bound 5 of a",
            ],
        ),
        # A feasible answer can refute a proof, too.
        ([row("a", "optimal", 5, 5), row("b", "feasible", 6, 8)], ["b links 6, more than the bound 5 of a"]),
        # And a bound without any solution can be refuted.
        (
            [row("a", "no_solution", None, 3), row("b", "feasible", 4, 9)],
            ["b links 4, more than the bound 3 of a"],
        ),
        # A backend can contradict itself.
        ([row("a", "optimal", 6, 5)], ["a links 6, more than the bound 5 of a"]),
        # Two proofs without a solution that refutes either.
        (
            [row("a", "optimal", 5, 7), row("b", "optimal", 5, 8)],
            ["a and b both claim a proof, but of different optima: 7 and 8"],
        ),
    ],
)  # fmt: skip
def test_disagreements(rows, said):
    assert disagreements(rows) == said
