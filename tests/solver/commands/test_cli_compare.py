"""`compare`: what it writes, how loud it is when two disagree, and backends that fail."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest
from backend_problems import run_here, solve_here
from cli_runs import PAIR, flat, run

import linkrisk.solver.worst_case.contest
from linkrisk.solver.backends import registry
from linkrisk.solver.backends.guard import IsolatedResult
from linkrisk.solver.commands.program import main
from linkrisk.solver.run.clock import Limit, Status
from linkrisk.solver.worst_case.contest import BackendRow
from linkrisk.solver.worst_case.operations.compare import compare

COMPARE = ["compare", *PAIR, "--backends", "highs,scipy", "--json", "out.json", "--table", "out.csv"]

Change = Callable[[IsolatedResult], IsolatedResult]
EXACT = ["compare", *PAIR, "--backends", "exact,highs", "--json", "out.json", "--table", "out.csv"]


def written() -> dict:
    return json.loads(Path("out.json").read_text(encoding="utf-8"))


@pytest.fixture
def in_this_process(monkeypatch) -> None:
    """For what does not depend on processes of their own, which take a second each to start."""
    contest = linkrisk.solver.worst_case.contest
    monkeypatch.setattr(contest, "solve_isolated", solve_here)
    monkeypatch.setattr(contest, "run_isolated", run_here)


@pytest.fixture
def tamper(monkeypatch) -> Callable[[Change], None]:
    def install(change: Change) -> None:
        def solve(name, *settings, **more):
            answer = solve_here(name, *settings, **more)
            return change(answer) if name == "scipy" else answer

        monkeypatch.setattr(linkrisk.solver.worst_case.contest, "solve_isolated", solve)

    return install


@pytest.mark.usefixtures("survey_folder")
def test_json_and_csv(capsys):
    """The exact engine has a row without backend and model."""
    printed = run(capsys, *EXACT, "--seed", "3", "--time-limit", "3000")
    result = written()
    told = {"records": 30, "attack": 23, "seed": 3, "time_limit": 3000, "disagreements": []}
    assert {key: result[key] for key in told} == told
    exact, highs = result["backends"]
    for row in (exact, highs):
        assert list(row) == [field.name for field in fields(BackendRow)]
        assert (row["status"], row["limit"], row["gap"]) == ("optimal", None, 0)
        assert (row["linked"], row["linked_with_margin"], row["linked_upper_bound"]) == (23, 23, 23)
        assert row["solve_seconds"] > 0
        assert 20 < row["peak_memory_mb"] < 1000
    assert (exact["engine"], exact["backend"], highs["engine"], highs["backend"]) == (
        "exact",
        None,
        "milp",
        "highs",
    )
    assert {exact[key] for key in ("rows", "columns", "nonzeros", "build_seconds")} == {None}
    assert (highs["rows"], highs["columns"], highs["nonzeros"], highs["claimed"]) == (170, 29, 679, 23)
    assert highs["build_seconds"] >= 0
    assert highs["version"][0].isdigit()
    assert exact["version"] == result["versions"]["linkrisk"]
    assert "2 of 2 claim a proof; no two contradict each other" in printed
    assert "model: 170 rows" in printed
    with Path("out.csv").open(newline="", encoding="utf-8") as lines:
        table = list(csv.DictReader(lines))
    shown = [{key: "" if one is None else str(one) for key, one in row.items()} for row in (exact, highs)]
    assert table == shown


@pytest.mark.usefixtures("survey_folder", "in_this_process")
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
    assert flat(printed.err) in flat(printed.out)


@pytest.mark.usefixtures("survey_folder", "in_this_process")
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
def test_when_all_fail_the_exit_code_says_so(monkeypatch, capsys):
    def fail(*_: object, **__: object) -> IsolatedResult:
        raise RuntimeError("it broke\nin two lines")

    monkeypatch.setattr(linkrisk.solver.worst_case.contest, "solve_isolated", fail)
    assert main(COMPARE) == 1
    printed = capsys.readouterr()
    reason = "failed (it broke in two lines)"
    assert printed.err == f"NO ANSWER: none of 2 answered: highs {reason}, scipy {reason}\n"
    assert flat(printed.err) in flat(printed.out)
    assert [row["status"] for row in written()["backends"]] == ["failed", "failed"]


@pytest.mark.usefixtures("survey_folder", "in_this_process")
def test_links_that_are_claimed_and_not_found_are_loud(tamper, capsys):
    """As if a backend had let records through that its parameters do not link."""

    def boast(answer: IsolatedResult) -> IsolatedResult:
        found = answer.result
        return replace(answer, result=replace(found, objective=found.objective - 1, bound=found.bound - 1))

    tamper(boast)
    assert main([*COMPARE[:-6], "--backends", "scipy", "--json", "out.json"]) == 1
    message = "DISAGREEMENT: scipy claims 24 links, but its parameters have 23\n"
    assert capsys.readouterr().err == message
    assert written()["backends"][0]["claimed"] == 24


@pytest.mark.usefixtures("survey_folder", "in_this_process")
def test_the_exact_engine_is_there_without_a_list_and_left_out_by_one_without_it(monkeypatch):
    few = {name: registry.BACKENDS[name] for name in ("highs", "scipy")}
    monkeypatch.setattr(registry, "BACKENDS", few)
    files = ("original.csv", "masked.csv")
    assert [row.name for row in compare(*files).rows] == ["exact", "highs", "scipy"]
    assert [row.name for row in compare(*files, backends=["scipy"]).rows] == ["scipy"]
    assert [row.name for row in compare(*files, backends=["scipy", "exact"]).rows] == ["scipy", "exact"]


@pytest.mark.usefixtures("survey_folder", "in_this_process")
@pytest.mark.parametrize(
    ("aggregator", "way"), [("owa", "masked-to-original"), ("choquet", "original-to-masked")]
)
def test_the_exact_engine_and_a_backend_agree(aggregator, way):
    files = ("original.csv", "masked.csv")
    result = compare(
        *files, backends=["exact", "highs"], aggregator=aggregator, direction=way, time_limit=None
    )
    exact, highs = result.rows
    assert result.disagreements == ()
    assert exact.linked is not None
    assert exact.linked >= result.details["attack"]
    assert exact.linked_upper_bound >= highs.linked_with_margin


@pytest.mark.usefixtures("survey_folder", "in_this_process")
def test_the_exact_engine_needs_neither_margin_nor_constant(capsys):
    """A margin of 0.1 hides links from a backend's bound, and C = 0.5 takes that bound away."""
    printed = run(capsys, *EXACT, "--margin", "0.1")
    exact, highs = written()["backends"]
    assert (exact["linked"], exact["linked_upper_bound"]) == (23, 23)
    assert highs["linked_upper_bound"] < 23
    assert exact["linked_with_margin"] <= highs["linked_upper_bound"]
    assert "note: bounds of backends hold for parameters that keep the margin of 0.1" in printed
    run(capsys, *EXACT, "--big-c", "0.5", "--time-limit", "none")
    exact, highs = written()["backends"]
    assert (exact["status"], exact["linked"], exact["linked_upper_bound"]) == ("optimal", 23, 23)
    assert highs["linked_upper_bound"] is None


@pytest.mark.usefixtures("survey_folder", "in_this_process")
def test_who_finds_nothing_in_its_time_has_the_attack_that_was_known(tamper, capsys):
    def nothing(answer: IsolatedResult) -> IsolatedResult:
        empty = replace(
            answer.result, status=Status.NO_SOLUTION, limit=Limit.TIME, objective=None, bound=-math.inf,
            values=None,
        )  # fmt: skip
        return replace(answer, result=empty)

    tamper(nothing)
    assert main([*COMPARE, "--time-limit", "none"]) == 0
    capsys.readouterr()
    result = written()
    highs, scipy = result["backends"]
    assert (scipy["status"], scipy["limit"], scipy["linked"]) == ("feasible", "time", result["attack"])
    assert scipy["linked"] <= highs["linked"] <= scipy["linked_upper_bound"] <= result["records"]
    assert scipy["claimed"] is None
