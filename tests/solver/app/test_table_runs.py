"""Tables in the application: commands, runs, a stop that leaves a protecting pattern, what is refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from application import finished, opened
from small_tables import write_table_files

from linkrisk.solver.app.answers import ProgressReader, answer
from linkrisk.solver.app.project import Project
from linkrisk.solver.app.runs import Queue, RunState
from linkrisk.solver.app.table_steps import TableAsked, add, asked_before
from linkrisk.solver.charts.worst_case import costs
from linkrisk.solver.commands.program import build_parser
from linkrisk.solver.run.errors import UsageError

ASKED = TableAsked(tables=(("data/cells.csv", "data/relations.csv"),))
FILES = {
    *("output.txt", "report-outside.html", "report.html", "result.json"),
    *("table-internal.csv", "table-published.csv"),
}
MADE = {"table-cells.csv", "table-relations.csv", "table-rules.json"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "data").mkdir()
    write_table_files(tmp_path / "data")
    return opened(tmp_path)


def argv(asked: TableAsked, folder: str) -> list[list[str]]:
    return [step.argv for step in asked.steps(folder)]


def test_a_table_is_protected_by_the_command_that_is_shown(project: Project) -> None:
    queue = Queue(project)
    (run,) = add(queue, ASKED)
    assert run.command["steps"] == argv(ASKED, f"runs/{run.name}")
    finished(queue, run)
    assert run.state is RunState.DONE, run.text("log.txt")
    assert answer(run) == (
        "Both sensitive cells are protected from outsiders only; respondents of single cells were not looked "
        "at, because the table does not say how many respondents each of its cells has. 4 cells are "
        "suppressed with them, at a cost of 69: proven least, every pattern that protects costs as much or "
        "more."
    )
    assert set(run.files()) == FILES
    published = pd.read_csv(run.folder / "table-published.csv")
    assert published["value"].isna().sum() == 6


def test_a_stop_in_the_first_moment_leaves_a_protecting_pattern(project: Project) -> None:
    queue = Queue(project)
    (run,) = add(queue, ASKED)
    queue.tick()
    run.stop()
    finished(queue, run)
    assert run.state is RunState.DONE, run.text("log.txt")
    result = run.result
    assert result["protected"]
    assert 0 <= result["bound"] <= result["cost"]
    assert "protected from outsiders" in answer(run)
    assert set(run.files()) == FILES


def test_a_table_of_microdata(project: Project) -> None:
    lines = [f"{region},{size},{10 + 7 * at}" for at, region in enumerate("NNNNSSSSEEEE") for size in "ab"]
    (project.folder / "data" / "firms.csv").write_text("\n".join(["region,size,turnover", *lines]) + "\n")
    queue = Queue(project)
    columns = {"by": [["region", "size"]], "response": "turnover"}
    asked = TableAsked(made={"data": "data/firms.csv", "rules": ["p=20", "frequency=3"], **columns})
    (run,) = add(queue, asked)
    finished(queue, run)
    assert run.state is RunState.DONE, run.text("log.txt")
    assert set(run.files()) == FILES | MADE
    for step in argv(asked, "x"):
        build_parser([step[0]]).parse_args(step)


FIRMS = "".join(
    f"f{at // 2},{region}{at % 3},{size},{10 + 7 * at}\n"
    for at, region in enumerate("NNNNSSSSEEEE" * 2)
    for size in "ab"
)


def with_firms(project: Project) -> TableAsked:
    """Microdata with a tree of regions, and a question about them and every respondent."""
    data = project.folder / "data"
    (data / "firms.csv").write_text("firm,region,size,turnover\n" + FIRMS)
    (data / "regions.hrc").write_text(
        "".join(f"{one}\n" + "".join(f"@{one}{at}\n" for at in range(3)) for one in "NSE")
    )
    return TableAsked(
        values={"insiders": "contributors", "as_far_as_possible": True, "method": "optimal"},
        made={
            "data": "data/firms.csv",
            "by": [["region", "size"]],
            "response": "turnover",
            "rules": ["frequency=3"],
            "hierarchies": {"region": ["data/regions.hrc"]},
            "respondent": "firm",
        },
    )


def test_hierarchies_and_insiders_of_microdata(project: Project) -> None:
    queue, asked = Queue(project), with_firms(project)
    trees = {"region": ["data/regions.hrc"], "gone": ["data/regions.hrc"]}
    (run,) = add(queue, replace(asked, made={**(asked.made or {}), "hierarchies": trees}))
    finished(queue, run)
    assert run.state is RunState.DONE, run.text("log.txt")
    made, suppressed = run.command["steps"]
    for step in (made, suppressed):
        build_parser([step[0]]).parse_args(step)
    assert [made[at + 1] for at, word in enumerate(made) if word == "--hierarchy"] == [
        "region=data/regions.hrc"
    ]
    assert {"--insiders", "--as-far-as-possible"} < set(suppressed)
    assert set(run.files()) == FILES | MADE | {"table-contributors.csv"}
    assert len(pd.read_csv(run.folder / "table-cells.csv")) == 13 * 3
    assert run.result["insiders"]["attackers"] == 12
    assert "12 insiders" in answer(run)
    reader = ProgressReader(run)
    reader.read()
    last = list(reader.courses.values())[-1]
    assert last.costs
    assert last.points[-1][1:] == (run.result["bound"], run.result["cost"])
    assert asked_before(run) == asked
    (project.folder / "data" / "regions.hrc").unlink()
    assert "hierarchies" not in (asked_before(run).made or {})


def test_a_run_that_is_about_no_table_is_not_asked_again(project: Project) -> None:
    queue = Queue(project)
    run = queue.add("fit", "a fit", [["fit", "--seed", "3"]], run=queue.folder("fit"))
    with pytest.raises(UsageError, match="it is about no table"):
        asked_before(run)
    run = queue.add("tables", "of old", [["tables", "shake"]], run=queue.folder("tables"))
    with pytest.raises(UsageError, match="there is no command tables"):
        asked_before(run)


def test_files_of_insiders_of_a_table_that_is_there(project: Project) -> None:
    for name, head in (("who", "cell,contributor,amount"), ("cartel", "coalition,contributor")):
        (project.folder / "data" / f"{name}.csv").write_text(f"{head}\n")
    files = {"contributors": "data/who.csv", "coalitions": "data/cartel.csv"}
    (step,) = argv(replace(ASKED, values={"insiders": "singletons", **files}), "x")
    at = step.index("--insiders")
    assert step[at : at + 6] == [
        *("--insiders", "singletons", "--contributors", "data/who.csv"),
        *("--coalitions", "data/cartel.csv"),
    ]
    values = {"insiders": "data/who.csv", "hierarchies": {"a": ["t.csv"]}}
    listed = TableAsked(tables=(("data/cells.csv", ""),), values=values)
    (step,) = argv(listed, "x")
    assert step[2:6] == ["--cells", "data/cells.csv", "--hierarchy", "a=t.csv"]
    assert step[step.index("--insiders") + 1] == "data/who.csv"
    assert listed.inputs == {
        "cells": "data/cells.csv",
        "insiders": "data/who.csv",
        "hierarchy a": "t.csv",
    }


@pytest.mark.parametrize(
    ("work", "about", "sentence"),
    [
        ("cost 80, at least 69", None, "Cost 80, at least 69, suppressing cells"),
        ("repair: 7 levels left", None, "Cost 80, at least 69, repair: 7 levels left"),
        (
            "the outsider: cost 80, at least 69",
            "the outsider",
            "Against the outsider: cost 80, at least 69, suppressing cells",
        ),
        (
            "the outsider: repair: 7 levels left",
            "the outsider",
            "Against the outsider: cost 80, at least 69, repair: 7 levels left",
        ),
    ],
)
def test_what_a_search_says_of_its_cost(
    project: Project, work: str, about: str | None, sentence: str
) -> None:
    run = Queue(project).folder("tables")
    said = {"seconds": 1.0, "phase": "suppressing cells", "about": about, "linked": None, "work": work}
    lines = [{**said, "cost": None, "bound": 60.0}, {**said, "cost": 80.0, "bound": 69.0}]
    (run.folder / "progress.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    reader = ProgressReader(run)
    reader.read()
    assert reader.sentence == sentence
    (course,) = reader.courses.values()
    assert course.points == [(0.0, 69.0, 80.0)]
    chart = costs(course.points)
    assert "costs 80, and none costs less than 69" in chart.description


def test_what_was_found_in_the_end_is_the_last_point(project: Project) -> None:
    run = Queue(project).folder("tables")
    said = {"seconds": 1.0, "phase": "suppressing cells", "about": None, "linked": None, "work": ""}
    (run.folder / "progress.jsonl").write_text(json.dumps({**said, "cost": 80.0, "bound": 0.0}) + "\n")
    reader = ProgressReader(run)
    assert not reader.end({"cost": 69.0, "bound": 69.0})  # nothing was told yet that could end
    reader.read()
    assert reader.end({"cost": 69.0, "bound": 69.0, "seconds": 3.5})
    assert not reader.end({"cost": 69.0, "bound": 69.0})
    assert not reader.end(None)
    (course,) = reader.courses.values()
    assert course.points == [(0.0, 0.0, 80.0), (2.5, 69.0, 69.0)]
    assert course.interval == "cost 69, proven least"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (TableAsked(), "choose a file of cells, or one of microdata"),
        (TableAsked(made={}), "choose a file of cells, or one of microdata"),
        (
            replace(ASKED, values={"insiders": "contributors"}),
            "who attacks knows what it contributed: choose the file of contributions",
        ),
        (
            replace(ASKED, values={"coalitions": "c.csv"}),
            "who attacks knows what it contributed: choose the file of contributions",
        ),
        (
            TableAsked(made={"data": "m.csv"}),
            "a table of microdata needs explanatory variables: choose one or more",
        ),
        (
            TableAsked(made={"data": "m.csv", "by": [["a"]]}),
            "a table of microdata needs a rule, such as p=10: write at least one",
        ),
    ],
)
def test_what_is_missing_is_said(project: Project, asked: TableAsked, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        add(Queue(project), asked)
    assert list((project.folder / "runs").iterdir()) == []
