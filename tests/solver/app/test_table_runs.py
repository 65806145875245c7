"""Tables in the application: commands, runs, a stop that leaves a protecting pattern, what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from app_projects import finished, opened
from table_files import write_table_files

from linkrisk.solver.app.answers import answer
from linkrisk.solver.app.project import Project
from linkrisk.solver.app.run_folder import State
from linkrisk.solver.app.run_queue import Queue
from linkrisk.solver.app.table_steps import TableQuestion, add_table, table_steps
from linkrisk.solver.commands.program import build_parser
from linkrisk.solver.run.errors import UsageError

ASKED = TableQuestion("data/cells.csv", "data/relations.csv")
FILES = {
    *("output.txt", "report-outside.html", "report.html", "result.json"),
    *("table-internal.csv", "table-published.csv"),
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "data").mkdir()
    write_table_files(tmp_path / "data")
    return opened(tmp_path)


def test_a_table_is_protected_by_the_command_that_is_shown(project: Project) -> None:
    queue = Queue(project)
    run = add_table(queue, ASKED)
    assert run.command["steps"] == table_steps(ASKED, f"runs/{run.name}")
    finished(queue, run)
    assert run.state is State.DONE, run.text("log.txt")
    assert answer(run) == (
        "Both sensitive cells are protected from outsiders. 4 cells are suppressed with them, at a cost of "
        "69: "
        "proven least, every pattern that protects costs as much or more."
    )
    assert set(run.files()) == FILES
    published = pd.read_csv(run.folder / "table-published.csv")
    assert published["value"].isna().sum() == 6


def test_a_stop_in_the_first_moment_leaves_a_protecting_pattern(project: Project) -> None:
    queue = Queue(project)
    run = add_table(queue, ASKED)
    queue.tick()
    run.stop()
    finished(queue, run)
    assert run.state is State.DONE, run.text("log.txt")
    result = run.result
    assert result["protected"]
    assert 0 <= result["bound"] <= result["cost"]
    assert "protected from outsiders" in answer(run)
    assert set(run.files()) == FILES


def test_a_table_of_microdata(project: Project) -> None:
    lines = [f"{region},{size},{10 + 7 * at}" for at, region in enumerate("NNNNSSSSEEEE") for size in "ab"]
    (project.folder / "data" / "firms.csv").write_text("\n".join(["region,size,turnover", *lines]) + "\n")
    queue = Queue(project)
    asked = TableQuestion(
        microdata="data/firms.csv", by=("region", "size"), response="turnover", rules=("p=20", "frequency=3")
    )
    run = add_table(queue, asked)
    finished(queue, run)
    assert run.state is State.DONE, run.text("log.txt")
    assert set(run.files()) == FILES | {"table-cells.csv", "table-relations.csv"}
    for step in table_steps(asked, "x"):
        build_parser([step[0]]).parse_args(step)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (TableQuestion(), "choose a file of cells, or one of microdata"),
        (
            TableQuestion(microdata="m.csv"),
            "a table of microdata needs explanatory variables: choose one or more",
        ),
        (
            TableQuestion(microdata="m.csv", by=("a",), rules=()),
            "a table of microdata needs a rule, such as p=10: write at least one",
        ),
    ],
)
def test_what_is_missing_is_said(project: Project, asked: TableQuestion, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        add_table(Queue(project), asked)
    assert list((project.folder / "runs").iterdir()) == []
